//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"slices"
	"sync"
	"time"

	"gorgonia.org/cu"

	"blik/processing"
)

// The stages of copies between host and device. Their time is not part of the stage in which they happen.
const (
	stageUpload   = "upload"
	stageDownload = "download"
)

// span is the interval between two events of the stream.
type span struct {
	name string
	// within is the stage in which a copy happened, or empty.
	within     string
	start, end cu.Event
	ended      bool
}

// stages keeps the events since the last call of Timings, and spare ones. They belong to the operation that holds the
// device.
type stages struct {
	spans []*span
	spare []cu.Event
	open  []string
}

// event records one.
func (s *stages) event(d *device) (e cu.Event, err error) {
	if n := len(s.spare); n > 0 {
		e, s.spare = s.spare[n-1], s.spare[:n-1]
	} else if e, err = d.event(); err != nil {
		return e, err
	}
	if err = d.fault(e.Record(d.stream), "record an event"); err != nil {
		s.spare = append(s.spare, e)
	}
	return e, err
}

// begin records the start of a span; nil if the device does not answer.
func (s *stages) begin(d *device, name, within string) *span {
	e, err := s.event(d)
	if err != nil {
		return nil
	}
	v := &span{name: name, within: within, start: e}
	s.spans = append(s.spans, v)
	return v
}

func (s *stages) finish(d *device, v *span) {
	if v == nil || v.ended {
		return
	}
	e, err := s.event(d)
	if err == nil {
		v.end, v.ended = e, true
	}
}

func (s *stages) close() {
	for _, v := range s.spans {
		_ = cu.DestroyEvent(&v.start)
		if v.ended {
			_ = cu.DestroyEvent(&v.end)
		}
	}
	for i := range s.spare {
		_ = cu.DestroyEvent(&s.spare[i])
	}
	*s = stages{}
}

// Stage starts a named stage, timed by events of the device's stream; only the first call of the result counts.
func (b *Backend) Stage(name string) (end func()) {
	var v *span
	_ = b.device.do(func() error {
		v = b.stages.begin(b.device, name, "")
		b.stages.open = append(b.stages.open, name)
		return nil
	})
	var once sync.Once
	return func() {
		once.Do(func() {
			_ = b.device.do(func() error {
				b.stages.finish(b.device, v)
				if i := slices.Index(b.stages.open, name); i >= 0 {
					b.stages.open = slices.Delete(b.stages.open, i, i+1)
				}
				return nil
			})
		})
	}
}

// copying times a copy, or other work within a stage, as a separate stage.
func (q *queue) copying(name string, f func() error) error {
	s, within := &q.b.stages, ""
	if n := len(s.open); n > 0 {
		within = s.open[n-1]
	}
	v := s.begin(q.d, name, within)
	defer s.finish(q.d, v)
	return f()
}

// Timings returns the stages that ended since the last call, in the order of their first start. One that still runs is
// reported by a later call.
func (b *Backend) Timings() []processing.StageTime {
	var times []processing.StageTime
	_ = b.device.do(func() error {
		s := &b.stages
		if err := b.device.synchronize(); err != nil {
			return err
		}
		add := func(name string, t time.Duration) {
			i := slices.IndexFunc(times, func(t processing.StageTime) bool { return t.Name == name })
			if i < 0 {
				times = append(times, processing.StageTime{Name: name})
				i = len(times) - 1
			}
			times[i].Time += t
		}
		ended := s.spans
		s.spans = nil
		for _, v := range ended {
			if !v.ended {
				s.spans = append(s.spans, v)
				continue
			}
			s.spare = append(s.spare, v.start, v.end)
			ms, err := v.start.Elapsed(v.end)
			if b.device.fault(err, "read an event") != nil {
				continue
			}
			t := time.Duration(ms * float64(time.Millisecond))
			add(v.name, t)
			if v.within != "" {
				add(v.within, -t)
			}
		}
		return nil
	})
	return times
}
