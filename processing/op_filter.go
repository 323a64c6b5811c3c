package processing

import (
	"context"
	"math"
)

// Gaussian blurs with standard deviation Sigma, 0…1000 pixels, and kernel radius ⌈3σ⌉, separable, mirrored at the
// border without repeating the edge; U8, U16 and F32. Integer planes are rounded to nearest.
type Gaussian struct {
	Dst, Src Plane
	Sigma    float64
}

// Footprint implements Op.
func (o Gaussian) Footprint() Footprint { return Footprint{Rows: int(math.Ceil(3 * o.Sigma))} }

// maxSigma bounds the kernel, whose cost grows with sigma.
const maxSigma = 1000

func (o Gaussian) run(ctx context.Context, e Executor) error { return e.Gaussian(ctx, o) }

func (o Gaussian) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, samples)
	a.reads("source", &o.Src, samples)
	a.alike(o.Dst, o.Src)
	a.apart()
	if !(o.Sigma >= 0 && o.Sigma <= maxSigma) {
		a.failf("standard deviation %v: must be between 0 and %d", o.Sigma, maxSigma)
	}
	return o
}

// GaussianTaps returns the weights of the middle tap and of each pair of taps beside it; all 2r+1 of them add up to 1.
// All backends use them, so that their results agree bit for bit.
func GaussianTaps(sigma float64) []float32 {
	r := int(math.Ceil(3 * sigma))
	exact := make([]float64, r+1)
	total := 0.0
	for i := r; i >= 0; i-- {
		exact[i] = 1
		if i > 0 {
			exact[i] = math.Exp(-float64(i*i) / (2 * sigma * sigma))
			total += exact[i]
		}
		total += exact[i]
	}
	taps := make([]float32, r+1)
	for i, e := range exact {
		taps[i] = float32(e / total)
	}
	return taps
}

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

func (w Wavelet) check(a *arguments) {
	if w > Daubechies4 {
		a.failf("unknown wavelet %d", w)
	}
}

// WaveletTransform writes one level of the separable 2-D transform of Src (U8, U16 or F32) as float32 into Dst, whose
// quadrants hold LL, HL, LH, HH; sides are ⌈w/2⌉ for the low and ⌊w/2⌋ for the high band. The border is periodic; an
// odd side is extended by its last sample once.
type WaveletTransform struct {
	wholePicture

	Dst, Src Plane
	Wavelet  Wavelet
}

func (o WaveletTransform) run(ctx context.Context, e Executor) error {
	return e.WaveletTransform(ctx, o)
}

func (o WaveletTransform) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, f32)
	a.reads("source", &o.Src, samples)
	a.apart()
	o.Wavelet.check(a)
	return o
}

// InverseWavelet undoes WaveletTransform; Src and Dst are F32.
type InverseWavelet struct {
	wholePicture

	Dst, Src Plane
	Wavelet  Wavelet
}

func (o InverseWavelet) run(ctx context.Context, e Executor) error { return e.InverseWavelet(ctx, o) }

func (o InverseWavelet) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, f32)
	a.reads("source", &o.Src, f32)
	a.apart()
	o.Wavelet.check(a)
	return o
}

// StarletBand writes the positive part of band Level (1…3) of the undecimated B3-spline transform (holes 2^(j−1),
// h = [1 4 6 4 1]/16, mirrored at the border) of Src (U8) in 1/256 grey levels, rounded down, into Dst (U16).
type StarletBand struct {
	Dst, Src Plane
	Level    int
}

// Footprint implements Op. Level j reaches two holes of 2^(j−1) farther: 2 + 4 + … + 2^Level.
func (o StarletBand) Footprint() Footprint { return Footprint{Rows: 2<<o.Level - 2} }

func (o StarletBand) run(ctx context.Context, e Executor) error { return e.StarletBand(ctx, o) }

func (o StarletBand) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u16)
	a.reads("source", &o.Src, u8)
	if o.Level < 1 || o.Level > 3 {
		a.failf("level %d: must be 1, 2 or 3", o.Level)
	}
	return o
}
