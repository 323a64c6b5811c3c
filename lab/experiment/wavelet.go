package experiment

import (
	"context"
	"math"

	"blik/internal/message"
	"blik/internal/parallel"
)

// Wavelet is an orthogonal filter pair. Coefficient i of the approximation is the sum over k of Low[k]·x[2i+k], that of
// the detail the sum of High[k]·x[2i+k]; indices wrap around at the even length, and a line of odd length is extended
// by its last sample.
type Wavelet struct{ Low, High []float64 }

// NewWavelet returns haar, d4 or d8, Daubechies' wavelets of 2, 4 and 8 taps (Daubechies 1988), or nil for any other
// name.
func NewWavelet(name string) *Wavelet {
	var low []float64
	switch name {
	case "haar":
		low = []float64{math.Sqrt2 / 2, math.Sqrt2 / 2}
	case "d4":
		s, n := math.Sqrt(3), 4*math.Sqrt2
		low = []float64{(1 + s) / n, (3 + s) / n, (3 - s) / n, (1 - s) / n}
	case "d8":
		low = []float64{
			0.23037781330885523, 0.7148465705525415, 0.6308807679295904, -0.02798376941698385,
			-0.18703481171888114, 0.030841381835986965, 0.032883011666982945, -0.010597401784997278,
		}
	default:
		return nil
	}
	high := make([]float64, len(low))
	for k := range high {
		high[k] = low[len(low)-1-k]
		if k%2 == 1 {
			high[k] = -high[k]
		}
	}
	return &Wavelet{low, high}
}

// even rounds n up to an even length.
func even(n int) int { return n + n&1 }

// Coefficients returns the size of the transform of an input. Lines hold the approximation followed by the detail,
// pictures the four quadrants.
func Coefficients(s Size) Size {
	if s.H == 0 {
		return Line(even(s.W))
	}
	return Size{even(s.W), even(s.H)}
}

// WaveletOperations returns the number of multiply-adds of a case.
func WaveletOperations(c Case) float64 {
	n := float64(Coefficients(c.Size).Samples()) * float64(len(NewWavelet(c.Values["wavelet"]).Low))
	if c.Size.H > 0 {
		n *= 2
	}
	return n
}

// transformMethod computes the transform, or its inverse, on the given number of goroutines; 0 means one per processor.
func transformMethod(workers int) Method {
	return plain{
		memory:     func(c Case) int64 { return 4 * 4 * int64(Coefficients(c.Size).Samples()) },
		operations: WaveletOperations,
		prepare: func(ctx context.Context, in *Input, c Case) (func(context.Context) error, *Output, error) {
			t := newTransform(in.Size, c.Values["wavelet"], workers)
			x := Extended(in)
			if c.Values["direction"] == "forward" {
				return func(ctx context.Context) error { return t.forward(ctx, x) }, &Output{F32: t.out}, nil
			}
			if err := t.forward(ctx, x); err != nil {
				return nil, nil, err
			}
			back := newTransform(in.Size, c.Values["wavelet"], workers)
			return func(ctx context.Context) error { return back.inverse(ctx, t.out) }, &Output{F32: back.out}, nil
		},
	}
}

// gpuRow describes a step of the paper that only a GPU takes.
func gpuRow(id string, name, help message.Text) Variant {
	return Variant{ID: id, Device: GPU, Name: message.Of(name), Help: message.Of(help)}
}

// stepClaim is the paper's claim about one step relative to the previous one.
func stepClaim(claim message.Text, paper float64, judge func(ratio, paper float64) Verdict, before, after,
	index string) Claim {
	return Claim{Text: message.Of(claim), Paper: paper, measure: between(before, after, having("index", index)),
		judge:   judge,
		missing: message.Of("needs an NVIDIA GPU and index=%s", index)}
}

// wavelet is one level of the transform of a line, or of the rows and then the columns of a picture.
func wavelet() *Experiment {
	var lengths []Size
	for k := 16; k <= 26; k += 2 {
		lengths = append(lengths, Line(1<<k))
	}
	wavelets := []string{"haar", "d4", "d8"}
	return &Experiment{
		ID:   "wavelet",
		Name: message.Of("Wavelet transform"),
		Question: message.Of("What do the kinds of GPU memory, shifts instead of divisions, threads per block and " +
			"results per thread contribute, and what do all cores of a CPU?"),
		Result: message.Of("Approximation and detail in float32 at every second point. Deviation: largest difference " +
			"from the sums in float64 over the largest input value, at most 2e-6, because the rounding of 8 " +
			"products and sums of taps with Σ|h| ≤ √8 stays below 9·2⁻²⁴·√8 = 1.5e-6 (at least twice that for " +
			"pictures, whose limit is 1e-5); for the inverse, from the input itself, at most 1e-5."),
		Paper: Paper{
			Setup: message.Of("GeForce 8400 GS and Athlon 64 3800+; change of the time from step to step."),
			Head:  []message.Message{message.Of("step"), message.Of("division"), message.Of("shifts")},
			Rows: [][]message.Message{
				paperRow("1 global", "", ""),
				paperRow("2 shared", "−38 %", ""),
				paperRow("3 constant wavelet", "−73 %", ""),
				paperRow("4 registers", "−1 %", ""),
				paperRow("5 constant parameters", "−12 %", "−10 %"),
				paperRow("6 coalesced copy", "+13 %", "−43 %"),
			},
			Found: message.Of("128 threads per block (−9 %) and 2 results per thread are best; with shifts, 6 is " +
				"28 % faster than 5; the parallel version takes 76 % less time than the sequential one."),
		},
		Params: []Param{
			{ID: "wavelet", Name: message.Of("Wavelet"), Help: message.Of("2, 4 or 8 taps"),
				Values: []string{"d4", "haar", "d8"}},
			{ID: "direction", Name: message.Of("Direction"), Help: message.Of("forward, or inverse with perfect " +
				"reconstruction checked"),
				Values: []string{"forward", "inverse"}},
			{ID: "index", Name: message.Of("Index"), Help: message.Of("GPU: line, tile and place in the line by " +
				"shifts and comparisons (tiles in powers of two), or by division"),
				Values: []string{"shift", "division"}},
			{ID: "threads", Name: message.Of("Threads"), Help: message.Of("GPU: threads per block"),
				Values: []string{"128", "32", "64", "256", "512"}, Number: &Number{Min: 32, Max: 1024}},
			{ID: "results", Name: message.Of("Results"), Help: message.Of("GPU: results per thread"),
				Values: []string{"2", "1", "4", "8", "16"}, Number: &Number{Min: 1, Max: 64}},
		},
		Grids: []Grid{
			{Sizes: lengths},
			{Sizes: []Size{Line(1 << 24)}, Values: map[string][]string{"wavelet": {"haar", "d8"}}},
			{Sizes: []Size{{2192, 1460}, {5300, 3533}}},
			{Sizes: []Size{Line(1 << 20), Line(1 << 24), {2192, 1460}},
				Values: map[string][]string{"direction": {"inverse"}}},
			{Sizes: []Size{Line(1 << 20)}, Values: map[string][]string{"wavelet": {"haar", "d8"},
				"direction": {"inverse"}}},
			{Sizes: []Size{Line(1 << 22)}, Values: map[string][]string{"index": {"shift", "division"}}},
			{Sizes: []Size{Line(1 << 22)}, Values: map[string][]string{"threads": {"32", "64", "128", "256", "512"}}},
			{Sizes: []Size{Line(1 << 22)}, Values: map[string][]string{"results": {"1", "2", "4", "8", "16"}}},
		},
		Quick: []Grid{
			{Sizes: []Size{Line(1 << 16), Line(1 << 20)}, Values: map[string][]string{"wavelet": wavelets,
				"direction": {"forward", "inverse"}}},
		},
		Variants: waveletVariants(),
		Claims:   waveletClaims(),
		shape:    pictures | lines,
		input: func(ctx context.Context, c Case, src *source) (*Input, error) {
			x, err := src.floats(ctx, c.Size)
			return &Input{Size: c.Size, F32: x}, err
		},
		inputBytes: func(c Case) int64 { return 5 * int64(c.Size.Samples()) },
		check:      checkWavelet,
	}
}

func waveletVariants() []Variant {
	onlyGPU := []string{"index", "threads", "results"}
	return []Variant{
		{ID: "cpu-sequential", Device: CPU, Ignores: onlyGPU, Name: message.Of("CPU sequential"),
			Help: message.Of("one thread"), Method: transformMethod(1)},
		{ID: "cpu-all", Device: CPU, Ignores: onlyGPU, Name: message.Of("CPU all cores"),
			Help: message.Of("the same over stretches of the result on all processors"), Method: transformMethod(0)},
		{ID: "cpu-program", Device: CPU, Ignores: onlyGPU, Name: message.Of("CPU, the program's own"),
			Help:  message.Of("with vector instructions, on all processors; pictures, d4 and haar only"),
			Takes: onProgramWavelet, Method: ownWavelet()},
		gpuRow("gpu-1-global", "GPU 1 global",
			"everything in global memory: both filters read the same data and accumulate there; in every "+
				"step, a thread computes a stretch of adjacent results, and a picture is filtered by rows, "+
				"transposed, filtered by rows again and transposed back"),
		gpuRow("gpu-2-shared", "GPU 2 shared", "1, with the data first copied to shared memory, each thread "+
			"its own stretch, and accumulated there"),
		gpuRow("gpu-3-constant-wavelet", "GPU 3 constant wavelet", "2, with the taps in constant memory"),
		gpuRow("gpu-4-registers", "GPU 4 registers", "3, accumulating in a register and storing at the end"),
		gpuRow("gpu-5-constant-parameters", "GPU 5 constant parameters",
			"4, with the kernel's parameters in constant memory, and the index of the copy incremented "+
				"instead of recomputed"),
		gpuRow("gpu-6-coalesced", "GPU 6 coalesced copy",
			"5, with neighbouring threads copying neighbouring elements to shared memory, whose indices are "+
				"recomputed"),
	}
}

func waveletClaims() []Claim {
	bothIndices := message.Of("needs an NVIDIA GPU and index=shift,division")
	severalValues := message.Of("needs an NVIDIA GPU and several values")
	return []Claim{
		{Text: message.Of("sequential against parallel time (GPU; the paper: −76 %)"), Paper: 1 / 0.24,
			measure: between("cpu-sequential", "gpu-6-coalesced", nil), judge: near, missing: onGPU()},
		{Text: message.Of("sequential against all cores of this CPU (the paper's −76 % is a GPU's)"), Paper: 1 / 0.24,
			measure: between("cpu-sequential", "cpu-all",
				func(c Case) bool { return c.Size.H == 0 && c.Values["direction"] == "forward" }), judge: near,
			missing: moreCases()},
		stepClaim("data in shared memory, 1 against 2", 1/0.62, near, "gpu-1-global", "gpu-2-shared", "division"),
		stepClaim("taps in constant memory, 2 against 3", 1/0.27, near, "gpu-2-shared", "gpu-3-constant-wavelet",
			"division"),
		stepClaim("accumulating in registers makes hardly any difference, 3 against 4", 1/0.99, equal,
			"gpu-3-constant-wavelet", "gpu-4-registers", "division"),
		stepClaim("parameters in constant memory, 4 against 5", 1/0.88, near, "gpu-4-registers",
			"gpu-5-constant-parameters", "division"),
		stepClaim("the coalesced copy costs more than it saves with division, 5 against 6", 1/1.13, near,
			"gpu-5-constant-parameters", "gpu-6-coalesced", "division"),
		stepClaim("and pays off with shifts, 5 against 6", 1/0.72, near, "gpu-5-constant-parameters",
			"gpu-6-coalesced", "shift"),
		{Text: message.Of("division against shifts in 5"), Paper: 1 / 0.9,
			measure: choices("gpu-5-constant-parameters", "index", "division", "shift"), judge: near,
			missing: bothIndices},
		{Text: message.Of("division against shifts in 6"), Paper: 1 / 0.57,
			measure: choices("gpu-6-coalesced", "index", "division", "shift"), judge: near, missing: bothIndices},
		{Text: message.Of("the best other number of threads per block against 128"),
			measure: othersAgainst("gpu-6-coalesced", "threads", "128"), judge: best, missing: severalValues},
		{Text: message.Of("the best other number of results per thread against 2"),
			measure: othersAgainst("gpu-6-coalesced", "results", "2"), judge: best, missing: severalValues},
	}
}

// Extended returns the input extended to the even sides of Coefficients, read-only.
func Extended(in *Input) []float32 {
	s := Coefficients(in.Size)
	if s == in.Size {
		return in.F32
	}
	if in.extended != nil {
		return in.extended
	}
	w, h := in.Size.W, max(in.Size.H, 1)
	x := make([]float32, 0, s.Samples())
	for y := range max(s.H, 1) {
		row := in.F32[min(y, h-1)*w:][:w]
		x = append(x, row...)
		if s.W > w {
			x = append(x, row[w-1])
		}
	}
	in.extended = x
	return x
}

// transform computes one level of a wavelet transform for lines or pictures with even sides.
type transform struct {
	size      Size
	low, high []float32
	workers   int
	out, rows []float32
}

func newTransform(s Size, wavelet string, workers int) *transform {
	w := NewWavelet(wavelet)
	t := &transform{size: Coefficients(s), workers: workers}
	for k := range w.Low {
		t.low, t.high = append(t.low, float32(w.Low[k])), append(t.high, float32(w.High[k]))
	}
	t.out = make([]float32, t.size.Samples())
	if s.H > 0 {
		t.rows = make([]float32, len(t.out))
	}
	return t
}

// stretch is the number of coefficients that a goroutine computes at a time.
const stretch = 1 << 15

func (t *transform) forward(ctx context.Context, x []float32) error {
	w, h := t.size.W, t.size.H
	if h == 0 {
		return chunks(ctx, t.workers, w/2, stretch, func(i, j int) { t.analyse(t.out[:w/2], t.out[w/2:], x, i, j) })
	}
	err := chunks(ctx, t.workers, h, max(1, stretch/w), func(i, j int) {
		for y := i; y < j; y++ {
			row := t.rows[y*w : (y+1)*w]
			t.analyse(row[:w/2], row[w/2:], x[y*w:(y+1)*w], 0, w/2)
		}
	})
	if err != nil {
		return err
	}
	return chunks(ctx, t.workers, h/2, max(1, stretch/w), func(i, j int) {
		for v := i; v < j; v++ {
			var from [8][]float32
			for k := range t.low {
				from[k] = t.rows[(2*v+k)%h*w:][:w]
			}
			combine(t.out[v*w:(v+1)*w], t.out[(h/2+v)*w:(h/2+v+1)*w], from[:len(t.low)], t.low, t.high)
		}
	})
}

// combine writes the sums of 2, 4 or 8 rows times the taps p to a, and times q to b.
func combine(a, b []float32, from [][]float32, p, q []float32) {
	n := len(a)
	b = b[:n]
	switch len(from) {
	case 2:
		p, q := [2]float32(p), [2]float32(q)
		r, s := from[0][:n], from[1][:n]
		for i := range a {
			a[i], b[i] = p[0]*r[i]+p[1]*s[i], q[0]*r[i]+q[1]*s[i]
		}
	case 4:
		p, q := [4]float32(p), [4]float32(q)
		r, s, t, u := from[0][:n], from[1][:n], from[2][:n], from[3][:n]
		for i := range a {
			a[i] = p[0]*r[i] + p[1]*s[i] + p[2]*t[i] + p[3]*u[i]
			b[i] = q[0]*r[i] + q[1]*s[i] + q[2]*t[i] + q[3]*u[i]
		}
	case 8:
		combine(a, b, from[:4], p[:4], q[:4])
		p, q := [4]float32(p[4:]), [4]float32(q[4:])
		r, s, t, u := from[4][:n], from[5][:n], from[6][:n], from[7][:n]
		for i := range a {
			a[i] += p[0]*r[i] + p[1]*s[i] + p[2]*t[i] + p[3]*u[i]
			b[i] += q[0]*r[i] + q[1]*s[i] + q[2]*t[i] + q[3]*u[i]
		}
	}
}

// analyse computes coefficients i … j−1 of both bands.
func (t *transform) analyse(low, high, x []float32, i, j int) {
	n := len(x)
	// The windows of coefficients below inside do not wrap around.
	inside := min(j, (n-len(t.low))/2+1)
	if n < len(t.low) {
		inside = i
	}
	switch {
	case len(t.low) == 2:
		a, b, c, d := t.low[0], t.low[1], t.high[0], t.high[1]
		for ; i < inside; i++ {
			u, v := x[2*i], x[2*i+1]
			low[i], high[i] = a*u+b*v, c*u+d*v
		}
	case len(t.low) == 4:
		l, g := [4]float32(t.low), [4]float32(t.high)
		for ; i < inside; i++ {
			s := (*[4]float32)(x[2*i:])
			low[i] = l[0]*s[0] + l[1]*s[1] + l[2]*s[2] + l[3]*s[3]
			high[i] = g[0]*s[0] + g[1]*s[1] + g[2]*s[2] + g[3]*s[3]
		}
	case len(t.low) == 8:
		l, g := [8]float32(t.low), [8]float32(t.high)
		for ; i < inside; i++ {
			s := (*[8]float32)(x[2*i:])
			low[i] = l[0]*s[0] + l[1]*s[1] + l[2]*s[2] + l[3]*s[3] + l[4]*s[4] + l[5]*s[5] + l[6]*s[6] + l[7]*s[7]
			high[i] = g[0]*s[0] + g[1]*s[1] + g[2]*s[2] + g[3]*s[3] + g[4]*s[4] + g[5]*s[5] + g[6]*s[6] + g[7]*s[7]
		}
	}
	for ; i < j; i++ {
		var a, d float32
		for k := range t.low {
			v := x[(2*i+k)%n]
			a += t.low[k] * v
			d += t.high[k] * v
		}
		low[i], high[i] = a, d
	}
}

// inverse undoes forward: the transform is orthogonal, so its transpose is its inverse.
func (t *transform) inverse(ctx context.Context, c []float32) error {
	w, h := t.size.W, t.size.H
	if h == 0 {
		return chunks(ctx, t.workers, w/2, stretch, func(i, j int) { t.synthesise(t.out, c[:w/2], c[w/2:], i, j) })
	}
	half, taps := h/2, len(t.low)
	// The rows of taps that both bands contribute to rows 2v and 2v+1 from rows v, v−1, ….
	var evens, odds [8]float32
	for k := 0; k < taps; k += 2 {
		evens[k], evens[k+1] = t.low[k], t.high[k]
		odds[k], odds[k+1] = t.low[k+1], t.high[k+1]
	}
	err := chunks(ctx, t.workers, half, max(1, stretch/w), func(i, j int) {
		for v := i; v < j; v++ {
			var from [8][]float32
			for k := 0; k < taps; k += 2 {
				at := wrap(v-k/2, half)
				from[k], from[k+1] = c[at*w:][:w], c[(half+at)*w:][:w]
			}
			combine(t.rows[2*v*w:][:w], t.rows[(2*v+1)*w:][:w], from[:taps], evens[:taps], odds[:taps])
		}
	})
	if err != nil {
		return err
	}
	return chunks(ctx, t.workers, h, max(1, stretch/w), func(i, j int) {
		for y := i; y < j; y++ {
			row := t.rows[y*w : (y+1)*w]
			t.synthesise(t.out[y*w:(y+1)*w], row[:w/2], row[w/2:], 0, w/2)
		}
	})
}

// wrap maps i ≥ −n·k to 0 … n−1, modulo n.
func wrap(i, n int) int {
	for i < 0 {
		i += n
	}
	return i
}

// synthesise computes samples 2i … 2j−1 from both bands: x[2i] and x[2i+1] contribute to coefficients i, i−1, … as far
// as the filter reaches.
func (t *transform) synthesise(x, low, high []float32, i, j int) {
	n, half := len(low), len(t.low)/2
	for ; i < min(j, half-1); i++ {
		var even, odd float32
		for m := range half {
			at := wrap(i-m, n)
			even += t.low[2*m]*low[at] + t.high[2*m]*high[at]
			odd += t.low[2*m+1]*low[at] + t.high[2*m+1]*high[at]
		}
		x[2*i], x[2*i+1] = even, odd
	}
	switch half {
	case 1:
		l, g := [2]float32(t.low), [2]float32(t.high)
		for ; i < j; i++ {
			a, d := low[i], high[i]
			x[2*i], x[2*i+1] = l[0]*a+g[0]*d, l[1]*a+g[1]*d
		}
	case 2:
		l, g := [4]float32(t.low), [4]float32(t.high)
		for ; i < j; i++ {
			a, d := (*[2]float32)(low[i-1:]), (*[2]float32)(high[i-1:])
			x[2*i] = l[0]*a[1] + g[0]*d[1] + l[2]*a[0] + g[2]*d[0]
			x[2*i+1] = l[1]*a[1] + g[1]*d[1] + l[3]*a[0] + g[3]*d[0]
		}
	case 4:
		l, g := [8]float32(t.low), [8]float32(t.high)
		for ; i < j; i++ {
			a, d := (*[4]float32)(low[i-3:]), (*[4]float32)(high[i-3:])
			x[2*i] = l[0]*a[3] + g[0]*d[3] + l[2]*a[2] + g[2]*d[2] + l[4]*a[1] + g[4]*d[1] + l[6]*a[0] + g[6]*d[0]
			x[2*i+1] = l[1]*a[3] + g[1]*d[3] + l[3]*a[2] + g[3]*d[2] + l[5]*a[1] + g[5]*d[1] + l[7]*a[0] + g[7]*d[0]
		}
	}
}

// referenceCoefficients is the maximum number of coefficients that the reference computes.
const referenceCoefficients = 1 << 18

// checkWavelet compares a transform with its definition in float64, or an inverse with the original input.
func checkWavelet(ctx context.Context, in *Input, c Case, _ Variant, out Output) (Check, error) {
	size := Coefficients(in.Size)
	r := Check{Samples: int64(size.Samples()), Tolerance: 2e-6}
	if len(out.F32) != size.Samples() {
		return r, wrongLength(len(out.F32), size.Samples())
	}
	if c.Size.H > 0 || c.Values["direction"] == "inverse" {
		r.Tolerance = 1e-5
	}
	x := Extended(in)
	if in.defined.largest == 0 {
		largest, err := worst(ctx, len(x), func(i int) float64 { return math.Abs(float64(x[i])) })
		if err != nil {
			return r, err
		}
		if largest == 0 {
			largest = 1
		}
		in.defined.largest = largest
	}
	if c.Values["direction"] == "inverse" {
		off, err := worst(ctx, len(x), func(i int) float64 { return math.Abs(float64(out.F32[i]) - float64(x[i])) })
		if err != nil {
			return r, err
		}
		r.Compared, r.Deviation = r.Samples, off/in.defined.largest
		return r, r.tooFar()
	}
	if err := in.defined.coefficients(ctx, x, size, c.Values["wavelet"]); err != nil {
		return r, err
	}
	for i, want := range in.defined.want {
		r.Deviation = worse(r.Deviation, math.Abs(float64(out.F32[in.defined.at[i]])-want)/in.defined.largest)
	}
	r.Compared = int64(len(in.defined.at))
	return r, r.tooFar()
}

// definedCoefficients caches some coefficients of an input, computed by definition, because all steps are compared with
// the same ones.
type definedCoefficients struct {
	// largest is the largest magnitude of the input, or 1 if the input is all zero; 0 until it is computed.
	largest float64
	// wavelet names the wavelet of the coefficients: want[i] is number at[i] of its transform.
	wavelet string
	at      []int
	want    []float64
}

// coefficients chooses and computes the coefficients for comparison, unless those of the wavelet are cached.
func (d *definedCoefficients) coefficients(ctx context.Context, x []float32, size Size, name string) error {
	if d.wavelet == name {
		return nil
	}
	var at []int
	step := 1
	if n := len(x); n > referenceCoefficients {
		// Odd, so that both bands and all residues occur.
		step = n/referenceCoefficients | 1
	}
	for i := 0; i < len(x); i += step {
		at = append(at, i)
	}
	// The last windows of both bands wrap around.
	for i := 1; i <= min(len(x)/2, 64) && step > 1; i++ {
		at = append(at, len(x)-i, len(x)/2-i)
	}
	wave, want := NewWavelet(name), make([]float64, len(at))
	err := parallel.Chunks(ctx, len(at), 1<<11, func(i, j int) {
		for k := i; k < j; k++ {
			want[k] = wave.coefficient(x, size, at[k])
		}
	})
	if err == nil {
		d.wavelet, d.at, d.want = name, at, want
	}
	return err
}

// worse returns the larger of two deviations, or NaN if either is.
func worse(a, b float64) float64 {
	if a >= b || math.IsNaN(a) {
		return a
	}
	return b
}

// worst returns the worst of f(0) … f(n−1).
func worst(ctx context.Context, n int, f func(i int) float64) (float64, error) {
	const length = 1 << 18
	parts := make([]float64, (n+length-1)/length)
	err := parallel.Chunks(ctx, n, length, func(i, j int) {
		var most float64
		for k := i; k < j; k++ {
			most = worse(most, f(k))
		}
		parts[i/length] = most
	})
	var most float64
	for _, v := range parts {
		most = worse(most, v)
	}
	return most, err
}

// coefficient returns number i of the transform by definition.
func (w *Wavelet) coefficient(x []float32, s Size, i int) float64 {
	band := func(i, n int) (at int, taps []float64) {
		if i < n/2 {
			return i, w.Low
		}
		return i - n/2, w.High
	}
	column, across := band(i%s.W, s.W)
	line := func(row []float32) (sum float64) {
		for k, h := range across {
			sum += h * float64(row[(2*column+k)%s.W])
		}
		return sum
	}
	if s.H == 0 {
		return line(x)
	}
	row, down := band(i/s.W, s.H)
	var sum float64
	for k, h := range down {
		sum += h * line(x[(2*row+k)%s.H*s.W:][:s.W])
	}
	return sum
}
