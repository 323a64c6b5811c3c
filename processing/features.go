package processing

import (
	"context"
	"math"
)

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
	core, all shape
	features  [featureCount]float64
	peak      uint8 // highest level, 8-bit sRGB
	score     float64
}

// tally accumulates the integer sums of a candidate.
type tally struct {
	core, all          shape
	coreContrast       uint64
	background, spread uint64
	coreLevel          uint64
	peakContrast       uint16
	peakY, starlet     uint16
	darkest            uint8
	slope              uint8
	edge, leaks        int
}

// gatherChunk bounds how many pixels are measured at once.
const gatherChunk = 1 << 20

// scene is what tallies are taken of: host copies of the class and component planes, and the planes to gather from.
type scene struct {
	w, h                     int
	cls, member              []uint8
	y, b, v, spread, starlet Plane
	encode                   []uint8
	white                    float64
}

// tallies sums up n candidates whose labelled spans are given.
func tallies(ctx context.Context, be Backend, s *scene, spans []span, n int) ([]tally, error) {
	t := make([]tally, n)
	for i := range t {
		t[i].core, t[i].all = newShape(), newShape()
	}
	index := make([]uint32, 0, gatherChunk)
	var chunk []span
	flush := func() error {
		err := tallyChunk(ctx, be, s, t, chunk, index)
		chunk, index = chunk[:0], index[:0]
		return err
	}
	for _, r := range spans {
		if len(index)+int(r.x1-r.x0) > gatherChunk {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		chunk = append(chunk, r)
		for x := r.x0; x < r.x1; x++ {
			index = append(index, uint32(int(r.y)*s.w+int(x)))
		}
	}
	return t, flush()
}

// middle returns the index of the pixel nearest to the centroid of the core in a picture of width w.
func (t *tally) middle(w int) uint32 {
	c := &t.core
	x := int(math.Round(float64(c.sx) / float64(c.n)))
	y := int(math.Round(float64(c.sy) / float64(c.n)))
	return uint32(y*w + x)
}

// windowArea is the number of pixels of the window of radius r about (x, y) inside w × h.
func windowArea(x, y, w, h, r int) int {
	return (min(x+r, w-1) - max(x-r, 0) + 1) * (min(y+r, h-1) - max(y-r, 0) + 1)
}

// tallyChunk adds the pixels of some spans, whose indices are given in the same order, to the sums of their labels.
func tallyChunk(ctx context.Context, be Backend, s *scene, t []tally, spans []span, index []uint32) error {
	planes := []Plane{s.y, s.b, s.v, s.spread, s.starlet}
	values := make([][]uint32, len(planes))
	for i, p := range planes {
		values[i] = make([]uint32, len(index))
		if err := be.Gather(ctx, values[i], p, index); err != nil {
			return err
		}
	}
	y, b, v, spread, starlet := values[0], values[1], values[2], values[3], values[4]
	k := 0
	for _, r := range spans {
		c := &t[r.label]
		c.all.add(r)
		for x := int(r.x0); x < int(r.x1); x, k = x+1, k+1 {
			at := int(index[k])
			var d uint16
			if y[k] > b[k] {
				d = uint16(y[k] - b[k])
			}
			if s.cls[at]&ClassCore != 0 {
				c.core.add(span{r.y, int32(x), int32(x + 1), r.label})
				c.coreContrast += uint64(d)
				c.coreLevel += uint64(v[k])
			}
			c.background += uint64(b[k])
			c.spread += uint64(spread[k])
			c.peakContrast = max(c.peakContrast, d)
			c.peakY = max(c.peakY, uint16(y[k]))
			c.starlet = max(c.starlet, uint16(starlet[k]))
			c.darkest = max(c.darkest, darkest(uint8(v[k]), s.encode[y[k]]))
			if x+1 < int(r.x1) {
				c.slope = max(c.slope, uint8(max(v[k], v[k+1])-min(v[k], v[k+1])))
			}
			s.edge(c, x, int(r.y))
		}
	}
	return nil
}

// darkest is the darkest channel's level, as far as v = (level of Y + darkest) >> 1 tells it.
func darkest(v, level uint8) uint8 {
	return uint8(max(2*int(v)-int(level), 0))
}

// edge counts (x, y) if it lies on the edge of the components, and as a leak if it touches a bright pixel outside them.
func (s *scene) edge(c *tally, x, y int) {
	inner, leak := true, false
	for py := max(y-1, 0); py <= min(y+1, s.h-1); py++ {
		for px := max(x-1, 0); px <= min(x+1, s.w-1); px++ {
			if at := py*s.w + px; s.member[at] == 0 {
				inner = false
				leak = leak || s.cls[at]&ClassWide != 0
			}
		}
	}
	if !inner {
		c.edge++
	}
	if leak {
		c.leaks++
	}
}

func (t *tally) candidate(s *scene, density, stray float64) candidate {
	const white = 65535
	n, m := float64(t.core.n), float64(t.all.n)
	contrast := float64(t.coreContrast) / n / white
	background := float64(t.background) / m / white
	level := s.encode[t.peakY]
	c := candidate{core: t.core, all: t.all, peak: level}
	leak := 0.0
	if t.edge > 0 {
		leak = float64(t.leaks) / float64(t.edge)
	}
	c.features = [featureCount]float64{
		FeatureContrast:     contrast,
		FeaturePeakContrast: float64(t.peakContrast) / white,
		FeatureDensity:      density,
		FeatureWhite:        float64(level) - s.white,
		FeatureElongation:   t.core.elongation(),
		FeatureTexture:      float64(t.spread) / m / white / (background + 0.02),
		FeatureLeak:         leak,
		FeatureDarkest:      float64(t.darkest),
		FeatureStarlet:      float64(t.starlet) / 256,
		FeatureHeadroom:     contrast / math.Max(1-background, 0.02),
		FeatureBackground:   background,
		FeatureCoreArea:     math.Log(n),
		FeatureArea:         math.Log(m),
		FeatureMeanLevel:    float64(t.coreLevel) / n,
		FeatureSlope:        float64(t.slope),
		FeatureStray:        stray,
	}
	return c
}
