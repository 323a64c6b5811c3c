package experiment

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"blik/processing"

	"pgregory.net/rapid"
)

// noise returns bytes that are often extreme, so that some windows are all black or all white.
func noise(t *rapid.T, n int) []uint8 {
	level := rapid.SampledFrom([]uint8{0, 1, 127, 255}).Draw(t, "level")
	seed := rapid.Uint64().Draw(t, "seed")
	out := make([]uint8, n)
	for i := range out {
		out[i] = level
		if u := mix(seed + uint64(i)); u%3 != 0 {
			out[i] = uint8(u >> 32)
		}
	}
	return out
}

// side draws lengths; 1, odd numbers and powers of two are frequent.
func side(t *rapid.T, name string) int {
	return rapid.OneOf(rapid.SampledFrom([]int{1, 2, 3, 16, 31, 32, 33, 64, 65}), rapid.IntRange(1, 90)).Draw(t, name)
}

// compute runs a variant twice, as repetitions do, and returns its result.
func compute(t rapid.TB, v Variant, in *Input, c Case) Output {
	t.Helper()
	run, err := v.Method.Prepare(context.Background(), in, c.without(v.Ignores))
	if err != nil {
		t.Fatal(v.ID, err)
	}
	for range 2 {
		if err := run.Run(context.Background()); err != nil {
			t.Fatal(v.ID, err)
		}
	}
	out, err := run.Output(context.Background())
	if err != nil {
		t.Fatal(v.ID, err)
	}
	out.U8, out.F32 = slices.Clone(out.U8), slices.Clone(out.F32)
	if err := run.Close(); err != nil {
		t.Fatal(v.ID, err)
	}
	return out
}

func onCPU(e *Experiment, c Case) []Variant {
	return slices.DeleteFunc(slices.Clone(e.Variants), func(v Variant) bool {
		return v.Device != CPU || v.Takes != nil && !v.Takes(c)
	})
}

// holds compares every CPU variant with the definition and with the experiment's own check, and verifies that this
// check finds a single wrong pixel.
func holds(t rapid.TB, e *Experiment, in *Input, c Case, want []uint8) {
	t.Helper()
	for _, v := range onCPU(e, c) {
		out := compute(t, v, in, c)
		for i := range want {
			if out.U8[i] != want[i] {
				t.Fatalf("%s, %s: pixel %d is %d, want %d", v.ID, c.key(), i, out.U8[i], want[i])
			}
		}
		r, err := e.check(context.Background(), in, c, v, out)
		if err != nil || r.Compared != int64(len(want)) || r.Samples != r.Compared {
			t.Fatalf("%s, %s: check %+v, %v", v.ID, c.key(), r, err)
		}
		at := len(want) * 2 / 3
		out.U8[at]++
		if _, err := e.check(context.Background(), in, c, v, out); err == nil {
			t.Fatalf("%s, %s: a wrong pixel passes the check", v.ID, c.key())
		}
	}
}

func pictureCase(t *rapid.T, values map[string]string) (*Input, Case) {
	s := Size{side(t, "w"), side(t, "h")}
	return &Input{Size: s, U8: noise(t, s.Samples())}, Case{s, values}
}

func TestSlidingEqualsDefinition(t *testing.T) {
	t.Parallel()
	e := sliding()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]string{"1", "3", "5", "9", "31", "201"}).Draw(t, "m")
		in, c := pictureCase(t, map[string]string{"m": m})
		w, h, r := in.Size.W, in.Size.H, c.Int("m")/2
		want := make([]uint8, w*h)
		for y := range h {
			for x := range w {
				sum, n := 0, 0
				for v := y - r; v <= y+r; v++ {
					for u := x - r; u <= x+r; u++ {
						if u >= 0 && u < w && v >= 0 && v < h {
							sum, n = sum+int(in.U8[v*w+u]), n+1
						}
					}
				}
				want[y*w+x] = uint8((sum + n/2) / n)
			}
		}
		holds(t, e, in, c, want)
	})
}

// Windows are clipped to the picture, on whose size the time of the direct variants depends.
func TestDirectOperations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e      *Experiment
		size   Size
		values map[string]string
		want   float64
	}{
		{sliding(), Size{1000, 100}, map[string]string{"m": "5"}, 25e5},
		{sliding(), Size{1000, 1}, map[string]string{"m": "401"}, 401e3},
		{sliding(), Size{1, 1}, map[string]string{"m": "4095"}, 1},
		{vhgw(), Size{1000, 100}, map[string]string{"op": "erode", "shape": "square", "se": "5"}, 24e5},
		{vhgw(), Size{1000, 100}, map[string]string{"op": "open", "shape": "vertical", "se": "5"}, 8e5},
		{vhgw(), Size{1, 1000}, map[string]string{"op": "erode", "shape": "square", "se": "401"}, 400e3},
	} {
		if got := c.e.Variants[0].Method.Operations(Case{c.size, c.values}); got != c.want {
			t.Errorf("%s, %s, %v: %g, want %g", c.e.ID, c.size, c.values, got, c.want)
		}
	}
}

func TestMorphologyEqualsDefinition(t *testing.T) {
	t.Parallel()
	e := vhgw()
	rapid.Check(t, func(t *rapid.T) {
		in, c := pictureCase(t, map[string]string{
			"op":    rapid.SampledFrom(e.Params[0].Values).Draw(t, "op"),
			"kind":  "grey",
			"shape": rapid.SampledFrom(e.Params[2].Values).Draw(t, "shape"),
			"se":    rapid.SampledFrom([]string{"1", "3", "11", "51", "201"}).Draw(t, "se"),
		})
		w, h, k := in.Size.W, in.Size.H, c.Int("se")
		rx, ry := k/2, k/2
		switch c.Values["shape"] {
		case "horizontal":
			ry = 0
		case "vertical":
			rx = 0
		}
		extreme := func(src []uint8, dilate bool) []uint8 {
			out := make([]uint8, w*h)
			for y := range h {
				for x := range w {
					best := src[y*w+x]
					for v := max(y-ry, 0); v <= min(y+ry, h-1); v++ {
						for u := max(x-rx, 0); u <= min(x+rx, w-1); u++ {
							if p := src[v*w+u]; dilate == (p > best) {
								best = p
							}
						}
					}
					out[y*w+x] = best
				}
			}
			return out
		}
		var want []uint8
		switch c.Values["op"] {
		case "erode":
			want = extreme(in.U8, false)
		case "dilate":
			want = extreme(in.U8, true)
		case "open":
			want = extreme(extreme(in.U8, false), true)
		case "close":
			want = extreme(extreme(in.U8, true), false)
		}
		holds(t, e, in, c, want)
	})
}

func TestTraversalEqualsDefinition(t *testing.T) {
	t.Parallel()
	e := traversal()
	taps := GaussTaps()
	rapid.Check(t, func(t *rapid.T) {
		in, c := pictureCase(t, map[string]string{"memory": "device"})
		w, h := in.Size.W, in.Size.H
		pass := func(src []uint8, dx, dy int) []uint8 {
			out := make([]uint8, w*h)
			for y := range h {
				for x := range w {
					sum := 0
					for d := -gaussRadius; d <= gaussRadius; d++ {
						u, v := min(max(x+d*dx, 0), w-1), min(max(y+d*dy, 0), h-1)
						sum += int(taps[max(d, -d)]) * int(src[v*w+u])
					}
					out[y*w+x] = uint8((sum + 1<<15) / (1 << 16))
				}
			}
			return out
		}
		holds(t, e, in, c, pass(pass(in.U8, 0, 1), 1, 0))
	})
}

func TestGaussTaps(t *testing.T) {
	t.Parallel()
	taps := GaussTaps()
	sum := taps[0]
	for d := 1; d < len(taps); d++ {
		sum += 2 * taps[d]
		want := math.Exp(-float64(d*d) / (2 * 25.0 / 9))
		if got := float64(taps[d]) / float64(taps[0]); math.Abs(got-want) > 2e-4 {
			t.Errorf("tap %d is %.5f of the middle one, want %.5f", d, got, want)
		}
	}
	if sum != 1<<16 {
		t.Errorf("the taps add up to %d/65536", sum)
	}
}

// The partial check of large pictures compares some rows, including those at the borders.
func TestStretches(t *testing.T) {
	t.Parallel()
	for _, h := range []int{300, 1000, 3533} {
		parts := stretches(5300, h, 400, 402)
		if first, last := parts[0], parts[len(parts)-1]; len(parts) < 3 || first.y0 != 0 || last.y1 != h {
			t.Errorf("%d rows: %d stretches from %d to %d", h, len(parts), first.y0, last.y1)
		}
		for i, p := range parts[1:] {
			if p.y0 < parts[i].y1 {
				t.Errorf("%d rows: stretches overlap at %d", h, p.y0)
			}
		}
	}
	rows := 0
	for _, p := range stretches(40, 301, 10, 9) {
		rows += p.y1 - p.y0
	}
	if rows != 301 {
		t.Errorf("%d of 301 rows are compared where all should be", rows)
	}
}

func TestWrongRowIsFoundInPart(t *testing.T) {
	t.Parallel()
	in := &Input{Size: Size{2000, 2000}, U8: make([]uint8, 2000*2000)}
	zero := func(y0, y1 int) []uint8 { return make([]uint8, (y1-y0)*2000) }
	c := Case{Size: in.Size}
	out := Output{U8: make([]uint8, len(in.U8))}
	r, err := compareRows(t.Context(), in, c, out, 1e4, 10, zero)
	if err != nil || r.Compared == 0 || r.Compared >= r.Samples {
		t.Fatalf("%+v, %v", r, err)
	}
	out.U8[len(out.U8)-1] = 1
	if _, err := compareRows(t.Context(), in, c, out, 1e4, 10, zero); err == nil {
		t.Error("a wrong last pixel passes")
	}
	if _, err := compareRows(t.Context(), in, c, Output{U8: out.U8[1:]}, 1e4, 10, zero); err == nil {
		t.Error("a result that is too short passes")
	}
}

func TestCurve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := side(t, "w"), side(t, "h")
		c := newCurve(w, h)
		seen := make([]bool, w*h)
		n, px, py := 0, 0, 0
		cut := rapid.IntRange(0, c.positions()).Draw(t, "cut")
		step := func(x, y int) {
			if seen[y*w+x] {
				t.Fatalf("%d, %d is visited twice", x, y)
			}
			seen[y*w+x] = true
			if d := max(x-px, px-x) + max(y-py, py-y); w == h && w == 1<<c.order && n > 0 && d != 1 {
				t.Fatalf("a step of %d from %d, %d to %d, %d", d, px, py, x, y)
			}
			n, px, py = n+1, x, y
		}
		c.visit(0, cut, step)
		c.visit(cut, c.positions(), step)
		if n != w*h {
			t.Fatalf("%d of %d pixels visited", n, w*h)
		}
	})
}

// Daubechies' conditions: orthonormal to its even shifts, and half as many vanishing moments as taps.
func TestWaveletFilters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"haar", "d4", "d8"} {
		w := NewWavelet(name)
		n := len(w.Low)
		for shift := 0; shift < n; shift += 2 {
			var ll, hh, lh, hl float64
			for k := 0; k+shift < n; k++ {
				ll += w.Low[k] * w.Low[k+shift]
				hh += w.High[k] * w.High[k+shift]
				lh += w.Low[k] * w.High[k+shift]
				hl += w.High[k] * w.Low[k+shift]
			}
			one := 0.0
			if shift == 0 {
				one = 1
			}
			for i, v := range []float64{ll - one, hh - one, lh, hl} {
				if math.Abs(v) > 1e-11 {
					t.Errorf("%s: condition %d at shift %d is off by %g", name, i, shift, v)
				}
			}
		}
		for p := range n / 2 {
			var moment float64
			for k, h := range w.High {
				moment += h * math.Pow(float64(k), float64(p))
			}
			if math.Abs(moment) > 1e-9 {
				t.Errorf("%s: moment %d of the detail is %g", name, p, moment)
			}
		}
	}
	if NewWavelet("d6") != nil {
		t.Error("a wavelet d6")
	}
}

func TestWaveletEqualsDefinition(t *testing.T) {
	t.Parallel()
	e := wavelet()
	rapid.Check(t, func(t *rapid.T) {
		s := Line(rapid.OneOf(rapid.IntRange(1, 70), rapid.SampledFrom([]int{1 << 10, 70001})).Draw(t, "n"))
		if rapid.Bool().Draw(t, "picture") {
			s = Size{side(t, "w"), side(t, "h")}
		}
		c := Case{s, map[string]string{
			"wavelet":   rapid.SampledFrom([]string{"haar", "d4", "d8"}).Draw(t, "wavelet"),
			"direction": rapid.SampledFrom([]string{"forward", "inverse"}).Draw(t, "direction"),
			"index":     "shift", "threads": "128", "results": "2",
		}}
		in := &Input{Size: s, F32: make([]float32, s.Samples())}
		for i, v := range noise(t, len(in.F32)) {
			in.F32[i] = float32(v) - 100
		}
		even := func(n int) int { return (n + 1) / 2 * 2 }
		w, h := even(s.W), max(even(s.H), 1)
		x := func(u, v int) float64 { return float64(in.F32[min(v, max(s.H, 1)-1)*s.W+min(u, s.W-1)]) }
		wave := NewWavelet(c.Values["wavelet"])
		for _, v := range onCPU(e, c) {
			out := compute(t, v, in, c)
			if len(out.F32) != w*h {
				t.Fatalf("%s, %s: %d values, want %d", v.ID, c.key(), len(out.F32), w*h)
			}
			// Some coefficients by an independent definition.
			for _, at := range []int{0, w/2 - 1, w / 2, w - 1, w*h - 1, w * h / 2} {
				i, j := at%w, at/w
				want := x(i, j)
				if c.Values["direction"] == "forward" {
					taps := func(i, n int) (int, []float64) {
						if i < n/2 {
							return 2 * i, wave.Low
						}
						return 2 * (i - n/2), wave.High
					}
					at, across := taps(i, w)
					top, down := j, []float64{1}
					if s.H > 0 {
						top, down = taps(j, h)
					}
					want = 0
					for m, b := range down {
						for k, a := range across {
							want += a * b * x((at+k)%w, (top+m)%h)
						}
					}
				}
				if got := float64(out.F32[at]); math.Abs(got-want) > 155*1e-5 {
					t.Fatalf("%s, %s: value %d is %g, want %g", v.ID, c.key(), at, got, want)
				}
			}
			r, err := e.check(context.Background(), in, c, v, out)
			if err != nil {
				t.Fatalf("%s, %s: %v", v.ID, c.key(), err)
			}
			if r.Compared == 0 || r.Tolerance == 0 {
				t.Fatalf("%s, %s: %+v", v.ID, c.key(), r)
			}
			for _, wrong := range []float32{out.F32[0] + 1, float32(math.NaN())} {
				bad := Output{F32: slices.Clone(out.F32)}
				bad.F32[0] = wrong
				if _, err := e.check(context.Background(), in, c, v, bad); err == nil {
					t.Fatalf("%s, %s: %g in place of %g passes the check", v.ID, c.key(), wrong, out.F32[0])
				}
			}
		}
	})
}

func TestExactSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float32 {
			bits := rapid.Uint32().Draw(t, "bits")
			if bits>>23&0xff == 0xff {
				bits &^= 1 << 30
			}
			return math.Float32frombits(bits)
		}), 0, 60).Draw(t, "x")
		// 400 bits can hold any sum of these values.
		want, size := new(big.Float).SetPrec(400), 0.0
		for _, v := range x {
			want.Add(want, new(big.Float).SetFloat64(float64(v)))
			size += math.Abs(float64(v))
		}
		rounded, _ := want.Float64()
		got, magnitude, err := exactSum(context.Background(), x)
		if err != nil || got != rounded || math.Abs(magnitude-size) > 1e-12*size {
			t.Fatalf("%g, %g, %v; want %g, %g", got, magnitude, err, rounded, size)
		}
	})
}

func TestSumsAreWithinTheirBounds(t *testing.T) {
	t.Parallel()
	e := sum()
	for _, n := range []int{1, 2, 7, 8, 9, 63, 64, 65, 1000, sumBlock, sumBlock + 1, 5*sumBlock - 3} {
		c := Case{Size: Line(n)}
		in, err := e.input(t.Context(), c, newSource(nil))
		if err != nil {
			t.Fatal(err)
		}
		var results []float64
		for _, v := range onCPU(e, c) {
			out := compute(t, v, in, c)
			r, err := e.check(t.Context(), in, c, v, out)
			if err != nil || r.Error == nil {
				t.Errorf("%s of %d: %+v, %v", v.ID, n, r, err)
			}
			results = append(results, *out.Sum)
		}
		if results[1] != results[3] {
			t.Errorf("%d values: the tree gives %g on one thread and %g on all", n, results[1], results[3])
		}
		wrong := *compute(t, e.Variants[0], in, c).Sum + 1e6
		if _, err := e.check(t.Context(), in, c, e.Variants[1], Output{Sum: &wrong}); err == nil {
			t.Errorf("%d values: a wrong sum passes the check", n)
		}
	}
}

// The expected effect of each order of addition: 2^24 absorbs ones that are added in sequence; compensation and a tree
// keep them.
func TestSumOrders(t *testing.T) {
	t.Parallel()
	x := make([]float32, 1<<12)
	for i := range x {
		x[i] = 1
	}
	x[0] = 1 << 24
	exact := float64(1<<24 + len(x) - 1)
	for _, c := range []struct {
		name string
		add  func(ctx context.Context, x []float32) (float32, error)
		want float64
	}{
		{"sequence", inSequence, 1 << 24},
		{"compensated", compensated, float64(float32(exact))},
	} {
		if got, err := c.add(t.Context(), x); err != nil || float64(got) != c.want {
			t.Errorf("%s: %v, %v; want %g", c.name, got, err, c.want)
		}
	}
	// Every value is added once, also at the boundaries where the context is checked.
	for i := range 3 {
		ones := make([]float32, 2*checkEvery+i-1)
		for i := range ones {
			ones[i] = 1
		}
		for name, add := range map[string]func(ctx context.Context, x []float32) (float32, error){
			"sequence": inSequence, "compensated": compensated, "pairs": inPairs, "all cores": onAllCores} {
			if got, err := add(t.Context(), ones); err != nil || int(got) != len(ones) {
				t.Errorf("%s: %v, %v; exact is %d", name, got, err, len(ones))
			}
		}
	}
	if got, err := inPairs(t.Context(), x); err != nil || math.Abs(float64(got)-exact) > 64 {
		t.Errorf("pairwise: %v, %v; exact is %g", got, err, exact)
	}
}

func TestMixedMagnitudes(t *testing.T) {
	t.Parallel()
	const n = 1 << 16
	negative, low, high := 0, math.Inf(1), 0.0
	for i := range uint64(n) {
		v := float64(mixed(i))
		if v < 0 {
			negative++
		}
		low, high = min(low, math.Abs(v)), max(high, math.Abs(v))
	}
	if share := float64(negative) / n; share < 0.24 || share > 0.26 {
		t.Errorf("%.3f of the values are negative", share)
	}
	if low < 1.0/(1<<16) || low > 1.0/(1<<15) || high >= 1<<16 || high < 1<<15 {
		t.Errorf("magnitudes from %g to %g", low, high)
	}
}

func TestCancelledVariants(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range All() {
		s := Size{64, 64}
		if e.shape == lines {
			s = Line(1 << 12)
		}
		c := e.cases(Grid{Sizes: []Size{s}})[0]
		in, err := e.input(t.Context(), c, newSource(&processing.Picture{Width: 8, Height: 8, Channels: 1,
			U8: make([]uint8, 64)}))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range onCPU(e, c) {
			run, err := v.Method.Prepare(t.Context(), in, c)
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Run(ctx); err != context.Canceled {
				t.Errorf("%s, %s: %v", e.ID, v.ID, err)
			}
			run.Close()
		}
	}
}

func TestFingerprintIsCleaned(t *testing.T) {
	t.Parallel()
	figures, err := vhgw().Figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	clean, noisy, err := fingerprint(t.Context(), fingerprintW, fingerprintH, 1)
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(pix []uint8) (n int) {
		for i, v := range pix {
			if v != 0 && v != 255 {
				t.Fatalf("value %d in a binary picture", v)
			}
			if v != clean[i] {
				n++
			}
		}
		return n
	}
	// Specks: pixels unlike all four neighbours.
	specks := func(pix []uint8) (n int) {
		for y := 1; y < fingerprintH-1; y++ {
			for x := 1; x < fingerprintW-1; x++ {
				i := y*fingerprintW + x
				if v := pix[i]; v != pix[i-1] && v != pix[i+1] && v != pix[i-fingerprintW] && v != pix[i+fingerprintW] {
					n++
				}
			}
		}
		return n
	}
	if len(figures) != 3 || !slices.Equal(figures[0].Pix, noisy) {
		t.Fatalf("%d figures", len(figures))
	}
	if before, after := specks(noisy), specks(figures[2].Pix); before < 1000 || after > 0 {
		t.Errorf("%d specks before, %d after", before, after)
	}
	if before, after := wrong(noisy), wrong(figures[2].Pix); 3*after > 2*before {
		t.Errorf("%d pixels are wrong before cleaning, %d after it", before, after)
	}
	white := 0
	for _, v := range clean {
		white += int(v >> 7)
	}
	if share := float64(white) / float64(len(clean)); share < 0.4 || share > 0.6 {
		t.Errorf("%.2f of the print is white", share)
	}
}
