package xwidget

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// ZoomBox shows the zoom in per cent; it can be typed or chosen from a menu.
type ZoomBox struct {
	widget.SelectEntry
	o     ZoomOptions
	shown string
	zoom  float64
}

// ZoomOptions of a ZoomBox.
type ZoomOptions struct {
	// FitName is the choice that calls Fit. Percent formats a share, Parse reads a number.
	FitName string
	Percent func(share float64) string
	Parse   func(text string) (float64, error)
	Fit     func()
	Set     func(zoom float64)
	Canvas  fyne.Canvas
}

// NewZoomBox returns a disabled box.
func NewZoomBox(o ZoomOptions) *ZoomBox {
	z := &ZoomBox{o: o}
	z.ExtendBaseWidget(z)
	options := []string{o.FitName}
	for _, share := range []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32} {
		options = append(options, o.Percent(share))
	}
	z.SetOptions(options)
	z.OnChanged = func(text string) {
		// Choosing from the menu changes the text while the box does not have the focus; typing needs the focus.
		if o.Canvas.Focused() != fyne.Focusable(z) && text != z.shown {
			z.take()
		}
	}
	z.OnSubmitted = func(string) {
		z.take()
		o.Canvas.Unfocus()
	}
	return z
}

// FocusLost applies the typed text.
func (z *ZoomBox) FocusLost() {
	z.SelectEntry.FocusLost()
	if z.Text != z.shown {
		z.take()
	}
}

// TypedKey discards the input on Escape and passes on function keys.
func (z *ZoomBox) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		z.SetText(z.shown)
		unfocus(z)
	} else if !passOn(z, k) {
		z.SelectEntry.TypedKey(k)
	}
}

// MinSize keeps the box narrow.
func (z *ZoomBox) MinSize() fyne.Size { return fyne.NewSize(92, z.SelectEntry.MinSize().Height) }

func (z *ZoomBox) take() {
	text := z.Text
	z.shown = text
	if text == z.o.FitName {
		z.o.Fit()
	} else if v, err := z.o.Parse(strings.TrimSuffix(strings.TrimSpace(text), "%")); err == nil && v > 0 {
		z.o.Set(v / 100)
	}
	z.ShowZoom(z.zoom, !z.Disabled())
}

// ShowZoom shows the zoom of a picture; without one the box is empty and grey.
func (z *ZoomBox) ShowZoom(zoom float64, open bool) {
	text := ""
	if z.zoom = zoom; open {
		text = z.o.Percent(zoom)
	}
	SetEnabled(z, open)
	z.shown = text
	if z.Text != text {
		z.SetText(text)
	}
}
