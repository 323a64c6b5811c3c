package shader

import "github.com/go-gl/gl/v2.1/gl"

// Card is the graphics card that draws the picture in all windows, as long as it can. Its methods must be called on the
// toolkit's goroutine.
type Card struct {
	// Failed is called once, while a frame is drawn, when the card has run out of memory and the raster takes over. It
	// may be nil.
	Failed func()

	fault  func() uint32
	failed bool
}

// NewCard returns a card whose driver returns its errors by fault, as gl.GetError does: each once, in a frame that is
// drawn.
func NewCard(fault func() uint32) *Card { return &Card{fault: fault} }

// maxFaults is the largest number of errors that a driver keeps; a context that is lost returns an error at each call.
const maxFaults = 16

// works reports whether the card still draws the picture. The toolkit ignores errors of the driver: a texture for which
// there is no memory is black.
func (c *Card) works() bool {
	for i := 0; i < maxFaults && !c.failed; i++ {
		switch c.fault() {
		case gl.NO_ERROR:
			return true
		case gl.OUT_OF_MEMORY:
			c.failed = true
			if c.Failed != nil {
				c.Failed()
			}
		}
	}
	return !c.failed
}
