package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blik/processing"
)

// Timings of a Runner.
const (
	// ProgressInterval is the shortest time between two calls of Progress.
	ProgressInterval = 50 * time.Millisecond
	// Grace is how long a cancelled job may take to return before it is reported as cancelled without it.
	Grace = 75 * time.Millisecond
)

// ErrBusy is returned by Start while another job runs.
var ErrBusy = errors.New("another job is still running")

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the program is closing")

// PanicError is the error of a job that panicked.
type PanicError struct {
	// Value is what was panicked with, Stack the stack of its goroutine.
	Value any
	Stack []byte
}

// Error names the value alone; the stack is for the crash log.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Update is how far a job is.
type Update struct {
	Stage processing.Text
	// Done is the share of the whole, 0…1.
	Done float64
}

// Work is done on a goroutine of its own. It returns soon after ctx is cancelled and may report progress from any
// goroutine.
type Work[T any] func(ctx context.Context, report processing.Progress) (T, error)

// Runner runs one job at a time.
type Runner struct {
	dispatch func(func())
	crash    func(*PanicError)
}

// NewRunner returns a Runner that calls back through dispatch, which runs functions one after another in their order,
// such as fyne.Do; nil calls back on the job's own goroutines, one at a time. crash, which may be nil, is told at once of
// a panic in a job, on the job's goroutine, also where the job was cancelled before.
func NewRunner(dispatch func(func()), crash func(*PanicError)) *Runner {
	return &Runner{dispatch: dispatch, crash: crash}
}

// Start runs work, or returns ErrBusy or ErrClosed. progress, which may be nil, gets the latest Update at most every
// ProgressInterval and never after done. done is called exactly once: with the result, with the error, with a
// *PanicError, or, at most Grace after Cancel, with context.Canceled.
//
// Work that has not returned by then is left to end on its own: its result is dropped, and a job started in the
// meantime begins only when it has ended, so two pieces of work never run at once.
func Start[T any](r *Runner, work Work[T], progress func(Update), done func(T, error)) error {
	return nil
}

// Cancel cancels the running job, if any. It returns at once.
func (r *Runner) Cancel() {}

// Busy says whether a job runs whose done has not been called.
func (r *Runner) Busy() bool { return false }

// Close cancels the running job, refuses new ones and waits until all work has ended or ctx is done.
func (r *Runner) Close(ctx context.Context) error { return nil }
