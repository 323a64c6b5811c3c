package ui

import (
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
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
	if len(choices) != 5 || reports == nil || choices[2].Selected != "150\u00a0%" || !reports.Checked {
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
	place := choices[4]
	h.dialogs.path = "/results"
	place.SetSelected("Another folder…")
	if s.OutputFolder != "/results" || place.Selected != "/results" {
		t.Errorf("results go to %q, the choice says %q", s.OutputFolder, place.Selected)
	}
	if path, _, ok := h.c.store.SaveTarget(); !ok || path != filepath.Join("/results", "a_corrected.png") {
		t.Errorf("the picture is saved as %s", path)
	}
	h.dialogs.path = ""
	place.SetSelected("Another folder…")
	if s.OutputFolder != "/results" || place.Selected != "/results" {
		t.Errorf("after cancelling, results go to %q, the choice says %q", s.OutputFolder, place.Selected)
	}
	place.SetSelected("Beside the original")
	if s.OutputFolder != "" || len(place.Options) != 2 {
		t.Errorf("results go to %q, offered are %q", s.OutputFolder, place.Options)
	}
	choices[0].SetSelected("Русский")
	if h.k.texts.Code() != "ru" || s.Language != "ru" {
		t.Error("the language did not change")
	}
	h.k.actions.do("edit.preferences")
	if !strings.Contains(h.dialogTexts(), "Настройки") {
		t.Errorf("the dialog says %q", h.dialogTexts())
	}
	uitest.Find[*xwidget.Select](h.win.Canvas().Overlays().Top())[0].SetSelected("English")
	h.awaitDialog("Preferences")
	if n := len(h.win.Canvas().Overlays().List()); n != 1 {
		t.Errorf("after a change of the language %d dialogs are open", n)
	}
}
