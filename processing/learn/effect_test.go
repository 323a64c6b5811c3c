package learn

import (
	"testing"

	"blik/processing"
	"blik/processing/detect"
)

// Learning raises the scores of glare and lowers those of paint; it gains and loses what it moves over the threshold.
func TestEffect(t *testing.T) {
	t.Parallel()
	const n = 34
	spots := drawn(3, 150, 2, n, 1)
	r, err := From(t.Context(), spots, "basis")
	if err != nil || r.Learned == nil {
		t.Fatalf("nothing was learned: %v", err)
	}
	d, err := processing.DefaultDecision()
	if err != nil {
		t.Fatal(err)
	}
	table := &detect.Table{Described: true}
	gained, lost := 0, 0
	for _, s := range spots {
		strength := d.Strengths[5] * (1 + s.Score/10)
		table.Components = append(table.Components, detect.Component{Strength: strength, Vector: s.Vector})
		switch before, after := d.Score(strength) >= 0, d.Score(strength)+r.Learned.Shift(s.Vector) >= 0; {
		case after && !before:
			gained++
		case before && !after:
			lost++
		}
	}
	e := EffectOn(r.Learned, spots, table, d, 0)
	if e.Glare < 0.1 || e.Paint > -0.1 {
		t.Errorf("glare moves by %.2f, paint by %.2f", e.Glare, e.Paint)
	}
	if gained == 0 || lost == 0 || e.Gained != gained || e.Lost != lost {
		t.Errorf("%d gained and %d lost, want %d and %d", e.Gained, e.Lost, gained, lost)
	}
	if e := EffectOn(r.Learned, nil, nil, d, 0); e != (Effect{}) {
		t.Errorf("no spots give %+v", e)
	}
}
