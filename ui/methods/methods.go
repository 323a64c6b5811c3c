// Package methods shows a finding corrected by each method, side by side, each under what it is for.
package methods

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"blik/app/i18n"
	"blik/processing"
	"blik/ui/xwidget"
)

// Side is the side of the pictures, in pixels of the screen and in Fyne units.
const Side = 76

// Strip is a row of pictures, one for each method.
type Strip struct {
	Object fyne.CanvasObject
	all    []*xwidget.PictureButton
}

// New returns a strip without pictures; choose gets the method of a picture that is pressed.
func New(texts *i18n.Printer, tips *xwidget.Tooltips, keys xwidget.Keys, choose func(processing.Method)) *Strip {
	s := &Strip{}
	all := processing.Methods()
	row := container.NewGridWithColumns(len(all))
	for _, m := range all {
		b := xwidget.NewPictureButton(texts.Sprint(m.Does()), Side, texts.Sprint(m.Help()), tips, func() { choose(m) })
		b.Keys = keys
		s.all = append(s.all, b)
		row.Add(b)
	}
	s.Object = row
	return s
}

// Show shows pictures in the order of the methods; nil shows none.
func (s *Strip) Show(made []image.Image) {
	for m, b := range s.all {
		var of image.Image
		if m < len(made) {
			of = made[m]
		}
		b.SetPicture(of)
	}
}

// Choose marks the method of the finding, and enables the strip or not.
func (s *Strip) Choose(chosen processing.Method, on bool) {
	for m, b := range s.all {
		b.SetEnabled(on)
		b.SetSelected(on && processing.Method(m) == chosen)
	}
}

// Pictures returns what is shown.
func (s *Strip) Pictures() (all []image.Image) {
	for _, b := range s.all {
		all = append(all, b.Picture())
	}
	return all
}
