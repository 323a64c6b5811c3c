package cpu

import (
	"context"
	"iter"
	"math"
)

// Wavelet is an orthogonal wavelet.
type Wavelet uint8

// The wavelets.
const (
	Haar Wavelet = iota
	// Daubechies4 has four taps and two vanishing moments (Daubechies 1988).
	Daubechies4
)

// taps returns the low-pass and high-pass taps: coefficient i of the low and of the high band is the sum over k of
// low[k]·x[2i−2+k] and high[k]·x[2i−2+k], with indices modulo the even length. Haar has its two taps at k = 2 and 3.
//
// Placed like this, the large taps of the last high coefficient fall on the last two samples. An odd side leaves that
// coefficient out; the inverse restores it from the fact that these two samples are equal.
func (w Wavelet) taps() (low, high [4]float32) {
	if w == Haar {
		c := float32(math.Sqrt2 / 2)
		return [4]float32{0, 0, c, c}, [4]float32{0, 0, c, -c}
	}
	s, n := math.Sqrt(3), 4*math.Sqrt2
	low = [4]float32{float32((1 + s) / n), float32((3 + s) / n), float32((3 - s) / n), float32((1 - s) / n)}
	return low, [4]float32{low[3], -low[2], low[1], -low[0]}
}

// filter holds the taps of an orthogonal wavelet (see Wavelet.taps).
type filter struct {
	low, high [4]float32
	// short: the first two taps are 0.
	short bool
}

func filterOf(wave Wavelet) *filter {
	low, high := wave.taps()
	return &filter{low: low, high: high, short: wave == Haar}
}

// backward returns the taps of the inverse for the even (odd = 0) and odd samples, in the order low[i], high[i],
// low[i+1], high[i+1] of the coefficients that sample 2i or 2i+1 takes part in.
func (f *filter) backward(odd int) *[4]float32 {
	return &[4]float32{f.low[2+odd], f.high[2+odd], f.low[odd], f.high[odd]}
}

// missing is the factor that gives the last high coefficient from b − a, where a and b are the inverse without that
// coefficient at the last sample and at its copy: with it they become equal. On a side of one sample they are equal
// without.
func (f *filter) missing() float32 { return 1 / (f.high[2] - f.high[3]) }

// tap4 writes ((t0·a + t1·b) + t2·c) + t3·d. The conversions keep a compiler from fusing products and sums.
func tap4(dst, a, b, c, d []float32, t *[4]float32) {
	n := len(dst)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	t0, t1, t2, t3 := t[0], t[1], t[2], t[3]
	for i := range dst {
		dst[i] = float32(t0*a[i]) + float32(t1*b[i]) + float32(t2*c[i]) + float32(t3*d[i])
	}
}

// tap2 writes t0·a + t1·b.
func tap2(dst, a, b []float32, t0, t1 float32) {
	n := len(dst)
	a, b = a[:n], b[:n]
	for i := range dst {
		dst[i] = float32(t0*a[i]) + float32(t1*b[i])
	}
}

// both4 is tap4 with two sets of taps, and both2 tap2.
func both4(low, high, a, b, c, d []float32, f *filter) {
	tap4(low, a, b, c, d, &f.low)
	tap4(high, a, b, c, d, &f.high)
}

func both2(low, high, a, b []float32, f *filter) {
	tap2(low, a, b, f.low[2], f.low[3])
	tap2(high, a, b, f.high[2], f.high[3])
}

// haarPair transforms two rows of even length: it combines the low coefficients of both, then the high ones, down the
// columns to a low and a high row. The result is that of analyse and both2.
func haarPair(low, high, a, b []float32, f *filter) {
	n := len(a) / 2
	l0, l1, h0, h1 := f.low[2], f.low[3], f.high[2], f.high[3]
	for i := range n {
		p, q, r, s := a[2*i], a[2*i+1], b[2*i], b[2*i+1]
		u, v := float32(l0*p)+float32(l1*q), float32(l0*r)+float32(l1*s)
		low[i], high[i] = float32(l0*u)+float32(l1*v), float32(h0*u)+float32(h1*v)
		u, v = float32(h0*p)+float32(h1*q), float32(h0*r)+float32(h1*s)
		low[n+i], high[n+i] = float32(l0*u)+float32(l1*v), float32(h0*u)+float32(h1*v)
	}
}

// pair4 gives the result of analyse of both rows and both4, without storing the rows between.
func pair4(low, high, c, d, a, b []float32, f *filter) {
	n := len(a) / 2
	l, h := f.low, f.high
	for half, t := range [...]*[4]float32{&f.low, &f.high} {
		p, q, r, s := a[2*n-2], a[2*n-1], b[2*n-2], b[2*n-1]
		for i := range n {
			k := half*n + i
			even, odd := a[2*i], a[2*i+1]
			u := float32(t[0]*p) + float32(t[1]*q) + float32(t[2]*even) + float32(t[3]*odd)
			p, q = even, odd
			even, odd = b[2*i], b[2*i+1]
			v := float32(t[0]*r) + float32(t[1]*s) + float32(t[2]*even) + float32(t[3]*odd)
			r, s = even, odd
			x, y := c[k], d[k]
			low[k] = float32(l[0]*x) + float32(l[1]*y) + float32(l[2]*u) + float32(l[3]*v)
			high[k] = float32(h[0]*x) + float32(h[1]*y) + float32(h[2]*u) + float32(h[3]*v)
			c[k], d[k] = u, v
		}
	}
}

// analyse splits a row of even length into its low and high coefficients; high may lack the last.
func analyse(low, high, x []float32, f *filter) {
	l, h := f.low, f.high
	if f.short {
		for i := range low {
			low[i] = float32(l[2]*x[2*i]) + float32(l[3]*x[2*i+1])
		}
		for i := range high {
			high[i] = float32(h[2]*x[2*i]) + float32(h[3]*x[2*i+1])
		}
		return
	}
	a, b := x[len(x)-2], x[len(x)-1]
	for i := range low {
		c, d := x[2*i], x[2*i+1]
		low[i] = float32(l[0]*a) + float32(l[1]*b) + float32(l[2]*c) + float32(l[3]*d)
		if i < len(high) {
			high[i] = float32(h[0]*a) + float32(h[1]*b) + float32(h[2]*c) + float32(h[3]*d)
		}
		a, b = c, d
	}
}

// synthesise joins equally many low and high coefficients into a row of twice the length.
func synthesise(x, low, high []float32, f *filter) {
	e, o := f.backward(0), f.backward(1)
	if f.short {
		for i, l := range low {
			x[2*i] = float32(e[0]*l) + float32(e[1]*high[i])
			x[2*i+1] = float32(o[0]*l) + float32(o[1]*high[i])
		}
		return
	}
	for i := range low {
		j := i + 1
		if j == len(low) {
			j = 0
		}
		a, b, c, d := low[i], high[i], low[j], high[j]
		x[2*i] = float32(e[0]*a) + float32(e[1]*b) + float32(e[2]*c) + float32(e[3]*d)
		x[2*i+1] = float32(o[0]*a) + float32(o[1]*b) + float32(o[2]*c) + float32(o[3]*d)
	}
}

// Transform writes one level of the separable 2-D transform of src into dst, both w × h samples, whose quadrants hold
// LL, HL, LH, HH; sides are ⌈w/2⌉ for the low and ⌊w/2⌋ for the high band. The border is periodic; an odd side is
// extended by its last sample once.
func (c *Cores) Transform(ctx context.Context, dst, src []float32, w, h int, wave Wavelet) error {
	f := filterOf(wave)
	wide, high := (w+1)/2*2, (h+1)/2*2
	m := high / 2
	return c.strips(ctx, m, 2*w, func(runs iter.Seq2[int, int]) {
		lines := [2][]float32{make([]float32, wide), make([]float32, wide)}
		var rows [4][]float32
		for k := range rows {
			rows[k] = make([]float32, w)
		}
		lost := make([]float32, w)
		// floats returns a row of even length, which may be the source's own.
		floats := func(line []float32, y int) []float32 {
			y = min((y+high)%high, h-1)
			row := src[y*w : (y+1)*w]
			if w == wide {
				return row
			}
			copy(line, row)
			line[wide-1] = line[w-1]
			return line
		}
		along := func(row []float32, y int) {
			c.k.analyse(row[:wide/2], row[wide/2:], floats(lines[0], y), f)
		}
		for i0, i1 := range runs {
			if !f.short {
				along(rows[2], 2*i0-2)
				along(rows[3], 2*i0-1)
			}
			for i := i0; i < i1; i++ {
				lowRow, highRow := dst[i*w:(i+1)*w], lost
				if m+i < h {
					highRow = dst[(m+i)*w : (m+i+1)*w]
				}
				if f.short && w == wide {
					c.k.haarPair(lowRow, highRow, floats(lines[0], 2*i), floats(lines[1], 2*i+1), f)
					continue
				}
				if !f.short && w == wide {
					c.k.pair4(lowRow, highRow, rows[2], rows[3], floats(lines[0], 2*i), floats(lines[1], 2*i+1), f)
					continue
				}
				rows = [4][]float32{rows[2], rows[3], rows[0], rows[1]}
				along(rows[2], 2*i)
				along(rows[3], 2*i+1)
				if f.short {
					c.k.both2(lowRow, highRow, rows[2], rows[3], f)
				} else {
					c.k.both4(lowRow, highRow, rows[0], rows[1], rows[2], rows[3], f)
				}
			}
		}
	})
}

// Inverse undoes Transform, columns first.
func (c *Cores) Inverse(ctx context.Context, dst, src []float32, w, h int, wave Wavelet) error {
	f := filterOf(wave)
	m, half := (h+1)/2, (w+1)/2
	row := func(y int) []float32 { return src[y*w : (y+1)*w] }
	// lost is the last row of high coefficients if the height is odd.
	lost := make([]float32, w)
	highRow := func(i int) []float32 {
		if m+i < h {
			return row(m + i)
		}
		return lost
	}
	pair := func(dst []float32, i, odd int) {
		t, j := f.backward(odd), (i+1)%m
		if f.short {
			c.k.tap2(dst, row(i), highRow(i), t[0], t[1])
			return
		}
		c.k.tap4(dst, row(i), highRow(i), row(j), highRow(j), t)
	}
	if h%2 == 1 {
		even, odd := make([]float32, w), make([]float32, w)
		pair(even, m-1, 0)
		pair(odd, m-1, 1)
		c := f.missing()
		for x := range lost {
			lost[x] = float32(c * (odd[x] - even[x]))
		}
	}
	return c.strips(ctx, m, 2*w, func(runs iter.Seq2[int, int]) {
		line, joined := make([]float32, 2*half), make([]float32, 2*half)
		for i0, i1 := range runs {
			for y := 2 * i0; y < min(h, 2*i1); y++ {
				pair(line[:w], y/2, y%2)
				if w%2 == 1 {
					line[w] = 0
					synthesise(joined, line[:half], line[half:], f)
					line[w] = float32(f.missing() * (joined[w] - joined[w-1]))
				}
				synthesise(joined, line[:half], line[half:], f)
				copy(dst[y*w:(y+1)*w], joined)
			}
		}
	})
}
