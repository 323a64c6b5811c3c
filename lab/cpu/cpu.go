// Package cpu holds the transforms that the experiments compute on all cores of the CPU, and that the program itself
// does not need: exact sums, means with variances, and wavelets of two and four taps. Results depend neither on the
// number of cores nor on the processor's vectors.
package cpu

import (
	"context"
	"iter"

	"blik/internal/parallel"
	"blik/internal/simd"
)

// Cores computes on a number of goroutines.
type Cores struct {
	workers int
	k       kernels
}

// New returns Cores with so many goroutines, 0 for one per processor.
func New(workers int) *Cores {
	if workers == 0 {
		workers = parallel.Processors()
	}
	return &Cores{workers: workers, k: kernelsFor(simd.Chosen())}
}

// kernels are the loops over rows. Vector bodies give the same results as plain ones.
type kernels struct {
	// sum sums a block.
	sum func(s []float32) double
	// tap2 and tap4 combine rows with the taps of a wavelet, both2 and both4 with those of its two filters. analyse
	// transforms a row, haarPair two rows. pair4 transforms two rows of even length and combines them with the two
	// transformed rows before, in c and d, to a low and a high row; it leaves the new ones in c and d.
	tap2     func(dst, a, b []float32, t0, t1 float32)
	tap4     func(dst, a, b, c, d []float32, t *[4]float32)
	both2    func(low, high, a, b []float32, f *filter)
	both4    func(low, high, a, b, c, d []float32, f *filter)
	haarPair func(low, high, a, b []float32, f *filter)
	pair4    func(low, high, c, d, a, b []float32, f *filter)
	analyse  func(low, high, x []float32, f *filter)
	// The steps of MeanVariance: bytes and words convert samples, slide slides column sums of samples and of their
	// squares down by a row.
	bytes     func(dst []float32, src []uint8)
	words     func(dst []float32, src []uint16)
	greatest  func(s []float32) uint32
	slide     func(col, col2 []float64, add, sub []float32, r rounding)
	variances func(mean, variance []float32, col, col2 []float64, k int, c *counts)
}

// lanes is how many samples a vector has.
const lanes = 8

func plainKernels() kernels {
	return kernels{floatSum, tap2, tap4, both2, both4, haarPair, pair4, analyse, toFloats[uint8], toFloats[uint16],
		greatest, slide, windowVariances}
}

// strips divides n rows, each of which costs as much as perRow samples, into runs, and calls f on those that a
// goroutine gets.
func (c *Cores) strips(ctx context.Context, n, perRow int, f func(runs iter.Seq2[int, int])) error {
	step := max(1, min((n+4*c.workers-1)/(4*c.workers), max(8, (1<<18)/perRow)))
	return parallel.Workers(ctx, c.workers, (n+step-1)/step, func(tasks iter.Seq[int]) {
		f(func(yield func(int, int) bool) {
			for k := range tasks {
				if !yield(k*step, min(n, (k+1)*step)) {
					return
				}
			}
		})
	})
}
