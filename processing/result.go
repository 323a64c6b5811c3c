package processing

import "blik/internal/message"

// Finding is one glint: a connected component of what detection accepted.
type Finding struct {
	// ID counts from 1 in reading order of the topmost, leftmost pixel.
	ID int `json:"id"`
	// X and Y are the centroid in pixels; the centre of the first pixel is (0.5, 0.5).
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Left, Top, Width and Height are the bounding box in pixels.
	Left   int `json:"left"`
	Top    int `json:"top"`
	Width  int `json:"width"`
	Height int `json:"height"`
	// Area is the number of pixels.
	Area int `json:"area"`
	// Peak is the highest level, 0…255 as on an 8-bit sRGB screen.
	Peak int `json:"peak"`
	// Contrast is how far the peak rises above the ground around in linear light, 0…1.
	Contrast float64 `json:"contrast"`
	// Elongation is the ratio of the long axis to the short one, at least 1.
	Elongation float64 `json:"elongation"`
	// Score is the strength in steps of the sensitivity: at least 0 at the sensitivity 0.
	Score float64 `json:"score"`
	Evidence
	// Runs are its pixels in reading order.
	Runs []Run `json:"-"`
}

// Chosen is a value that adaptive mode measured or chose, and why.
type Chosen struct {
	// ID is the ID of a parameter, or "noise", which is measured.
	ID    string          `json:"id"`
	Name  message.Message `json:"-"`
	Unit  message.Message `json:"-"`
	Value float64         `json:"value"`
	Why   message.Message `json:"-"`
}

// Result is what detection found.
type Result struct {
	// Mask has the size of the picture; cleaned up as the parameters say and clipped to the region.
	Mask *Mask
	// Findings are the accepted glints before cleanup, clipped to the region.
	Findings []Finding
	// Params are the values that were used, in manual mode: detection of the same picture with them gives the same
	// mask.
	Params Params
	// Chosen lists what adaptive mode measured and chose; empty in manual mode.
	Chosen []Chosen
	// Timings are the times of the stages.
	Timings []StageTime
	// Device is the name of the backend that ran it.
	Device string
}

// Progress reports how far a job is: a stage's name and the share done of the whole, 0…1. It may be called from any
// goroutine and must return at once.
type Progress func(stage message.Message, done float64)
