package processing

import (
	"fmt"
	"math"

	"blik/internal/span"
)

// Span is a run of pixels of one row that belong to the same component, with the component's label.
type Span = span.Span

// Sums holds the exact sums of a component's pixels.
type Sums = span.Sums

// NewSums returns the sums of an empty set.
func NewSums() Sums { return span.NewSums() }

// Components are disjoint sets of pixels, labelled 0, 1, 2…, in the memory of the Backend that made them. A set may be
// empty.
type Components interface {
	// Len is the number of labels.
	Len() int
	// Release gives the memory back; releasing twice is harmless.
	Release()
}

// Growth limits how far a component may reach beyond its core. With a core of area A and r = √(A/π), in pixels:
//
//   - near = Base + Slope·r is always allowed;
//   - growth beyond near, up to far = FarBase + FarSlope·r, is kept only if it ends there: up to the first ring, one
//     pixel wide, of which less than the share Closed can grow. A glint fades out on all sides; if the rings stay open,
//     it touches bright paint, and only near is kept.
//
// Both are at most Limit. Cores of more than MaxCore pixels do not grow: no glint is that large.
//
// Each product and each sum is rounded to float64 on its own, so that all backends compute the same limits.
type Growth struct {
	Base, Slope, FarBase, FarSlope, Limit float64
	Closed                                float64
	MaxCore                               int
}

// MaxGrowth is the largest Limit in pixels: an offset and a squared distance must fit into the bits that they have on a
// GPU.
const MaxGrowth = 127

// Validate returns an error that says what is out of range.
func (g Growth) Validate() error {
	for _, v := range []float64{g.Base, g.Slope, g.FarBase, g.FarSlope, g.Closed, float64(g.MaxCore)} {
		if !(v >= 0) {
			return fmt.Errorf("growth %+v: no value may be negative", g)
		}
	}
	if !(g.Limit >= 0 && g.Limit <= MaxGrowth) {
		return fmt.Errorf("growth of up to %g pixels: must be between 0 and %d", g.Limit, MaxGrowth)
	}
	return nil
}

// Near returns how far a core of the given area may always grow, in pixels.
func (g Growth) Near(area int) float64 { return g.reach(area, g.Base, g.Slope) }

// Far returns how far a core of the given area may grow at most, in pixels.
func (g Growth) Far(area int) float64 {
	return max(g.Near(area), g.reach(area, g.FarBase, g.FarSlope))
}

func (g Growth) reach(area int, base, slope float64) float64 {
	if area > g.MaxCore {
		return 0
	}
	return math.Min(base+float64(slope*math.Sqrt(float64(area)/math.Pi)), g.Limit)
}

// Keep returns the squared distance up to which pixels grown from a core of the given area are kept. rings[k] counts
// the grown pixels at distances above k−1 and up to k pixels, for k up to ⌊Far⌋.
func (g Growth) Keep(area int, rings []int32) int32 {
	near := g.Near(area)
	keep := int32(near * near)
	radius := math.Sqrt(float64(area) / math.Pi)
	for k := int(near) + 1; k <= int(g.Far(area)); k++ {
		if full := 2 * math.Pi * (radius + float64(k) - 0.5); float64(rings[k]) < g.Closed*full {
			return max(keep, int32((k-1)*(k-1)))
		}
	}
	return keep
}
