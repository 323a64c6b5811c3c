package xwidget

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
)

// Modals shows dialogs over a window and handles keys for the topmost one: Escape acts as its Cancel button, Enter as
// its default button.
type Modals struct {
	win fyne.Window
	// shown are the open dialogs, the topmost last.
	shown []*modal
}

// modal is an open dialog. cover distinguishes it from overlays on top of it, such as a menu.
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
		// The callback of a closed dialog may have shown another one.
		m.shown = slices.DeleteFunc(m.shown, func(o *modal) bool { return o == now })
	})
	m.shown = append(m.shown, now)
	d.Show()
	now.cover = m.win.Canvas().Overlays().Top()
}

// Key lets the topmost dialog handle the key and reports whether it did.
func (m *Modals) Key(name fyne.KeyName) bool {
	// When a dialog closes, the toolkit also removes the overlays on top of it.
	open := m.win.Canvas().Overlays().List()
	m.shown = slices.DeleteFunc(m.shown, func(o *modal) bool { return !slices.Contains(open, o.cover) })
	if len(m.shown) == 0 {
		return false
	}
	top := m.shown[len(m.shown)-1]
	if m.win.Canvas().Overlays().Top() != top.cover {
		return false
	}
	switch name {
	case fyne.KeyEscape:
		top.dialog.Hide()
	case fyne.KeyReturn, fyne.KeyEnter:
		top.accept()
	default:
		return false
	}
	return true
}
