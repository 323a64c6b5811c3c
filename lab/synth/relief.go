package synth

import (
	"context"
	"fmt"
	"math"

	"blik/processing"
)

// maxReliefPixels bounds the pictures of RenderRelief, because it holds the relief of the whole picture in memory.
const maxReliefPixels = 40_000_000

// RenderRelief returns a copy of pic under lamps that are reflected by the paint, the truth, and statistics of the
// glare. No spots are drawn: the paint has a relief, and a lamp is visible wherever a facet points half way between
// lamp and lens. The light is added in linear light, blurred by the lens and clipped as in a sensor; noise and JPEG
// follow. The truth compares the noiseless rendering with the same picture without lamps, by the rule in the options;
// it holds TruthGlare, TruthUnsure and TruthNone, and the figures count TruthGlare. Without lamps the picture shows the
// painting as altered by the other options.
//
// It returns the context's error if cancelled, and an error for an invalid picture or options.
func RenderRelief(
	ctx context.Context, pic *processing.Picture, o ReliefOptions,
) (*processing.Picture, *processing.Mask, Stats, error) {
	fail := func(err error) (*processing.Picture, *processing.Mask, Stats, error) { return nil, nil, Stats{}, err }
	if err := pic.Validate(); err != nil {
		return fail(fmt.Errorf("render relief: %w", err))
	}
	if err := o.Validate(); err != nil {
		return fail(err)
	}
	switch {
	case pic.Channels > 3:
		return fail(fmt.Errorf("render relief: grey or RGB expected, the picture has %d channels", pic.Channels))
	case pic.Width*pic.Height > maxReliefPixels:
		return fail(fmt.Errorf("render relief: %d × %d is more than %d megapixels",
			pic.Width, pic.Height, maxReliefPixels/1_000_000))
	case o.JPEGQuality > 0 && pic.U8 == nil:
		return fail(fmt.Errorf("render relief: JPEG holds 8-bit samples, the picture has %d bits", pic.Depth()))
	}
	ground := newGround(&o, linearPlane(pic, o.Grey), newCurve(pic.Depth(), pic.Transfer))
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	light := ground.light
	if len(o.Lamps) > 0 {
		var err error
		if light, err = shine(ctx, &o, ground); err != nil {
			return fail(err)
		}
	}
	truth, stats := o.Truth.compare(ground.light, light)
	out, err := develop(light, o.Seed, o.NoiseGain, o.NoiseRead, o.JPEGQuality, pic)
	if err != nil {
		return fail(fmt.Errorf("render relief: %w", err))
	}
	return out, truth, stats, ctx.Err()
}

// develop adds noise to the light, clips it and converts it to the depth and transfer curve of like.
func develop(
	light *plane, seed uint64, gain, read float64, jpegQuality int, like *processing.Picture,
) (*processing.Picture, error) {
	out, err := newPicture(light.w, light.h, light.ch, like.Depth(), like.Transfer)
	if err != nil {
		return nil, err
	}
	g := stream(seed, streamNoise)
	c := newCurve(like.Depth(), like.Transfer)
	n := light.w * light.ch
	row := make([]float32, n)
	for y := range light.h {
		copy(row, light.pix[y*n:])
		if gain > 0 || read > 0 {
			for i, v := range row {
				v = min(max(v, 0), 1)
				row[i] = v + float32(math.Sqrt(gain*float64(v)+read*read)*g.NormFloat64())
			}
		}
		c.encodeRow(out, y, row)
	}
	if jpegQuality > 0 {
		return throughJPEG(out, jpegQuality)
	}
	return out, nil
}

// level classifies a rise from the clean pixel to the lit one (light, clipped at white).
func (r *TruthRule) level(clean, lit []float32) uint8 {
	ch := len(clean)
	a, b := luma(clean, ch), luma(lit, ch)
	level := r.rise(a, b)
	if ch == 3 && !r.LuminanceOnly {
		level = max(level, r.rise(min(clean[0], clean[1], clean[2]), min(lit[0], lit[1], lit[2])))
	}
	return level
}

func (r *TruthRule) rise(clean, lit float32) uint8 {
	d, c := float64(lit-clean), float64(clean)
	switch {
	case d > r.Rise && d > r.Share*c:
		return TruthGlare
	case d > r.UnsureRise && d > r.UnsureShare*c:
		return TruthUnsure
	default:
		return TruthNone
	}
}

// compare returns the truth of a rendering and its figures.
func (r *TruthRule) compare(clean, lit *plane) (*processing.Mask, Stats) {
	truth, certain := processing.NewMask(lit.w, lit.h), processing.NewMask(lit.w, lit.h)
	clipped := 0
	var a, b [3]float32
	for i := range truth.Pix {
		full := true
		for c := range lit.ch {
			k := i*lit.ch + c
			a[c], b[c] = min(clean.pix[k], 1), min(lit.pix[k], 1)
			full = full && lit.pix[k] >= 1
		}
		truth.Pix[i] = r.level(a[:lit.ch], b[:lit.ch])
		if truth.Pix[i] == TruthGlare {
			certain.Pix[i] = TruthGlare
			if full {
				clipped++
			}
		}
	}
	var s Stats
	s.measure(certain, clipped)
	return truth, s
}
