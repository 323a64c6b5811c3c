package filedialog

import (
	"os"
	"path/filepath"
	"testing"

	"blik/internal/test/uitest"
	"blik/ui/xwidget"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

func TestWithExtension(t *testing.T) {
	masks := Request{Extensions: []string{"png", "tif"}}
	for path, want := range map[string]string{
		"/a/b":       "/a/b.png",
		"/a/b.png":   "/a/b.png",
		"/a/b.PNG":   "/a/b.PNG",
		"/a/b.tif":   "/a/b.tif",
		"/a/b.c":     "/a/b.c.png",
		"/a.png/b":   "/a.png/b.png",
		"/a/scan.17": "/a/scan.17.png",
	} {
		if got := masks.withExtension(path); got != want {
			t.Errorf("%s became %s, expected %s", path, got, want)
		}
	}
	if got := (Request{}).withExtension("/a/b"); got != "/a/b" {
		t.Errorf("without extensions /a/b became %s", got)
	}
}

// Saving only asks for a name: an existing file stays unchanged until the program replaces it.
func TestToolkitSave(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		button      string
		replace     bool
		want        string
		asked       bool
	}{
		{name: "new file", typed: "new", button: "Save", want: "new.png"},
		{name: "cancelled", typed: "new", button: "Cancel", want: ""},
		{name: "Escape in the field", typed: "new", button: "Escape", want: ""},
		{name: "Escape elsewhere", typed: "new", button: "Escape elsewhere", want: ""},
		{name: "existing file, agreed", typed: "old.png", button: "Save", replace: true, want: "old.png", asked: true},
		{name: "existing file, not agreed", typed: "old", button: "Save", want: "nothing", asked: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			test.NewTempApp(t)
			folder := t.TempDir()
			old := filepath.Join(folder, "old.png")
			if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			w := test.NewTempWindow(t, widget.NewLabel(""))
			w.Resize(fyne.NewSize(800, 600))
			asked := false
			modals := xwidget.NewModals(w)
			d := Toolkit(w, func() Words { return Words{"Save", "Cancel", "Folder"} }, func(path string, yes func()) {
				asked = path == old
				if c.replace {
					yes()
				}
			}, modals.Show)
			got := "nothing"
			d.Save(Request{Title: "Save mask", Folder: folder, File: "offered.png", Extensions: []string{"png"}},
				func(path string, err error) {
					if err != nil {
						t.Error(err)
					}
					got = path
					if path != "" {
						got = filepath.Base(path)
					}
				})
			top := w.Canvas().Overlays().Top()
			entry := uitest.Find[*xwidget.SearchEntry](top)[0]
			if entry.Text != filepath.Join(folder, "offered.png") {
				t.Errorf("offered %q", entry.Text)
			}
			entry.SetText(filepath.Join(folder, c.typed))
			switch c.button {
			case "Escape":
				entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
			case "Escape elsewhere":
				modals.Key(fyne.KeyEscape)
			}
			for _, b := range uitest.Find[*widget.Button](top) {
				if b.Text == c.button {
					test.Tap(b)
				}
			}
			if w.Canvas().Overlays().Top() != nil {
				t.Error("the dialog is still open")
			}
			if got != c.want || asked != c.asked {
				t.Errorf("got %q, asked %v", got, asked)
			}
			if data, err := os.ReadFile(old); err != nil || string(data) != "old" {
				t.Errorf("the old file contains %q, %v", data, err)
			}
		})
	}
}

// The dialog that opens a file has the size meant for it. Escape closes it, and the dialog of folders over Save.
func TestToolkitOpen(t *testing.T) {
	test.NewTempApp(t)
	w := test.NewTempWindow(t, widget.NewLabel(""))
	w.Resize(fyne.NewSize(800, 600))
	modals := xwidget.NewModals(w)
	d := Toolkit(w, func() Words { return Words{"Save", "Cancel", "Folder"} }, func(string, func()) {}, modals.Show)
	got := "nothing"
	request := Request{Title: "Open", Folder: t.TempDir(), Extensions: []string{"png"}}
	d.Open(request, func(path string, err error) { got = path })
	popups := uitest.Find[*widget.PopUp](w.Canvas().Overlays().Top())
	if len(popups) != 1 || popups[0].Size() != dialogSize(w) {
		t.Errorf("%d dialogs, the size is not %v", len(popups), dialogSize(w))
	}
	modals.Key(fyne.KeyEscape)
	if got != "" || w.Canvas().Overlays().Top() != nil {
		t.Errorf("after Escape: %q, open: %v", got, w.Canvas().Overlays().Top() != nil)
	}

	d.Save(request, func(string, error) {})
	for _, b := range uitest.Find[*widget.Button](w.Canvas().Overlays().Top()) {
		if b.Text == "Folder" {
			test.Tap(b)
		}
	}
	if n := len(w.Canvas().Overlays().List()); n != 2 {
		t.Fatalf("%d dialogs are open", n)
	}
	modals.Key(fyne.KeyEscape)
	modals.Key(fyne.KeyEscape)
	if w.Canvas().Overlays().Top() != nil {
		t.Error("the dialogs are still open")
	}
}
