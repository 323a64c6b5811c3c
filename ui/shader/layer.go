package shader

import (
	"image"
	"math"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"blik/app/view"
)

// Layer shows frames over the raster of a viewport, which has the colour of the surround then. The toolkit's painter
// for tests does not draw it.
type Layer struct {
	widget.BaseWidget

	card *Card
	// name distinguishes the layers of a window, because the toolkit keeps textures by the name of a shader.
	name  string
	cache Cache
	// shaders belong to the quads of the cache; shown are those of the frame.
	shaders []*canvas.Shader
	shown   []fyne.CanvasObject
}

// NewLayer returns a layer of a card with a name of its own in the window.
func NewLayer(card *Card, name string) *Layer {
	l := &Layer{card: card, name: name}
	l.ExtendBaseWidget(l)
	return l
}

// Progress says how much of a frame a Layer draws.
type Progress uint8

// Nothing is drawn of a frame that needs too many textures, or if the card has failed; Some while textures are being
// loaded. Loaded is all of a frame with new textures: another frame must follow, which sees whether the card had memory
// for them. All is drawn of further frames.
const (
	Nothing Progress = iota
	Some
	Loaded
	All
)

// loading is the time that a frame may take for loading textures.
const loading = 4 * time.Millisecond

// Draw shows a frame over a viewport at a position in the window, on a canvas with so many device pixels per Fyne unit.
// What it does not draw must lie under it. It must be called before the layer is painted, in the same frame.
func (l *Layer) Draw(frame view.Tiled, viewport fyne.Position, scale float64) Progress {
	l.shown = nil
	if !l.card.works() {
		return l.release()
	}
	var window fyne.Size
	if c := fyne.CurrentApp().Driver().CanvasForObject(l); c != nil {
		window = c.Size()
	}
	quads, index, whole := l.cache.Quads(frame, loading)
	for i, q := range quads {
		for len(l.shaders) <= index[i] {
			name := l.name + " " + strconv.Itoa(len(l.shaders))
			l.shaders = append(l.shaders, canvas.NewShader(name, []byte(Source()), nil))
		}
		s := l.shaders[index[i]]
		s.Textures, s.Uniforms = q.Textures, q.Uniforms
		s.Move(fyne.NewPos(place(q.Device.Min.X, viewport.X, scale), place(q.Device.Min.Y, viewport.Y, scale)))
		s.Resize(fyne.NewSize(float32(float64(q.Device.Dx())/scale), float32(float64(q.Device.Dy())/scale)))
		l.shown = append(l.shown, s)
		// The toolkit draws nothing beyond the edge of a window that is too small for its content.
		if at := s.Position().Add(viewport); at.X < window.Width && at.Y < window.Height {
			q.Drawn()
		}
	}
	switch {
	case whole && l.cache.loaded:
		return Loaded
	case whole:
		return All
	case len(quads) > 0:
		return Some
	}
	return Nothing
}

// place returns the position, relative to the viewport, of a device column or row. The toolkit rounds a position in the
// window to device pixels; that of the viewport may lie in the middle between two, and must be rounded first.
func place(device int, viewport float32, scale float64) float32 {
	origin := math.Round(float64(viewport * float32(scale)))
	return float32((origin+float64(device))/scale) - viewport
}

// release gives the memory of the card back. The toolkit keeps a texture until another takes its place, so a last frame
// draws shaders with tiny ones, a device pixel each.
func (l *Layer) release() Progress {
	if len(l.shaders) == 0 {
		return Nothing
	}
	tiny := image.NewRGBA(image.Rect(0, 0, 1, 1))
	for _, s := range l.shaders {
		s.Textures = map[string]image.Image{"picture": tiny, "mask": tiny, "table": tiny}
		s.Resize(fyne.NewSize(1, 1))
		l.shown = append(l.shown, s)
	}
	l.shaders = nil
	l.cache.Clear()
	return Some
}

// Clear shows nothing until the next Draw, and drops the textures.
func (l *Layer) Clear() {
	l.shown = nil
	l.cache.Clear()
}

// MaskChanged must be called after pixels of the mask in an image rectangle have changed.
func (l *Layer) MaskChanged(changed image.Rectangle) { l.cache.MaskChanged(changed) }

func (l *Layer) CreateRenderer() fyne.WidgetRenderer { return renderer{l} }

type renderer struct{ *Layer }

func (renderer) Destroy()                       {}
func (renderer) Layout(fyne.Size)               {}
func (renderer) MinSize() fyne.Size             { return fyne.Size{} }
func (r renderer) Objects() []fyne.CanvasObject { return r.shown }
func (renderer) Refresh()                       {}
