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
	// A task is a large share of the picture, so that clearing and adding its bins takes little time in comparison.
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
		// In a run of equal values each increment waits for the one before, so four tables take turns where they are
		// small.
		if bytes, ok := any(src).([]uint8); ok {
			var more [4][1 << 8]uint32
			eight := words(bytes)
			for _, v := range eight {
				more[0][v&0xff]++
				more[1][v>>8&0xff]++
				more[2][v>>16&0xff]++
				more[3][v>>24&0xff]++
				more[0][v>>32&0xff]++
				more[1][v>>40&0xff]++
				more[2][v>>48&0xff]++
				more[3][v>>56]++
			}
			for i := range bins {
				bins[i] += more[0][i] + more[1][i] + more[2][i] + more[3][i]
			}
			src = src[8*len(eight):]
		}
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

// momentBlock is the number of samples, in reading order, of a block. Every eighth of them is summed one after the
// other, then the eight sums in their order, and the sums of blocks pairwise: all of this depends only on the plane.
const momentBlock = 1 << 14

// SumMoments sums over src. For F32, every addition keeps the rounding error of the sum (Knuth's two-sum), so that the
// sums are as good as if computed with twice the precision of float64 and rounded once.
func (b executor) SumMoments(ctx context.Context, op processing.SumMoments) (processing.Moments, error) {
	s := op.Src.(*plane)
	switch s.kind {
	case processing.U8:
		return integerMoments(ctx, b.Backend, s.data.U8, func(s []uint8) (moments[uint8], uint64) {
			return b.kernels.moments8(s), 0
		})
	case processing.U16:
		return integerMoments(ctx, b.Backend, s.data.U16, func(s []uint16) (moments[uint16], uint64) {
			return b.kernels.moments16(s), 0
		})
	case processing.U32:
		return integerMoments(ctx, b.Backend, s.data.U32, wideMoments)
	default:
		return floatMoments(ctx, b.Backend, s.data.F32)
	}
}

// moments are the exact sums of at most spanPixels samples and of their squares, and the least and the greatest.
type moments[T sample] struct {
	sum, sum2 uint64
	low, high T
}

func momentsOf[T uint8 | uint16](s []T) moments[T] {
	return moments[T]{low: s[0], high: s[0]}.with(s)
}

// with adds more samples.
func (m moments[T]) with(s []T) moments[T] {
	for _, v := range s {
		x := uint64(v)
		m.sum += x
		m.sum2 += x * x
		m.low, m.high = min(m.low, v), max(m.high, v)
	}
	return m
}

// wideMoments are moments with the upper bits of the sum of squares.
func wideMoments(s []uint32) (m moments[uint32], high uint64) {
	m.low, m.high = s[0], s[0]
	for _, v := range s {
		x := uint64(v)
		m.sum += x
		var carry uint64
		m.sum2, carry = bits.Add64(m.sum2, x*x, 0)
		high += carry
		m.low, m.high = min(m.low, v), max(m.high, v)
	}
	return m, high
}

func integerMoments[T uint8 | uint16 | uint32](ctx context.Context, b *Backend, s []T,
	of func(s []T) (m moments[T], high uint64)) (processing.Moments, error) {
	type part struct {
		moments[T]
		high uint64
	}
	blocks := make([]part, (len(s)+b.tiling.span-1)/b.tiling.span)
	err := b.chunks(ctx, len(s), func(_ *worker, i, j int) {
		p := &blocks[i/b.tiling.span]
		p.moments, p.high = of(s[i:j])
	})
	if err != nil {
		return processing.Moments{}, err
	}
	total := blocks[0]
	for _, p := range blocks[1:] {
		total.sum += p.sum
		var carry uint64
		total.sum2, carry = bits.Add64(total.sum2, p.sum2, 0)
		total.high += p.high + carry
		total.low, total.moments.high = min(total.low, p.low), max(total.moments.high, p.moments.high)
	}
	sum := new(big.Int).SetUint64(total.sum)
	sum2 := new(big.Int).SetUint64(total.high)
	sum2.Lsh(sum2, 64).Add(sum2, new(big.Int).SetUint64(total.sum2))
	return processing.NewMoments(len(s), processing.WideFloat().SetInt(sum), processing.WideFloat().SetInt(sum2),
		float64(total.low), float64(total.moments.high)), nil
}

// double is a sum and the error of its roundings.
type double struct{ sum, rest float64 }

// add is Knuth's two-sum.
func (d *double) add(x float64) {
	t := d.sum + x
	z := t - d.sum
	d.rest += (d.sum - (t - z)) + (x - z)
	d.sum = t
}

func (d *double) join(e *double) {
	d.add(e.sum)
	d.rest += e.rest
}

func (d *double) exact() *big.Float {
	sum := processing.WideFloat().SetFloat64(d.sum)
	return sum.Add(sum, processing.WideFloat().SetFloat64(d.rest))
}

// floatSumOf returns the sum of floatSumsOf.
func floatSumOf(s []float32) double {
	var lanes [8]double
	for i, v := range s {
		lanes[i%8].add(float64(v))
	}
	return joinLanes(&lanes)
}

func joinLanes(lanes *[8]double) (d double) {
	for i := range lanes {
		d.join(&lanes[i])
	}
	return d
}

type floatSums struct {
	sum, sum2 double
	min, max  float32
}

// join adds the sums of q.
func (p *floatSums) join(q *floatSums) {
	p.sum.join(&q.sum)
	p.sum2.join(&q.sum2)
	p.min, p.max = min(p.min, q.min), max(p.max, q.max)
}

// momentLanes are sums over every eighth sample, independent of each other.
type momentLanes struct{ sum, rest, sum2, rest2 [8]float64 }

// floatSumsOf sums a block.
func floatSumsOf(s []float32) floatSums {
	var l momentLanes
	whole := len(s) &^ 7
	for i := 0; i < whole; i += 8 {
		for j, v := range s[i : i+8] {
			l.add(j, float64(v))
		}
	}
	return l.join(s[whole:], s)
}

func (l *momentLanes) add(lane int, x float64) {
	d, d2 := double{l.sum[lane], l.rest[lane]}, double{l.sum2[lane], l.rest2[lane]}
	d.add(x)
	d2.add(float64(x * x))
	l.sum[lane], l.rest[lane], l.sum2[lane], l.rest2[lane] = d.sum, d.rest, d2.sum, d2.rest
}

// join adds fewer than eight samples, one per lane, and adds up the lanes. The extremes are those of another row.
func (l *momentLanes) join(s, extremes []float32) floatSums {
	for j, v := range s {
		l.add(j, float64(v))
	}
	var p floatSums
	for j := range l.sum {
		p.sum.join(&double{l.sum[j], l.rest[j]})
		p.sum2.join(&double{l.sum2[j], l.rest2[j]})
	}
	p.min, p.max = extremes[0], extremes[0]
	for _, part := range [2][]float32{extremes, s} {
		for _, v := range part {
			p.min, p.max = min(p.min, v), max(p.max, v)
		}
	}
	return p
}

// Sum returns the sum of SumMoments.
func (b executor) Sum(ctx context.Context, op processing.Sum) (float64, error) {
	s := op.Src.(*plane).data.F32
	blocks := make([]double, (len(s)+momentBlock-1)/momentBlock)
	// A task is several blocks, because handing out a single one would take about as long as adding it up.
	const group = 8
	err := b.each(ctx, (len(blocks)+group-1)/group, func(t *worker, i int) {
		for k := i * group; k < min(len(blocks), (i+1)*group) && !t.stopped(); k++ {
			blocks[k] = b.kernels.floatSum(s[k*momentBlock : min(len(s), (k+1)*momentBlock)])
		}
	})
	if err != nil {
		return 0, err
	}
	t := pairwise(blocks, (*double).join)
	if math.IsNaN(t.sum) || math.IsInf(t.sum, 0) {
		return t.sum, nil
	}
	sum, _ := t.exact().Float64()
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

func floatMoments(ctx context.Context, b *Backend, s []float32) (processing.Moments, error) {
	blocks := make([]floatSums, (len(s)+momentBlock-1)/momentBlock)
	err := b.each(ctx, len(blocks), func(_ *worker, k int) {
		blocks[k] = b.kernels.floatSums(s[k*momentBlock : min(len(s), (k+1)*momentBlock)])
	})
	if err != nil {
		return processing.Moments{}, err
	}
	t := pairwise(blocks, (*floatSums).join)
	low, high := float64(t.min), float64(t.max)
	naive := t.sum.sum + t.sum2.sum
	if math.IsNaN(naive) || math.IsInf(naive, 0) {
		// If a sample is infinite or NaN, so are the sums.
		mean := t.sum.sum / float64(len(s))
		return processing.Moments{N: uint64(len(s)), Sum: t.sum.sum, Sum2: t.sum2.sum, Min: low, Max: high, Mean: mean,
			StdDev: math.NaN()}, nil
	}
	return processing.NewMoments(len(s), t.sum.exact(), t.sum2.exact(), low, high), nil
}
