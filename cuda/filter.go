//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"fmt"
	"math"
	"slices"

	"blik/processing"
)

// maxSigma bounds the kernel, whose cost grows with sigma.
const maxSigma = 1000

// Gaussian blurs with standard deviation sigma (at most 1000).
func (b *Backend) Gaussian(ctx context.Context, dst, src processing.Plane, sigma float64) error {
	a := b.args("gaussian")
	d := a.plane("destination", dst, processing.U8, processing.U16, processing.F32)
	s := a.plane("source", src, processing.U8, processing.U16, processing.F32)
	a.same(d, s)
	a.apart(d, s)
	if !(sigma >= 0 && sigma <= maxSigma) {
		a.fail("standard deviation %v: must be between 0 and %d", sigma, maxSigma)
	}
	if a.err != nil {
		return a.err
	}
	taps := gaussianTaps(sigma)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		r := len(taps) - 1
		if r == 0 {
			return q.duplicate(d, s)
		}
		list, err := q.constants(bytesOf(taps))
		if err != nil {
			return err
		}
		kind := kindName(d.kind)
		if d.kind != processing.F32 && r <= blurRadius {
			const width = blurThreads - 2*((blurRadius+3)/4*4)
			grid := dim{(d.w + width - 1) / width, (d.h + blurRows - 1) / blurRows}
			return q.launch("blur5"+kind, grid, dim{x: blurThreads}, d, s, list, r, d.w, d.h)
		}
		columns, err := q.plane(processing.F32, d.w, d.h)
		if err != nil {
			return err
		}
		if err := q.pixels("gaussColumns"+kind, d.w, d.h, columns, s, list, r); err != nil {
			return err
		}
		return q.pixels("gaussRows"+kind, d.w, d.h, d, columns, list, r)
	})
}

// blurThreads and blurRows are those of filter.cu; blurRadius is the largest radius of its kernels blur5.
const (
	blurRadius  = 5
	blurThreads = 256
	blurRows    = 16
)

// gaussianTaps returns the weights of the middle tap and of each pair of taps beside it; all 2r+1 of them add up to 1.
func gaussianTaps(sigma float64) []float32 {
	r := int(math.Ceil(3 * sigma))
	exact := make([]float64, r+1)
	total := 0.0
	for i := r; i >= 0; i-- {
		exact[i] = 1
		if i > 0 {
			exact[i] = math.Exp(-float64(i*i) / (2 * sigma * sigma))
			total += exact[i]
		}
		total += exact[i]
	}
	taps := make([]float32, r+1)
	for i, e := range exact {
		taps[i] = float32(e / total)
	}
	return taps
}

// wavelet holds the taps of an orthogonal wavelet, placed as in processing/cpu: coefficient i is the sum over k of
// tap[k]·x[2i−2+k]. With brief the first two are 0.
type wavelet struct {
	low, high [4]float32
	brief     int
}

func waveletOf(wave processing.Wavelet) (wavelet, error) {
	switch wave {
	case processing.Haar:
		c := float32(math.Sqrt2 / 2)
		return wavelet{low: [4]float32{0, 0, c, c}, high: [4]float32{0, 0, c, -c}, brief: 1}, nil
	case processing.Daubechies4:
		s, n := math.Sqrt(3), 4*math.Sqrt2
		h := [4]float32{float32((1 + s) / n), float32((3 + s) / n), float32((3 - s) / n), float32((1 - s) / n)}
		return wavelet{low: h, high: [4]float32{h[3], -h[2], h[1], -h[0]}}, nil
	}
	return wavelet{}, fmt.Errorf("unknown wavelet %d", wave)
}

func cells(args []any, taps ...float32) []any {
	for _, t := range taps {
		args = append(args, t)
	}
	return args
}

// forward are the arguments of the kernels of the transform.
func (f *wavelet) forward(args ...any) []any {
	args = cells(args, f.low[:]...)
	args = cells(args, f.high[:]...)
	return append(args, f.brief)
}

// backward are those of its inverse.
func (f *wavelet) backward(args ...any) []any {
	for odd := range 2 {
		args = cells(args, f.low[2+odd], f.high[2+odd], f.low[odd], f.high[odd])
	}
	return append(args, 1/(f.high[2]-f.high[3]), f.brief)
}

// Wavelet writes one level of the transform, rows first, then columns.
func (b *Backend) Wavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	a := b.args("wavelet")
	d := a.plane("destination", dst, processing.F32)
	s := a.plane("source", src, processing.U8, processing.U16, processing.F32)
	a.apart(d, s)
	f, err := waveletOf(wave)
	if err != nil {
		a.fail("%v", err)
	}
	if a.err != nil {
		return a.err
	}
	w, h := a.w, a.h
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		const pairs = 16 // wavePairs of filter.cu
		wide, tall := (w+1)/2, (h+1)/2
		grid := dim{(wide + 127) / 128, (tall + pairs - 1) / pairs}
		return q.launch("wavelet"+kindName(s.kind), grid, dim{x: 128}, append(f.forward(d, s), w, h)...)
	})
}

// InverseWavelet undoes Wavelet, columns first.
func (b *Backend) InverseWavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	a := b.args("inverse wavelet")
	d := a.plane("destination", dst, processing.F32)
	s := a.plane("source", src, processing.F32)
	a.apart(d, s)
	f, err := waveletOf(wave)
	if err != nil {
		a.fail("%v", err)
	}
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		columns, err := q.plane(processing.F32, a.w, a.h)
		if err != nil {
			return err
		}
		if err := q.pixels("unwaveColumns", a.w, a.h, f.backward(columns, s)...); err != nil {
			return err
		}
		return q.pixels("unwaveRows", a.w, a.h, f.backward(d, columns)...)
	})
}

// maxStarlet bounds the bands; the filter of the last one is wider than any picture.
const maxStarlet = 24

// Starlet writes the first len(bands) bands and what is left of src. Planes may not be given twice.
func (b *Backend) Starlet(ctx context.Context, bands []processing.Plane, smooth, src processing.Plane) error {
	a := b.args("starlet")
	s := a.plane("source", src, processing.U8, processing.U16, processing.F32)
	outs := make([]*plane, len(bands), len(bands)+1)
	for i, p := range bands {
		outs[i] = a.plane(fmt.Sprintf("band %d", i+1), p, processing.F32)
	}
	last := a.plane("smooth", smooth, processing.F32)
	if len(bands) > maxStarlet {
		a.fail("%d bands: at most %d", len(bands), maxStarlet)
	}
	if a.err != nil {
		return a.err
	}
	outs = append(outs, last)
	for i, p := range outs {
		a.apart(p, s)
		if slices.Contains(outs[:i], p) {
			a.fail("destination and source are the same plane")
		}
	}
	if a.err != nil {
		return a.err
	}
	w, h := a.w, a.h
	return b.run(ctx, func(q *queue) error {
		q.writes(outs...)
		columns, err := q.plane(processing.F32, w, h)
		if err != nil {
			return err
		}
		if err := q.pixels("float"+kindName(s.kind), w, h, outs[0], s); err != nil {
			return err
		}
		for j := range bands {
			if err := q.pixels("splineColumnsF32", w, h, columns, outs[j], 1<<j); err != nil {
				return err
			}
			if err := q.pixels("splineRowsF32", w, h, outs[j+1], columns, 1<<j); err != nil {
				return err
			}
		}
		for j := range bands {
			if err := q.pixels("subtractF32", w, h, outs[j], outs[j], outs[j+1]); err != nil {
				return err
			}
		}
		return nil
	})
}

// StarletBand writes the positive part of a band of the starlet transform of src (U8) in 1/256 grey levels, rounded
// down. All is integer: the smooth plane of level j is exact in 1/256^j, at most 32 bits at level 3.
func (b *Backend) StarletBand(ctx context.Context, dst, src processing.Plane, level int) error {
	a := b.args("starlet band")
	d := a.plane("destination", dst, processing.U16)
	s := a.plane("source", src, processing.U8)
	if level < 1 || level > 3 {
		a.fail("level %d: must be 1, 2 or 3", level)
	}
	if a.err != nil {
		return a.err
	}
	w, h := a.w, a.h
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		if level == 2 {
			// bandThreads and bandRows of filter.cu.
			const width, rows = 256 - 2*8, 16
			return q.launch("bandTwo", dim{(w + width - 1) / width, (h + rows - 1) / rows}, dim{x: 256}, d, s, w, h)
		}
		// Each smoothing but the last gives a plane.
		fine := s
		for j := range level - 1 {
			smooth, err := q.plane(processing.U32, w, h)
			if err != nil {
				return err
			}
			if err := q.pixels("smooth"+kindName(fine.kind), w, h, smooth, fine, 1<<j); err != nil {
				return err
			}
			fine = smooth
		}
		return q.pixels("band"+kindName(fine.kind), w, h, d, fine, 1<<(level-1), 8*(level-1))
	})
}
