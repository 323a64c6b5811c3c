package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/session"
	"blik/internal/message"
	"blik/ui/welcome"
	"blik/ui/xwidget"
)

// startPage is the page that is shown while no picture is open, as a part of the window.
type startPage struct {
	*welcome.Page
	session *session.Session
}

func newStartPage(c *common, open func(path string)) startPage {
	button := func(id string, text message.Text, icon fyne.Resource) *xwidget.Button {
		return xwidget.NewButtonWithIcon(c.k.t(text), icon, c.k.keys, func() { c.k.actions.do(id) })
	}
	choose := button(fileOpen, "Open picture…", theme.FolderOpenIcon())
	choose.Importance = widget.HighImportance
	return startPage{welcome.New(welcome.Options{
		Keys: c.k.keys, Open: open, Thumbnail: c.store.Thumbnail,
		Sentences: []string{
			c.k.t("Blik finds the glare on a reproduction of a painting and marks it."),
			c.k.t("You decide which findings really are glare. Blik restores the paint under them and changes " +
				"nothing else in the file."),
		},
		Tour: c.k.tour(),
		Hint: c.k.t("Open a picture, press %s to find glare, %s to correct it, and %s to save a copy.",
			c.k.press(findRun), c.k.press(correctAll), c.k.press(fileSavePicture)),
		Buttons: []*xwidget.Button{choose, button(fileFolder, "Open folder…", theme.FolderIcon()),
			button(fileSample, "Open the sample", theme.FileImageIcon())},
	}), c.session}
}

func (p startPage) update(c change) {
	none := p.session.Document() == nil
	if c.Document {
		xwidget.SetVisible(p.Object, none)
	}
	if none && (c.Busy || c.Document) {
		p.Enable(!p.session.Busy())
	}
	if none && (c.Document || c.Recent) {
		p.Show(p.session.Settings().Recent)
	}
}
