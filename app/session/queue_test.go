package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
)

// jobs starts jobs that end on request, and records the order in which they end.
type jobs struct {
	*fake
	end   map[string]chan error
	ended []string
}

// job returns a function that starts a job.
func (j *jobs) job(name string) func() {
	end := make(chan error, 1)
	j.end[name] = end
	return func() {
		session.Begin(j.Session, session.Other, func(ctx context.Context, _ processing.Progress) (int, error) {
			select {
			case err := <-end:
				return 0, err
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}, nil, func(_ int, err error) {
			switch {
			case errors.Is(err, context.Canceled):
				name += " cancelled"
			case err != nil:
				name += " failed"
			}
			j.ended = append(j.ended, name)
		})
	}
}

// add queues a job.
func (j *jobs) add(name string) (queued bool) {
	return j.Queue().Add(message.Of("%s", name), j.job(name))
}

// waits returns the names of the queued jobs.
func (j *jobs) waits() string {
	var names []string
	for _, w := range j.Queue().Waiting() {
		names = append(names, w.Name.String())
	}
	return strings.Join(names, " ")
}

func TestQueue(t *testing.T) {
	t.Parallel()
	j := &jobs{fake: newFake(t), end: map[string]chan error{}}
	if j.add("a") || !j.Busy() {
		t.Fatal("a job does not start where none runs")
	}
	for _, name := range []string{"b", "c", "c", "d", "c", "e"} {
		if !j.add(name) {
			t.Fatalf("%s does not wait", name)
		}
	}
	if got := j.waits(); got != "b c d c e" {
		t.Errorf("%q wait", got)
	}
	j.Queue().Withdraw(j.Queue().Waiting()[3].ID)
	j.Queue().Withdraw(j.Queue().Waiting()[1].ID)
	j.Queue().Withdraw(1000)
	if got := j.waits(); got != "b d e" {
		t.Errorf("%q wait after two are withdrawn", got)
	}
	if !slices.ContainsFunc(j.changes, func(c session.Change) bool { return c.Queue }) {
		t.Error("no listener heard of the queue")
	}
	// One fails, one is cancelled, and the others follow.
	j.end["a"] <- errors.New("broken")
	for len(j.ended) < 1 {
		(<-j.queue)()
	}
	if got := j.waits(); got != "d e" || !j.Busy() {
		t.Errorf("%q wait while the second runs", got)
	}
	j.Cancel()
	j.end["d"] <- nil
	j.end["e"] <- nil
	j.settle()
	if want := []string{"a failed", "b cancelled", "d", "e"}; !slices.Equal(j.ended, want) || len(j.Queue().Waiting()) > 0 {
		t.Errorf("%q ended, %q wait, want %q", j.ended, j.waits(), want)
	}
}

// A held queue continues when it is no longer held, even if no job ends then.
func TestQueueIsHeld(t *testing.T) {
	t.Parallel()
	j := &jobs{fake: newFake(t), end: map[string]chan error{}}
	held := true
	j.held = func() bool { return held }
	j.add("a")
	j.add("b")
	j.end["a"] <- nil
	j.settle()
	if j.Busy() || j.waits() != "b" {
		t.Fatalf("%q wait, busy %v", j.waits(), j.Busy())
	}
	// A job that is queued meanwhile is not delayed.
	(<-j.queue)()
	if j.Busy() {
		t.Fatal("it goes on while it is held")
	}
	held = false
	j.end["b"] <- nil
	for len(j.ended) < 2 {
		(<-j.queue)()
	}
}

// A closed session does not start queued jobs.
func TestCloseEmptiesTheQueue(t *testing.T) {
	t.Parallel()
	j := &jobs{fake: newFake(t), end: map[string]chan error{}}
	j.add("a")
	j.add("b")
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.settle()
	if want := []string{"a cancelled"}; !slices.Equal(j.ended, want) {
		t.Errorf("%q ended, want %q", j.ended, want)
	}
}

// Queued commands have the same effect as commands that are given one by one.
func TestQueuedWork(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/art/a.png")
	f.Detect(f.outcome)
	f.Queue().Add(message.Of("%s", "correct"), func() { f.CorrectAll(f.outcome) })
	for f.Busy() || len(f.Queue().Waiting()) > 0 {
		(<-f.queue)()
	}
	if !f.Corrected() {
		t.Error("nothing is corrected")
	}
}
