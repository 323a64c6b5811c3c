package ui

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"blik/internal/test/testpic"
)

// update writes the expected markup instead of comparing with it: go test ./ui -run Markup -update.
var update = flag.Bool("update", false, "write the expected markup of the panels")

// checkMarkup compares the layout and the texts of an object with testdata.
func checkMarkup(t *testing.T, name string, o fyne.CanvasObject) {
	t.Helper()
	if !*update {
		test.AssertObjectRendersToMarkup(t, name, o)
		return
	}
	path := filepath.Join("testdata", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(test.RenderObjectToMarkup(o)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// languages are those of the window. Under the race detector one is enough, because goroutines do not depend on the
// language.
func languages() []string {
	if testpic.Race {
		return []string{"ru"}
	}
	return []string{"en", "ru"}
}

// Every part of the window has the expected layout and texts, in both languages.
func TestMarkup(t *testing.T) {
	testpic.NoRace(t)
	for _, lang := range languages() {
		t.Run(lang, func(t *testing.T) {
			checkMarkup(t, lang+"/start.xml", newHarness(t, lang).welcome.Object)
			checkMarkup(t, lang+"/preferences.xml", newHarness(t, lang).preferences())
			checkMarkup(t, lang+"/keys.xml", newHarness(t, lang).newKeySettings())
			h := fixed(t, lang)
			h.k.actions.do("find.next")
			h.k.actions.do("tool.brush")
			for name, tab := range map[string]int{"detection": 0, "findings": 1, "correction": 2} {
				h.panel.tabs.SelectIndex(tab)
				checkMarkup(t, lang+"/"+name+".xml", h.panel.object)
			}
			checkMarkup(t, lang+"/toolbar.xml", h.bar.object)
			checkMarkup(t, lang+"/strip.xml", h.strip.object)
			checkMarkup(t, lang+"/status.xml", h.status.object)
			h.panel.tabs.SelectIndex(historyTab)
			checkMarkup(t, lang+"/history.xml", h.panel.object)
			h.masks["/art/other.png"] = h.result.Mask
			h.dialogs.path = "/art/other.png"
			h.k.actions.do("file.compareMask")
			h.settle()
			checkMarkup(t, lang+"/comparison.xml", h.comparison.object)
		})
	}
}
