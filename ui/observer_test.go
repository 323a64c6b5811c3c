package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// An observer receives all events, even after the content was remade.
func TestObserver(t *testing.T) {
	h := newHarness(t, "en")
	var events []string
	observe(h.window, func(format string, args ...any) {
		events = append(events, strings.Fields(fmt.Sprintf(format, args...))[0])
	})
	h.opened()
	h.setLanguage("ru")
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("correct.all")
	h.settle()
	h.k.actions.do("view.split")
	h.k.actions.do("edit.undo")
	for _, want := range []string{"view", "picture", "busy", "done", "corrected", "compare", "step"} {
		if !slices.Contains(events, want) {
			t.Errorf("no event %q in %q", want, events)
		}
	}
}
