package analysis

import (
	"context"
	"errors"
	"image"

	"blik/app/job"
	"blik/app/session"
	"blik/app/view"
	"blik/processing"
	"blik/processing/detect"
)

// Look is a layer of detection: its values, and its view in false colours.
type Look struct {
	Map  *detect.LayerMap
	View *view.Pyramid
}

// Levels holds the number of pixels of each level, 0…255, in the whole picture and inside the search region. Inside is
// nil if no region is set.
type Levels struct{ All, Inside []uint64 }

// Inspect computes a layer of detection for a part of the picture, with the current parameters, in parallel with other
// work. It cancels an earlier Inspect. progress may be nil. done gets the result or an error, which is context.Canceled
// after StopInspecting. done is not called if Inspect is called again before, or if the picture is no longer open.
func (a *Analysis) Inspect(layer detect.Layer, part image.Rectangle, progress func(job.Update),
	done func(Look, error),
) {
	pic, params := a.s.Document().Picture(), a.s.Settings().Params
	table := a.s.Table()
	runLatest(a.s, &a.inspecting, func(ctx context.Context, report processing.Progress) (l Look, err error) {
		l.Map, err = a.engine.Inspect(ctx, pic, params, detect.LayerOptions{
			Layer: layer, Rect: part, Progress: report, Table: table,
		})
		if err == nil {
			l.View, err = view.NewLayer(ctx, l.Map)
		}
		return l, err
	}, progress, done)
}

// Computing reports whether Inspect, CountLevels or Try is running.
func (a *Analysis) Computing() bool {
	return a.inspecting.jobs.Busy() || a.counting.jobs.Busy() || a.trying.jobs.Busy()
}

// StopInspecting cancels Inspect.
func (a *Analysis) StopInspecting() {
	a.inspecting.cancel()
}

// CountLevels counts the levels of the picture and of the search region, in parallel with other work. It cancels an
// earlier CountLevels; for done see Inspect.
func (a *Analysis) CountLevels(done func(Levels, error)) {
	pic, region := a.s.Document().Picture(), a.s.Document().Region()
	runLatest(a.s, &a.counting, func(ctx context.Context, _ processing.Progress) (l Levels, err error) {
		l.All, l.Inside, err = a.engine.Levels(ctx, pic, region)
		return l, err
	}, nil, done)
}

// cancel ends the running job and drops the one that waits.
func (l *latest) cancel() {
	l.next = nil
	l.jobs.Cancel()
}

// latest runs one job at a time, in parallel with the session's job. Of several that wait, only the last one runs.
type latest struct {
	jobs *job.Runner
	// next starts the job that waits; nil for none.
	next func()
}

// runLatest cancels the running job of l, if any, and starts work when it has ended.
func runLatest[T any](s *session.Session, l *latest, work job.Work[T], progress func(job.Update), done func(T, error)) {
	doc := s.Document()
	begin := func() {
		err := job.Start(l.jobs, work, progress, func(v T, err error) {
			if next := l.next; next != nil {
				l.next = nil
				next()
				return
			}
			if s.Document() == doc {
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

// StopCounting cancels CountLevels.
func (a *Analysis) StopCounting() {
	a.counting.cancel()
}
