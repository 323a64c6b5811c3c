package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// TruthRule defines which rise of linear light, in the luminance or in the darkest channel, counts as glare. The
// darkest channel reveals a white glint on saturated paint, whose luminance is already high.
type TruthRule struct {
	// Glare needs a rise above Rise and above Share of the clean value; a smaller rise above UnsureRise and UnsureShare
	// is unsure. Without an unsure zone these two equal Rise and Share.
	Rise, Share             float64
	UnsureRise, UnsureShare float64
	// LuminanceOnly leaves the darkest channel out.
	LuminanceOnly bool
}

// The values of a truth with three levels.
const (
	TruthNone   = 0
	TruthUnsure = 128
	TruthGlare  = 255
)

// StrictTruth marks the same as VisibleTruth, in either plane, and marks as unsure anything else that may be visible at
// fourfold magnification.
func StrictTruth() TruthRule {
	return TruthRule{Rise: VisibleRise, Share: VisibleShare, UnsureRise: 0.012, UnsureShare: 0.06}
}

// VisibleTruth is the rule of Visible, without an unsure zone.
func VisibleTruth() TruthRule {
	return TruthRule{VisibleRise, VisibleShare, VisibleRise, VisibleShare, true}
}

// PaintRelief holds the weights of the parts of the paint's relief, each normalised to the same slope.
type PaintRelief struct {
	Weave, Bristles, Impasto, Ridges, Bumps float64
	// Strokes weighs the thick strokes of ReliefOptions.StrokeWidth.
	Strokes float64
	// ThreadPitch is the distance of canvas threads in pixels.
	ThreadPitch float64
	// BristleWidth is the distance of a brush's furrows in steps of about two pixels; 0 means 1.
	BristleWidth int
	// RidgePitch is the mean distance in pixels of the crests that Ridges weighs; 0 means 95. RidgeAlong is the share
	// of them that follow the painting's own strokes, as the rims of thick strokes do; the others run anywhere.
	RidgePitch, RidgeAlong float64
	// BumpRadius is the radius of caps of dried paint, dust and drops of varnish.
	BumpRadius Range
	// Level is the standard deviation in pixels by which varnish levels the relief.
	Level float64
	// CrackPitch is the size in pixels of the islands between cracks; 0 means no cracks.
	CrackPitch float64
	// Supersample is the number of relief samples along a pixel's side, 1 to 4; 0 means 2.
	Supersample int
}

// ReliefOptions are the options of RenderRelief. Lengths are in pixels, light is linear with white at 1.
type ReliefOptions struct {
	Seed   uint64
	Relief PaintRelief

	// Lamps are the colours of the lamps, largest channel 1; without one there is no glare.
	Lamps [][3]float64
	// Lit is the share of the picture with visible glare; the lamps' lobes are truncated at the level that yields it.
	Lit float64
	// Peak is the light of a lamp's mirror image, PeakSpread the standard deviation of its logarithm over the lamps.
	Peak, PeakSpread float64
	// PolishSpread is the standard deviation of the logarithm of the facets' polish, PolishSize the extent over which
	// it changes.
	PolishSpread, PolishSize float64
	// Ceiling, if not 0, is the light that mirror images approach but do not reach, so that they stay unclipped.
	Ceiling float64
	// Roughness is the α of the facets' distribution (GGX), drawn for each lamp.
	Roughness Range
	// Tint, 0…1, is how far the glints take on the hue of the paint around them, as an image smaller than a pixel does.
	Tint float64

	// Exposure scales the painting's light before the lamps; 0 means 1.
	Exposure float64
	// Contrast is the exponent of the painting's light and Saturation scales its distance from grey, both before
	// Exposure; 0 means 1.
	Contrast, Saturation float64
	// Shading is the contrast that the relief gives the paint in diffuse light.
	Shading float64
	// Uneven lights the painting from one side.
	Uneven bool
	// StrokeWidth, if not 0, repaints the painting with thick strokes of about this width, of its own colours and along
	// its own forms.
	StrokeWidth float64
	// Dabs is the number of flat pale touches of paint per million pixels; they are not glare.
	Dabs float64
	Grey bool

	// Lens is the standard deviation of the blur of the glints, Blur that of the whole picture, Veil the share of the
	// glints' light that scatters widely.
	Lens, Blur, Veil float64
	// NoiseGain and NoiseRead give noise of variance NoiseGain·L + NoiseRead² at linear light L.
	NoiseGain, NoiseRead float64
	// JPEGQuality, 1…100, sends the result through a JPEG file (4:2:0); 0 does not.
	JPEGQuality int

	Truth TruthRule
}

// lampColours are a neutral lamp, one warmer and one cooler than the picture's white.
var lampColours = [3][3]float64{{1, 0.985, 0.97}, {1, 0.66, 0.32}, {0.55, 0.78, 1}}

// ReliefConditions lists the names that ReliefCondition accepts.
func ReliefConditions() []string {
	return []string{"sharp", "soft", "dim", "warm", "cool", "large", "dense", "noisy", "grey", "uneven"}
}

// ReliefCondition returns the options of a named condition, with seed 0: strong, mostly clipped reflections unless the
// name says otherwise, and the truth of VisibleTruth.
func ReliefCondition(name string) (ReliefOptions, error) {
	white, warm, cool := lampColours[0], lampColours[1], lampColours[2]
	o := ReliefOptions{
		Relief: PaintRelief{
			Weave: 0.5, Bristles: 0.9, Impasto: 0.7, Ridges: 0.5, Bumps: 0.35,
			ThreadPitch: 7, BumpRadius: Range{0.8, 5}, Level: 0.95, Supersample: 2,
		},
		Lamps: [][3]float64{white}, Lit: 0.0018, Peak: 9, PeakSpread: 0.25, PolishSpread: 0.3, PolishSize: 14,
		Roughness: Range{0.05, 0.12}, Lens: 0.6, Veil: 0.004, NoiseGain: 2e-4, NoiseRead: 6e-4, Truth: VisibleTruth(),
	}
	switch name {
	case "sharp":
		o.Lens, o.Veil = 0.5, 0.003
	case "soft":
		o.Lens, o.Blur, o.Veil, o.JPEGQuality = 0.9, 1.3, 0.008, 92
	case "dim":
		o.Peak, o.Lit, o.Lens, o.Veil = 0.55, 0.0012, 0.7, 0.002
	case "warm":
		o.Lamps, o.Peak = [][3]float64{warm}, 2.2
	case "cool":
		o.Lamps, o.Peak, o.JPEGQuality = [][3]float64{cool}, 2, 90
	case "large":
		o.Relief.Level, o.Relief.BumpRadius = 2.2, Range{4, 25}
		o.Relief.Weave, o.Relief.Bristles, o.Relief.Impasto, o.Relief.Ridges, o.Relief.Bumps = 0.12, 0.45, 0.8, 0.6, 1.3
		o.Roughness, o.Lit, o.Veil, o.Lens, o.Peak = Range{0.07, 0.16}, 0.006, 0.012, 0.9, 3.5
	case "dense":
		o.Lamps, o.Lit, o.JPEGQuality = [][3]float64{white, warm, cool}, 0.011, 85
	case "noisy":
		o.NoiseGain, o.NoiseRead, o.Lens, o.JPEGQuality = 2.5e-3, 6e-3, 0.8, 75
	case "grey":
		o.Grey, o.Lamps = true, [][3]float64{white, white}
	case "uneven":
		o.Uneven, o.Lamps, o.Veil, o.JPEGQuality = true, [][3]float64{white, warm}, 0.012, 90
	default:
		return ReliefOptions{}, fmt.Errorf("no relief condition is called %q; there are %q", name, ReliefConditions())
	}
	return o, nil
}

// VariedRelief draws random options whose renderings span the range of real photographs: glints of a few pixels and
// streaks along the rims of thick strokes, often below white and tinted by the paint, on rough, often dark ground, in
// chains along threads, cracks and ridges, with painted dabs among them. They are as strong as those marked by people
// (docs/network.md); the truth is that of StrictTruth.
func VariedRelief(seed uint64) ReliefOptions {
	g := stream(seed, 0x7265)
	o := ReliefOptions{Seed: seed, Relief: variedPaint(g), Truth: StrictTruth()}
	for range 1 + g.IntN(3) {
		c, mixed := lampColours[g.IntN(3)], Range{0, 0.7}.uniform(g)
		for i := range c {
			c[i] = 1 - mixed + mixed*c[i]
		}
		o.Lamps = append(o.Lamps, c)
	}
	o.Peak = Range{1.2, 12}.logUniform(g)
	o.PeakSpread = 0.3
	o.PolishSpread, o.PolishSize = Range{0.3, 0.9}.uniform(g), Range{5, 14}.uniform(g)
	if g.Float64() < 0.4 {
		o.Ceiling = Range{0.6, 1.1}.uniform(g)
	}
	o.Lit = Range{4e-4, 1e-2}.logUniform(g)
	o.Roughness = Range{0.05, 0.14}
	o.Tint = g.Float64()
	o.Exposure = 1
	if g.IntN(5) < 2 {
		o.Exposure = Range{0.3, 0.9}.uniform(g)
	}
	if g.Float64() < 0.7 {
		o.Contrast, o.Saturation = Range{1, 2}.uniform(g), Range{1, 3.5}.uniform(g)
	}
	if g.Float64() < 0.75 {
		o.Shading = Range{0.05, 0.6}.uniform(g)
	}
	if g.Float64() < 0.55 {
		o.StrokeWidth = Range{3.5, 16}.logUniform(g)
		o.Relief.Strokes = Range{2, 8}.uniform(g)
	}
	o.Uneven = g.Float64() < 0.1
	if g.Float64() < 0.4 {
		o.Dabs = Range{60, 2500}.logUniform(g)
	}
	o.Lens, o.Veil = Range{0.45, 0.9}.uniform(g), Range{0.001, 0.01}.logUniform(g)
	if g.Float64() < 0.15 {
		o.Blur = Range{0.3, 1.1}.uniform(g)
	}
	o.NoiseGain, o.NoiseRead = Range{1e-4, 2e-3}.logUniform(g), Range{3e-4, 4e-3}.logUniform(g)
	if g.Float64() < 0.6 {
		o.JPEGQuality = 78 + g.IntN(21)
	}
	o.Grey = g.Float64() < 0.03
	return o
}

// variedPaint draws a relief; the weights follow a Dirichlet distribution.
func variedPaint(g *rand.Rand) PaintRelief {
	var w [5]float64
	sum := 0.0
	for i, alpha := range [5]float64{0.5, 0.8, 0.7, 0.7, 0.6} {
		w[i] = gamma(g, alpha)
		sum += w[i]
	}
	for i := range w {
		w[i] *= 3 / sum
	}
	p := PaintRelief{
		Weave: w[0], Bristles: w[1], Impasto: w[2], Ridges: w[3], Bumps: w[4],
		ThreadPitch: Range{4, 11}.uniform(g), BristleWidth: 1 + g.IntN(3), BumpRadius: Range{0.8, 5},
		RidgePitch: Range{18, 100}.logUniform(g), RidgeAlong: 0.8,
		Level: Range{0.6, 1.6}.uniform(g), Supersample: 2,
	}
	if g.Float64() < 0.5 {
		p.Ridges += Range{1, 6}.uniform(g)
	}
	if g.Float64() < 0.12 {
		p.Level, p.BumpRadius = 2.2, Range{4, 25}
		p.Bumps += 1
	} else if p.Level < 0.85 {
		p.Supersample = 3
	}
	if g.Float64() < 0.35 {
		p.CrackPitch = Range{18, 110}.logUniform(g)
	}
	return p
}

// gamma draws from the gamma distribution of shape below 1 (Ahrens & Dieter 1974).
func gamma(g *rand.Rand, shape float64) float64 {
	for {
		p := (1 + shape/math.E) * g.Float64()
		e := g.ExpFloat64()
		if p <= 1 {
			if x := math.Pow(p, 1/shape); x <= e {
				return x
			}
		} else if x := -math.Log((1 + shape/math.E - p) / shape); (1-shape)*math.Log(x) <= e {
			return x
		}
	}
}

// Validate returns an error unless the options are valid and consistent.
func (o *ReliefOptions) Validate() error {
	r := &o.Relief
	values := []float64{
		r.Weave, r.Bristles, r.Impasto, r.Ridges, r.Bumps, r.Strokes, r.CrackPitch,
		r.RidgePitch, r.RidgeAlong, r.Level, o.Lit, o.Peak, o.PeakSpread, o.PolishSpread, o.Ceiling, o.Tint,
		o.Exposure, o.Contrast, o.Saturation, o.Shading, o.StrokeWidth, o.Dabs, o.Lens, o.Blur, o.Veil,
		o.NoiseGain, o.NoiseRead,
		o.Truth.UnsureRise, o.Truth.UnsureShare,
	}
	for _, l := range o.Lamps {
		values = append(values, l[:]...)
	}
	switch {
	case slices.ContainsFunc(values, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 0) }):
		return fmt.Errorf("relief: an option is negative or not a finite number")
	case r.Weave > 0 && !(r.ThreadPitch >= 2), r.CrackPitch > 0 && r.CrackPitch < 4:
		return fmt.Errorf("relief: threads must be at least 2 and cracks at least 4 pixels apart")
	case o.Contrast > 4 || o.Saturation > 8:
		return fmt.Errorf("relief: contrast %g or saturation %g is not within 0…4 and 0…8", o.Contrast, o.Saturation)
	case o.StrokeWidth > 0 && !(o.StrokeWidth >= 2 && o.StrokeWidth <= 100):
		return fmt.Errorf("relief: strokes %g pixels wide are not within 2…100", o.StrokeWidth)
	case r.RidgeAlong > 1 || r.RidgePitch > 0 && r.RidgePitch < 8:
		return fmt.Errorf("relief: at most all ridges along strokes, and at least 8 pixels between ridges")
	case r.Bumps > 0 && !(r.BumpRadius.Min > 0 && r.BumpRadius.Max > r.BumpRadius.Min && r.BumpRadius.Max <= 100):
		return fmt.Errorf("relief: bump radii %v must be positive, ordered and at most 100 pixels", r.BumpRadius)
	case r.Supersample < 0 || r.Supersample > 4:
		return fmt.Errorf("relief: supersampling %d is not within 0…4", r.Supersample)
	case r.BristleWidth < 0 || r.BristleWidth > 8:
		return fmt.Errorf("relief: bristle width %d is not within 0…8", r.BristleWidth)
	case r.Level > 20 || o.Lens > 20 || o.Blur > 20:
		return fmt.Errorf("relief: blurs must be at most 20 pixels")
	case o.JPEGQuality < 0 || o.JPEGQuality > 100:
		return fmt.Errorf("relief: JPEG quality %d is not within 1…100", o.JPEGQuality)
	case o.Truth.UnsureRise > o.Truth.Rise || o.Truth.UnsureShare > o.Truth.Share:
		return fmt.Errorf("relief: the unsure zone must begin below glare")
	}
	if len(o.Lamps) == 0 {
		return nil
	}
	switch {
	case r.Weave+r.Bristles+r.Impasto+r.Ridges+r.Bumps+r.Strokes == 0:
		return fmt.Errorf("relief: no part of the relief has a positive weight")
	case len(o.Lamps) > 8 || o.Lit == 0 || o.Lit > 0.2 || o.Peak == 0:
		return fmt.Errorf("relief: at most 8 lamps, a lit share within 0…0.2 and a positive peak expected")
	case !(o.Roughness.Min >= 0.01 && o.Roughness.Max >= o.Roughness.Min && o.Roughness.Max <= 1):
		return fmt.Errorf("relief: roughness %v must be ordered and lie within 0.01…1", o.Roughness)
	case o.PolishSpread > 0 && o.PolishSize < 2:
		return fmt.Errorf("relief: the polish must change over at least 2 pixels")
	case o.Tint > 1:
		return fmt.Errorf("relief: tint %g is above 1", o.Tint)
	}
	return nil
}
