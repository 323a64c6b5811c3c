package session

import (
	"context"
	"fmt"
	"image"

	"blik/app/document"
	"blik/app/job"
	"blik/app/view"
	"blik/processing"
)

// views shows the corrected picture.
type views struct {
	// after is the view, shown are the corrections in it.
	after *view.Pyramid
	shown *document.Corrections
	// previous is what was shown before, so that an undo is fast.
	previous pictureView
	// changed is the view of the pixels that the corrections changedOf change.
	changed   *view.MaskPyramid
	changedOf *document.Corrections
}

// ChangedView returns the view of the pixels that the corrections change. It is nil if nothing is corrected, and while
// the view is being made in parallel with other work; a Change with Compared says when it is there.
func (s *Session) ChangedView() *view.MaskPyramid {
	v := &s.views
	if !s.Corrected() {
		v.changed, v.changedOf = nil, nil
		return nil
	}
	now, pic := s.open.Doc.Corrections(), s.open.Doc.Picture()
	if v.changedOf == now {
		return v.changed
	}
	work := func(context.Context, processing.Progress) (*view.MaskPyramid, error) {
		return view.NewMaskPyramid(now.Changed(pic)), nil
	}
	// If that of other corrections is being made, whoever listens asks again when it is there.
	_ = job.Start(s.changing, work, nil, func(made *view.MaskPyramid, err error) {
		if err != nil {
			return
		}
		if s.open.Doc.Corrections() == now {
			v.changed, v.changedOf = made, now
		}
		s.Notify(Change{Compared: true, Pixels: image.Rectangle{Max: s.open.Doc.Size()}})
	})
	return nil
}

// pictureView is the view of the picture with certain corrections.
type pictureView struct {
	of      *document.Corrections
	pyramid *view.Pyramid
}

// drawing is a view of the picture with changed corrections that is being made.
type drawing struct {
	from    *view.Pyramid
	patches []processing.Patch
	made    pictureView
	err     error
}

// draw returns the drawing of the present corrections, or nil if they have a view already.
func (v *views) draw(doc *document.Document) *drawing {
	now := doc.Corrections()
	if now == nil || now == v.shown || now == v.previous.of {
		return nil
	}
	return &drawing{from: v.after, patches: doc.PatchesSince(v.shown), made: pictureView{of: now}}
}

// make makes the view, on any goroutine. Its time is proportional to what has changed.
func (d *drawing) make() {
	if d == nil {
		return
	}
	if d.made.pyramid, d.err = d.from.With(context.Background(), d.patches); d.err != nil {
		d.err = fmt.Errorf("show the corrections: %w", d.err)
	}
}

// update shows the present corrections of a picture, which is another one if reopened is set. drawn, which may be nil,
// is a drawing that was made on another goroutine; it is ignored if the corrections have changed since.
func (v *views) update(o *Open, reopened bool, drawn *drawing) error {
	if reopened {
		*v = views{after: o.Before}
	}
	now := o.Doc.Corrections()
	if now == v.shown {
		return nil
	}
	next := v.previous
	switch {
	case now == nil:
		next = pictureView{nil, o.Before}
	case now != v.previous.of:
		if drawn == nil || drawn.made.of != now {
			drawn = v.draw(o.Doc)
			drawn.make()
		}
		if drawn.err != nil {
			return drawn.err
		}
		next = drawn.made
	}
	v.previous = pictureView{v.shown, v.after}
	v.shown, v.after = next.of, next.pyramid
	return nil
}
