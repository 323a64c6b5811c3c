// Package post runs functions of other goroutines on the toolkit's goroutine.
package post

import (
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2"
)

// postSlice limits how long posted functions run together before the window handles events and paints again.
const postSlice = 8 * time.Millisecond

// Posts runs functions of other goroutines on the toolkit's goroutine, in the order in which they are posted.
//
// The toolkit has a queue for this, but if a queued function and the next frame are both ready, it chooses one at
// random. If frames take longer than the interval between them, as they do beside a job, a function could wait for
// several frames. Two more goroutines had to run before it was queued at all. Functions are therefore kept here and run
// before the next frame at the latest.
type Posts struct {
	mu      sync.Mutex
	waiting []posted
	// frames counts the frames.
	frames int
	// asked reports whether answer is in the toolkit's queue; ask puts it there.
	asked bool
	ask   func(func())
}

// posted is a function and the first frame that may run it.
type posted struct {
	do    func()
	frame int
}

// NewPosts starts to run posted functions. It must be called on the toolkit's goroutine, after the app was created.
func NewPosts() *Posts {
	p := &Posts{ask: fyne.Do}
	// Animations advance before each frame.
	pulse := fyne.NewAnimation(time.Hour, func(float32) { p.frame() })
	pulse.RepeatCount = fyne.AnimationRepeatForever
	pulse.Start()
	return p
}

// Post runs a function on the toolkit's goroutine.
func (p *Posts) Post(f func()) { p.add(f, 1) }

// Later runs a function on the toolkit's goroutine after the next frame has been laid out and painted. Functions posted
// after it may run before it.
func (p *Posts) Later(f func()) { p.add(f, 2) }

// add queues a function for the given number of frames from now, at the earliest.
func (p *Posts) add(f func(), frames int) {
	p.mu.Lock()
	p.waiting = append(p.waiting, posted{f, p.frames + frames})
	ask := !p.asked
	p.asked = true
	p.mu.Unlock()
	if ask {
		p.ask(p.answer)
	}
}

// answer runs between two frames, when the toolkit comes to its queue.
func (p *Posts) answer() {
	p.mu.Lock()
	p.asked = false
	next := p.frames + 1
	p.mu.Unlock()
	p.run(next)
}

// frame runs before a frame is painted.
func (p *Posts) frame() {
	p.mu.Lock()
	p.frames++
	now := p.frames
	p.mu.Unlock()
	p.run(now)
}

// run runs the functions that may run in a frame, until postSlice has passed; the rest wait for the next frame.
func (p *Posts) run(frame int) {
	for start := time.Now(); time.Since(start) < postSlice; {
		f := p.next(frame)
		if f == nil {
			return
		}
		f()
	}
}

// next removes and returns the first function that may run in a frame; nil if there is none.
func (p *Posts) next(frame int) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.waiting, func(w posted) bool { return w.frame <= frame })
	if i < 0 {
		return nil
	}
	f := p.waiting[i].do
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return f
}

// Every calls do with dispatch again and again, with a pause before each call, until stop is called on the goroutine on
// which do runs.
func Every(pause time.Duration, dispatch func(func()), do func()) (stop func()) {
	stopped := false
	var wait func()
	wait = func() {
		time.AfterFunc(pause, func() {
			dispatch(func() {
				if !stopped {
					do()
					wait()
				}
			})
		})
	}
	wait()
	return func() { stopped = true }
}
