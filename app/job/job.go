package job

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/processing"
)

// Timings of a Runner.
const (
	// ProgressInterval is the shortest time between two calls of Progress.
	ProgressInterval = 100 * time.Millisecond
	// Tick is the time after which the latest progress is reported again, to update its times.
	Tick = time.Second
	// Grace is how long a cancelled job may take to return before it is reported as cancelled anyway.
	Grace = 75 * time.Millisecond
)

// ErrBusy is returned by Start while another job runs.
var ErrBusy = errors.New("another job is still running")

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the program is closing")

// errNoResult is the error of work that ended its goroutine without returning.
var errNoResult = errors.New("the job ended without a result")

// PanicError is the error of a job that panicked.
type PanicError struct {
	// Value is the value of the panic, Stack the stack of its goroutine.
	Value any
	Stack []byte
}

// Error contains only the value; the stack is for the crash log.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Update is the progress of a job.
type Update struct {
	Stage message.Message
	// Done is the share of the whole, 0…1.
	Done float64
	// Elapsed is the time since Start, Left the estimated remaining time; 0 if unknown.
	Elapsed, Left time.Duration
}

// remaining estimates the remaining time from the share that is done; it is 0 if too little is done to say.
func remaining(elapsed time.Duration, done float64) time.Duration {
	const least, share = time.Second, 0.02
	if elapsed < least || done < share || done >= 1 {
		return 0
	}
	return time.Duration(float64(elapsed) * (1 - done) / done)
}

// Work is done on its own goroutine. It returns soon after ctx is cancelled and may report progress from any
// goroutine.
type Work[T any] func(ctx context.Context, report processing.Progress) (T, error)

// Runner runs one job at a time.
type Runner struct {
	dispatch func(func())
	crash    func(*PanicError)

	// mu guards what follows; nothing is called while it is held.
	mu     sync.Mutex
	cancel context.CancelFunc
	busy   bool
	closed bool
	// ended is closed when the last piece of work has ended; nil before the first one.
	ended chan struct{}
	// all counts the goroutines of jobs.
	all sync.WaitGroup
}

// NewRunner returns a Runner that calls back through dispatch, which runs functions one after another in their order,
// such as fyne.Do; nil calls back on the job's own goroutines, one at a time. crash, which may be nil, is called
// immediately after a panic in a job, on the job's goroutine, even if the job was cancelled before.
func NewRunner(dispatch func(func()), crash func(*PanicError)) *Runner {
	if dispatch == nil {
		var one sync.Mutex
		dispatch = func(f func()) {
			one.Lock()
			defer one.Unlock()
			f()
		}
	}
	return &Runner{dispatch: dispatch, crash: crash}
}

// outcome is what a piece of work returned.
type outcome[T any] struct {
	value T
	err   error
}

// Start runs work, or returns ErrBusy or ErrClosed. progress, which may be nil, gets the latest Update at most every
// ProgressInterval, about every Tick also where nothing is new, and never after done. done is called exactly once: with
// the result, with the error, with a *PanicError, or, at most Grace after Cancel, with context.Canceled. When done runs
// the next job can be started.
//
// Work that has not returned by then is left to end on its own: its result is dropped, and a job started in the
// meantime begins only when it has ended, so two pieces of work never run at once.
func Start[T any](r *Runner, work Work[T], progress func(Update), done func(T, error)) error {
	return StartHandled(r, work, progress, nil, done)
}

// Handler is a part of the handling of a result: Aside, which may be nil, runs on a goroutine of the job, then Do runs
// through dispatch.
type Handler[T any] struct{ Aside, Do func(T) }

// StartHandled is Start for a result that takes long to handle on dispatch's goroutine: it is passed to the handlers
// one after another before done, so that other work can run between them. The job counts as running until done;
// cancelling it during the handlers has no effect.
func StartHandled[T any](
	r *Runner, work Work[T], progress func(Update), handlers []Handler[T], done func(T, error),
) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return ErrClosed
	case r.busy:
		return ErrBusy
	}
	ctx, cancel := context.WithCancel(context.Background())
	before, ended := r.ended, make(chan struct{})
	r.busy, r.cancel, r.ended = true, cancel, ended
	result := make(chan outcome[T], 1)
	p := &reporter{dispatch: r.dispatch, progress: progress, all: &r.all, begun: time.Now()}
	p.begin()
	r.all.Add(2)
	go func() {
		// Deferred, so that work that ends its goroutine also gets an outcome.
		o := outcome[T]{err: errNoResult}
		defer r.all.Done()
		defer close(ended)
		defer func() { result <- o }()
		if before != nil {
			<-before
		}
		o = run(ctx, work, p.report, r.crash)
	}()
	go func() {
		defer r.all.Done()
		defer cancel()
		o := await(ctx, result)
		p.stop()
		if o.err != nil {
			handlers = nil
		}
		inTurn(r, o.value, handlers, func() {
			p.finish()
			r.mu.Lock()
			r.busy = false
			r.mu.Unlock()
			done(o.value, o.err)
		})
	}()
	return nil
}

// inTurn dispatches the handlers and then end, each when the one before has run.
func inTurn[T any](r *Runner, v T, handlers []Handler[T], end func()) {
	if len(handlers) == 0 {
		r.dispatch(end)
		return
	}
	if handlers[0].Aside != nil {
		handlers[0].Aside(v)
	}
	r.dispatch(func() {
		handlers[0].Do(v)
		r.all.Go(func() { inTurn(r, v, handlers[1:], end) })
	})
}

// run calls work unless it was cancelled before it began, and converts a panic to an error.
func run[T any](ctx context.Context, work Work[T], report processing.Progress, crash func(*PanicError)) (o outcome[T]) {
	defer func() {
		if v := recover(); v != nil {
			p := &PanicError{Value: v, Stack: debug.Stack()}
			o = outcome[T]{err: p}
			if crash != nil {
				crash(p)
			}
		}
	}()
	if err := ctx.Err(); err != nil {
		return outcome[T]{err: err}
	}
	o.value, o.err = work(ctx, report)
	return o
}

// await returns the outcome of the work, or context.Canceled if there is none within Grace after a cancel.
func await[T any](ctx context.Context, result <-chan outcome[T]) outcome[T] {
	select {
	case o := <-result:
		return o.unless(ctx)
	case <-ctx.Done():
	}
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case o := <-result:
		return o.unless(ctx)
	case <-grace.C:
		return outcome[T]{}.unless(ctx)
	}
}

// unless drops a result that arrived although the job was cancelled, so that a cancel always takes effect.
func (o outcome[T]) unless(ctx context.Context) outcome[T] {
	if o.err == nil && ctx.Err() != nil {
		return outcome[T]{err: ctx.Err()}
	}
	return o
}

// Cancel cancels the running job, if any. It returns at once.
func (r *Runner) Cancel() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel()
	}
}

// Busy reports whether a job runs whose done has not been called.
func (r *Runner) Busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy
}

// Close cancels the running job, refuses new ones and waits until all work has ended or ctx is done. Its done is still
// called. Where dispatch runs on the goroutine that calls Close, dispatch may not block until then.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	if r.cancel != nil {
		r.cancel()
	}
	r.mu.Unlock()
	return parallel.Wait(ctx, &r.all)
}
