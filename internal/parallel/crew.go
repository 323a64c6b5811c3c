package parallel

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// Crew is Workers for loops that follow each other closely. A processor that sleeps takes some 90 µs to wake up on a
// virtual machine, as long as a small loop, so that goroutines that have done their share look out for the next loop
// for a moment before they end, and a loop does not wait for those that come too late. The zero value is ready for use.
type Crew struct {
	// waiting counts the goroutines that look out for work and are not yet promised any; promises are kept by work.
	waiting atomic.Int32
	once    sync.Once
	work    chan *loop
}

// lookout is how long a goroutine looks out for the next loop, patience how long the caller of a loop watches for the
// last goroutine to be done before it sleeps. They look at most so many times, some milliseconds, as the clock
// stands still in tests that have one of their own.
const (
	lookout  = 50 * time.Microsecond
	patience = 200 * time.Microsecond
	looks    = 1 << 17
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
	// Those that look out would keep others from the processors where there are more goroutines than these.
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

// promise takes one of those that look out.
func (c *Crew) promise() bool {
	for n := c.waiting.Load(); n > 0; n = c.waiting.Load() {
		if c.waiting.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// help works on loops as long as there is another one soon.
func (c *Crew) help(l *loop, stay bool) {
	for l != nil {
		// One that wakes the caller makes room for it.
		if l.help() || !stay {
			return
		}
		l = c.next()
	}
}

// next looks out for a loop, and returns nil where none came.
func (c *Crew) next() *loop {
	c.waiting.Add(1)
	for begin, i := time.Now(), 1; i < looks; i++ {
		select {
		case l := <-c.work:
			return l
		default:
		}
		if i%16 == 0 && time.Since(begin) > lookout {
			break
		}
	}
	if c.promise() {
		return nil
	}
	return <-c.work
}

// help takes part in a loop that is not yet over, and reports whether the caller had to be woken.
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

// wait ends a loop.
func (l *loop) wait() {
	for begin, i := time.Now(), 1; l.running.Load() > 0 && i < looks; i++ {
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
