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

// of returns the ground of the component with the given pixels, which are in reading order, and how far its peak rises
// above it, in lightness or, if that is more, in the darkest channel.
func (g *grounds) of(runs []processing.Run) (ground, rise int) {
	top, peak := -1, image.Point{}
	g.levels.dark = false
	for _, r := range runs {
		g.buf = g.levels.window(g.buf, r.X0, r.Y, r.X1, r.Y+1)
		for i, v := range g.buf {
			if int(v) > top {
				top, peak = int(v), image.Pt(r.X0+i, r.Y)
			}
		}
	}
	p := processing.GlintProps{Peak: uint8(top), Ground: g.around(peak, processing.GroundRadius)}
	g.levels.dark = true
	g.buf = g.levels.window(g.buf, peak.X, peak.Y, peak.X+1, peak.Y+1)
	p.DarkPeak = g.buf[0]
	p.DarkGround = g.around(peak, processing.GroundRadius)
	ground, rise, _ = p.Rise()
	return ground, rise
}

// around returns the ground within a radius of a pixel.
func (g *grounds) around(at image.Point, radius int) uint8 {
	pic := g.levels.pic
	x0, y0 := max(at.X-radius, 0), max(at.Y-radius, 0)
	x1, y1 := min(at.X+radius+1, pic.Width), min(at.Y+radius+1, pic.Height)
	g.buf = g.levels.window(g.buf, x0, y0, x1, y1)
	var all, free [256]int32
	n := int32(0)
	for i, v := range g.buf {
		all[v]++
		if !g.taken.Has(x0+i%(x1-x0), y0+i/(x1-x0)) {
			free[v]++
			n++
		}
	}
	if n < processing.GroundLeast {
		return processing.LowerMedian(&all, int32(len(g.buf)))
	}
	return processing.LowerMedian(&free, n)
}
