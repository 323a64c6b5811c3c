package job

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blik/internal/message"
	"blik/processing"
)

// loop is a dispatch that runs functions one after another on one goroutine, as a window does.
type loop struct {
	queue chan func()
	ended chan struct{}
}

func newLoop(t *testing.T) *loop {
	l := &loop{queue: make(chan func(), 1000), ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		for f := range l.queue {
			f()
		}
	}()
	t.Cleanup(func() {
		close(l.queue)
		<-l.ended
	})
	return l
}

func (l *loop) do(f func()) { l.queue <- f }

// newRunner returns a Runner that must have ended all its goroutines when the test ends.
func newRunner(t *testing.T, dispatch func(func()), crash func(*PanicError)) *Runner {
	t.Helper()
	before := runtime.NumGoroutine()
	r := NewRunner(dispatch, crash)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<16)
				t.Fatalf("%d goroutines left, there were %d:\n%s", runtime.NumGoroutine(), before,
					stacks[:runtime.Stack(stacks, true)])
			}
			time.Sleep(time.Millisecond)
		}
	})
	return r
}

// ending is what done was called with.
type ending[T any] struct {
	value T
	err   error
}

// start starts work and returns a channel with its ending; done called twice fails the test.
func start[T any](t *testing.T, r *Runner, work Work[T], progress func(Update)) <-chan ending[T] {
	t.Helper()
	c := make(chan ending[T], 1)
	var calls atomic.Int32
	err := Start(r, work, progress, func(v T, err error) {
		if calls.Add(1) > 1 {
			t.Error("done was called twice")
			return
		}
		c <- ending[T]{v, err}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// holding starts work that does not listen, and waits until it runs. It ends, with last, when release is closed.
func holding(t *testing.T, r *Runner, last func()) (c <-chan ending[int], release chan struct{}) {
	t.Helper()
	release, running := make(chan struct{}), make(chan struct{})
	c = start(t, r, func(context.Context, processing.Progress) (int, error) {
		close(running)
		<-release
		last()
		return 1, nil
	}, nil)
	<-running
	return c, release
}

func wait[T any](t *testing.T, c <-chan ending[T]) ending[T] {
	t.Helper()
	select {
	case e := <-c:
		return e
	case <-time.After(time.Minute):
		t.Fatal("done was not called")
		panic("unreachable")
	}
}

func TestResultAndError(t *testing.T) {
	t.Parallel()
	r := newRunner(t, newLoop(t).do, nil)
	e := wait(t, start(t, r, func(context.Context, processing.Progress) (int, error) { return 42, nil }, nil))
	if e.value != 42 || e.err != nil {
		t.Errorf("got %+v", e)
	}
	failed := errors.New("strip 12 is missing")
	e = wait(t, start(t, r, func(context.Context, processing.Progress) (int, error) { return 7, failed }, nil))
	if e.err != failed {
		t.Errorf("got %+v", e)
	}
}

func TestOneJobAtATime(t *testing.T) {
	t.Parallel()
	r := newRunner(t, nil, nil)
	release := make(chan struct{})
	c := start(t, r, func(context.Context, processing.Progress) (int, error) { <-release; return 1, nil }, nil)
	if !r.Busy() {
		t.Error("not busy while a job runs")
	}
	err := Start(r, func(context.Context, processing.Progress) (int, error) { return 2, nil }, nil,
		func(int, error) { t.Error("a refused job ended") })
	if !errors.Is(err, ErrBusy) {
		t.Errorf("second job: %v, want ErrBusy", err)
	}
	close(release)
	wait(t, c)
	if r.Busy() {
		t.Error("busy after done")
	}
}

func TestNextJobStartsFromDone(t *testing.T) {
	t.Parallel()
	r := newRunner(t, newLoop(t).do, nil)
	second := make(chan error, 1)
	err := Start(r, func(context.Context, processing.Progress) (int, error) { return 1, nil }, nil, func(int, error) {
		second <- Start(r, func(context.Context, processing.Progress) (int, error) { return 2, nil }, nil,
			func(v int, err error) { second <- err })
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-second; err != nil {
			t.Errorf("a job started from done: %v", err)
		}
	}
}

// TestCancelIsAnsweredAtOnce cancels work that does not listen.
func TestCancelIsAnsweredAtOnce(t *testing.T) {
	r := newRunner(t, newLoop(t).do, nil)
	var atWork atomic.Int32
	atWork.Add(1)
	deaf, release := holding(t, r, func() { atWork.Add(-1) })
	r.Cancel()
	// The answer comes while the work continues.
	e := wait(t, deaf)
	if !errors.Is(e.err, context.Canceled) || e.value != 0 {
		t.Errorf("got %+v, want context.Canceled", e)
	}
	next := start(t, r, func(context.Context, processing.Progress) (int32, error) { return atWork.Load(), nil }, nil)
	select {
	case e := <-next:
		t.Errorf("the next job ran beside the one that still works: %+v", e)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if e := wait(t, next); e.err != nil || e.value != 0 {
		t.Errorf("the next job got %+v", e)
	}
}

func TestCancelOfAJobThatWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	r := newRunner(t, nil, nil)
	first, release := holding(t, r, func() {})
	r.Cancel()
	wait(t, first)
	second := start(t, r, func(context.Context, processing.Progress) (int, error) {
		t.Error("a job cancelled before its turn ran")
		return 0, nil
	}, nil)
	r.Cancel()
	if e := wait(t, second); !errors.Is(e.err, context.Canceled) {
		t.Errorf("got %+v", e)
	}
	close(release)
}

func TestCancelWinsOverAResult(t *testing.T) {
	t.Parallel()
	r := newRunner(t, nil, nil)
	running := make(chan struct{})
	c := start(t, r, func(ctx context.Context, _ processing.Progress) (int, error) {
		close(running)
		<-ctx.Done()
		return 5, nil
	}, nil)
	<-running
	r.Cancel()
	if e := wait(t, c); !errors.Is(e.err, context.Canceled) || e.value != 0 {
		t.Errorf("got %+v, want context.Canceled", e)
	}
	r.Cancel()
	if e := wait(t, start(t, r, func(context.Context, processing.Progress) (int, error) { return 3, nil },
		nil)); e.value != 3 {
		t.Errorf("a cancel without a job touched the next one: %+v", e)
	}
}

func TestPanicBecomesAnError(t *testing.T) {
	t.Parallel()
	var kept atomic.Pointer[PanicError]
	r := newRunner(t, nil, func(p *PanicError) { kept.Store(p) })
	e := wait(t, start(t, r, func(context.Context, processing.Progress) (int, error) {
		var rows []int
		return rows[len(rows)], nil
	}, nil))
	var p *PanicError
	if !errors.As(e.err, &p) || !strings.Contains(p.Error(), "index out of range") {
		t.Fatalf("got %v", e.err)
	}
	if !strings.Contains(string(p.Stack), "TestPanicBecomesAnError") {
		t.Errorf("the stack does not show where it happened:\n%s", p.Stack)
	}
	if kept.Load() != p {
		t.Error("the crash log was not told")
	}
	if strings.Contains(p.Error(), "goroutine") {
		t.Error("the stack is in the sentence that the user sees")
	}
}

func TestPanicAfterCancelIsKept(t *testing.T) {
	t.Parallel()
	kept := make(chan *PanicError, 1)
	r := newRunner(t, nil, func(p *PanicError) { kept <- p })
	c, release := holding(t, r, func() { panic("late") })
	r.Cancel()
	if e := wait(t, c); !errors.Is(e.err, context.Canceled) {
		t.Errorf("got %+v", e)
	}
	close(release)
	if p := <-kept; p.Value != "late" {
		t.Errorf("kept %v", p)
	}
}

func TestWorkThatEndsItsGoroutine(t *testing.T) {
	r := newRunner(t, nil, nil)
	e := wait(t, start(t, r, func(context.Context, processing.Progress) (int, error) {
		runtime.Goexit()
		return 1,
			nil
	}, nil))
	if e.err == nil {
		t.Error("no error from work that returned nothing")
	}
}

func TestProgressIsCoalesced(t *testing.T) {
	r := newRunner(t, newLoop(t).do, nil)
	var mu sync.Mutex
	var updates []Update
	const run = 400 * time.Millisecond
	over := false
	work := func(ctx context.Context, report processing.Progress) (int, error) {
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				for begin := time.Now(); time.Since(begin) < run; {
					report(message.Of("background"), float64(time.Since(begin))/float64(run))
				}
			})
		}
		all.Wait()
		report(message.Of("last"), 1)
		return 0, nil
	}
	c := make(chan struct{})
	begin := time.Now()
	err := Start(r, work, func(u Update) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			t.Error("progress after done")
		}
		updates = append(updates, u)
	}, func(int, error) {
		mu.Lock()
		over = true
		mu.Unlock()
		close(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-c
	took := time.Since(begin)
	time.Sleep(2 * ProgressInterval)
	mu.Lock()
	defer mu.Unlock()
	// Their number is bound rather than the time between two, which a busy machine may shorten by holding up the first.
	if most := int(took/ProgressInterval) + 2; len(updates) < 2 || len(updates) > most {
		t.Errorf("%d updates in %v, want 2 to %d", len(updates), took, most)
	}
	for i := 1; i < len(updates); i++ {
		if updates[i].Done < updates[i-1].Done-0.2 || updates[i].Done < 0 || updates[i].Done > 1.2 {
			t.Errorf("update %v after %v", updates[i], updates[i-1])
		}
	}
}

func TestReportAfterTheEndIsHarmless(t *testing.T) {
	t.Parallel()
	r := newRunner(t, nil, nil)
	var later processing.Progress
	c := start(t, r, func(_ context.Context, report processing.Progress) (int, error) { later = report; return 0, nil },
		func(Update) { t.Error("progress after done") })
	wait(t, c)
	later(message.Message{}, 0.5)
	time.Sleep(2 * ProgressInterval)
}

func TestClose(t *testing.T) {
	t.Parallel()
	r := newRunner(t, newLoop(t).do, nil)
	c, release := holding(t, r, func() {})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close beside work that does not end: %v", err)
	}
	if e := wait(t, c); !errors.Is(e.err, context.Canceled) {
		t.Errorf("got %+v", e)
	}
	err := Start(r, func(context.Context, processing.Progress) (int, error) { return 1, nil }, nil, func(int, error) {})
	if !errors.Is(err, ErrClosed) {
		t.Errorf("Start after Close: %v", err)
	}
	close(release)
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		elapsed time.Duration
		done    float64
		want    time.Duration
	}{
		{10 * time.Second, 0.5, 10 * time.Second},
		{30 * time.Second, 0.75, 10 * time.Second},
		{2 * time.Second, 0.1, 18 * time.Second},
		{10 * time.Second, 0.01, 0},
		{10 * time.Second, 0, 0},
		{500 * time.Millisecond, 0.5, 0},
		{10 * time.Second, 1, 0},
		{10 * time.Second, 1.5, 0},
		{10 * time.Second, -1, 0},
	} {
		if got := remaining(c.elapsed, c.done); got.Round(time.Millisecond) != c.want {
			t.Errorf("%v, share %v: %v left, want %v", c.elapsed, c.done, got, c.want)
		}
	}
}

// Work that reports once is reported again and again, with the time that has passed.
func TestProgressTicks(t *testing.T) {
	t.Parallel()
	r := newRunner(t, newLoop(t).do, nil)
	updates := make(chan Update, 100)
	c := make(chan struct{})
	err := Start(r, func(ctx context.Context, report processing.Progress) (int, error) {
		report(message.Of("reading"), 0.5)
		<-ctx.Done()
		return 0, ctx.Err()
	}, func(u Update) { updates <- u }, func(int, error) { close(c) })
	if err != nil {
		t.Fatal(err)
	}
	first, second := <-updates, <-updates
	r.Cancel()
	<-c
	if first.Elapsed >= second.Elapsed || second.Elapsed < Tick || second.Left == 0 || second.Done != 0.5 ||
		second.Stage.String() != "reading" {
		t.Errorf("%+v, then %+v", first, second)
	}
}

// The steps get the result in their order, others run between them, and the job runs until the last has ended.
func TestSteps(t *testing.T) {
	t.Parallel()
	queue := make(chan func(), 100)
	r := newRunner(t, func(f func()) { queue <- f }, nil)
	var order []string
	step := func(name string) func(int) {
		return func(v int) {
			if v != 7 || !r.Busy() {
				t.Errorf("step %s got %d, busy %v", name, v, r.Busy())
			}
			order = append(order, name)
			queue <- func() { order = append(order, "other") }
		}
	}
	ended := false
	asides := 0
	err := StartHandled(r, func(context.Context, processing.Progress) (int, error) { return 7, nil }, nil,
		[]Handler[int]{{Do: step("a")}, {Aside: func(v int) { asides += v }, Do: step("b")}}, func(v int, err error) {
			order = append(order, "done")
			ended = v == 7 && err == nil && !r.Busy()
		})
	if err != nil {
		t.Fatal(err)
	}
	for !slices.Contains(order, "done") {
		(<-queue)()
	}
	if want := []string{"a", "other", "b", "other", "done"}; !slices.Equal(order, want) || !ended {
		t.Errorf("%q, want %q; ended well: %v", order, want, ended)
	}
	if asides != 7 {
		t.Errorf("what goes on beside the steps saw %d, want 7 once", asides)
	}
}

// Work that fails has no steps.
func TestStepsOfAFailure(t *testing.T) {
	t.Parallel()
	r := newRunner(t, nil, nil)
	var wait sync.WaitGroup
	wait.Add(1)
	broken := errors.New("broken")
	err := StartHandled(r, func(context.Context, processing.Progress) (int, error) { return 0, broken }, nil,
		[]Handler[int]{{
			Aside: func(int) { t.Error("work beside a step of work that failed") },
			Do:    func(int) { t.Error("a step of work that failed") },
		}}, func(_ int, err error) {
			if !errors.Is(err, broken) {
				t.Errorf("%v", err)
			}
			wait.Done()
		})
	if err != nil {
		t.Fatal(err)
	}
	wait.Wait()
}
