package detect

import (
	"bytes"
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/span"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/cpu"
)

// larger enlarges a picture of 8 bits by a factor, with linear interpolation.
func larger(pic *processing.Picture, factor float64) *processing.Picture {
	c := pic.Channels
	out := testpic.Flat(int(float64(pic.Width)*factor), int(float64(pic.Height)*factor), c, 0)
	place := func(i, n int) (int, float64) {
		at := min(max((float64(i)+0.5)/factor-0.5, 0), float64(n-1))
		whole := min(int(at), max(n-2, 0))
		return whole, at - float64(whole)
	}
	for i := range out.U8 {
		x, fx := place(i/c%out.Width, pic.Width)
		y, fy := place(i/c/out.Width, pic.Height)
		v := func(x, y int) float64 {
			return float64(pic.U8[(min(y, pic.Height-1)*pic.Width+min(x, pic.Width-1))*c+i%c])
		}
		upper := v(x, y)*(1-fx) + v(x+1, y)*fx
		lower := v(x, y+1)*(1-fx) + v(x+1, y+1)*fx
		out.U8[i] = uint8(upper*(1-fy) + lower*fy + 0.5)
	}
	return out
}

// lights is a picture with small bright discs on dull ground.
func lights(w, h, n int) *processing.Picture {
	pic := testpic.Flat(w, h, 3, 70)
	g := rand.New(rand.NewPCG(1, 2))
	for range n {
		x, y, r := g.IntN(w), g.IntN(h), 1+g.IntN(3)
		for v := max(y-r, 0); v <= min(y+r, h-1); v++ {
			for u := max(x-r, 0); u <= min(x+r, w-1); u++ {
				if (u-x)*(u-x)+(v-y)*(v-y) <= r*r {
					copy(pic.U8[3*(v*w+u):], []uint8{255, 255, 250})
				}
			}
		}
	}
	return pic
}

func TestScale(t *testing.T) {
	pic := lights(400, 300, 60)
	noisy := testpic.Noise(300, 200, 3, 8)
	for _, c := range []struct {
		name string
		pic  *processing.Picture
		want scale
	}{
		{"sharp", pic, sharp}, {"three times as large", larger(pic, 3), soft}, {"four times", larger(pic, 4), soft},
		{"noise", noisy, sharp}, {"noise of 16 bits", testpic.Noise(300, 200, 1, 16), sharp},
		{"noise, three times as large", larger(noisy, 3), soft}, {"white", testpic.Flat(500, 400, 3, 255), sharp},
		{"one pixel", testpic.Flat(1, 1, 3, 9), sharp}, {"a row", testpic.Flat(900, 1, 1, 9), sharp},
		{"a column", testpic.Flat(3, 900, 4, 9), sharp}, {"few edges", larger(lights(20, 20, 1), 3), sharp},
	} {
		if got := scaleOf(c.pic); got != c.want {
			t.Errorf("%s: %d, not %d", c.name, got, c.want)
		}
	}
	for _, s := range []scale{sharp, soft} {
		for i := range 100 {
			if c := s.cell(i); i < s.pixel(c) || i >= s.pixel(c+1) || s.cells(i+1) != c+1 {
				t.Errorf("pixel %d at scale %d: cell %d", i, s, c)
			}
		}
	}
}

// TestReduced compares with the mean of the nine quarters of pixels that a cell covers.
func TestReduced(t *testing.T) {
	sample := func(p *processing.Picture, i int) float64 {
		switch {
		case p.U8 != nil:
			return float64(p.U8[i])
		case p.U16 != nil:
			return float64(p.U16[i])
		}
		return float64(p.F32[i])
	}
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")
		depth := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "depth")
		most := 0.501
		if depth == 32 {
			most = 1e-6
		}
		pic := testpic.Noise(rapid.IntRange(1, 9).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h"), channels, depth)
		got, err := reduced(t.Context(), pic)
		if err == nil {
			err = got.Validate()
		}
		if err != nil {
			t.Fatal(err)
		}
		for y := range got.Height {
			for x := range got.Width {
				for k := range channels {
					sum := 0.0
					for q := range 9 {
						u, v := min((3*x+q%3)/2, pic.Width-1), min((3*y+q/3)/2, pic.Height-1)
						sum += sample(pic, (v*pic.Width+u)*channels+k)
					}
					v := sample(got, (y*got.Width+x)*channels+k)
					if d := v - sum/9; max(d, -d) > most {
						t.Fatalf("%d,%d of %d channels of %d bits: %v, not %v", x, y, channels, depth, v, sum/9)
					}
				}
			}
		}
	})
}

func TestEnlarged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 20).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")
		cols, rows := soft.cells(w), soft.cells(h)
		cells := rapid.SliceOfN(rapid.SampledFrom([]uint8{0, 255}), cols*rows, cols*rows).Draw(t, "cells")
		got, want := make([]uint8, w*h), make([]uint8, w*h)
		spans := soft.enlarged(span.Append(nil, cells, cols, 0, rows, 255), w, h)
		span.Fill(got, w, spans, 255)
		for i := range want {
			want[i] = cells[soft.cell(i/w)*cols+soft.cell(i%w)]
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%v, not %v", got, want)
		}
		if !slices.IsSortedFunc(spans, func(a, b processing.Span) int {
			return int((a.Y-b.Y)*int32(w) + a.X0 - b.X0)
		}) {
			t.Fatal("not in reading order")
		}
	})
}

// TestSoft finds in an enlarged picture the glints of the original, in parts of it too.
func TestSoft(t *testing.T) {
	t.Parallel()
	be := cpu.New()
	defer be.Close()
	p := processing.DefaultParams()
	detected := func(pic *processing.Picture, o Options) *Result {
		o.Vectors = true
		r, err := Detect(t.Context(), be, pic, p, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	pic := lights(500, 400, 60)
	large := larger(pic, 3)
	if scaleOf(large) != soft {
		t.Fatal("not soft")
	}
	first, whole := detected(pic, Options{}), detected(large, Options{})
	if a, b := len(first.Findings), len(whole.Findings); a < 20 || b < a*8/10 || b > a*12/10 {
		t.Errorf("%d findings, enlarged %d", a, b)
	}
	for i := range whole.Table.Components {
		if whole.Table.Components[i].Vector == nil {
			t.Fatal("a component without a vector")
		}
	}
	marked := 0
	for _, inside := range []image.Rectangle{image.Rect(401, 303, 620, 490), image.Rect(800, -9, 1900, 133)} {
		part, ok, err := NewPart(large, p, Options{}, inside)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		mask, from := part.Mask(detected(part.Picture, part.Options))
		for i, v := range mask.Pix {
			x, y := from.X+i%mask.Width, from.Y+i/mask.Width
			if v != whole.Mask.Pix[y*large.Width+x] {
				t.Fatalf("%v: pixel %d,%d is %d in the part", inside, x, y, v)
			}
			marked += int(v) / 255
		}
	}
	if marked == 0 {
		t.Error("no part has glare")
	}
	// Beside the lights, nothing would say that the picture is soft.
	wide := testpic.Flat(large.Width+2000, large.Height, 3, 70)
	for y := range large.Height {
		copy(wide.U8[3*y*wide.Width:], large.U8[3*y*large.Width:][:3*large.Width])
	}
	part, ok, err := NewPart(wide, p, Options{}, image.Rect(wide.Width-50, 0, wide.Width, 50))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if scaleOf(part.Picture) != sharp || part.Options.scale != soft {
		t.Errorf("a part without edges: scale %d, by itself %d", part.Options.scale, scaleOf(part.Picture))
	}
	inspected := func(r image.Rectangle) *LayerMap {
		m, err := Inspect(t.Context(), be, large, p, LayerOptions{Layer: LayerNetwork, Rect: r})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	all, some := inspected(image.Rect(0, 0, large.Width, large.Height)), inspected(image.Rect(301, 200, 500, 333))
	for i, v := range some.Pix {
		x, y := 301+i%some.Rect.Dx(), 200+i/some.Rect.Dx()
		if v != all.Pix[y*large.Width+x] {
			t.Fatalf("logit at %d,%d is %d in the part", x, y, v)
		}
	}
}

// TestSoftCrops marks fewer painted lights in enlarged parts of paintings than there are as the network sees them.
func TestSoftCrops(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	be := cpu.New()
	defer be.Close()
	counts := map[scale]int{}
	for _, file := range testpic.SharedFiles(t, "glare-real/c*_image.png") {
		pic := larger(testpic.RGB(t, file), 1.5)
		for _, s := range []scale{0, sharp} {
			r, err := Detect(t.Context(), be, pic, processing.DefaultParams(), Options{scale: s})
			if err != nil {
				t.Fatal(err)
			}
			counts[s] += len(r.Findings)
		}
	}
	t.Log(counts)
	// 32 and 248 in November 2026.
	if counts[0] > counts[sharp]/4 {
		t.Errorf("%d findings, as sharp pictures %d", counts[0], counts[sharp])
	}
}
