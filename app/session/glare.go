package session

import (
	"context"
	"image"
	"slices"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Outcome says what a detection or a correction did.
type Outcome struct {
	// Count is the number of findings detected or, with Corrected, corrected.
	Count     int
	Corrected bool
	// Took is the time that the work took on Device. Notice, if not nil, is a sentence for the user about the device.
	Took   time.Duration
	Device string
	Notice *message.Message
}

// Detect detects glare in the search region with the current parameters and replaces the mask there.
func (s *Session) Detect(done func(Outcome, error)) {
	s.settle()
	s.detect(s.doc.ApplyFound, done)
}

// detect is Detect; apply applies the result to the document.
func (s *Session) detect(apply func(document.Found) image.Rectangle, done func(Outcome, error)) {
	var outcome Outcome
	shot, params, table := s.doc.Snapshot(), s.settings.Params, s.table
	work := func(ctx context.Context, report processing.Progress) (document.Found, error) {
		begun := time.Now()
		r, notice, err := s.engine.Detect(ctx, shot.Picture, params,
			detect.Options{Region: shot.Region, Progress: report, Table: table})
		if err != nil {
			return document.Found{}, err
		}
		outcome = Outcome{Count: len(r.Findings), Took: time.Since(begun), Device: r.Device, Notice: notice}
		if r.Table != nil {
			table = r.Table
		}
		return shot.Found(&r.Result, shot.Region)
	}
	begin(s, Detected, work, func(f document.Found) (image.Rectangle, error) {
		s.detectedWith, s.table = params, table
		return apply(f), nil
	}, func(_ document.Found, err error) { done(outcome, err) })
}

// Previewing reports whether the running job follows a change of the parameters.
func (s *Session) Previewing() bool { return s.preview.phase != idle && s.Busy() }

// AfterPreview calls do when the job that follows a change of the parameters has ended, and only the last do if it is
// called several times. If no such job runs, queued is false and do is not called.
func (s *Session) AfterPreview(do func()) (queued bool) {
	if !s.Previewing() {
		return false
	}
	s.preview.after = do
	return true
}

// correctsOtherwise reports whether parameters of correction differ.
func correctsOtherwise(a, b processing.Params) bool {
	return WithStage(a, b, processing.StageCorrection) != a
}

// detectsOtherwise reports whether parameters of detection differ.
func detectsOtherwise(a, b processing.Params) bool {
	return WithStage(a, b, processing.StageDetection) != a || a.Learned != b.Learned
}

// CorrectAll corrects every finding with the method chosen for it, or else with that of the parameters.
func (s *Session) CorrectAll(done func(Outcome, error)) {
	s.settle()
	methods := map[int]processing.Method{}
	for _, f := range s.doc.Spots() {
		methods[f.ID] = f.Asked
	}
	s.correct(CorrectedSpots, methods, s.applyCorrection, done)
}

// CorrectSelected corrects the selected finding with a method; MethodAuto means that of the parameters. If none is
// selected, or an ignored one, it does nothing and done is not called.
func (s *Session) CorrectSelected(m processing.Method, done func(Outcome, error)) {
	s.settle()
	if f, ok := s.doc.Selected(); ok && f.Decision != document.Ignored {
		s.correct(CorrectedSpots, map[int]processing.Method{f.ID: m}, s.applyCorrection, done)
	}
}

// CorrectListed corrects all listed findings of the mask with a method; MethodAuto means that of the parameters.
// CorrectAll will use the same method for them again. It returns their number; if that is 0, done is not called.
func (s *Session) CorrectListed(m processing.Method, done func(Outcome, error)) int {
	s.settle()
	methods := map[int]processing.Method{}
	for _, f := range s.Listed() {
		if f.Decision != document.Ignored {
			methods[f.ID] = m
		}
	}
	if len(methods) > 0 {
		s.correct(CorrectedSpots, methods, s.applyCorrection, done)
	}
	return len(methods)
}

// corrected is a correction with the findings that were corrected.
type corrected struct {
	spots  []processing.Spot
	result *processing.Correction
}

// applyCorrection applies a correction to the document.
func (s *Session) applyCorrection(c *processing.Correction, spots []processing.Spot, p processing.Params) error {
	_, err := s.doc.ApplyCorrection(c, spots, p)
	return err
}

// correct corrects the findings whose IDs are the keys of methods, each with its method; apply applies the result to
// the document.
func (s *Session) correct(cause Cause, methods map[int]processing.Method,
	apply func(*processing.Correction, []processing.Spot, processing.Params) error, done func(Outcome, error),
) {
	var outcome Outcome
	params, shot := s.settings.Params, s.doc.Snapshot()
	work := func(ctx context.Context, report processing.Progress) (corrected, error) {
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
		r, notice, err := s.engine.Correct(ctx, shot.Picture, mask, params,
			processing.CorrectOptions{Spots: spots, Progress: report})
		if err != nil {
			return corrected{}, err
		}
		outcome = Outcome{0, true, time.Since(begun), r.Device, notice}
		for i := range r.Patches {
			n, err := imagefile.ChangedPixels(shot.Picture, &r.Patches[i])
			if err != nil {
				return corrected{}, err
			}
			if n > 0 {
				outcome.Count++
			}
		}
		return corrected{spots, r}, nil
	}
	begin(s, cause, work, func(c corrected) (image.Rectangle, error) {
		return image.Rectangle{}, apply(c.result, c.spots, params)
	}, func(_ corrected, err error) { done(outcome, err) })
}

// Step is what the user will probably want to do next.
type Step uint8

// The steps, in order.
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

// Next returns the next step and the number of findings that it concerns.
func (s *Session) Next() (step Step, findings int) {
	if s.doc == nil {
		return StepOpen, 0
	}
	found, done := countFindings(s.doc)
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
