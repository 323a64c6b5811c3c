//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"blik/cuda/driver"
)

// Sizes of the copies that measure the limits: larger than the caches of any GPU, and so large that the start of a copy
// is negligible.
const (
	rateBytes = 256 << 20
	rateLeast = 4 << 20
	// rateCopies copies are timed after an untimed one.
	rateCopies = 9
)

// CopyRates measures plain copies, the fastest of several, in bytes a second: within the device's memory (bytes read
// and bytes written together), from pinned host memory to the device, and back. It allocates additional memory and
// frees it.
func (b *Backend) CopyRates(ctx context.Context) (local, up, down float64, err error) {
	return b.copyRates(ctx, rateBytes)
}

// copyRates copies n bytes; if memory is short, it halves n repeatedly, but not below rateLeast.
func (b *Backend) copyRates(ctx context.Context, n int64) (local, up, down float64, err error) {
	err = b.run(ctx, func(q *queue) error {
		for {
			err := q.copyRates(n, &local, &up, &down)
			var p *driver.Problem
			if !errors.As(err, &p) || p.Reason != driver.NoMemory || n/2 < rateLeast {
				return err
			}
			n /= 2
		}
	})
	return local, up, down, err
}

func (q *queue) copyRates(n int64, local, up, down *float64) error {
	free := func(f func() error) {
		// A device that does not answer might not answer this call either.
		if !q.d.silent {
			_ = f()
		}
	}
	var on [2]cu.DevicePtr
	for i := range on {
		p, err := cu.MemAlloc(n)
		if err != nil {
			return q.d.fault(err, "allocate device memory")
		}
		defer free(func() error { return cu.MemFree(p) })
		on[i] = p
	}
	host, err := driver.HostAlloc(int(n))
	if err != nil {
		return q.d.fault(err, "allocate pinned host memory")
	}
	defer free(func() error { return driver.HostFree(host) })
	at := unsafe.Pointer(unsafe.SliceData(host))
	for _, c := range []struct {
		rate  *float64
		moved int64
		copy  func() error
	}{
		{local, 2 * n, func() error { return cu.MemcpyDtoDAsync(on[1], on[0], n, q.d.stream) }},
		{up, n, func() error { return cu.MemcpyHtoDAsync(on[0], at, n, q.d.stream) }},
		{down, n, func() error { return cu.MemcpyDtoHAsync(at, on[0], n, q.d.stream) }},
	} {
		seconds, err := q.fastest(c.copy)
		if err != nil {
			return err
		}
		*c.rate = float64(c.moved) / seconds
	}
	return nil
}

// fastest returns the shortest time of several repetitions in seconds.
func (q *queue) fastest(f func() error) (float64, error) {
	clock := NewWork(q.b)
	defer clock.dropClock()
	if err := clock.Prepare(q); err != nil {
		return 0, err
	}
	best := time.Duration(0)
	for i := range rateCopies + 1 {
		if err := q.ctx.Err(); err != nil {
			return 0, err
		}
		if err := clock.Begin(q); err != nil {
			return 0, err
		}
		if err := f(); err != nil {
			return 0, q.d.fault(err, "copy")
		}
		t, err := clock.End(q)
		if err != nil {
			return 0, err
		}
		// The driver's clock has a resolution of a fraction of a microsecond; a copy with time zero took less than
		// that.
		if t = max(t, time.Microsecond); i > 0 && (best == 0 || t < best) {
			best = t
		}
	}
	return best.Seconds(), nil
}
