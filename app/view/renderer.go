package view

import (
	"image"
	"image/color"

	"blik/processing"
)

// Mode says what a viewport shows.
type Mode uint8

// The modes.
const (
	// PictureAndMask lays the mask over the picture in the overlay's colour.
	PictureAndMask Mode = iota
	// PictureOnly shows the picture as it is.
	PictureOnly
	// MaskOnly shows the mask in white on black.
	MaskOnly
	// Outlines draws the edge of the mask over the picture, one device pixel wide.
	Outlines
)

// GridZoom is the zoom from which the pixel grid is drawn.
const GridZoom = 8

// OverlayColour is a colour offered for the overlay.
type OverlayColour struct {
	// ID is what the settings store.
	ID     string
	Name   processing.Text
	Colour color.RGBA
}

// OverlayColours returns the colours on offer, the default first. Blue and yellow are those of Okabe and Ito's palette
// (2008), which people with any colour vision tell apart from the browns and reds of a painting.
func OverlayColours() []OverlayColour {
	return []OverlayColour{
		{"red", processing.Text{EN: "Red", RU: "Красный"}, color.RGBA{255, 0, 0, 255}},
		{"blue", processing.Text{EN: "Blue", RU: "Синий"}, color.RGBA{0, 114, 178, 255}},
		{"yellow", processing.Text{EN: "Yellow", RU: "Жёлтый"}, color.RGBA{240, 228, 66, 255}},
		{"green", processing.Text{EN: "Green", RU: "Зелёный"}, color.RGBA{0, 255, 0, 255}},
	}
}

// OverlayColourByID returns the colour with the given ID, the default one where there is none.
func OverlayColourByID(id string) OverlayColour {
	all := OverlayColours()
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	return all[0]
}

// Options say how a viewport looks.
type Options struct {
	Mode Mode
	// Colour of the overlay and of outlines; its alpha is ignored.
	Colour color.RGBA
	// Opacity of the overlay, 0…1; outlines are opaque.
	Opacity float64
	// Grid draws the edges of image pixels from GridZoom on.
	Grid bool
}

// DefaultOptions returns the picture under a red mask of 60 % with the grid on.
func DefaultOptions() Options {
	return Options{Colour: OverlayColours()[0].Colour, Opacity: 0.6, Grid: true}
}

// Renderer draws a picture and its mask into a viewport. It keeps its scratch memory between frames, so it allocates
// nothing per frame and may be used by one goroutine at a time.
type Renderer struct {
	picture *Pyramid
	mask    *MaskPyramid
}

// NewRenderer returns a renderer that spreads rows over GOMAXPROCS goroutines. Until SetPicture it draws the surround.
func NewRenderer() *Renderer { return &Renderer{} }

// SetPicture sets what is shown. mask may be nil; otherwise it has the picture's size. A nil picture shows the
// surround alone.
func (r *Renderer) SetPicture(picture *Pyramid, mask *MaskPyramid) { r.picture, r.mask = picture, mask }

// Surround returns the grey around the picture: 18 % of white in linear light, which does not sway the eye.
func Surround() color.RGBA { return color.RGBA{118, 118, 118, 255} }

// Render draws the whole of dst, whose bounds are the viewport in device pixels. Every pixel written is opaque.
func (r *Renderer) Render(dst *image.RGBA, t Transform, o Options) { r.RenderRect(dst, t, o, dst.Bounds()) }

// RenderRect draws the device pixels of rect alone, exactly as Render would.
func (r *Renderer) RenderRect(dst *image.RGBA, t Transform, o Options, rect image.Rectangle) {}

// DirtyRect returns the device pixels of a viewport, of the given size, that may look different after the mask changed
// within the image rectangle dirty: what RenderRect has to redraw.
func (r *Renderer) DirtyRect(t Transform, dirty image.Rectangle, viewport image.Point) image.Rectangle {
	return image.Rectangle{Max: viewport}
}
