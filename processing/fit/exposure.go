package fit

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"blik/processing"
	"blik/processing/network"
)

// Exposure is an amount of light with which an 8-bit sRGB picture might have been photographed.
type Exposure struct {
	// Share is the share of the light; what exceeds white is clipped.
	Share float64
	// Noise adds that of a sensor: its pixels hold 10,000 electrons at white, with shot noise, and are read with a
	// standard deviation of 10.
	Noise bool
}

// Exposures are the exposures that Report compares; the first one is the picture as it is.
func Exposures() []Exposure {
	return []Exposure{{1, false}, {0.5, false}, {0.25, false}, {1, true}, {0.5, true}, {0.25, true}, {2, false}}
}

// Take returns the picture at the exposure; the same seed gives the same noise.
func (e Exposure) Take(pic *processing.Picture, seed uint64) *processing.Picture {
	const white, read = 10_000, 10
	sample := func(x float64) uint8 { return uint8(processing.TransferSRGB.Encode(min(max(x, 0), 1))*255 + 0.5) }
	var light [256]float64
	var samples [256]uint8
	for i := range light {
		light[i] = e.Share * processing.TransferSRGB.Linear(float64(i)/255)
		samples[i] = sample(light[i])
	}
	random := rand.New(rand.NewPCG(seed, 0))
	taken := *pic
	taken.U8 = make([]uint8, len(pic.U8))
	for i, v := range pic.U8 {
		taken.U8[i] = samples[v]
		if e.Noise {
			x := light[v]
			taken.U8[i] = sample(x + math.Sqrt(x*white+read*read)/white*random.NormFloat64())
		}
	}
	return &taken
}

// findExposed finds the candidates of every rule at each of Exposures except the first.
func (e *Example) findExposed(
	ctx context.Context, be processing.Backend, pic *processing.Picture, model *network.Model,
) error {
	e.Exposed = map[string][][]processing.Candidate{}
	for _, r := range Rules() {
		e.Exposed[r.ID] = [][]processing.Candidate{e.Candidates[r.ID]}
	}
	for k, x := range Exposures()[1:] {
		taken := x.Take(pic, uint64(k))
		for _, r := range Rules() {
			p := processing.DefaultParams()
			p.Detector = r.Detector
			found, err := processing.Candidates(ctx, be, taken, p, processing.Options{Network: model})
			if err != nil {
				return err
			}
			e.Exposed[r.ID] = append(e.Exposed[r.ID], atFullSize(found))
		}
	}
	return nil
}

// reportExposures prints what a rule finds in the examples at each of Exposures, at sensitivity 0 of the unchanged
// pictures; rules are its weights fitted without each fold. It prints nothing if candidates were not asked for.
func reportExposures(w io.Writer, examples []Example, folds map[string]int, rule string, rules []*processing.Rule) {
	if len(examples) == 0 || examples[0].Exposed == nil {
		return
	}
	fmt.Fprintf(w, "\n%-16s %7s %6s %6s %6s %6s %6s %6s | %8s %6s\n", rule+" at light", "objR", "bright", "dim",
		"strong", "objP", "F1", "F1t", "false/MP", "ppm")
	least := 0.0
	for k, x := range Exposures() {
		all := leftOut(examples, folds, rules, func(e *Example) []processing.Candidate { return e.Exposed[rule][k] })
		var glare, clean []scored
		for _, s := range all {
			if s.Kind == "clean" {
				clean = append(clean, s)
			} else {
				glare = append(glare, s)
			}
		}
		if k == 0 {
			s := scale(all)
			least = at(&s, 0)
		}
		f, c := measure(glare, least), measure(clean, least)
		name := fmt.Sprintf("%g", x.Share)
		if x.Noise {
			name += " and noise"
		}
		fmt.Fprintf(w, "%-16s %7.3f %6.3f %6.3f %6.3f %6.3f %6.3f %6.3f | %8.1f %6.0f\n", name, f.ObjR,
			f.share(f.brightFound, f.bright), f.share(f.dimFound, f.dim), f.share(f.strongFound, f.strong), f.ObjP,
			f.F1, f.F1Tol, c.falseRate, c.ppm)
	}
}
