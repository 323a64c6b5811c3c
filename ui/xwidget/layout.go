package xwidget

import (
	"image/color"
	"sort"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// NewGap returns a spacer of the given size.
func NewGap(width, height float32) fyne.CanvasObject {
	r := canvas.NewRectangle(color.Transparent)
	r.SetMinSize(fyne.NewSize(width, height))
	return r
}

// NewMinWidth gives an object at least the given width.
func NewMinWidth(width float32, obj fyne.CanvasObject) *fyne.Container {
	return container.NewStack(NewGap(width, 0), obj)
}

// FixedText is a line of small text whose width does not depend on its content: that of its widest text, or the
// remaining width. Longer text is truncated with an ellipsis.
type FixedText struct {
	widget.BaseWidget
	// Stretch uses the remaining width instead of its own.
	Stretch bool
	// Trailing aligns to the right and grows with the text.
	Trailing bool
	// Muted is for secondary text, Bold for important text.
	Muted, Bold bool
	// Tips, if not nil, shows the full text while the pointer is on a truncated one.
	Tips *Tooltips

	text, widest string
	cut          bool
}

var _ desktop.Hoverable = (*FixedText)(nil)

// NewFixedText returns an empty text as wide as the given one.
func NewFixedText(widest string) *FixedText {
	t := &FixedText{widest: widest}
	t.ExtendBaseWidget(t)
	return t
}

// SetText shows a text.
func (t *FixedText) SetText(text string) {
	if t.text == text {
		return
	}
	t.text = text
	t.Refresh()
}

// SetWidest changes the text that determines the width.
func (t *FixedText) SetWidest(text string) {
	t.widest = text
	t.Refresh()
}

func (t *FixedText) Text() string { return t.text }

// Cut reports whether the text is truncated.
func (t *FixedText) Cut() bool { return t.cut }

// TextWidth returns the width that the whole text needs.
func (t *FixedText) TextWidth() float32 {
	return fyne.MeasureText(t.text, t.textSize(), fyne.TextStyle{Bold: t.Bold}).Width
}

func (t *FixedText) textSize() float32 { return theme.Size(theme.SizeNameCaptionText) + 1 }

func (t *FixedText) MouseIn(*desktop.MouseEvent) {
	if t.cut {
		t.Tips.ShowLater(t, t.text)
	}
}

func (t *FixedText) MouseMoved(*desktop.MouseEvent) {}
func (t *FixedText) MouseOut()                      { t.Tips.Hide() }

func (t *FixedText) CreateRenderer() fyne.WidgetRenderer {
	r := &fixedTextRenderer{t: t, text: canvas.NewText("", color.Transparent)}
	r.drawn = drawn{r.text}
	r.Refresh()
	return r
}

type fixedTextRenderer struct {
	drawn
	t    *FixedText
	text *canvas.Text
}

func (r *fixedTextRenderer) width(s string) float32 {
	return fyne.MeasureText(s, r.text.TextSize, r.text.TextStyle).Width
}

func (r *fixedTextRenderer) Layout(size fyne.Size) {
	r.text.Text = r.fit(size.Width)
	r.t.cut = r.text.Text != r.t.text
	text := r.text.MinSize()
	x := float32(0)
	if r.t.Trailing {
		x = max(0, size.Width-text.Width)
	}
	r.text.Resize(text)
	r.text.Move(fyne.NewPos(x, (size.Height-text.Height)/2))
}

// fit truncates the text to a width; without room for an ellipsis nothing is left. It measures few texts, because each
// measurement takes a tenth of a millisecond or more.
func (r *fixedTextRenderer) fit(width float32) string {
	switch {
	case r.t.text == "" || width <= 0:
		return ""
	case r.width(r.t.text) <= width:
		return r.t.text
	case r.width("…") > width:
		return ""
	}
	s := []rune(r.t.text)
	n := sort.Search(len(s), func(i int) bool { return r.width(string(s[:i+1])+"…") > width })
	return string(s[:n]) + "…"
}

func (r *fixedTextRenderer) MinSize() fyne.Size {
	height := fyne.MeasureText("Ag", r.text.TextSize, r.text.TextStyle).Height
	switch {
	case r.t.Stretch:
		return fyne.NewSize(10, height)
	case r.t.Trailing:
		return fyne.NewSize(r.width(r.t.text)+1, height)
	}
	return fyne.NewSize(r.width(r.t.widest), height)
}

func (r *fixedTextRenderer) Refresh() {
	name := theme.ColorNameForeground
	if r.t.Muted {
		name = theme.ColorNamePlaceHolder
	}
	r.text.Color = theme.Color(name)
	r.text.TextSize = r.t.textSize()
	r.text.TextStyle.Bold = r.t.Bold
	r.Layout(r.t.Size())
	r.text.Refresh()
}

// Inset moves an object to the left edge of the text of headings.
func Inset(bottom, right float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(0, bottom, 8, right), o)
}

// SmallLayout makes a tool button smaller than in toolbars.
type SmallLayout struct{}

// smallSide is the side of such a button, in Fyne units.
const smallSide = 22

func (SmallLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(fyne.NewSquareSize(smallSide))
	objects[0].Move(fyne.NewPos(size.Width-smallSide, 0))
}

func (SmallLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSquareSize(smallSide) }
