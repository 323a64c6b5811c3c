package xwidget

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

// PictureButton is a small picture over a line of text, which can stay pressed.
type PictureButton struct {
	tapButton
	text    string
	side    float32
	picture image.Image
}

var (
	_ fyne.Tappable     = (*PictureButton)(nil)
	_ fyne.Disableable  = (*PictureButton)(nil)
	_ desktop.Hoverable = (*PictureButton)(nil)
	_ fyne.Focusable    = (*PictureButton)(nil)
	_ desktop.Keyable   = (*PictureButton)(nil)
)

// NewPictureButton returns a button without a picture, with the height for one of side × side.
func NewPictureButton(text string, side float32, tip string, tips *Tooltips, tapped func()) *PictureButton {
	b := &PictureButton{tapButton: newTapButton(tip, tips, tapped), text: text, side: side}
	b.extend(b)
	return b
}

// SetPicture shows a picture; nil shows none.
func (b *PictureButton) SetPicture(m image.Image) {
	if b.picture != m {
		b.picture = m
		b.Refresh()
	}
}

// Picture returns the picture that is shown; nil if there is none.
func (b *PictureButton) Picture() image.Image { return b.picture }

func (b *PictureButton) CreateRenderer() fyne.WidgetRenderer {
	r := &pictureButtonRenderer{button: b, back: canvas.NewRectangle(color.Transparent),
		picture: &canvas.Image{FillMode: canvas.ImageFillContain, ScaleMode: canvas.ImageScalePixels},
		text:    canvas.NewText(b.text, color.Transparent)}
	r.drawn = drawn{r.back, r.picture, r.text}
	r.back.CornerRadius = 4
	r.text.Alignment = fyne.TextAlignCenter
	r.Refresh()
	return r
}

type pictureButtonRenderer struct {
	drawn
	button  *PictureButton
	back    *canvas.Rectangle
	picture *canvas.Image
	text    *canvas.Text
}

// pictureMargin is the space around the picture, in Fyne units.
const pictureMargin = 3

func (r *pictureButtonRenderer) Layout(size fyne.Size) {
	line := r.text.MinSize().Height
	r.back.Resize(size)
	r.picture.Move(fyne.NewPos(0, pictureMargin))
	r.picture.Resize(fyne.NewSize(size.Width, max(0, size.Height-line-2*pictureMargin)))
	r.text.Move(fyne.NewPos(0, size.Height-line-pictureMargin/2))
	r.text.Resize(fyne.NewSize(size.Width, line))
}

// MinSize is wide enough for the text; in less width than height the picture shrinks.
func (r *pictureButtonRenderer) MinSize() fyne.Size {
	text := r.text.MinSize()
	return fyne.NewSize(text.Width+2, r.button.side+text.Height+2*pictureMargin)
}

func (r *pictureButtonRenderer) Refresh() {
	b := r.button
	b.shade(r.back)
	r.text.TextSize = theme.CaptionTextSize()
	r.text.Color = theme.Color(theme.ColorNameForeground)
	if b.disabled {
		r.text.Color = theme.Color(theme.ColorNameDisabled)
	}
	r.picture.Hidden = b.picture == nil
	if r.picture.Image != b.picture {
		r.picture.Image = b.picture
		r.picture.Refresh()
	}
	r.text.Refresh()
}
