package detect

import (
	"image"

	"blik/internal/span"
	"blik/processing"
)

// grounds measures the ground of components on the host, as processing.MeasureGlints does on a backend. One goroutine
// uses it at a time.
type grounds struct {
	levels *levels
	taken  *span.Set

	buf []uint8
}

// of returns the peak of the component with the given pixels, which are in reading order, its ground, and how far the
// peak rises above it.
func (g *grounds) of(runs []processing.Run) (peak image.Point, ground, rise int) {
	top := -1
	for _, r := range runs {
		g.buf = g.levels.window(g.buf, r.X0, r.Y, r.X1, r.Y+1)
		for i, v := range g.buf {
			if int(v) > top {
				top, peak = int(v), image.Pt(r.X0+i, r.Y)
			}
		}
	}
	ground = g.around(peak, processing.GroundRadius)
	return peak, ground, top - ground
}

// around returns the ground within a radius of a pixel.
func (g *grounds) around(at image.Point, radius int) int {
	pic := g.levels.pic
	x0, y0 := max(at.X-radius, 0), max(at.Y-radius, 0)
	x1, y1 := min(at.X+radius+1, pic.Width), min(at.Y+radius+1, pic.Height)
	g.buf = g.levels.window(g.buf, x0, y0, x1, y1)
	var all, free [256]int
	n := 0
	for i, v := range g.buf {
		all[v]++
		if !g.taken.Has(x0+i%(x1-x0), y0+i/(x1-x0)) {
			free[v]++
			n++
		}
	}
	if n < processing.GroundLeast {
		return lowerMedian(&all, len(g.buf))
	}
	return lowerMedian(&free, n)
}

// lowerMedian returns element (n−1)/2 of n sorted levels, given how often each occurs.
func lowerMedian(count *[256]int, n int) int {
	below := 0
	for v, c := range count {
		if below += c; below > (n-1)/2 {
			return v
		}
	}
	return 0
}
