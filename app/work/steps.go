package work

import (
	"context"
	"errors"
	"fmt"

	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// Engine detects and corrects glare. A notice, if not nil, is a sentence for the user about the device that was used.
type Engine interface {
	Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
		r *detect.Result, notice *message.Message, err error)
	Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
		o correct.Options) (c *correct.Correction, notice *message.Message, err error)
}

// Step is a step of the work on a picture that was read.
type Step uint8

// The steps, in their order.
const (
	Nothing Step = iota
	Finding
	Correcting
	Saving
)

// Sheet holds what is known about a picture while it is worked on. The command line starts with an empty one, the
// filmstrip with what its project holds.
type Sheet interface {
	// Next returns the next step.
	Next() Step
	// Found takes over what was found.
	Found(r *detect.Found) error
	// Choose returns what is to be corrected without anyone watching.
	Choose() (Choice, error)
	// Corrected takes over the correction of a choice.
	Corrected(c *correct.Correction, chosen Choice) error
	// Save writes the results.
	Save(ctx context.Context, progress processing.Progress) error
}

// Choice is what is to be corrected: the spots of a mask, all of them if Spots is nil; without a mask nothing.
type Choice struct {
	Mask  *processing.Mask
	Spots []processing.Spot
}

// Steps does the steps of the work on pictures.
type Steps struct {
	Engine Engine
	Params processing.Params
	Region *processing.Region
	// Until is the last step.
	Until    Step
	Progress processing.Progress
}

// Do does the steps that remain to be done with a picture, and reports whether anything was computed or saved.
func (s Steps) Do(ctx context.Context, pic *processing.Picture, sheet Sheet) (worked bool, err error) {
	for {
		step := sheet.Next()
		if step == Nothing || step > s.Until {
			return worked, nil
		}
		done := true
		switch step {
		case Finding:
			err = s.find(ctx, pic, sheet)
		case Correcting:
			done, err = s.correct(ctx, pic, sheet)
		case Saving:
			err = sheet.Save(ctx, s.progressOf(Saving))
		}
		if err != nil {
			return worked, err
		}
		worked = worked || done
	}
}

func (s Steps) find(ctx context.Context, pic *processing.Picture, sheet Sheet) error {
	r, _, err := s.Engine.Detect(ctx, pic, s.Params, detect.Options{Region: s.Region, Progress: s.progressOf(Finding)})
	if err != nil {
		return err
	}
	return sheet.Found(&r.Found)
}

func (s Steps) correct(ctx context.Context, pic *processing.Picture, sheet Sheet) (done bool, err error) {
	chosen, err := sheet.Choose()
	if err != nil || chosen.Mask == nil {
		return false, err
	}
	c, _, err := s.Engine.Correct(ctx, pic, chosen.Mask, s.Params,
		correct.Options{Spots: chosen.Spots, Progress: s.progressOf(Correcting)})
	if err != nil {
		return false, err
	}
	return true, sheet.Corrected(c, chosen)
}

// The approximate shares of the work on a file at which its parts end: reading, detection, correction; and detection,
// if nothing is corrected.
const (
	shareRead      = 0.15
	shareDetected  = 0.5
	shareCorrected = 0.85
	shareFound     = 0.9
)

// progressOf returns the progress function of a step.
func (s Steps) progressOf(step Step) processing.Progress {
	switch {
	case s.Until == Finding:
		return within(s.Progress, shareRead, shareFound)
	case step == Finding:
		return within(s.Progress, shareRead, shareDetected)
	case step == Correcting:
		return within(s.Progress, shareDetected, shareCorrected)
	}
	return within(s.Progress, shareCorrected, 1)
}

// within returns the progress function for a part of the work, between two shares of it.
func within(p processing.Progress, from, to float64) processing.Progress {
	return func(stage message.Message, done float64) { p(stage, from+done*(to-from)) }
}

// reporting is an Engine whose errors name the file, and which keeps the notices about the device.
type reporting struct {
	Engine
	t *task
}

func (e reporting) Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
	*detect.Result, *message.Message, error,
) {
	if r := o.Region; r != nil && errors.Is(r.Validate(pic.Width, pic.Height), processing.ErrRegionOutside) {
		return nil, nil, message.Errorf("%s: the region %s lies outside the picture of %d × %d pixels", e.t.input, r,
			pic.Width, pic.Height)
	}
	r, notice, err := e.Engine.Detect(ctx, pic, p, o)
	return r, nil, e.used(notice, err)
}

func (e reporting) Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
	o correct.Options,
) (*correct.Correction, *message.Message, error) {
	c, notice, err := e.Engine.Correct(ctx, pic, m, p, o)
	return c, nil, e.used(notice, err)
}

func (e reporting) used(notice *message.Message, err error) error {
	if notice != nil {
		e.t.remark(*notice)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.t.input, err)
	}
	return nil
}
