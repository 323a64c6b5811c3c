package experiment

import (
	"context"
	"iter"

	"blik/internal/parallel"
)

// chunks is parallel.Chunks on at most the given number of goroutines; 0 means one per processor.
func chunks(ctx context.Context, workers, n, size int, f func(from, to int)) error {
	return parallel.Workers(ctx, workers, (n+size-1)/size, func(tasks iter.Seq[int]) {
		for i := range tasks {
			f(i*size, min(n, (i+1)*size))
		}
	})
}
