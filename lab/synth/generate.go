package synth

import (
	"context"

	"blik/processing"
)

// Generate paints a picture and renders glare on it: Paint followed by RenderGlare, both with the given seed instead of
// those in their options. If the glare options add noise, the painting itself is made without noise.
func Generate(
	ctx context.Context, w, h, depth int, seed uint64, paint PaintOptions, glare GlareOptions,
) (*processing.Picture, *processing.Mask, Stats, error) {
	paint.Seed, glare.Seed = seed, seed
	paint.Noiseless = paint.Noiseless || glare.NoiseGain > 0 || glare.NoiseRead > 0
	clean, err := Paint(ctx, w, h, depth, paint)
	if err != nil {
		return nil, nil, Stats{}, err
	}
	return RenderGlare(ctx, clean, glare)
}
