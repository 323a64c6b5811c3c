package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"blik/app/preset"
	"blik/processing"
)

// The start page offers pictures to open and disappears when one is open.
func TestStartPage(t *testing.T) {
	h := newHarness(t, "en")
	h.c.session.Settings().Recent = []string{"/art/a.png", "/art/a picture with a long name.tif"}
	h.build()
	if !h.welcome.Object.Visible() || len(h.welcome.Recent()) != 2 {
		t.Fatalf("visible %v, %d recent pictures", h.welcome.Object.Visible(), len(h.welcome.Recent()))
	}
	if name := h.welcome.Recent()[1].Text; name != "…long name.tif" {
		t.Errorf("a long name is shown as %q", name)
	}
	test.Tap(h.welcome.Recent()[0])
	h.settle()
	if h.c.session.Document() == nil || h.c.session.Document().Path() != "/art/a.png" || h.welcome.Object.Visible() {
		t.Error("the recent picture is not shown")
	}
	// A recent picture that cannot be opened is removed, with a message.
	again := newHarness(t, "en")
	again.c.session.Settings().Recent = []string{"/art/gone.png"}
	again.build()
	again.welcome.Open("/art/gone.png")
	again.settle()
	if again.dialogTexts() == "" || len(again.welcome.Recent()) != 0 {
		t.Errorf("the dialog says %q, %d recent", again.dialogTexts(), len(again.welcome.Recent()))
	}
}

// A folder is opened from the start page: its pictures become the filmstrip, and the first is shown. Before a picture is
// open, the tools are greyed.
func TestOpenFolder(t *testing.T) {
	h := newHarness(t, "en")
	h.build()
	folder := t.TempDir()
	for _, name := range []string{"b.tif", "a.png", "notes.txt"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		h.pictures[path] = h.pictures["/art/a.png"]
	}
	for id, b := range h.strip.buttons {
		if !b.Disabled() {
			t.Errorf("%s can be chosen without a picture", id)
		}
	}
	h.dialogs.path = folder
	test.Tap(h.welcome.Buttons[1])
	h.settle()
	if doc := h.c.session.Document(); doc == nil || doc.Path() != filepath.Join(folder, "a.png") {
		t.Fatalf("the first picture is not shown: %s", h.dialogTexts())
	}
	if n := len(h.c.frames.Frames()); n != 2 {
		t.Errorf("%d pictures in the filmstrip", n)
	}
	for id, b := range h.strip.buttons {
		if b.Disabled() {
			t.Errorf("%s is grey though a picture is open", id)
		}
	}
	h.dialogs.path = t.TempDir()
	h.k.actions.do("file.folder")
	h.settle()
	if doc := h.c.session.Document(); doc.Path() != filepath.Join(folder, "a.png") {
		t.Error("an empty folder closes the picture")
	}
}

// The sample is written into the cache and opened.
func TestSample(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("LocalAppData", cache)
	t.Setenv("HOME", cache)
	h := newHarness(t, "en")
	folder, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "blik", "sample.jpg")
	h.pictures[path] = h.pictures["/art/a.png"]
	h.k.actions.do("file.sample")
	h.settle()
	if h.c.session.Document() == nil || h.c.session.Document().Path() != path {
		t.Error("the sample is not open")
	}
	if data, err := os.ReadFile(path); err != nil || len(data) < 1000 {
		t.Errorf("the sample has %d bytes: %v", len(data), err)
	}
}

// Decisions that only a project can store are asked about before another picture is opened.
func TestDecisionsAreAskedAbout(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.dialogs.path = "/art/a_mask.png"
	h.k.actions.do("file.saveMask")
	h.settle()
	h.files.Open("/art/b.tif")
	if h.dialogOpen() {
		t.Fatalf("everything is saved, but the dialog says %q", h.dialogTexts())
	}
	h.settle()
	h.files.Open("/art/a.png")
	h.settle()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("file.saveMask")
	h.settle()
	h.k.actions.do("find.next")
	h.k.actions.do("find.keep")
	h.quit()
	if said := h.dialogTexts(); !strings.Contains(said, "A project stores them") {
		t.Fatalf("the dialog says %q", said)
	}
	h.press("Cancel")
	if h.dialogOpen() || h.c.session.Document() == nil {
		t.Error("Cancel does not keep the picture open")
	}
}

// A picture is shown again with its earlier view, or whole if it was shown whole.
func TestZoomIsRemembered(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("view.four")
	was := h.k.display.port.Transform()
	h.files.Open("/art/b.tif")
	h.settle()
	if !h.k.display.port.Fitted() {
		t.Error("another picture is not shown whole")
	}
	h.files.Open("/art/a.png")
	h.settle()
	if h.k.display.port.Transform() != was || h.k.display.port.Fitted() {
		t.Errorf("shown with %+v, was %+v", h.k.display.port.Transform(), was)
	}
	h.files.Open("/art/b.tif")
	h.settle()
	if !h.k.display.port.Fitted() {
		t.Error("the second picture is no longer shown whole")
	}
}

// The presets of the folder are in the menu and are loaded from there.
func TestPresetsMenu(t *testing.T) {
	folder := t.TempDir()
	h := newHarness(t, "en")
	h.config.session.SettingsPath = filepath.Join(folder, "settings.json")
	if items := h.menu.presetItems(); len(items) != 0 {
		t.Errorf("%d presets without a folder", len(items))
	}
	p := processing.DefaultParams()
	p.Sensitivity = -2
	h.c.preview.SetParams(p)
	h.dialogs.path = filepath.Join(h.presetFolder(), "dim lamps.json")
	h.k.actions.do("file.savePreset")
	if err := os.WriteFile(filepath.Join(h.presetFolder(), "damaged.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := preset.Read(h.dialogs.path); err != nil {
		t.Fatal(err)
	}
	h.c.preview.SetParams(processing.DefaultParams())
	items := h.menu.presetItems()
	if len(items) != 2 || items[1].Label != "dim lamps" {
		t.Fatalf("%d presets", len(items))
	}
	items[1].Action()
	if h.c.session.Settings().Params.Sensitivity != -2 {
		t.Error("the preset was not loaded")
	}
	items[0].Action()
	if !h.dialogOpen() || h.c.session.Settings().Params.Sensitivity != -2 {
		t.Error("a damaged preset is not refused")
	}
}
