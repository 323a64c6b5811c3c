package processing

import (
	"image"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestHalved compares halving with its definition: each sample is the mean of the four nearest ones, the last row and
// column of the area being repeated.
func TestHalved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		channels := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")
		depth := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "depth")
		top := uint16(1<<min(depth, 16) - 1)
		samples := rapid.SliceOfN(rapid.OneOf(rapid.Just(top), rapid.Uint16Range(0, top)), w*h*channels, w*h*channels).
			Draw(t, "samples")
		p := &Picture{Width: w, Height: h, Channels: channels, Transfer: TransferLinear}
		for _, v := range samples {
			switch depth {
			case 8:
				p.U8 = append(p.U8, uint8(v))
			case 16:
				p.U16 = append(p.U16, v)
			default:
				p.F32 = append(p.F32, float32(v)/math.MaxUint16)
			}
		}
		left, first := rapid.IntRange(0, w-1).Draw(t, "left"), rapid.IntRange(0, h-1).Draw(t, "first row")
		right, bottom := rapid.IntRange(left+1, w).Draw(t, "right"), rapid.IntRange(first+1, h).Draw(t, "bottom")
		area := image.Rect(left, first, right, bottom)
		half, err := p.halved(t.Context(), area)
		if err != nil {
			t.Fatal(err)
		}
		if err := half.Validate(); err != nil {
			t.Fatal(err)
		}
		if half.Width != (area.Dx()+1)/2 || half.Height != (area.Dy()+1)/2 || half.Transfer != TransferLinear {
			t.Fatalf("%d × %d of %v", half.Width, half.Height, area)
		}
		for y := range half.Height {
			for x := range half.Width {
				for c := range channels {
					sum := 0
					for _, row := range []int{first + 2*y, min(first+2*y+1, area.Max.Y-1)} {
						for _, column := range []int{left + 2*x, min(left+2*x+1, area.Max.X-1)} {
							sum += int(samples[(row*w+column)*channels+c])
						}
					}
					at := (y*half.Width+x)*channels + c
					if depth == 8 {
						sum *= 257
					}
					if got, want := int(half.U16[at]), (sum+2)/4; got != want {
						t.Fatalf("(%d, %d, %d): %d, not %d", x, y, c, got, want)
					}
				}
			}
		}
	})
}

// TestEnlarged compares the pixels of enlarged spans with those that fall into them, for parts that begin anywhere.
func TestEnlarged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const reducedW, reducedH = 9, 7
		o := &octave{side: rapid.SampledFrom([]int{2, 4}).Draw(t, "side")}
		o.at.X, o.at.Y = rapid.IntRange(-20, 12).Draw(t, "x"), rapid.IntRange(-20, 12).Draw(t, "y")
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		in := rapid.SliceOfN(rapid.Bool(), reducedW*reducedH, reducedW*reducedH).Draw(t, "in")
		var spans []Span
		for i, v := range in {
			if v {
				x, y := int32(i%reducedW), int32(i/reducedW)
				spans = append(spans, Span{Y: y, X0: x, X1: x + 1})
			}
		}
		got := make([]bool, w*h)
		last := -1
		for _, s := range o.enlarged(spans, w, h) {
			for x := s.X0; x < s.X1; x++ {
				at := int(s.Y)*w + int(x)
				if at <= last {
					t.Fatal("not in reading order")
				}
				got[at], last = true, at
			}
		}
		for y := range h {
			for x := range w {
				rx, ry := x-o.at.X, y-o.at.Y
				want := rx >= 0 && ry >= 0 && rx/o.side < reducedW && ry/o.side < reducedH &&
					in[ry/o.side*reducedW+rx/o.side]
				if got[y*w+x] != want {
					t.Fatalf("(%d, %d): %v", x, y, got[y*w+x])
				}
			}
		}
	})
}

// TestOverlayKnows compares the share of a candidate's pixels that surer ones have with a count pixel by pixel.
func TestOverlayKnows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const w, h = 24, 12
		draw := func(name string) (spans []Span, owns [w * h]bool) {
			for y := range int32(h) {
				x0 := rapid.Int32Range(0, w-1).Draw(t, name)
				x1 := rapid.Int32Range(x0, w).Draw(t, name)
				if x0 < x1 {
					spans = append(spans, Span{Y: y, X0: x0, X1: x1})
				}
				for x := x0; x < x1; x++ {
					owns[int(y)*w+int(x)] = true
				}
			}
			return spans, owns
		}
		first, ownsFirst := draw("first")
		spans, owns := draw("spans")
		score, own := rapid.Float64Range(-3, 3).Draw(t, "score"), rapid.Float64Range(-3, 3).Draw(t, "own score")
		sheet := rapid.SampledFrom([]float64{0, 2}).Draw(t, "sheet")
		pixels, shared := 0, 0
		for i := range owns {
			if owns[i] {
				pixels++
				if ownsFirst[i] && score+sheet >= min(own, 0) {
					shared++
				}
			}
		}
		want := float64(shared) >= knownShare*float64(pixels)
		finer := []candidate{{spans: first, score: score, sheet: sheet}, {spans: spans, score: 9, side: 2}}
		full := func(c *candidate) bool { return c.side == 0 }
		if got := newOverlay(h, finer, full).knows(spans, own); got != want {
			t.Fatalf("%d of %d pixels: %v", shared, pixels, got)
		}
	})
}

func TestSheet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what                         string
		area, core, rise, peak, want float64
	}{
		{"a glint", 300, 140, 0.6, 0.8, 0},
		{"a card", 1500, 1500, 0.9, 0.9, 2},
		{"an even core with a wide rim", 1500, 700, 0.94, 1, 0.5},
		{"an uneven core without a rim", 1500, 1290, 0.5, 0.8, 0.5},
		{"a small card", 40, 40, 0.9, 0.9, 0},
		{"a card of medium size", 40 * math.Sqrt(math.E), 40 * math.Sqrt(math.E), 0.9, 0.9, 1},
		{"nothing that rises", 1500, 0, 0, 0, 0},
	} {
		l := look{area: c.area, core: c.core, rise: c.rise, peakRise: c.peak}
		if got := l.sheet(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.what, got, c.want)
		}
	}
}
