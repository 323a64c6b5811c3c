package processing

import (
	"math"
	"os"
	"strings"
	"testing"
)

// TestMeasures computes every measure of one candidate: a core of 2 × 2 pixels at (10, 20) in a component of 4 × 2.
func TestMeasures(t *testing.T) {
	props := &RegionProps{
		Core: NewSums(), All: NewSums(),
		CoreContrast: 4 * 13107, CoreLevel: 4 * 200, Background: 8 * 13107, Deviation: 8 * 6553,
		PeakContrast: 32768, PeakY: 65535, Starlet: 512, Darkest: 180, Slope: 33, Edge: 8, Leaks: 2,
	}
	for y := int32(20); y < 22; y++ {
		props.Core.Add(Span{Y: y, X0: 10, X1: 12})
		props.All.Add(Span{Y: y, X0: 9, X1: 13})
	}
	encode := make([]uint8, 65536)
	encode[65535] = 255
	c := candidate{props: props, density: 0.25, stray: 0.125, whiteLevel: 240,
		measures: make([]float64, len(Measures()))}
	c.measure(Measures(), encode)

	want := map[string]float64{
		"contrast":      0.2,
		"peak-contrast": 32768.0 / 65535,
		"density":       0.25,
		"white":         15,
		"elongation":    1,
		"texture":       6553.0 / 65535 / 0.22,
		"leak":          0.25,
		"darkest":       180,
		"starlet":       2,
		"headroom":      0.25,
		"background":    0.2,
		"core-area":     math.Log(4),
		"area":          math.Log(8),
		"mean-level":    200,
		"slope":         33,
		"stray":         0.125,
	}
	score := scoreOffset
	for i, m := range Measures() {
		v, ok := want[m.Name]
		if !ok {
			t.Errorf("the test has no row for %s", m.Name)
		}
		if math.Abs(c.measures[i]-v) > 1e-12 {
			t.Errorf("%s is %g, want %g", m.Name, c.measures[i], v)
		}
		if m.Help == "" || m.Weight == 0 {
			t.Errorf("%s: help %q, weight %g", m.Name, m.Help, m.Weight)
		}
		score += m.Weight * v
		delete(want, m.Name)
	}
	for name := range want {
		t.Errorf("there is no measure %s, or it is listed twice", name)
	}
	if math.Abs(c.score-score) > 1e-9 {
		t.Errorf("score %g, want %g", c.score, score)
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
