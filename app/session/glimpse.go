package session

import (
	"context"
	"time"

	"blik/app/view"
)

// glimpseSide is the most pixels that a glimpse has in a row or a column: about as many as the window shows of it.
const glimpseSide = 1280

// usualGlimpseWait is how long the reading of a picture waits until the glimpse of it is on the screen, which it would
// delay: long enough for files in memory and on fast disks. After it both go on side by side.
const usualGlimpseWait = time.Second

// Glimpse returns what shows some pixels of a picture that is still being read, nil for nothing. It is only to be
// looked at: it is no part of the document, and ends with the reading.
func (s *Session) Glimpse() *view.Pyramid { return s.glimpse }

// GlimpseSeen says that the glimpse is on the screen, so that the reading of the picture can go on.
func (s *Session) GlimpseSeen() {
	if s.glimpsed != nil {
		s.glimpsed()
	}
}

// glimpsing shows a picture while it is being read. What is not said otherwise belongs to the session's goroutine.
type glimpsing struct {
	s *Session
	// ahead is what was read before; nil for nothing. taken says that there is a glimpse, or that there will be none.
	ahead               *Ahead
	taken, shown, ended bool
	// seen is done when the glimpse is on the screen, or when there will be none.
	seen context.Context
	look context.CancelFunc
}

func newGlimpsing(s *Session) *glimpsing {
	g := &glimpsing{s: s}
	g.seen, g.look = context.WithTimeout(context.Background(), s.glimpseWait)
	return g
}

// start shows what was read ahead of the picture, if that is ready; otherwise begin does.
func (g *glimpsing) start(path string) {
	a := g.s.takeAhead(path)
	if a == nil {
		return
	}
	select {
	case <-a.done:
		g.take(a.p)
	default:
	}
	g.ahead = a
}

// begin reads some pixels of a picture, shows them, and returns when they are on the screen or that takes long. ctx
// ends with the reading of the picture. It is called by the job. Without a glimpse nothing is lost: what is wrong with
// the file, its reading tells.
func (g *glimpsing) begin(ctx context.Context, path string) {
	if !g.taken {
		go func() {
			if p := g.read(ctx, path); p != nil {
				g.s.dispatch(func() { g.take(p) })
			} else {
				g.look()
			}
		}()
	}
	select {
	case <-g.seen.Done():
	case <-ctx.Done():
	}
}

// read returns some pixels of a picture, those read ahead of it if it can.
func (g *glimpsing) read(ctx context.Context, path string) *view.Pyramid {
	if g.ahead == nil {
		return glimpseOf(ctx, g.s.files, path)
	}
	select {
	case <-g.ahead.done:
		return g.ahead.p
	case <-ctx.Done():
		return nil
	}
}

// take shows a glimpse, or goes on without one.
func (g *glimpsing) take(p *view.Pyramid) {
	g.taken = true
	switch {
	case p == nil:
		g.look()
	case !g.ended:
		g.shown, g.s.glimpse, g.s.glimpsed = true, p, g.look
		g.s.notify(Change{Glimpse: true})
	}
}

// end shows the picture itself, or what was open before.
func (g *glimpsing) end() {
	g.look()
	g.ended = true
	if g.shown {
		g.s.glimpse, g.s.glimpsed = nil, nil
		g.s.notify(Change{Glimpse: true})
	}
}
