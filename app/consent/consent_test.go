package consent_test

import (
	"strings"
	"testing"

	"blik/app/consent"
	"blik/processing"
	"blik/processing/detect"
)

// drawn returns a mask of 20 × 4 pixels with the runs of some findings.
func drawn(found ...detect.Finding) *processing.Mask {
	m := processing.NewMask(20, 4)
	for _, f := range found {
		for _, r := range f.Runs {
			for x := r.X0; x < r.X1; x++ {
				m.Pix[r.Y*20+x] = 255
			}
		}
	}
	return m
}

func finding(id, x, y int, check bool) detect.Finding {
	return detect.Finding{ID: id, Area: 2, Runs: []processing.Run{{Y: y, X0: x, X1: x + 2}},
		Evidence: detect.Evidence{Check: check}}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	sure, doubtful, beside := finding(1, 1, 0, false), finding(2, 8, 1, true), finding(3, 10, 2, false)
	for _, c := range []struct {
		name  string
		found []detect.Finding
		all   bool
		left  []int
		area  int
	}{
		{"nothing is found", nil, false, nil, 0},
		{"all is certain", []detect.Finding{sure, beside}, false, nil, 4},
		{"one needs a look", []detect.Finding{sure, doubtful}, false, []int{2}, 2},
		{"another touches it", []detect.Finding{sure, doubtful, beside}, false, []int{2, 3}, 2},
		{"all may be corrected", []detect.Finding{sure, doubtful, beside}, true, nil, 6},
	} {
		p := processing.DefaultParams()
		p.Coverage = 10
		if c.all {
			p.Consent = processing.ConsentAll
		}
		mask := drawn(c.found...)
		before := mask.Area()
		chosen, left, err := consent.Choose(mask, c.found, p)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if chosen.Area() != c.area || mask.Area() != before || len(left) != len(c.left) {
			t.Errorf("%s: %d pixels, %d left", c.name, chosen.Area(), len(left))
			continue
		}
		for i, f := range left {
			if f.ID != c.left[i] {
				t.Errorf("%s: finding %d is left, want %d", c.name, f.ID, c.left[i])
			}
		}
	}
}

// A picture of which more is marked than permitted is refused, with what to do.
func TestCoverage(t *testing.T) {
	t.Parallel()
	f := []detect.Finding{finding(1, 1, 0, false), finding(2, 8, 1, false)}
	p := processing.DefaultParams()
	p.Consent = processing.ConsentAll
	if p.Coverage != 2 {
		t.Errorf("the default is %g %%", p.Coverage)
	}
	if _, _, err := consent.Choose(drawn(f...), f, p); err == nil || !strings.Contains(err.Error(), "5.0 % of the picture") ||
		!strings.Contains(err.Error(), "--coverage") {
		t.Errorf("the error is %v", err)
	}
	p.Coverage = 5
	if _, _, err := consent.Choose(drawn(f...), f, p); err != nil {
		t.Errorf("as much as is permitted: %v", err)
	}
}
