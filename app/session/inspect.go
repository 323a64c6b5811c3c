package session

import (
	"context"
	"errors"
	"image"

	"blik/app/job"
	"blik/app/view"
	"blik/processing"
)

// Look is a layer of detection, in numbers and as the screen shows it.
type Look struct {
	Map  *processing.LayerMap
	View *view.Pyramid
}

// Levels count the pixels of each level, 0…255, in the whole picture and in the search region, nil without one.
type Levels struct{ All, Inside []uint64 }

// Inspect computes a layer of a part of the picture, as a detection with the current parameters does, beside other
// work; one that was asked for before is cancelled. progress may be nil. done gets the result, or context.Canceled; it
// is not called where another was asked for, or where the picture is no longer open.
func (s *Session) Inspect(layer processing.Layer, part image.Rectangle, progress func(job.Update),
	done func(Look, error),
) {
	pic, params := s.doc.Picture(), s.settings.Params
	// A detection may fill the memory that it is given while this one is read.
	memory := *s.memory
	ask(s, &s.looking, func(ctx context.Context, report processing.Progress) (l Look, err error) {
		l.Map, err = s.engine.Inspect(ctx, pic, params, processing.LayerOptions{
			Layer: layer, Rect: part, Progress: report, Memory: &memory,
		})
		if err == nil {
			l.View, err = view.NewLayer(ctx, l.Map)
		}
		return l, err
	}, progress, done)
}

// StopInspecting cancels what Inspect has begun.
func (s *Session) StopInspecting() {
	s.looking.next = nil
	s.looking.jobs.Cancel()
}

// CountLevels counts the levels of the picture and of the search region beside other work; a count that was asked for
// before is cancelled. done is called as by Inspect.
func (s *Session) CountLevels(done func(Levels, error)) {
	pic, region := s.doc.Picture(), s.doc.Region()
	ask(s, &s.counting, func(ctx context.Context, _ processing.Progress) (l Levels, err error) {
		l.All, l.Inside, err = s.engine.Levels(ctx, pic, region)
		return l, err
	}, nil, done)
}

// latest does one thing at a time beside the session's job, of those asked for only the last.
type latest struct {
	jobs *job.Runner
	// next begins what was asked for meanwhile.
	next func()
}

// ask does work when what was asked for before has ended, which it cancels.
func ask[T any](s *Session, l *latest, work job.Work[T], progress func(job.Update), done func(T, error)) {
	doc := s.doc
	begin := func() {
		err := job.Start(l.jobs, work, progress, func(v T, err error) {
			if next := l.next; next != nil {
				l.next = nil
				next()
				return
			}
			if s.doc == doc {
				done(v, err)
			}
		})
		if err != nil && !errors.Is(err, job.ErrClosed) {
			var none T
			done(none, err)
		}
	}
	if l.jobs.Busy() {
		l.next = begin
		l.jobs.Cancel()
		return
	}
	begin()
}

// Inspect computes on the device; what that has to say is of no use to somebody who looks.
func (e engine) Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o processing.LayerOptions) (
	m *processing.LayerMap, err error,
) {
	part := o.Rect.Intersect(image.Rect(0, 0, pic.Width, pic.Height))
	_, err = e.runner.Run(ctx, part.Dx()*part.Dy(), func(ctx context.Context, b processing.Backend) error {
		m, err = processing.Inspect(ctx, b, pic, p, o)
		return err
	})
	return m, err
}

// Levels counts on the device.
func (e engine) Levels(ctx context.Context, pic *processing.Picture, region *processing.Region) (
	all, inside []uint64, err error,
) {
	_, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		all, inside, err = processing.LevelHistogram(ctx, b, pic, region)
		return err
	})
	return all, inside, err
}

// StopCounting cancels what CountLevels has begun.
func (s *Session) StopCounting() {
	s.counting.next = nil
	s.counting.jobs.Cancel()
}
