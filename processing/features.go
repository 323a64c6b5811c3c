package processing

import "math"

// Feature is a measure of a candidate that the score may weigh.
type Feature uint8

// The features. Luminances and contrasts are linear, 0…1; levels are 8-bit sRGB, 0…255.
const (
	// FeatureContrast is the mean contrast of the core.
	FeatureContrast Feature = iota
	// FeaturePeakContrast is the largest contrast.
	FeaturePeakContrast
	// FeatureDensity is the share of visibly bright pixels in a large window about the core.
	FeatureDensity
	// FeatureWhite is the highest level less the picture's white level.
	FeatureWhite
	// FeatureElongation is √(λ1/λ2) of the core's second moments.
	FeatureElongation
	// FeatureTexture is the local standard deviation outside all candidates over the background (+ 0.02).
	FeatureTexture
	// FeatureLeak is the share of the component's edge beside bright pixels that belong to no component.
	FeatureLeak
	// FeatureDarkest is the highest level of the darkest channel.
	FeatureDarkest
	// FeatureStarlet is the largest value of starlet band 2 of v.
	FeatureStarlet
	// FeatureHeadroom is the mean contrast of the core over the room that the background leaves, d / (1 − B).
	FeatureHeadroom
	// FeatureBackground is the mean background.
	FeatureBackground
	// FeatureCoreArea and FeatureArea are ln of the pixels of core and component.
	FeatureCoreArea
	FeatureArea
	// FeatureMeanLevel is the mean v of the core.
	FeatureMeanLevel
	// FeatureSlope is the largest difference of v between horizontal neighbours inside the component.
	FeatureSlope
	// FeatureStray is the share, in the window of FeatureDensity, of bright pixels that belong to no component.
	FeatureStray
	featureCount
)

// featureNames are short names in the order of the features.
var featureNames = [featureCount]string{
	"contrast", "peak-contrast", "density", "white", "elongation", "texture", "leak", "darkest", "starlet",
	"headroom", "background", "core-area", "area", "mean-level", "slope", "stray",
}

// String returns the feature's short name.
func (f Feature) String() string { return featureNames[f] }

// candidate is a core with its growth and what was measured of it.
type candidate struct {
	core, all Sums
	features  [featureCount]float64
	peak      uint8 // highest level, 8-bit sRGB
	score     float64
}

// middle returns the index of the pixel nearest to the centroid of the core in a picture of width w.
func middle(t *Tally, w int) uint32 {
	c := &t.Core
	x := int(math.Round(float64(c.SX) / float64(c.N)))
	y := int(math.Round(float64(c.SY) / float64(c.N)))
	return uint32(y*w + x)
}

// windowArea is the number of pixels of the window of radius r about (x, y) inside w × h.
func windowArea(x, y, w, h, r int) int {
	return (min(x+r, w-1) - max(x-r, 0) + 1) * (min(y+r, h-1) - max(y-r, 0) + 1)
}

// newCandidate makes the features from the sums of a component, the shares of bright and of stray pixels around it, and
// the picture's white level; encode is LumaTables.Encode8.
func newCandidate(t *Tally, density, stray, whiteLevel float64, encode []uint8) candidate {
	const white = 65535
	n, m := float64(t.Core.N), float64(t.All.N)
	contrast := float64(t.CoreContrast) / n / white
	background := float64(t.Background) / m / white
	level := encode[t.PeakY]
	c := candidate{core: t.Core, all: t.All, peak: level}
	leak := 0.0
	if t.Edge > 0 {
		leak = float64(t.Leaks) / float64(t.Edge)
	}
	c.features = [featureCount]float64{
		FeatureContrast:     contrast,
		FeaturePeakContrast: float64(t.PeakContrast) / white,
		FeatureDensity:      density,
		FeatureWhite:        float64(level) - whiteLevel,
		FeatureElongation:   t.Core.Elongation(),
		FeatureTexture:      float64(t.Spread) / m / white / (background + 0.02),
		FeatureLeak:         leak,
		FeatureDarkest:      float64(t.Darkest),
		FeatureStarlet:      float64(t.Starlet) / 256,
		FeatureHeadroom:     contrast / math.Max(1-background, 0.02),
		FeatureBackground:   background,
		FeatureCoreArea:     math.Log(n),
		FeatureArea:         math.Log(m),
		FeatureMeanLevel:    float64(t.CoreLevel) / n,
		FeatureSlope:        float64(t.Slope),
		FeatureStray:        stray,
	}
	return c
}
