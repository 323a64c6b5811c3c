package session

import (
	"context"
	"image"
	"slices"
	"time"

	"blik/app/document"
	"blik/internal/message"
	"blik/processing"
)

// Outcome says what a detection or a correction did.
type Outcome struct {
	// Count is the number of findings detected, or corrected.
	Count int
	// Took is the time that it took on Device; Notice, if not nil, is a sentence for the user on the device.
	Took   time.Duration
	Device string
	Notice *message.Message
}

// Detect looks for glare in the search region with the current parameters and updates the mask there.
func (s *Session) Detect(done func(Outcome, error)) {
	s.settle()
	var outcome Outcome
	doc, params, region := s.doc, s.settings.Params, s.doc.Region()
	work := func(ctx context.Context, report processing.Progress) (*processing.Result, error) {
		begun := time.Now()
		r, notice, err := s.engine.Detect(ctx, doc.Picture(), params,
			processing.Options{Region: region, Progress: report})
		if err == nil {
			outcome = Outcome{len(r.Findings), time.Since(begun), r.Device, notice}
		}
		return r, err
	}
	start(s, Detected, work, func(r *processing.Result) (image.Rectangle, error) { return doc.ApplyResult(r, region) },
		func(_ *processing.Result, err error) { done(outcome, err) })
}

// CorrectAll corrects every finding by the method chosen for it, or by that of the parameters.
func (s *Session) CorrectAll(done func(Outcome, error)) {
	s.settle()
	methods := map[int]processing.Method{}
	for _, f := range s.doc.Spots() {
		methods[f.ID] = f.Asked
	}
	s.correct(methods, done)
}

// CorrectSelected corrects the selected finding by a method; MethodAuto is that of the parameters.
func (s *Session) CorrectSelected(m processing.Method, done func(Outcome, error)) {
	s.settle()
	if f, ok := s.doc.Selected(); ok && f.Decision != document.Ignored {
		s.correct(map[int]processing.Method{f.ID: m}, done)
	}
}

// corrected is a correction with the findings that it was made of.
type corrected struct {
	spots  []processing.Spot
	result *processing.Correction
}

// correct corrects the findings with the given numbers by their methods.
func (s *Session) correct(methods map[int]processing.Method, done func(Outcome, error)) {
	var outcome Outcome
	doc, params, shot := s.doc, s.settings.Params, s.doc.Snapshot()
	work := func(ctx context.Context, report processing.Progress) (corrected, error) {
		begun := time.Now()
		mask := shot.Mask()
		// The document numbers the findings of a mask in the same order.
		spots := slices.DeleteFunc(processing.Spots(mask), func(f processing.Spot) bool {
			_, wanted := methods[f.ID]
			return !wanted
		})
		for i := range spots {
			spots[i].Method = methods[spots[i].ID]
		}
		r, notice, err := s.engine.Correct(ctx, shot.Picture, mask, params,
			processing.CorrectOptions{Spots: spots, Progress: report})
		if err == nil {
			outcome = Outcome{len(r.Patches), time.Since(begun), r.Device, notice}
		}
		return corrected{spots, r}, err
	}
	start(s, CorrectedSpots, work, func(c corrected) (image.Rectangle, error) {
		_, err := doc.ApplyCorrection(c.result, c.spots, params)
		return image.Rectangle{}, err
	}, func(_ corrected, err error) { done(outcome, err) })
}

// Step is what the user may want to do next.
type Step uint8

// The steps, in their order.
const (
	StepOpen Step = iota
	// StepDetect: there are no findings.
	StepDetect
	// StepCorrect: findings are not corrected.
	StepCorrect
	// StepSave: the corrected picture is not saved.
	StepSave
	// StepDone: everything is saved.
	StepDone
	// StepOverwritten: the findings are corrected in the original itself.
	StepOverwritten
)

// Next returns the next step, with the number of findings that it is about.
func (s *Session) Next() (step Step, findings int) {
	if s.doc == nil {
		return StepOpen, 0
	}
	found, done := 0, 0
	for _, f := range s.doc.Spots() {
		found++
		if f.State == document.Corrected {
			done++
		}
	}
	switch {
	case found == 0:
		return StepDetect, 0
	case done == 0 && s.doc.Generation() == s.overwritten:
		return StepOverwritten, found
	case done < found:
		return StepCorrect, found - done
	case s.doc.PictureDirty():
		return StepSave, done
	default:
		return StepDone, done
	}
}
