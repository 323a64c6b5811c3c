package png

import (
	"bytes"
	"context"
	"errors"
	"image"
	stdpng "image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blik/app/imagefile/container"
	"blik/internal/test/containertest"
	"blik/processing"

	"pgregory.net/rapid"
)

// TestEncodeRoundTrip writes pictures of all kinds, some of several bands, and reads them with the standard library and
// here.
func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &processing.Picture{
			Width:    rapid.SampledFrom([]int{1, 2, 7, 64, 600}).Draw(t, "width"),
			Height:   rapid.SampledFrom([]int{1, 3, 8, 50, 400}).Draw(t, "height"),
			Channels: rapid.SampledFrom([]int{1, 3}).Draw(t, "channels"),
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		spread := rapid.SampledFrom([]uint32{1, 2, 255, 65535}).Draw(t, "spread")
		for range p.Width * p.Height * p.Channels {
			p.U16 = append(p.U16, uint16(rng.Uint32N(spread)))
		}
		if rapid.Bool().Draw(t, "8 bits") {
			for _, v := range p.U16 {
				p.U8 = append(p.U8, uint8(v))
			}
			p.U16 = nil
		}
		var out bytes.Buffer
		if err := Encode(t.Context(), &out, p, container.Metadata{}); err != nil {
			t.Fatal(err)
		}
		img, err := stdpng.Decode(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		back := containertest.Decode(t, Open, out.Bytes())
		if !slices.Equal(back.U8, p.U8) || !slices.Equal(back.U16, p.U16) || back.Channels != p.Channels {
			t.Fatal("read here, it is another picture")
		}
		for y := range p.Height {
			for x := range p.Width {
				want := pixelOf(img, x, y)
				for c := range p.Channels {
					if got := sampleAt(p, x, y, c); got != want[c] {
						t.Fatalf("pixel %d, %d, channel %d is %d, the standard library reads %d", x, y, c, got, want[c])
					}
				}
			}
		}
	})
}

// TestRewriteManyBands rewrites a picture in several bands and decodes it with the standard library, to check that they
// form one stream.
func TestRewriteManyBands(t *testing.T) {
	v := variant{header: header{500, 400, 16, typeRGBAlpha, false}, filter: -1}
	data := v.encode(rand.New(rand.NewPCG(1, 1)))
	rng := rand.New(rand.NewPCG(2, 2))
	pic := mustDecode(t, data)
	patches := somePatches(rng, pic, 0.001)
	out := mustRewrite(t, data, patches)
	if n := bytes.Count(out, []byte("IDAT")); n < 2 {
		t.Fatalf("%d pieces show nothing", n)
	}
	before, err := stdpng.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	after, err := stdpng.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(before.(*image.NRGBA64).Pix)
	for _, p := range patches {
		for i, r := 0, p.Runs[0]; r.X0+i < r.X1; i++ {
			for c := range 3 {
				at := 8*(r.Y*500+r.X0+i) + 2*c
				want[at], want[at+1] = byte(p.U16[3*i+c]>>8), byte(p.U16[3*i+c])
			}
		}
	}
	if !bytes.Equal(after.(*image.NRGBA64).Pix, want) {
		t.Error("other pixels than the source with the patches")
	}
}

func TestEncodeFloat(t *testing.T) {
	nan := float32(math.NaN())
	p := &processing.Picture{Width: 6, Height: 1, Channels: 1, F32: []float32{0, 1, 0.5, -3, 7, nan}}
	var out bytes.Buffer
	if err := Encode(t.Context(), &out, p, container.Metadata{}); err != nil {
		t.Fatal(err)
	}
	if got, want := mustDecode(t, out.Bytes()).U16, []uint16{0, 65535, 32768, 0, 65535, 0}; !slices.Equal(got, want) {
		t.Errorf("samples %v, want %v", got, want)
	}
}

func TestEncodeRefuses(t *testing.T) {
	cmyk := &processing.Picture{Width: 1, Height: 1, Channels: 4, U8: make([]uint8, 4)}
	if err := Encode(t.Context(), io.Discard, cmyk, container.Metadata{}); !errors.Is(err, container.ErrUnsupported) {
		t.Errorf("CMYK: %v", err)
	}
	short := &processing.Picture{Width: 2, Height: 1, Channels: 3, U8: make([]uint8, 4)}
	if err := Encode(t.Context(), io.Discard, short, container.Metadata{}); err == nil {
		t.Error("a picture without all its samples was written")
	}
	large := &processing.Picture{Width: 1000, Height: 3000, Channels: 1, U8: make([]uint8, 3e6)}
	full := errors.New("no space left")
	if err := Encode(t.Context(), &failingWriter{room: 2000, err: full}, large, container.Metadata{}); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := Encode(ctx, &failingWriter{room: 2000, full: cancel}, large, container.Metadata{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled amid: %v", err)
	}
}

func TestEncodeMetadata(t *testing.T) {
	pic := &processing.Picture{Width: 3, Height: 2, Channels: 3, U16: make([]uint16, 18)}
	want := someMetadata()
	var out bytes.Buffer
	if err := Encode(t.Context(), &out, pic, want); err != nil {
		t.Fatal(err)
	}
	got := mustOpen(t, out.Bytes()).Info().Meta
	if !bytes.Equal(got.ICC, want.ICC) || !bytes.Equal(got.EXIF, want.EXIF) || !bytes.Equal(got.XMP, want.XMP) ||
		!bytes.Equal(got.IPTC, want.IPTC) || got.Orientation != 6 {
		t.Errorf("metadata are %+v, want %+v", got, want)
	}
	// PNG counts whole pixels per metre: 11811 for 300 dpi.
	if got.Unit != container.UnitCentimetre || got.XResolution != 118.11 || got.YResolution != 118.11 {
		t.Errorf("resolution %g × %g, unit %d", got.XResolution, got.YResolution, got.Unit)
	}
}
