package xwidget

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Radio shows a few choices, exactly one of which is selected. It takes the focus as a whole: the arrow keys choose,
// other keys are passed on. A click does not give it the focus.
type Radio struct {
	widget.DisableableWidget
	// Horizontal puts the choices beside each other.
	Horizontal bool
	Options    []string
	Selected   string
	OnChanged  func(string)

	ringed
}

var (
	_ desktop.Keyable  = (*Radio)(nil)
	_ fyne.Disableable = (*Radio)(nil)
)

// NewRadio returns the choices with the first one selected.
func NewRadio(options []string, keys Keys, changed func(string)) *Radio {
	r := &Radio{Options: options, Selected: options[0], OnChanged: changed, ringed: ringed{keys: keys}}
	r.ExtendBaseWidget(r)
	return r
}

// SetSelected selects a choice, and calls OnChanged if the selection changes.
func (r *Radio) SetSelected(option string) {
	if option == r.Selected || !slices.Contains(r.Options, option) {
		return
	}
	r.Selected = option
	if r.OnChanged != nil {
		r.OnChanged(option)
	}
	r.Refresh()
}

// choose is SetSelected by the user.
func (r *Radio) choose(option string) {
	if !r.Disabled() {
		r.SetSelected(option)
	}
}

// step chooses the next or previous one.
func (r *Radio) step(by int) {
	i := slices.Index(r.Options, r.Selected) + by
	if i >= 0 && i < len(r.Options) {
		r.choose(r.Options[i])
	}
}

func (r *Radio) FocusGained() { r.show(r, true) }
func (r *Radio) FocusLost()   { r.show(r, false) }

// TypedKey chooses by the arrow keys and passes on the others.
func (r *Radio) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft, fyne.KeyUp:
		r.step(-1)
	case fyne.KeyRight, fyne.KeyDown:
		r.step(1)
	default:
		r.keys.Key(e)
	}
}

func (r *Radio) TypedRune(c rune) { r.keys.Rune(c) }

func (r *Radio) CreateRenderer() fyne.WidgetRenderer {
	inner := &radioRenderer{radio: r}
	for _, option := range r.Options {
		item := newRadioItem(r, option)
		inner.items = append(inner.items, item)
		inner.drawn = append(inner.drawn, item)
	}
	return r.around(inner)
}

type radioRenderer struct {
	drawn
	radio *Radio
	items []*radioItem
}

// Layout puts the choices beside each other or one under the other.
func (r *radioRenderer) Layout(fyne.Size) {
	at := fyne.Position{}
	for _, item := range r.items {
		size := item.MinSize()
		item.Move(at)
		item.Resize(size)
		if r.radio.Horizontal {
			at.X += size.Width
		} else {
			at.Y += size.Height
		}
	}
}

// MinSize is that of all choices.
func (r *radioRenderer) MinSize() fyne.Size {
	all := fyne.Size{}
	for _, item := range r.items {
		size := item.MinSize()
		if r.radio.Horizontal {
			all = fyne.NewSize(all.Width+size.Width, max(all.Height, size.Height))
		} else {
			all = fyne.NewSize(max(all.Width, size.Width), all.Height+size.Height)
		}
	}
	return all
}

func (r *radioRenderer) Refresh() {
	for _, item := range r.items {
		item.Refresh()
	}
}

// radioItem is one of the choices.
type radioItem struct {
	widget.BaseWidget
	radio   *Radio
	option  string
	hovered bool
}

var (
	_ fyne.Tappable     = (*radioItem)(nil)
	_ desktop.Hoverable = (*radioItem)(nil)
)

func newRadioItem(r *Radio, option string) *radioItem {
	i := &radioItem{radio: r, option: option}
	i.ExtendBaseWidget(i)
	return i
}

func (i *radioItem) Tapped(*fyne.PointEvent) {
	unfocus(i.radio)
	i.radio.choose(i.option)
}

func (i *radioItem) MouseIn(*desktop.MouseEvent) {
	i.hovered = true
	i.Refresh()
}

func (i *radioItem) MouseMoved(*desktop.MouseEvent) {}

func (i *radioItem) MouseOut() {
	i.hovered = false
	i.Refresh()
}

func (i *radioItem) CreateRenderer() fyne.WidgetRenderer {
	r := &radioItemRenderer{
		item: i, back: canvas.NewRectangle(color.Transparent), mark: &canvas.Image{},
		text: canvas.NewText(i.option, color.Transparent),
	}
	r.drawn = drawn{r.back, r.mark, r.text}
	r.back.CornerRadius = 4
	r.mark.FillMode = canvas.ImageFillContain
	r.Refresh()
	return r
}

type radioItemRenderer struct {
	drawn
	item *radioItem
	back *canvas.Rectangle
	mark *canvas.Image
	text *canvas.Text
}

// radioGap is the space around the parts of a choice, in Fyne units.
const radioGap = 6

// Layout puts the mark before the text.
func (r *radioItemRenderer) Layout(size fyne.Size) {
	side, text := theme.IconInlineSize(), r.text.MinSize()
	r.back.Resize(size)
	r.mark.Resize(fyne.NewSquareSize(side))
	r.mark.Move(fyne.NewPos(radioGap, (size.Height-side)/2))
	r.text.Resize(text)
	r.text.Move(fyne.NewPos(2*radioGap+side, (size.Height-text.Height)/2))
}

func (r *radioItemRenderer) MinSize() fyne.Size {
	side, text := theme.IconInlineSize(), r.text.MinSize()
	return fyne.NewSize(text.Width+side+4*radioGap, max(text.Height, side)+2*radioGap)
}

// Refresh shows whether the choice is selected.
func (r *radioItemRenderer) Refresh() {
	radio := r.item.radio
	icon, text, mark := theme.RadioButtonIcon(), theme.ColorNameForeground, theme.ColorNameForeground
	if radio.Selected == r.item.option {
		icon, mark = theme.RadioButtonCheckedIcon(), theme.ColorNamePrimary
	}
	r.back.FillColor = color.Transparent
	switch {
	case radio.Disabled():
		text, mark = theme.ColorNameDisabled, theme.ColorNameDisabled
	case r.item.hovered:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
	r.mark.Resource = theme.NewColoredResource(icon, mark)
	r.text.Color, r.text.TextSize = theme.Color(text), theme.TextSize()
	r.back.Refresh()
	r.mark.Refresh()
	r.text.Refresh()
}
