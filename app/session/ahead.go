package session

import (
	"context"
	"path/filepath"

	"blik/app/view"
)

// Ahead is a glimpse of the picture that will be opened first, read while the window is still being made.
type Ahead struct {
	path string
	// done is closed when p is there, which stays nil where there is no glimpse.
	done chan struct{}
	p    *view.Pyramid
}

// ReadAhead begins to read some pixels of a picture for the session that will be made with Options.Ahead. What is wrong
// with the file is told when it is opened.
func ReadAhead(ctx context.Context, files Files, path string) *Ahead {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	a := &Ahead{path: path, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.p = glimpseOf(ctx, files, path)
	}()
	return a
}

// glimpseOf reads some pixels of a picture and prepares them for showing; nil where that is no use, or impossible.
func glimpseOf(ctx context.Context, files Files, path string) *view.Pyramid {
	quick, err := files.ReadPreview(ctx, path, glimpseSide)
	if err != nil || quick == nil {
		return nil
	}
	p, err := view.NewPyramid(ctx, quick.Picture, view.WithProfile(quick.Profile),
		view.WithOrientation(quick.Orientation))
	if err != nil {
		return nil
	}
	return p
}

// takeAhead returns what is read ahead of the picture at path, nil for nothing, and forgets it.
func (s *Session) takeAhead(path string) *Ahead {
	a := s.ahead
	s.ahead = nil
	if a == nil || a.path != path {
		return nil
	}
	return a
}
