package ui

import (
	"image"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"blik/internal/test/uitest"
	"blik/processing"
	"blik/ui/xwidget"
)

// The correction tab shows the selected finding corrected by each method, only while it is in front; a press corrects
// by that method.
func TestMethodsOfTheSelectedFinding(t *testing.T) {
	h := found(t, "en")
	strip := h.panel.correction.methods
	none := func() bool {
		return !slices.ContainsFunc(strip.Pictures(), func(m image.Image) bool { return m != nil })
	}
	h.k.actions.do("find.next")
	if h.c.analysis.Computing() {
		t.Error("methods are tried though their tab is not in front")
	}
	wait := func() {
		for h.c.analysis.Computing() {
			(<-h.queue)()
		}
	}
	h.panel.tabs.SelectIndex(correctionTab)
	for none() {
		(<-h.queue)()
	}
	if slices.Contains(strip.Pictures(), nil) {
		t.Fatal("a method has no picture")
	}
	before := h.c.session.Document().Corrections()
	buttons := uitest.Find[*xwidget.PictureButton](strip.Object.(*fyne.Container))
	if len(buttons) != len(processing.Methods()) || !buttons[0].Selected() || buttons[0].Disabled() || before != nil {
		t.Fatalf("%d methods", len(buttons))
	}
	test.Tap(buttons[processing.MethodExemplar])
	h.settle()
	wait()
	f, _ := h.c.found.Selected()
	if f.Method != processing.MethodExemplar || !buttons[processing.MethodExemplar].Selected() || none() {
		t.Errorf("corrected by %v", f.Method)
	}
	h.k.actions.do("find.remove")
	wait()
	if !none() || !buttons[0].Disabled() {
		t.Error("methods are offered for a finding that is not in the mask")
	}
}
