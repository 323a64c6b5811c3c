package session

import (
	"context"
	"errors"
	"image"

	"blik/app/document"
	"blik/processing"
)

// Live reports whether the mask follows the parameters: the picture was searched, and the mask holds nothing that
// another search would lose.
func (s *Session) Live() bool { return s.doc != nil && s.doc.Result() != nil && s.doc.Untouched() }

// decides reports whether a search with the parameters as they are only has to decide anew.
func (s *Session) decides() bool {
	return s.memory.Serves(s.doc.Picture(), s.detectedWith, s.settings.Params)
}

// preview searches again after a change of the parameters, where the mask follows them. What takes longer than deciding
// anew is shown in the visible part of the picture first. While it works, further changes are noted, and the last of
// them is what it ends with; a search of the whole picture that has become idle is given up.
func (s *Session) preview() {
	if s.previewing {
		s.wanted = true
		if s.whole {
			s.jobs.Cancel()
		}
		return
	}
	if s.Busy() || !s.Live() || !detectsOtherwise(s.detectedWith, s.settings.Params) {
		return
	}
	s.previewing, s.wanted = true, false
	if s.decides() || s.Visible == nil || len(s.doc.Ignored()) > 0 {
		s.previewWhole()
		return
	}
	s.previewPart(s.Visible())
}

// previewPart shows what a search finds in a part of the picture, and goes on to the whole.
func (s *Session) previewPart(visible image.Rectangle) {
	type shown struct {
		mask *processing.Mask
		at   image.Point
	}
	doc, params := s.doc, s.settings.Params
	o := processing.Options{Region: doc.Region(), Memory: s.memory}
	work := func(ctx context.Context, report processing.Progress) (*shown, error) {
		o.Progress = report
		part, ok, err := processing.NewPart(doc.Picture(), params, o, visible)
		if err != nil || !ok || !s.worthAPart(part.Area, doc.Size()) {
			return nil, err
		}
		r, _, err := s.engine.Detect(ctx, part.Picture, params, part.Options)
		if err != nil {
			return nil, err
		}
		mask, at := part.Mask(r)
		return &shown{mask, at}, nil
	}
	s.keeping(func() {
		start(s, Other, work, func(p *shown) (image.Rectangle, error) {
			if p == nil || !s.Live() {
				return image.Rectangle{}, nil
			}
			return s.doc.ShowPart(p.mask, p.at)
		}, func(_ *shown, err error) {
			switch {
			case err != nil:
				s.previewed(Outcome{}, err)
			case s.wanted || !s.Live():
				s.previewing = false
				s.again()
			default:
				s.previewWhole()
			}
		})
	})
}

// worthAPart reports whether searching an area takes clearly less time than the whole picture does.
func (s *Session) worthAPart(area image.Rectangle, size image.Point) bool {
	return float64(area.Dx()*area.Dy()) <= s.partShare*float64(size.X*size.Y)
}

// usualPartShare is the largest share of a picture that is shown before the whole.
const usualPartShare = 0.6

// previewWhole searches the whole picture; a part that is shown stays until it has ended.
func (s *Session) previewWhole() {
	s.whole = !s.decides()
	apply := func(f document.Found) image.Rectangle {
		if !s.doc.Untouched() {
			// What was painted meanwhile counts more.
			return image.Rectangle{}
		}
		return s.doc.PreviewFound(f)
	}
	s.keeping(func() { s.detect(apply, s.previewed) })
}

// keeping does something during which the part that is shown stays.
func (s *Session) keeping(do func()) {
	s.keepsPart = true
	do()
	s.keepsPart = false
}

// again previews once more if the parameters have changed meanwhile, and takes away a part that nothing follows.
func (s *Session) again() {
	s.wanted = false
	s.preview()
	if !s.previewing {
		s.doc.DropPart()
		s.publish(Other, image.Rectangle{})
	}
}

// previewed goes on after a preview with what has to follow.
func (s *Session) previewed(o Outcome, err error) {
	givenUp := s.wanted && s.whole && errors.Is(err, context.Canceled)
	s.previewing, s.whole = false, false
	if s.wanted && err == nil || givenUp {
		s.again()
	} else {
		s.doc.DropPart()
		s.publish(Other, image.Rectangle{})
	}
	if s.corrects && err == nil && !s.previewing {
		s.previewCorrection()
	}
	if s.Previewed != nil && !givenUp {
		s.Previewed(o, err)
	}
	if next := s.afterPreview; !s.previewing && next != nil {
		s.afterPreview = nil
		next()
	}
}
