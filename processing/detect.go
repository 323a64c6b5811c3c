package processing

import (
	"context"
	"errors"
)

// Finding is one glint: a connected component of the mask.
type Finding struct {
	// ID counts from 1 in reading order of the topmost, leftmost pixel.
	ID int `json:"id"`
	// X and Y are the centroid in pixels; the middle of the first pixel is (0.5, 0.5).
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Left, Top, Width and Height are the bounding box in pixels.
	Left   int `json:"left"`
	Top    int `json:"top"`
	Width  int `json:"width"`
	Height int `json:"height"`
	// Area is the number of pixels.
	Area int `json:"area"`
	// Peak is the highest luminance, 0…255 as on an 8-bit sRGB screen.
	Peak int `json:"peak"`
	// Contrast is the mean rise of linear luminance over the background in the core, 0…1.
	Contrast float64 `json:"contrast"`
	// Elongation is the ratio of the long axis to the short one, at least 1.
	Elongation float64 `json:"elongation"`
	// Score is the linear decision score; at least 0 (before sensitivity) for an ordinary finding.
	Score float64 `json:"score"`
	// Runs are its pixels in reading order.
	Runs []Run `json:"-"`
}

// Chosen is a value that adaptive mode took, and why.
type Chosen struct {
	// ID is the parameter's ID, or the name of a measured figure that is no parameter ("noise", "white").
	ID    string  `json:"id"`
	Name  Text    `json:"-"`
	Unit  Text    `json:"-"`
	Value float64 `json:"value"`
	Why   Text    `json:"-"`
}

// Result is what detection found.
type Result struct {
	// Mask has the size of the picture; cleaned up as the parameters say and clipped to the region.
	Mask *Mask
	// Findings are the accepted glints before cleanup, clipped to the region.
	Findings []Finding
	// Params are the values used, in manual mode: running them again on the same picture gives the same mask.
	Params Params
	// Chosen lists what adaptive mode measured and chose; empty in manual mode.
	Chosen []Chosen
	// Timings are the stages of the backend.
	Timings []StageTime
	// Device is the name of the backend that ran it.
	Device string
}

// Progress is told how far a job is: a stage's name and the share done of the whole, 0…1. It may be called from any
// goroutine and must return at once.
type Progress func(stage Text, done float64)

// Options of Detect besides the parameters.
type Options struct {
	// Region limits the search; nil is the whole picture. Detection sees the surroundings as well: the mask is that
	// of the whole picture, clipped.
	Region *Region
	// Progress may be nil.
	Progress Progress
}

// Detect finds the glare on pic. It returns ctx.Err() within 100 ms of a cancel, and an error for a picture, parameters
// or a region that are not valid.
func Detect(ctx context.Context, b Backend, pic *Picture, p Params, o Options) (*Result, error) {
	return nil, errors.New("not built yet")
}
