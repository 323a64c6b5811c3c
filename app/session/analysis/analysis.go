package analysis

import (
	"context"
	"errors"
	"image"

	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// Engine is the part of session.Engine that computes what is only looked at.
type Engine interface {
	Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.LayerOptions) (
		*detect.LayerMap, error)
	// Correct is correct.Correct.
	Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
		o correct.Options) (c *correct.Correction, notice *message.Message, err error)
	// Levels is detect.LevelHistogram.
	Levels(ctx context.Context, pic *processing.Picture, region *processing.Region) (all, inside []uint64, err error)
}

// Masks reads masks; store.Files implements it.
type Masks interface {
	ReadMask(ctx context.Context, path string, w, h int, anyPicture bool) (*processing.Mask, error)
}

// Analysis computes layers of detection, histograms and close-ups of the open picture, and compares its mask with
// another one.
type Analysis struct {
	s      *session.Session
	engine Engine
	masks  Masks
	// inspecting computes layers and counting histograms, in parallel with the session's job.
	inspecting, counting latest
	// trying computes trials, of which the last ones are kept.
	trying latest
	tried  trial
	trials []image.Image
	// compared is the mask to compare with, nil for none; told is that of the last Change.
	compared, told *compared
}

// New returns the analysis of a session.
func New(s *session.Session, e Engine, masks Masks) *Analysis {
	a := &Analysis{s: s, engine: e, masks: masks}
	a.inspecting.jobs, a.counting.jobs, a.trying.jobs = s.Beside(), s.Beside(), s.Beside()
	s.AddModule(session.Module{Changed: a.changed, Close: func(ctx context.Context) error {
		return errors.Join(a.inspecting.jobs.Close(ctx), a.counting.jobs.Close(ctx), a.trying.jobs.Close(ctx))
	}})
	return a
}

// changed is part of session.Module.
func (a *Analysis) changed(c *session.Change) {
	if c.Document {
		a.compared, a.tried, a.trials = nil, trial{}, nil
	}
	c.Compared = a.compared != a.told
	a.told = a.compared
}
