package fit

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"blik/processing"
)

// Exposure is how an 8-bit sRGB picture would have been photographed with less light.
type Exposure struct {
	// Share is that of the light, 0…1.
	Share float64
	// Noise: the sensor's pixels hold 10,000 electrons at white, which arrive by chance, and are read with a standard
	// deviation of 10.
	Noise bool
}

// Exposures are those that ReportExposures compares; the first one is the picture as it is.
func Exposures() []Exposure {
	return []Exposure{{1, false}, {0.5, false}, {0.25, false}, {1, true}, {0.5, true}, {0.25, true}}
}

// Take returns the picture at the exposure; the same seed gives the same noise.
func (e Exposure) Take(pic *processing.Picture, seed uint64) *processing.Picture {
	const white, read = 10_000, 10
	var light [256]float64
	for i := range light {
		light[i] = e.Share * processing.TransferSRGB.Linear(float64(i)/255)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	taken := *pic
	taken.U8 = make([]uint8, len(pic.U8))
	for i, v := range pic.U8 {
		x := light[v]
		if e.Noise {
			x += math.Sqrt(x*white+read*read) / white * random.NormFloat64()
		}
		taken.U8[i] = uint8(processing.TransferSRGB.Encode(min(max(x, 0), 1))*255 + 0.5)
	}
	return &taken
}

// findExposed finds the candidates of the classical search at each of Exposures but the first, of which it has them.
func (e *Example) findExposed(ctx context.Context, be processing.Backend, pic *processing.Picture) error {
	p := processing.DefaultParams()
	p.Detector = processing.DetectClassic
	e.Exposed = [][]processing.Candidate{e.Candidates[processing.RuleClassic]}
	for k, x := range Exposures()[1:] {
		found, err := processing.Candidates(ctx, be, x.Take(pic, uint64(k)), p, processing.Options{})
		if err != nil {
			return err
		}
		e.Exposed = append(e.Exposed, found)
	}
	return nil
}

// reportExposures prints what the classical detector finds of the examples at each of Exposures, at the sensitivity 0
// of the pictures as they are, by a rule that was fitted without the paintings of one of n folds.
func reportExposures(w io.Writer, examples []Example, n int) error {
	paintings := make([]string, len(examples))
	for i := range examples {
		paintings[i] = examples[i].Painting
	}
	folds := Folds(paintings, n)
	rules, err := withoutFolds(examples, folds, n, processing.RuleClassic, sourcesOf(processing.RuleClassic))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%-16s %7s %6s %6s %6s %6s %6s | %8s %6s\n", "classic at light", "objR", "bright", "strong",
		"objP", "F1", "F1t", "false/MP", "ppm")
	least := 0.0
	for k, x := range Exposures() {
		var glare, clean, all []scored
		for i := range examples {
			e := &examples[i]
			s := e.scored(e.Exposed[k], rules[folds[e.Painting]])
			all = append(all, s)
			if e.Kind == "clean" {
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
		fmt.Fprintf(w, "%-16s %7.3f %6.3f %6.3f %6.3f %6.3f %6.3f | %8.1f %6.0f\n", name, f.ObjR,
			f.share(f.brightFound, f.bright), f.share(f.strongFound, f.strong), f.ObjP, f.F1, f.F1Tol, c.falseRate,
			c.ppm)
	}
	return nil
}

// sourcesOf returns the sources of a rule's measures.
func sourcesOf(rule string) []processing.Source {
	for _, r := range Rules() {
		if r.ID == rule {
			return r.Sources
		}
	}
	return nil
}
