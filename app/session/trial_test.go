package session_test

import (
	"context"
	"errors"
	"image"
	"slices"
	"testing"

	"blik/app/document"
	"blik/processing"
)

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
		f.Try(spot, 20, func(made []image.Image, err error) {
			f.ok(err)
			got = made
		})
		immediately = got != nil
		f.inspected()
		return immediately
	}
	if try() || len(got) != 4 {
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
	// What is tried is what a correction gives.
	_, after := f.Closeups(f.Document().Spots()[0], 20)
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
