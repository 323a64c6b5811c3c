package viewport

import "image"

// scroll moves the pixels of m and returns the parts that need to be redrawn.
func scroll(m *image.RGBA, by image.Point) (bare []image.Rectangle) {
	if by == (image.Point{}) {
		return nil
	}
	kept := m.Rect.Add(by).Intersect(m.Rect)
	if kept.Empty() {
		return []image.Rectangle{m.Rect}
	}
	n := 4 * kept.Dx()
	row := func(y int) {
		to, from := m.PixOffset(kept.Min.X, y), m.PixOffset(kept.Min.X-by.X, y-by.Y)
		copy(m.Pix[to:to+n], m.Pix[from:from+n])
	}
	// Rows must not be overwritten before they have been moved.
	if by.Y > 0 {
		for y := kept.Max.Y - 1; y >= kept.Min.Y; y-- {
			row(y)
		}
	} else {
		for y := kept.Min.Y; y < kept.Max.Y; y++ {
			row(y)
		}
	}
	above, below := m.Rect, m.Rect
	above.Max.Y, below.Min.Y = kept.Min.Y, kept.Max.Y
	left, right := kept, kept
	left.Min.X, left.Max.X = m.Rect.Min.X, kept.Min.X
	right.Min.X, right.Max.X = kept.Max.X, m.Rect.Max.X
	return []image.Rectangle{above, below, left, right}
}
