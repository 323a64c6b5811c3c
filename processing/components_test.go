package processing

import (
	"context"
	"math"
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

// flood labels the pixels for which in holds by repeated relaxation: slow, and obviously right.
func flood(w, h, reach int, in func(i int) bool) []int {
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
						if reach == fourConnected && dx*dy != 0 {
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
		spans := spansOf(pix, w, h, 2)
		n := connect(spans)
		want := flood(w, h, eightConnected, func(i int) bool { return pix[i]&2 != 0 })

		first := map[int]uint32{} // flood's label is the index of the component's first pixel
		covered := 0
		for _, s := range spans {
			for x := s.x0; x < s.x1; x++ {
				i := int(s.y)*w + int(x)
				covered++
				if want[i] < 0 {
					t.Fatalf("pixel %d is in a span but not set", i)
				}
				if l, ok := first[want[i]]; ok && l != s.label {
					t.Fatalf("component %d has the labels %d and %d", want[i], l, s.label)
				}
				first[want[i]] = s.label
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

func TestFillHolesEqualsFlood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 16).Draw(t, "w"), rapid.IntRange(1, 16).Draw(t, "h")
		pix := genBytes(t, w, h, 255)
		label := flood(w, h, fourConnected, func(i int) bool { return pix[i] == 0 })
		open := map[int]bool{}
		for y := range h {
			for x := range w {
				if x == 0 || y == 0 || x == w-1 || y == h-1 {
					open[label[y*w+x]] = true
				}
			}
		}
		got := append([]uint8(nil), pix...)
		fillHoles(got, w, h)
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

// TestGrowEqualsDefinition compares grow with the doc comments of growth and grow, one claim at a time.
func TestGrowEqualsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 18).Draw(t, "w"), rapid.IntRange(1, 18).Draw(t, "h")
		cls := genBytes(t, w, h, ClassGrow, ClassGrow, ClassGrow, ClassGrow, ClassGrow, ClassGrow|ClassCore)
		g := growth{
			base: rapid.Float64Range(0, 2).Draw(t, "base"), slope: rapid.Float64Range(0, 1).Draw(t, "slope"),
			farBase: rapid.Float64Range(0, 4).Draw(t, "farBase"), farSlope: rapid.Float64Range(0, 2).Draw(t, "farSlope"),
			closed: rapid.Float64Range(0, 0.6).Draw(t, "closed"), limit: 6, maxCore: rapid.IntRange(1, 30).Draw(t, "maxCore"),
		}
		cores := spansOf(cls, w, h, ClassCore)
		area := areas(cores, connect(cores))
		owner := planeOf(cores, w, h)
		coreLabel := planeOf(cores, w, h)

		type waiting struct{ at, from, label, d2 int }
		var queue []waiting
		spread := func(c waiting) {
			for n := range w * h {
				dx, dy := n%w-c.at%w, n/w-c.at/w
				if dx*dx > 1 || dy*dy > 1 || owner[n] >= 0 || cls[n]&ClassGrow == 0 {
					continue
				}
				fx, fy := n%w-c.from%w, n/w-c.from/w
				far := g.far(area[c.label])
				if d2 := max(c.d2, fx*fx+fy*fy); d2 <= int(far*far) {
					queue = append(queue, waiting{n, c.from, c.label, d2})
				}
			}
		}
		for i, l := range coreLabel {
			if l >= 0 {
				spread(waiting{i, i, l, 0})
			}
		}
		dist2 := make([]int, w*h)
		for len(queue) > 0 {
			next := 0
			for i, c := range queue {
				if c.d2 < queue[next].d2 {
					next = i
				}
			}
			c := queue[next]
			queue = append(queue[:next:next], queue[next+1:]...)
			if owner[c.at] < 0 {
				owner[c.at], dist2[c.at] = c.label, c.d2
				spread(c)
			}
		}
		// Of that, a core keeps the near reach, or all inside the first ring that is closed.
		for l, a := range area {
			near, far := g.near(a), g.far(a)
			keep := near * near
			for k := int(near) + 1; k <= int(far); k++ {
				ring := 0
				for i, o := range owner {
					if d := math.Sqrt(float64(dist2[i])); o == l && d > float64(k-1) && d <= float64(k) {
						ring++
					}
				}
				if full := 2 * math.Pi * (math.Sqrt(float64(a)/math.Pi) + float64(k) - 0.5); float64(ring) < g.closed*full {
					keep = math.Max(keep, float64((k-1)*(k-1)))
					break
				}
			}
			for i, o := range owner {
				if o == l && dist2[i] > int(keep) {
					owner[i] = -1
				}
			}
		}
		grower := newGrower(w, h)
		for range 2 { // the second time from the memory of the first
			spans, err := grower.grow(context.Background(), cls, cores, area, g)
			if err != nil {
				t.Fatal(err)
			}
			last := span{y: -1}
			for _, s := range spans {
				if s.y < last.y || s.y == last.y && s.x0 < last.x1 {
					t.Fatalf("span %v follows %v", s, last)
				}
				last = s
			}
			for i, got := range planeOf(spans, w, h) {
				if got != owner[i] {
					t.Fatalf("pixel %d,%d belongs to %d, want %d", i%w, i/w, got, owner[i])
				}
			}
		}
	})
}

// TestGrowTurnsBack grows round a corner, where the way leads back towards the core.
func TestGrowTurnsBack(t *testing.T) {
	const g = ClassGrow
	cls := []uint8{
		g | ClassCore, g, g,
		0, 0, g,
		g, g, 0,
	}
	cores := spansOf(cls, 3, 3, ClassCore)
	connect(cores)
	spans, err := newGrower(3, 3).grow(context.Background(), cls, cores, []int{1}, growth{base: 3, limit: 6, maxCore: 10})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range planeOf(spans, 3, 3) {
		if want := int(cls[i]&g)/int(g) - 1; got != want {
			t.Errorf("pixel %d,%d belongs to %d, want %d", i%3, i/3, got, want)
		}
	}
}

// planeOf returns the label of each pixel, −1 where there is none.
func planeOf(spans []span, w, h int) []int {
	plane := make([]int, w*h)
	for i := range plane {
		plane[i] = -1
	}
	for _, s := range spans {
		for x := s.x0; x < s.x1; x++ {
			plane[int(s.y)*w+int(x)] = int(s.label)
		}
	}
	return plane
}

func TestShapeEqualsSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShape()
		var n, sx, sxx, sxy, syy float64
		for range rapid.IntRange(1, 5).Draw(t, "spans") {
			x0 := rapid.Int32Range(0, 100000).Draw(t, "x0")
			r := span{rapid.Int32Range(0, 100000).Draw(t, "y"), x0, x0 + rapid.Int32Range(1, 9).Draw(t, "n"), 0}
			s.add(r)
			for x := r.x0; x < r.x1; x++ {
				n++
				sx += float64(x)
				sxx += float64(x) * float64(x)
				sxy += float64(x) * float64(r.y)
				syy += float64(r.y) * float64(r.y)
			}
		}
		got := []float64{float64(s.n), float64(s.sx), float64(s.sxx), float64(s.sxy), float64(s.syy)}
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
		spans      []span
		want, give float64
	}{
		{"one pixel", []span{{5, 5, 6, 0}}, 1, 1e-9},
		{"square", []span{{0, 0, 3, 0}, {1, 0, 3, 0}, {2, 0, 3, 0}}, 1, 1e-9},
		// A line of n pixels has the variance n²/12 along it and 1/12 across.
		{"line of 10", []span{{7, 0, 10, 0}}, 10, 1e-9},
		// λ1 = 1/12 + 2·(n²−1)/12 along a diagonal of n pixels, λ2 = 1/12.
		{"diagonal of 3", []span{{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 2, 3, 0}}, math.Sqrt(17), 1e-9},
	} {
		s := newShape()
		for _, r := range c.spans {
			s.add(r)
		}
		if got := s.elongation(); math.Abs(got-c.want) > c.give {
			t.Errorf("%s: elongation %v, want %v", c.name, got, c.want)
		}
	}
}
