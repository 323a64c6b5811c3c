package kernel

import "math"

// Wavelet is an orthogonal wavelet.
type Wavelet uint8

// The wavelets.
const (
	Haar Wavelet = iota
	// Daubechies4 has four taps and two vanishing moments (Daubechies 1988).
	Daubechies4
)

// Taps returns the low-pass and high-pass taps: coefficient i of the low and of the high band is the sum over k of
// low[k]·x[2i−2+k] and high[k]·x[2i−2+k], with indices modulo the even length. Haar has its two taps at k = 2 and 3.
//
// Placed like this, the large taps of the last high coefficient fall on the last two samples. An odd side leaves that
// coefficient out; the inverse restores it from the fact that these two samples are equal.
func (w Wavelet) Taps() (low, high [4]float32) {
	if w == Haar {
		c := float32(math.Sqrt2 / 2)
		return [4]float32{0, 0, c, c}, [4]float32{0, 0, c, -c}
	}
	s, n := math.Sqrt(3), 4*math.Sqrt2
	low = [4]float32{float32((1 + s) / n), float32((3 + s) / n), float32((3 - s) / n), float32((1 - s) / n)}
	return low, [4]float32{low[3], -low[2], low[1], -low[0]}
}

// Filter holds the taps of an orthogonal wavelet (see Wavelet.Taps).
type Filter struct {
	low, high [4]float32
	// short: the first two taps are 0.
	Short bool
}

func FilterOf(wave Wavelet) *Filter {
	low, high := wave.Taps()
	return &Filter{low: low, high: high, Short: wave == Haar}
}

// Backward returns the taps of the inverse for the even (odd = 0) and odd samples, in the order low[i], high[i],
// low[i+1], high[i+1] of the coefficients that sample 2i or 2i+1 takes part in.
func (f *Filter) Backward(odd int) *[4]float32 {
	return &[4]float32{f.low[2+odd], f.high[2+odd], f.low[odd], f.high[odd]}
}

// Missing is the factor that gives the last high coefficient from b − a, where a and b are the inverse without that
// coefficient at the last sample and at its copy: with it they become equal. On a side of one sample they are equal
// without.
func (f *Filter) Missing() float32 { return 1 / (f.high[2] - f.high[3]) }

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
func both4(low, high, a, b, c, d []float32, f *Filter) {
	tap4(low, a, b, c, d, &f.low)
	tap4(high, a, b, c, d, &f.high)
}

func both2(low, high, a, b []float32, f *Filter) {
	tap2(low, a, b, f.low[2], f.low[3])
	tap2(high, a, b, f.high[2], f.high[3])
}

// haarPair transforms two rows of even length: it combines the low coefficients of both, then the high ones, down the
// columns to a low and a high row. The result is that of analyse and both2.
func haarPair(low, high, a, b []float32, f *Filter) {
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
func pair4(low, high, c, d, a, b []float32, f *Filter) {
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
func analyse(low, high, x []float32, f *Filter) {
	l, h := f.low, f.high
	if f.Short {
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
func synthesise(x, low, high []float32, f *Filter) {
	e, o := f.Backward(0), f.Backward(1)
	if f.Short {
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
