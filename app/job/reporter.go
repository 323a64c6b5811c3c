package job

import (
	"sync"
	"time"

	"blik/internal/message"
)

// reporter passes on the latest progress of a job, at most once every ProgressInterval.
type reporter struct {
	dispatch func(func())
	progress func(Update)
	// all counts the timer, so that nothing is left behind.
	all *sync.WaitGroup

	mu      sync.Mutex
	latest  Update
	last    time.Time
	timer   *time.Timer
	pending bool
	stopped bool
	// finished is set on dispatch's side when done is called: what was dispatched before it is late.
	finished bool
}

// report takes the latest figure; it is the processing.Progress that work is given.
func (r *reporter) report(stage message.Message, done float64) {
	if r.progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest = Update{Stage: stage, Done: done}
	if r.pending || r.stopped {
		return
	}
	r.pending = true
	r.all.Add(1)
	r.timer = time.AfterFunc(max(0, ProgressInterval-time.Since(r.last)), r.send)
}

// send hands the latest figure to dispatch.
func (r *reporter) send() {
	defer r.all.Done()
	r.dispatch(func() {
		r.mu.Lock()
		u, late := r.latest, r.finished
		r.pending, r.last = false, time.Now()
		r.mu.Unlock()
		if !late {
			r.progress(u)
		}
	})
}

// stop ends deliveries. One that has begun may still reach dispatch.
func (r *reporter) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.timer != nil && r.timer.Stop() {
		r.all.Done()
	}
}

// finish makes deliveries that come to dispatch too late fall silent.
func (r *reporter) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
}
