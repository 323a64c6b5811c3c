package tool

import "math"

// BrushSteps is the number of positions of the brush slider, which is logarithmic from MinRadius to sliderRadius.
const (
	BrushSteps   = 100
	MinRadius    = 0.5
	sliderRadius = 300
)

// BrushRadius returns the radius in pixels of a position of the brush slider, in halves.
func BrushRadius(step float64) float64 {
	return math.Round(MinRadius*math.Pow(sliderRadius/MinRadius, step/BrushSteps)*2) / 2
}

// BrushStep returns the position of the brush slider for a radius.
func BrushStep(radius float64) float64 {
	return math.Round(BrushSteps * math.Log(min(radius, sliderRadius)/MinRadius) / math.Log(sliderRadius/MinRadius))
}
