//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"math"

	"blik/processing"
	"blik/processing/args"
)

// Gaussian blurs with standard deviation sigma (at most 1000).
func (b *Backend) Gaussian(ctx context.Context, dst, src processing.Plane, sigma float64) error {
	if err := args.Gaussian(b, dst, src, sigma); err != nil {
		return err
	}
	d, s := dst.(*plane), src.(*plane)
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
		kind := d.kind.String()
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

func waveletOf(wave processing.Wavelet) wavelet {
	if wave == processing.Haar {
		c := float32(math.Sqrt2 / 2)
		return wavelet{low: [4]float32{0, 0, c, c}, high: [4]float32{0, 0, c, -c}, brief: 1}
	}
	s, n := math.Sqrt(3), 4*math.Sqrt2
	h := [4]float32{float32((1 + s) / n), float32((3 + s) / n), float32((3 - s) / n), float32((1 - s) / n)}
	return wavelet{low: h, high: [4]float32{h[3], -h[2], h[1], -h[0]}}
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
	if err := args.Wavelet(b, dst, src, wave); err != nil {
		return err
	}
	d, s, f := dst.(*plane), src.(*plane), waveletOf(wave)
	w, h := d.w, d.h
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		const pairs = 16 // wavePairs of filter.cu
		wide, tall := (w+1)/2, (h+1)/2
		grid := dim{(wide + 127) / 128, (tall + pairs - 1) / pairs}
		return q.launch("wavelet"+s.kind.String(), grid, dim{x: 128}, append(f.forward(d, s), w, h)...)
	})
}

// InverseWavelet undoes Wavelet, columns first.
func (b *Backend) InverseWavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	if err := args.InverseWavelet(b, dst, src, wave); err != nil {
		return err
	}
	d, s, f := dst.(*plane), src.(*plane), waveletOf(wave)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		columns, err := q.plane(processing.F32, d.w, d.h)
		if err != nil {
			return err
		}
		if err := q.pixels("unwaveColumns", d.w, d.h, f.backward(columns, s)...); err != nil {
			return err
		}
		return q.pixels("unwaveRows", d.w, d.h, f.backward(d, columns)...)
	})
}

// Starlet writes the first len(bands) bands and what is left of src. Planes may not be given twice.
func (b *Backend) Starlet(ctx context.Context, bands []processing.Plane, smooth, src processing.Plane) error {
	if err := args.Starlet(b, bands, smooth, src); err != nil {
		return err
	}
	s := src.(*plane)
	outs := make([]*plane, 0, len(bands)+1)
	for _, p := range bands {
		outs = append(outs, p.(*plane))
	}
	outs = append(outs, smooth.(*plane))
	w, h := s.w, s.h
	return b.run(ctx, func(q *queue) error {
		q.writes(outs...)
		columns, err := q.plane(processing.F32, w, h)
		if err != nil {
			return err
		}
		if err := q.pixels("float"+s.kind.String(), w, h, outs[0], s); err != nil {
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
	if err := args.StarletBand(b, dst, src, level); err != nil {
		return err
	}
	d, s := dst.(*plane), src.(*plane)
	w, h := d.w, d.h
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
			if err := q.pixels("smooth"+fine.kind.String(), w, h, smooth, fine, 1<<j); err != nil {
				return err
			}
			fine = smooth
		}
		return q.pixels("band"+fine.kind.String(), w, h, d, fine, 1<<(level-1), 8*(level-1))
	})
}
