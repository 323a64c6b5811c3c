package png

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	stdpng "image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"blik/app/imagefile/container"
	"blik/internal/test/containertest"
	"blik/processing"
)

func mustOpen(t *testing.T, data []byte) *File {
	t.Helper()
	return containertest.Open(t, Open, data)
}

func mustDecode(t *testing.T, data []byte) *processing.Picture {
	t.Helper()
	return containertest.Decode(t, Open, data)
}

func mustRewrite(t *testing.T, data []byte, patches []processing.Patch) []byte {
	t.Helper()
	return containertest.Rewrite(t, Open, data, patches)
}

// chunks lists the chunks of a file with all their bytes, all IDAT chunks as one entry, and the data after IEND.
func chunks(t *testing.T, data []byte) []string {
	t.Helper()
	var list []string
	data = data[len(signature):]
	for len(data) >= 12 {
		n := 12 + int(binary.BigEndian.Uint32(data))
		name := string(data[4:8])
		entry := string(data[:n])
		if name == "IDAT" {
			entry = name
		}
		if entry != "IDAT" || list[len(list)-1] != "IDAT" {
			list = append(list, entry)
		}
		data = data[n:]
		if name == "IEND" {
			return append(list, string(data))
		}
	}
	t.Fatal("no IEND")
	return nil
}

// somePatches changes the given pixels of pic to random colours and returns patches of a few pixels each.
func somePatches(rng *rand.Rand, pic *processing.Picture, density float64) []processing.Patch {
	var patches []processing.Patch
	for y := range pic.Height {
		for x := 0; x < pic.Width; x++ {
			if rng.Float64() >= density {
				continue
			}
			x1 := min(x+1+rng.IntN(4), pic.Width)
			p := processing.Patch{Runs: []processing.Run{{Y: y, X0: x, X1: x1}}}
			for range (x1 - x) * pic.Channels {
				if pic.U16 != nil {
					p.U16 = append(p.U16, uint16(rng.Uint32()))
				} else {
					p.U8 = append(p.U8, uint8(rng.Uint32()))
				}
			}
			patches = append(patches, p)
			x = x1
		}
	}
	return patches
}

// pixelOf returns a pixel with alpha, as decoded by the standard library.
func pixelOf(img image.Image, x, y int) [4]int {
	switch m := img.(type) {
	case *image.NRGBA64:
		c := m.NRGBA64At(x, y)
		return [4]int{int(c.R), int(c.G), int(c.B), int(c.A)}
	case *image.NRGBA:
		c := m.NRGBAAt(x, y)
		return [4]int{int(c.R), int(c.G), int(c.B), int(c.A)}
	case *image.Paletted:
		switch c := m.Palette[m.ColorIndexAt(x, y)].(type) {
		case color.NRGBA:
			return [4]int{int(c.R), int(c.G), int(c.B), int(c.A)}
		case color.RGBA:
			return [4]int{int(c.R), int(c.G), int(c.B), int(c.A)}
		}
	case *image.Gray:
		v := int(m.GrayAt(x, y).Y)
		return [4]int{v, v, v, 255}
	case *image.Gray16:
		v := int(m.Gray16At(x, y).Y)
		return [4]int{v, v, v, 65535}
	case *image.RGBA:
		c := m.RGBAAt(x, y)
		return [4]int{int(c.R), int(c.G), int(c.B), int(c.A)}
	case *image.RGBA64:
		c := m.RGBA64At(x, y)
		return [4]int{int(c.R), int(c.G), int(c.B), int(c.A)}
	}
	panic("an unknown kind of picture")
}

func TestRewriteChangesThePatchesOnly(t *testing.T) {
	for n, v := range variants() {
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		v.before = appendChunk(nil, "prVt", []byte{1, 2, 3})
		v.after = appendChunk(appendChunk(nil, "tEXt", []byte("Comment\x00behind the pixels")), "prIv", []byte{4})
		data := append(v.encode(rng), "after the end"...)
		source := mustDecode(t, data)
		patches := somePatches(rng, source, 0.1)
		want := mustDecode(t, data)
		for i := range patches {
			applyPatch(&patches[i], want)
		}
		out := mustRewrite(t, data, patches)
		before, err := stdpng.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		after, err := stdpng.Decode(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%s: the standard library: %v", v, err)
		}
		got := mustDecode(t, out)
		for y := range v.height {
			for x := range v.width {
				a, b := pixelOf(before, x, y), pixelOf(after, x, y)
				if a[3] != b[3] {
					t.Fatalf("%s: pixel %d, %d: opacity was %d, is %d", v, x, y, a[3], b[3])
				}
				keyed := v.transparency != nil && v.kind != typePalette
				if keyed && a[3] == 0 {
					if a != b {
						t.Fatalf("%s: transparent pixel %d, %d was %v, is %v", v, x, y, a, b)
					}
					continue
				}
				for c := range source.Channels {
					d := sampleAt(got, x, y, c) - sampleAt(want, x, y, c)
					nudged := keyed && c == source.Channels-1 && (d == 1 || d == -1) && isKey(v, want, x, y)
					if d != 0 && !nudged {
						t.Fatalf("%s: pixel %d, %d, channel %d: off by %d", v, x, y, c, d)
					}
				}
			}
		}
		if v.converts() {
			continue // what becomes of the chunks then is tested by itself
		}
		if a, b := chunks(t, data), chunks(t, out); !slices.Equal(a, b) {
			t.Errorf("%s: chunks were %q, are %q", v, a, b)
		}
	}
}

// applyPatch is a simple Patch.Apply.
func applyPatch(p *processing.Patch, pic *processing.Picture) {
	i := 0
	for _, r := range p.Runs {
		n := (r.X1 - r.X0) * pic.Channels
		at := (r.Y*pic.Width + r.X0) * pic.Channels
		if pic.U16 != nil {
			copy(pic.U16[at:at+n], p.U16[i:])
		} else {
			copy(pic.U8[at:at+n], p.U8[i:])
		}
		i += n
	}
}

func sampleAt(p *processing.Picture, x, y, c int) int {
	i := (y*p.Width+x)*p.Channels + c
	if p.U16 != nil {
		return int(p.U16[i])
	}
	return int(p.U8[i])
}

// isKey reports whether a pixel has the colour that tRNS makes transparent.
func isKey(v variant, p *processing.Picture, x, y int) bool {
	for c := range p.Channels {
		key := int(binary.BigEndian.Uint16(v.transparency[2*c:]))
		if v.depth < 8 {
			key *= 255 / (1<<v.depth - 1)
		}
		if sampleAt(p, x, y, c) != key {
			return false
		}
	}
	return true
}

func TestTransparentColourIsAvoided(t *testing.T) {
	v := variant{header: header{2, 1, 8, typeGrey, false}, transparency: []byte{0, 100}}
	var data []byte
	for seed := uint64(0); ; seed++ { // until the first pixel is visible
		data = v.encode(rand.New(rand.NewPCG(seed, 1)))
		if mustDecode(t, data).U8[0] != 100 {
			break
		}
	}
	out := mustRewrite(t, data, []processing.Patch{{Runs: []processing.Run{{Y: 0, X0: 0, X1: 1}}, U8: []uint8{100}}})
	if got := mustDecode(t, out).U8[0]; got != 101 {
		t.Errorf("the pixel is %d, want 101: 100 would be transparent", got)
	}
	// In reverse: 101 and its new colour 7 are visible; a transparent pixel stays.
	out = mustRewrite(t, out, []processing.Patch{{Runs: []processing.Run{{Y: 0, X0: 0, X1: 1}}, U8: []uint8{7}}})
	if got := mustDecode(t, out).U8[0]; got != 7 {
		t.Errorf("the pixel is %d, want 7", got)
	}
}

func TestChunksFollowAPalette(t *testing.T) {
	v := variant{header: header{5, 4, 4, typePalette, false}, palette: []byte{10, 20, 30, 40, 50, 60}, transparency: []byte{77}}
	v.before = appendChunk(appendChunk(nil, "sBIT", []byte{5, 6, 5}), "gAMA", []byte{0, 0, 177, 143})
	data := v.encode(rand.New(rand.NewPCG(1, 1)))
	at := bytes.Index(data, []byte("IDAT")) - 4
	extra := appendChunk(appendChunk(nil, "bKGD", []byte{1}), "hIST", []byte{0, 1, 0, 2})
	data = slices.Concat(data[:at], extra, data[at:])
	out := mustRewrite(t, data, []processing.Patch{{Runs: []processing.Run{{Y: 1, X0: 1, X1: 2}}, U8: []uint8{1, 2, 3}}})

	want := []string{
		string(appendChunk(nil, "IHDR", header{5, 4, 8, typeRGBAlpha, false}.data())),
		string(appendChunk(nil, "sBIT", []byte{5, 6, 5, 8})),
		string(appendChunk(nil, "gAMA", []byte{0, 0, 177, 143})),
		string(appendChunk(nil, "bKGD", []byte{0, 40, 0, 50, 0, 60})),
		"IDAT", string(appendChunk(nil, "IEND", nil)), "",
	}
	if got := chunks(t, out); !slices.Equal(got, want) {
		t.Errorf("chunks are %q, want %q", got, want)
	}
}

func TestChunksFollowAGrey(t *testing.T) {
	v := variant{header: header{5, 4, 2, typeGrey, true}, transparency: []byte{0, 2}}
	v.before = slices.Concat(appendChunk(nil, "sBIT", []byte{2}), appendChunk(nil, "bKGD", []byte{0, 1}))
	data := v.encode(rand.New(rand.NewPCG(1, 1)))
	visible := slices.IndexFunc(mustDecode(t, data).U8, func(v uint8) bool { return v != 170 })
	x, y := visible%5, visible/5
	out := mustRewrite(t, data, []processing.Patch{{Runs: []processing.Run{{Y: y, X0: x, X1: x + 1}}, U8: []uint8{99}}})
	want := []string{
		string(appendChunk(nil, "IHDR", header{5, 4, 8, typeGrey, true}.data())),
		string(appendChunk(nil, "bKGD", []byte{0, 85})),
		string(appendChunk(nil, "tRNS", []byte{0, 170})),
		"IDAT", string(appendChunk(nil, "IEND", nil)), "",
	}
	if got := chunks(t, out); !slices.Equal(got, want) {
		t.Errorf("chunks are %q, want %q", got, want)
	}
}

func TestAnimationSurvives(t *testing.T) {
	v := variant{header: header{9, 7, 8, typeRGB, false}}
	animation := appendChunk(nil, "acTL", []byte{0, 0, 0, 2, 0, 0, 0, 0})
	v.before = appendChunk(animation, "fcTL", make([]byte, 26))
	v.after = appendChunk(appendChunk(nil, "fcTL", make([]byte, 26)), "fdAT", []byte("0123 a frame"))
	data := v.encode(rand.New(rand.NewPCG(1, 1)))
	if n := mustOpen(t, data).Info().Pictures; n != 2 {
		t.Errorf("%d pictures, want 2", n)
	}
	patch := []processing.Patch{{Runs: []processing.Run{{Y: 1, X0: 1, X1: 2}}, U8: []uint8{1, 2, 3}}}
	if a, b := chunks(t, data), chunks(t, mustRewrite(t, data, patch)); !slices.Equal(a, b) {
		t.Errorf("chunks were %q, are %q", a, b)
	}

	v.header, v.palette = header{9, 7, 8, typePalette, false}, []byte{1, 2, 3}
	f := mustOpen(t, v.encode(rand.New(rand.NewPCG(1, 1))))
	written := f.Rewrite(t.Context(), new(bytes.Buffer), patch)
	if err := f.Info().Readonly; !errors.Is(err, container.ErrUnsupported) || !errors.Is(written, container.ErrUnsupported) {
		t.Errorf("the frames of an animation with a palette would no longer fit: Readonly is %v, Rewrite says %v", err, written)
	}
}

func TestNoPatchNoChange(t *testing.T) {
	v := variant{header: header{9, 7, 4, typeGrey, true}}
	data := append(v.encode(rand.New(rand.NewPCG(1, 1))), "trailer"...)
	if !bytes.Equal(mustRewrite(t, data, nil), data) {
		t.Error("the file changed without a patch")
	}
	same := processing.Patch{Runs: []processing.Run{{Y: 2, X0: 3, X1: 6}}, U8: mustDecode(t, data).U8[2*9+3 : 2*9+6]}
	if !bytes.Equal(mustRewrite(t, data, []processing.Patch{same}), data) {
		t.Error("the file was converted, though no pixel changed")
	}
}

func TestRewriteRefusesWhatDoesNotFit(t *testing.T) {
	v := variant{header: header{9, 7, 8, typeRGB, false}}
	f := mustOpen(t, v.encode(rand.New(rand.NewPCG(1, 1))))
	containertest.Refuses(t, f, map[string]processing.Patch{
		"below":            {Runs: []processing.Run{{Y: 7, X0: 0, X1: 1}}, U8: make([]uint8, 3)},
		"beside":           {Runs: []processing.Run{{Y: 0, X0: 8, X1: 10}}, U8: make([]uint8, 6)},
		"backwards":        {Runs: []processing.Run{{Y: 0, X0: 3, X1: 1}}, U8: make([]uint8, 6)},
		"too few samples":  {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U8: make([]uint8, 5)},
		"too many samples": {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U8: make([]uint8, 7)},
		"another depth":    {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U16: make([]uint16, 6)},
	})
}

func TestRewriteStops(t *testing.T) {
	v := variant{header: header{500, 400, 16, typeRGB, false}}
	f := mustOpen(t, v.encode(rand.New(rand.NewPCG(1, 1))))
	patch := []processing.Patch{{Runs: []processing.Run{{Y: 0, X0: 0, X1: 1}}, U16: make([]uint16, 3)}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Rewrite(ctx, new(bytes.Buffer), patch); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	if _, err := f.Decode(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Decode, cancelled before: %v", err)
	}
	full := errors.New("no space left")
	if err := f.Rewrite(t.Context(), &failingWriter{room: 1 << 17, err: full}, patch); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	if err := f.Rewrite(ctx, &failingWriter{room: 1 << 17, err: nil, full: cancel}, patch); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled amid: %v", err)
	}
}

// failingWriter takes room bytes, then calls full and returns err.
type failingWriter struct {
	room int
	err  error
	full func()
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		if w.full != nil {
			w.full()
			w.full = nil
		}
		if w.err != nil {
			return 0, w.err
		}
	}
	return len(p), nil
}
