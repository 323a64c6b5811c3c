package view

import (
	"context"
	"encoding/binary"
	"image"

	"blik/internal/parallel"
	"blik/processing"
)

// Turn sets a picture upright. Everything but the screen keeps the coordinates of the file; those of the upright
// picture are met only on the way to device pixels. The zero value leaves the picture as it is.
type Turn struct {
	// swap exchanges the axes first; flipX and flipY then mirror the upright picture's.
	swap, flipX, flipY bool
	// size is that of the file.
	size image.Point
}

// NewTurn returns what EXIF's orientation (JEITA CP-3451, tag 274) asks for a file of the given size; 1, and anything
// but 1…8, is the zero value.
func NewTurn(orientation int, size image.Point) Turn {
	switch orientation {
	case 2:
		return Turn{false, true, false, size}
	case 3:
		return Turn{false, true, true, size}
	case 4:
		return Turn{false, false, true, size}
	case 5:
		return Turn{true, false, false, size}
	case 6:
		return Turn{true, true, false, size}
	case 7:
		return Turn{true, true, true, size}
	case 8:
		return Turn{true, false, true, size}
	}
	return Turn{}
}

// Swaps reports whether columns of the file become rows of the screen.
func (n Turn) Swaps() bool { return n.swap }

// Upright returns the size of the upright picture of a file of the given size.
func (n Turn) Upright(file image.Point) image.Point {
	if n.swap {
		return image.Pt(file.Y, file.X)
	}
	return file
}

// ToUpright returns where a point of the file lies in the upright picture.
func (n Turn) ToUpright(p processing.Point) processing.Point {
	size := n.Upright(n.size)
	if n.swap {
		p.X, p.Y = p.Y, p.X
	}
	if n.flipX {
		p.X = float64(size.X) - p.X
	}
	if n.flipY {
		p.Y = float64(size.Y) - p.Y
	}
	return p
}

// FromUpright is the inverse of ToUpright.
func (n Turn) FromUpright(p processing.Point) processing.Point {
	size := n.Upright(n.size)
	if n.flipX {
		p.X = float64(size.X) - p.X
	}
	if n.flipY {
		p.Y = float64(size.Y) - p.Y
	}
	if n.swap {
		p.X, p.Y = p.Y, p.X
	}
	return p
}

// rectangle does what ToUpright does, for pixels.
func (n Turn) rectangle(r image.Rectangle) image.Rectangle {
	size := n.Upright(n.size)
	if n.swap {
		r.Min.X, r.Min.Y, r.Max.X, r.Max.Y = r.Min.Y, r.Min.X, r.Max.Y, r.Max.X
	}
	if n.flipX {
		r.Min.X, r.Max.X = size.X-r.Max.X, size.X-r.Min.X
	}
	if n.flipY {
		r.Min.Y, r.Max.Y = size.Y-r.Max.Y, size.Y-r.Min.Y
	}
	return r
}

// inverse returns the turn back.
func (n Turn) inverse() Turn {
	back := Turn{swap: n.swap, flipX: n.flipX, flipY: n.flipY, size: n.Upright(n.size)}
	if n.swap {
		back.flipX, back.flipY = n.flipY, n.flipX
	}
	return back
}

// turned returns, for a viewport of the given size in device pixels, the viewport and the transform that show the same
// part of the picture as it lies in the file, and the turn from there to the device.
func (t Transform) turned(viewport image.Point) (image.Point, Transform, Turn) {
	n := t.Turn
	// The corner of the part that is nearest to the file's origin.
	a := n.FromUpright(processing.Point{X: t.X, Y: t.Y})
	b := n.FromUpright(processing.Point{X: t.X + float64(viewport.X)/t.Zoom, Y: t.Y + float64(viewport.Y)/t.Zoom})
	file := Transform{Zoom: t.Zoom, X: min(a.X, b.X), Y: min(a.Y, b.Y)}
	size := n.Upright(viewport)
	n.size = size
	return size, file, n
}

// copyPixels writes the part rect of a viewport, counted from its corner, from a frame as it lies in the file.
func (n Turn) copyPixels(dst, src *image.RGBA, rect image.Rectangle) {
	// The steps in src of one device pixel to the right and one down, and the place of rect's corner there.
	right, down := 4, src.Stride
	if n.swap {
		right, down = down, right
	}
	size := n.Upright(n.size)
	x, y := rect.Min.X, rect.Min.Y
	if n.flipX {
		x = size.X - 1 - x
		right = -right
	}
	if n.flipY {
		y = size.Y - 1 - y
		down = -down
	}
	if n.swap {
		x, y = y, x
	}
	at := y*src.Stride + 4*x
	// Blocks keep the rows of both in the cache where the axes are exchanged.
	const block = 32
	// Without a cancel forRows has no error.
	_ = parallel.Chunks(context.Background(), rect.Dy(), chunkRows, func(y0, y1 int) {
		for x0 := 0; x0 < rect.Dx(); x0 += block {
			for y := y0; y < y1; y++ {
				to := dst.Pix[dst.PixOffset(dst.Rect.Min.X+rect.Min.X+x0, dst.Rect.Min.Y+rect.Min.Y+y):]
				from := at + y*down + x0*right
				for i := range min(block, rect.Dx()-x0) {
					binary.LittleEndian.PutUint32(to[4*i:], binary.LittleEndian.Uint32(src.Pix[from:]))
					from += right
				}
			}
		}
	})
}
