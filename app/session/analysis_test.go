package session_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"slices"
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

// A close-up shows the pixels around a finding at 200 %, before and, once it is corrected, after.
func TestCloseups(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	f.Detect(f.outcome)
	f.settle()
	spot := f.Document().Spots()[0]
	before, after := f.Closeups(spot, 20)
	if before.Bounds() != image.Rect(0, 0, 20, 20) || after != nil {
		t.Fatalf("%v, %v before the correction", before.Bounds(), after)
	}
	f.CorrectAll(f.outcome)
	f.settle()
	spot = f.Document().Spots()[0]
	before, after = f.Closeups(spot, 20)
	// The finding at (5, 4) is in the middle of the ten columns from 0 and of the ten rows from −1.
	for y := range 20 {
		for x := range 20 {
			want := color.NRGBA{100, 100, 100, 255}
			if y < 2 {
				want = color.NRGBA{118, 118, 118, 255}
			}
			if got := before.At(x, y); got != want {
				t.Fatalf("(%d, %d) was %v, want %v", x, y, got, want)
			}
			if x/2 == 5 && y/2 == 5 {
				want = color.NRGBA{7, 7, 7, 255}
			}
			if got := after.At(x, y); got != want {
				t.Fatalf("(%d, %d) is %v, want %v", x, y, got, want)
			}
		}
	}
	// A finding larger than the close-up is shown as a whole, even if the picture is smaller.
	f.BeginStroke(document.Brush{Radius: 10}, f.middle())
	f.EndStroke()
	for _, s := range f.Document().Spots() {
		for _, side := range []int{1, 2, 19, 200} {
			before, _ := f.Closeups(s, side)
			if b := before.Bounds(); b.Empty() || b.Dx() > side || b.Dy() > side {
				t.Errorf("finding %v in %d pixels: %v", s.Bounds(), side, b)
			}
		}
	}
}

// A finding is tried by each method without being corrected. The pictures are kept until the mask or a parameter of
// correction changes.
func TestTry(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	f.Detect(f.outcome)
	f.settle()
	spot := f.Document().Spots()[0]
	var got []image.Image
	try := func() (immediately bool) {
		got = nil
		f.Try(spot, 110, func(made []image.Image, err error) {
			f.ok(err)
			got = made
		})
		immediately = got != nil
		f.inspected()
		return immediately
	}
	if try() || len(got) != len(processing.Methods()) {
		t.Fatalf("%d pictures", len(got))
	}
	if f.Corrected() {
		t.Error("trying corrects the picture")
	}
	f.CorrectAll(f.outcome)
	f.settle()
	if !try() {
		t.Error("what was tried is forgotten with a correction")
	}
	// What is tried is what a correction of all findings gives.
	_, after := f.Closeups(f.Document().Spots()[0], 110)
	same := func(m image.Image) bool {
		a, b := after.(*image.NRGBA), m.(*image.NRGBA)
		return slices.Equal(a.Pix, b.Pix)
	}
	if !slices.ContainsFunc(got, same) {
		t.Error("no picture is that of the correction")
	}
	p := f.Settings().Params
	p.Grain = 13
	f.SetParams(p)
	f.settle()
	if try() {
		t.Error("it was not tried with other parameters")
	}
	f.BeginStroke(document.Brush{Radius: 2}, processing.Point{X: 15, Y: 8})
	f.EndStroke()
	spot = f.Document().Spots()[0]
	if try() {
		t.Error("it was not tried with another mask")
	}
	p.Grain = 14
	f.SetParams(p)
	f.settle()
	var failed error
	f.Try(spot, 20, func(_ []image.Image, err error) { failed = err })
	f.StopTrying()
	f.inspected()
	if failed != nil && !errors.Is(failed, context.Canceled) {
		t.Error(failed)
	}
}
