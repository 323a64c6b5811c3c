package banded

import (
	"context"
	"math"
	"slices"

	"blik/processing"
	"blik/processing/args"
)

// Upload copies host samples into dst.
func (b *Backend) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	if err := args.Upload(b, dst, src); err != nil {
		return err
	}
	p := planes(dst)
	return b.onHost(ctx, operation{writes: p, run: func(ctx context.Context, on *site) error {
		return on.Upload(ctx, on.of(p[0]), src)
	}})
}

// Host returns the samples of p themselves.
func (b *Backend) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	if err := args.Host(b, p); err != nil {
		return processing.Samples{}, err
	}
	return b.samples(ctx, p.(*plane))
}

// Gather returns src at the given pixel indices; an index outside the plane is an error.
func (b *Backend) Gather(ctx context.Context, dst []uint32, src processing.Plane, index []uint32) error {
	if err := args.Gather(b, dst, src, index); err != nil {
		return err
	}
	p := planes(src)
	s := p[0]
	if len(index) == 0 {
		return ctx.Err()
	}
	if s.content == nil || s.content.stored != nil {
		return b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) error { return on.Gather(ctx, dst, on.of(s), index) }})
	}
	// A few values of a plane that is not there yet are fetched without the plane.
	return b.onBands(ctx, operation{reads: p, run: func(ctx context.Context, on *site) error {
		var places []int
		var inside []uint32
		for i, at := range index {
			if y := int(at) / s.w; y >= on.from && y < on.to {
				places = append(places, i)
				inside = append(inside, at-uint32(on.top*s.w))
			}
		}
		found := make([]uint32, len(inside))
		if err := on.Gather(ctx, found, on.of(s), inside); err != nil {
			return err
		}
		for i, k := range places {
			dst[k] = found[i]
		}
		return nil
	}})
}

// Luma writes the two planes that detection works on. It does not wait, as the picture may change after it.
func (b *Backend) Luma(ctx context.Context, y, v processing.Plane, pic *processing.Picture, t *processing.LumaTables) error {
	if err := args.Luma(b, y, v, pic, t); err != nil {
		return err
	}
	p := planes(y, v)
	return b.now(ctx, operation{writes: p, run: func(ctx context.Context, on *site) error {
		return on.Luma(ctx, on.of(p[0]), on.of(p[1]), rowsOf(pic, on.top, on.base), t)
	}})
}

// rowsOf is the part of a picture from row top up to row base, which is not in it.
func rowsOf(pic *processing.Picture, top, base int) *processing.Picture {
	band := *pic
	band.Height = base - top
	i, j := top*pic.Width*pic.Channels, base*pic.Width*pic.Channels
	band.U8, band.U16, band.F32 = piece(pic.U8, i, j), piece(pic.U16, i, j), piece(pic.F32, i, j)
	return &band
}

// Morph applies op with element e; dst may be src.
func (b *Backend) Morph(ctx context.Context, dst, src processing.Plane, op processing.MorphOp, e processing.Element) error {
	if err := args.Morph(b, dst, src, op, e); err != nil {
		return err
	}
	p := planes(dst, src)
	reach := e.Size / 2
	switch e.Direction {
	case processing.Rectangle:
		reach = e.Size2 / 2
	case processing.Horizontal:
		reach = 0
	}
	if op != processing.Erode && op != processing.Dilate {
		// An erosion and a dilation, one after the other.
		reach *= 2
	}
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], reach: reach, run: func(ctx context.Context, on *site) error {
		return on.Morph(ctx, on.of(p[0]), on.of(p[1]), op, e)
	}})
}

// BoxMean writes the rounded mean over the window of radius r.
func (b *Backend) BoxMean(ctx context.Context, dst, src processing.Plane, r int) error {
	if err := args.BoxMean(b, dst, src, r); err != nil {
		return err
	}
	p := planes(dst, src)
	o := operation{reads: p[1:], writes: p[:1], reach: r, run: func(ctx context.Context, on *site) error {
		return on.BoxMean(ctx, on.of(p[0]), on.of(p[1]), r)
	}}
	if p[0].kind == processing.F32 {
		// Floats are added in blocks of the window's side, counted from the first row.
		o.align = 2*min(r, p[0].h-1) + 1
	}
	return b.later(ctx, o)
}

// MeanVariance writes mean and population variance of the window of radius r.
func (b *Backend) MeanVariance(ctx context.Context, mean, variance, src processing.Plane, r int) error {
	if err := args.MeanVariance(b, mean, variance, src, r); err != nil {
		return err
	}
	p := planes(mean, variance, src)
	return b.later(ctx, operation{reads: p[2:], writes: p[:2], reach: r, run: func(ctx context.Context, on *site) error {
		return on.MeanVariance(ctx, on.of(p[0]), on.of(p[1]), on.of(p[2]), r)
	}})
}

// GuardRing writes the z-score of the window of radius core against the ring between guard and outer.
func (b *Backend) GuardRing(ctx context.Context, z, src processing.Plane, core, guard, outer int, noise float64) error {
	if err := args.GuardRing(b, z, src, core, guard, outer, noise); err != nil {
		return err
	}
	p := planes(z, src)
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], reach: outer, run: func(ctx context.Context, on *site) error {
		return on.GuardRing(ctx, on.of(p[0]), on.of(p[1]), core, guard, outer, noise)
	}})
}

// Background writes the mean of y over the pixels of a window that exclude leaves.
func (b *Backend) Background(ctx context.Context, dst, y, exclude processing.Plane, radii []int) error {
	if err := args.Background(b, dst, y, exclude, radii); err != nil {
		return err
	}
	p := planes(dst, y, exclude)
	radii = slices.Clone(radii)
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], reach: radii[len(radii)-1], run: func(ctx context.Context, on *site) error {
		return on.Background(ctx, on.of(p[0]), on.of(p[1]), on.of(p[2]), radii)
	}})
}

// Deviation writes the standard deviation of y over the pixels of the window that exclude leaves.
func (b *Backend) Deviation(ctx context.Context, dst, y, exclude processing.Plane, r int) error {
	if err := args.Deviation(b, dst, y, exclude, r); err != nil {
		return err
	}
	p := planes(dst, y, exclude)
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], reach: r, run: func(ctx context.Context, on *site) error {
		return on.Deviation(ctx, on.of(p[0]), on.of(p[1]), on.of(p[2]), r)
	}})
}

// BoxCount writes how many pixels of the window of radius r have one of the bits in cls.
func (b *Backend) BoxCount(ctx context.Context, dst, cls processing.Plane, bits uint8, r int) error {
	if err := args.BoxCount(b, dst, cls, r); err != nil {
		return err
	}
	p := planes(dst, cls)
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], reach: r, run: func(ctx context.Context, on *site) error {
		return on.BoxCount(ctx, on.of(p[0]), on.of(p[1]), bits, r)
	}})
}

// Contrast writes the class bits Wide and Seed into cls, and the contrast of seeds into seed.
func (b *Backend) Contrast(ctx context.Context, cls, seed, y, bg, v processing.Plane, rule processing.ContrastRule) error {
	if err := args.Contrast(b, cls, seed, y, bg, v); err != nil {
		return err
	}
	p := planes(cls, seed, y, bg, v)
	return b.later(ctx, operation{reads: p[2:], writes: p[:2], run: func(ctx context.Context, on *site) error {
		return on.Contrast(ctx, on.of(p[0]), on.of(p[1]), on.of(p[2]), on.of(p[3]), on.of(p[4]), rule)
	}})
}

// Cores adds the class bits Core and Grow to cls.
func (b *Backend) Cores(ctx context.Context, cls, y, bg, m processing.Plane, rule processing.CoreRule) error {
	if err := args.Cores(b, cls, y, bg, m); err != nil {
		return err
	}
	p := planes(cls, y, bg, m)
	return b.later(ctx, operation{reads: p, writes: p[:1], run: func(ctx context.Context, on *site) error {
		return on.Cores(ctx, on.of(p[0]), on.of(p[1]), on.of(p[2]), on.of(p[3]), rule)
	}})
}

// Threshold writes 255 where src ≥ level and 0 elsewhere; dst may be src.
func (b *Backend) Threshold(ctx context.Context, dst, src processing.Plane, level uint32) error {
	if err := args.Threshold(b, dst, src); err != nil {
		return err
	}
	p := planes(dst, src)
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], run: func(ctx context.Context, on *site) error {
		return on.Threshold(ctx, on.of(p[0]), on.of(p[1]), level)
	}})
}

// Excess writes 255 where y − bg > over and v ≥ level, else 0.
func (b *Backend) Excess(ctx context.Context, dst, y, bg, v processing.Plane, over uint16, level uint8) error {
	if err := args.Excess(b, dst, y, bg, v); err != nil {
		return err
	}
	p := planes(dst, y, bg, v)
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], run: func(ctx context.Context, on *site) error {
		return on.Excess(ctx, on.of(p[0]), on.of(p[1]), on.of(p[2]), on.of(p[3]), over, level)
	}})
}

// Gaussian blurs with standard deviation sigma.
func (b *Backend) Gaussian(ctx context.Context, dst, src processing.Plane, sigma float64) error {
	if err := args.Gaussian(b, dst, src, sigma); err != nil {
		return err
	}
	p := planes(dst, src)
	reach := int(math.Ceil(min(3*sigma, float64(p[0].h))))
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], reach: reach, run: func(ctx context.Context, on *site) error {
		return on.Gaussian(ctx, on.of(p[0]), on.of(p[1]), sigma)
	}})
}

// Wavelet writes one level of the separable transform.
func (b *Backend) Wavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	if err := args.Wavelet(b, dst, src, wave); err != nil {
		return err
	}
	p := planes(dst, src)
	return b.whole(ctx, operation{reads: p[1:], writes: p[:1], run: func(ctx context.Context, on *site) error {
		return on.Wavelet(ctx, on.of(p[0]), on.of(p[1]), wave)
	}})
}

// InverseWavelet undoes Wavelet.
func (b *Backend) InverseWavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	if err := args.InverseWavelet(b, dst, src, wave); err != nil {
		return err
	}
	p := planes(dst, src)
	return b.whole(ctx, operation{reads: p[1:], writes: p[:1], run: func(ctx context.Context, on *site) error {
		return on.InverseWavelet(ctx, on.of(p[0]), on.of(p[1]), wave)
	}})
}

// Starlet writes the first len(bands) bands and what is left of src.
func (b *Backend) Starlet(ctx context.Context, bands []processing.Plane, smooth, src processing.Plane) error {
	n := len(bands)
	if err := args.Starlet(b, bands, smooth, src); err != nil {
		return err
	}
	p := planes(append(slices.Clone(bands), smooth, src)...)
	return b.later(ctx, operation{reads: p[n+1:], writes: p[:n+1], reach: starletReach(n), run: func(ctx context.Context, on *site) error {
		return on.Starlet(ctx, on.all(p[:n]), on.of(p[n]), on.of(p[n+1]))
	}})
}

// StarletBand writes the positive part of a band of the starlet transform.
func (b *Backend) StarletBand(ctx context.Context, dst, src processing.Plane, level int) error {
	if err := args.StarletBand(b, dst, src, level); err != nil {
		return err
	}
	p := planes(dst, src)
	return b.later(ctx, operation{reads: p[1:], writes: p[:1], reach: starletReach(level), run: func(ctx context.Context, on *site) error {
		return on.StarletBand(ctx, on.of(p[0]), on.of(p[1]), level)
	}})
}

// starletReach is 2 + 4 + … + 2ⁿ: two holes of 2^(j−1) at level j.
func starletReach(levels int) int { return 2<<levels - 2 }

// NoiseTiles returns the noise of each tile of src. What only reads a plane is done on the host: sending it would cost as
// much.
func (b *Backend) NoiseTiles(ctx context.Context, src processing.Plane, tile int) (noise []float64, err error) {
	if err := args.NoiseTiles(b, src, tile); err != nil {
		return nil, err
	}
	p := planes(src)
	err = b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) (err error) {
		noise, err = on.NoiseTiles(ctx, on.of(p[0]), tile)
		return err
	}})
	return noise, err
}

// Histogram counts the values of src where exclude is 0; exclude may be nil.
func (b *Backend) Histogram(ctx context.Context, src, exclude processing.Plane) (bins []uint64, err error) {
	if err := args.Histogram(b, src, exclude); err != nil {
		return nil, err
	}
	list := []processing.Plane{src}
	if exclude != nil {
		list = append(list, exclude)
	}
	p := planes(list...)
	err = b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) (err error) {
		var out processing.Plane
		if len(p) > 1 {
			out = on.of(p[1])
		}
		bins, err = on.Histogram(ctx, on.of(p[0]), out)
		return err
	}})
	return bins, err
}

// Moments sums over src.
func (b *Backend) Moments(ctx context.Context, src processing.Plane) (m processing.Moments, err error) {
	if err := args.Moments(b, src); err != nil {
		return m, err
	}
	p := planes(src)
	err = b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) (err error) {
		m, err = on.Moments(ctx, on.of(p[0]))
		return err
	}})
	return m, err
}
