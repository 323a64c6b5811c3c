package cpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// drawTiles draws tiles that do not overlap, a column of them, and the size of the planes.
func drawTiles(t *rapid.T) (tiles []processing.Tile, w, h int) {
	n := rapid.IntRange(1, 4).Draw(t, "tiles")
	for range n {
		r := processing.Tile{X: rapid.IntRange(0, 3).Draw(t, "x"), Y: h,
			W: rapid.IntRange(1, 14).Draw(t, "width"), H: rapid.IntRange(1, 14).Draw(t, "height")}
		tiles = append(tiles, r)
		w, h = max(w, r.X+r.W), h+r.H+rapid.IntRange(0, 2).Draw(t, "gap")
	}
	return tiles, w, h
}

// drawStates draws a state plane with a drawn share of unknown pixels.
func drawStates(t *rapid.T, n int) []uint8 {
	most := rapid.SampledFrom([]int{1, 4, 9, 10}).Draw(t, "holes of ten")
	s := noise[uint8](t, n, 29)
	for i, v := range s {
		if int(v%10) < most {
			s[i] = processing.StateUnclipped + v/10&1
		} else {
			s[i] = processing.StateKnown
		}
	}
	return s
}

// inTile reports whether pixel i of a plane of width w lies in one of the tiles, and in which.
func inTile(tiles []processing.Tile, w, i int) (int, bool) {
	for k, r := range tiles {
		if x, y := i%w, i/w; x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H {
			return k, true
		}
	}
	return 0, false
}

// neighboursOf lists the pixels of the tile next to pixel i of it.
func neighboursOf(r processing.Tile, i int) []int {
	var n []int
	x, y := i%r.W, i/r.W
	if x > 0 {
		n = append(n, i-1)
	}
	if x < r.W-1 {
		n = append(n, i+1)
	}
	if y > 0 {
		n = append(n, i-r.W)
	}
	if y < r.H-1 {
		n = append(n, i+r.W)
	}
	return n
}

// gauss solves a·x = b by elimination with partial pivoting.
func gauss(a [][]float64, b []float64) []float64 {
	n := len(b)
	for c := range n {
		p := c
		for r := c; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		a[c], a[p], b[c], b[p] = a[p], a[c], b[p], b[c]
		if math.Abs(a[c][c]) < 1e-12 {
			return nil
		}
		for r := c + 1; r < n; r++ {
			f := a[r][c] / a[c][c]
			for k := c; k < n; k++ {
				a[r][k] -= f * a[c][k]
			}
			b[r] -= f * b[c]
		}
	}
	x := make([]float64, n)
	for r := n - 1; r >= 0; r-- {
		x[r] = b[r]
		for k := r + 1; k < n; k++ {
			x[r] -= a[r][k] * x[k]
		}
		x[r] /= a[r][r]
	}
	return x
}

// operator returns the matrix of Σ neighbours − n·u of a tile.
func operator(r processing.Tile) [][]float64 {
	n := r.W * r.H
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		for _, j := range neighboursOf(r, i) {
			m[i][j]++
			m[i][i]--
		}
	}
	return m
}

// solved returns the result for a tile: the unknown pixels solve m·u = 0 in their own rows. It is nil if the system has
// no unique solution. spread is the largest change of a pixel if each row is off by up to 1, the row sum norm of the
// inverse, for an m whose inverse has one sign.
func solved(m [][]float64, p []float32, state []uint8) (out []float64, spread float64) {
	var unknown []int
	for i, s := range state {
		if s != processing.StateKnown {
			unknown = append(unknown, i)
		}
	}
	a, b := make([][]float64, len(unknown)), make([]float64, len(unknown))
	for r, i := range unknown {
		a[r] = make([]float64, len(unknown))
		for c, j := range unknown {
			a[r][c] = m[i][j]
		}
		for j, s := range state {
			if s == processing.StateKnown {
				b[r] -= m[i][j] * float64(p[j])
			}
		}
	}
	ones := make([]float64, len(unknown))
	for r := range ones {
		ones[r] = 1
	}
	apart := gauss(clone(a), ones)
	x := gauss(a, b)
	if x == nil {
		return nil, 0
	}
	for _, v := range apart {
		spread = max(spread, math.Abs(v))
	}
	out = make([]float64, len(p))
	for i, v := range p {
		out[i] = float64(v)
	}
	for k, i := range unknown {
		out[i] = x[k]
	}
	return out, spread
}

func clone(m [][]float64) [][]float64 {
	out := make([][]float64, len(m))
	for i, row := range m {
		out[i] = slices.Clone(row)
	}
	return out
}

// checkSolver compares an iterated operation with elimination, tile by tile, and checks that nothing else is written.
// tolerance is the error allowed in each row, in units of 2⁻²⁴ of the largest sample.
func checkSolver(t *rapid.T, tolerance float64, matrix func(processing.Tile) [][]float64,
	run func(b *Backend, dst, state processing.Plane, tiles []processing.Tile) error) {
	tiles, w, h := drawTiles(t)
	p := floats(t, w*h)
	state := drawStates(t, w*h)
	var first []float32
	each(t, func(b *Backend) {
		dst, st := up(t, b, w, h, p), up(t, b, w, h, state)
		defer dst.Release()
		defer st.Release()
		if err := run(b, dst, st, tiles); err != nil {
			t.Fatal(err)
		}
		got := down[float32](t, dst)
		if first == nil {
			first = got
		}
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(first[i]) {
				t.Fatalf("pixel %d depends on the number of workers", i)
			}
			if _, in := inTile(tiles, w, i); got[i] != p[i] && (!in || state[i] == processing.StateKnown) {
				t.Fatalf("pixel %d was written", i)
			}
		}
	})
	for _, r := range tiles {
		src, st, got := make([]float32, r.W*r.H), make([]uint8, r.W*r.H), make([]float32, r.W*r.H)
		processing.CutTile(src, p, w, r)
		processing.CutTile(st, state, w, r)
		processing.CutTile(got, first, w, r)
		known := 0
		for _, s := range st {
			if s == processing.StateKnown {
				known++
			}
		}
		if known == 0 {
			continue
		}
		want, spread := solved(matrix(r), src, st)
		if want == nil {
			continue
		}
		// Single precision rounds by the size of the samples, however little they differ; that spreads through the
		// tile.
		largest := 0.0
		for _, v := range want {
			largest = math.Max(largest, math.Abs(v))
		}
		for i := range want {
			if d := math.Abs(float64(got[i]) - want[i]); d > tolerance*spread*largest/(1<<24) {
				t.Fatalf("tile %v, pixel %d: %g, elimination says %g", r, i, got[i], want[i])
			}
		}
	}
}

// harmonicRounding is the error of a row when nothing changes any more, in units of 2⁻²⁴ of the largest sample. An
// update u += ω(Σ/n − u) with n ≤ 4 neighbours rounds by about 7 of them at ω = 1.8: 2.25 in Σ/n by its additions and 1
// by its division, both times ω, and 1 at the end. In the equation that counts n/ω times, and n times more by the
// neighbours that were updated before: 43. The largest of 10⁵ drawn cases was between 12 and 16.
const harmonicRounding = 43

func TestHarmonicAgainstElimination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkSolver(t, harmonicRounding, operator, func(b *Backend, dst, state processing.Plane,
			tiles []processing.Tile) error {
			sweeps, omegas := make([]int, len(tiles)), make([]float32, len(tiles))
			for i := range tiles {
				sweeps[i], omegas[i] = 1000, 1.8
			}
			return b.Do(context.Background(), processing.Harmonic{
				Dst: dst, State: state, Tiles: tiles, Sweeps: sweeps, Omegas: omegas,
			})
		})
	})
}

// The few sweeps of correction must also come close, for holes of the depths that they are meant for.
func TestHarmonicConvergesOnADisc(t *testing.T) {
	for _, depth := range []int{1, 3, 8, 14} {
		side := 2*depth + 5
		r := processing.Tile{W: side, H: side}
		p, state := make([]float32, side*side), make([]uint8, side*side)
		for i := range p {
			x, y := float64(i%side), float64(i/side)
			p[i] = float32(math.Sin(x/3) + y*0.1)
			if d := math.Hypot(x-float64(side/2), y-float64(side/2)); d < float64(depth) {
				state[i] = processing.StateClipped
			}
		}
		want, _ := solved(operator(r), p, state)
		b := New()
		dst, st := up(t, b, side, side, p), up(t, b, side, side, state)
		omega := float32(2 / (1 + math.Sin(math.Pi/float64(2*depth+1))))
		if err := b.Do(context.Background(), processing.Harmonic{
			Dst: dst, State: st, Tiles: []processing.Tile{r}, Sweeps: []int{12 + 5*depth}, Omegas: []float32{omega},
		}); err != nil {
			t.Fatal(err)
		}
		for i, v := range down[float32](t, dst) {
			if math.Abs(float64(v)-want[i]) > 2e-3 {
				t.Fatalf("depth %d, pixel %d: %g, elimination says %g", depth, i, v, want[i])
			}
		}
	}
}

func TestDetailAgainstDirectSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tiles, w, h := drawTiles(t)
		p, state := floats(t, w*h), drawStates(t, w*h)
		// smooth is one smoothing by direct sums over the tile.
		smooth := func(v []float64, gap int) []float64 {
			out := make([]float64, len(v))
			taps := []float64{1, 4, 6, 4, 1}
			for i := range v {
				k, in := inTile(tiles, w, i)
				if !in || state[i] != processing.StateKnown {
					continue
				}
				var sum, weights float64
				for b, u := range taps {
					for a, q := range taps {
						x, y := i%w+(a-2)*gap, i/w+(b-2)*gap
						if x < 0 || y < 0 || x >= w || y >= h {
							continue
						}
						if n, ok := inTile(tiles, w, y*w+x); ok && n == k && state[y*w+x] == processing.StateKnown {
							sum, weights = sum+u*q*v[y*w+x], weights+u*q
						}
					}
				}
				out[i] = sum / weights
			}
			return out
		}
		wide := make([]float64, len(p))
		for i, v := range p {
			wide[i] = float64(v)
		}
		coarse := smooth(smooth(wide, 1), 2)
		each(t, func(b *Backend) {
			dst, src, st := empty(t, b, processing.F32, w, h), up(t, b, w, h, p), up(t, b, w, h, state)
			defer dst.Release()
			defer src.Release()
			defer st.Release()
			if err := b.Do(context.Background(), processing.Detail{
				Dst: dst, Src: src, State: st, Tiles: tiles,
			}); err != nil {
				t.Fatal(err)
			}
			for i, got := range down[float32](t, dst) {
				want := -12345.0
				if _, in := inTile(tiles, w, i); in {
					if want = 0; state[i] == processing.StateKnown {
						want = wide[i] - coarse[i]
					}
				}
				if math.Abs(float64(got)-want) > 1e-3 {
					t.Fatalf("pixel %d: %g, direct sums say %g", i, got, want)
				}
			}
		})
	})
}

// TestSeparateFindsTheLight lays a known light over smooth paint.
func TestSeparateFindsTheLight(t *testing.T) {
	const side = 25
	r := processing.Tile{W: side, H: side}
	colour := [3]float64{0.6, 0.58, 0.55}
	var paint, seen [3][]float32
	state, want := make([]uint8, side*side), make([]float64, side*side)
	expected := make([]float32, side*side)
	for i := range state {
		x, y := float64(i%side)-12, float64(i/side)-12
		d := math.Hypot(x, y)
		expected[i] = 1e9
		if d < 8 {
			state[i] = processing.StateUnclipped
			want[i] = 0.5 * math.Exp(-d*d/9)
			expected[i] = float32(want[i] + 1e-3)
		}
		if d < 2 {
			state[i] = processing.StateClipped
		}
		for k := range 3 {
			p := 0.4 + 0.05*float64(k) + 0.004*x - 0.002*y
			l := p*p + want[i]*colour[k]
			if state[i] == processing.StateClipped {
				l = 1
			}
			seen[k] = append(seen[k], float32(l))
			if state[i] != processing.StateKnown {
				p = 0.4 + 0.05*float64(k)
			}
			paint[k] = append(paint[k], float32(p))
		}
	}
	m := processing.Separation{Variance: [4]float32{2e-5, 2e-5, 2e-5}, Noise: 1e-6, Mismatch: 0.1, Sweeps: 300}
	norm := math.Sqrt(colour[0]*colour[0] + colour[1]*colour[1] + colour[2]*colour[2])
	for k := range 3 {
		m.Axes[k][k], m.Light[k] = 1, float32(colour[k]/norm)
	}
	var first []float32
	for _, n := range workerCounts {
		b := New(Workers(n))
		var p, s []processing.Plane
		for k := range 3 {
			p, s = append(p, up(t, b, side, side, paint[k])), append(s, up(t, b, side, side, seen[k]))
		}
		light := up(t, b, side, side, make([]float32, side*side))
		if err := b.Do(context.Background(), processing.Separate{
			Paint: p, Light: light, Seen: s, Expected: up(t, b, side, side, expected),
			State: up(t, b, side, side, state), Tiles: []processing.Tile{r}, Models: []processing.Separation{m},
		}); err != nil {
			t.Fatal(err)
		}
		got := down[float32](t, p[0])
		if first == nil {
			first = got
		}
		for i, v := range got {
			if v != first[i] {
				t.Fatalf("pixel %d depends on the number of workers", i)
			}
			x, y := float64(i%side)-12, float64(i/side)-12
			if d := math.Abs(float64(v) - (0.4 + 0.004*x - 0.002*y)); d > 0.02 {
				t.Fatalf("paint of pixel %d is off by %.3f", i, d)
			}
		}
	}
}

func TestTileOperationsCancelled(t *testing.T) {
	b := New()
	f, u := empty(t, b, processing.F32, 8, 6), up(t, b, 8, 6, make([]uint8, 48))
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Do(gone, processing.Harmonic{
		Dst: f, State: u, Tiles: []processing.Tile{{W: 4, H: 4}}, Sweeps: []int{1}, Omegas: []float32{1},
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
