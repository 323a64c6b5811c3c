// Package fit computes the weights by which detection decides (processing.Decision) from pictures whose glare is known:
// by logistic regression over their candidates, with cross-validation by painting.
package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"blik/internal/parallel"
	"blik/internal/simd"
	"blik/processing"
	"blik/processing/internal/linear"
)

// Row is a candidate to fit on: its measures, whether it is glare, and its weight.
type Row struct {
	Measures []float64
	Glare    bool
	Weight   float64
}

// ridge is the penalty on the squared weights of standardised measures, as a share of the rows' total weight.
const ridge = 1e-3

// Logistic returns the rule, without its scale, that maximises the likelihood of the rows minus the ridge penalty, by
// Newton's method. Only measures of the given sources that vary are used. It fails unless there are rows of both kinds.
func Logistic(rows []Row, sources ...processing.Source) (*processing.Rule, error) {
	total, glare := 0.0, 0.0
	for _, r := range rows {
		total += r.Weight
		if r.Glare {
			glare += r.Weight
		}
	}
	if glare == 0 || glare == total {
		return nil, errors.New("fit: candidates of both kinds are needed, glare and paint")
	}
	rule := &processing.Rule{Offset: math.Log(glare / (total - glare))}
	for i, m := range processing.Measures() {
		if !slices.Contains(sources, m.Source) {
			continue
		}
		// Rows count alike here, whatever their weight: a few with large weights must not shrink the spread of the
		// others.
		n, sum, squares := 0.0, 0.0, 0.0
		for _, r := range rows {
			if v := r.Measures[i]; !math.IsNaN(v) && r.Weight > 0 {
				n++
				sum += v
				squares += v * v
			}
		}
		if n == 0 {
			continue
		}
		if deviation := math.Sqrt(math.Max(squares/n-sum/n*(sum/n), 0)); deviation > 1e-9 {
			rule.Weights = append(rule.Weights,
				processing.MeasureWeight{Measure: m.Name, Mean: sum / n, Deviation: deviation})
		}
	}
	return rule, climb(rule, rows, total)
}

// climb finds the weights of the rule by Newton's method.
func climb(rule *processing.Rule, rows []Row, total float64) error {
	n := len(rule.Weights) + 1
	z := standardised(rule, rows)
	w := make([]float64, n)
	w[0] = rule.Offset
	value, settled := likelihood(w, z, rows, total), false
	for range 50 {
		gradient, curvature := derivatives(w, z, rows, total)
		step, err := linear.Solve(curvature, gradient)
		if err != nil {
			return fmt.Errorf("fit: the measures depend on each other: %w", err)
		}
		// A full step may overshoot if few rows are undecided.
		next := make([]float64, n)
		var gain float64
		for damp := 1.0; ; damp /= 2 {
			for j := range w {
				next[j] = w[j] + damp*step[j]
			}
			if gain = likelihood(next, z, rows, total) - value; gain >= 0 {
				break
			}
			if damp < 1e-6 {
				next, gain = w, 0
				break
			}
		}
		w, value = next, value+gain
		if settled = gain < 1e-9*total; settled {
			break
		}
	}
	if !settled {
		return errors.New("fit: the weights do not settle")
	}
	rule.Offset = w[0]
	for k := range rule.Weights {
		rule.Weights[k].Weight = w[k+1]
	}
	return nil
}

// standardised returns for each row a 1, for the offset, and its standardised measures.
func standardised(rule *processing.Rule, rows []Row) []float64 {
	n := len(rule.Weights) + 1
	z := make([]float64, len(rows)*n)
	standardize := rule.Standardizer()
	parallel.Split(len(rows), 1000, func(a, b int) {
		for i := a; i < b; i++ {
			z[i*n] = 1
			standardize(z[i*n+1:(i+1)*n], rows[i].Measures)
		}
	})
	return z
}

// derivatives returns the gradient of likelihood at w, and the lower triangle of its negative second derivatives.
func derivatives(w, z []float64, rows []Row, total float64) (gradient, curvature []float64) {
	type sums struct{ gradient, curvature []float64 }
	n, part := len(w), make([]sums, parts)
	parallel.Split(parts, 1, func(a, b int) {
		for k := a; k < b; k++ {
			s := sums{make([]float64, n), make([]float64, n*n)}
			for i := len(rows) * k / parts; i < len(rows)*(k+1)/parts; i++ {
				x := z[i*n : (i+1)*n]
				p := probability(w, x)
				y := 0.0
				if rows[i].Glare {
					y = 1
				}
				g, c := rows[i].Weight*(y-p), rows[i].Weight*p*(1-p)
				for j, v := range x {
					s.gradient[j] += g * v
					row := s.curvature[j*n:]
					for l := range j + 1 {
						row[l] += c * v * x[l]
					}
				}
			}
			part[k] = s
		}
	})
	gradient, curvature = make([]float64, n), make([]float64, n*n)
	for _, s := range part {
		for j := range n {
			gradient[j] += s.gradient[j]
			for l := range j + 1 {
				curvature[j*n+l] += s.curvature[j*n+l]
			}
		}
	}
	for j := 1; j < n; j++ {
		gradient[j] -= ridge * total * w[j]
		curvature[j*n+j] += ridge * total
	}
	return gradient, curvature
}

// parts is the number of partial sums, the same for any number of processors, so that the result is, too.
const parts = 8

// likelihood returns the logarithm of the rows' likelihood minus the ridge penalty.
func likelihood(w, z []float64, rows []Row, total float64) float64 {
	var sums [parts]float64
	n := len(w)
	parallel.Split(parts, 1, func(a, b int) {
		for k := a; k < b; k++ {
			for i := len(rows) * k / parts; i < len(rows)*(k+1)/parts; i++ {
				s := 0.0
				for j, v := range z[i*n : (i+1)*n] {
					s += float64(w[j] * v)
				}
				if rows[i].Glare {
					s = -s
				}
				sums[k] -= rows[i].Weight * (math.Max(s, 0) + math.Log1p(math.Exp(-math.Abs(s))))
			}
		}
	})
	value := 0.0
	for _, s := range sums {
		value += s
	}
	for _, v := range w[1:] {
		value -= ridge * total * v * v / 2
	}
	return value
}

func probability(w, x []float64) float64 {
	s := 0.0
	for j, v := range x {
		s += w[j] * v
	}
	return 1 / (1 + simd.Exp(-s))
}
