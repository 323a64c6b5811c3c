package learn

import (
	"testing"

	"blik/processing"
)

// Learning raises the scores of glare and lowers those of paint, and the named aspects are those that separate the two.
func TestEffect(t *testing.T) {
	n := len(processing.Measures()) + 4
	spots := drawn(3, 150, 2, n, 1)
	r, err := From(t.Context(), spots, "basis")
	if err != nil || r.Learned == nil {
		t.Fatalf("nothing was learned: %v", err)
	}
	e := EffectOn(r.Learned, spots)
	if e.Glare < 0.1 || e.Paint > -0.1 {
		t.Errorf("glare moves by %.2f, paint by %.2f", e.Glare, e.Paint)
	}
	if r.Learned.Way == processing.WayShift && len(e.Aspects) == 0 {
		t.Error("no aspect tells them apart")
	}
	l := *r.Learned
	l.Way, l.Offset, l.Weights = processing.WayShift, 0, make([]float64, n)
	l.Weights[n-1], l.Weights[0] = -1, 1
	e = EffectOn(&l, spots)
	if want := processing.Measures()[0].Aspect; len(e.Aspects) == 0 || e.Aspects[0] != want {
		t.Errorf("aspects %v, expected %v first", e.Aspects, want)
	}
	if e := EffectOn(&l, spots[:0]); e.Glare != 0 || e.Paint != 0 || e.Aspects != nil {
		t.Errorf("no spots give %+v", e)
	}
}
