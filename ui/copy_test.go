package ui

import (
	"strings"
	"testing"

	"blik/processing"
)

// Values, the list and the information are copied as text. If there is nothing to copy, the clipboard keeps its
// content.
func TestCopy(t *testing.T) {
	for lang, words := range map[string][2]string{"en": {"Finding 1", "Area"}, "ru": {"Находка 1", "Площадь"}} {
		h := newHarness(t, lang).opened()
		board := h.app.Clipboard()
		board.SetContent("before")
		h.k.actions.do("edit.copy")
		if board.Content() != "before" {
			t.Errorf("nothing to copy, copied %q", board.Content())
		}
		h.c.treatment.detect()
		h.settle()
		h.k.actions.do("find.next")
		h.k.actions.do("edit.copy")
		if got := board.Content(); !strings.HasPrefix(got, words[0]) {
			t.Errorf("selected finding: copied %q", got)
		}
		h.status.hovered(processing.Point{X: 150, Y: 80}, true)
		h.k.actions.do("edit.copy")
		if got := board.Content(); got != "x 150  y 80  R 100  G 100  B 100" {
			t.Errorf("pixel: copied %q", got)
		}
		f := h.c.found.Listed()[0]
		first := h.c.session.Document().FirstPixel(f)
		h.status.hovered(processing.Point{X: float64(first.X), Y: float64(first.Y)}, true)
		h.k.actions.do("edit.copy")
		got := board.Content()
		if !strings.HasPrefix(got, "x ") || !strings.Contains(got, "\n"+words[0][:len(words[0])-1]) {
			t.Errorf("finding under the pointer: copied %q", got)
		}
		h.k.actions.do("find.copy")
		lines := strings.Split(board.Content(), "\n")
		if len(lines) != 1+len(h.c.found.Listed()) || !strings.Contains(lines[0], words[1]) {
			t.Errorf("list: copied %q", lines)
		}
		for _, line := range lines {
			if strings.Count(line, "\t") != len(findingColumns)-1 {
				t.Errorf("%q: wrong columns", line)
			}
		}
		h.k.actions.do("file.copyInformation")
		if got := board.Content(); !strings.Contains(got, "\t/art/a.png\n") {
			t.Errorf("information: copied %q", got)
		}
	}
}
