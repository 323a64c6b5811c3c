package imagefile

import (
	"encoding/binary"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// TestMirrored compares visible paint that continues into hidden pixels with a search of all pixels, on literal rows and
// at random.
func TestMirrored(t *testing.T) {
	row := func(v ...uint8) *processing.Picture {
		return &processing.Picture{Width: len(v), Height: 1, Channels: 1, U8: v}
	}
	for _, c := range []struct {
		in     []uint8
		hidden string
		want   []uint8
	}{
		{[]uint8{1, 2, 3, 99, 99}, "...##", []uint8{1, 2, 3, 2, 1}},
		{[]uint8{99, 99, 99, 4, 5}, "###..", []uint8{4, 4, 5, 4, 5}},
		{[]uint8{1, 99, 2}, ".#.", []uint8{1, 1, 2}},
		{[]uint8{9, 8, 7}, "###", []uint8{0, 0, 0}},
		{[]uint8{9, 8, 7}, "...", []uint8{9, 8, 7}},
	} {
		var hidden []bool
		for _, h := range c.hidden {
			hidden = append(hidden, h == '#')
		}
		got, err := mirrored(t.Context(), row(c.in...), hidden)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.U8, c.want) {
			t.Errorf("%s: %v, want %v", c.hidden, got.U8, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		w, h := 1+rng.IntN(30), 1+rng.IntN(30)
		hidden := make([]bool, w*h)
		for i := range hidden {
			hidden[i] = rng.IntN(10) < 9
		}
		near, err := nearest(t.Context(), hidden, w, h)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range near {
			best := -1
			for k, is := range hidden {
				dx, dy := k%w-i%w, k/w-i/w
				if n := dx*dx + dy*dy; !is && (best < 0 || n < best) {
					best = n
				}
			}
			if best < 0 {
				if hidden[i] && d != farAway() {
					t.Fatalf("nothing is visible, but %v is near", d)
				}
				continue
			}
			to := i + int(d.y)*w + int(d.x)
			if have := int(d.x)*int(d.x) + int(d.y)*int(d.y); hidden[to] || have < best || float64(have) > 1.3*float64(best)+1 {
				t.Fatalf("the nearest visible pixel of %d, %d is %d away, not %d", i%w, i/w, best, have)
			}
		}
	}
}

// TestHidden: hidden colours do not influence what detection and correction see, in any file that can hide pixels.
func TestHidden(t *testing.T) {
	const w, h = 24, 18
	hides := func(i int) bool { return i%w < 9 || i/w > 14 }
	png := func(seed uint64) []byte {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := image.NewNRGBA(image.Rect(0, 0, w, h))
		for i := range w * h {
			c := color.NRGBA{uint8(7 * i), uint8(3 * i), uint8(i), 255 - uint8(i%3)*100}
			if hides(i) {
				c = color.NRGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 0}
			}
			m.SetNRGBA(i%w, i/w, c)
		}
		return stdPNG(t, m)
	}
	tiff := func(planar bool) func(seed uint64) []byte {
		return func(seed uint64) []byte {
			rng := rand.New(rand.NewPCG(seed, 1))
			p := &page{w: w, h: h, depth: 16, colours: 3, extra: 1, photometric: 2, planar: planar, rows: 5, compression: 8}
			for i := range w * h {
				v := [4]uint16{uint16(700 * i), uint16(300 * i), uint16(i), 1}
				if hides(i) {
					v = [4]uint16{uint16(rng.Uint32()), uint16(rng.Uint32()), uint16(rng.Uint32()), 0}
				}
				for _, x := range v {
					p.samples = binary.BigEndian.AppendUint16(p.samples, x)
				}
			}
			return writeTIFF(form{order: binary.LittleEndian}, p)
		}
	}
	limits := DefaultLimits()
	limits.Work = 1
	for name, make := range map[string]func(seed uint64) []byte{"PNG": png, "TIFF": tiff(false), "planar TIFF": tiff(true)} {
		var seen []*processing.Picture
		for seed := range uint64(2) {
			f, err := Read(t.Context(), testpic.WriteFile(t, "a", make(seed)), limits)
			if err != nil {
				t.Fatal(err)
			}
			if f.Picture.Hidden == nil || f.Picture.Visible() == f.Picture || f.Picture.Visible().Visible() != f.Picture.Visible() {
				t.Fatalf("%s: hidden pixels are not known", name)
			}
			for i, is := range f.Picture.Hidden.Pixels {
				if is != hides(i) {
					t.Fatalf("%s: pixel %d is hidden: %t", name, i, is)
				}
			}
			part := f.Picture.Part(5, 4, 10, 8)
			if err := part.Validate(); err != nil || part.Hidden == nil || part.Visible().Width != 10 {
				t.Errorf("%s: a part: %v, %+v", name, err, part.Hidden)
			}
			if f.Picture.Part(10, 0, 5, 5).Hidden != nil {
				t.Errorf("%s: a part without hidden pixels", name)
			}
			seen = append(seen, f.Picture.Visible())
			plain := opened(t, f.Path)
			if plain.Picture.Hidden != nil || !slices.Equal(plain.Picture.U8, f.Picture.U8) || !slices.Equal(plain.Picture.U16, f.Picture.U16) {
				t.Errorf("%s: the samples of the picture are others", name)
			}
		}
		if !slices.Equal(seen[0].U8, seen[1].U8) || !slices.Equal(seen[0].U16, seen[1].U16) {
			t.Errorf("%s: hidden colours are seen", name)
		}
	}
	opaque, err := Read(t.Context(), testpic.WriteFile(t, "a", stdPNG(t, painted(w, h))), limits)
	if err != nil || opaque.Picture.Hidden != nil {
		t.Errorf("an opaque picture: %v, %v", opaque.Picture.Hidden, err)
	}
}
