package parallel_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"blik/internal/parallel"
)

// seen counts the visits of each index.
type seen []atomic.Int32

func (s seen) add(from, to int) {
	for i := from; i < to; i++ {
		s[i].Add(1)
	}
}

func (s seen) once(t *testing.T) {
	t.Helper()
	for i := range s {
		if n := s[i].Load(); n != 1 {
			t.Fatalf("index %d of %d was visited %d times", i, len(s), n)
		}
	}
}

var lengths = []int{0, 1, 2, 7, 63, 64, 65, 1000}

func TestLoopsVisitEachIndexOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, n := range lengths {
		for _, size := range []int{1, 3, 64, 5000} {
			s := make(seen, n)
			parallel.Split(n, size, s.add)
			s.once(t)

			s = make(seen, n)
			if err := parallel.Chunks(ctx, n, size, s.add); err != nil {
				t.Error(err)
			}
			s.once(t)
		}
		s := make(seen, n)
		if err := parallel.Each(ctx, n, func(i int) { s.add(i, i+1) }); err != nil {
			t.Error(err)
		}
		s.once(t)
	}
}

func TestWorkersKeepToTheLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 5} {
		var bodies atomic.Int32
		var mu sync.Mutex
		var got []int
		if err := parallel.Workers(t.Context(), limit, 100, func(tasks iter.Seq[int]) {
			bodies.Add(1)
			for i := range tasks {
				mu.Lock()
				got = append(got, i)
				mu.Unlock()
			}
		}); err != nil {
			t.Error(err)
		}
		if n := bodies.Load(); int(n) != limit {
			t.Errorf("%d goroutines for a limit of %d", n, limit)
		}
		slices.Sort(got)
		if len(got) != 100 || got[0] != 0 || got[99] != 99 {
			t.Errorf("tasks %v", got)
		}
	}
}

func TestNoTaskStartsAfterACancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	started := 0
	err := parallel.Workers(ctx, 1, 100, func(tasks iter.Seq[int]) {
		for range tasks {
			if started++; started == 3 {
				cancel()
			}
		}
	})
	if !errors.Is(err, context.Canceled) || started != 3 {
		t.Errorf("%d tasks started, error %v", started, err)
	}
	if err := parallel.Each(ctx, 1, func(int) { t.Error("a task of a cancelled context started") }); err == nil {
		t.Error("no error")
	}
}

func TestTryReturnsTheFirstError(t *testing.T) {
	t.Parallel()
	failure := errors.New("task 5")
	err := parallel.Try(t.Context(), 2, 1000, func(ctx context.Context, tasks iter.Seq[int]) error {
		for i := range tasks {
			if i == 5 {
				return failure
			}
			if i > 5 {
				<-ctx.Done()
			}
		}
		return nil
	})
	if err != failure {
		t.Errorf("error %v", err)
	}
	if err := parallel.Try(t.Context(), 0, 10, func(_ context.Context, tasks iter.Seq[int]) error {
		for range tasks {
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = parallel.Try(ctx, 0, 10, func(context.Context, iter.Seq[int]) error { return failure })
	if err != context.Canceled {
		t.Errorf("error %v of a cancelled context", err)
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	src := make([]uint16, 1<<20+7)
	for i := range src {
		src[i] = uint16(i)
	}
	dst := make([]uint16, len(src)+1)
	if n := parallel.Copy(dst, src); n != len(src) || !slices.Equal(dst[:n], src) || dst[n] != 0 {
		t.Errorf("%d elements copied", n)
	}
}
