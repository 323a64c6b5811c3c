package experiment

import (
	"context"
	"time"

	"blik/internal/message"
	"blik/processing"
)

// DirectAdditions returns the number of additions of the direct sum in a case of sliding. Windows are clipped to the
// picture.
func DirectAdditions(c Case) float64 {
	m := c.Int("m")
	return float64(min(m, 2*c.Size.W-1)) * float64(min(m, 2*c.Size.H-1)) * float64(c.Size.Samples())
}

// RecursiveAdditions returns the number of additions of the recursion: 4 per pixel.
func RecursiveAdditions(c Case) float64 { return 4 * float64(c.Size.Samples()) }

// sliding is the mean over an m × m window, clipped to the picture and rounded to nearest, as in processing.BoxMean.
func sliding() *Experiment {
	sizes := []Size{{1024, 1024}, {2192, 1460}, {2952, 1968}, {5300, 3533}}
	return &Experiment{
		ID:   "sliding",
		Name: message.Of("Mean over a sliding window"),
		Question: message.Of("Does the recursion make the time independent of the window's side m, where the direct " +
			"sum takes m² operations per pixel?"),
		Result: message.Of("Mean of the window's 8-bit pixels inside the picture, rounded to nearest; identical to " +
			"the reference. GPU times are those of the kernels, with the picture in GPU memory."),
		Paper: Paper{
			Setup: message.Of("1024 × 1024, Pentium IV 3 GHz and GeForce 9500; ms."),
			Head: []message.Message{
				message.Of("variant"), message.Of("m = 5"), message.Of("m = 9"), message.Of("m = 15"),
			},
			Rows: [][]message.Message{
				paperRow("CPU direct", "283", "922", "2531"),
				paperRow("CPU recursive", "142", "297", "733"),
				paperRow("GPU direct", "78", "262", "473"),
				paperRow("GPU recursive", "23", "25", "27"),
				paperRow("GPU recursive, coalesced", "12", "12", "12"),
			},
			Found: message.Of("On the GPU the recursion with coalesced access takes the same time for every m; " +
				"searching for glare with it was 45 × faster than the authors' earlier CUDA version."),
		},
		Params: []Param{{
			ID:     "m",
			Name:   message.Of("Window"),
			Help:   message.Of("side of the window in pixels; odd"),
			Values: []string{"5", "9", "15", "31", "51", "101"},
			Number: &Number{Min: 1, Max: 4095, Odd: true},
		}},
		Grids:      []Grid{{Sizes: sizes, Values: map[string][]string{"m": {"5", "9", "15", "31", "51", "101"}}}},
		Quick:      []Grid{{Sizes: sizes[:1], Values: map[string][]string{"m": {"5", "15", "51"}}}},
		Variants:   slidingVariants(),
		Claims:     slidingClaims(),
		Axis:       "m",
		shape:      pictures,
		input:      planeInput,
		inputBytes: func(c Case) int64 { return 2 * int64(c.Size.Samples()) },
		check: func(ctx context.Context, in *Input, c Case, _ Variant, out Output) (Check, error) {
			m := c.Int("m")
			return compareRows(ctx, in, c, out, float64(2*m), 0,
				func(y0, y1 int) []uint8 { return meanRows(ctx, in, m/2, y0, y1) })
		},
	}
}

func slidingVariants() []Variant {
	box := func(workers int) Method {
		return ownOnBytes(workers, RecursiveAdditions, func(dst, src processing.Plane, c Case) processing.Op {
			return processing.BoxMean{Dst: dst, Src: src, Radius: c.Int("m") / 2}
		})
	}
	return []Variant{
		{ID: "cpu-direct", Device: CPU, Name: message.Of("CPU direct, 1 thread"),
			Help:  message.Of("adds the m² pixels of every window"),
			Paper: paperTimes("m", map[string]int{"5": 283, "9": 922, "15": 2531}), Method: directMean(1)},
		{ID: "cpu-direct-all", Device: CPU, Name: message.Of("CPU direct, all threads"),
			Help: message.Of("the same in bands of rows on all processors"), Method: directMean(0)},
		{ID: "cpu-recursive", Device: CPU, Name: message.Of("CPU recursive, 1 thread"),
			Help:  message.Of("column sums slide down, window sums slide right: 4 additions per pixel"),
			Paper: paperTimes("m", map[string]int{"5": 142, "9": 297, "15": 733}), Method: box(1)},
		{ID: "cpu-recursive-all", Device: CPU, Name: message.Of("CPU recursive, all threads"),
			Help: message.Of("the same over tiles on all processors"), Method: box(0)},
		{ID: "gpu-direct", Device: GPU, Name: message.Of("GPU direct"),
			Help:  message.Of("one thread per pixel adds m² pixels"),
			Paper: paperTimes("m", map[string]int{"5": 78, "9": 262, "15": 473})},
		{ID: "gpu-recursive", Device: GPU, Name: message.Of("GPU recursive"),
			Help: message.Of("the paper's first version: a thread recurses down a column, then one along a row, " +
				"where neighbouring threads read addresses far apart"),
			Paper: paperTimes("m", map[string]int{"5": 23, "9": 25, "15": 27})},
		{ID: "gpu-recursive-coalesced", Device: GPU, Name: message.Of("GPU recursive, coalesced"),
			Help: message.Of("the same with neighbouring addresses in both passes: the sums of the first are " +
				"transposed through shared memory as they are written"),
			Paper: paperTimes("m", map[string]int{"5": 12, "9": 12, "15": 12})},
		{ID: "gpu-program", Device: GPU, Name: message.Of("GPU, the program's own"),
			Help: message.Of("what detection uses: a block recurses down a strip of columns and takes the sums along " +
				"rows as differences of prefix sums in shared memory")},
		{ID: "cpu-mean-variance", Device: CPU, Name: message.Of("CPU mean and variance, all threads"),
			Help:  message.Of("the program's own sums and sums of squares in one pass; the result is the mean"),
			Takes: inVarianceSide, Method: ownMeanVariance(processing.U8)},
		{ID: "cpu-mean-variance-floats", Device: CPU, Name: message.Of("CPU mean and variance of floats"),
			Help:  message.Of("the same for the samples as floats, whose sums are exact, all threads"),
			Takes: inVarianceSide, Method: ownMeanVariance(processing.F32)},
	}
}

func slidingClaims() []Claim {
	return []Claim{
		{Text: message.Of("the time of the recursion does not depend on the window (GPU)"), Paper: 12.0 / 12,
			measure: along("gpu-recursive-coalesced", "m"), judge: flat, missing: onGPU()},
		{Text: message.Of("the time of the recursion does not depend on the window on one thread of the CPU either " +
			"(in the paper it still grew there, 5.16 × from m = 5 to 15)"), Paper: 12.0 / 12,
			measure: along("cpu-recursive", "m"), judge: flat, missing: moreCases()},
		{Text: message.Of("the direct sum at m = 15 against the recursion, one thread of the CPU"), Paper: 2531.0 / 733,
			measure: between("cpu-direct", "cpu-recursive", having("m", "15")), judge: near, missing: moreCases()},
		{Text: message.Of("the time of the first version, with uncoalesced access, hardly depends on the window"),
			Paper:   27.0 / 23,
			measure: along("gpu-recursive", "m"), judge: flat, missing: onGPU()},
		{Text: message.Of("the direct sum at m = 15 against the recursion, on the GPU"), Paper: 473.0 / 12,
			measure: between("gpu-direct", "gpu-recursive-coalesced", having("m", "15")), judge: near,
			missing: onGPU()},
		{Text: message.Of("the same at m = 51 (the paper: a whole search for glare against the authors' earlier " +
			"version in CUDA, on 3.2 to 18.7 MP)"), Paper: 45,
			measure: between("gpu-direct", "gpu-recursive-coalesced", having("m", "51")), judge: near,
			missing: onGPU()},
		{Text: message.Of("one thread of the CPU against the GPU at m = 15, both with the direct sum"),
			Paper:   2531.0 / 473,
			measure: between("cpu-direct", "gpu-direct", having("m", "15")), judge: near, missing: onGPU()},
		{Text: message.Of("coalesced access against uncoalesced at m = 15"), Paper: 27.0 / 12,
			measure: between("gpu-recursive", "gpu-recursive-coalesced", having("m", "15")), judge: near,
			missing: onGPU()},
	}
}

// paperTimes returns the times in ms that a paper reports for the values of a parameter at 1024 × 1024.
func paperTimes(param string, ms map[string]int) func(Case) time.Duration {
	return func(c Case) time.Duration {
		if (c.Size != Size{1024, 1024}) {
			return 0
		}
		return time.Duration(ms[c.Values[param]]) * time.Millisecond
	}
}

// directMean sums every window separately; 0 workers means one per processor.
func directMean(workers int) Method {
	return plain{
		memory:     func(c Case) int64 { return int64(c.Size.Samples()) },
		operations: DirectAdditions,
		prepare: func(_ context.Context, in *Input, c Case) (func(context.Context) error, *Output, error) {
			w, h, r := in.Size.W, in.Size.H, c.Int("m")/2
			dst := make([]uint8, w*h)
			// The context is checked after each row.
			return func(ctx context.Context) error {
				return chunks(ctx, workers, h, 1, func(y, _ int) { directMeanRow(dst[y*w:(y+1)*w], in.U8, w, h, r, y) })
			}, &Output{U8: dst}, nil
		},
	}
}

func directMeanRow(dst, src []uint8, w, h, r, y int) {
	y0, y1 := max(y-r, 0), min(y+r, h-1)
	for x := range dst {
		x0, x1 := max(x-r, 0), min(x+r, w-1)
		var sum uint32
		for v := y0; v <= y1; v++ {
			for _, p := range src[v*w+x0 : v*w+x1+1] {
				sum += uint32(p)
			}
		}
		n := uint32(x1-x0+1) * uint32(y1-y0+1)
		dst[x] = uint8((sum + n/2) / n)
	}
}

// meanRows is the reference: it sums the columns of a row's windows, then the windows, without sliding.
func meanRows(ctx context.Context, in *Input, r, y0, y1 int) []uint8 {
	w, h := in.Size.W, in.Size.H
	out := make([]uint8, 0, (y1-y0)*w)
	column := make([]uint64, w)
	for y := y0; y < y1 && ctx.Err() == nil; y++ {
		clear(column)
		top, bottom := max(y-r, 0), min(y+r, h-1)
		for v := top; v <= bottom; v++ {
			for x, p := range in.U8[v*w : (v+1)*w] {
				column[x] += uint64(p)
			}
		}
		for x := range w {
			left, right := max(x-r, 0), min(x+r, w-1)
			var sum uint64
			for _, s := range column[left : right+1] {
				sum += s
			}
			n := uint64(bottom-top+1) * uint64(right-left+1)
			out = append(out, uint8((sum+n/2)/n))
		}
	}
	return out
}
