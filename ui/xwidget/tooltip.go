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

// tooltipWidth is the widest a tooltip becomes before it wraps, in Fyne units.
const tooltipWidth = 340

// Tooltips is a layer over the window's content that shows one tooltip at a time. It takes no events, so that what
// lies under it keeps working.
type Tooltips struct {
	// Layer goes on top of the window's content in a stack.
	Layer *fyne.Container

	box   *fyne.Container
	label *widget.Label
	back  *canvas.Rectangle
	// after runs a function on the toolkit's goroutine after some time, unless it is stopped before.
	after func(time.Duration, func()) (stop func())
	stop  func()
	// turn counts the shows and hides, so that a timer that comes late does nothing.
	turn int
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

// ShowLater shows text beside obj after a moment, unless Hide comes first.
func (t *Tooltips) ShowLater(obj fyne.CanvasObject, text string) {
	t.ShowBeside(obj, fyne.Position{}, fyne.Size{}, text)
}

// ShowBeside is ShowLater for a part of obj, or all of it where the size is zero.
func (t *Tooltips) ShowBeside(obj fyne.CanvasObject, at fyne.Position, size fyne.Size, text string) {
	if t == nil || text == "" {
		return
	}
	t.Hide()
	turn := t.turn
	t.stop = t.after(tooltipDelay, func() {
		if t.turn == turn {
			if size.IsZero() {
				size = obj.Size()
			}
			t.show(obj, at, size, text)
		}
	})
}

// Hide takes the tooltip away, also one that is still to come.
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
	driver := fyne.CurrentApp().Driver()
	if driver.CanvasForObject(obj) == nil {
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
	origin := driver.AbsolutePositionForObject(t.Layer)
	at := driver.AbsolutePositionForObject(obj).Subtract(origin).Add(part)
	t.box.Resize(size)
	t.box.Move(place(at, extent, size, t.Layer.Size()))
	t.box.Show()
	// A box that was never on the screen belongs to no canvas yet, so that only its parent can ask for a new frame.
	t.Layer.Refresh()
}

// place puts a tooltip of the given size beside a widget so that it stays inside the area: to the right of a narrow
// widget at the left edge, else below it, else above it.
func place(at fyne.Position, widget, tip, area fyne.Size) fyne.Position {
	const gap = 4
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
