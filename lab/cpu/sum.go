package cpu

import (
	"context"
	"iter"
	"math"
	"math/big"

	"blik/internal/parallel"
)

// sumBlock is the number of samples of a block. Every eighth of them is summed one after the other, then the eight sums
// in their order, and the sums of blocks pairwise: all of this depends only on the samples.
const sumBlock = 1 << 14

// Sum returns a sum in a fixed tree order, where every addition keeps the rounding error of the sum (Knuth's two-sum),
// so that it is as good as if computed with twice the precision of float64 and rounded once.
func (c *Cores) Sum(ctx context.Context, s []float32) (float64, error) {
	blocks := make([]double, (len(s)+sumBlock-1)/sumBlock)
	// A task is several blocks, because handing out a single one would take about as long as adding it up.
	const group = 8
	err := parallel.Workers(ctx, c.workers, (len(blocks)+group-1)/group, func(tasks iter.Seq[int]) {
		for i := range tasks {
			for k := i * group; k < min(len(blocks), (i+1)*group); k++ {
				blocks[k] = c.k.sum(s[k*sumBlock : min(len(s), (k+1)*sumBlock)])
			}
		}
	})
	if err != nil {
		return 0, err
	}
	for step := 1; step < len(blocks); step *= 2 {
		for i := 0; i+step < len(blocks); i += 2 * step {
			blocks[i].join(&blocks[i+step])
		}
	}
	t := blocks[0]
	if math.IsNaN(t.sum) || math.IsInf(t.sum, 0) {
		return t.sum, nil
	}
	// Wide enough for any sum of samples.
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(512).SetFloat64(v) }
	sum, _ := wide(t.sum).Add(wide(t.sum), wide(t.rest)).Float64()
	return sum, nil
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

// floatSum sums a block.
func floatSum(s []float32) double {
	var lanes [8]double
	return endSum(&lanes, s)
}

// endSum adds samples to the lanes, the first to the first one, and adds up the lanes.
func endSum(lanes *[8]double, s []float32) (d double) {
	for i, v := range s {
		lanes[i%8].add(float64(v))
	}
	for i := range lanes {
		d.join(&lanes[i])
	}
	return d
}
