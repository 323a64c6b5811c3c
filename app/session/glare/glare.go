package glare

import (
	"context"
	"image"
	"slices"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// Outcome says what a detection or a correction did.
type Outcome struct {
	// Count is the number of findings detected or, with Corrected, corrected; in Unchanged of these no pixel changed.
	Count, Unchanged int
	Corrected        bool
	// Took is the time that the work took on Device. Notice, if not nil, is a sentence for the user about the device.
	Took   time.Duration
	Device string
	Notice *message.Message
}

// Glare finds glare in the open picture and corrects it, with the session's job.
type Glare struct {
	s      *session.Session
	engine work.Engine
}

func New(s *session.Session, e work.Engine) *Glare { return &Glare{s: s, engine: e} }

// Detect detects glare in the search region with the current parameters and replaces the mask there.
func (g *Glare) Detect(done func(Outcome, error)) {
	g.s.Settle()
	g.DetectFor(g.s.Document().ApplyFound, done)
}

// DetectFor is Detect for a result that apply applies to the document. It does not call session.Settle before.
func (g *Glare) DetectFor(apply func(document.Found) image.Rectangle, done func(Outcome, error)) {
	var outcome Outcome
	shot, params, table := g.s.Document().Snapshot(), g.s.Settings().Params, g.s.Table()
	do := func(ctx context.Context, report processing.Progress) (document.Found, error) {
		begun := time.Now()
		r, notice, err := g.engine.Detect(ctx, shot.Picture, params,
			detect.Options{Region: shot.Region, Progress: report, Table: table})
		if err != nil {
			return document.Found{}, err
		}
		outcome = Outcome{Count: len(r.Findings), Took: time.Since(begun), Device: r.Device, Notice: notice}
		if r.Table != nil {
			table = r.Table
		}
		return shot.Found(&r.Found, shot.Region)
	}
	session.Begin(g.s, session.Detected, do, func(f document.Found) (image.Rectangle, error) {
		g.s.KeepTable(table)
		return apply(f), nil
	}, func(_ document.Found, err error) { done(outcome, err) })
}

// CorrectAll corrects every finding with the method chosen for it, or else with that of the parameters.
func (g *Glare) CorrectAll(done func(Outcome, error)) {
	g.correctIf(func(document.Spot) bool { return true }, done)
}

// CorrectCertain is CorrectAll without the findings that a person should look at first.
func (g *Glare) CorrectCertain(done func(Outcome, error)) {
	g.correctIf(func(f document.Spot) bool { return !f.ToCheck() }, done)
}

func (g *Glare) correctIf(right func(document.Spot) bool, done func(Outcome, error)) {
	g.s.Settle()
	methods := map[int]processing.Method{}
	for _, f := range g.s.Document().Spots() {
		if right(f) {
			methods[f.ID] = f.Asked
		}
	}
	g.CorrectFor(session.CorrectedSpots, methods, g.s.Document().ApplyCorrection, done)
}

// CorrectSelected corrects the selected finding with a method; MethodAuto means that of the parameters. If none is
// selected, or an ignored one, it does nothing and done is not called.
func (g *Glare) CorrectSelected(m processing.Method, done func(Outcome, error)) {
	g.s.Settle()
	if f, ok := g.s.Document().Selected(); ok && f.Decision != document.Ignored {
		g.CorrectFor(session.CorrectedSpots, map[int]processing.Method{f.ID: m}, g.s.Document().ApplyCorrection, done)
	}
}

// CorrectThese corrects those of the findings of a list that are in the mask with a method; MethodAuto means that of
// the parameters. CorrectAll will use the same method for them again. It returns their number; if that is 0, done is
// not called.
func (g *Glare) CorrectThese(list func() []document.Spot, m processing.Method, done func(Outcome, error)) int {
	g.s.Settle()
	methods := map[int]processing.Method{}
	for _, f := range list() {
		if f.Decision != document.Ignored {
			methods[f.ID] = m
		}
	}
	if len(methods) > 0 {
		g.CorrectFor(session.CorrectedSpots, methods, g.s.Document().ApplyCorrection, done)
	}
	return len(methods)
}

// corrected is a correction with the findings that were corrected.
type corrected struct {
	spots  []processing.Spot
	result *correct.Correction
}

// CorrectFor corrects the findings whose IDs are the keys of methods, each with its method; apply applies the result to
// the document.
func (g *Glare) CorrectFor(cause session.Cause, methods map[int]processing.Method,
	apply func(*correct.Correction, []processing.Spot, processing.Params) error, done func(Outcome, error),
) {
	var outcome Outcome
	params, shot := g.s.Settings().Params, g.s.Document().Snapshot()
	do := func(ctx context.Context, report processing.Progress) (corrected, error) {
		begun := time.Now()
		mask := shot.Mask()
		// These have the same IDs as the findings of the document.
		spots := slices.DeleteFunc(processing.Spots(mask), func(f processing.Spot) bool {
			_, wanted := methods[f.ID]
			return !wanted
		})
		for i := range spots {
			spots[i].Method = methods[spots[i].ID]
		}
		r, notice, err := g.engine.Correct(ctx, shot.Picture, mask, params,
			correct.Options{Spots: spots, Progress: report})
		if err != nil {
			return corrected{}, err
		}
		outcome = Outcome{Count: len(r.Patches), Corrected: true, Took: time.Since(begun), Device: r.Device,
			Notice: notice}
		for i := range r.Patches {
			n, err := imagefile.ChangedPixels(shot.Picture, &r.Patches[i])
			if err != nil {
				return corrected{}, err
			}
			if n == 0 {
				outcome.Unchanged++
			}
		}
		return corrected{spots, r}, nil
	}
	session.Begin(g.s, cause, do, func(c corrected) (image.Rectangle, error) {
		return image.Rectangle{}, apply(c.result, c.spots, params)
	}, func(_ corrected, err error) { done(outcome, err) })
}

// RemoveCorrection restores the original at the selected finding.
func (g *Glare) RemoveCorrection() (ok bool) {
	if at, selected := g.s.Document().SelectedPixel(); selected {
		ok = g.s.Document().RemoveCorrection(at.X, at.Y)
	}
	g.s.Publish(session.Other, image.Rectangle{})
	return ok
}

// RemoveCorrections restores the original everywhere.
func (g *Glare) RemoveCorrections() (ok bool) {
	ok = g.s.Document().ClearCorrections()
	g.s.Publish(session.Other, image.Rectangle{})
	return ok
}
