package experiment

import (
	"context"

	"blik/internal/message"
	"blik/processing"
)

// vhgw is grey-scale morphology with flat rectangles. Pixels outside the picture are ignored, as in processing.Morph;
// this equals the paper's border of 0 for dilation and 255 for erosion.
func vhgw() *Experiment {
	se := []string{"3", "11", "51", "101", "201"}
	small, medium, large := Size{671, 447}, Size{2192, 1460}, Size{5300, 3533}
	return &Experiment{
		ID:   "vhgw",
		Name: message.Of("Morphology by van Herk, Gil and Werman"),
		Question: message.Of("Does the time of erosion and dilation stay flat as the structuring element grows, on " +
			"one thread, on all, and on a GPU?"),
		Result: message.Of("8-bit pixels, identical to the reference. GPU times are those of the kernels, with the " +
			"picture in GPU memory."),
		Paper: Paper{
			Setup: message.Of("An aerial photograph at several resolutions, each run 100 times; 1 and 12 threads of " +
				"OpenMP, CUDA with global memory."),
			Head: []message.Message{message.Of("comparison"), message.Of("found")},
			Rows: [][]message.Message{
				{message.Of("time over the element's side"), message.Of("constant, even falling")},
				{message.Of("12 threads / 1"), message.Of("clearly < 1")},
				paperRow("OpenMP / CUDA", "≈ 15"),
			},
			Found: message.Of("The time does not grow with the element and even falls; 12 threads are clearly faster " +
				"than one; CUDA is about 15 × faster than OpenMP."),
		},
		Params: []Param{
			{ID: "op", Name: message.Of("Operation"), Help: message.Of("erode, dilate, open or close"),
				Values: []string{"erode", "dilate", "open", "close"}},
			{ID: "kind", Name: message.Of("Picture"), Help: message.Of("grey, or binary: a noisy fingerprint"),
				Values: []string{"grey", "binary"}},
			{ID: "shape", Name: message.Of("Shape"), Help: message.Of("of the structuring element"),
				Values: []string{"square", "horizontal", "vertical"}},
			{ID: "se", Name: message.Of("Element"), Help: message.Of("side of the structuring element in pixels; odd"),
				Values: []string{"51", "3", "11", "101", "201"}, Number: &Number{Min: 1, Max: 4095, Odd: true}},
		},
		Grids: []Grid{
			{Sizes: []Size{small, medium, large}, Values: map[string][]string{"se": se}},
			{Sizes: []Size{medium}, Values: map[string][]string{
				"op": {"erode", "dilate", "open", "close"}, "kind": {"grey", "binary"},
				"shape": {"square", "horizontal", "vertical"}, "se": {"51"}}},
			{Sizes: []Size{medium}, Values: map[string][]string{"shape": {"horizontal", "vertical"}, "se": se}},
			{Sizes: []Size{megapixels(100)}, Values: map[string][]string{"se": {"51"}}},
		},
		Quick: []Grid{
			{Sizes: []Size{{1024, 1024}}, Values: map[string][]string{"se": {"3", "51", "201"}}},
			{Sizes: []Size{{1024, 1024}}, Values: map[string][]string{"op": {"open"}, "kind": {"binary"},
				"se": {"11"}}},
		},
		Variants:   vhgwVariants(),
		Claims:     vhgwClaims(),
		Axis:       "se",
		shape:      pictures,
		content:    []string{"kind"},
		input:      morphInput,
		inputBytes: func(c Case) int64 { return 2 * int64(c.Size.Samples()) },
		check: func(ctx context.Context, in *Input, c Case, _ Variant, out Output) (Check, error) {
			op, e := Morphology(c)
			cost, border := float64(e.Width+e.Height), 0
			if op == processing.Open || op == processing.Close {
				// The first step is half of the work and needs additional rows for the windows of the second.
				cost, border = 2*cost, e.Height/2
			}
			return compareRows(ctx, in, c, out, cost, border,
				func(y0, y1 int) []uint8 { return morphRows(ctx, in, op, e, y0, y1) })
		},
		figures: fingerprintFigures,
	}
}

func vhgwVariants() []Variant {
	direct := func(c Case) float64 {
		_, e := Morphology(c)
		return extremes(c) * (float64(min(e.Width, 2*c.Size.W-1))*float64(min(e.Height, 2*c.Size.H-1)) - 1)
	}
	onThreads := func(workers int) Method {
		return ownOnBytes(workers, RecursiveComparisons, func(dst, src processing.Plane, c Case) processing.Op {
			op, e := Morphology(c)
			return processing.Morph{Dst: dst, Src: src, Op: op, Element: e}
		})
	}
	return []Variant{
		{ID: "cpu-direct", Device: CPU, Name: message.Of("direct, 1 thread"),
			Help: message.Of("compares all pixels of the element"), Method: directMorph(direct)},
		{ID: "cpu-vhgw", Device: CPU, Name: message.Of("vHGW, 1 thread"),
			Help: message.Of("prefix and suffix extremes: 3 comparisons per pixel and line"), Method: onThreads(1)},
		{ID: "cpu-vhgw-all", Device: CPU, Name: message.Of("vHGW, all threads"),
			Help: message.Of("the same over strips and column tiles on all processors"), Method: onThreads(0)},
		{ID: "gpu-vhgw-global", Device: GPU, Name: message.Of("CUDA, global memory"),
			Help: message.Of("as in the paper: the prefixes and suffixes of a window in global memory, each by its " +
				"own thread; rows are filtered as columns of the transposed picture, so that access is " +
				"coalesced in both directions")},
		{ID: "gpu-vhgw-shared", Device: GPU, Name: message.Of("CUDA, shared memory"),
			Help: message.Of("what the paper argues against: the same with prefixes and suffixes in shared memory, " +
				"where fewer threads fit the longer the element is")},
		{ID: "gpu-program", Device: GPU, Name: message.Of("CUDA, as in the program"),
			Help: message.Of("what detection uses: four pixels at a time, only the suffixes are kept, those of rows " +
				"in shared memory")},
	}
}

func vhgwClaims() []Claim {
	return []Claim{
		{Text: message.Of("the time does not grow with the element (one thread)"), Paper: 1,
			measure: along("cpu-vhgw", "se"), judge: flat, missing: moreCases()},
		{Text: message.Of("the time does not grow with the element (all threads)"), Paper: 1,
			measure: along("cpu-vhgw-all", "se"), judge: flat, missing: moreCases()},
		{Text: message.Of("all threads are clearly faster than one (the paper had 12)"), Paper: 0,
			measure: between("cpu-vhgw", "cpu-vhgw-all", having("se", "51")), judge: clearlyAbove,
			missing: moreCases()},
		{Text: message.Of("CUDA against all threads at SE 51"), Paper: 15,
			measure: between("cpu-vhgw-all", "gpu-vhgw-global", having("se", "51")), judge: near, missing: onGPU()},
		{Text: message.Of("the time does not grow with the element (CUDA)"), Paper: 1,
			measure: along("gpu-vhgw-global", "se"), judge: flat, missing: onGPU()},
		{Text: message.Of("at SE 51, shared memory takes longer than global memory, as the paper argues from " +
			"occupancy"), Paper: 0,
			measure: between("gpu-vhgw-shared", "gpu-vhgw-global", having("se", "51")), judge: clearlyAbove,
			missing: onGPU()},
	}
}

// Morphology returns the operation of a case of vhgw and its rectangular structuring element.
func Morphology(c Case) (op processing.MorphOp, e processing.Element) {
	switch c.Values["op"] {
	case "dilate":
		op = processing.Dilate
	case "open":
		op = processing.Open
	case "close":
		op = processing.Close
	default:
		op = processing.Erode
	}
	k := c.Int("se")
	e = processing.Element{Width: k, Height: k}
	switch c.Values["shape"] {
	case "horizontal":
		e.Height = 1
	case "vertical":
		e.Width = 1
	}
	return op, e
}

// extremes returns the number of results of all erosions and dilations of a case: an opening or closing consists of one
// of each.
func extremes(c Case) float64 {
	n := float64(c.Size.Samples())
	if op := c.Values["op"]; op == "open" || op == "close" {
		n *= 2
	}
	return n
}

// RecursiveComparisons returns the number of comparisons of the recursion in a case of vhgw: 3 per result and
// direction.
func RecursiveComparisons(c Case) float64 {
	if c.Values["shape"] == "square" {
		return 6 * extremes(c)
	}
	return 3 * extremes(c)
}

// morphInput is a grey picture or a noisy fingerprint of the same size; if the user supplies a picture, the latter is
// that picture in black and white.
func morphInput(ctx context.Context, c Case, src *source) (*Input, error) {
	if c.Values["kind"] != "binary" {
		return planeInput(ctx, c, src)
	}
	if src.pic == nil {
		_, noisy, err := fingerprint(ctx, c.Size.W, c.Size.H, 1)
		return &Input{Size: c.Size, U8: noisy}, err
	}
	in, err := planeInput(ctx, c, src)
	if err != nil {
		return nil, err
	}
	for i, v := range in.U8 {
		in.U8[i] = 255 * (v >> 7)
	}
	return in, nil
}

// directMorph compares all pixels of the element on one thread.
func directMorph(operations func(Case) float64) Method {
	return plain{
		memory:     func(c Case) int64 { return 2*int64(c.Size.Samples()) + int64(framedWidth(c))*int64(c.Size.H) },
		operations: operations,
		prepare: func(_ context.Context, in *Input, c Case) (func(context.Context) error, *Output, error) {
			w, h := in.Size.W, in.Size.H
			op, e := Morphology(c)
			dst, between := make([]uint8, w*h), []uint8(nil)
			if op == processing.Open || op == processing.Close {
				between = make([]uint8, w*h)
			}
			wide := framedWidth(c)
			f := framed{pix: make([]uint8, wide*h), w: w, h: h, across: wide - w + 1, down: e.Height}
			return func(ctx context.Context) error {
				if between == nil {
					return f.extreme(ctx, dst, in.U8, op == processing.Dilate)
				}
				if err := f.extreme(ctx, between, in.U8, op == processing.Close); err != nil {
					return err
				}
				return f.extreme(ctx, dst, between, op == processing.Open)
			}, &Output{U8: dst}, nil
		},
	}
}

// framed is a picture of w × h pixels whose rows are padded on both sides for an element of across × down pixels, with
// the neutral value of the operation, as in the paper.
type framed struct {
	pix                []uint8
	w, h, across, down int
}

// framedWidth returns the length of framed's rows in a case; an element need not reach further than the picture does.
func framedWidth(c Case) int {
	_, e := Morphology(c)
	return c.Size.W + 2*min(e.Width/2, c.Size.W-1)
}

// extreme writes the dilation or erosion of src. It compares a row with four shifted rows of the element at a time, so
// that the inner loop runs along rows and intermediate results stay in a register for four comparisons.
func (f *framed) extreme(ctx context.Context, dst, src []uint8, dilate bool) error {
	edge, fold := uint8(255), least
	if dilate {
		edge, fold = 0, greatest
	}
	pitch, left := f.w+f.across-1, f.across/2
	for y := range f.h {
		row := f.pix[y*pitch : (y+1)*pitch]
		for x := range left {
			row[x], row[pitch-1-x] = edge, edge
		}
		copy(row[left:], src[y*f.w:(y+1)*f.w])
	}
	return chunks(ctx, 1, f.h, 1, func(y, _ int) {
		row := dst[y*f.w : (y+1)*f.w]
		copy(row, src[y*f.w:])
		// Comparing with a row twice changes nothing, so an incomplete last group is filled up with rows of the
		// previous one.
		four, n := [4][]uint8{row, row, row, row}, 0
		for v := max(y-f.down/2, 0); v <= min(y+f.down/2, f.h-1); v++ {
			for shift := range f.across {
				four[n%4] = f.pix[v*pitch+shift:][:f.w]
				if n++; n%4 == 0 {
					fold(row, &four)
				}
			}
		}
		if n%4 != 0 {
			fold(row, &four)
		}
	})
}

// least and greatest compare a row with four others. They compare whole words, which compiles without branches; noise
// would make branches mispredict.
func least(dst []uint8, with *[4][]uint8) {
	a, b, c, d := with[0][:len(dst)], with[1][:len(dst)], with[2][:len(dst)], with[3][:len(dst)]
	for x, v := range dst {
		dst[x] = uint8(min(uint(v), uint(a[x]), uint(b[x]), uint(c[x]), uint(d[x])))
	}
}

func greatest(dst []uint8, with *[4][]uint8) {
	a, b, c, d := with[0][:len(dst)], with[1][:len(dst)], with[2][:len(dst)], with[3][:len(dst)]
	for x, v := range dst {
		dst[x] = uint8(max(uint(v), uint(a[x]), uint(b[x]), uint(c[x]), uint(d[x])))
	}
}

// morphRows is the reference for rows y0 … y1−1: the extremes of the columns, then of the rows, pixel by pixel.
func morphRows(ctx context.Context, in *Input, op processing.MorphOp, e processing.Element, y0, y1 int) []uint8 {
	w, h := in.Size.W, in.Size.H
	at := func(y int) []uint8 { return in.U8[y*w : (y+1)*w] }
	if op == processing.Open || op == processing.Close {
		top, bottom := max(y0-e.Height/2, 0), min(y1+e.Height/2, h)
		first := extremeRows(ctx, at, w, h, e, top, bottom, op == processing.Close)
		if ctx.Err() != nil {
			return nil
		}
		at = func(y int) []uint8 { return first[(y-top)*w : (y-top+1)*w] }
	}
	return extremeRows(ctx, at, w, h, e, y0, y1, op == processing.Dilate || op == processing.Open)
}

// extremeRows inverts the order for an erosion, which turns it into a dilation.
func extremeRows(ctx context.Context, at func(y int) []uint8, w, h int, e processing.Element, y0, y1 int,
	dilate bool) []uint8 {
	flip := uint(255)
	if dilate {
		flip = 0
	}
	out := make([]uint8, 0, (y1-y0)*w)
	column := make([]uint, w)
	for y := y0; y < y1 && ctx.Err() == nil; y++ {
		clear(column)
		for v := max(y-e.Height/2, 0); v <= min(y+e.Height/2, h-1); v++ {
			for x, p := range at(v) {
				column[x] = max(column[x], uint(p)^flip)
			}
		}
		for x := range w {
			var best uint
			for _, p := range column[max(x-e.Width/2, 0) : min(x+e.Width/2, w-1)+1] {
				best = max(best, p)
			}
			out = append(out, uint8(best^flip))
		}
	}
	return out
}
