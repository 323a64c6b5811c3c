package session

import (
	"context"
	"time"

	"blik/app/view"
)

// glimpseSide is the most pixels that a glimpse has in a row or a column: about as many as the window shows of it.
const glimpseSide = 1280

// glimpseWait is how long the reading of a picture waits for the glimpse of it, which it would slow down: long enough
// for files in memory and on fast disks. After it both go on side by side.
const glimpseWait = 250 * time.Millisecond

// Glimpse returns what shows some pixels of a picture that is still being read, nil for nothing. It is only to be
// looked at: it is no part of the document, and ends with the reading.
func (s *Session) Glimpse() *view.Pyramid { return s.glimpse }

// glimpsing shows a picture while it is being read. What is not said otherwise belongs to the session's goroutine.
type glimpsing struct {
	s            *Session
	shown, ended bool
}

// begin reads some pixels of a picture and shows them, and returns when that is done or would take long. ctx ends with
// the reading of the picture. It is called by the job. Without a glimpse nothing is lost: what is wrong with the file,
// its reading tells.
func (g *glimpsing) begin(ctx context.Context, path string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		quick, err := g.s.files.ReadGlimpse(ctx, path, glimpseSide)
		if err != nil || quick == nil {
			return
		}
		p, err := view.NewPyramid(ctx, quick.Picture, view.WithProfile(quick.Profile),
			view.WithOrientation(quick.Orientation))
		if err == nil {
			g.s.dispatch(func() { g.show(p) })
		}
	}()
	select {
	case <-done:
	case <-time.After(glimpseWait):
	case <-ctx.Done():
	}
}

func (g *glimpsing) show(p *view.Pyramid) {
	if !g.ended {
		g.shown, g.s.glimpse = true, p
		g.s.notify(Change{Glimpse: true})
	}
}

// end shows the picture itself, or what was open before.
func (g *glimpsing) end() {
	g.ended = true
	if g.shown {
		g.s.glimpse = nil
		g.s.notify(Change{Glimpse: true})
	}
}
