package store

import (
	"context"
	"path/filepath"

	"blik/app/view"
)

// Ahead is the placeholder of the picture that will be opened first, read while the window is being created.
type Ahead struct {
	path string
	// done is closed when p is set; p stays nil if there is no placeholder.
	done chan struct{}
	p    *view.Pyramid
}

// ReadAhead starts reading a placeholder of a picture, for Options.Ahead. Errors are reported only when the picture is
// opened.
func ReadAhead(ctx context.Context, files Files, path string) *Ahead {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	a := &Ahead{path: path, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.p = readPlaceholder(ctx, files, path)
	}()
	return a
}

// readPlaceholder reads some pixels of a picture and prepares them for display; nil if that fails or would not be
// faster than reading the picture.
func readPlaceholder(ctx context.Context, files Files, path string) *view.Pyramid {
	quick, err := files.ReadPreview(ctx, path, placeholderSide)
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

// takeAhead returns what is read in advance of the picture at path, nil for nothing. It returns it only once.
func (d *Store) takeAhead(path string) *Ahead {
	a := d.loading.ahead
	d.loading.ahead = nil
	if a == nil || a.path != path {
		return nil
	}
	return a
}
