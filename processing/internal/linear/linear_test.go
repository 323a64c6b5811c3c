package linear

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// symmetric returns xᵀ·x for random x, which is positive definite if x has more rows than columns.
func symmetric(r *rand.Rand, n, rows int) []float64 {
	a := make([]float64, n*n)
	for range rows {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range n {
			for j := range n {
				a[i*n+j] += x[i] * x[j]
			}
		}
	}
	return a
}

func TestSolve(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 7, 40} {
		a, b := symmetric(r, n, n+3), make([]float64, n)
		for i := range b {
			b[i] = r.NormFloat64()
		}
		x, err := Solve(a, b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			s := 0.0
			for j := range n {
				s += a[i*n+j] * x[j]
			}
			if math.Abs(s-b[i]) > 1e-9*float64(n) {
				t.Errorf("%d rows: row %d gives %v, want %v", n, i, s, b[i])
			}
		}
	}
	if _, err := Solve(make([]float64, 4), []float64{1, 2}); !errors.Is(err, ErrSingular) {
		t.Errorf("a matrix of zeros: %v", err)
	}
}

func TestEigen(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 9, 60} {
		for _, rows := range []int{1, n / 2, 2 * n} {
			a := symmetric(r, n, rows)
			values, vectors := Eigen(a, n)
			for i, v := range vectors {
				if i > 0 && values[i] > values[i-1] {
					t.Errorf("%d rows: value %d rises", n, i)
				}
				for j, w := range vectors {
					want := 0.0
					if i == j {
						want = 1
					}
					if d := Dot(v, w); math.Abs(d-want) > 1e-9 {
						t.Errorf("%d rows: vectors %d and %d have the product %v", n, i, j, d)
					}
				}
				for k := range n {
					if d := Dot(a[k*n:(k+1)*n], v) - values[i]*v[k]; math.Abs(d) > 1e-8*(1+values[0]) {
						t.Errorf("%d rows: vector %d is off by %v", n, i, d)
					}
				}
			}
			if n > 2 && rows < n && math.Abs(values[n-1]) > 1e-9*values[0] {
				t.Errorf("%d of %d rows are independent, the last value is %v", rows, n, values[n-1])
			}
		}
	}
}
