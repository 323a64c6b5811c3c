// Package xwidget holds small widgets that Fyne does not have: tool buttons with tooltips, and form controls that pass
// on the keys they do not use.
package xwidget

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// tooltipDelay is how long the pointer rests on a widget before its tooltip shows.
const tooltipDelay = 500 * time.Millisecond

// tooltipWidth is the width at which a tooltip wraps, in Fyne units.
const tooltipWidth = 340

// tooltipGap is the space between a widget and its tooltip, in Fyne units.
const tooltipGap = 4

// Tooltips is a layer over the window's content that shows one tooltip at a time. It handles no events, so that what is
// under it keeps working.
type Tooltips struct {
	// Layer must be on top of the window's content.
	Layer *fyne.Container

	box   *fyne.Container
	label *widget.Label
	back  *canvas.Rectangle
	// after runs a function on the toolkit's goroutine after some time, unless it is stopped before.
	after func(time.Duration, func()) (stop func())
	stop  func()
	// turn counts calls that show or hide, so that a late timer does nothing.
	turn int
	// tab is set while the Tab key is held.
	tab bool
}

// NewTooltips returns an empty layer.
func NewTooltips() *Tooltips {
	back := canvas.NewRectangle(color.Transparent)
	back.StrokeWidth = 1
	back.CornerRadius = 4
	label := widget.NewLabel("")
	label.SizeName = theme.SizeNameCaptionText
	t := &Tooltips{label: label, back: back, after: func(d time.Duration, f func()) func() {
		timer := time.AfterFunc(d, func() { fyne.Do(f) })
		return func() { timer.Stop() }
	}}
	t.box = container.NewStack(back, label)
	t.box.Hide()
	t.Layer = container.NewWithoutLayout(t.box)
	return t
}

// ShowLater shows text beside obj after a delay, unless Hide is called first.
func (t *Tooltips) ShowLater(obj fyne.CanvasObject, text string) {
	t.ShowBeside(obj, fyne.Position{}, fyne.Size{}, text)
}

// showAside is ShowLater, but on the left of obj if there is room, so that what is below it stays visible.
func (t *Tooltips) showAside(obj fyne.CanvasObject, text string) {
	if t == nil {
		return
	}
	t.later(text, func() {
		t.show(obj, fyne.Position{}, obj.Size(), text)
		if at := t.at(obj); at.X >= t.box.Size().Width+tooltipGap {
			t.box.Move(fyne.NewPos(at.X-t.box.Size().Width-tooltipGap,
				clamp(at.Y, 0, t.Layer.Size().Height-t.box.Size().Height)))
		}
	})
}

// ShowBeside is ShowLater for a part of obj, or for all of it if the size is zero.
func (t *Tooltips) ShowBeside(obj fyne.CanvasObject, at fyne.Position, size fyne.Size, text string) {
	if t == nil {
		return
	}
	t.later(text, func() {
		if size.IsZero() {
			size = obj.Size()
		}
		t.show(obj, at, size, text)
	})
}

// later calls show after a delay, unless Hide is called first or there is no text.
func (t *Tooltips) later(text string, show func()) {
	if text == "" {
		return
	}
	t.Hide()
	turn := t.turn
	t.stop = t.after(tooltipDelay, func() {
		if t.turn == turn {
			show()
		}
	})
}

// Pressed must be called for each pressed key, Released for each released one: a control that gets the focus while the
// Tab key is held was not clicked.
func (t *Tooltips) Pressed(e *fyne.KeyEvent) {
	if t != nil {
		t.tab = e.Name == fyne.KeyTab
	}
}

// Released is described at Pressed.
func (t *Tooltips) Released(e *fyne.KeyEvent) {
	if t != nil && e.Name == fyne.KeyTab {
		t.tab = false
	}
}

// Hide hides the tooltip and cancels a pending one.
func (t *Tooltips) Hide() {
	if t == nil {
		return
	}
	t.turn++
	if t.stop != nil {
		t.stop()
		t.stop = nil
	}
	if t.box.Visible() {
		t.box.Hide()
		t.Layer.Refresh()
	}
}

// show shows a text beside a part of an object.
func (t *Tooltips) show(obj fyne.CanvasObject, part fyne.Position, extent fyne.Size, text string) {
	if fyne.CurrentApp().Driver().CanvasForObject(obj) == nil {
		return
	}
	t.back.FillColor = theme.Color(theme.ColorNameOverlayBackground)
	t.back.StrokeColor = theme.Color(theme.ColorNameInputBorder)
	t.label.Wrapping = fyne.TextWrapOff
	t.label.SetText(text)
	size := t.box.MinSize()
	if size.Width > tooltipWidth {
		t.label.Wrapping = fyne.TextWrapWord
		t.box.Resize(fyne.NewSize(tooltipWidth, size.Height))
		t.label.Refresh()
		size = fyne.NewSize(tooltipWidth, t.box.MinSize().Height)
	}
	t.box.Resize(size)
	t.box.Move(place(t.at(obj).Add(part), extent, size, t.Layer.Size()))
	t.box.Show()
	// A box that was never on the screen does not belong to a canvas yet, so only its parent can request a new frame.
	t.Layer.Refresh()
}

// at returns the position of an object in the layer.
func (t *Tooltips) at(obj fyne.CanvasObject) fyne.Position {
	driver := fyne.CurrentApp().Driver()
	return driver.AbsolutePositionForObject(obj).Subtract(driver.AbsolutePositionForObject(t.Layer))
}

// place returns the position of a tooltip inside the area: on the right of a narrow widget at the left edge, otherwise
// below the widget, or above it if there is no room.
func place(at fyne.Position, widget, tip, area fyne.Size) fyne.Position {
	const gap = tooltipGap
	if at.X < 60 && widget.Width < 60 {
		return fyne.NewPos(at.X+widget.Width+gap, clamp(at.Y+(widget.Height-tip.Height)/2, 0, area.Height-tip.Height))
	}
	x := clamp(at.X, 0, area.Width-tip.Width-gap)
	y := at.Y + widget.Height + gap
	if y+tip.Height > area.Height {
		y = at.Y - tip.Height - gap
	}
	return fyne.NewPos(x, max(0, y))
}

func clamp(v, lo, hi float32) float32 { return max(lo, min(v, hi)) }
