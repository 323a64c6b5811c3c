package detect

import (
	"blik/internal/message"

	"blik/processing"
)

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
	Runs []processing.Run `json:"-"`
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

// Found is what detection found, as the document keeps it.
type Found struct {
	// Mask has the size of the picture; cleaned up as the parameters say and clipped to the region.
	Mask *processing.Mask
	// Findings are the accepted glints before cleanup, clipped to the region.
	Findings []Finding
	// Params are the values that were used, in manual mode: detection of the same picture with them gives the same
	// mask.
	Params processing.Params
	// Chosen lists what adaptive mode measured and chose; empty in manual mode.
	Chosen []Chosen
	// Timings are the times of the stages.
	Timings []processing.StageTime
	// Device is the name of the backend that ran it.
	Device string
}

// Hide takes hidden pixels out of the result: out of the mask and of the findings, which are numbered again.
func (r *Found) Hide(h *processing.Hidden) {
	if h == nil {
		return
	}
	for i, is := range h.Pixels {
		if is {
			r.Mask.Pix[i] = 0
		}
	}
	w := r.Mask.Width
	kept := r.Findings[:0:0]
	for _, f := range r.Findings {
		if runs := visible(h, f.Runs, w); len(runs) > 0 {
			f.cut(runs)
			f.ID = len(kept) + 1
			kept = append(kept, f)
		}
	}
	r.Findings = kept
}

// visible returns the parts of runs that are not hidden, in a picture of width w.
func visible(h *processing.Hidden, runs []processing.Run, w int) []processing.Run {
	var out []processing.Run
	for _, r := range runs {
		for x := r.X0; x < r.X1; x++ {
			if !h.Pixels[r.Y*w+x] {
				out = processing.AppendRun(out, processing.Run{Y: r.Y, X0: x, X1: x + 1})
			}
		}
	}
	return out
}

// cut reduces a finding to some of its pixels.
func (f *Finding) cut(runs []processing.Run) {
	s := processing.NewSums()
	for _, r := range runs {
		s.Add(processing.Span{Y: int32(r.Y), X0: int32(r.X0), X1: int32(r.X1)})
	}
	if int(s.N) != f.Area {
		f.Runs = runs
		f.measure(s)
	}
}

// measure writes what the sums of the pixels say about a finding.
func (f *Finding) measure(s processing.Sums) {
	f.Area = int(s.N)
	f.X, f.Y = float64(s.SX)/float64(s.N)+0.5, float64(s.SY)/float64(s.N)+0.5
	f.Left, f.Top, f.Width, f.Height = int(s.Left), int(s.Top), int(s.Right-s.Left), int(s.Base-s.Top)
	f.Elongation = s.Elongation()
}
