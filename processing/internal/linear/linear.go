// Package linear solves small dense problems of linear algebra. Matrices are stored row by row.
package linear

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// ErrSingular means that a matrix is not positive definite.
var ErrSingular = errors.New("the matrix is not positive definite")

// Solve returns the solution x of a·x = b for a symmetric positive definite matrix a of len(b) rows, by Cholesky
// decomposition. It reads only the lower triangle.
func Solve(a, b []float64) ([]float64, error) {
	n := len(b)
	l := slices.Clone(a)
	for j := range n {
		for k := range j {
			l[j*n+j] -= float64(l[j*n+k] * l[j*n+k])
		}
		if !(l[j*n+j] > 0) {
			return nil, ErrSingular
		}
		l[j*n+j] = math.Sqrt(l[j*n+j])
		for i := j + 1; i < n; i++ {
			for k := range j {
				l[i*n+j] -= float64(l[i*n+k] * l[j*n+k])
			}
			l[i*n+j] /= l[j*n+j]
		}
	}
	x := slices.Clone(b)
	for i := range n {
		for k := range i {
			x[i] -= float64(l[i*n+k] * x[k])
		}
		x[i] /= l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= float64(l[k*n+i] * x[k])
		}
		x[i] /= l[i*n+i]
	}
	return x, nil
}

// Eigen returns the eigenvalues of a symmetric matrix of n rows, largest first, with a unit eigenvector for each. It
// uses Jacobi rotations (Golub & Van Loan, Matrix Computations, 8.5).
func Eigen(a []float64, n int) (values []float64, vectors [][]float64) {
	m := slices.Clone(a)
	v := make([][]float64, n)
	for i := range v {
		v[i] = make([]float64, n)
		v[i][i] = 1
	}
	total := 0.0
	for _, x := range m {
		total += float64(x * x)
	}
	for range 50 {
		off := 0.0
		for i := range n {
			for j := range i {
				off += float64(m[i*n+j] * m[i*n+j])
			}
		}
		if off <= 1e-24*total {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(m, v, n, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(m[j*n+j], m[i*n+i]) })
	for _, i := range order {
		values = append(values, m[i*n+i])
		vectors = append(vectors, v[i])
	}
	return values, vectors
}

// rotate zeroes element (p, q). Row i of v is the eigenvector of column i.
func rotate(m []float64, v [][]float64, n, p, q int) {
	if m[p*n+q] == 0 {
		return
	}
	r := NewRotation(m[p*n+p], m[p*n+q], m[q*n+q])
	for k := range n {
		m[k*n+p], m[k*n+q] = r.Turn(m[k*n+p], m[k*n+q])
	}
	for k := range n {
		m[p*n+k], m[q*n+k] = r.Turn(m[p*n+k], m[q*n+k])
		v[p][k], v[q][k] = r.Turn(v[p][k], v[q][k])
	}
}

// Rotation is a rotation of the plane.
type Rotation struct{ cos, sin float64 }

// NewRotation returns the rotation that diagonalises the symmetric matrix (a, b; b, d), where b is not 0.
func NewRotation(a, b, d float64) Rotation {
	theta := (d - a) / (2 * b)
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	cos := 1 / math.Sqrt(float64(t*t)+1)
	return Rotation{cos, t * cos}
}

// Turn rotates the vector (x, y). Its products are rounded before they are summed; see docs/architecture.md.
func (r Rotation) Turn(x, y float64) (float64, float64) {
	return float64(r.cos*x) - float64(r.sin*y), float64(r.sin*x) + float64(r.cos*y)
}

// Dot is the scalar product, rounded after each product and sum, so that all processors give the same result.
func Dot(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += float64(x * b[i])
	}
	return s
}
