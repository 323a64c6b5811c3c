package processing

import "math"

// Measure is a property of a candidate that the decision weighs: one row of Measures.
type Measure struct {
	// Name is short: lower case, words joined by hyphens.
	Name string
	// Help says what is measured. Rises and grounds are linear, 0…1; levels are 8-bit sRGB, 0…255.
	Help string
	// Source is where it comes from: a candidate without this source has no value.
	Source Source
	// Aspect is what the user sees it summed up as (see Reason).
	Aspect Aspect
	value  func(c *candidate) float64
}

// Source is where a measure comes from.
type Source uint8

// The sources.
const (
	// FromPicture: the picture around the candidate; every candidate has it.
	FromPicture Source = iota
	// FromNetwork: the network's logits; 0 for a candidate that the network did not find.
	FromNetwork
	// FromSearch: the planes of the classical search. Only its candidates have these.
	FromSearch
	// FromExposure: how the classical detector brightened the picture. These come last in the list, and are not part of
	// vectors.
	FromExposure
)

// Measures returns the measures in the order of Candidate.Measures. The decision weighs them.
//
// To add a measure, add a row, and fit the weights again (blik fit).
func Measures() []Measure {
	ln := func(v float64) float64 { return math.Log(math.Max(v, 1)) }
	return []Measure{
		{"network", "√ of the sum of the network's logits above 0", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return math.Sqrt(c.glint.strong) }},
		{"network-wide", "√ of the sum of its logits above −1, each + 1", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return math.Sqrt(c.glint.wide) }},
		{"network-peak", "its largest logit + 1, 0 where none is above −1", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return c.glint.peak }},
		{"network-sure", "share of logits above 0 among those above −1", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return float64(c.glint.sure) / math.Max(float64(c.glint.pixels), 1) }},
		{"network-size", "ln of the pixels whose logit exceeds −1", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return ln(float64(c.glint.pixels)) }},
		{"network-mean", "mean of its logits above 0", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return c.glint.strong / math.Max(float64(c.glint.sure), 1) }},
		{"network-first", "network, at most 6", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return math.Min(math.Sqrt(c.glint.strong), 6) }},
		{"network-log", "ln(1 + the sum of its logits above 0)", FromNetwork, AspectNetwork,
			func(c *candidate) float64 { return math.Log1p(c.glint.strong) }},
		{"neighbours", "ln(1 + candidates within some 64 px with a logit above 0)", FromNetwork, AspectNeighbours,
			func(c *candidate) float64 { return math.Log1p(c.neighbours) }},
		{"company", "mean of network over those, each at most 6", FromNetwork, AspectNeighbours,
			func(c *candidate) float64 { return c.company }},

		{"rise", "mean rise of the core over the ground around, in luminance or the darkest channel", FromPicture,
			AspectRise, func(c *candidate) float64 { return c.look.rise }},
		{"peak-rise", "largest rise", FromPicture, AspectRise,
			func(c *candidate) float64 { return c.look.peakRise }},
		{"ratio", "ln((rise + ground + 0.01) / (ground + 0.01))", FromPicture, AspectRise,
			func(c *candidate) float64 { return math.Log1p(c.look.rise / (c.look.ground + 0.01)) }},
		{"headroom", "rise over what the ground leaves up to white, rise / (1 − ground)", FromPicture, AspectRise,
			func(c *candidate) float64 { return c.look.rise / math.Max(1-c.look.ground, 0.02) }},
		{"ground", "mean of the ground", FromPicture, AspectGround,
			func(c *candidate) float64 { return c.look.ground }},
		{"rough", "standard deviation of the ground over the largest rise (+ 0.01)", FromPicture, AspectGround,
			func(c *candidate) float64 {
				return math.Min(c.look.spread/(math.Max(c.look.peakRise, 0)+0.01), 3)
			}},
		{"crowd", "share of the surroundings that rise by more than half as much", FromPicture, AspectGround,
			func(c *candidate) float64 { return c.look.crowd }},
		{"clipped", "share of the core whose darkest channel exceeds 0.93", FromPicture, AspectWhite,
			func(c *candidate) float64 { return c.look.clipped }},
		{"darkest", "highest level of the darkest channel", FromPicture, AspectWhite,
			func(c *candidate) float64 { return c.look.darkest }},
		{"chroma", "(max − min)/max of the mean rises of red, green and blue in the core", FromPicture, AspectColour,
			func(c *candidate) float64 { return c.look.chroma }},
		{"red", "ln of the rise of red over that of green, −2 to 2", FromPicture, AspectColour,
			func(c *candidate) float64 { return c.look.red }},
		{"blue", "ln of the rise of blue over that of green, −2 to 2", FromPicture, AspectColour,
			func(c *candidate) float64 { return c.look.blue }},
		{"saturation", "1 − min/max of the core's mean colour", FromPicture, AspectColour,
			func(c *candidate) float64 { return c.look.saturation }},
		{"ground-saturation", "1 − min/max of the ground's mean colour", FromPicture, AspectColour,
			func(c *candidate) float64 { return c.look.groundSaturation }},
		{"sharp", "largest rise over √ of the pixels", FromPicture, AspectForm,
			func(c *candidate) float64 { return c.look.peakRise / math.Sqrt(math.Max(c.look.area, 1)) }},
		{"flat", "standard deviation of the rise in the core over the rise (+ 0.02)", FromPicture, AspectForm,
			func(c *candidate) float64 { return c.look.flat / (math.Max(c.look.rise, 0) + 0.02) }},
		{"area", "ln of the pixels", FromPicture, AspectForm,
			func(c *candidate) float64 { return ln(c.look.area) }},
		{"large", "ln of the pixels over 60, at least 0", FromPicture, AspectForm,
			func(c *candidate) float64 { return c.look.large(60) }},
		{"huge", "ln of the pixels over 200, at least 0", FromPicture, AspectForm,
			func(c *candidate) float64 { return c.look.large(200) }},
		{"large-white", "large · (clipped − ½)", FromPicture, AspectForm,
			func(c *candidate) float64 { return c.look.large(60) * (c.look.clipped - 0.5) }},
		{"core-area", "ln of the pixels of the core", FromPicture, AspectForm,
			func(c *candidate) float64 { return ln(c.look.core) }},
		{"elongation", "√(λ1/λ2) of the second moments", FromPicture, AspectForm,
			func(c *candidate) float64 { return c.look.elongation }},
		{"fill", "share of the bounding box that it fills", FromPicture, AspectForm,
			func(c *candidate) float64 { return c.look.fill }},

		{"search", "1 for a candidate of the classical search, else 0", FromPicture, AspectSearch,
			func(c *candidate) float64 {
				if c.props != nil {
					return 1
				}
				return 0
			}},
		{"contrast", "mean contrast of the search's core", FromSearch, AspectSearch,
			func(c *candidate) float64 { return c.contrast }},
		{"density", "share of visibly bright pixels in a large window about it", FromSearch, AspectSearch,
			func(c *candidate) float64 { return c.density }},
		{"stray", "share of bright pixels there that belong to no candidate", FromSearch, AspectSearch,
			func(c *candidate) float64 { return c.stray }},
		{"leak", "share of its edge beside bright pixels that belong to no candidate", FromSearch, AspectSearch,
			func(c *candidate) float64 {
				return float64(c.props.Leaks) / math.Max(float64(c.props.Edge), 1)
			}},
		{"texture", "local standard deviation outside all candidates over the background (+ 0.02)", FromSearch,
			AspectSearch, func(c *candidate) float64 {
				return float64(c.props.Deviation) / c.area / white / (c.background + 0.02)
			}},
		{"starlet", "largest value of starlet band 2 of v", FromSearch, AspectSearch,
			func(c *candidate) float64 { return float64(c.props.Starlet) / 256 }},
		{"slope", "largest difference of v between horizontal neighbours inside", FromSearch, AspectSearch,
			func(c *candidate) float64 { return float64(c.props.Slope) }},
		{"mean-level", "mean v of the search's core", FromSearch, AspectSearch,
			func(c *candidate) float64 { return float64(c.props.CoreLevel) / c.coreArea }},
		{"background", "mean background", FromSearch, AspectSearch,
			func(c *candidate) float64 { return c.background }},

		{"white", "ln of the level of white around, at most 0", FromExposure, AspectWhite,
			func(c *candidate) float64 { return math.Log(c.look.white) }},
	}
}

// white is the largest value of a luminance in 16 bits.
const white = 65535

// candidate is a spot that detection decides on.
type candidate struct {
	// spans are its pixels, shape their sums.
	spans []Span
	shape Sums
	// searched is what the classical search measured; props is nil if it found nothing.
	searched
	glint glint
	// neighbours is the number of others around that the network calls glare, company their mean strength.
	neighbours, company float64
	look                look
	measures            []float64
	// vector holds the channels of the network, and in the end the whole vector (see Learned); nil if it is not needed.
	vector []float64
	score  float64
	// side is that of the octave in which it was found, 0 at the picture's own size. sheet was subtracted from its
	// score there because it looks like a sheet of paper.
	side  int
	sheet float64
}

// searched holds what the classical search measured of a candidate.
type searched struct {
	// label is that of the component, props its properties; nil if there is none.
	label uint32
	props *RegionProps
	// density and stray are the shares of visibly bright and of stray pixels around.
	density, stray                       float64
	coreArea, area, contrast, background float64
}

// measure computes the measures of list; NaN if the candidate lacks the source.
func (c *candidate) measure(list []Measure) {
	if t := c.props; t != nil {
		c.coreArea, c.area = float64(t.Core.N), float64(t.All.N)
		c.contrast = float64(t.CoreContrast) / c.coreArea / white
		c.background = float64(t.Background) / c.area / white
	}
	for i := range list {
		if list[i].Source == FromSearch && c.props == nil {
			c.measures[i] = math.NaN()
			continue
		}
		c.measures[i] = list[i].value(c)
	}
}

// elongation returns the ratio of axes that MaxElongation limits.
func (c *candidate) elongation() float64 {
	if c.props != nil {
		return c.props.Core.Elongation()
	}
	return c.look.elongation
}

// middle returns the index of the pixel nearest to the centroid of the core in a picture of width w.
func middle(t *RegionProps, w int) uint32 {
	c := &t.Core
	x := int(math.Round(float64(c.SX) / float64(c.N)))
	y := int(math.Round(float64(c.SY) / float64(c.N)))
	return uint32(y*w + x)
}

// windowArea returns the number of pixels of the window of radius r around (x, y) inside w × h.
func windowArea(x, y, w, h, r int) int {
	return (min(x+r, w-1) - max(x-r, 0) + 1) * (min(y+r, h-1) - max(y-r, 0) + 1)
}
