package session

import (
	"context"
	"errors"
	"image"

	"blik/app/job"
	"blik/app/view"
	"blik/processing"
	"blik/processing/detect"
)

// Look is a layer of detection: its values, and its view in false colours.
type Look struct {
	Map  *processing.LayerMap
	View *view.Pyramid
}

// Levels holds the number of pixels of each level, 0…255, in the whole picture and inside the search region. Inside is
// nil if no region is set.
type Levels struct{ All, Inside []uint64 }

// Inspect computes a layer of detection for a part of the picture, with the current parameters, in parallel with other
// work. It cancels an earlier Inspect. progress may be nil. done gets the result or an error, which is context.Canceled
// after StopInspecting. done is not called if Inspect is called again before, or if the picture is no longer open.
func (s *Session) Inspect(layer processing.Layer, part image.Rectangle, progress func(job.Update),
	done func(Look, error),
) {
	pic, params := s.doc.Picture(), s.settings.Params
	table := s.table
	runLatest(s, &s.inspecting, func(ctx context.Context, report processing.Progress) (l Look, err error) {
		l.Map, err = s.engine.Inspect(ctx, pic, params, detect.LayerOptions{
			LayerOptions: processing.LayerOptions{Layer: layer, Rect: part, Progress: report}, Table: table,
		})
		if err == nil {
			l.View, err = view.NewLayer(ctx, l.Map)
		}
		return l, err
	}, progress, done)
}

// StopInspecting cancels Inspect.
func (s *Session) StopInspecting() {
	s.inspecting.next = nil
	s.inspecting.jobs.Cancel()
}

// CountLevels counts the levels of the picture and of the search region, in parallel with other work. It cancels an
// earlier CountLevels; for done see Inspect.
func (s *Session) CountLevels(done func(Levels, error)) {
	pic, region := s.doc.Picture(), s.doc.Region()
	runLatest(s, &s.counting, func(ctx context.Context, _ processing.Progress) (l Levels, err error) {
		l.All, l.Inside, err = s.engine.Levels(ctx, pic, region)
		return l, err
	}, nil, done)
}

// latest runs one job at a time, in parallel with the session's job. Of several that wait, only the last one runs.
type latest struct {
	jobs *job.Runner
	// next starts the job that waits; nil for none.
	next func()
}

// runLatest cancels the running job of l, if any, and starts work when it has ended.
func runLatest[T any](s *Session, l *latest, work job.Work[T], progress func(job.Update), done func(T, error)) {
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

// Inspect ignores the notice of the device, because it is only for display.
func (e engine) Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.LayerOptions) (
	m *processing.LayerMap, err error,
) {
	part := o.Rect.Intersect(image.Rect(0, 0, pic.Width, pic.Height))
	_, err = e.runner.Run(ctx, part.Dx()*part.Dy(), func(ctx context.Context, b processing.Backend) error {
		m, err = detect.Inspect(ctx, b, pic.Visible(), p, o)
		return err
	})
	return m, err
}

// Levels ignores the notice of the device, like Inspect.
func (e engine) Levels(ctx context.Context, pic *processing.Picture, region *processing.Region) (
	all, inside []uint64, err error,
) {
	_, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		all, inside, err = processing.LevelHistogram(ctx, b, pic.Visible(), region)
		return err
	})
	return all, inside, err
}

// StopCounting cancels CountLevels.
func (s *Session) StopCounting() {
	s.counting.next = nil
	s.counting.jobs.Cancel()
}
