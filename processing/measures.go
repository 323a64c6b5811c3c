package processing

import "math"

// Measure is a property of a candidate that the score weighs: one row of Measures.
type Measure struct {
	// Name is short: lower case, words joined by hyphens.
	Name string
	// Help says what is measured. Luminances and contrasts are linear, 0…1; levels are 8-bit sRGB, 0…255.
	Help string
	// Weight is the factor of the value in the score.
	Weight float64
	value  func(c *candidate) float64
}

// scoreOffset is what the weighted measures are added to; a candidate is glare where the sum is at least 0.
const scoreOffset = -6.288

// Measures returns the measures in the order of Candidate.Measures. With scoreOffset, their weights are the decision
// function of adaptive mode: a ridge logistic regression over the candidates of rendered glare (sharp, soft, unclipped,
// tinted, large; blurred, halved, doubled, JPEG) on seven paintings, of clean paintings and of generated ones, each
// candidate weighted by the pixels that the right decision wins. The constants were chosen by leaving one painting out
// at a time; see docs/detection.md.
//
// To add a measure, add a row: the score sums the rows in this order. Adding one changes every score, so the weights
// have to be fitted again.
func Measures() []Measure {
	return []Measure{
		{"contrast", "mean contrast of the core", 1.815,
			func(c *candidate) float64 { return c.contrast }},
		{"peak-contrast", "largest contrast", -7.344,
			func(c *candidate) float64 { return float64(c.props.PeakContrast) / white }},
		{"density", "share of visibly bright pixels in a large window about the core", -7.588,
			func(c *candidate) float64 { return c.density }},
		{"white", "highest level less the picture's white level", 0.02417,
			func(c *candidate) float64 { return float64(c.peak) - c.whiteLevel }},
		{"elongation", "√(λ1/λ2) of the core's second moments", -0.5551,
			func(c *candidate) float64 { return c.elongation }},
		{"texture", "local standard deviation outside all candidates over the background (+ 0.02)", -3.394,
			func(c *candidate) float64 { return float64(c.props.Deviation) / c.area / white / (c.background + 0.02) }},
		{"leak", "share of the component's edge beside bright pixels that belong to no component", -6.87,
			func(c *candidate) float64 {
				if c.props.Edge == 0 {
					return 0
				}
				return float64(c.props.Leaks) / float64(c.props.Edge)
			}},
		{"darkest", "highest level of the darkest channel", 0.02507,
			func(c *candidate) float64 { return float64(c.props.Darkest) }},
		{"starlet", "largest value of starlet band 2 of v", 0.06452,
			func(c *candidate) float64 { return float64(c.props.Starlet) / 256 }},
		{"headroom", "mean contrast of the core over what the background leaves up to white, d / (1 − B)", 12.4,
			func(c *candidate) float64 { return c.contrast / math.Max(1-c.background, 0.02) }},
		{"background", "mean background", -16.32,
			func(c *candidate) float64 { return c.background }},
		{"core-area", "ln of the pixels of the core", -0.1861,
			func(c *candidate) float64 { return math.Log(c.coreArea) }},
		{"area", "ln of the pixels of the component", 0.523,
			func(c *candidate) float64 { return math.Log(c.area) }},
		{"mean-level", "mean v of the core", 0.0161,
			func(c *candidate) float64 { return float64(c.props.CoreLevel) / c.coreArea }},
		{"slope", "largest difference of v between horizontal neighbours inside the component", -0.04077,
			func(c *candidate) float64 { return float64(c.props.Slope) }},
		{"stray", "share of bright pixels that belong to no component, in the window of density", -85.16,
			func(c *candidate) float64 { return c.stray }},
	}
}

// white is the largest value of a luminance in 16 bits.
const white = 65535

// candidate is a core with its growth and what was measured of it.
type candidate struct {
	// props are the sums over the component that Measures reads.
	props *RegionProps
	// density and stray are the shares of bright and of stray pixels around the core, whiteLevel the picture's.
	density, stray, whiteLevel float64

	coreArea, area       float64
	contrast, background float64
	elongation           float64
	peak                 uint8 // highest level, 8-bit sRGB
	measures             []float64
	score                float64
}

// measure computes the rest of the candidate from props, density, stray and whiteLevel, with measures as long as list;
// encode is LuminanceTables.Encode8.
func (c *candidate) measure(list []Measure, encode []uint8) {
	t := c.props
	c.coreArea, c.area = float64(t.Core.N), float64(t.All.N)
	c.contrast = float64(t.CoreContrast) / c.coreArea / white
	c.background = float64(t.Background) / c.area / white
	c.elongation = t.Core.Elongation()
	c.peak = encode[t.PeakY]
	c.score = scoreOffset
	for i, m := range list {
		v := m.value(c)
		c.measures[i] = v
		c.score += m.Weight * v
	}
}

// middle returns the index of the pixel nearest to the centroid of the core in a picture of width w.
func middle(t *RegionProps, w int) uint32 {
	c := &t.Core
	x := int(math.Round(float64(c.SX) / float64(c.N)))
	y := int(math.Round(float64(c.SY) / float64(c.N)))
	return uint32(y*w + x)
}

// windowArea is the number of pixels of the window of radius r about (x, y) inside w × h.
func windowArea(x, y, w, h, r int) int {
	return (min(x+r, w-1) - max(x-r, 0) + 1) * (min(y+r, h-1) - max(y-r, 0) + 1)
}
