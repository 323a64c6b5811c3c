package experiment

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"sync"

	"blik/internal/message"
	"blik/internal/parallel"
	labcpu "blik/lab/cpu"
	"blik/processing"
)

// sum adds many floats of mixed magnitude.
func sum() *Experiment {
	var sizes []Size
	for k := 10; k <= 30; k += 4 {
		sizes = append(sizes, Line(1<<k))
	}
	sizes = append(sizes, Line(1<<28), Line(999_999))
	return &Experiment{
		ID:   "sum",
		Name: message.Of("Sum of a large array"),
		Question: message.Of("How does the speed-up of parallel addition grow with the array, and how far is each " +
			"order of addition from the exact sum?"),
		Result: message.Of("Sum in float32 of values of mixed magnitude, 2⁻¹⁶ to 2¹⁶, a quarter of them negative, or " +
			"of the grey levels of your picture. Error: relative to the exact sum, from an integer " +
			"superaccumulator. Deviation: error over Σ|x|; the limit is the a-priori bound of the order of " +
			"addition (Higham 2002, chapter 4): n·u in sequence, (log₂ n + 8)·u in a tree, (2·log₂ n + 1)·u by " +
			"halves of odd lengths, (2 + n²·u)·u compensated, u = 2⁻²⁴. From 2²⁴ values on, the first and the " +
			"last bound exceed 1 and mean nothing. GPU times are those of the kernels, with the values in GPU " +
			"memory; with several GPUs they include adding up the sums on the host."),
		Paper: Paper{
			Setup: message.Of("Core 2 Duo P8800 2.66 GHz against ATI Mobility Radeon HD 4650, OpenCL; up to billions " +
				"of floats."),
			Found: message.Of("The GPU is faster, increasingly so for larger arrays, while the CPU's efficiency " +
				"stays constant; several cards can share the work. The paper gives no table."),
		},
		Grids:    []Grid{{Sizes: sizes}},
		Quick:    []Grid{{Sizes: []Size{Line(1 << 10), Line(1 << 16), Line(1 << 20), Line(999_999)}}},
		Variants: sumVariants(),
		Claims:   sumClaims(),
		Speedup:  true,
		shape:    lines,
		input: func(ctx context.Context, c Case, src *source) (*Input, error) {
			if src.pic != nil {
				x, err := src.floats(ctx, c.Size)
				return &Input{Size: c.Size, F32: x}, err
			}
			x := make([]float32, c.Size.W)
			err := parallel.Chunks(ctx, len(x), 1<<16, func(i, j int) {
				for k := i; k < j; k++ {
					x[k] = mixed(uint64(k))
				}
			})
			return &Input{Size: c.Size, F32: x}, err
		},
		inputBytes: func(c Case) int64 { return 4 * int64(c.Size.Samples()) },
		check:      checkSum,
	}
}

func sumVariants() []Variant {
	operations := func(c Case) float64 { return float64(c.Size.Samples()) }
	method := func(memory func(n int64) int64, add func(ctx context.Context, x []float32) (float32, error)) Method {
		return plain{
			memory:     func(c Case) int64 { return memory(int64(c.Size.Samples())) },
			operations: operations,
			prepare: func(_ context.Context, in *Input, _ Case) (func(context.Context) error, *Output, error) {
				total := new(float64)
				return func(ctx context.Context) error {
					s, err := add(ctx, in.F32)
					*total = float64(s)
					return err
				}, &Output{Sum: total}, nil
			},
		}
	}
	nothing := func(int64) int64 { return 0 }
	return []Variant{
		{ID: "cpu-sequential", Device: CPU, Name: message.Of("CPU sequential"),
			Help:   message.Of("one value after another in float32"),
			Method: method(nothing, inSequence), Tolerance: allowed(func(n float64) float64 { return n })},
		{ID: "cpu-pairwise", Device: CPU, Name: message.Of("CPU pairwise"),
			Help:   message.Of("in a balanced tree, one thread"),
			Method: method(nothing, inPairs), Tolerance: allowed(treeDepth)},
		{ID: "cpu-neumaier", Device: CPU, Name: message.Of("CPU Neumaier"),
			Help:      message.Of("in sequence, with the rounding errors summed separately (Neumaier 1974)"),
			Method:    method(nothing, compensated),
			Tolerance: allowed(func(n float64) float64 { return 2 + n*n*unit })},
		{ID: "cpu-all", Device: CPU, Name: message.Of("CPU all cores"),
			Help:      message.Of("the tree over blocks on all processors; the result does not depend on their number"),
			Method:    method(func(n int64) int64 { return n/sumBlock*4 + 4 }, onAllCores),
			Tolerance: allowed(treeDepth)},
		{ID: "cpu-program", Device: CPU, Name: message.Of("CPU, the program's own"),
			Help:   message.Of("compensated sums in float64 over blocks on all processors, joined in a fixed order"),
			Method: ownSum(operations), Tolerance: allowed(func(float64) float64 { return 1 })},
		{ID: "gpu-halving", Device: GPU, Tolerance: allowed(halvingDepth), Name: message.Of("GPU halving"),
			Help: message.Of("as the paper describes: the halves are added element by element until one is left; odd " +
				"lengths give their last element to the first")},
		{ID: "gpu-tree", Device: GPU, Tolerance: allowed(treeDepth), Name: message.Of("GPU tree"),
			Help: message.Of("a tree in each block, in one pass over the array")},
		{ID: "gpu-several", Device: GPU, Tolerance: allowed(treeDepth), Name: message.Of("several GPUs"),
			Help:  message.Of("the tree, with the array divided among all devices"),
			Needs: message.Of("needs two NVIDIA GPUs")},
	}
}

func sumClaims() []Claim {
	return []Claim{
		{Text: message.Of("the GPU's speed-up over the sequential CPU grows with the array"), Paper: 0,
			measure: growth("cpu-sequential", "gpu-halving"), judge: clearlyAbove, missing: onGPU()},
		{Text: message.Of("the GPU is faster than the sequential CPU"), Paper: 0,
			measure: between("cpu-sequential", "gpu-halving", nil), judge: clearlyAbove, missing: onGPU()},
		{Text: message.Of("several GPUs share the work: one against all of them"), Paper: 0,
			measure: between("gpu-tree", "gpu-several", nil), judge: clearlyAbove,
			missing: message.Of("needs two NVIDIA GPUs")},
		{Text: message.Of("the speed-up of all cores of the CPU grows with the array, too (the paper: GPU)"), Paper: 0,
			measure: growth("cpu-pairwise", "cpu-all"), judge: clearlyAbove, missing: moreCases()},
		{Text: message.Of("the sequential CPU's time per element stays constant from 2^18 on"), Paper: 1,
			measure: perElement("cpu-sequential", 1<<18), judge: equal, missing: moreCases()},
	}
}

// ownSum uses the program's own operation; its result is rounded to float32 once.
func ownSum(operations func(Case) float64) Method {
	return program{
		memory:     func(c Case) int64 { return 4 * int64(c.Size.Samples()) },
		operations: operations,
		prepare: func(ctx context.Context, r *programRun, in *Input, _ Case) error {
			p, samples, err := r.floats(ctx, Size{W: len(in.F32), H: 1})
			if err != nil {
				return err
			}
			var total float64
			cores := labcpu.New(0)
			r.compute = func(ctx context.Context) (err error) {
				total, err = cores.Sum(ctx, samples)
				return err
			}
			r.output = func(context.Context) (Output, error) {
				rounded := float64(float32(total))
				return Output{Sum: &rounded}, nil
			}
			return r.backend.Upload(ctx, p, processing.Samples{F32: in.F32})
		},
	}
}

// unit is the unit roundoff of float32.
const unit = 1.0 / (1 << 24)

// treeDepth is an upper bound on the number of additions that a value takes part in.
func treeDepth(n float64) float64 { return math.Ceil(math.Log2(max(n, 1))) + 8 }

// halvingDepth is the same bound for repeated halving, where the first value also takes in the last one of every odd
// length.
func halvingDepth(n float64) float64 { return 2*math.Ceil(math.Log2(max(n, 1))) + 1 }

// allowed converts a bound in units of roundoff to a tolerance.
func allowed(units func(n float64) float64) func(Case) float64 {
	return func(c Case) float64 { return units(float64(c.Size.Samples())) * unit }
}

// checkEvery is the number of values added between two checks of the context.
const checkEvery = 1 << 20

func inSequence(ctx context.Context, x []float32) (float32, error) {
	var s float32
	for len(x) > 0 {
		n := min(len(x), checkEvery)
		for _, v := range x[:n] {
			s += v
		}
		if x = x[n:]; ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return s, nil
}

// compensated accumulates rounding errors in a second sum, whichever of the two terms is larger (Neumaier's variant of
// Kahan summation).
func compensated(ctx context.Context, x []float32) (float32, error) {
	var s, lost float32
	for len(x) > 0 {
		n := min(len(x), checkEvery)
		for _, v := range x[:n] {
			t := s + v
			if magnitude(s) >= magnitude(v) {
				lost += (s - t) + v
			} else {
				lost += (v - t) + s
			}
			s = t
		}
		if x = x[n:]; ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return s + lost, nil
}

func magnitude(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// sumBlock is the number of values that one goroutine adds at a time; the tree has a node for each block, so that its
// shape, and with it the result, depends only on the length.
const sumBlock = 1 << 16

func inPairs(ctx context.Context, x []float32) (float32, error) { return overBlocks(ctx, 1, x) }

func onAllCores(ctx context.Context, x []float32) (float32, error) { return overBlocks(ctx, 0, x) }

func overBlocks(ctx context.Context, workers int, x []float32) (float32, error) {
	sums := make([]float32, (len(x)+sumBlock-1)/sumBlock)
	err := chunks(ctx, workers, len(x), sumBlock, func(i, j int) { sums[i/sumBlock] = pairwise(x[i:j]) })
	return pairwise(sums), err
}

// pairwise sums in a balanced tree whose leaves are eight values wide, enough to keep the adders busy.
func pairwise(x []float32) float32 {
	if len(x) > 64 {
		half := (len(x)/2 + 7) &^ 7
		return pairwise(x[:half]) + pairwise(x[half:])
	}
	var a, b, c, d, e, f, g, h float32
	for ; len(x) >= 8; x = x[8:] {
		v := (*[8]float32)(x)
		a, b, c, d, e, f, g, h = a+v[0], b+v[1], c+v[2], d+v[3], e+v[4], f+v[5], g+v[6], h+v[7]
	}
	s := ((a + b) + (c + d)) + ((e + f) + (g + h))
	var rest float32
	for _, v := range x {
		rest += v
	}
	return s + rest
}

// accumulator holds an exact sum of finite floats: the mantissas of each exponent are summed in an integer of their own
// (Malcolm 1971). A bin has room for 2^39 values.
type accumulator struct{ bins [256]int64 }

func (a *accumulator) add(x []float32) {
	for _, v := range x {
		bits := math.Float32bits(v)
		exponent := bits >> 23 & 0xff
		mantissa := int64(bits & (1<<23 - 1))
		if exponent > 0 {
			mantissa |= 1 << 23
		}
		// The sign as 0 or −1: negates without a branch.
		sign := int64(int32(bits)) >> 63
		a.bins[exponent] += mantissa ^ sign - sign
	}
}

func (a *accumulator) join(b *accumulator) {
	for i, v := range b.bins {
		a.bins[i] += v
	}
}

// value returns the sum rounded once to float64.
func (a *accumulator) value() float64 {
	// In units of 2^−149, the smallest subnormal; exponents 0 and 1 have the same weight.
	total, term := new(big.Int), new(big.Int)
	for e, v := range a.bins {
		total.Add(total, term.Lsh(term.SetInt64(v), uint(max(e-1, 0))))
	}
	f := new(big.Float).SetMantExp(new(big.Float).SetPrec(512).SetInt(total), -149)
	v, _ := f.Float64()
	return v
}

// exactSum returns the sum of x, rounded once, and the sum of the magnitudes.
func exactSum(ctx context.Context, x []float32) (s, magnitude float64, err error) {
	var (
		mu    sync.Mutex
		total accumulator
	)
	err = parallel.Chunks(ctx, len(x), 1<<20, func(i, j int) {
		var part accumulator
		part.add(x[i:j])
		var m float64
		for _, v := range x[i:j] {
			m += math.Abs(float64(v))
		}
		mu.Lock()
		defer mu.Unlock()
		total.join(&part)
		magnitude += m
	})
	return total.value(), magnitude, err
}

// checkSum compares the result with the exact sum.
func checkSum(ctx context.Context, in *Input, c Case, v Variant, out Output) (Check, error) {
	n := int64(len(in.F32))
	r := Check{Compared: n, Samples: n}
	if v.Tolerance != nil {
		r.Tolerance = v.Tolerance(c)
	}
	if out.Sum == nil {
		return r, wrongLength(0, 1)
	}
	s, magnitude, err := in.exact.of(ctx, in.F32)
	if err != nil {
		return r, err
	}
	wrong := math.Abs(*out.Sum - s)
	share := wrong
	if s != 0 {
		share /= math.Abs(s)
	}
	r.Error = &share
	r.Deviation = wrong
	if magnitude > 0 {
		r.Deviation /= magnitude
	}
	return r, r.tooFar()
}

// exactSums caches the exact sum of an input.
type exactSums struct {
	done         bool
	s, magnitude float64
}

func (e *exactSums) of(ctx context.Context, x []float32) (s, magnitude float64, err error) {
	if !e.done {
		if e.s, e.magnitude, err = exactSum(ctx, x); err != nil {
			return 0, 0, err
		}
		e.done = true
	}
	return e.s, e.magnitude, nil
}

// growth measures the speed-up of b over a at the largest size relative to that at the smallest. Rows are in the order
// of sizes.
func growth(a, b string) func(rows []Row) (ratio, bool) {
	return func(rows []Row) (ratio, bool) {
		var sizes []Size
		var speedups []ratio
		for _, r := range rows {
			for _, s := range rows {
				if r.Variant.ID == a && s.Variant.ID == b && s.Case.Size == r.Case.Size {
					sizes, speedups = append(sizes, r.Case.Size), append(speedups, over(r, s, ""))
				}
			}
		}
		if len(sizes) < 2 {
			return ratio{}, false
		}
		end := len(sizes) - 1
		first, last := speedups[0], speedups[end]
		where := fmt.Sprintf("%s / %s: %.3g, %s; %.3g, %s", a, b, first.value, sizes[0], last.value, sizes[end])
		return ratio{last.value / first.value, last.low / first.high, last.high / max(first.low, 1e-9),
			message.Figures(where)}, true
	}
}

// perElement measures a variant's time per element at its largest size relative to that at the first size of at least
// n.
func perElement(variant string, n int) func(rows []Row) (ratio, bool) {
	return func(rows []Row) (ratio, bool) {
		var first, last *Row
		for i := range rows {
			r := &rows[i]
			if r.Variant.ID != variant || r.Case.Size.Samples() < n {
				continue
			}
			if last = r; first == nil {
				first = r
			}
		}
		if first == nil || first == last {
			return ratio{}, false
		}
		where := fmt.Sprintf("%s, %s…%s", variant, first.Case.Size, last.Case.Size)
		r := over(*last, *first, where)
		share := float64(first.Case.Size.Samples()) / float64(last.Case.Size.Samples())
		return ratio{r.value * share, r.low * share, r.high * share, r.where}, true
	}
}
