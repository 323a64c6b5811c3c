// Package client shows the result in a window of its own, for a second screen.
package client

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"blik/app/session"
	"blik/app/view"
	"blik/processing"
	"blik/ui/shader"
	"blik/ui/viewport"
)

// Window shows the result without the mask, at the place and zoom of another viewport. It takes no keys and no tool.
type Window struct {
	app     fyne.App
	session *session.Session
	of      *viewport.Viewport
	card    *shader.Card
	// closed is called when the user closes the window.
	closed func()

	win  fyne.Window
	port *viewport.Viewport
}

// New returns a window that is not shown yet. If there is a card, it draws the picture.
func New(app fyne.App, s *session.Session, of *viewport.Viewport, card *shader.Card, closed func()) *Window {
	return &Window{app: app, session: s, of: of, card: card, closed: closed}
}

// Shown reports whether the window is open.
func (w *Window) Shown() bool { return w.win != nil }

// SetTitle changes the title.
func (w *Window) SetTitle(title string) {
	if w.win != nil {
		w.win.SetTitle(title)
	}
}

// Toggle opens the window with a title, or closes it.
func (w *Window) Toggle(title string) {
	if w.win != nil {
		w.win.Close()
		return
	}
	w.win, w.port = w.app.NewWindow(title), viewport.New(viewport.Shaded("client", w.card))
	w.port.SetFollower()
	look := view.DefaultOptions()
	look.Mode, look.Grid = view.PictureOnly, false
	w.port.SetOptions(look)
	w.win.SetPadded(false)
	w.win.SetContent(container.New(following{w}, w.port))
	w.win.Resize(fyne.NewSize(900, 650))
	w.win.SetOnClosed(func() {
		w.win, w.port = nil, nil
		w.closed()
	})
	w.ShowPicture()
	w.win.Show()
}

// ShowPicture shows the result of the open picture.
func (w *Window) ShowPicture() {
	if w.win == nil {
		return
	}
	original, result := w.session.Pictures()
	if !w.port.Shows(original) {
		w.port.SetPicture(original, nil)
	}
	if original != nil {
		w.port.SetPyramids(original, result)
	}
	w.Follow()
}

// Redraw draws everything again in the next frame.
func (w *Window) Redraw() {
	if w.win != nil {
		w.port.Redraw()
	}
}

// Follow shows what the other viewport has in its middle.
func (w *Window) Follow() {
	if w.win == nil || w.session.Document() == nil {
		return
	}
	t, size := w.of.Transform(), w.of.Device()
	middle := t.ScreenToImage(processing.Point{X: float64(size.X) / 2, Y: float64(size.Y) / 2})
	w.port.Follow(t.CentreOn(middle, w.port.Device()))
}

// following lays out the viewport of a window, which then follows in its new size.
type following struct{ w *Window }

func (l following) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(size)
	l.w.Follow()
}

func (l following) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, 150) }
