package cpu

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// classes draws a class plane of few set pixels or many: cores, growable pixels, bright ones and none.
func classes(t *rapid.T, n int) []uint8 {
	grow := rapid.IntRange(0, 12).Draw(t, "grow")
	cores := rapid.IntRange(1, 6).Draw(t, "cores")
	pix := make([]uint8, n)
	for i, v := range noise[uint8](t, n, 255) {
		switch k := int(v) % 16; {
		case k < cores/2+1:
			pix[i] = processing.ClassWide | processing.ClassCore | processing.ClassGrow*(v>>7)
		case k < cores+grow:
			pix[i] = processing.ClassWide | processing.ClassGrow
		case k == 15:
			pix[i] = processing.ClassWide
		}
	}
	return pix
}

// painted returns the label of each pixel, −1 where there is none, and holds the spans to reading order.
func painted(t rapid.TB, w, h int, spans []processing.Span) []int {
	t.Helper()
	plane := make([]int, w*h)
	for i := range plane {
		plane[i] = -1
	}
	last := processing.Span{Y: -1}
	for _, s := range spans {
		if s.Y < last.Y || s.Y == last.Y && (s.X0 < last.X1 || s.X0 == last.X1 && s.Label == last.Label) {
			t.Fatalf("span %v follows %v", s, last)
		}
		last = s
		for x := s.X0; x < s.X1; x++ {
			plane[int(s.Y)*w+int(x)] = int(s.Label)
		}
	}
	return plane
}

// value is the definition's: distance² and core pixel; none has a distance beyond all others.
type value struct{ d2, core int }

const nowhere = math.MaxInt

// grown computes processing.Grow as its comment defines it: one pixel at a time, always the one with the least value.
func grown(w, h int, label []int, cls []uint8, g processing.Growth) []int {
	area := map[int]int{}
	for _, l := range label {
		area[l]++
	}
	now := make([]value, w*h)
	for i, l := range label {
		now[i] = value{nowhere, 0}
		if l >= 0 {
			now[i] = value{0, i}
		}
	}
	for {
		best, at := value{nowhere, 0}, -1
		for p := range now {
			if now[p].d2 != nowhere || cls[p]&processing.ClassGrow == 0 {
				continue
			}
			x, y := p%w, p/w
			for qy := max(y-1, 0); qy <= min(y+1, h-1); qy++ {
				for qx := max(x-1, 0); qx <= min(x+1, w-1); qx++ {
					q := now[qy*w+qx]
					if q.d2 == nowhere {
						continue
					}
					dx, dy := x-q.core%w, y-q.core/w
					far := g.Far(area[label[q.core]])
					v := value{max(q.d2, dx*dx+dy*dy), q.core}
					if v.d2 <= int(far*far) && (v.d2 < best.d2 || v.d2 == best.d2 && v.core < best.core) {
						best, at = v, p
					}
				}
			}
		}
		if at < 0 {
			break
		}
		now[at] = best
	}
	owner := slices.Clone(label)
	for p, v := range now {
		if v.d2 != nowhere {
			owner[p] = label[v.core]
		}
	}
	for l, a := range area {
		if l < 0 {
			continue
		}
		near, far := g.Near(a), g.Far(a)
		keep := int(near * near)
		for k := int(near) + 1; k <= int(far); k++ {
			ring := 0
			for i, o := range owner {
				if d := math.Sqrt(float64(now[i].d2)); o == l && d > float64(k-1) && d <= float64(k) {
					ring++
				}
			}
			if full := 2 * math.Pi * (math.Sqrt(float64(a)/math.Pi) + float64(k) - 0.5); float64(ring) < g.Closed*full {
				keep = max(keep, (k-1)*(k-1))
				break
			}
		}
		for i, o := range owner {
			if o == l && now[i].d2 > keep {
				owner[i] = -1
			}
		}
	}
	return owner
}

func TestGrowEqualsDefinition(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 24).Draw(t, "w"), rapid.IntRange(1, 24).Draw(t, "h")
		before, after := classes(t, w*h), classes(t, w*h)
		g := processing.Growth{
			Base: rapid.Float64Range(0, 2).Draw(t, "base"), Slope: rapid.Float64Range(0, 1).Draw(t, "slope"),
			FarBase:  rapid.Float64Range(0, 4).Draw(t, "farBase"),
			FarSlope: rapid.Float64Range(0, 2).Draw(t, "farSlope"),
			Closed:   rapid.Float64Range(0, 0.6).Draw(t, "closed"), Limit: 6,
			MaxCore: rapid.IntRange(1, 30).Draw(t, "maxCore"),
		}
		b := New(Workers(rapid.SampledFrom(workerCounts).Draw(t, "workers")))
		defer b.Close()
		b.tiling.span = rapid.IntRange(1, 300).Draw(t, "span")
		cores, err := processing.Evaluate(ctx, b, processing.Label{
			Class: up(t, b, w, h, before), Bits: processing.ClassCore,
		})
		if err != nil {
			t.Fatal(err)
		}
		keep := make([]bool, cores.Len())
		for i := range keep {
			keep[i] = rapid.IntRange(0, 4).Draw(t, "keep") > 0
		}
		if err := b.Do(ctx, processing.FilterComponents{Components: cores, Keep: keep}); err != nil {
			t.Fatal(err)
		}
		spans, err := processing.Evaluate(ctx, b, processing.Spans{Components: cores})
		if err != nil {
			t.Fatal(err)
		}
		label := painted(t, w, h, spans)
		out, err := processing.Evaluate(ctx, b, processing.Grow{Cores: cores, Class: up(t, b, w, h, after), Growth: g})
		if err != nil {
			t.Fatal(err)
		}
		if spans, err = processing.Evaluate(ctx, b, processing.Spans{Components: out}); err != nil {
			t.Fatal(err)
		}
		want := grown(w, h, label, after, g)
		for i, got := range painted(t, w, h, spans) {
			if got != want[i] {
				t.Fatalf("pixel %d,%d belongs to %d, want %d", i%w, i/w, got, want[i])
			}
		}
		dst := up(t, b, w, h, make([]uint8, w*h))
		if err := b.Do(ctx, processing.Rasterize{Dst: dst, Components: out}); err != nil {
			t.Fatal(err)
		}
		host, _ := b.Host(ctx, dst)
		for i, v := range host.U8 {
			if (v == 255) != (want[i] >= 0) || v != 0 && v != 255 {
				t.Fatalf("pixel %d,%d is painted %d, label %d", i%w, i/w, v, want[i])
			}
		}
	})
}

func TestSortClaims(t *testing.T) {
	var spare []claim
	rapid.Check(t, func(t *rapid.T) {
		claims := make([]claim, rapid.IntRange(0, 400).Draw(t, "claims"))
		rows := rapid.Int32Range(0, 30).Draw(t, "rows")
		for i := range claims {
			claims[i] = claim{
				x: int32(i), fx: rapid.Int32Range(0, 90).Draw(t, "fx"), fy: rapid.Int32Range(0, rows).Draw(t, "fy"),
			}
		}
		want := slices.Clone(claims)
		slices.SortStableFunc(want, func(a, b claim) int { return cmp.Compare(a.order(), b.order()) })
		var got []claim
		got, spare = sortClaims(claims, spare)
		seen := make([]bool, len(want))
		for i, c := range got {
			if c.order() != want[i].order() || seen[c.x] {
				t.Fatalf("claim %d is %+v, want %+v", i, c, want[i])
			}
			seen[c.x] = true
		}
		if len(got) != len(want) {
			t.Fatalf("%d claims, want %d", len(got), len(want))
		}
	})
}

// TestGrowTurnsBack grows round a corner, where the path leads back towards the core.
func TestGrowTurnsBack(t *testing.T) {
	const g = processing.ClassGrow
	ctx := context.Background()
	b := New()
	defer b.Close()
	cls := up(t, b, 3, 3, []uint8{
		g | processing.ClassCore, g, g,
		0, 0, g,
		g, g, 0,
	})
	cores, err := processing.Evaluate(ctx, b, processing.Label{Class: cls, Bits: processing.ClassCore})
	if err != nil {
		t.Fatal(err)
	}
	out, err := processing.Evaluate(ctx, b, processing.Grow{
		Cores: cores, Class: cls, Growth: processing.Growth{Base: 3, Limit: 6, MaxCore: 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	spans, err := processing.Evaluate(ctx, b, processing.Spans{Components: out})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := painted(t, 3, 3, spans), []int{0, 0, 0, -1, -1, 0, 0, 0, -1}; !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
}

func TestGrowDropsLargeQueues(t *testing.T) {
	ctx := t.Context()
	b := New(Workers(1))
	const side = 300
	class := make([]uint8, side*side)
	for i := range class {
		class[i] = processing.ClassGrow
	}
	class[0] |= processing.ClassCore
	cls := up(t, b, side, side, class)
	cores, err := processing.Evaluate(ctx, b, processing.Label{Class: cls, Bits: processing.ClassCore})
	if err != nil {
		t.Fatal(err)
	}
	out, err := processing.Evaluate(ctx, b, processing.Grow{
		Cores: cores, Class: cls, Growth: processing.Growth{Base: 40, Limit: 40, MaxCore: 10},
	})
	if err != nil || out.(*components).spans[0].X1 < 40 {
		t.Fatalf("the core did not grow: %v", err)
	}
	if w := b.idle[0]; w.queue != nil || w.same != nil {
		t.Errorf("a worker keeps the queues of an island of %d pixels", len(class))
	}
}

func TestFillHolesEqualsFlood(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 24).Draw(t, "w"), rapid.IntRange(1, 24).Draw(t, "h")
		pix := noise[uint8](t, w*h, 255)
		clear := rapid.IntRange(0, 255).Draw(t, "clear")
		for i, v := range pix {
			if int(v) < clear {
				pix[i] = 0
			}
		}
		// What is outside spreads from the border until nothing changes.
		outside := func(x, y int) bool { return x < 0 || y < 0 || x >= w || y >= h }
		open := make([]bool, w*h)
		for changed := true; changed; {
			changed = false
			for i, v := range pix {
				if v != 0 || open[i] {
					continue
				}
				x, y := i%w, i/w
				for _, q := range [][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
					if outside(q[0], q[1]) || open[q[1]*w+q[0]] {
						open[i], changed = true, true
					}
				}
			}
		}
		want := slices.Clone(pix)
		for i, v := range pix {
			if v == 0 && !open[i] {
				want[i] = 255
			}
		}
		b := New(Workers(rapid.SampledFrom(workerCounts).Draw(t, "workers")))
		defer b.Close()
		b.tiling.span = rapid.IntRange(1, 300).Draw(t, "span")
		dst := up(t, b, w, h, pix)
		must(t, b.Do(ctx, processing.FillHoles{Dst: dst}))
		wantEqual(t, "filled", w, down[uint8](t, dst), want)
	})
}

func TestComponentsCancelled(t *testing.T) {
	b := New()
	defer b.Close()
	cls := up(t, b, 3, 3, make([]uint8, 9))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Do(cancelled, processing.FillHoles{Dst: cls}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := processing.Evaluate(cancelled, b, processing.Label{Class: cls, Bits: 1}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
