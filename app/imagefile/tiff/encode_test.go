package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
	"blik/processing"

	"pgregory.net/rapid"
)

// randomPicture has samples of all values.
func randomPicture(rng *rand.Rand, w, h, channels, depth int) *processing.Picture {
	p := &processing.Picture{Width: w, Height: h, Channels: channels}
	for range w * h * channels {
		switch depth {
		case 8:
			p.U8 = append(p.U8, uint8(rng.Uint32()))
		case 16:
			p.U16 = append(p.U16, uint16(rng.Uint32()))
		default:
			p.F32 = append(p.F32, rng.Float32()*2-0.5)
		}
	}
	return p
}

func encode(t testing.TB, pic *processing.Picture, m container.Metadata) []byte {
	t.Helper()
	return encodeAs(t, pic, m, false)
}

// encodeAs writes a BigTIFF if big is set.
func encodeAs(t testing.TB, pic *processing.Picture, m container.Metadata, big bool) []byte {
	t.Helper()
	e := newEncoder(pic, m)
	e.big = big
	var b bytes.Buffer
	if err := e.write(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		depth := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "depth")
		channels := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")
		w, h := rapid.SampledFrom([]int{1, 2, 7, 133}).Draw(t, "width"), rapid.SampledFrom([]int{1, 3, 90}).Draw(t, "height")
		big := rapid.Bool().Draw(t, "big")
		m := container.Metadata{
			ICC: make([]byte, rapid.IntRange(0, 9).Draw(t, "profile")), XMP: []byte("<x/>"), IPTC: []byte("\x1c\x02\x00"), Photoshop: []byte("8BIM"),
			XResolution: rapid.Float64Range(0.01, 1e5).Draw(t, "resolution"), YResolution: 118.11,
			Unit: container.Unit(rapid.IntRange(0, 2).Draw(t, "unit")), Orientation: rapid.IntRange(1, 8).Draw(t, "orientation"),
		}
		pic := randomPicture(rng, w, h, channels, depth)
		e := newEncoder(pic, m)
		e.big = big
		var b bytes.Buffer
		if err := e.write(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		got := containertest.Decode(t, Open, b.Bytes())
		if got.Channels != channels || got.Depth() != depth {
			t.Fatalf("%d channels of %d bits", got.Channels, got.Depth())
		}
		for i := range w * h * channels {
			if sample(got, i) != sample(pic, i) {
				t.Fatalf("sample %d is %d, not %d", i, sample(got, i), sample(pic, i))
			}
		}
		g := f.Info().Meta
		if !bytes.Equal(g.ICC, m.ICC) || !bytes.Equal(g.XMP, m.XMP) || !bytes.Equal(g.IPTC, m.IPTC) || !bytes.Equal(g.Photoshop, m.Photoshop) ||
			g.Unit != m.Unit || g.Orientation != m.Orientation || math.Abs(g.XResolution/m.XResolution-1) > 1e-4 || g.YResolution != m.YResolution {
			t.Fatalf("%+v became %+v", m, g)
		}
	})
}

// TestEncodeForLibtiff reads what was written with libtiff, and metadata copied from a JPEG with exiftool.
func TestEncodeForLibtiff(t *testing.T) {
	testpic.NoRace(t)
	testpic.Program(t, "exiftool")
	rng := rand.New(rand.NewPCG(21, 22))
	for _, order := range []string{"II", "MM"} {
		source := filepath.Join(t.TempDir(), "source.exif")
		command(t, "exiftool", "-q", "-o", source, "-ExifByteOrder="+order, "-EXIF:Make=Hasselblad", "-EXIF:Model=H6D", "-EXIF:Artist=A. Restorer",
			"-EXIF:ImageDescription=Портрет", "-EXIF:Copyright=CC0", "-EXIF:Software=Phocus", "-EXIF:ExposureTime=1/60", "-EXIF:FNumber=11",
			"-EXIF:LensModel=HC 120", "-EXIF:DateTimeOriginal=2026:01:02 03:04:05", "-EXIF:UserComment=varnish", "-GPS:GPSLatitude=59.94",
			"-GPS:GPSLatitudeRef=N", "-InteropIndex=R98", "-XResolution=300", "-YResolution=300", "-Orientation#=6")
		exif := bytes.TrimPrefix(testpic.ReadFile(t, source), []byte("Exif\x00\x00"))
		m := container.Metadata{EXIF: exif, XMP: []byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>`), XResolution: 300, YResolution: 300,
			Unit: container.UnitInch, Orientation: 6, IPTC: []byte("\x1c\x02\x69\x00\x08Portrait")}
		for _, depth := range []int{8, 16, 32} {
			for _, channels := range []int{1, 3, 4} {
				for _, big := range []bool{false, true} {
					pic := randomPicture(rng, 301, 97, channels, depth)
					data := encodeAs(t, pic, m, big)
					path := testpic.WriteFile(t, "new.tif", data)
					f := open(t, data)
					sameSamples(t, f, pic, libtiff(t, path, f.lay))
					// exiftool takes all directories of a BigTIFF for the first kind.
					if depth != 16 || channels != 3 || big {
						continue
					}
					// Metadata read from the new file can be copied once more.
					again := testpic.WriteFile(t, "again.tif", encode(t, pic, f.Info().Meta))
					all := tags(t, source, path, again)
					want, got := all[0], all[1]
					for key, v := range want {
						group, name, _ := strings.Cut(key, ":")
						if group != "IFD0" && group != "ExifIFD" && group != "GPS" && group != "InteropIFD" || name == "YCbCrPositioning" {
							continue
						}
						if !equalJSON(v, got[key]) {
							t.Errorf("%s: %s was %v and is %v", order, key, v, got[key])
						}
					}
					if len(want) < 20 || got["IPTC:Headline"] != "Portrait" {
						t.Errorf("%d tags, headline %v", len(want), got["IPTC:Headline"])
					}
					for key, v := range got {
						_, name, _ := strings.Cut(key, ":")
						if name != "Compression" && name != "Predictor" && !equalJSON(v, all[2][key]) {
							t.Errorf("%s was %v and is %v", key, v, all[2][key])
						}
					}
				}
			}
		}
	}
}

// TestEncodeDamagedEXIF checks that a damaged EXIF block causes neither an error nor an endless loop.
func TestEncodeDamagedEXIF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dialect{order: binary.LittleEndian}
		b := append(d.header(8), d.directory([]field{
			block(271, exif.ASCII, []byte("Somebody Ltd\x00")),
			{tag: exif.TagEXIF, sub: []field{block(37500, exif.Undefined, make([]byte, 30)), {tag: exif.TagInterop, sub: []field{d.shorts(1, 7)}}}},
			{tag: exif.TagGPS, sub: []field{d.longs(2, 1, 2, 3)}},
		}, 8, 0)...)
		for range rapid.IntRange(0, 6).Draw(t, "damages") {
			b[rapid.IntRange(8, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
		var out bytes.Buffer
		pic := &processing.Picture{Width: 1, Height: 1, Channels: 1, U8: []uint8{77}}
		if err := Encode(context.Background(), &out, pic, container.Metadata{EXIF: b}); err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Decode(context.Background()); err != nil || got.U8[0] != 77 {
			t.Fatalf("%v", err)
		}
	})
}

// TestEncodeBig checks that more than 4 GiB of strips are written as BigTIFF.
func TestEncodeBig(t *testing.T) {
	pic := randomPicture(rand.New(rand.NewPCG(31, 32)), 600, 600, 1, 8)
	for _, c := range []struct {
		first int64
		big   bool
	}{{3 << 30, false}, {math.MaxUint32, true}} {
		e := newEncoder(pic, container.Metadata{})
		e.counts[0] = c.first
		head := e.head()
		end := int64(len(head))
		for _, n := range e.counts {
			end += n
		}
		f, err := Open(padded{head, end}, end)
		if err != nil {
			t.Fatal(err)
		}
		if f.src.Big != c.big {
			t.Errorf("a first strip of %d bytes: BigTIFF is %t", c.first, f.src.Big)
		}
		if err := f.lay.check(end); err != nil {
			t.Error(err)
		}
		if last := len(e.counts) - 1; f.lay.offsets[last]+e.counts[last] != end || f.lay.offsets[0] != int64(len(head)) {
			t.Errorf("strips from %d to %d in a file of %d", f.lay.offsets[0], f.lay.offsets[last]+e.counts[last], end)
		}
	}
}

func TestEncodeFaults(t *testing.T) {
	pic := &processing.Picture{Width: 2, Height: 2, Channels: 1, U8: make([]uint8, 4)}
	full := errors.New("the disk is full")
	if err := Encode(context.Background(), failing{full}, pic, container.Metadata{}); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := Encode(context.Background(), io.Discard, &processing.Picture{Width: 2, Height: 2, Channels: 1}, container.Metadata{}); err == nil {
		t.Error("a picture without samples is written")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
