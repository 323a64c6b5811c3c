package session

import (
	"context"
	"errors"
	"image"

	"blik/app/document"
	"blik/processing"
	"blik/processing/detect"
)

// preview follows changes of the parameters with the session's job.
type preview struct {
	s     *Session
	phase phase
	// followed are the parameters that the job follows.
	followed processing.Params
	// partShare is the largest share of a picture that is worth searching before the whole.
	partShare float64
	// after, which may be nil, is called when the phase is idle again.
	after func()
}

// defaultPartShare is the default of preview.partShare.
const defaultPartShare = 0.6

// followsParams reports whether the mask follows changes of the parameters: a detection has run, and another one would
// lose no work of the user.
func (s *Session) followsParams() bool {
	return s.doc != nil && s.doc.Result() != nil && s.doc.Untouched()
}

// onlyDecides reports whether a detection with the current parameters only has to decide about known components.
func (s *Session) onlyDecides() bool { return s.table.Serves(s.settings.Params) }

// changed follows a change of the parameters from those before. The visible part of the picture comes first if the
// detection has to do more than decide. If a job already follows the parameters, another one follows it, and a
// detection of the whole picture is cancelled.
func (p *preview) changed(before processing.Params) {
	if p.phase == idle {
		p.followed = before
	}
	p.happens(changed, Outcome{}, nil)
}

// needed returns the phase that would follow the present parameters.
func (p *preview) needed() phase {
	s := p.s
	switch {
	case s.Busy():
		return idle
	case s.followsParams() && detectsOtherwise(s.detectedWith, s.settings.Params):
		switch {
		case s.onlyDecides():
			return deciding
		case s.Visible == nil || len(s.doc.Ignored()) > 0:
			return whole
		}
		return part
	case correctsOtherwise(p.followed, s.settings.Params):
		f, ok := s.Selected()
		if ok && f.Decision != document.Ignored && f.State != document.Uncorrected {
			return correcting
		}
	}
	return idle
}

// happens enters the phase after an event and begins its job. o and err are the result of the job that has ended.
func (p *preview) happens(e event, o Outcome, err error) {
	was := p.phase
	p.phase = was.next(e, p.needed())
	switch {
	case e == changed && p.phase == staleWhole:
		p.s.showDecision()
		p.s.jobs.Cancel()
	case e == changed && was != idle:
		p.s.showDecision()
	case p.phase != idle:
		p.begin()
	case was != idle:
		p.s.doc.DropPart()
		p.s.publish(Other, image.Rectangle{})
	}
	if was.announces(e) && p.s.Previewed != nil {
		p.s.Previewed(o, err)
	}
	if after := p.after; p.phase == idle && after != nil {
		p.after = nil
		after()
	}
}

// begin begins the job of the phase.
func (p *preview) begin() {
	s := p.s
	p.followed = s.settings.Params
	switch p.phase {
	case part:
		p.showPart(s.Visible())
	case whole, deciding:
		s.showDecision()
		p.showWhole()
	case correcting:
		f, _ := s.Selected()
		s.settle()
		s.correct(Other, map[int]processing.Method{f.ID: f.Asked}, s.doc.PreviewCorrection, p.done)
	}
}

// done handles the end of the job.
func (p *preview) done(o Outcome, err error) {
	switch {
	case err == nil:
		p.happens(ended, o, nil)
	case errors.Is(err, context.Canceled):
		p.happens(cancelled, o, err)
	default:
		p.happens(failed, o, err)
	}
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

// showPart detects in the visible part of the picture and shows the result.
func (p *preview) showPart(visible image.Rectangle) {
	type shown struct {
		mask *processing.Mask
		at   image.Point
	}
	s := p.s
	doc, params := s.doc, s.settings.Params
	o := detect.Options{Region: doc.Region()}
	work := func(ctx context.Context, report processing.Progress) (*shown, error) {
		o.Progress = report
		part, ok, err := detect.NewPart(doc.Picture().Visible(), params, o, visible)
		if err != nil || !ok || !p.worthAPart(part.Area, doc.Size()) {
			return nil, err
		}
		r, _, err := s.engine.Detect(ctx, part.Picture, params, part.Options)
		if err != nil {
			return nil, err
		}
		mask, at := part.Mask(r)
		return &shown{mask, at}, nil
	}
	s.endStroke()
	begin(s, Other, work, func(p *shown) (image.Rectangle, error) {
		if p == nil || !s.followsParams() {
			return image.Rectangle{}, nil
		}
		return s.doc.ShowPart(p.mask, p.at)
	}, func(_ *shown, err error) { p.done(Outcome{}, err) })
}

// worthAPart reports whether detection in an area takes clearly less time than in the whole picture.
func (p *preview) worthAPart(area image.Rectangle, size image.Point) bool {
	return float64(area.Dx()*area.Dy()) <= p.partShare*float64(size.X*size.Y)
}

// showWhole detects in the whole picture. A part that is shown stays until then.
func (p *preview) showWhole() {
	s := p.s
	s.endStroke()
	s.detect(func(f document.Found) image.Rectangle {
		if !s.doc.Untouched() {
			// Do not overwrite what the user has painted meanwhile.
			return image.Rectangle{}
		}
		return s.doc.PreviewFound(f)
	}, p.done)
}
