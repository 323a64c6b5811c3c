package bench

import (
	"context"
	"time"

	"blik/internal/parallel"
	"blik/processing"
)

// copier is a backend that can measure copies in bytes per second: local within its memory (read plus written), up from
// pinned host memory to the device, down back to it.
type copier interface {
	CopyRates(ctx context.Context) (local, up, down float64, err error)
}

// copyRates measures plain copies on the device of a backend, on the CPU with hostBytes bytes. Unknown rates are 0.
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

// Two buffers of hostCopyBytes exceed the caches of any common processor, so that memory is measured and not caches.
// With half this size, copies beside a cache of 300 MiB were 1.3 times as fast.
const (
	hostCopyBytes = 256 << 20
	hostCopies    = 5
)

// hostCopyRate returns the rate of the fastest of several copies of n bytes by all cores: bytes read plus written, per
// second.
func hostCopyRate(ctx context.Context, n, times int) (float64, error) {
	src, dst := make([]byte, n), make([]byte, n)
	// Write each page, because the system maps all untouched pages to one page of zeros.
	for i := 0; i < n; i += 4096 {
		src[i] = byte(i >> 12)
	}
	workers := parallel.Processors()
	var fastest time.Duration
	// The first copy is not timed, because it allocates the pages of dst.
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
