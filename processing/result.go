package processing

import (
	"math"
	"slices"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/processing/internal/span"
	"blik/processing/network"
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
	// Peak is the highest luminance, 0…255 as on an 8-bit sRGB screen.
	Peak int `json:"peak"`
	// Contrast is the mean rise of linear luminance over the background in the core, 0…1.
	Contrast float64 `json:"contrast"`
	// Elongation is the ratio of the long axis to the short one, at least 1.
	Elongation float64 `json:"elongation"`
	// Score is how certain the decision is, in steps of the sensitivity: at least 0 at the sensitivity 0.
	Score float64 `json:"score"`
	// Reasons are what speaks for it and against it, strongest first.
	Reasons []Reason `json:"reasons"`
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

// Options of Detect besides the parameters.
type Options struct {
	// Region limits the search; nil is the whole picture. Detection sees the surroundings as well: the mask is that of
	// the whole picture, clipped.
	Region *Region
	// Progress may be nil.
	Progress Progress
	// Decision decides what is glare; nil is the one that the program was built with.
	Decision *Decision
	// Network finds the glints; nil is the one that the program was built with.
	Network *network.Model
	// Memory, if not nil, keeps what is measured for a further Detect.
	Memory *Memory
	// Vectors: Candidates also returns the vector of each candidate, for learning.
	Vectors bool
	// noise, if not nil, is that of the whole picture of which this one is a part.
	noise *float64
	// exposure, if not nil, is how that part of the whole picture is brightened.
	exposure *exposure
	// cutting, if not nil, says what the picture is a part of.
	cutting *cutting
}

// Candidate is a spot that detection considered, with its measures.
type Candidate struct {
	// Measures are the values of the measures in the order of Measures.
	Measures []float64
	// Score is the value of the linear decision function, before sensitivity.
	Score float64
	// Reduced: it was found in the picture at half or a quarter of its size.
	Reduced bool
	// Searched: the classical search found it, too.
	Searched bool
	// Peak is the highest level of its darkest channel.
	Peak int
	// Runs are the pixels of the component, core and growth, in reading order.
	Runs []Run
	// Vector describes it (see Learned); nil unless Options.Vectors is set.
	Vector []float64
}

// clip cuts the spans down to the region.
func clip(spans []Span, r *Region, w int) []Span {
	var out []Span
	row, inside := int32(-1), []Run(nil)
	for _, s := range spans {
		if s.Y != row {
			row, inside = s.Y, r.Spans(int(s.Y), w)
		}
		for _, in := range inside {
			if a, b := max(s.X0, int32(in.X0)), min(s.X1, int32(in.X1)); a < b {
				out = append(out, Span{Y: s.Y, X0: a, X1: b, Label: s.Label})
			}
		}
	}
	return out
}

// findings joins touching candidates into findings, each explained by the candidate with the highest score.
func findings(spans []Span, cands []candidate, explain func(measures []float64) []Reason) []Finding {
	if len(spans) == 0 {
		return nil
	}
	joined := slices.Clone(spans)
	n := span.Connect(joined, span.Eight)
	// Sort the spans by finding: those of finding i are order[begin[i]:begin[i+1]].
	order, begin := make([]int32, len(joined)), make([]int, n+1)
	for i := range joined {
		begin[joined[i].Label+1]++
	}
	for i := range n {
		begin[i+1] += begin[i]
	}
	next := slices.Clone(begin)
	for i := range joined {
		at := &next[joined[i].Label]
		order[*at] = int32(i)
		*at++
	}
	found, runs := make([]Finding, n), make([]Run, len(joined))
	parallel.Split(n, 64, func(from, to int) {
		for i := from; i < to; i++ {
			f := &found[i]
			*f = Finding{ID: i + 1, Score: math.Inf(-1), Runs: runs[begin[i]:begin[i]:begin[i+1]]}
			s, best := NewSums(), (*candidate)(nil)
			for _, k := range order[begin[i]:begin[i+1]] {
				r, c := spans[k], &cands[spans[k].Label]
				s.Add(r)
				if c.score > f.Score {
					f.Score, best = c.score, c
				}
				f.Peak = max(f.Peak, int(c.look.peak))
				f.Contrast += float64(c.look.rise * c.look.white * float64(r.X1-r.X0))
				if k := len(f.Runs); k > 0 && f.Runs[k-1].Y == int(r.Y) && f.Runs[k-1].X1 == int(r.X0) {
					f.Runs[k-1].X1 = int(r.X1)
				} else {
					f.Runs = append(f.Runs, Run{int(r.Y), int(r.X0), int(r.X1)})
				}
			}
			f.Contrast /= float64(s.N)
			f.X, f.Y = float64(s.SX)/float64(s.N)+0.5, float64(s.SY)/float64(s.N)+0.5
			f.Left, f.Top, f.Width, f.Height = int(s.Left), int(s.Top), int(s.Right-s.Left), int(s.Base-s.Top)
			f.Area = int(s.N)
			f.Elongation = s.Elongation()
			f.Reasons = best.reasons(explain)
		}
	})
	return found
}
