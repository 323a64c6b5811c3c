package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"blik/internal/message"
	"blik/processing"
)

// drawn returns spots of some pictures. The default only partly knows what separates glare from paint, which is a
// direction in the space of vectors.
func drawn(seed uint64, n, pictures, size int, tells float64) []Spot {
	r := rand.New(rand.NewPCG(seed, 7))
	var spots []Spot
	for i := range n {
		s := Spot{Glare: r.IntN(3) == 0, Group: i % pictures, Vector: make([]float64, size)}
		side := -1.0
		if s.Glare {
			side = 1
		}
		s.Score = 0.4*side + r.NormFloat64()
		for k := range s.Vector {
			s.Vector[k] = 3 + r.NormFloat64()
			if k < 3 {
				s.Vector[k] += tells * side
			}
		}
		spots = append(spots, s)
	}
	return spots
}

// wrong counts the wrong decisions about spots.
func wrong(spots []Spot, l *processing.Learned) int {
	moved := map[int]float64{}
	if l != nil {
		for i := range spots {
			moved[i] = l.Shift(spots[i].Vector)
		}
	}
	return judge(spots, moved).Wrong()
}

func TestFromHelps(t *testing.T) {
	t.Parallel()
	for _, n := range []int{20, 60, 200} {
		before, after, learned := 0, 0, 0
		for seed := range uint64(12) {
			r, err := From(context.Background(), drawn(seed, n, 4, 30, 0.8), "b")
			if err != nil {
				t.Fatal(err)
			}
			test := drawn(1000+seed, 500, 4, 30, 0.8)
			before += wrong(test, nil)
			after += wrong(test, r.Learned)
			if r.Learned != nil {
				learned++
				if best := min(r.Shift.Wrong(), r.Conjugacy.Wrong()); best > r.Default.Wrong()-3 {
					t.Errorf("learned although the default has %d wrong, the ways %d", r.Default.Wrong(), best)
				}
			}
		}
		t.Logf("%d spots: %d of 12 sets are learned from, %d wrong decisions before, %d after", n, learned, before, after)
		if learned == 0 || after >= before {
			t.Errorf("%d spots: %d wrong decisions before, %d after learning from %d sets", n, before, after, learned)
		}
	}
}

// Learning from random decisions does little harm: a preset made from it decides almost as the default does.
func TestFromNoise(t *testing.T) {
	t.Parallel()
	before, after := 0, 0
	for seed := range uint64(12) {
		r, err := From(context.Background(), drawn(seed, 20, 2, 30, 0), "b")
		if err != nil {
			t.Fatal(err)
		}
		test := drawn(1000+seed, 500, 4, 30, 0)
		before += wrong(test, nil)
		after += wrong(test, r.Learned)
	}
	t.Logf("%d wrong decisions before, %d after", before, after)
	if float64(after) > 1.1*float64(before) {
		t.Errorf("%d wrong decisions before, %d after", before, after)
	}
}

// Each method finds structure that the other cannot.
func TestWays(t *testing.T) {
	t.Parallel()
	spots := drawn(3, 300, 3, 10, 1.2)
	r, err := From(context.Background(), spots, "b")
	if err != nil {
		t.Fatal(err)
	}
	if r.Shift.Wrong() >= r.Default.Wrong() || r.Learned == nil {
		t.Errorf("a linear difference: default %+v, shift %+v", r.Default, r.Shift)
	}
	// Glare varies along one line through the mean, paint along another: no plane separates them, but subspaces do.
	for i := range spots {
		s := &spots[i]
		a := s.Vector[3] - 3
		for k := range s.Vector {
			s.Vector[k] = 0.05 * (s.Vector[k] - 3)
		}
		if s.Glare {
			s.Vector[0] += a
		} else {
			s.Vector[1] += a
		}
	}
	if r, err = From(context.Background(), spots, "b"); err != nil {
		t.Fatal(err)
	}
	if r.Learned == nil || r.Learned.Way != processing.WayConjugacy || r.Conjugacy.Wrong() >= r.Shift.Wrong() {
		t.Errorf("two lines: %+v", r)
	}
}

// However low the default scores a spot, its score changes by at most the reach.
func TestReach(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	spots := drawn(4, 100, 2, 8, 3)
	for _, w := range []way{shift, conjugacy} {
		all, err := w(reachable(spots), "b")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			for range 200 {
				v := make([]float64, 8)
				for i := range v {
					v[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(12)))
				}
				if s := l.Shift(v); !(math.Abs(s) <= processing.LearnedReach) {
					t.Fatalf("%s moves by %v", l.Way, s)
				}
			}
		}
	}
}

func TestFromRefuses(t *testing.T) {
	t.Parallel()
	one := func(change func(s *Spot)) []Spot {
		spots := drawn(1, 40, 2, 5, 1)
		for i := range spots {
			change(&spots[i])
		}
		return spots
	}
	few := drawn(1, 40, 2, 5, 1)
	for i := range few {
		few[i].Glare = i < Least-1
	}
	for name, spots := range map[string][]Spot{
		"none":         nil,
		"only glare":   one(func(s *Spot) { s.Glare = true }),
		"only paint":   one(func(s *Spot) { s.Glare = false }),
		"one group":    one(func(s *Spot) { s.Group = 0 }),
		"two of glare": few,
	} {
		r, err := From(context.Background(), spots, "b")
		if _, ok := err.(interface{ Message() message.Message }); !ok || r != nil {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := From(ctx, drawn(1, 40, 4, 5, 1), "b"); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
