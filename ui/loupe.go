package ui

import (
	"image"

	"blik/app/session"
	"blik/app/view"
	"blik/ui/aids"
	"blik/ui/xwidget"
)

// loupe magnifies the surroundings of the pointer, or the middle of what is visible while the pointer is elsewhere.
type loupe struct {
	k       *kit
	session *session.Session
	card    *aids.Card
	title   *xwidget.FixedText
	glass   *aids.Glass
	// pointed is set while the pointer is over the picture.
	pointed bool
}

func newLoupe(c *common) *loupe {
	l := &loupe{k: c.k, session: c.session, title: xwidget.NewFixedText(""), glass: aids.NewGlass()}
	l.title.Stretch, l.title.Muted = true, true
	l.card = aids.NewCard(l.title, l.glass.Object(), c.k.button(viewLoupe, closeIcon()))
	return l
}

func (l *loupe) update(c change) {
	l.card.Want(l.session.Settings().Loupe && l.session.Document() != nil)
	if !l.card.Wanted() {
		l.glass.Clear()
		return
	}
	if c.Zoom || c.Document || c.View {
		zoom := loupeZoom(l.k.display.port.Transform().Zoom)
		l.glass.Magnify(zoom)
		l.title.SetText(l.k.t("Loupe, %s", l.k.words.Percent(zoom)))
		l.showMiddle()
	}
	if !(c.Zoom || c.Document || c.View || c.Mask || c.Corrections) && c.Pixels.Empty() {
		return
	}
	before, after := l.session.Pictures()
	look := l.k.display.port.Options()
	if look.Compare = l.k.display.mode(); look.Compare == view.CompareSplit {
		look.Compare = view.CompareAfter
	}
	l.glass.SetPictures(before, after, l.session.Shown().Mask, l.k.display.layer, look)
}

// hovered follows the pointer.
func (l *loupe) hovered(pixel image.Point, inside bool) {
	if l.pointed = inside; inside {
		l.glass.Show(pixel)
	}
	l.showMiddle()
}

// showMiddle shows the middle of what is visible, unless the pointer is over the picture.
func (l *loupe) showMiddle() {
	if seen := l.k.display.port.Shown(); !l.pointed {
		l.glass.Show(seen.Min.Add(seen.Max).Div(2))
	}
}

// loupeZoom returns the loupe's zoom for the viewport's zoom: four times as large, at least 200 %, at most the largest
// zoom.
func loupeZoom(zoom float64) float64 {
	z := 2.0
	for z < view.MaxZoom && z < 4*zoom {
		z *= 2
	}
	return min(z, view.MaxZoom)
}
