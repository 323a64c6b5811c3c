package processing

import (
	"context"
	"math/big"
)

// Histogram counts the values of Src (U8: 256 bins, U16: 65,536 bins) where Exclude (U8) is 0; Exclude may be nil.
type Histogram struct {
	wholePicture

	Src, Exclude Plane
	Out          *[]uint64
}

// Into implements Query.
func (o Histogram) Into(out *[]uint64) Op { o.Out = out; return o }

func (o Histogram) run(ctx context.Context, e Executor) error {
	return answer(ctx, o, o.Out, e.Histogram)
}

func (o Histogram) describe(a *arguments) Op {
	a.reads("source", &o.Src, integers)
	if o.Exclude != nil {
		a.reads("exclusion", &o.Exclude, u8)
	}
	a.result(o.Out != nil)
	return o
}

// NoiseTiles returns the noise of each tile of Side × Side pixels, Side ≥ 2, of Src (U8, U16), in grey levels: median
// |HH1| / 0.6745 of the Haar transform (Donoho & Johnstone 1994). Tiles of less than a quarter of that area are left
// out.
type NoiseTiles struct {
	wholePicture

	Src  Plane
	Side int
	Out  *[]float64
}

// Into implements Query.
func (o NoiseTiles) Into(out *[]float64) Op { o.Out = out; return o }

func (o NoiseTiles) run(ctx context.Context, e Executor) error {
	return answer(ctx, o, o.Out, e.NoiseTiles)
}

func (o NoiseTiles) describe(a *arguments) Op {
	a.reads("source", &o.Src, integers)
	if o.Side < 2 {
		a.failf("tiles of %d pixels: at least 2", o.Side)
	}
	a.result(o.Out != nil)
	return o
}

// Moments are the exact sums over a plane of integers, or the compensated ones over floats.
type Moments struct {
	N            uint64
	Sum, Sum2    float64
	Min, Max     float64
	Mean, StdDev float64
}

// SumMoments sums over Src, of any kind: exactly for integers, in a fixed tree order for F32.
type SumMoments struct {
	wholePicture

	Src Plane
	Out *Moments
}

// Into implements Query.
func (o SumMoments) Into(out *Moments) Op { o.Out = out; return o }

func (o SumMoments) run(ctx context.Context, e Executor) error {
	return answer(ctx, o, o.Out, e.SumMoments)
}

func (o SumMoments) describe(a *arguments) Op {
	a.reads("source", &o.Src, anyKind)
	a.result(o.Out != nil)
	return o
}

// Sum returns only the sum over Src (F32), computed as by SumMoments.
type Sum struct {
	wholePicture

	Src Plane
	Out *float64
}

// Into implements Query.
func (o Sum) Into(out *float64) Op { o.Out = out; return o }

func (o Sum) run(ctx context.Context, e Executor) error { return answer(ctx, o, o.Out, e.Sum) }

func (o Sum) describe(a *arguments) Op {
	a.reads("source", &o.Src, f32)
	a.result(o.Out != nil)
	return o
}

// WideFloat returns a float with room for the square of any sum of samples.
func WideFloat() *big.Float { return new(big.Float).SetPrec(512) }

// NewMoments computes the moments from the sums of n samples and of their squares: mean S/n and population standard
// deviation √(n·S₂ − S²)/n, whose difference is exact.
func NewMoments(n int, sum, sum2 *big.Float, low, high float64) Moments {
	m := Moments{N: uint64(n), Min: low, Max: high}
	m.Sum, _ = sum.Float64()
	m.Sum2, _ = sum2.Float64()
	count := WideFloat().SetInt64(int64(n))
	m.Mean, _ = WideFloat().Quo(sum, count).Float64()
	v := WideFloat().Sub(WideFloat().Mul(count, sum2), WideFloat().Mul(sum, sum))
	if v.Sign() > 0 {
		m.StdDev, _ = v.Quo(v.Sqrt(v), count).Float64()
	}
	return m
}
