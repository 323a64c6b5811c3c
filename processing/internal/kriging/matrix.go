// Package kriging has the inner loops of the prediction of a texture: covariances of pixels by their offset, and linear
// equations with these. Results do not depend on the level of vector instructions.
package kriging

import (
	"math"

	"blik/internal/simd"
)

// side is the number of rows in a panel.
const side = 4

// Matrix is the lower triangle of a symmetric matrix, or its Cholesky factor. Four rows form a panel; a panel holds the
// four values of each column side by side, up to the square on the diagonal.
type Matrix struct {
	n      int
	values []float64
}

// Size returns how many values a matrix of n rows takes.
func Size(n int) int {
	panels := (n + side - 1) / side
	return side * side * panels * (panels + 1) / 2
}

// NewMatrix returns a matrix of n rows in the given memory, of Size(n) values. The lower triangle has to be set.
func NewMatrix(n int, values []float64) *Matrix {
	m := &Matrix{n: n, values: values}
	if n%side != 0 {
		// Rows that fill the last panel are computed as well.
		clear(m.panel(n / side))
	}
	return m
}

func (m *Matrix) panel(g int) []float64 {
	return m.values[side*side*g*(g+1)/2:][: side*side*(g+1) : side*side*(g+1)]
}

// Step is the distance between the values of a row.
const Step = side

// Row returns the memory of row i: value j is at Step·j, for j up to i.
func (m *Matrix) Row(i int) []float64 { return m.panel(i / side)[i%side:] }

// square holds four sums for each pair of a column and a row: products are summed by the column they come from, modulo
// four. Its indexes are column, sum, row.
type square [side][side][side]float64

// Factor replaces the matrix by its Cholesky factor; false where it has none. Each entry takes the scalar product of
// two rows so far, added in the order of Dot.
func (m *Matrix) Factor(level simd.Level) bool {
	var sums [2]square
	for q := range (m.n + side - 1) / side {
		d := m.panel(q)
		addProducts(level, &sums, d, d, d, q)
		if !m.factorSquare(&sums[0], d, q) {
			return false
		}
		for g := q + 1; g*side < m.n; g += 2 {
			p := m.panel(g)
			p2 := p
			if (g+1)*side < m.n {
				p2 = m.panel(g + 1)
			}
			addProducts(level, &sums, p, p2, d, q)
			finish(level, &sums[0], p, d, q)
			if (g+1)*side < m.n {
				finish(level, &sums[1], p2, d, q)
			}
		}
	}
	return true
}

// factorSquare computes the entries of the square on the diagonal.
func (m *Matrix) factorSquare(sums *square, d []float64, q int) bool {
	at := (*[side * side]float64)(d[side*side*q:])
	for r := range min(side, m.n-side*q) {
		for c := range r + 1 {
			sum := sums[c][0][r]
			for k := range c {
				sum += float64(at[side*k+r] * at[side*k+c])
			}
			v := at[side*c+r] - ((sum + sums[c][1][r]) + (sums[c][2][r] + sums[c][3][r]))
			if c < r {
				at[side*c+r] = v / at[side*c+c]
				continue
			}
			if !(v > 0) {
				return false
			}
			at[side*c+r] = math.Sqrt(v)
		}
	}
	return true
}

// addProducts computes the sums over the columns before those of panel q, of the rows of the panels p and p2 with those
// of panel d. If p2 is p, the second sums are undefined.
func addProducts(level simd.Level, sums *[2]square, p, p2, d []float64, q int) {
	if level >= simd.AVX2 {
		addProductsVectors(sums, p, p2, d, q)
		return
	}
	rowsProducts(&sums[0], p, d, q)
	if &p2[0] != &p[0] {
		rowsProducts(&sums[1], p2, d, q)
	}
}

// rowsProducts is addProducts for one panel.
func rowsProducts(sums *square, p, d []float64, q int) {
	for c := range side {
		for r := range side {
			var s0, s1, s2, s3 float64
			for t := range q {
				a, b := (*[side * side]float64)(p[side*side*t:]), (*[side * side]float64)(d[side*side*t:])
				s0 += float64(a[r] * b[c])
				s1 += float64(a[side+r] * b[side+c])
				s2 += float64(a[2*side+r] * b[2*side+c])
				s3 += float64(a[3*side+r] * b[3*side+c])
			}
			sums[c][0][r], sums[c][1][r], sums[c][2][r], sums[c][3][r] = s0, s1, s2, s3
		}
	}
}

// finish computes the entries of panel p in the columns of panel q, which is d.
func finish(level simd.Level, sums *square, p, d []float64, q int) {
	if level >= simd.AVX2 {
		finishVectors(sums, p, d, q)
		return
	}
	a, b := (*[side * side]float64)(p[side*side*q:]), (*[side * side]float64)(d[side*side*q:])
	for c := range side {
		for r := range side {
			sum := sums[c][0][r]
			for k := range c {
				sum += float64(a[side*k+r] * b[side*k+c])
			}
			a[side*c+r] = (a[side*c+r] - ((sum + sums[c][1][r]) + (sums[c][2][r] + sums[c][3][r]))) / b[side*c+c]
		}
	}
}

// Solve replaces v by the solution x of the linear equations L·Lᵀ·x = v, where the matrix is the factor L.
func (m *Matrix) Solve(level simd.Level, v []float64) {
	for i := 0; i < m.n; i += side {
		p := m.panel(i / side)
		var sums [side][side]float64
		if level >= simd.AVX2 {
			rowProductsVectors(&sums, p, v[:i])
		} else {
			rowProducts(&sums, p, v[:i])
		}
		rows := v[i:min(i+side, m.n)]
		at := p[side*i:]
		for r := range rows {
			sum := sums[0][r]
			for k := range r {
				sum += float64(at[side*k+r] * rows[k])
			}
			rows[r] = (rows[r] - ((sum + sums[1][r]) + (sums[2][r] + sums[3][r]))) / at[side*r+r]
		}
	}
	for i := (m.n - 1) / side * side; i >= 0; i -= side {
		p := m.panel(i / side)
		var x [side]float64
		rows := v[i:min(i+side, m.n)]
		for r := len(rows) - 1; r >= 0; r-- {
			rows[r] /= p[side*(i+r)+r]
			x[r] = rows[r]
			for k := range r {
				rows[k] -= float64(p[side*(i+k)+r] * x[r])
			}
		}
		for j := range v[:i] {
			l := (*[side]float64)(p[side*j:])
			v[j] = (((v[j] - float64(l[3]*x[3])) - float64(l[2]*x[2])) - float64(l[1]*x[1])) - float64(l[0]*x[0])
		}
	}
}

// rowProducts adds the products of the rows of panel p with v; its indexes are sum and row.
func rowProducts(sums *[side][side]float64, p, v []float64) {
	for t := 0; t < len(v); t += side {
		a, b := (*[side * side]float64)(p[side*t:]), (*[side]float64)(v[t:])
		for r := range side {
			sums[0][r] += float64(a[r] * b[0])
			sums[1][r] += float64(a[side+r] * b[1])
			sums[2][r] += float64(a[2*side+r] * b[2])
			sums[3][r] += float64(a[3*side+r] * b[3])
		}
	}
}

// Dot returns the scalar product of vectors of the same length. Products are added to four sums in turn, and those that
// are left to the first.
func Dot(level simd.Level, a, b []float64) float64 {
	var sum [side]float64
	n := len(a) / side * side
	if level >= simd.AVX2 {
		dotVectors(&sum, a[:n], b[:n])
	} else {
		for i := 0; i < n; i += side {
			p, q := (*[side]float64)(a[i:]), (*[side]float64)(b[i:])
			for k, v := range p {
				sum[k] += float64(v * q[k])
			}
		}
	}
	for i, v := range a[n:] {
		sum[0] += float64(v * b[n+i])
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3])
}
