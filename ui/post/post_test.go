package post

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// Posted functions run once and in order, whether the toolkit's queue or a frame comes first, and the toolkit is asked
// once for all of them.
func TestPostedRunsInOrder(t *testing.T) {
	t.Parallel()
	for _, frameFirst := range []bool{false, true} {
		var asked []func()
		p := &Posts{ask: func(f func()) { asked = append(asked, f) }}
		var got, want []int
		for i := range 10 {
			p.Post(func() { got = append(got, i) })
			want = append(want, i)
		}
		if len(got) > 0 || len(asked) != 1 {
			t.Fatalf("%v ran and the toolkit was asked %d times, want nothing and once", got, len(asked))
		}
		if frameFirst {
			p.frame()
		}
		asked[0]()
		p.frame()
		if !slices.Equal(got, want) {
			t.Errorf("frame first %v: %v ran, want %v", frameFirst, got, want)
		}
		p.Post(func() { got = nil })
		if len(asked) != 2 {
			t.Fatal("what is posted later does not ask the toolkit")
		}
		asked[1]()
		if got != nil {
			t.Error("what was posted later has not run")
		}
	}
}

// After a slow function the rest wait for the next frame. A function posted by another one runs after those posted
// before.
func TestPostedTakesTurnsWithFrames(t *testing.T) {
	t.Parallel()
	p := &Posts{ask: func(func()) {}}
	var got []string
	for _, name := range []string{"a", "b"} {
		p.Post(func() {
			got = append(got, name)
			p.Post(func() { got = append(got, name+" more") })
			time.Sleep(2 * postSlice)
		})
	}
	for i, want := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "a more", "b more"}} {
		if p.frame(); !slices.Equal(got, want) {
			t.Fatalf("after frame %d %q have run, want %q", i+1, got, want)
		}
	}
}

// A function posted with Later runs only after a frame has been painted; others do not wait for it.
func TestPostedForLater(t *testing.T) {
	t.Parallel()
	var asked []func()
	p := &Posts{ask: func(f func()) { asked = append(asked, f) }}
	var got []string
	post := func(how func(func()), name string) { how(func() { got = append(got, name) }) }
	expect := func(when string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %q have run, want %q", when, got, want)
		}
	}
	// While the window handles an event, before a frame.
	post(p.Later, "a")
	post(p.Post, "b")
	p.frame()
	expect("before the frame is painted", "b")
	asked[0]()
	expect("after it", "b", "a")
	// Between frames.
	p.Post(func() { post(p.Later, "c") })
	asked[1]()
	asked[2]()
	expect("between the same frames", "b", "a")
	p.frame()
	expect("before the next one is painted", "b", "a")
	p.frame()
	expect("before the one after", "b", "a", "c")
}

// Several goroutines may Post at once; the functions of each run in order.
func TestManyPost(t *testing.T) {
	t.Parallel()
	const each = 200
	asked := make(chan func(), 4*each)
	p := &Posts{ask: func(f func()) { asked <- f }}
	var last [4]int
	var all sync.WaitGroup
	for by := range last {
		all.Go(func() {
			for i := range each {
				p.Post(func() {
					if last[by] != i {
						t.Errorf("goroutine %d: %d comes after %d", by, i, last[by]-1)
					}
					last[by] = i + 1
				})
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(asked)
		close(ended)
	}()
	for f := range asked {
		f()
	}
	<-ended
	p.frame()
	if want := [4]int{each, each, each, each}; last != want {
		t.Errorf("%v have run, want %v", last, want)
	}
}

// Every repeats until it is stopped.
func TestEvery(t *testing.T) {
	t.Parallel()
	queue := make(chan func())
	n := 0
	stop := Every(time.Millisecond, func(f func()) { queue <- f }, func() { n++ })
	(<-queue)()
	(<-queue)()
	stop()
	(<-queue)()
	if n != 2 {
		t.Errorf("it ran %d times, want 2", n)
	}
	select {
	case <-queue:
		t.Error("it goes on after it was stopped")
	case <-time.After(20 * time.Millisecond):
	}
}
