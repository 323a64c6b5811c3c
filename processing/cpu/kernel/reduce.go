package kernel

import (
	"math/big"
)

func Histogram[T uint8 | uint16](bins []uint32, src []T, exclude []uint8) {
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

// MomentBlock is the number of samples, in reading order, of a block. Every eighth of them is summed one after the
// other, then the eight sums in their order, and the sums of blocks pairwise: all of this depends only on the plane.
const MomentBlock = 1 << 14

// momentSpan is the largest number of samples of a Moments.
const momentSpan = 1 << 15

// Moments are the exact sums of at most momentSpan samples and of their squares, and the least and the greatest.
type Moments[T Sample] struct {
	Sum, Sum2 uint64
	Low, High T
}

func momentsOf[T uint8 | uint16](s []T) Moments[T] {
	return Moments[T]{Low: s[0], High: s[0]}.with(s)
}

// with adds more samples.
func (m Moments[T]) with(s []T) Moments[T] {
	for _, v := range s {
		x := uint64(v)
		m.Sum += x
		m.Sum2 += x * x
		m.Low, m.High = min(m.Low, v), max(m.High, v)
	}
	return m
}

// Double is a sum and the error of its roundings.
type Double struct{ Sum, rest float64 }

// add is Knuth's two-sum.
func (d *Double) add(x float64) {
	t := d.Sum + x
	z := t - d.Sum
	d.rest += (d.Sum - (t - z)) + (x - z)
	d.Sum = t
}

func (d *Double) Join(e *Double) {
	d.add(e.Sum)
	d.rest += e.rest
}

// WideFloat returns a float with room for the square of any sum of samples.
func WideFloat() *big.Float { return new(big.Float).SetPrec(512) }

func (d *Double) Exact() *big.Float {
	sum := WideFloat().SetFloat64(d.Sum)
	return sum.Add(sum, WideFloat().SetFloat64(d.rest))
}

// floatSumOf returns the sum of floatSumsOf.
func floatSumOf(s []float32) Double {
	var lanes [8]Double
	for i, v := range s {
		lanes[i%8].add(float64(v))
	}
	return joinLanes(&lanes)
}

func joinLanes(lanes *[8]Double) (d Double) {
	for i := range lanes {
		d.Join(&lanes[i])
	}
	return d
}

type FloatSums struct {
	Sum, Sum2 Double
	Min, Max  float32
}

// Join adds the sums of q.
func (p *FloatSums) Join(q *FloatSums) {
	p.Sum.Join(&q.Sum)
	p.Sum2.Join(&q.Sum2)
	p.Min, p.Max = min(p.Min, q.Min), max(p.Max, q.Max)
}

// momentLanes are sums over every eighth sample, independent of each other.
type momentLanes struct{ sum, rest, sum2, rest2 [8]float64 }

// floatSumsOf sums a block.
func floatSumsOf(s []float32) FloatSums {
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
	d, d2 := Double{l.sum[lane], l.rest[lane]}, Double{l.sum2[lane], l.rest2[lane]}
	d.add(x)
	d2.add(float64(x * x))
	l.sum[lane], l.rest[lane], l.sum2[lane], l.rest2[lane] = d.Sum, d.rest, d2.Sum, d2.rest
}

// join adds fewer than eight samples, one per lane, and adds up the lanes. The extremes are those of another row.
func (l *momentLanes) join(s, extremes []float32) FloatSums {
	for j, v := range s {
		l.add(j, float64(v))
	}
	var p FloatSums
	for j := range l.sum {
		p.Sum.Join(&Double{l.sum[j], l.rest[j]})
		p.Sum2.Join(&Double{l.sum2[j], l.rest2[j]})
	}
	p.Min, p.Max = extremes[0], extremes[0]
	for _, part := range [2][]float32{extremes, s} {
		for _, v := range part {
			p.Min, p.Max = min(p.Min, v), max(p.Max, v)
		}
	}
	return p
}
