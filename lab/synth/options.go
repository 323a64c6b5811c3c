package synth

import (
	"fmt"
	"math"
	"slices"
)

// Placement holds the shares of glints placed in each of the following ways.
type Placement struct {
	// Weave puts groups of glints on the thread crossings of a canvas, where the paint film bulges.
	Weave float64
	// Ridge puts chains of elongated glints along brush ridges, where the picture's structure tensor is strong.
	Ridge float64
	// Scatter puts single glints anywhere: grains, dust, drops of varnish.
	Scatter float64
}

// Shapes weighs the outlines of glints.
type Shapes struct {
	// Ellipse is a dome of varnish seen whole: a disc or an ellipse.
	Ellipse float64
	// Star has a few irregular arms: a dome with dents.
	Star float64
	// Worm is a curved band along a ridge.
	Worm float64
	// Facet takes its outline from the paint: the pixels whose slope, from the picture's own relief and a finer one,
	// lies in the specular lobe about the slope that mirrors the lamp.
	Facet float64
	// Woven is a patch broken up by the threads of a canvas.
	Woven float64
}

// GlareOptions are the options of RenderGlare. Lengths are in pixels and are all multiplied by Scale. The zero value
// draws nothing.
type GlareOptions struct {
	Seed uint64
	// Count is the number of glints; when it is 0 there are Density per million pixels at Scale 1 (per
	// million·Scale² pixels otherwise).
	Count   int
	Density float64

	Placement Placement
	Shapes    Shapes

	// Radius at half the peak, drawn from a density ∝ r^−(SizeExponent+1): the larger the exponent, the rarer the
	// large ones.
	Radius       Range
	SizeExponent float64
	// Peak is the linear light that a glint adds in its middle, 1 = white; drawn uniformly in the logarithm. Above
	// 1 − paint it clips.
	Peak Range
	// Edge is the exponent q of the profile exp(−ln2·d^2q) over the distance d in radii: 1 is a Gaussian lobe (rough
	// varnish), 4 a sharp plateau (smooth varnish under an extended lamp). Drawn uniformly.
	Edge Range
	// Halo is the share of the peak that scatters into a Gaussian veil, HaloRadius its standard deviation in radii.
	Halo       Range
	HaloRadius float64
	// Lights are the colours of the lamps in linear light, largest channel 1; each group of glints mirrors one of
	// them. None means white. On grey pictures only their luminance counts.
	Lights [][3]float64

	// GlareBlur is the standard deviation of an optical blur of single glints: varnish out of the plane of focus.
	GlareBlur Range
	// PictureBlur is that of the whole picture, glare included, before the sensor clips.
	PictureBlur float64

	// WeavePitch is the distance of canvas threads; 0 means 8.
	WeavePitch float64
	// Scale multiplies all lengths; 0 means 1.
	Scale float64

	// NoiseGain and NoiseRead give Poisson-Gaussian noise of variance NoiseGain·L + NoiseRead² at linear light L.
	NoiseGain, NoiseRead float64
	// Headroom is the light at which the sensor saturates, before noise is added and the file clips at 1. At 1 (also
	// meant by 0) noise shows on clipped glare as well; well above 1 clipped glare is pure white.
	Headroom float64
	// JPEGQuality, 1…100, sends an 8-bit picture through a JPEG file (4:2:0); 0 does not.
	JPEGQuality int

	// Workers limits the goroutines; 0 means as many as processors. It does not change the result.
	Workers int
}

// Presets lists the names that Preset accepts.
func Presets() []string {
	return []string{"default", "soft", "unclipped", "tinted", "large", "mixed", "dense", "few"}
}

// Preset returns named options, with seed 0:
//
//	default    sharp, mostly clipped glints of radius 0.8 to 8 under a neutral lamp
//	soft       the same behind an optical blur of σ 0.7 to 2.5
//	unclipped  Gaussian lobes that rise by 0.15 to 1.2 of white, so that few clip
//	tinted     lamps from a candle to the blue sky, and red, green and blue ones
//	large      radius 4 to 40, irregular, with veils
//	mixed      all of that in one picture
//	dense      six times as many glints as the default
//	few        a tenth of them
func Preset(name string) (GlareOptions, error) {
	o := GlareOptions{
		Density:      130,
		Placement:    Placement{Weave: 0.4, Ridge: 0.35, Scatter: 0.25},
		Shapes:       Shapes{Ellipse: 0.45, Star: 0.3, Worm: 0.1, Facet: 0.12},
		Radius:       Range{0.8, 8},
		SizeExponent: 1.5,
		Peak:         Range{0.7, 3.5},
		Edge:         Range{1.2, 4},
		Halo:         Range{0.001, 0.008},
		HaloRadius:   2.5,
		Lights:       [][3]float64{{1, 0.99, 0.98}},
		NoiseGain:    2e-4,
		NoiseRead:    4e-4,
	}
	daylight := 5500.0
	switch name {
	case "default":
	case "soft":
		o.GlareBlur = Range{0.7, 2.5}
	case "unclipped":
		o.Peak = Range{0.15, 1.2}
		o.Edge = Range{1, 2}
	case "tinted":
		o.Peak = Range{0.2, 4}
		o.Lights = [][3]float64{
			Lamp(1900, daylight), Lamp(2700, daylight), Lamp(3200, daylight), Lamp(4000, daylight),
			Lamp(7500, daylight), Lamp(12000, daylight),
			{1, 0.35, 0.25}, {0.55, 1, 0.6}, {0.3, 0.45, 1},
		}
	case "large":
		o.Density = 18
		o.Radius = Range{4, 40}
		o.SizeExponent = 1.1
		o.Shapes = Shapes{Ellipse: 0.15, Star: 0.2, Worm: 0.25, Facet: 0.25, Woven: 0.15}
		o.Halo = Range{0.005, 0.05}
		o.HaloRadius = 2
	case "mixed":
		o.Radius = Range{0.8, 30}
		o.SizeExponent = 1.3
		o.Density = 90
		o.Shapes = Shapes{Ellipse: 0.3, Star: 0.2, Worm: 0.15, Facet: 0.25, Woven: 0.1}
		o.Peak = Range{0.15, 6}
		o.Edge = Range{1, 4}
		o.GlareBlur = Range{0, 2}
		o.Halo = Range{0.002, 0.03}
		o.Lights = [][3]float64{{1, 1, 1}, Lamp(2700, daylight), Lamp(4000, daylight), Lamp(9000, daylight)}
	case "dense":
		o.Density *= 6
	case "few":
		o.Density /= 10
	default:
		return GlareOptions{}, fmt.Errorf("no glare preset is called %q; there are %q", name, Presets())
	}
	return o, nil
}

// Validate returns an error unless the options are valid and consistent.
func (o *GlareOptions) Validate() error {
	for _, v := range []float64{o.Density, o.Radius.Min, o.Radius.Max, o.SizeExponent, o.Peak.Min, o.Peak.Max,
		o.Edge.Min, o.Edge.Max, o.Halo.Min, o.Halo.Max, o.HaloRadius, o.GlareBlur.Min, o.GlareBlur.Max, o.PictureBlur,
		o.WeavePitch, o.Scale, o.NoiseGain, o.NoiseRead, o.Headroom} {
		if !finite(v) {
			return fmt.Errorf("glare: an option is not a finite number")
		}
	}
	blur := Range{0, 20}
	switch {
	case o.Count < 0 || o.Density < 0:
		return fmt.Errorf("glare: count %d and density %g must not be negative", o.Count, o.Density)
	case o.Count > 1e7 || o.Density > 1e5:
		return fmt.Errorf("glare: count %d and density %g are above the limits of 10 million and 100,000 per megapixel",
			o.Count, o.Density)
	case o.Scale < 0 || o.Scale > 0 && o.Scale < 0.01 || o.WeavePitch < 0 || o.HaloRadius < 0:
		return fmt.Errorf("glare: scale %g must be 0 or at least 0.01, weave pitch %g and halo radius %g must not be "+
			"negative",
			o.Scale, o.WeavePitch, o.HaloRadius)
	case !blur.holds(Range{o.PictureBlur, o.PictureBlur}) || !blur.holds(o.GlareBlur):
		return fmt.Errorf("glare: blurs must lie between 0 and 20 pixels")
	case o.NoiseGain < 0 || o.NoiseRead < 0 || o.Headroom < 0:
		return fmt.Errorf("glare: noise and headroom must not be negative")
	case o.JPEGQuality < 0 || o.JPEGQuality > 100:
		return fmt.Errorf("glare: JPEG quality %d is not within 1…100", o.JPEGQuality)
	}
	if o.Count == 0 && o.Density == 0 {
		return nil
	}
	positive := func(weights ...float64) bool { return slices.Max(weights) > 0 }
	switch p, s := o.Placement, o.Shapes; {
	case o.Radius.Min <= 0 || o.Radius.Max < o.Radius.Min || o.Radius.Max*max(o.Scale, 1) > 1000:
		return fmt.Errorf("glare: radius %g…%g must be positive, ordered and at most 1000 pixels", o.Radius.Min,
			o.Radius.Max)
	case o.Peak.Min <= 0 || o.Peak.Max < o.Peak.Min:
		return fmt.Errorf("glare: peak %g…%g must be positive and ordered", o.Peak.Min, o.Peak.Max)
	case !(Range{0.5, 20}).holds(o.Edge):
		return fmt.Errorf("glare: edge %g…%g must be ordered and lie within 0.5…20", o.Edge.Min, o.Edge.Max)
	case !(Range{0, 1}).holds(o.Halo):
		return fmt.Errorf("glare: halo %g…%g must be ordered and lie within 0…1", o.Halo.Min, o.Halo.Max)
	case !positive(p.Weave, p.Ridge, p.Scatter):
		return fmt.Errorf("glare: no placement has a positive weight")
	case !positive(s.Ellipse, s.Star, s.Worm, s.Facet, s.Woven):
		return fmt.Errorf("glare: no shape has a positive weight")
	}
	for _, l := range o.Lights {
		for _, v := range l {
			if !finite(v) || v < 0 {
				return fmt.Errorf("glare: light %v must not be negative", l)
			}
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
