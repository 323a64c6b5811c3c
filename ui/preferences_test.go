package ui

import (
	"testing"

	"fyne.io/fyne/v2"

	"blik/internal/test/testpic"
	"blik/ui/look"
	"blik/ui/xwidget"
)

// Each preference is a setting and shows its current value.
func TestPreferences(t *testing.T) {
	testpic.NoRace(t)
	h := newHarness(t, "en").opened()
	h.c.session.Settings().InterfaceScale = 1.5
	var choices []*xwidget.Select
	var reports *xwidget.Check
	for _, o := range h.preferences().(*fyne.Container).Objects {
		switch c := o.(type) {
		case *xwidget.Select:
			choices = append(choices, c)
		case *xwidget.Check:
			reports = c
		}
	}
	if len(choices) != 4 || reports == nil || choices[2].Selected != "150\u00a0%" || !reports.Checked {
		t.Fatalf("%d choices, report %v", len(choices), reports)
	}
	choices[1].SetSelected("High contrast")
	choices[2].SetSelected("Follow system")
	choices[3].SetSelected("200\u00a0%")
	reports.SetChecked(false)
	s := h.c.session.Settings()
	if s.Appearance != string(look.Contrast) || s.InterfaceScale != 0 || s.ReviewZoom != 2 || s.WriteReport {
		t.Errorf("settings %+v", s)
	}
	if h.panel.correction.report.Checked {
		t.Error("the panel shows another choice of the report")
	}
	choices[0].SetSelected("Русский")
	if h.k.texts.Code() != "ru" || s.Language != "ru" {
		t.Error("the language did not change")
	}
	h.k.actions.do("edit.preferences")
	if !h.dialogOpen() {
		t.Error("no dialog is shown")
	}
}
