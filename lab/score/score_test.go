package score_test

import (
	"math"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/lab/score"
	"blik/processing"

	"pgregory.net/rapid"
)

// mask reads a picture of '#' (255) and other characters (0).
func mask(rows ...string) *processing.Mask {
	m := processing.NewMask(len(rows[0]), len(rows))
	for y, r := range rows {
		for x, c := range r {
			if c == '#' {
				m.Pix[y*m.Width+x] = 255
			}
		}
	}
	return m
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestCompareLiteral(t *testing.T) {
	t.Parallel()
	truth := mask(
		"##....",
		"##....",
		"......",
		"....#.",
	)
	for _, c := range []struct {
		name string
		pred *processing.Mask
		tol  int
		want score.Metrics
	}{
		{"same", truth, 1, score.Metrics{P: 1, R: 1, F1: 1, PTol: 1, RTol: 1, F1Tol: 1, ObjR: 1, ObjP: 1,
			TruthObjects: 2, PredObjects: 2}},
		{"empty", mask("......", "......", "......", "......"), 1, score.Metrics{TruthObjects: 2}},
		{"one pixel beside", mask(".#....", ".##...", "......", "......"), 1, score.Metrics{
			P: 2. / 3, R: 2. / 5, F1: 0.5, PTol: 1, RTol: 4. / 5, F1Tol: 8. / 9, ObjR: 0.5, ObjP: 1, TruthObjects: 2,
			PredObjects: 1,
		}},
		{"no tolerance", mask(".#....", ".##...", "......", "......"), 0, score.Metrics{
			P: 2. / 3, R: 2. / 5, F1: 0.5, PTol: 2. / 3, RTol: 2. / 5, F1Tol: 0.5, ObjR: 0.5, ObjP: 1,
			FPppm: 1e6 / 24, TruthObjects: 2, PredObjects: 1,
		}},
		{"far away", mask("....##", "......", "......", "......"), 1, score.Metrics{
			FPppm: 2e6 / 24, TruthObjects: 2, PredObjects: 1,
		}},
		{"another size", mask("#"), 1, score.Metrics{TruthObjects: 2}},
	} {
		got := score.Compare(c.pred, truth, c.tol)
		if math.Abs(got.FPppm-c.want.FPppm) < 1e-6 {
			got.FPppm = c.want.FPppm
		}
		for _, p := range [][2]*float64{
			{&got.P, &c.want.P}, {&got.R, &c.want.R}, {&got.F1, &c.want.F1},
			{&got.PTol, &c.want.PTol}, {&got.RTol, &c.want.RTol}, {&got.F1Tol, &c.want.F1Tol},
		} {
			if near(*p[0], *p[1]) {
				*p[0] = *p[1]
			}
		}
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestNothingToFind(t *testing.T) {
	t.Parallel()
	clean := mask("...", "...")
	if got := score.Compare(clean, clean, 1); got.F1 != 1 || got.F1Tol != 1 || got.ObjR != 1 || got.ObjP != 1 {
		t.Errorf("empty against empty: %+v, want all 1", got)
	}
	got := score.Compare(mask("#..", "..."), clean, 1)
	if got.P != 0 || got.R != 1 || got.F1 != 0 || got.ObjR != 1 || got.ObjP != 0 {
		t.Errorf("a false alarm on nothing: %+v", got)
	}
	if ppm, n := score.FalseAlarms(mask("#.#", "...")); n != 2 || !near(ppm, 2e6/6) {
		t.Errorf("false alarms: %v ppm in %d objects, want %v in 2", ppm, n, 2e6/6)
	}
}

func TestMean(t *testing.T) {
	t.Parallel()
	got := score.Mean([]score.Metrics{{P: 1, FPppm: 10, TruthObjects: 3}, {P: 0.5, FPppm: 30, TruthObjects: 4}})
	if want := (score.Metrics{P: 0.75, FPppm: 20, TruthObjects: 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := score.Mean(nil); got != (score.Metrics{}) {
		t.Errorf("mean of none: %+v", got)
	}
}

// labels returns the number of each pixel's component, 0 for the background, and how many there are.
func labels(m *processing.Mask) (labels []int, n int) {
	labels = make([]int, len(m.Pix))
	components := testpic.Flood(m)
	for i, component := range components {
		for _, p := range component {
			labels[p.Y*m.Width+p.X] = i + 1
		}
	}
	return labels, len(components)
}

func reach(m *processing.Mask, x, y, r int) bool {
	for v := max(y-r, 0); v <= min(y+r, m.Height-1); v++ {
		for u := max(x-r, 0); u <= min(x+r, m.Width-1); u++ {
			if m.Pix[v*m.Width+u] >= processing.MaskLevel {
				return true
			}
		}
	}
	return false
}

// reference computes the metrics by definition.
func reference(pred, truth *processing.Mask, tol int) score.Metrics {
	var np, nt, both, pn, tn, fp int
	lt, objT := labels(truth)
	lp, objP := labels(pred)
	hitT, hitP := map[int]bool{}, map[int]bool{}
	for i := range truth.Pix {
		x, y := i%truth.Width, i/truth.Width
		p, t := pred.Pix[i] >= processing.MaskLevel, truth.Pix[i] >= processing.MaskLevel
		if p {
			np++
			if reach(truth, x, y, tol) {
				pn++
				hitP[lp[i]] = true
			} else {
				fp++
			}
		}
		if t {
			nt++
			if reach(pred, x, y, tol) {
				tn++
			}
		}
		if p && t {
			both++
			hitT[lt[i]] = true
		}
	}
	share := func(a, b int, empty float64) float64 {
		if b == 0 {
			return empty
		}
		return float64(a) / float64(b)
	}
	none := 0.0
	if nt == 0 {
		none = 1
	}
	f := func(p, r float64) float64 {
		if p+r == 0 {
			return 0
		}
		return 2 * p * r / (p + r)
	}
	m := score.Metrics{
		P: share(both, np, none), R: share(both, nt, 1), PTol: share(pn, np, none), RTol: share(tn, nt, 1),
		ObjR: share(len(hitT), objT, 1), ObjP: share(len(hitP), objP, none),
		FPppm: 1e6 * share(fp, len(truth.Pix), 0), TruthObjects: objT, PredObjects: objP,
	}
	m.F1, m.F1Tol = f(m.P, m.R), f(m.PTol, m.RTol)
	return m
}

func TestCompareEqualsReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 23).Draw(t, "w"), rapid.IntRange(1, 17).Draw(t, "h")
		// Levels on either side of MaskLevel, few enough of them that several components appear.
		level := rapid.SampledFrom([]uint8{0, 0, 127, 128, 255})
		draw := func(name string) *processing.Mask {
			return &processing.Mask{Width: w, Height: h, Pix: rapid.SliceOfN(level, w*h, w*h).Draw(t, name)}
		}
		pred, truth := draw("pred"), draw("truth")
		tol := rapid.IntRange(0, 25).Draw(t, "tol")
		if got, want := score.Compare(pred, truth, tol), reference(pred, truth, tol); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// A spiral and a comb join late, when arms that began as separate components meet.
func TestObjectsThatMeetLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		m    *processing.Mask
		want int
	}{
		{"comb", mask("#.#.#", "#.#.#", "#####"), 1},
		{"diagonals", mask("#...#", ".#.#.", "..#..", ".#.#.", "#...#"), 1},
		{"two rows apart", mask("#####", ".....", "#####"), 2},
		{"W", mask("#...#...#", ".#.#.#.#.", "..#...#.."), 1},
	} {
		if _, n := score.FalseAlarms(c.m); n != c.want {
			t.Errorf("%s: %d components, want %d", c.name, n, c.want)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	row := strings.Repeat("....##...", 400)
	rows := make([]string, 2000)
	for y := range rows {
		rows[y] = strings.Repeat(".", len(row))
		if y%7 < 2 {
			rows[y] = row
		}
	}
	m := mask(rows...)
	b.SetBytes(int64(len(m.Pix)))
	for b.Loop() {
		score.Compare(m, m, 1)
	}
}
