// Package parallel distributes loops over the processors.
//
// Split divides a loop once and suits memory-bound work of uniform cost. Each and Chunks hand out small pieces one
// after another, so that uneven work is balanced and a cancelled context is noticed between pieces. Workers and Try are
// the general form, for loops whose goroutines need their own scratch memory.
package parallel

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// Processors returns the number of goroutines that keep this machine busy: the processors of the process, or GOMAXPROCS
// where that is smaller. A larger GOMAXPROCS leaves room for a goroutine that must not wait for loops.
func Processors() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }

// maxSplit bounds the parts of Split: a few processors saturate the memory bus.
const maxSplit = 8

// Split divides 0 … n−1 into contiguous parts of at least least elements, one for each processor but at most 8, and
// calls f on each part concurrently. It calls f(0, n) directly where only one part results.
func Split(n, least int, f func(from, to int)) {
	parts := min(maxSplit, Processors(), n/max(least, 1))
	if parts < 2 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for i := range parts - 1 {
		wg.Go(func() { f(n*i/parts, n*(i+1)/parts) })
	}
	f(n*(parts-1)/parts, n)
	wg.Wait()
}

// Copy is copy, divided among the processors if src is large, because a single one does not saturate the memory bus. It
// returns the number of elements copied, the smaller of both lengths.
func Copy[T any](dst, src []T) int {
	const least = 1 << 18
	n := min(len(dst), len(src))
	Split(n, least, func(from, to int) { copy(dst[from:to], src[from:to]) })
	return n
}

// Wait waits for a group, or for ctx, whose error it returns then.
func Wait(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Each calls f for 0 … n−1 on all processors, in any order. No call starts after ctx is cancelled; Each then returns
// the context's error.
func Each(ctx context.Context, n int, f func(i int)) error {
	return Workers(ctx, 0, n, func(tasks iter.Seq[int]) {
		for i := range tasks {
			f(i)
		}
	})
}

// Chunks is Each over runs of size elements: f gets from … to−1.
func Chunks(ctx context.Context, n, size int, f func(from, to int)) error {
	return Each(ctx, (n+size-1)/size, func(i int) { f(i*size, min(n, (i+1)*size)) })
}

// Workers runs body on up to limit goroutines (at least one, the calling one; a limit below 1 means one per processor),
// which share the tasks 0 … n−1: each body ranges over those that it gets, in ascending order, and may hold scratch
// memory meanwhile. No task is handed out after ctx is cancelled; Workers then returns the context's error.
func Workers(ctx context.Context, limit, n int, body func(tasks iter.Seq[int])) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if limit < 1 {
		limit = Processors()
	}
	tasks := share(ctx, n)
	var wg sync.WaitGroup
	for range min(limit, n) - 1 {
		wg.Go(func() { body(tasks) })
	}
	body(tasks)
	wg.Wait()
	return ctx.Err()
}

// share returns an iterator over the tasks 0 … n−1 that several goroutines can range over together: each task goes to
// one of them, until ctx is cancelled.
func share(ctx context.Context, n int) iter.Seq[int] {
	var next atomic.Int64
	return func(yield func(int) bool) {
		for ctx.Err() == nil {
			if i := int(next.Add(1)) - 1; i >= n || !yield(i) {
				return
			}
		}
	}
}

// Try is Workers for tasks that may fail: the first error of a body cancels the context of all bodies and is returned.
func Try(ctx context.Context, limit, n int, body func(ctx context.Context, tasks iter.Seq[int]) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The error is that of the context, whose cause may be a body's.
	_ = Workers(ctx, limit, n, func(tasks iter.Seq[int]) {
		if err := body(ctx, tasks); err != nil {
			cancel(err)
		}
	})
	return context.Cause(ctx)
}
