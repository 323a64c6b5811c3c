package parallel

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// Crew is Workers for loops in quick succession. On a virtual machine a sleeping processor takes about 90 µs to wake
// up, as long as a small loop. Goroutines that have finished their share therefore poll for the next loop for a moment
// before they end, and a loop does not wait for goroutines that arrive too late. The zero value is ready for use.
type Crew struct {
	// waiting counts the goroutines that poll for work and have not been promised any; promises are fulfilled through
	// work.
	waiting atomic.Int32
	once    sync.Once
	work    chan *loop
}

// pollTime is how long a goroutine polls for the next loop, patience how long the caller of a loop polls for its last
// goroutine to finish before it sleeps. The number of polls is limited too, to a few milliseconds, because the clock
// stands still in tests with a fake clock.
const (
	pollTime = 50 * time.Microsecond
	patience = 200 * time.Microsecond
	maxPolls = 1 << 17
)

// loop is a call of Workers.
type loop struct {
	body  func(tasks iter.Seq[int])
	tasks iter.Seq[int]
	// running counts the goroutines in body beside the caller's; once closed, no more may enter.
	running atomic.Int32
	mu      sync.Mutex
	closed  bool
	done    chan struct{}
}

// Workers is the function Workers.
func (c *Crew) Workers(ctx context.Context, limit, n int, body func(tasks iter.Seq[int])) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if limit < 1 {
		limit = Processors()
	}
	l := &loop{body: body, tasks: share(ctx, n), done: make(chan struct{}, 1)}
	helpers := min(limit, n) - 1
	if helpers > 0 {
		c.once.Do(func() { c.work = make(chan *loop, 64) })
	}
	// Polling goroutines would keep others from running if there are more goroutines than processors.
	stay := limit <= Processors()
	for range helpers {
		if c.promise() {
			c.work <- l
		} else {
			go c.help(l, stay)
		}
	}
	body(l.tasks)
	if helpers > 0 {
		l.wait()
	}
	return ctx.Err()
}

// promise reserves one of the polling goroutines.
func (c *Crew) promise() bool {
	for n := c.waiting.Load(); n > 0; n = c.waiting.Load() {
		if c.waiting.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// help works on loops as long as the next one comes soon.
func (c *Crew) help(l *loop, stay bool) {
	for l != nil {
		// One that wakes the caller makes room for it.
		if l.help() || !stay {
			return
		}
		l = c.next()
	}
}

// next polls for a loop, and returns nil if none came.
func (c *Crew) next() *loop {
	c.waiting.Add(1)
	for begin, i := time.Now(), 1; i < maxPolls; i++ {
		select {
		case l := <-c.work:
			return l
		default:
		}
		if i%16 == 0 && time.Since(begin) > pollTime {
			break
		}
	}
	if c.promise() {
		return nil
	}
	return <-c.work
}

// help takes part in a loop that is not yet finished, and reports whether the caller had to be woken.
func (l *loop) help() (woke bool) {
	l.mu.Lock()
	late := l.closed
	if !late {
		l.running.Add(1)
	}
	l.mu.Unlock()
	if late {
		return false
	}
	l.body(l.tasks)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running.Add(-1) == 0 && l.closed {
		select {
		case l.done <- struct{}{}:
			return true
		default:
		}
	}
	return false
}

// wait waits until the loop is finished.
func (l *loop) wait() {
	for begin, i := time.Now(), 1; l.running.Load() > 0 && i < maxPolls; i++ {
		if i%16 == 0 && time.Since(begin) > patience {
			break
		}
	}
	l.mu.Lock()
	l.closed = true
	running := l.running.Load()
	l.mu.Unlock()
	if running > 0 {
		<-l.done
	}
}
