package synth

import (
	"context"
	"iter"

	"blik/internal/parallel"
)

// stripRows is the height of the strips that work is split into. It is fixed, so that a result never depends on the
// number of workers.
const stripRows = 64

// eachStrip calls work for every strip of h rows, on several goroutines (see each).
func eachStrip(ctx context.Context, h, workers int, newWork func() func(y0, y1 int)) error {
	return each(ctx, (h+stripRows-1)/stripRows, workers, func() func(i int) {
		work := newWork()
		return func(i int) { work(i*stripRows, min((i+1)*stripRows, h)) }
	})
}

// each calls work for 0…n−1 on several goroutines (workers ≤ 0: as many as processors), and returns the context's
// error when it was cancelled. newWork makes the work of one goroutine with its own buffers.
func each(ctx context.Context, n, workers int, newWork func() func(i int)) error {
	return parallel.Workers(ctx, workers, n, func(tasks iter.Seq[int]) {
		work := newWork()
		for i := range tasks {
			work(i)
		}
	})
}

// eachRow calls f for the rows 0…n−1 on several goroutines.
func eachRow(n int, f func(y int)) {
	parallel.Split(n, 16, func(from, to int) {
		for y := from; y < to; y++ {
			f(y)
		}
	})
}
