package span

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// genBytes draws a small plane whose bytes are 0 or one of the given values; about the given share is set.
func genBytes(t *rapid.T, w, h int, values ...uint8) []uint8 {
	sparse := rapid.IntRange(1, 9).Draw(t, "sparse")
	pix := make([]uint8, w*h)
	for i := range pix {
		if rapid.IntRange(0, 9).Draw(t, "set") >= sparse {
			pix[i] = values[rapid.IntRange(0, len(values)-1).Draw(t, "value")]
		}
	}
	return pix
}

// flood labels the pixels for which in returns true by repeated relaxation: slow but obviously correct.
func flood(w, h int, reach Reach, in func(i int) bool) []int {
	label := make([]int, w*h)
	for i := range label {
		label[i] = -1
		if in(i) {
			label[i] = i
		}
	}
	for changed := true; changed; {
		changed = false
		for y := range h {
			for x := range w {
				i := y*w + x
				if label[i] < 0 {
					continue
				}
				for dy := -1; dy <= 1; dy++ {
					for dx := -1; dx <= 1; dx++ {
						if reach == Four && dx*dy != 0 {
							continue
						}
						px, py := x+dx, y+dy
						if px < 0 || py < 0 || px >= w || py >= h {
							continue
						}
						if l := label[py*w+px]; l >= 0 && l < label[i] {
							label[i], changed = l, true
						}
					}
				}
			}
		}
	}
	return label
}

func TestConnectEqualsFlood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 20).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")
		pix := genBytes(t, w, h, 1, 2, 3)
		spans := Append(nil, pix, w, 0, h, 2)
		n := Connect(spans, Eight)
		want := flood(w, h, Eight, func(i int) bool { return pix[i]&2 != 0 })

		first := map[int]uint32{} // flood's label is the index of the component's first pixel
		covered := 0
		for _, s := range spans {
			for x := s.X0; x < s.X1; x++ {
				i := int(s.Y)*w + int(x)
				covered++
				if want[i] < 0 {
					t.Fatalf("pixel %d is in a span but not set", i)
				}
				if l, ok := first[want[i]]; ok && l != s.Label {
					t.Fatalf("component %d has the labels %d and %d", want[i], l, s.Label)
				}
				first[want[i]] = s.Label
			}
		}
		set := 0
		for _, l := range want {
			if l >= 0 {
				set++
			}
		}
		if covered != set || len(first) != n {
			t.Fatalf("%d pixels in %d components, want %d in %d", covered, n, set, len(first))
		}
		labels := map[uint32]bool{}
		for _, l := range first {
			labels[l] = true
		}
		if len(labels) != n {
			t.Fatalf("%d components share %d labels", n, len(labels))
		}
	})
}

// TestStripsEqualWhole compares spans joined in strips with spans joined at once: many rows, rows longer than a strip,
// gaps between rows.
func TestStripsEqualWhole(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 2))
	for _, size := range [][2]int{{120, 400}, {3 * leastStrip, 9}, {40 * leastStrip, 1}, {2, 9 * leastStrip}} {
		for _, share := range []float64{0.3, 0.5, 0.7} {
			var spans []Span
			for y := range size[1] {
				if r.IntN(50) == 0 {
					continue
				}
				for x := 0; x < size[0]; x++ {
					if r.Float64() < share {
						x1 := x + 1 + r.IntN(2)
						spans = append(spans, Span{Y: int32(y), X0: int32(x), X1: int32(x1)})
						x = x1 - r.IntN(2)
					}
				}
			}
			for _, reach := range []Reach{Four, Eight} {
				whole := make(Disjoint, len(spans))
				whole.joinRows(spans, 0, len(spans), reach)
				got := join(spans, reach)
				for i := range spans {
					if want := whole.Find(uint32(i)); got[i] != want {
						t.Fatalf("%v, %v: span %d of %d belongs to %d, want %d", size, share, i, len(spans), got[i], want)
					}
				}
			}
		}
	}
}

func TestHolesEqualFlood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 16).Draw(t, "w"), rapid.IntRange(1, 16).Draw(t, "h")
		pix := genBytes(t, w, h, 255)
		label := flood(w, h, Four, func(i int) bool { return pix[i] == 0 })
		open := map[int]bool{}
		for y := range h {
			for x := range w {
				if x == 0 || y == 0 || x == w-1 || y == h-1 {
					open[label[y*w+x]] = true
				}
			}
		}
		got := append([]uint8(nil), pix...)
		Fill(got, w, Holes(Append(nil, pix, w, 0, h, 255), w, h), 255)
		for i := range pix {
			want := uint8(255)
			if pix[i] == 0 && open[label[i]] {
				want = 0
			}
			if got[i] != want {
				t.Fatalf("pixel %d,%d is %d, want %d", i%w, i/w, got[i], want)
			}
		}
	})
}

func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewSums()
		var n, sx, sxx, sxy, syy float64
		for range rapid.IntRange(1, 5).Draw(t, "spans") {
			x0 := rapid.Int32Range(0, 100000).Draw(t, "x0")
			r := Span{rapid.Int32Range(0, 100000).Draw(t, "y"), x0, x0 + rapid.Int32Range(1, 9).Draw(t, "n"), 0}
			s.Add(r)
			for x := r.X0; x < r.X1; x++ {
				n++
				sx += float64(x)
				sxx += float64(x) * float64(x)
				sxy += float64(x) * float64(r.Y)
				syy += float64(r.Y) * float64(r.Y)
			}
		}
		got := []float64{float64(s.N), float64(s.SX), float64(s.SXX), float64(s.SXY), float64(s.SYY)}
		for i, want := range []float64{n, sx, sxx, sxy, syy} {
			if got[i] != want {
				t.Fatalf("sum %d is %v, want %v", i, got[i], want)
			}
		}
	})
}

func TestElongation(t *testing.T) {
	for _, c := range []struct {
		name       string
		spans      []Span
		want, give float64
	}{
		{"one pixel", []Span{{5, 5, 6, 0}}, 1, 1e-9},
		{"square", []Span{{0, 0, 3, 0}, {1, 0, 3, 0}, {2, 0, 3, 0}}, 1, 1e-9},
		// A line of n pixels has the variance n²/12 along it and 1/12 across.
		{"line of 10", []Span{{7, 0, 10, 0}}, 10, 1e-9},
		// λ1 = 1/12 + 2·(n²−1)/12 along a diagonal of n pixels, λ2 = 1/12.
		{"diagonal of 3", []Span{{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 2, 3, 0}}, math.Sqrt(17), 1e-9},
	} {
		s := NewSums()
		for _, r := range c.spans {
			s.Add(r)
		}
		if got := s.Elongation(); math.Abs(got-c.want) > c.give {
			t.Errorf("%s: elongation %v, want %v", c.name, got, c.want)
		}
	}
}
