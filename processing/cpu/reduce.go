package cpu

import (
	"context"
	"math"
	"math/big"
	"math/bits"
	"sync"

	"blik/processing"
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
	// A task is a large share of the picture, so that clearing and adding its bins is little beside it.
	n := s.w * s.h
	share := max(spanPixels, (n+4*b.workers-1)/(4*b.workers), 4*bins)
	share = min(share, 1<<30)
	err := b.each(ctx, (n+share-1)/share, func(t *worker, k int) {
		part := zeros[uint32](t, bins)
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
				histogram(part, s.data.U8[i:j], out)
			} else {
				histogram(part, s.data.U16[i:j], out)
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

func histogram[T uint8 | uint16](bins []uint32, src []T, exclude []uint8) {
	if exclude == nil {
		for _, v := range src {
			bins[v]++
		}
		return
	}
	for i, out := range exclude[:len(src)] {
		if out == 0 {
			bins[src[i]]++
		}
	}
}

// momentBlock is the number of samples, in reading order, that are summed one after the other; the sums of blocks are
// added pairwise. Both depend only on the plane.
const momentBlock = 1 << 14

// SumMoments sums over src. For F32 every addition carries the rounding error of the sum along (Neumaier 1974; Knuth's
// two-sum between blocks), so that the sums are as good as if taken with twice the precision of float64 and rounded
// once.
func (b executor) SumMoments(ctx context.Context, op processing.SumMoments) (processing.Moments, error) {
	s := op.Src.(*plane)
	switch s.kind {
	case processing.U8:
		return integerMoments(ctx, b.Backend, s.data.U8)
	case processing.U16:
		return integerMoments(ctx, b.Backend, s.data.U16)
	case processing.U32:
		return integerMoments(ctx, b.Backend, s.data.U32)
	default:
		return floatMoments(ctx, b.Backend, s.data.F32)
	}
}

// integerSums are exact; the squares of 2³² samples of 32 bits need 96 bits.
type integerSums[T sample] struct {
	sum, high, low uint64
	min, max       T
}

func integerMoments[T uint8 | uint16 | uint32](ctx context.Context, b *Backend, s []T) (processing.Moments, error) {
	blocks := make([]integerSums[T], (len(s)+b.tiling.span-1)/b.tiling.span)
	err := b.chunks(ctx, len(s), func(_ *worker, i, j int) {
		p := integerSums[T]{min: s[i], max: s[i]}
		for _, v := range s[i:j] {
			x := uint64(v)
			p.sum += x
			var carry uint64
			p.low, carry = bits.Add64(p.low, x*x, 0)
			p.high += carry
			p.min, p.max = min(p.min, v), max(p.max, v)
		}
		blocks[i/b.tiling.span] = p
	})
	if err != nil {
		return processing.Moments{}, err
	}
	total := blocks[0]
	for _, p := range blocks[1:] {
		total.sum += p.sum
		var carry uint64
		total.low, carry = bits.Add64(total.low, p.low, 0)
		total.high += p.high + carry
		total.min, total.max = min(total.min, p.min), max(total.max, p.max)
	}
	sum := new(big.Int).SetUint64(total.sum)
	sum2 := new(big.Int).SetUint64(total.high)
	sum2.Lsh(sum2, 64).Add(sum2, new(big.Int).SetUint64(total.low))
	return processing.NewMoments(len(s), processing.WideFloat().SetInt(sum), processing.WideFloat().SetInt(sum2),
		float64(total.min), float64(total.max)), nil
}

// double is a sum and the error of its roundings.
type double struct{ sum, rest float64 }

func (d *double) add(x float64) {
	t := d.sum + x
	if math.Abs(d.sum) >= math.Abs(x) {
		d.rest += (d.sum - t) + x
	} else {
		d.rest += (x - t) + d.sum
	}
	d.sum = t
}

func (d *double) join(e double) {
	d.add(e.sum)
	d.rest += e.rest
}

type floatSums struct {
	sum, sum2 double
	min, max  float32
}

func floatMoments(ctx context.Context, b *Backend, s []float32) (processing.Moments, error) {
	blocks := make([]floatSums, (len(s)+momentBlock-1)/momentBlock)
	err := b.each(ctx, len(blocks), func(_ *worker, k int) {
		part := s[k*momentBlock : min(len(s), (k+1)*momentBlock)]
		p := floatSums{min: part[0], max: part[0]}
		for _, v := range part {
			x := float64(v)
			p.sum.add(x)
			p.sum2.add(x * x)
			p.min, p.max = min(p.min, v), max(p.max, v)
		}
		blocks[k] = p
	})
	if err != nil {
		return processing.Moments{}, err
	}
	for step := 1; step < len(blocks); step *= 2 {
		for i := 0; i+step < len(blocks); i += 2 * step {
			p, q := &blocks[i], &blocks[i+step]
			p.sum.join(q.sum)
			p.sum2.join(q.sum2)
			p.min, p.max = min(p.min, q.min), max(p.max, q.max)
		}
	}
	t := blocks[0]
	low, high := float64(t.min), float64(t.max)
	naive := t.sum.sum + t.sum2.sum
	if math.IsNaN(naive) || math.IsInf(naive, 0) {
		// An infinite or undefined sample: so are the sums.
		mean := t.sum.sum / float64(len(s))
		return processing.Moments{N: uint64(len(s)), Sum: t.sum.sum, Sum2: t.sum2.sum, Min: low, Max: high, Mean: mean,
			StdDev: math.NaN()}, nil
	}
	exact := func(d double) *big.Float {
		return processing.WideFloat().Add(processing.WideFloat().SetFloat64(d.sum),
			processing.WideFloat().SetFloat64(d.rest))
	}
	return processing.NewMoments(len(s), exact(t.sum), exact(t.sum2), low, high), nil
}
