package kriging

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
)

func levels() []simd.Level { return []simd.Level{simd.Plain, simd.Chosen()} }

// The sums equal those over all pairs, one by one, also where they exceed 32 bits.
func TestCorrelate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		reachX, reachY := rapid.IntRange(0, w).Draw(t, "reachX"), rapid.IntRange(0, h).Draw(t, "reachY")
		limit := rapid.SampledFrom([]int32{0, 1, 4096, math.MaxInt16, math.MaxInt16 + 1}).Draw(t, "limit")
		z := make([]int32, w*h)
		state := rapid.Uint32().Draw(t, "seed")
		for i := range z {
			state = state*1664525 + 1013904223
			z[i] = limit
			if state>>31 != 0 {
				z[i] = int32(int64(state>>1)%int64(2*limit+1)) - limit
			}
		}
		room := make([]int16, Room(h, w, reachX))
		for i := range room {
			room[i] = 77
		}
		for _, level := range levels() {
			dst := make([]int64, (reachX+1)*(2*reachY+1))
			Correlate(level, dst, z, w, reachX, reachY, room)
			for at, got := range dst {
				dx, dy := at%(reachX+1), at/(reachX+1)-reachY
				var want int64
				for y := max(0, -dy); y < min(h, h-dy); y++ {
					for x := range w - dx {
						want += int64(z[y*w+x]) * int64(z[(y+dy)*w+x+dx])
					}
				}
				if got != want {
					t.Fatalf("%v: offset (%d, %d) has %d, not %d", level, dx, dy, got, want)
				}
			}
		}
	})
}

// slowDot is the order of additions that all levels keep.
func slowDot(a, b []float64) float64 {
	var sum [4]float64
	whole := len(a) / 4 * 4
	for i := range a {
		k := 0
		if i < whole {
			k = i % 4
		}
		sum[k] += float64(a[i] * b[i])
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3])
}

// slowFactor is the Cholesky factor row by row.
func slowFactor(m [][]float64) bool {
	for i, row := range m {
		for j := range i {
			row[j] = (row[j] - slowDot(row[:j], m[j][:j])) / m[j][j]
		}
		v := row[i] - slowDot(row[:i], row[:i])
		if !(v > 0) {
			return false
		}
		row[i] = math.Sqrt(v)
	}
	return true
}

func slowSolve(m [][]float64, v []float64) {
	for i, row := range m {
		v[i] = (v[i] - slowDot(row[:i], v[:i])) / row[i]
	}
	for i := len(v) - 1; i >= 0; i-- {
		v[i] /= m[i][i]
		for j := range i {
			v[j] -= float64(m[i][j] * v[i])
		}
	}
}

// Factor and Solve give the same bits as the textbook's loops, at every level of vector instructions.
func TestFactorAndSolve(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 61; n++ {
		rapid.Check(t, func(t *rapid.T) {
			// Covariances that fall with the distance have a factor, unless the diagonal is too small.
			falls := rapid.Float64Range(0.01, 1).Draw(t, "falls")
			ridge := rapid.SampledFrom([]float64{1e-3, 0.1, -0.5}).Draw(t, "ridge")
			at := rapid.SliceOfN(rapid.Float64Range(0, 20), n, n).Draw(t, "places")
			right := rapid.SliceOfN(rapid.Float64Range(-2, 2), n, n).Draw(t, "right side")
			value := func(i, j int) float64 {
				v := math.Exp(-falls * math.Abs(at[i]-at[j]))
				if i == j {
					v += ridge
				}
				return v
			}
			want := make([][]float64, n)
			for i := range want {
				for j := range i + 1 {
					want[i] = append(want[i], value(i, j))
				}
			}
			ok := slowFactor(want)
			solution := append([]float64(nil), right...)
			if ok {
				slowSolve(want, solution)
			}
			for _, level := range levels() {
				memory := make([]float64, Size(n))
				for i := range memory {
					memory[i] = math.NaN()
				}
				m := NewMatrix(n, memory)
				for i := range n {
					row := m.Row(i)
					for j := range i + 1 {
						row[Step*j] = value(i, j)
					}
				}
				if got := m.Factor(level); got != ok {
					t.Fatalf("%v: a factor: %v, want %v", level, got, ok)
				}
				if !ok {
					continue
				}
				for i := range n {
					for j, v := range want[i] {
						if got := m.Row(i)[Step*j]; math.Float64bits(got) != math.Float64bits(v) {
							t.Fatalf("%v: entry (%d, %d) is %g, not %g", level, i, j, got, v)
						}
					}
				}
				x := append([]float64(nil), right...)
				m.Solve(level, x)
				for i, v := range solution {
					if math.Float64bits(x[i]) != math.Float64bits(v) {
						t.Fatalf("%v: solution %d is %g, not %g", level, i, x[i], v)
					}
				}
			}
		})
	}
}

func TestDot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(t, "b")
		for _, level := range levels() {
			if got, want := Dot(level, a, b), slowDot(a, b); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%v: %g, not %g", level, got, want)
			}
		}
	})
}

// A known factor and solution.
func TestFactorOfThreeRows(t *testing.T) {
	t.Parallel()
	m := NewMatrix(3, make([]float64, Size(3)))
	for i, row := range [][]float64{{4}, {2, 10}, {6, 9, 26}} {
		for j, v := range row {
			m.Row(i)[Step*j] = v
		}
	}
	if !m.Factor(simd.Plain) {
		t.Fatal("no factor of a positive matrix")
	}
	for i, row := range [][]float64{{2}, {1, 3}, {3, 2, math.Sqrt(13)}} {
		for j, want := range row {
			if got := m.Row(i)[Step*j]; got != want {
				t.Fatalf("entry (%d, %d) of the factor is %g, want %g", i, j, got, want)
			}
		}
	}
	v := []float64{4 + 2*2 + 6*3, 2 + 10*2 + 9*3, 6 + 9*2 + 26*3}
	m.Solve(simd.Plain, v)
	for i, x := range v {
		if math.Abs(x-float64(i+1)) > 1e-12 {
			t.Fatalf("solution %d is %g", i, x)
		}
	}
}

func BenchmarkFactor(b *testing.B) {
	const n = 200
	for _, level := range levels() {
		b.Run(level.String(), func(b *testing.B) {
			m := NewMatrix(n, make([]float64, Size(n)))
			for b.Loop() {
				for i := range n {
					row := m.Row(i)
					for j := range i {
						row[Step*j] = 0.5
					}
					row[Step*i] = 2
				}
				if !m.Factor(level) {
					b.Fatal("no factor")
				}
			}
		})
	}
}

func BenchmarkCorrelate(b *testing.B) {
	const w, h, reach = 44, 44, 20
	z := make([]int32, w*h)
	for i := range z {
		z[i] = int32(i%8000 - 4000)
	}
	dst, room := make([]int64, (reach+1)*(2*reach+1)), make([]int16, Room(h, w, reach))
	for _, level := range levels() {
		b.Run(level.String(), func(b *testing.B) {
			for b.Loop() {
				Correlate(level, dst, z, w, reach, reach, room)
			}
		})
	}
}
