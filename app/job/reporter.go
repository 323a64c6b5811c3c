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
	// all counts the running timers, so that Close can wait for them.
	all   *sync.WaitGroup
	begun time.Time

	mu      sync.Mutex
	latest  Update
	last    time.Time
	timer   *time.Timer
	tick    *time.Timer
	pending bool
	stopped bool
	// finished is set on dispatch's side when done is called; later deliveries are dropped.
	finished bool
}

// report records the latest progress; work gets it as its processing.Progress.
func (r *reporter) report(stage message.Message, done float64) {
	if r.progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest = Update{Stage: stage, Done: done}
	r.sendLater()
}

// sendLater schedules sending the latest progress as soon as ProgressInterval permits; r.mu is held.
func (r *reporter) sendLater() {
	if r.pending || r.stopped {
		return
	}
	r.pending = true
	r.all.Add(1)
	r.timer = time.AfterFunc(max(0, ProgressInterval-time.Since(r.last)), r.send)
}

// begin starts sending the latest progress every Tick.
func (r *reporter) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tickLater()
}

// tickLater schedules the next repetition of the latest progress; r.mu is held.
func (r *reporter) tickLater() {
	if r.progress == nil {
		return
	}
	r.all.Add(1)
	r.tick = time.AfterFunc(Tick, func() {
		defer r.all.Done()
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.stopped {
			r.sendLater()
			r.tickLater()
		}
	})
}

// send passes the latest progress to dispatch.
func (r *reporter) send() {
	defer r.all.Done()
	r.dispatch(func() {
		r.mu.Lock()
		u, late := r.latest, r.finished
		r.pending, r.last = false, time.Now()
		r.mu.Unlock()
		u.Elapsed = time.Since(r.begun)
		u.Left = remaining(u.Elapsed, u.Done)
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
	for _, t := range []*time.Timer{r.timer, r.tick} {
		if t != nil && t.Stop() {
			r.all.Done()
		}
	}
}

// finish suppresses deliveries that reach dispatch too late.
func (r *reporter) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
}
