package imagefile

import (
	"context"

	"blik/internal/parallel"
)

// eachRow calls f for the rows 0…h−1 on all processors until ctx is cancelled.
func eachRow(ctx context.Context, h int, f func(y int)) error {
	const band = 64
	return parallel.Chunks(ctx, h, band, func(from, to int) {
		for y := from; y < to; y++ {
			f(y)
		}
	})
}
