package ui

import (
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/session"
	"blik/app/session/store"
	"blik/assets"
	"blik/internal/atomicfile"
	"blik/ui/xwidget"
)

// startPage is shown while no picture is open: it explains the program and offers pictures to open.
type startPage struct {
	k       *kit
	session *session.Session
	store   *store.Store
	object  fyne.CanvasObject
	recent  *fyne.Container
	open    func(path string)
	// buttons are greyed while a job is running.
	buttons []*xwidget.Button
}

// startLayout centres the start page and limits its width to one that is good to read.
type startLayout struct{}

// startWidth is that width, startCell the width of a recent picture, in Fyne units.
const startWidth, startCell = 620, 120

// Layout is part of fyne.Layout.
func (startLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	page := objects[0]
	width := min(startWidth, size.Width)
	// The height of the lines depends on the width.
	page.Resize(fyne.NewSize(width, page.MinSize().Height))
	height := page.MinSize().Height
	page.Resize(fyne.NewSize(width, height))
	page.Move(fyne.NewPos((size.Width-width)/2, max(0, (size.Height-height)/2)))
}

// MinSize is part of fyne.Layout.
func (startLayout) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

// startSize is the longer side of a recent picture, in Fyne units.
const startSize = 96

// startRecent is the number of recent pictures shown.
const startRecent = 5

func newStartPage(c *common, open func(path string)) *startPage {
	p := &startPage{k: c.k, session: c.session, store: c.store, open: open,
		recent: container.NewGridWrap(fyne.NewSize(startCell, startSize+40))}
	words := container.New(layout.NewCustomPaddedVBoxLayout(0))
	for _, sentence := range []string{
		c.k.t("Blik finds the glare on a reproduction of a painting and marks it."),
		c.k.t("You decide which findings really are glare. Blik restores the paint under them and changes nothing " +
			"else in the file."),
		c.k.t("Open a picture, press %s to find glare, %s to correct it, and %s to save a copy.",
			c.k.press(findRun), c.k.press(correctAll), c.k.press(fileSavePicture)),
	} {
		words.Add(xwidget.NewWrapped(sentence))
	}
	choose := xwidget.NewButtonWithIcon(c.k.t("Open picture…"), theme.FolderOpenIcon(), c.k.keys,
		func() { c.k.actions.do(fileOpen) })
	choose.Importance = widget.HighImportance
	folder := xwidget.NewButtonWithIcon(c.k.t("Open folder…"), theme.FolderIcon(), c.k.keys,
		func() { c.k.actions.do(fileFolder) })
	sample := xwidget.NewButtonWithIcon(c.k.t("Open the sample"), theme.FileImageIcon(), c.k.keys,
		func() { c.k.actions.do(fileSample) })
	p.buttons = []*xwidget.Button{choose, folder, sample}
	p.object = container.NewStack(canvas.NewRectangle(theme.Color(theme.ColorNameBackground)),
		container.NewVScroll(container.New(startLayout{}, container.NewVBox(words, xwidget.NewGap(0, 6),
			container.NewGridWrap(choose.MinSize().Max(sample.MinSize()), choose, folder, sample), xwidget.NewGap(0, 6),
			p.recent))))
	return p
}

func (p *startPage) update(c change) {
	if c.Document {
		xwidget.SetVisible(p.object, p.session.Document() == nil)
	}
	if (c.Busy || c.Document) && p.session.Document() == nil {
		for _, b := range p.buttons {
			xwidget.SetEnabled(b, !p.session.Busy())
		}
	}
	if (c.Document || c.Recent) && p.session.Document() == nil {
		p.showRecent()
	}
}

// showRecent shows thumbnails of the files opened last.
func (p *startPage) showRecent() {
	p.recent.RemoveAll()
	for _, path := range p.session.Settings().Recent[:min(len(p.session.Settings().Recent), startRecent)] {
		small := &canvas.Image{FillMode: canvas.ImageFillContain, Resource: theme.FileImageIcon()}
		if m, ok := p.store.Thumbnail(path); ok {
			small.Image, small.Resource = m, nil
		}
		small.SetMinSize(fyne.NewSquareSize(startSize))
		name := xwidget.NewButton(shortened(baseName(path)), p.k.keys, func() { p.open(path) })
		name.Importance = widget.LowImportance
		p.recent.Add(container.NewVBox(small, name))
	}
}

// shortened shortens a long file name, keeping its end.
func shortened(name string) string {
	const most = 14
	if r := []rune(name); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return name
}

// openSample opens the sample painting, which it writes into the user's cache folder.
func openSample(f *files) {
	folder, err := os.UserCacheDir()
	path := filepath.Join(folder, "blik", "sample.jpg")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteFile(path, assets.Sample(), 0o600)
	}
	if err != nil {
		f.k.prompts.showError("Could not open the sample", err)
		return
	}
	f.open(path)
}
