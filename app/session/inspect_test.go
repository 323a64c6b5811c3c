package session_test

import (
	"context"
	"errors"
	"image"
	"testing"

	"blik/app/document"
	"blik/app/session"
	"blik/app/session/analysis"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// inspected runs callbacks until inspecting and counting have ended.
func (f *fake) inspected() {
	f.t.Helper()
	for f.Computing() {
		(<-f.queue)()
	}
}

// Of several calls of Inspect only the last one calls done, and none does once another picture is open.
func TestInspectAnswersTheLast(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("a.png")
	all := image.Rectangle{Max: f.Document().Size()}
	var got []string
	look := func(layer detect.Layer) {
		f.Inspect(layer, all, nil, func(l analysis.Look, err error) {
			f.ok(err)
			got = append(got, l.Map.Spec.ID)
			if l.View == nil || l.View.Area() != l.Map.Rect {
				t.Errorf("%+v", l)
			}
		})
	}
	look(detect.LayerLevel)
	look(detect.LayerContrast)
	look(detect.LayerStarlet)
	if f.Busy() {
		t.Error("looking counts as the job")
	}
	f.inspected()
	if len(got) != 1 || got[0] != "wavelet" {
		t.Errorf("answered: %v", got)
	}
	look(detect.LayerScore)
	doc, err := document.New("b.png", testpic.Flat(40, 30, 3, 90))
	if err != nil {
		t.Fatal(err)
	}
	f.Show(session.Open{Doc: doc})
	f.inspected()
	if len(got) != 1 {
		t.Errorf("a picture that is no longer open is answered: %v", got)
	}
}

// StopInspecting reports context.Canceled and leaves nothing waiting.
func TestStopInspecting(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("a.png")
	all := image.Rectangle{Max: f.Document().Size()}
	var errs []error
	note := func(_ analysis.Look, err error) { errs = append(errs, err) }
	f.Inspect(detect.LayerLevel, all, nil, note)
	f.Inspect(detect.LayerStarlet, all, nil, note)
	f.StopInspecting()
	f.inspected()
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("answered: %v", errs)
	}
	f.Inspect(detect.LayerLevel, image.Rect(-9, -9, 0, 0), nil, note)
	f.inspected()
	if len(errs) != 2 || !errors.Is(errs[1], detect.ErrOutside) {
		t.Errorf("beside the picture: %v", errs)
	}
}

// The region has its own histogram, which counts each of its pixels.
func TestCountLevels(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("a.png")
	size := f.Document().Size()
	f.ok(f.SetRegion(&processing.Region{
		Shape: processing.RectangleShape, Points: []processing.Point{{X: 1, Y: 1}, {X: 5, Y: 4}},
	}))
	calls := 0
	f.CountLevels(func(l analysis.Levels, err error) {
		f.ok(err)
		calls++
		sum := func(bins []uint64) (n uint64) {
			for _, b := range bins {
				n += b
			}
			return n
		}
		if sum(l.All) != uint64(size.X*size.Y) || sum(l.Inside) != 12 {
			t.Errorf("%d and %d pixels", sum(l.All), sum(l.Inside))
		}
	})
	f.inspected()
	if calls != 1 {
		t.Errorf("%d answers", calls)
	}
}
