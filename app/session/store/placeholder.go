package store

import (
	"context"
	"time"

	"blik/app/session"
	"blik/app/view"
)

// placeholderSide is the most pixels that a placeholder has in a row or a column, about as many as the window shows.
const placeholderSide = 1280

// placeholderWait is the longest time that reading a picture waits for its placeholder to appear, because the
// two would slow each other down. It is enough for files in memory and on fast disks; after it both are read side by
// side.
const placeholderWait = time.Second

// Placeholder returns a view with some pixels of the picture that is being read, or nil. It is only for display: it is
// not part of the document, and disappears when the picture has been read.
func (d *Store) Placeholder() *view.Pyramid { return d.loading.placeholder }

// PlaceholderShown must be called when the placeholder is on the screen: only then does the picture continue to load.
func (d *Store) PlaceholderShown() {
	if d.loading.shown != nil {
		d.loading.shown()
	}
}

// loading is the placeholder of the picture that is being read.
type loading struct {
	// placeholder shows it; nil for none. shown ends the wait for it.
	placeholder *view.Pyramid
	shown       func()
	// ahead is the placeholder that was read before the store existed; nil for none.
	ahead *Ahead
}

// placeholderLoad shows a placeholder while a picture is being read. Unless stated otherwise, fields and methods belong
// to the session's goroutine.
type placeholderLoad struct {
	d *Store
	// ahead is what was read in advance; nil for nothing.
	ahead *Ahead
	// taken is set once it is known whether there is a placeholder, shown while one is shown, ended after end.
	taken, shown, ended bool
	// wait ends when the picture may be read; proceed ends it. Any goroutine may use them.
	wait    context.Context
	proceed context.CancelFunc
}

func newPlaceholderLoad(d *Store) *placeholderLoad {
	l := &placeholderLoad{d: d}
	l.wait, l.proceed = context.WithTimeout(context.Background(), d.o.PlaceholderWait)
	return l
}

// start shows the placeholder that was read in advance, if it is ready. Otherwise begin will show one.
func (l *placeholderLoad) start(path string) {
	a := l.d.takeAhead(path)
	if a == nil {
		return
	}
	select {
	case <-a.done:
		l.show(a.p)
	default:
	}
	l.ahead = a
}

// begin reads a placeholder of a picture, shows it, and returns when it is on the screen, after
// Options.PlaceholderWait, or when ctx ends, which it does when the picture has been read. The job calls it. Errors are
// ignored, because reading the picture itself reports them.
func (l *placeholderLoad) begin(ctx context.Context, path string) {
	if !l.taken {
		go func() {
			if p := l.read(ctx, path); p != nil {
				l.d.s.Dispatch(func() { l.show(p) })
			} else {
				l.proceed()
			}
		}()
	}
	select {
	case <-l.wait.Done():
	case <-ctx.Done():
	}
}

// read returns the placeholder that was read in advance, or reads it; nil if there is none. It runs on any goroutine.
func (l *placeholderLoad) read(ctx context.Context, path string) *view.Pyramid {
	if l.ahead == nil {
		return readPlaceholder(ctx, l.d.o.Files, path)
	}
	select {
	case <-l.ahead.done:
		return l.ahead.p
	case <-ctx.Done():
		return nil
	}
}

// show shows a placeholder; nil means that there is none.
func (l *placeholderLoad) show(p *view.Pyramid) {
	l.taken = true
	switch {
	case p == nil:
		l.proceed()
	case !l.ended:
		l.shown, l.d.loading.placeholder, l.d.loading.shown = true, p, l.proceed
		l.d.s.Notify(session.Change{Placeholder: true})
	}
}

// end removes the placeholder.
func (l *placeholderLoad) end() {
	l.proceed()
	l.ended = true
	if l.shown {
		l.d.loading.placeholder, l.d.loading.shown = nil, nil
		l.d.s.Notify(session.Change{Placeholder: true})
	}
}
