package learn

import (
	"blik/processing"
	"blik/processing/detect"
)

// Effect describes how a learned adjustment changes scores.
type Effect struct {
	// Glare and Paint are the mean changes of the scores of the glare spots and of the paint spots that it was learned
	// from.
	Glare, Paint float64
	// Gained and Lost are the numbers of components of a picture that it would accept and reject, unlike the default.
	Gained, Lost int
}

// EffectOn returns the effect of l on spots of both kinds, and on a table with vectors at a sensitivity; the table may
// be nil.
func EffectOn(
	l *processing.Learned, spots []Spot, t *detect.Table, d *processing.Decision, sensitivity float64,
) Effect {
	var e Effect
	var n [2]float64
	for _, s := range spots {
		k, sum := 0, &e.Paint
		if s.Glare {
			k, sum = 1, &e.Glare
		}
		*sum += l.Shift(s.Vector)
		n[k]++
	}
	if n[0] > 0 {
		e.Paint /= n[0]
	}
	if n[1] > 0 {
		e.Glare /= n[1]
	}
	if t == nil {
		return e
	}
	for i := range t.Components {
		c := &t.Components[i]
		score := d.Score(c.Strength) + sensitivity
		switch before, after := score >= 0, score+l.Shift(c.Vector) >= 0; {
		case after && !before:
			e.Gained++
		case before && !after:
			e.Lost++
		}
	}
	return e
}
