package job

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"blik/processing"
)

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
