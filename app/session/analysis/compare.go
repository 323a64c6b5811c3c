package analysis

import (
	"context"
	"image"
	"path/filepath"

	"blik/app/document"
	"blik/app/session"
	"blik/app/view"
	"blik/internal/message"
	"blik/processing"
)

// compared is a mask from a file, for comparison with that of the document.
type compared struct {
	path  string
	other *document.Other
	view  *view.MaskPyramid
}

// Comparison says how far the mask agrees with that of a file.
type Comparison struct {
	Path string
	document.Overlap
}

// CompareMask reads a mask and compares the document's mask with it, until EndComparison is called or another picture
// is opened. done gets an error if the file has not the size of the picture; without anyPicture, a picture that hardly
// is a mask is imagefile.ErrNotMask.
func (a *Analysis) CompareMask(path string, anyPicture bool, done func(error)) {
	doc, size := a.s.Document(), a.s.Document().Size()
	work := func(ctx context.Context, report processing.Progress) (*compared, error) {
		report(message.Of("%s", filepath.Base(path)), 0)
		m, err := a.masks.ReadMask(ctx, path, size.X, size.Y, anyPicture)
		if err != nil {
			return nil, err
		}
		other, err := doc.NewOther(m)
		if err != nil {
			return nil, err
		}
		return &compared{path, other, view.NewMaskPyramid(m)}, nil
	}
	a.s.Settle()
	session.Begin(a.s, session.Other, work, func(c *compared) (image.Rectangle, error) {
		a.compared = c
		return image.Rectangle{}, nil
	}, func(_ *compared, err error) { done(err) })
}

// EndComparison ends what CompareMask began.
func (a *Analysis) EndComparison() {
	a.compared = nil
	a.s.Publish(session.Other, image.Rectangle{})
}

// Comparison compares the present mask with that of CompareMask; ok is false if there is none.
func (a *Analysis) Comparison() (c Comparison, ok bool) {
	if a.compared == nil {
		return Comparison{}, false
	}
	return Comparison{a.compared.path, a.s.Document().Overlap(a.compared.other)}, true
}

// ComparedView returns the view of the mask of CompareMask, nil if there is none.
func (a *Analysis) ComparedView() *view.MaskPyramid {
	if a.compared == nil {
		return nil
	}
	return a.compared.view
}
