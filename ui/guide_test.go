package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"blik/app/manual"
	"blik/internal/test/uitest"
	"blik/ui/xwidget"
)

// Arrow keys step through the headings, Page Down and Page Up scroll the page.
func TestGuideByKeys(t *testing.T) {
	h := newHarness(t, "en")
	h.k.actions.do("help.guide")
	c := h.win.Canvas()
	titles, ok := c.Focused().(*xwidget.List)
	if !ok {
		t.Fatalf("%T has the focus", c.Focused())
	}
	sections, err := manual.Guide("en")
	if err != nil {
		t.Fatal(err)
	}
	key := func(names ...fyne.KeyName) {
		for _, name := range names {
			titles.TypedKey(&fyne.KeyEvent{Name: name})
		}
	}
	var scroll *container.Scroll
	for _, s := range uitest.Find[*container.Split](c.Overlays().Top()) {
		scroll = s.Trailing.(*container.Scroll)
	}
	head := func() string {
		return strings.SplitN(scroll.Content.(*fyne.Container).Objects[0].(*widget.RichText).String(), "\n", 2)[0]
	}
	key(fyne.KeyUp, fyne.KeyDown, fyne.KeyDown, fyne.KeyUp, fyne.KeyDown)
	if !strings.HasPrefix(head(), sections[2].Title) {
		t.Errorf("%q is shown, want %q", head(), sections[2].Title)
	}
	key(fyne.KeyUp, fyne.KeyPageDown)
	if scroll.Offset.Y == 0 {
		t.Error("Page Down does not scroll the tour")
	}
	key(fyne.KeyPageUp, fyne.KeyPageUp)
	if scroll.Offset.Y != 0 {
		t.Errorf("Page Up leaves the page at %g", scroll.Offset.Y)
	}
	key(fyne.KeyEscape)
	if h.dialogOpen() {
		t.Error("Escape does not close the guide")
	}
}
