package processing

import (
	"context"
	"math"
)

// Gaussian blurs with standard deviation Sigma, 0…1000 pixels, and kernel radius ⌈3σ⌉, separable, mirrored at the
// border without repeating the edge; U8, rounded to nearest.
type Gaussian struct {
	Dst, Src Plane
	Sigma    float64
}

func (o Gaussian) Footprint() Footprint { return Footprint{Rows: int(math.Ceil(3 * o.Sigma))} }

// maxSigma bounds the kernel, whose cost grows with sigma.
const maxSigma = 1000

func (o Gaussian) run(ctx context.Context, e Executor) error { return e.Gaussian(ctx, o) }

func (o Gaussian) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u8)
	a.reads("source", &o.Src, u8)
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

// StarletBand writes the positive part of the second band of the undecimated B3-spline transform (holes 1 and 2,
// h = [1 4 6 4 1]/16, mirrored at the border) of Src (U8) in 1/256 grey levels, rounded down, into Dst (U16).
type StarletBand struct{ Dst, Src Plane }

// Footprint implements Op: two steps of 1 and two of 2.
func (o StarletBand) Footprint() Footprint { return Footprint{Rows: 6} }

func (o StarletBand) run(ctx context.Context, e Executor) error { return e.StarletBand(ctx, o) }

func (o StarletBand) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u16)
	a.reads("source", &o.Src, u8)
	return o
}
