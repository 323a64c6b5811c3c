package experiment

import (
	"context"
	"math"

	"blik/internal/message"
	"blik/internal/parallel"
)

// gaussRadius is the radius of the paper's filter.
const gaussRadius = 5

// GaussTaps returns the taps of a Gaussian of radius 5 (σ = 5/3) at distances 0 … 5 in 1/65536; all eleven add up to 1.
func GaussTaps() (t [gaussRadius + 1]uint32) {
	const sigma = gaussRadius / 3.0
	var weight [gaussRadius + 1]float64
	var sum float64
	for d := range weight {
		weight[d] = math.Exp(-float64(d*d) / (2 * sigma * sigma))
		if sum += weight[d]; d > 0 {
			sum += weight[d]
		}
	}
	t[0] = 1 << 16
	for d := 1; d < len(t); d++ {
		t[d] = uint32(math.Round(weight[d] / sum * (1 << 16)))
		t[0] -= 2 * t[d]
	}
	return t
}

// traversal is a Gaussian in two passes, vertical then horizontal, each rounded to 8 bits; pixels outside the picture
// repeat its edge.
func traversal() *Experiment {
	powers := []Size{{512, 512}, {1024, 1024}, {2048, 2048}, {4096, 4096}, {8192, 8192}}
	return &Experiment{
		ID:   "traversal",
		Name: message.Of("Order of traversal"),
		Question: message.Of("Does visiting pixels along the Hilbert curve speed up a convolution, and what does " +
			"computing the order cost?"),
		Result: message.Of("Gaussian of radius 5 (σ = 5/3) with taps in 1/65536, each pass rounded to 8 bits; " +
			"identical to the reference. Sizes that are not a power of two use the curve of the next power and " +
			"skip the points outside."),
		Paper: Paper{
			Setup: message.Of("Gaussian of radius 5, two passes, 512² to 4096², OpenCL on Radeon 7660D (no memory of " +
				"its own) and 8670M (1 GB)."),
			Head: []message.Message{message.Of("measure"), message.Of("raster"), message.Of("Hilbert")},
			Rows: [][]message.Message{
				paperRow("KB written, vertical pass", "11090", "1032"),
				paperRow("KB written, horizontal pass", "12073", "1024"),
				paperRow("cache hits, vertical pass", "85.7 %", "54.9 %"),
				paperRow("cache hits, horizontal pass", "86.5 %", "56.1 %"),
			},
			Found: message.Of("With memory shared with the host, fast Hilbert is as fast as fast raster despite its " +
				"arithmetic; with device memory, fast raster is 2.5 × faster."),
		},
		Params: []Param{{
			ID: "memory", Name: message.Of("Memory"),
			Help:   message.Of("memory of a GPU: its own, or the host's mapped into it"),
			Values: []string{"device", "mapped"},
		}},
		Grids: []Grid{
			{Sizes: append(powers, Size{1000, 1500}, Size{3000, 3000}),
				Values: map[string][]string{"memory": {"device", "mapped"}}},
		},
		Quick: []Grid{{Sizes: []Size{{1024, 1024}, {1000, 700}},
			Values: map[string][]string{"memory": {"device", "mapped"}}}},
		Variants:   traversalVariants(),
		Claims:     traversalClaims(),
		shape:      pictures,
		input:      planeInput,
		inputBytes: func(c Case) int64 { return 2 * int64(c.Size.Samples()) },
		check: func(ctx context.Context, in *Input, c Case, _ Variant, out Output) (Check, error) {
			return compareRows(ctx, in, c, out, 4*gaussRadius+2, 0,
				func(y0, y1 int) []uint8 { return gaussRows(in, y0, y1) })
		},
	}
}

func traversalVariants() []Variant {
	gpuOnly := []string{"memory"}
	return []Variant{
		{ID: "cpu-raster-memory", Device: CPU, Ignores: gpuOnly, Name: message.Of("CPU raster order from memory"),
			Help: message.Of("coordinates read from a list in raster order, all threads"),
			Method: orderMethod(true, func(ctx context.Context, b *blur) walk {
				return b.alongList(RasterOrder(ctx, b.w, b.h))
			})},
		{ID: "cpu-hilbert-memory", Device: CPU, Ignores: gpuOnly, Name: message.Of("CPU Hilbert order from memory"),
			Help: message.Of("coordinates read from a list along the curve, all threads"),
			Method: orderMethod(true, func(ctx context.Context, b *blur) walk {
				return b.alongList(HilbertOrder(ctx, b.w, b.h))
			})},
		{ID: "cpu-raster-fast", Device: CPU, Ignores: gpuOnly, Name: message.Of("CPU fast raster"),
			Help:   message.Of("loops over bands of rows, all threads"),
			Method: orderMethod(false, func(_ context.Context, b *blur) walk { return b.alongRows })},
		{ID: "cpu-hilbert-fast", Device: CPU, Ignores: gpuOnly, Name: message.Of("CPU fast Hilbert"),
			Help:   message.Of("coordinates computed from the distance along the curve, pixel by pixel, all threads"),
			Method: orderMethod(false, func(_ context.Context, b *blur) walk { return b.alongCurve })},
		{ID: "cpu-hilbert-tiles", Device: CPU, Ignores: gpuOnly, Name: message.Of("CPU Hilbert order of tiles"),
			Help:   message.Of("tiles of 64 × 64 pixels along the curve, rows inside, all threads"),
			Method: orderMethod(false, func(_ context.Context, b *blur) walk { return b.alongTiles })},
		{ID: "gpu-raster-memory", Device: GPU, Name: message.Of("GPU raster order from memory"),
			Help: message.Of("one thread per pixel, its coordinates read from a list in the same memory")},
		{ID: "gpu-hilbert-memory", Device: GPU, Name: message.Of("GPU Hilbert order from memory"),
			Help: message.Of("one thread per pixel, its coordinates read from a list along the curve in the same " +
				"memory")},
		{ID: "gpu-raster-fast-4", Device: GPU, Name: message.Of("GPU fast raster, 4 pixels"),
			Help: message.Of("index from the scheduler; a thread filters a vector of 4 pixels in the vertical pass, " +
				"one in the horizontal")},
		{ID: "gpu-raster-fast-16", Device: GPU, Name: message.Of("GPU fast raster, 16 pixels"),
			Help: message.Of("the same with 16 pixels")},
		{ID: "gpu-hilbert-fast", Device: GPU, Name: message.Of("GPU fast Hilbert"),
			Help: message.Of("coordinates computed in the kernel from the thread's index along the curve")},
	}
}

func traversalClaims() []Claim {
	return []Claim{
		{Text: message.Of("fast Hilbert against fast raster in device memory"), Paper: 2.5,
			measure: between("gpu-hilbert-fast", "gpu-raster-fast-4", having("memory", "device")), judge: near,
			missing: onGPU()},
		{Text: message.Of("fast Hilbert is as fast as fast raster in host memory"), Paper: 1,
			measure: between("gpu-hilbert-fast", "gpu-raster-fast-16", having("memory", "mapped")), judge: equal,
			missing: onGPU()},
		{Text: message.Of("fast Hilbert against fast raster on the CPU with its own memory (the paper: GPU)"),
			Paper:   2.5,
			measure: between("cpu-hilbert-fast", "cpu-raster-fast", nil), judge: near, missing: moreCases()},
	}
}

// blur filters pictures of one size.
type blur struct {
	w, h int
	taps [gaussRadius + 1]uint32
}

// walk filters all pixels of src in its own order, along the columns or along the rows.
type walk func(ctx context.Context, dst, src []uint8, vertical bool) error

// pixel filters the sample at index at, which is number i of a line of n samples that are step apart.
func (b *blur) pixel(src []uint8, at, i, n, step int) uint8 {
	sum := uint32(1<<15) + b.taps[0]*uint32(src[at])
	if i >= gaussRadius && i < n-gaussRadius {
		for d := 1; d <= gaussRadius; d++ {
			sum += b.taps[d] * (uint32(src[at-d*step]) + uint32(src[at+d*step]))
		}
	} else {
		for d := 1; d <= gaussRadius; d++ {
			sum += b.taps[d] * (uint32(src[at-min(d, i)*step]) + uint32(src[at+min(d, n-1-i)*step]))
		}
	}
	return uint8(sum >> 16)
}

// visit filters pixel (x, y).
func (b *blur) visit(dst, src []uint8, x, y int, vertical bool) {
	at := y*b.w + x
	if vertical {
		dst[at] = b.pixel(src, at, y, b.h, b.w)
	} else {
		dst[at] = b.pixel(src, at, x, b.w, 1)
	}
}

// part is the number of pixels that a goroutine processes at a time.
const part = 1 << 14

// orderMethod filters in the order of a walk, which order returns; lists says that the walk holds a list of all pixels.
func orderMethod(lists bool, order func(ctx context.Context, b *blur) walk) Method {
	return plain{
		memory: func(c Case) int64 {
			n := 2 * int64(c.Size.Samples())
			if lists {
				n += 4 * int64(c.Size.Samples())
			}
			return n
		},
		operations: func(c Case) float64 { return 2 * (2*gaussRadius + 1) * float64(c.Size.Samples()) },
		prepare: func(ctx context.Context, in *Input, _ Case) (func(context.Context) error, *Output, error) {
			w, h := in.Size.W, in.Size.H
			if err := CheckOrder(in.Size); err != nil {
				return nil, nil, err
			}
			b := &blur{w: w, h: h, taps: GaussTaps()}
			between, dst := make([]uint8, w*h), make([]uint8, w*h)
			visit := order(ctx, b)
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			return func(ctx context.Context) error {
				if err := visit(ctx, between, in.U8, true); err != nil {
					return err
				}
				return visit(ctx, dst, between, false)
			}, &Output{U8: dst}, nil
		},
	}
}

// alongList visits the pixels of a list, with x in the low and y in the high 16 bits.
func (b *blur) alongList(list []uint32) walk {
	return func(ctx context.Context, dst, src []uint8, vertical bool) error {
		return parallel.Chunks(ctx, len(list), part, func(i, j int) {
			for _, p := range list[i:j] {
				b.visit(dst, src, int(p&0xffff), int(p>>16), vertical)
			}
		})
	}
}

func (b *blur) alongCurve(ctx context.Context, dst, src []uint8, vertical bool) error {
	c := newCurve(b.w, b.h)
	return parallel.Chunks(ctx, c.positions(), part, func(i, j int) {
		c.visit(i, j, func(x, y int) { b.visit(dst, src, x, y, vertical) })
	})
}

func (b *blur) alongRows(ctx context.Context, dst, src []uint8, vertical bool) error {
	return parallel.Chunks(ctx, b.h, max(1, part/b.w), func(i, j int) {
		for y := i; y < j; y++ {
			b.row(dst, src, 0, b.w, y, vertical)
		}
	})
}

// tileSide is the side of the tiles that alongTiles visits along the curve.
const tileSide = 64

func (b *blur) alongTiles(ctx context.Context, dst, src []uint8, vertical bool) error {
	c := newCurve((b.w+tileSide-1)/tileSide, (b.h+tileSide-1)/tileSide)
	return parallel.Chunks(ctx, c.positions(), part/(tileSide*tileSide), func(i, j int) {
		c.visit(i, j, func(tx, ty int) {
			x0, y0 := tx*tileSide, ty*tileSide
			for y := y0; y < min(y0+tileSide, b.h); y++ {
				b.row(dst, src, x0, min(x0+tileSide, b.w), y, vertical)
			}
		})
	})
}

// row filters columns x0 … x1−1 of a row.
func (b *blur) row(dst, src []uint8, x0, x1, y int, vertical bool) {
	out := dst[y*b.w+x0 : y*b.w+x1]
	n := len(out)
	if vertical {
		line := func(d int) []uint8 {
			v := min(max(y+d, 0), b.h-1)
			return src[v*b.w+x0:][:n]
		}
		t := b.taps
		m := line(0)
		a1, a2, a3, a4, a5 := line(-1), line(-2), line(-3), line(-4), line(-5)
		b1, b2, b3, b4, b5 := line(1), line(2), line(3), line(4), line(5)
		for i := range out {
			sum := 1<<15 + t[0]*uint32(m[i]) +
				t[1]*(uint32(a1[i])+uint32(b1[i])) + t[2]*(uint32(a2[i])+uint32(b2[i])) +
				t[3]*(uint32(a3[i])+uint32(b3[i])) +
				t[4]*(uint32(a4[i])+uint32(b4[i])) + t[5]*(uint32(a5[i])+uint32(b5[i]))
			out[i] = uint8(sum >> 16)
		}
		return
	}
	line := src[y*b.w : (y+1)*b.w]
	t := b.taps
	for i := range out {
		x := x0 + i
		if x < gaussRadius || x >= b.w-gaussRadius {
			out[i] = b.pixel(line, x, x, b.w, 1)
			continue
		}
		s := (*[2*gaussRadius + 1]uint8)(line[x-gaussRadius:])
		sum := 1<<15 + t[0]*uint32(s[5]) +
			t[1]*(uint32(s[4])+uint32(s[6])) + t[2]*(uint32(s[3])+uint32(s[7])) + t[3]*(uint32(s[2])+uint32(s[8])) +
			t[4]*(uint32(s[1])+uint32(s[9])) + t[5]*(uint32(s[0])+uint32(s[10]))
		out[i] = uint8(sum >> 16)
	}
}

// gaussRows is the reference for rows y0 … y1−1: all eleven products for every pixel, with coordinates clamped to the
// picture.
func gaussRows(in *Input, y0, y1 int) []uint8 {
	w, h, t := in.Size.W, in.Size.H, GaussTaps()
	hold := func(i, n int) int { return min(max(i, 0), n-1) }
	out := make([]uint8, 0, (y1-y0)*w)
	row := make([]uint8, w)
	for y := y0; y < y1; y++ {
		for x := range row {
			sum := uint32(1 << 15)
			for d := -gaussRadius; d <= gaussRadius; d++ {
				sum += t[max(d, -d)] * uint32(in.U8[hold(y+d, h)*w+x])
			}
			row[x] = uint8(sum >> 16)
		}
		for x := range row {
			sum := uint32(1 << 15)
			for d := -gaussRadius; d <= gaussRadius; d++ {
				sum += t[max(d, -d)] * uint32(row[hold(x+d, w)])
			}
			out = append(out, uint8(sum>>16))
		}
	}
	return out
}
