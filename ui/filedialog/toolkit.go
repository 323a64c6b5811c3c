package filedialog

import (
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/widget"

	"blik/ui/xwidget"
)

// Words are the texts of the toolkit's dialogs other than those of a request.
type Words struct{ Save, Cancel, Browse string }

// toolkit shows Fyne's dialogs inside the window.
type toolkit struct {
	parent  fyne.Window
	words   func() Words
	confirm Confirm
	show    Show
}

// Show shows a dialog that Escape closes. accept is what Enter does; nil closes it, too.
type Show func(d dialog.Dialog, accept func())

// Toolkit returns dialogs inside the given window.
func Toolkit(parent fyne.Window, words func() Words, confirm Confirm, show Show) Dialogs {
	return &toolkit{parent, words, confirm, show}
}

// Open asks for a file to read.
func (t *toolkit) Open(r Request, done Done) {
	d := dialog.NewFileOpen(func(f fyne.URIReadCloser, err error) {
		if err != nil || f == nil {
			done("", err)
			return
		}
		path := f.URI().Path()
		f.Close()
		done(path, nil)
	}, t.parent)
	filter := make([]string, 0, 2*len(r.Extensions))
	for _, e := range r.bothCases() {
		filter = append(filter, "."+e)
	}
	d.SetFilter(storage.NewExtensionFileFilter(filter))
	t.browse(d, r)
}

// Choose asks for a folder.
func (t *toolkit) Choose(r Request, done Done) {
	t.browse(dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
		if err != nil || folder == nil {
			done("", err)
			return
		}
		done(folder.Path(), nil)
	}, t.parent), r)
}

// browse shows a dialog with the title and the initial folder of a request.
func (t *toolkit) browse(d *dialog.FileDialog, r Request) {
	d.SetTitleText(r.Title)
	if folder, err := storage.ListerForURI(storage.NewFileURI(r.Folder)); r.Folder != "" && err == nil {
		d.SetLocation(folder)
	}
	d.SetView(dialog.ListView)
	t.show(dismissed{d}, func() {})
	// A file dialog has no size before it is shown, and cannot be given one.
	d.Resize(dialogSize(t.parent))
}

// dismissed is a file dialog whose Hide reports that nothing was chosen.
type dismissed struct{ *dialog.FileDialog }

// Hide presses Cancel.
func (d dismissed) Hide() { d.Dismiss() }

// Save asks for a path. The toolkit's own dialog truncates the file immediately, before it is known whether writing
// will succeed; this one only returns the path.
func (t *toolkit) Save(r Request, done Done) {
	words := t.words()
	entry := xwidget.NewSearchEntry("")
	entry.SetText(filepath.Join(r.Folder, r.File))
	browse := widget.NewButton(words.Browse, func() {
		t.show(dismissed{dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
			if err == nil && folder != nil {
				entry.SetText(filepath.Join(folder.Path(), filepath.Base(entry.Text)))
			}
		}, t.parent)}, func() {})
	})
	var d *dialog.ConfirmDialog
	accept := func(ok bool) {
		path := entry.Text
		if !ok || path == "" {
			done("", nil)
			return
		}
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		path = r.withExtension(path)
		if exists(path) {
			t.confirm(path, func() { done(path, nil) })
			return
		}
		done(path, nil)
	}
	d = dialog.NewCustomConfirm(r.Title, words.Save, words.Cancel,
		container.NewBorder(nil, nil, nil, browse, entry), accept, t.parent)
	entry.OnSubmitted, entry.OnEscape = func(string) { d.Confirm() }, d.Dismiss
	d.Resize(fyne.NewSize(dialogSize(t.parent).Width, 140))
	t.show(d, d.Confirm)
	t.parent.Canvas().Focus(entry)
}

// dialogSize leaves a margin of the window free around a dialog.
func dialogSize(w fyne.Window) fyne.Size {
	size := w.Canvas().Size()
	return fyne.NewSize(min(800, size.Width*0.8), min(560, size.Height*0.85))
}
