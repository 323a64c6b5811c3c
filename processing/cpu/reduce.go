package cpu

import (
	"context"
	"math"
	"math/big"
	"sync"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// Histogram counts the values of src where exclude is 0; exclude may be nil.
func (b executor) Histogram(ctx context.Context, op processing.Histogram) ([]uint64, error) {
	s := op.Src.(*plane)
	var e *plane
	if op.Exclude != nil {
		e = op.Exclude.(*plane)
	}
	bins := 1 << 8
	if s.kind == processing.U16 {
		bins = 1 << 16
	}
	total := make([]uint64, bins)
	var mu sync.Mutex
	// A task is a large share of the picture, so that clearing and adding its bins takes little time in comparison.
	n := s.w * s.h
	share := max(spanPixels, (n+4*b.workers-1)/(4*b.workers), 4*bins)
	share = min(share, 1<<30)
	err := b.each(ctx, (n+share-1)/share, func(t *worker, k int) {
		part := zeroScratch[uint32](t, bins)
		for i := k * share; i < min(n, (k+1)*share); i += spanPixels {
			if t.stopped() {
				return
			}
			j := min(n, (k+1)*share, i+spanPixels)
			var out []uint8
			if e != nil {
				out = e.data.U8[i:j]
			}
			if s.kind == processing.U8 {
				kernel.Histogram(part, s.data.U8[i:j], out)
			} else {
				kernel.Histogram(part, s.data.U16[i:j], out)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i, c := range part {
			total[i] += uint64(c)
		}
	})
	if err != nil {
		return nil, err
	}
	return total, nil
}

// Moments are the exact sums over a plane of integers, or the compensated ones over floats.
type Moments struct {
	N            uint64
	Sum, Sum2    float64
	Min, Max     float64
	Mean, StdDev float64
}

// SumMoments sums over a U8, U16 or F32 plane: exactly for integers, in a fixed tree order for F32, where every
// addition keeps the rounding error of the sum (Knuth's two-sum), so that the sums are as good as if computed with
// twice the precision of float64 and rounded once.
func SumMoments(ctx context.Context, b *Backend, src processing.Plane) (Moments, error) {
	s := src.(*plane)
	switch s.kind {
	case processing.U8:
		return integerMoments(ctx, b, s.data.U8, b.kernels.Moments8)
	case processing.U16:
		return integerMoments(ctx, b, s.data.U16, b.kernels.Moments16)
	default:
		return floatMoments(ctx, b, s.data.F32)
	}
}

func integerMoments[T uint8 | uint16](ctx context.Context, b *Backend, s []T, of func(s []T) kernel.Moments[T]) (
	Moments, error,
) {
	blocks := make([]kernel.Moments[T], (len(s)+b.tiling.span-1)/b.tiling.span)
	if err := b.chunks(ctx, len(s), func(_ *worker, i, j int) { blocks[i/b.tiling.span] = of(s[i:j]) }); err != nil {
		return Moments{}, err
	}
	// The squares of 2³² samples of 16 bits fit.
	total := blocks[0]
	for _, p := range blocks[1:] {
		total.Sum, total.Sum2 = total.Sum+p.Sum, total.Sum2+p.Sum2
		total.Low, total.High = min(total.Low, p.Low), max(total.High, p.High)
	}
	return newMoments(len(s), kernel.WideFloat().SetUint64(total.Sum), kernel.WideFloat().SetUint64(total.Sum2),
		float64(total.Low), float64(total.High)), nil
}

// Sum returns the sum of SumMoments over a plane of floats.
func Sum(ctx context.Context, b *Backend, src processing.Plane) (float64, error) {
	s := src.(*plane).data.F32
	blocks := make([]kernel.Double, (len(s)+kernel.MomentBlock-1)/kernel.MomentBlock)
	// A task is several blocks, because handing out a single one would take about as long as adding it up.
	const group = 8
	err := b.each(ctx, (len(blocks)+group-1)/group, func(t *worker, i int) {
		for k := i * group; k < min(len(blocks), (i+1)*group) && !t.stopped(); k++ {
			blocks[k] = b.kernels.FloatSum(s[k*kernel.MomentBlock : min(len(s), (k+1)*kernel.MomentBlock)])
		}
	})
	if err != nil {
		return 0, err
	}
	t := pairwise(blocks, (*kernel.Double).Join)
	if math.IsNaN(t.Sum) || math.IsInf(t.Sum, 0) {
		return t.Sum, nil
	}
	sum, _ := t.Exact().Float64()
	return sum, nil
}

// pairwise joins the sums of blocks in pairs, these in pairs, and so on.
func pairwise[T any](blocks []T, join func(p, q *T)) T {
	for step := 1; step < len(blocks); step *= 2 {
		for i := 0; i+step < len(blocks); i += 2 * step {
			join(&blocks[i], &blocks[i+step])
		}
	}
	return blocks[0]
}

func floatMoments(ctx context.Context, b *Backend, s []float32) (Moments, error) {
	blocks := make([]kernel.FloatSums, (len(s)+kernel.MomentBlock-1)/kernel.MomentBlock)
	err := b.each(ctx, len(blocks), func(_ *worker, k int) {
		blocks[k] = b.kernels.FloatSums(s[k*kernel.MomentBlock : min(len(s), (k+1)*kernel.MomentBlock)])
	})
	if err != nil {
		return Moments{}, err
	}
	t := pairwise(blocks, (*kernel.FloatSums).Join)
	low, high := float64(t.Min), float64(t.Max)
	naive := t.Sum.Sum + t.Sum2.Sum
	if math.IsNaN(naive) || math.IsInf(naive, 0) {
		// If a sample is infinite or NaN, so are the sums.
		mean := t.Sum.Sum / float64(len(s))
		return Moments{N: uint64(len(s)), Sum: t.Sum.Sum, Sum2: t.Sum2.Sum, Min: low, Max: high, Mean: mean,
			StdDev: math.NaN()}, nil
	}
	return newMoments(len(s), t.Sum.Exact(), t.Sum2.Exact(), low, high), nil
}

// newMoments computes the moments from the sums of n samples and of their squares: mean S/n and population standard
// deviation √(n·S₂ − S²)/n, whose difference is exact.
func newMoments(n int, sum, sum2 *big.Float, low, high float64) Moments {
	m := Moments{N: uint64(n), Min: low, Max: high}
	m.Sum, _ = sum.Float64()
	m.Sum2, _ = sum2.Float64()
	count := kernel.WideFloat().SetInt64(int64(n))
	m.Mean, _ = kernel.WideFloat().Quo(sum, count).Float64()
	v := kernel.WideFloat().Sub(kernel.WideFloat().Mul(count, sum2), kernel.WideFloat().Mul(sum, sum))
	if v.Sign() > 0 {
		m.StdDev, _ = v.Quo(v.Sqrt(v), count).Float64()
	}
	return m
}
