package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
)

// Every button that a screen reader finds has a name of its own: Fyne looks into the bar above the picture, not into what
// scrolls, as the strip of tools and the panel.
func TestNamesForScreenReaders(t *testing.T) {
	h := found(t, "ru")
	names := map[string]bool{}
	buttons := 0
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if a, ok := o.(fyne.Accessible); ok && a.AccessibilityRole() == fyne.AccessibleRoleButton {
			name := strings.TrimSpace(a.AccessibilityLabel())
			if name == "" || names[name] {
				t.Errorf("%T is called %q, as another or not at all", o, name)
			}
			names[name] = true
			buttons++
		}
		if c, ok := o.(*fyne.Container); ok {
			for _, child := range c.Objects {
				walk(child)
			}
		}
	}
	walk(h.bar.object)
	walk(h.status.object)
	if buttons < 10 {
		t.Errorf("%d buttons have names", buttons)
	}
}
