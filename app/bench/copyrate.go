package bench

import (
	"context"
	"time"

	"blik/internal/parallel"
	"blik/processing"
)

// copier is a device that measures its own copies: bytes a second within its memory (read and written together), from
// pinned host memory, and to it.
type copier interface {
	CopyRates(ctx context.Context) (local, up, down float64, err error)
}

// copyRates measures the copies of a backend's device, on the CPU of hostBytes; those that are not known stay 0.
func copyRates(ctx context.Context, b processing.Backend, hostBytes int) (CopyRates, error) {
	if c, ok := b.(copier); ok {
		local, up, down, err := c.CopyRates(ctx)
		return CopyRates{Local: local, Up: up, Down: down}, err
	}
	if b.Name() != "cpu" {
		return CopyRates{}, nil
	}
	local, err := hostCopyRate(ctx, hostBytes, hostCopies)
	return CopyRates{Local: local}, err
}

// Two buffers of hostCopyBytes are more than the caches of any common processor hold, so that memory is measured, not
// caches: beside one of 300 MiB two of half the size are copied 1.3 times as fast.
const (
	hostCopyBytes = 256 << 20
	hostCopies    = 5
)

// hostCopyRate is the rate of a copy of n bytes by all cores, read and written, in bytes a second: the fastest of
// several.
func hostCopyRate(ctx context.Context, n, times int) (float64, error) {
	src, dst := make([]byte, n), make([]byte, n)
	// Pages of zeros that were never written are all the same page.
	for i := 0; i < n; i += 4096 {
		src[i] = byte(i >> 12)
	}
	workers := parallel.Processors()
	var fastest time.Duration
	// The first copy is not counted: it makes the pages of dst.
	for i := range times + 1 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		part := max(1, (n+workers-1)/workers)
		if err := parallel.Chunks(ctx, n, part, func(from, to int) { copy(dst[from:to], src[from:to]) }); err != nil {
			return 0, err
		}
		if d := time.Since(start); i > 0 && (fastest == 0 || d < fastest) {
			fastest = d
		}
	}
	return float64(n) * 2 / max(fastest.Seconds(), 1e-9), nil
}
