package experiment

import (
	"context"

	"blik/internal/message"
	"blik/internal/parallel"
)

// CheckOrder returns an error if a picture is too large for a list of its pixels, in which each coordinate has 16 bits.
// The error wraps ErrMemory.
func CheckOrder(s Size) error {
	if s.W > 1<<16 || s.H > 1<<16 {
		return message.New(message.Of("sides of more than 65536 pixels are not supported"), ErrMemory)
	}
	return nil
}

// RasterOrder lists the pixels of a picture that CheckOrder accepts, row by row, with x in the low and y in the high 16
// bits. It is incomplete if ctx is cancelled.
func RasterOrder(ctx context.Context, w, h int) []uint32 {
	list := make([]uint32, w*h)
	_ = parallel.Chunks(ctx, h, max(1, part/w), func(i, j int) {
		for y := i; y < j; y++ {
			row := list[y*w : (y+1)*w]
			for x := range row {
				row[x] = uint32(y)<<16 | uint32(x)
			}
		}
	})
	return list
}

// HilbertOrder lists the same pixels along the Hilbert curve.
func HilbertOrder(ctx context.Context, w, h int) []uint32 {
	c := newCurve(w, h)
	// An aligned section of the curve is a square, so its number of pixels within the picture is known in advance.
	order := min(c.order, log2(part)/2)
	length, side := 1<<(2*order), 1<<order
	from := make([]int, c.positions()/length+1)
	for s := range c.positions() / length {
		x, y := c.at(s * length)
		x, y = x&^(side-1), y&^(side-1)
		from[s+1] = from[s] + max(min(side, c.w-x), 0)*max(min(side, c.h-y), 0)
	}
	list := make([]uint32, w*h)
	_ = parallel.Each(ctx, len(from)-1, func(i int) {
		at := from[i]
		c.visit(i*length, (i+1)*length, func(x, y int) {
			list[at] = uint32(y)<<16 | uint32(x)
			at++
		})
	})
	return list
}

// CurveOrder returns the order of the curve that covers a picture: its side is 2^order.
func CurveOrder(w, h int) int { return newCurve(w, h).order }

// curve is the Hilbert curve over the square of side 2^order (Hilbert 1891), restricted to a picture of w × h pixels:
// positions outside are skipped. Sizes that are not a power of two thus use the curve of the next power; up to three of
// four positions of a square picture are then skipped, which is part of the measurement.
type curve struct{ w, h, order int }

func newCurve(w, h int) curve { return curve{w, h, log2(max(w, h))} }

// positions is the number of positions on the whole curve.
func (c curve) positions() int { return 1 << (2 * c.order) }

// at returns the pixel at distance d along the whole curve. Each pair of bits, lowest first, rotates the quadrant below
// it and moves it into place.
func (c curve) at(d int) (x, y int) {
	for s := 1; s < 1<<c.order; s <<= 1 {
		qx := d >> 1 & 1
		qy := (d ^ qx) & 1
		if qy == 0 {
			if qx == 1 {
				x, y = s-1-x, s-1-y
			}
			x, y = y, x
		}
		x += s * qx
		y += s * qy
		d >>= 2
	}
	return x, y
}

// skipOrder: an aligned section of 4^skipOrder positions is a square of side 2^skipOrder, which is skipped as a whole
// if it lies outside.
const skipOrder = 4

// visit calls f for the pixels of the picture at distances i … j−1, in order.
func (c curve) visit(i, j int, f func(x, y int)) {
	const length, mask = 1 << (2 * skipOrder), 1<<skipOrder - 1
	for d := i; d < j; {
		x, y := c.at(d)
		if d%length == 0 && c.order >= skipOrder && (x&^mask >= c.w || y&^mask >= c.h) {
			d += length
			continue
		}
		if x < c.w && y < c.h {
			f(x, y)
		}
		d++
	}
}
