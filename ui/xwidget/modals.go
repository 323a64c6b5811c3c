package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
)

// Modals shows dialogs over a window, and answers the one on top by keys: Escape as its Cancel does, Enter as the
// button that stands out.
type Modals struct {
	win fyne.Window
	top *modal
}

// modal is a dialog that is shown. cover distinguishes it from what may lie over it, such as a menu.
type modal struct {
	dialog dialog.Dialog
	accept func()
	cover  fyne.CanvasObject
}

// NewModals returns the dialogs of a window.
func NewModals(win fyne.Window) *Modals { return &Modals{win: win} }

// Show shows a dialog. accept is what Enter does; nil closes it as Escape does.
func (m *Modals) Show(d dialog.Dialog, accept func()) {
	if accept == nil {
		accept = d.Hide
	}
	now := &modal{dialog: d, accept: accept}
	d.SetOnClosed(func() {
		// What a dialog did at its end may have shown another one.
		if m.top == now {
			m.top = nil
		}
	})
	m.top = now
	d.Show()
	now.cover = m.win.Canvas().Overlays().Top()
}

// Key answers the dialog on top and reports whether the key does so.
func (m *Modals) Key(name fyne.KeyName) bool {
	if m.top == nil || m.win.Canvas().Overlays().Top() != m.top.cover {
		return false
	}
	switch name {
	case fyne.KeyEscape:
		m.top.dialog.Hide()
	case fyne.KeyReturn, fyne.KeyEnter:
		m.top.accept()
	default:
		return false
	}
	return true
}
