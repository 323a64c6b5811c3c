package findings

import (
	"testing"

	"blik/app/document"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// What was painted is glare, what is ignored is paint; nothing is known about the rest.
func TestDecided(t *testing.T) {
	t.Parallel()
	doc, err := document.New("/c.png", testpic.Flat(90, 30, 3, 90))
	if err != nil {
		t.Fatal(err)
	}
	r := &detect.Found{Mask: processing.NewMask(90, 30)}
	for i := range 6 {
		run := processing.Run{Y: 5, X0: 3 + 4*i, X1: 5 + 4*i}
		r.Findings = append(r.Findings, detect.Finding{ID: i + 1, Left: run.X0, Top: run.Y, Width: 2, Height: 1,
			Area: 2, Runs: []processing.Run{run}})
		r.Mask.Pix[run.Y*90+run.X0], r.Mask.Pix[run.Y*90+run.X0+1] = 255, 255
	}
	if _, err := doc.ApplyResult(r, nil); err != nil {
		t.Fatal(err)
	}
	doc.Ignore(doc.Spots()[1:5])
	doc.BeginStroke(document.Brush{Radius: 0.5}, 80.5, 28.5)
	doc.EndStroke()
	m := decided(doc)
	count := map[uint8]int{}
	for _, v := range m.Pix {
		count[v]++
	}
	if count[0] != 8 || count[255] != 1 || count[128] != 90*30-9 {
		t.Errorf("decisions as a picture: %v", count)
	}
}
