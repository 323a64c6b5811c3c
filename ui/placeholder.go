package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/session/store"
	"blik/ui/viewport"
	"blik/ui/xwidget"
)

// placeholder covers the viewport while a picture is being read, and shows some of its pixels. It takes all pointer
// events, and while it is shown only the actions of allowedWhileReading are enabled.
type placeholder struct {
	k        *kit
	store    *store.Store
	object   fyne.CanvasObject
	port     *viewport.Viewport
	dispatch func(func())
	// seen, which may be nil, is called when a placeholder is on the screen.
	seen func()
}

func newPlaceholder(c *common, dispatch func(func())) *placeholder {
	p := &placeholder{k: c.k, store: c.store, port: viewport.New(), dispatch: dispatch}
	words := widget.NewLabel(c.k.t("Still loading: not all pixels are shown yet"))
	strip := container.NewStack(canvas.NewRectangle(theme.Color(theme.ColorNameBackground)), words)
	p.object = container.NewStack(p.port, xwidget.NewShield(), container.NewBorder(nil,
		container.NewHBox(strip), nil, nil))
	p.object.Hide()
	return p
}

func (p *placeholder) update(c change) {
	if !c.Placeholder {
		return
	}
	picture := p.store.Placeholder()
	p.port.SetPicture(picture, nil)
	p.port.OnFrame = nil
	if picture != nil {
		p.port.OnFrame = func(time.Duration) {
			p.port.OnFrame = nil
			// What is queued while the toolkit's goroutine paints runs when the frame is on the screen.
			go p.dispatch(p.onScreen)
		}
	}
	xwidget.SetVisible(p.object, picture != nil)
	// The toolkit does not know the canvas of an object before it has painted it.
	p.k.display.port.Repaint()
}

func (p *placeholder) onScreen() {
	p.store.PlaceholderShown()
	if p.seen != nil {
		p.seen()
	}
}

// allowedWhileReading reports whether an action can be done while a picture is being read.
func allowedWhileReading(id string) bool {
	return id == findCancel || id == escapeAction || id == fileQuit
}
