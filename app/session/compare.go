package session

import (
	"context"
	"image"

	"blik/app/document"
	"blik/app/view"
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
func (s *Session) CompareMask(path string, anyPicture bool, done func(error)) {
	doc, size := s.doc, s.doc.Size()
	work := func(ctx context.Context, report processing.Progress) (*compared, error) {
		report(named(path), 0)
		m, err := s.files.ReadMask(ctx, path, size.X, size.Y, anyPicture)
		if err != nil {
			return nil, err
		}
		other, err := doc.NewOther(m)
		if err != nil {
			return nil, err
		}
		return &compared{path, other, view.NewMaskPyramid(m)}, nil
	}
	start(s, Other, work, func(c *compared) (image.Rectangle, error) {
		s.compared = c
		return image.Rectangle{}, nil
	}, func(_ *compared, err error) { done(err) })
}

// EndComparison ends what CompareMask began.
func (s *Session) EndComparison() {
	s.compared = nil
	s.publish(Other, image.Rectangle{})
}

// Comparison compares the present mask with that of CompareMask; ok is false if there is none.
func (s *Session) Comparison() (c Comparison, ok bool) {
	if s.compared == nil {
		return Comparison{}, false
	}
	return Comparison{s.compared.path, s.doc.Overlap(s.compared.other)}, true
}

// ComparedView returns the view of the mask of CompareMask, nil if there is none.
func (s *Session) ComparedView() *view.MaskPyramid {
	if s.compared == nil {
		return nil
	}
	return s.compared.view
}
