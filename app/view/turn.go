package view

import (
	"context"
	"encoding/binary"
	"image"

	"blik/internal/parallel"
	"blik/processing"
)

// Turn turns a picture upright. All other code uses the coordinates of the file; those of the upright picture occur
// only in the conversion to device pixels. The zero value does nothing.
type Turn struct {
	// swap exchanges the axes first; flipX and flipY then mirror the result.
	swap, flipX, flipY bool
	// size is that of the picture in the file.
	size image.Point
}

// NewTurn returns the turn for an EXIF orientation (JEITA CP-3451, tag 274) and the size of the picture in the file.
// For 1, and for anything outside 1…8, it is the zero value.
func NewTurn(orientation int, size image.Point) Turn {
	turns := [...]Turn{
		2: {flipX: true}, 3: {flipX: true, flipY: true}, 4: {flipY: true}, 5: {swap: true},
		6: {swap: true, flipX: true}, 7: {swap: true, flipX: true, flipY: true}, 8: {swap: true, flipY: true},
	}
	if orientation < 2 || orientation >= len(turns) {
		return Turn{}
	}
	turn := turns[orientation]
	turn.size = size
	return turn
}

// Swaps reports whether columns of the file become rows on the screen.
func (n Turn) Swaps() bool { return n.swap }

// Upright returns the upright size of a picture whose size in the file is given.
func (n Turn) Upright(file image.Point) image.Point {
	if n.swap {
		return image.Pt(file.Y, file.X)
	}
	return file
}

// ToUpright converts a point from coordinates of the file to those of the upright picture.
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
func (n Turn) FromUpright(p processing.Point) processing.Point { return n.inverse().ToUpright(p) }

// rectangle is ToUpright for a rectangle of pixels.
func (n Turn) rectangle(r image.Rectangle) image.Rectangle {
	a := n.ToUpright(processing.Point{X: float64(r.Min.X), Y: float64(r.Min.Y)})
	b := n.ToUpright(processing.Point{X: float64(r.Max.X), Y: float64(r.Max.Y)})
	return image.Rect(int(a.X), int(a.Y), int(b.X), int(b.Y))
}

func (n Turn) inverse() Turn {
	back := Turn{swap: n.swap, flipX: n.flipX, flipY: n.flipY, size: n.Upright(n.size)}
	if n.swap {
		back.flipX, back.flipY = n.flipY, n.flipX
	}
	return back
}

// turned takes the size of a viewport in device pixels. It returns the size of the viewport and the transform that show
// the same part of the picture in the orientation of the file, and the turn from that viewport to the given one.
func (t Transform) turned(viewport image.Point) (image.Point, Transform, Turn) {
	n := t.Turn
	// Two opposite corners of the visible part; their minima are the corner nearest to the file's origin.
	a := n.FromUpright(processing.Point{X: t.X, Y: t.Y})
	b := n.FromUpright(processing.Point{X: t.X + float64(viewport.X)/t.Zoom, Y: t.Y + float64(viewport.Y)/t.Zoom})
	file := Transform{Zoom: t.Zoom, X: min(a.X, b.X), Y: min(a.Y, b.Y)}
	size := n.Upright(viewport)
	n.size = size
	return size, file, n
}

// copyPixels copies the part rect of a viewport, relative to its corner, from a frame src in the orientation of the
// file.
func (n Turn) copyPixels(dst, src *image.RGBA, rect image.Rectangle) {
	// right and down are the steps in src.Pix for one device pixel to the right and one down, at is the index of rect's
	// corner there.
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
	// If the axes are exchanged, blocks keep the rows of both images in the cache.
	const block = 32
	// Without a cancel there is no error.
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
