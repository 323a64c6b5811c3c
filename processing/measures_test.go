package processing

import (
	"math"
	"os"
	"strings"
	"testing"
)

// TestMeasures computes every measure of one candidate: a core of 2 × 2 pixels at (10, 20) in a component of 4 × 2 of
// the search, which the network finds too.
func TestMeasures(t *testing.T) {
	t.Parallel()
	props := &RegionProps{
		Core: NewSums(), All: NewSums(),
		CoreContrast: 4 * 13107, CoreLevel: 4 * 200, Background: 8 * 13107, Deviation: 8 * 6553,
		PeakContrast: 32768, PeakY: 65535, Starlet: 512, Darkest: 180, Slope: 33, Edge: 8, Leaks: 2,
	}
	for y := int32(20); y < 22; y++ {
		props.Core.Add(Span{Y: y, X0: 10, X1: 12})
		props.All.Add(Span{Y: y, X0: 9, X1: 13})
	}
	c := candidate{
		searched:   searched{props: props, density: 0.25, stray: 0.125},
		glint:      glint{strong: 9, wide: 16, peak: 3, pixels: 20, sure: 5},
		neighbours: 3, company: 2.5,
		look: look{
			core: 4, area: 120, rise: 0.3, peakRise: 0.6, ground: 0.25, spread: 0.061, flat: 0.08, crowd: 0.125, chroma: 0.1,
			red: 0.2, blue: -0.3, saturation: 0.4, groundSaturation: 0.5, clipped: 0.75, darkest: 200, elongation: 1.5,
			fill: 0.9, white: 0.5,
		},
		measures: make([]float64, len(Measures())),
	}
	c.measure(Measures())
	want := map[string]float64{
		"network": 3, "network-wide": 4, "network-peak": 3, "network-sure": 0.25, "network-size": math.Log(20),
		"network-mean": 1.8, "network-first": 3, "network-log": math.Log(10), "large": math.Log(2), "huge": 0,
		"large-white": math.Log(2) / 4,
		"neighbours":  math.Log(4), "company": 2.5,
		"rise": 0.3, "peak-rise": 0.6, "ratio": math.Log(0.56 / 0.26), "headroom": 0.4, "ground": 0.25, "rough": 0.1,
		"crowd": 0.125, "clipped": 0.75, "darkest": 200, "chroma": 0.1, "red": 0.2, "blue": -0.3, "saturation": 0.4,
		"ground-saturation": 0.5, "sharp": 0.6 / math.Sqrt(120), "flat": 0.25, "area": math.Log(120), "core-area": math.Log(4),
		"elongation": 1.5, "fill": 0.9,
		"search": 1, "contrast": 0.2, "density": 0.25, "stray": 0.125, "leak": 0.25,
		"texture": 6553.0 / 65535 / 0.22, "starlet": 2, "slope": 33, "mean-level": 200, "background": 0.2,
		"white": math.Log(0.5),
	}
	for i, m := range Measures() {
		v, ok := want[m.Name]
		if !ok {
			t.Errorf("the test has no row for %s", m.Name)
		}
		if math.Abs(c.measures[i]-v) > 1e-9 {
			t.Errorf("%s is %g, want %g", m.Name, c.measures[i], v)
		}
		if m.Help == "" {
			t.Errorf("%s has no help", m.Name)
		}
		delete(want, m.Name)
	}
	for name := range want {
		t.Errorf("there is no measure %s, or it is listed twice", name)
	}
	c.props = nil
	c.measure(Measures())
	for i, m := range Measures() {
		if lacks := math.IsNaN(c.measures[i]); lacks != (m.Source == FromSearch) {
			t.Errorf("without the search, %s is %g", m.Name, c.measures[i])
		}
	}
}

// TestTablesAreDocumented looks for every measure in the table of docs/detection.md and for every method in the one of
// docs/correction.md.
func TestTablesAreDocumented(t *testing.T) {
	measures := rowsOfDocument(t, "../docs/detection.md")
	for _, m := range Measures() {
		if !measures[m.Name] {
			t.Errorf("docs/detection.md has no row for the measure %s", m.Name)
		}
	}
	listed := rowsOfDocument(t, "../docs/correction.md")
	for _, m := range Methods() {
		if !listed[m.ID()] {
			t.Errorf("docs/correction.md has no row for the method %s", m.ID())
		}
	}
}

// rowsOfDocument returns the names in the first column of the tables of a document; a cell may hold several.
func rowsOfDocument(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok {
			for name := range strings.SplitSeq(first, ", ") {
				documented[name] = true
			}
		}
	}
	return documented
}
