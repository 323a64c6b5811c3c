package analysis

import (
	"context"
	"errors"
	"image"

	"blik/app/session"
	"blik/processing"
)

// Masks reads masks; store.Files implements it.
type Masks interface {
	ReadMask(ctx context.Context, path string, w, h int, anyPicture bool) (*processing.Mask, error)
}

// Analysis computes layers of detection, histograms and close-ups of the open picture, and compares its mask with
// another one.
type Analysis struct {
	s      *session.Session
	engine session.Engine
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

func New(s *session.Session, e session.Engine, masks Masks) *Analysis {
	a := &Analysis{s: s, engine: e, masks: masks}
	a.inspecting.jobs, a.counting.jobs, a.trying.jobs = s.Beside(), s.Beside(), s.Beside()
	s.AddModule(session.Module{Changed: a.changed, Close: func(ctx context.Context) error {
		return errors.Join(a.inspecting.jobs.Close(ctx), a.counting.jobs.Close(ctx), a.trying.jobs.Close(ctx))
	}})
	return a
}

func (a *Analysis) changed(c *session.Change) {
	if c.Document {
		a.compared, a.tried, a.trials = nil, trial{}, nil
	}
	c.Compared = a.compared != a.told
	a.told = a.compared
}
