package session

import (
	"context"
	"errors"
	"image"

	"blik/app/document"
	"blik/processing"
	"blik/processing/detect"
)

// followsParams reports whether the mask follows changes of the parameters: a detection has run, and another one would
// lose no work of the user.
func (s *Session) followsParams() bool {
	return s.doc != nil && s.doc.Result() != nil && s.doc.Untouched()
}

// onlyDecides reports whether a detection with the current parameters only has to decide about known components.
func (s *Session) onlyDecides() bool { return s.table.Serves(s.settings.Params) }

// preview detects again after a change of the parameters, if the mask follows them. If the detection has to do more
// than decide, it shows the visible part of the picture first. If parameters change while a preview runs, another one
// follows it; a detection of the whole picture that is out of date is cancelled.
func (s *Session) preview() {
	if s.previewing {
		s.showDecision()
		s.detectAgain = true
		if s.previewsWhole {
			s.jobs.Cancel()
		}
		return
	}
	if s.Busy() || !s.followsParams() || !detectsOtherwise(s.detectedWith, s.settings.Params) {
		return
	}
	s.previewing, s.detectAgain = true, false
	s.showDecision()
	if s.onlyDecides() || s.Visible == nil || len(s.doc.Ignored()) > 0 {
		s.previewWhole()
		return
	}
	s.previewPart(s.Visible())
}

// showDecision shows at once what another decision about known components marks in the visible part of the picture. The
// whole picture follows.
func (s *Session) showDecision() {
	if !s.followsParams() || !s.onlyDecides() || s.Visible == nil || len(s.doc.Ignored()) > 0 {
		return
	}
	decision, err := processing.DefaultDecision()
	if err != nil {
		return
	}
	visible := s.Visible().Intersect(image.Rectangle{Max: s.doc.Size()})
	mask, ok := detect.DecidePart(s.table, decision, s.settings.Params, s.doc.Region(), visible)
	if !ok || visible.Empty() {
		return
	}
	if pixels, err := s.doc.ShowPart(mask, visible.Min); err == nil {
		s.publish(Other, pixels)
	}
}

// previewPart detects in the visible part of the picture, shows the result, and continues with the whole picture.
func (s *Session) previewPart(visible image.Rectangle) {
	type shown struct {
		mask *processing.Mask
		at   image.Point
	}
	doc, params := s.doc, s.settings.Params
	o := detect.Options{Region: doc.Region()}
	work := func(ctx context.Context, report processing.Progress) (*shown, error) {
		o.Progress = report
		part, ok, err := detect.NewPart(doc.Picture().Visible(), params, o, visible)
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
	s.keepPart(func() {
		start(s, Other, work, func(p *shown) (image.Rectangle, error) {
			if p == nil || !s.followsParams() {
				return image.Rectangle{}, nil
			}
			return s.doc.ShowPart(p.mask, p.at)
		}, func(_ *shown, err error) {
			switch {
			case err != nil:
				s.endPreview(Outcome{}, err)
			case s.detectAgain || !s.followsParams():
				s.previewing = false
				s.previewAgain()
			default:
				s.previewWhole()
			}
		})
	})
}

// worthAPart reports whether detection in an area takes clearly less time than in the whole picture.
func (s *Session) worthAPart(area image.Rectangle, size image.Point) bool {
	return float64(area.Dx()*area.Dy()) <= s.partShare*float64(size.X*size.Y)
}

// defaultPartShare is the default of Session.partShare.
const defaultPartShare = 0.6

// previewWhole detects in the whole picture. A part that is shown stays until then.
func (s *Session) previewWhole() {
	s.previewsWhole = !s.onlyDecides()
	apply := func(f document.Found) image.Rectangle {
		if !s.doc.Untouched() {
			// Do not overwrite what the user has painted meanwhile.
			return image.Rectangle{}
		}
		return s.doc.PreviewFound(f)
	}
	s.keepPart(func() { s.detect(apply, s.endPreview) })
}

// keepPart calls do without removing the part that is shown.
func (s *Session) keepPart(do func()) {
	s.keepsPart = true
	do()
	s.keepsPart = false
}

// previewAgain starts another preview if the parameters have changed meanwhile. If none starts, it removes the part
// that is shown.
func (s *Session) previewAgain() {
	s.detectAgain = false
	s.preview()
	if !s.previewing {
		s.doc.DropPart()
		s.publish(Other, image.Rectangle{})
	}
}

// endPreview ends a preview and starts what has to follow.
func (s *Session) endPreview(o Outcome, err error) {
	givenUp := s.detectAgain && s.previewsWhole && errors.Is(err, context.Canceled)
	s.previewing, s.previewsWhole = false, false
	if s.detectAgain && err == nil || givenUp {
		s.previewAgain()
	} else {
		s.doc.DropPart()
		s.publish(Other, image.Rectangle{})
	}
	if s.correctAgain && err == nil && !s.previewing {
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
