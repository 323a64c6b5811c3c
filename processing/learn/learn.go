// Package learn adapts the decision about glare to a user's own pictures, from components that the user decided about.
//
// Two methods compete: a regularised linear shift of the score (logistic regression with the default's score as its
// offset), and the conjugacy indicator of the Samara school (V. A. Fursov and others), which compares the angles
// between a component's vector and the subspaces of glare and of paint. The method is chosen and evaluated by
// leave-one-picture-out cross-validation; if neither beats the default on left-out pictures, the default stays.
package learn

import (
	"cmp"
	"context"
	"math"
	"slices"

	"blik/internal/message"
	"blik/internal/simd"
	"blik/processing"
	"blik/processing/detect"
	"blik/processing/internal/linear"
)

// Spot is a component that the user decided about.
type Spot struct {
	// Score is the score of the default plus the sensitivity: it accepts the component if Score ≥ 0.
	Score float64
	// Vector describes the component (see processing.Learned).
	Vector []float64
	// Glare is the user's decision.
	Glare bool
	// Group is the number of its picture, or part of the picture: spots of a group are left out together.
	Group int
}

// Trial evaluates a method on spots that it did not learn from.
type Trial struct {
	// Missed is the number of glare spots classified as paint, False the number of paint spots classified as glare.
	Missed, False int
	// fixed is the number of wrong decisions of the default that the method corrects, broken the number of correct ones
	// that it makes wrong.
	fixed, broken int
	// loss is the mean log loss.
	loss float64
}

// Wrong is the number of wrong decisions.
func (t Trial) Wrong() int { return t.Missed + t.False }

// Result is the result of learning.
type Result struct {
	// Learned is nil if the default is best.
	Learned *processing.Learned
	// Glare and Paint are the numbers of spots, Groups the number of pictures or parts.
	Glare, Paint, Groups int
	// Default, Shift and Conjugacy evaluate the default and both methods on groups that they did not learn from.
	Default, Shift, Conjugacy Trial
}

// Least is the number of spots of each kind that learning needs.
const Least = 3

// slope converts a step of the sensitivity to a logit.
const slope = 2.0

// near is the distance in steps beyond the reach of learning up to which a spot is used; for spots further away the
// decision cannot change.
const near = 1.0

// mostSpots bounds the number of spots of each kind that are used: those closest to the threshold.
const mostSpots = 1500

// From learns from spots, whose vectors are of the given basis (processing.LearnedBasis). If there are
// spots of one kind only, or too few, the error has a message for the user.
func From(ctx context.Context, spots []Spot, basis string) (*Result, error) {
	r := &Result{}
	// Renumber the groups from 0 without gaps.
	groups := map[int]int{}
	spots = slices.Clone(spots)
	for i := range spots {
		s := &spots[i]
		if _, ok := groups[s.Group]; !ok {
			groups[s.Group] = len(groups)
		}
		s.Group = groups[s.Group]
		if s.Glare {
			r.Glare++
		} else {
			r.Paint++
		}
	}
	r.Groups = len(groups)
	switch {
	case r.Glare == 0:
		return nil, message.Errorf("nothing can be learned: the masks mark nothing that the detector sees as glare")
	case r.Paint == 0:
		return nil, message.Errorf("nothing can be learned: the masks leave nothing as paint that looks like glare")
	case r.Glare < Least || r.Paint < Least:
		return nil, message.Errorf("nothing can be learned: there are %d spots of glare and %d of paint, "+
			"at least %d of each are needed", r.Glare, r.Paint, Least)
	case r.Groups < 2:
		return nil, message.Errorf("nothing can be learned: all decisions lie in one part of one picture")
	}
	all := reachable(spots)
	ways := []struct {
		way   way
		trial *Trial
	}{{shift, &r.Shift}, {conjugacy, &r.Conjugacy}}
	r.Default = judge(spots, nil)
	for _, w := range ways {
		moved, err := leaveOut(ctx, w.way, all, basis)
		if err != nil {
			return nil, err
		}
		*w.trial = judge(spots, moved)
	}
	var err error
	best, won := ways[0], r.Shift
	if better(r.Conjugacy, r.Shift) {
		best, won = ways[1], r.Conjugacy
	}
	if !won.convinces() {
		return r, nil
	}
	r.Learned, err = chosen(ctx, best.way, all, basis)
	return r, err
}

// convinces reports whether a method corrects significantly more decisions than it breaks: by 1.5 standard deviations
// of the sign test. Three corrected decisions suffice if none is broken.
func (t Trial) convinces() bool {
	const deviations = 1.5
	return float64(t.fixed-t.broken) >= deviations*math.Sqrt(float64(max(t.fixed+t.broken, 1)))
}

// better compares trials, first by their decisions.
func better(a, b Trial) bool {
	if a.Wrong() != b.Wrong() {
		return a.Wrong() < b.Wrong()
	}
	return a.loss < b.loss
}

// numbered is a spot with its index in the list.
type numbered struct {
	Spot
	at int
}

// reachable returns the spots whose decision learning may change, or almost change.
func reachable(spots []Spot) []numbered {
	var kinds [2][]numbered
	for i, s := range spots {
		if math.Abs(s.Score) > processing.LearnedReach+near {
			continue
		}
		k := 0
		if s.Glare {
			k = 1
		}
		kinds[k] = append(kinds[k], numbered{s, i})
	}
	for k := range kinds {
		slices.SortStableFunc(kinds[k], func(a, b numbered) int {
			return cmp.Compare(math.Abs(a.Score), math.Abs(b.Score))
		})
		kinds[k] = kinds[k][:min(len(kinds[k]), mostSpots)]
	}
	return slices.Concat(kinds[0], kinds[1])
}

// way is a learning method: for each of its settings, most cautious first, it returns what it learns from the spots.
type way func(spots []numbered, basis string) ([]*processing.Learned, error)

// judge counts wrong decisions. moved is the change of each spot's score; missing spots count as 0.
func judge(spots []Spot, moved map[int]float64) Trial {
	var t Trial
	for i, s := range spots {
		score := s.Score + moved[i]
		wrong := s.Glare != (score >= 0)
		switch before := s.Glare != (s.Score >= 0); {
		case before && !wrong:
			t.fixed++
		case !before && wrong:
			t.broken++
		}
		switch {
		case wrong && s.Glare:
			t.Missed++
		case wrong:
			t.False++
		}
		t.loss += loss(score, s.Glare) / float64(len(spots))
	}
	return t
}

func loss(score float64, glare bool) float64 {
	x := slope * score
	if glare {
		x = -x
	}
	// ln(1 + eˣ) without overflow.
	return math.Max(x, 0) + math.Log1p(simd.Exp(-math.Abs(x)))
}

// leaveOut returns the change of each spot's score according to what was learned from the other groups.
func leaveOut(ctx context.Context, w way, spots []numbered, basis string) (map[int]float64, error) {
	moved := map[int]float64{}
	for _, group := range groupsOf(spots) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, out := split(spots, group)
		if !bothKinds(in) {
			continue
		}
		l, err := chosen(ctx, w, in, basis)
		if err != nil {
			return nil, err
		}
		for _, p := range out {
			moved[p.at] = l.Shift(p.Vector)
		}
	}
	return moved, nil
}

// chosen learns with the setting that is best on left-out groups, or with the most cautious one if there is only one
// group.
func chosen(ctx context.Context, w way, spots []numbered, basis string) (*processing.Learned, error) {
	all, err := w(spots, basis)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(spots)
	if len(groups) < 2 {
		return all[0], nil
	}
	losses := make([]float64, len(all))
	for _, group := range groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, out := split(spots, group)
		var learned []*processing.Learned
		if bothKinds(in) {
			if learned, err = w(in, basis); err != nil {
				return nil, err
			}
		}
		for _, p := range out {
			for k := range all {
				score := p.Score
				if learned != nil {
					score += learned[k].Shift(p.Vector)
				}
				losses[k] += loss(score, p.Glare)
			}
		}
	}
	return all[slices.Index(losses, slices.Min(losses))], nil
}

// mostGroups bounds the number of folds; if there are more groups, several are left out together.
const mostGroups = 8

func groupsOf(spots []numbered) []int {
	var list []int
	for _, s := range spots {
		if g := s.Group % mostGroups; !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	slices.Sort(list)
	return list
}

func split(spots []numbered, group int) (in, out []numbered) {
	for _, s := range spots {
		if s.Group%mostGroups == group {
			out = append(out, s)
		} else {
			in = append(in, s)
		}
	}
	return in, out
}

func bothKinds(spots []numbered) bool {
	glare := 0
	for _, s := range spots {
		if s.Glare {
			glare++
		}
	}
	return glare > 0 && glare < len(spots)
}

// standardised returns a Learned with means and deviations of the vectors, and the standardised vectors.
func standardised(spots []numbered, way processing.LearnedWay, basis string) (*processing.Learned, [][]float64) {
	n := len(spots[0].Vector)
	l := &processing.Learned{Basis: basis, Way: way, Mean: make([]float64, n), Deviation: make([]float64, n)}
	for i := range n {
		count, sum, squares := float64(len(spots)), 0.0, 0.0
		for _, s := range spots {
			sum += s.Vector[i]
			squares += s.Vector[i] * s.Vector[i]
		}
		l.Deviation[i] = 1
		l.Mean[i] = sum / count
		// An entry that hardly varies carries no information.
		if d := math.Sqrt(math.Max(squares/count-l.Mean[i]*l.Mean[i], 0)); d > 1e-6*(1+math.Abs(l.Mean[i])) {
			l.Deviation[i] = d
		}
	}
	z := make([][]float64, len(spots))
	for k, s := range spots {
		z[k] = make([]float64, n)
		l.Standardize(z[k], s.Vector)
	}
	return l, z
}

// offsetPenalty is the penalty on the square of the common offset, relative to the penalty of a weight.
const offsetPenalty = 0.3

// shift is logistic regression with the default's score as offset and ridge penalties on the weights and the common
// offset.
func shift(spots []numbered, basis string) ([]*processing.Learned, error) {
	var all []*processing.Learned
	for _, penalty := range []float64{300, 100, 30, 10, 3} {
		l, err := regression(spots, penalty, basis)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// regression finds the weights by Newton's method.
func regression(spots []numbered, penalty float64, basis string) (*processing.Learned, error) {
	l, z := standardised(spots, processing.WayShift, basis)
	n := len(l.Mean) + 1
	w := make([]float64, n)
	for i := range z {
		z[i] = append(z[i], 1)
	}
	const rounds = 30
	for range rounds {
		gradient, curvature := make([]float64, n), make([]float64, n*n)
		for j := range n {
			p := penalty
			if j == n-1 {
				p *= offsetPenalty
			}
			gradient[j] = -p * w[j]
			curvature[j*n+j] = p
		}
		for k, x := range z {
			p := 1 / (1 + simd.Exp(-slope*(spots[k].Score+linear.Dot(w, x))))
			y := 0.0
			if spots[k].Glare {
				y = 1
			}
			g, c := slope*(y-p), slope*slope*p*(1-p)
			for i, v := range x {
				gradient[i] += g * v
				row := curvature[i*n:]
				for j := range i + 1 {
					row[j] += c * v * x[j]
				}
			}
		}
		step, err := linear.Solve(curvature, gradient)
		if err != nil {
			return nil, err
		}
		length := 0.0
		for j, d := range step {
			length = math.Max(length, math.Abs(d))
			w[j] += d
		}
		if length < 1e-9 {
			break
		}
	}
	l.Weights, l.Offset = w[:n-1], w[n-1]
	return l, nil
}

// conjugacy compares the conjugacy indicators of the subspaces of glare and of paint. Both subspaces have the same
// dimension, so that neither is favoured.
func conjugacy(spots []numbered, basis string) ([]*processing.Learned, error) {
	l, z := standardised(spots, processing.WayConjugacy, basis)
	var glare, paint [][]float64
	for k, x := range z {
		if spots[k].Glare {
			glare = append(glare, x)
		} else {
			paint = append(paint, x)
		}
	}
	const most = 8
	glareSpace, paintSpace := subspace(glare, most), subspace(paint, most)
	var all []*processing.Learned
	for _, gain := range []float64{1, 2, 4, 8} {
		for dimensions := 2; dimensions <= most; dimensions *= 2 {
			n := min(dimensions, len(glareSpace), len(paintSpace))
			c := *l
			c.Gain, c.Glare, c.Paint = gain, glareSpace[:n], paintSpace[:n]
			all = append(all, &c)
		}
	}
	return all, nil
}

// subspace returns an orthonormal basis of the span of the unit vectors along x, or of its n principal directions: the
// singular vectors with the largest singular values, which the pseudo-inverse keeps.
func subspace(x [][]float64, n int) [][]float64 {
	d := len(x[0])
	a := make([]float64, d*d)
	for _, v := range x {
		length := linear.Dot(v, v)
		if length == 0 {
			continue
		}
		for i := range d {
			for j := range d {
				a[i*d+j] += v[i] * v[j] / length
			}
		}
	}
	values, vectors := linear.Eigen(a, d)
	keep := 0
	for keep < min(n, d) && values[keep] > 1e-3*values[0] {
		keep++
	}
	return vectors[:keep]
}

// Levels of a painted mask: pixels from glareLevel on are glare, those below paintLevel are paint, and the rest are
// undecided.
const (
	glareLevel = 192
	paintLevel = 64
)

// Parts divides a mask into eight parts, four of them along its longer side, and returns a function for the number of
// the part that a pixel lies in. Learning from a single picture leaves out one part at a time.
func Parts(mask *processing.Mask) func(x, y int) int {
	across, down := 4, 2
	if mask.Width < mask.Height {
		across, down = down, across
	}
	return func(x, y int) int { return y*down/mask.Height*across + x*across/mask.Width }
}

// Decide returns the components of a table with vectors that a mask decides: glare if it marks at least a third of a
// component, paint if it marks none of it. part returns the group of the component whose first pixel is (x, y); d and
// sensitivity are those of the detection to adapt.
func Decide(
	t *detect.Table, d *processing.Decision, mask *processing.Mask, sensitivity float64, part func(x, y int) int,
) []Spot {
	var spots []Spot
	for i := range t.Components {
		c := &t.Components[i]
		glare, paint, open := 0, 0, 0
		for _, r := range c.Spans {
			for _, v := range mask.Pix[int(r.Y)*mask.Width+int(r.X0) : int(r.Y)*mask.Width+int(r.X1)] {
				switch {
				case v >= glareLevel:
					glare++
				case v < paintLevel:
					paint++
				default:
					open++
				}
			}
		}
		if open > glare+paint || glare > 0 && 2*glare < paint {
			continue
		}
		spots = append(spots, Spot{Score: d.Score(c.Strength) + sensitivity, Vector: c.Vector, Glare: glare > 0,
			Group: part(int(c.Spans[0].X0), int(c.Spans[0].Y))})
	}
	return spots
}
