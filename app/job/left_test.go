package job

import (
	"context"
	"testing"
	"time"

	"blik/internal/message"
	"blik/processing"
)

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
