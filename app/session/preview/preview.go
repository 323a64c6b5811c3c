package preview

import (
	"context"
	"errors"
	"image"

	"blik/app/document"
	"blik/app/session"
	"blik/app/session/glare"
	"blik/app/work"
	"blik/processing"
	"blik/processing/detect"
)

// Options say how changes of the parameters are followed.
type Options struct {
	// Visible, which may be nil, returns the visible part of the picture. Previews search it first.
	Visible func() image.Rectangle
	// Announce, which may be nil, is called after a detection or a correction that followed a change of the parameters.
	Announce func(glare.Outcome, error)
	// PartShare is the largest share of a picture that is worth searching before the whole; 0 for the default.
	PartShare float64
}

// Preview sets the parameters, and follows them with the session's job.
type Preview struct {
	s      *session.Session
	glare  *glare.Glare
	engine work.Engine
	o      Options
	phase  phase
	// followed are the parameters that the job follows.
	followed processing.Params
	// after, which may be nil, is called when the phase is idle again.
	after func()
}

// defaultPartShare is the default of Options.PartShare.
const defaultPartShare = 0.6

func New(s *session.Session, g *glare.Glare, e work.Engine, o Options) *Preview {
	if o.PartShare == 0 {
		o.PartShare = defaultPartShare
	}
	p := &Preview{s: s, glare: g, engine: e, o: o}
	s.Subscribe(func(c session.Change) {
		// Parameters may have changed during a search that the user asked for.
		if c.Cause == session.Stepped && c.Params && p.phase != idle || c.Cause == session.Detected && p.phase == idle {
			p.changed(s.Settings().Params)
		}
	})
	return p
}

// SetParams replaces the parameters of detection and correction, and starts previews that follow them.
func (p *Preview) SetParams(params processing.Params) {
	was := p.s.Settings().Params
	p.s.Settings().Params = params
	p.s.Publish(session.Other, image.Rectangle{})
	p.changed(was)
}

// SetParam sets one parameter, like SetParams. The error is that of Spec.Set.
func (p *Preview) SetParam(spec processing.Spec, v float64) error {
	params := p.s.Settings().Params
	if err := spec.Set(&params, v); err != nil {
		return err
	}
	p.SetParams(params)
	return nil
}

// TakeOver switches to manual mode with the detection parameters of the last detection.
func (p *Preview) TakeOver() {
	params := p.s.Settings().Params.WithStage(processing.StageDetection, p.s.Document().Result().Params)
	params.Mode = processing.Manual
	p.SetParams(params)
}

// UseLearned adds what was learned to the parameters; nil removes it.
func (p *Preview) UseLearned(l *processing.Learned) {
	params := p.s.Settings().Params
	params.Learned = l
	p.SetParams(params)
}

// followsParams reports whether the mask follows changes of the parameters: a detection has run, and another one would
// lose no work of the user.
func (p *Preview) followsParams() bool {
	return p.s.Document() != nil && p.s.Document().Result() != nil && p.s.Document().Untouched()
}

// onlyDecides reports whether a detection with the current parameters only has to decide about known components.
func (p *Preview) onlyDecides() bool { return p.s.Table().Serves(p.s.Settings().Params) }

// changed follows a change of the parameters from those before. The visible part of the picture comes first if the
// detection has to do more than decide. If a job already follows the parameters, another one follows it, and a
// detection of the whole picture is cancelled.
func (p *Preview) changed(before processing.Params) {
	if p.phase == idle {
		p.followed = before
	}
	p.happens(changed, glare.Outcome{}, nil)
}

// needed returns the phase that would follow the present parameters.
func (p *Preview) needed() phase {
	switch {
	case p.s.Busy():
		return idle
	case p.followsParams() && p.detectsOtherwise():
		switch {
		case p.onlyDecides():
			return deciding
		case p.o.Visible == nil || len(p.s.Document().Ignored()) > 0:
			return whole
		}
		return part
	case p.s.Document() != nil && correctsOtherwise(p.followed, p.s.Settings().Params):
		f, ok := p.s.Document().Selected()
		if ok && f.Decision != document.Ignored && f.State != document.Uncorrected {
			return correcting
		}
	}
	return idle
}

// happens enters the phase after an event and begins its job. o and err are the result of the job that has ended.
func (p *Preview) happens(e event, o glare.Outcome, err error) {
	was := p.phase
	p.phase = was.next(e, p.needed())
	switch {
	case e == changed && p.phase == staleWhole:
		p.showDecision()
		p.s.Cancel()
	case e == changed && was != idle:
		p.showDecision()
	case p.phase != idle:
		p.begin()
	case was != idle:
		p.s.Document().DropPart()
		p.s.Publish(session.Other, image.Rectangle{})
	}
	if was.announces(e) && p.o.Announce != nil {
		p.o.Announce(o, err)
	}
	if after := p.after; p.phase == idle && after != nil {
		p.after = nil
		after()
	}
}

// begin begins the job of the phase.
func (p *Preview) begin() {
	p.followed = p.s.Settings().Params
	switch p.phase {
	case part:
		p.showPart(p.o.Visible())
	case whole, deciding:
		p.showDecision()
		p.showWhole()
	case correcting:
		f, _ := p.s.Document().Selected()
		p.s.Settle()
		p.glare.CorrectFor(session.Other, map[int]processing.Method{f.ID: f.Asked},
			p.s.Document().PreviewCorrection, p.done)
	}
}

// done handles the end of the job.
func (p *Preview) done(o glare.Outcome, err error) {
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
func (p *Preview) showDecision() {
	if !p.followsParams() || !p.onlyDecides() || p.o.Visible == nil || len(p.s.Document().Ignored()) > 0 {
		return
	}
	decision, err := processing.DefaultDecision()
	if err != nil {
		return
	}
	visible := p.o.Visible().Intersect(image.Rectangle{Max: p.s.Document().Size()})
	mask, ok := detect.DecidePart(p.s.Table(), decision, p.s.Settings().Params, p.s.Document().Region(), visible)
	if !ok || visible.Empty() {
		return
	}
	if pixels, err := p.s.Document().ShowPart(mask, visible.Min); err == nil {
		p.s.Publish(session.Other, pixels)
	}
}

// showPart detects in the visible part of the picture and shows the result.
func (p *Preview) showPart(visible image.Rectangle) {
	type shown struct {
		mask *processing.Mask
		at   image.Point
	}
	doc, params := p.s.Document(), p.s.Settings().Params
	o := detect.Options{Region: doc.Region()}
	do := func(ctx context.Context, report processing.Progress) (*shown, error) {
		o.Progress = report
		part, ok, err := detect.NewPart(doc.Picture().Visible(), params, o, visible)
		if err != nil || !ok || !p.worthAPart(part.Area, doc.Size()) {
			return nil, err
		}
		r, _, err := p.engine.Detect(ctx, part.Picture, params, part.Options)
		if err != nil {
			return nil, err
		}
		mask, at := part.Mask(r)
		return &shown{mask, at}, nil
	}
	p.s.EndDrawing()
	session.Begin(p.s, session.Other, do, func(made *shown) (image.Rectangle, error) {
		if made == nil || !p.followsParams() {
			return image.Rectangle{}, nil
		}
		return doc.ShowPart(made.mask, made.at)
	}, func(_ *shown, err error) { p.done(glare.Outcome{}, err) })
}

// worthAPart reports whether detection in an area takes clearly less time than in the whole picture.
func (p *Preview) worthAPart(area image.Rectangle, size image.Point) bool {
	return float64(area.Dx()*area.Dy()) <= p.o.PartShare*float64(size.X*size.Y)
}

// showWhole detects in the whole picture. A part that is shown stays until then.
func (p *Preview) showWhole() {
	p.s.EndDrawing()
	p.glare.DetectFor(func(f document.Found) image.Rectangle {
		if !p.s.Document().Untouched() {
			// Do not overwrite what the user has painted meanwhile.
			return image.Rectangle{}
		}
		return p.s.Document().PreviewFound(f)
	}, p.done)
}

// Previewing reports whether the running job follows a change of the parameters.
func (p *Preview) Previewing() bool { return p.phase != idle && p.s.Busy() }

// AfterPreview calls do when the job that follows a change of the parameters has ended, and only the last do if it is
// called several times. If no such job runs, queued is false and do is not called.
func (p *Preview) AfterPreview(do func()) (queued bool) {
	if !p.Previewing() {
		return false
	}
	p.after = do
	return true
}

// correctsOtherwise reports whether parameters of correction differ.
func correctsOtherwise(a, b processing.Params) bool {
	return a.WithStage(processing.StageCorrection, b) != a
}

// detectsOtherwise reports whether the parameters are not those that the last detection was asked with.
func (p *Preview) detectsOtherwise() bool {
	params := p.s.Settings().Params
	return session.AskedWith(params, p.s.Document().Result()) != params
}
