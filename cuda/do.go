//go:build cuda && linux && amd64

package cuda

import (
	"context"

	"blik/processing"
)

// Do carries out an operation.
func (b *Backend) Do(ctx context.Context, op processing.Op) (err error) {
	if err := processing.Check(b, op); err != nil {
		return err
	}
	switch o := op.(type) {
	case processing.Luminance:
		err = b.luminance(ctx, o)
	case processing.BoxMean:
		err = b.boxMean(ctx, o)
	case processing.MeanVariance:
		err = b.meanVariance(ctx, o)
	case processing.GuardRing:
		err = b.guardRing(ctx, o)
	case processing.Background:
		err = b.background(ctx, o)
	case processing.Deviation:
		err = b.deviation(ctx, o)
	case processing.BoxCount:
		err = b.boxCount(ctx, o)
	case processing.Contrast:
		err = b.contrast(ctx, o)
	case processing.Cores:
		err = b.cores(ctx, o)
	case processing.DifferenceThreshold:
		err = b.differenceThreshold(ctx, o)
	case processing.Morph:
		err = b.morph(ctx, o)
	case processing.FillHoles:
		err = b.fillHoles(ctx, o)
	case processing.Gaussian:
		err = b.gaussian(ctx, o)
	case processing.WaveletTransform:
		err = b.waveletTransform(ctx, o)
	case processing.InverseWavelet:
		err = b.inverseWavelet(ctx, o)
	case processing.StarletBand:
		err = b.starletBand(ctx, o)
	case processing.Gather:
		err = b.gather(ctx, o)
	case processing.Histogram:
		*o.Out, err = b.histogram(ctx, o)
	case processing.NoiseTiles:
		*o.Out, err = b.noiseTiles(ctx, o)
	case processing.SumMoments:
		*o.Out, err = b.sumMoments(ctx, o)
	case processing.Label:
		*o.Out, err = b.label(ctx, o)
	case processing.Grow:
		*o.Out, err = b.grow(ctx, o)
	case processing.FilterComponents:
		err = b.filterComponents(ctx, o)
	case processing.Rasterize:
		err = b.rasterize(ctx, o)
	case processing.Spans:
		*o.Out, err = b.spans(ctx, o)
	case processing.MeasureRegions:
		*o.Out, err = b.measureRegions(ctx, o)
	case processing.Convolve:
		err = b.convolve(ctx, o)
	case processing.Harmonic:
		err = b.harmonic(ctx, o)
	case processing.Biharmonic:
		err = b.biharmonic(ctx, o)
	case processing.Detail:
		err = b.detail(ctx, o)
	case processing.Separate:
		err = b.separate(ctx, o)
	default:
		err = processing.Unsupported(b, op)
	}
	return err
}
