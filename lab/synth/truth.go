package synth

import (
	"math"
	"slices"

	"blik/internal/span"
	"blik/processing"
)

// Glare is visible where the linear luminance rises by more than VisibleRise of white and by more than VisibleShare
// of its clean value.
const (
	VisibleRise  = 0.08
	VisibleShare = 0.25
)

// Visible reports whether the rise from the clean luminance to the rendered one (linear light, 0…1, clipped at white)
// counts as glare.
func Visible(clean, rendered float32) bool {
	d := rendered - clean
	return d > VisibleRise && d > VisibleShare*clean
}

// Stats describes the glare that was rendered.
type Stats struct {
	// Glints is the number of glints placed; some may be invisible on bright paint and some fuse.
	Glints int `json:"glints"`
	// Components is the number of 8-connected parts of the truth.
	Components int `json:"components"`
	// Area is the number of pixels of the truth, Share that over all pixels.
	Area  int     `json:"area"`
	Share float64 `json:"share"`
	// AreaP10, AreaP50, AreaP90 and AreaMax describe the areas of the components in pixels.
	AreaP10 int `json:"area_p10"`
	AreaP50 int `json:"area_p50"`
	AreaP90 int `json:"area_p90"`
	AreaMax int `json:"area_max"`
	// Clipped is the share of the truth's pixels where every channel reached white before noise.
	Clipped float64 `json:"clipped"`
}

func (s *Stats) measure(m *processing.Mask, clipped int) {
	areas := componentAreas(m)
	slices.Sort(areas)
	s.Components = len(areas)
	for _, a := range areas {
		s.Area += a
	}
	s.Share = float64(s.Area) / float64(m.Width*m.Height)
	if len(areas) == 0 {
		return
	}
	at := func(q float64) int { return areas[int(math.Round(q*float64(len(areas)-1)))] }
	s.AreaP10, s.AreaP50, s.AreaP90, s.AreaMax = at(0.1), at(0.5), at(0.9), at(1)
	s.Clipped = float64(clipped) / float64(s.Area)
}

// componentAreas returns the areas of the 8-connected components.
func componentAreas(m *processing.Mask) []int {
	spans := span.Append(nil, m.Pix, m.Width, 0, m.Height, processing.MaskLevel)
	areas := make([]int, span.Connect(spans, span.Eight))
	for _, s := range spans {
		areas[s.Label] += int(s.X1 - s.X0)
	}
	return areas
}
