package detect

import (
	"sort"

	"blik/internal/span"
	"blik/processing"
)

// The outline of a component: its pixels that rise by at least cut per cent of its rise, and the pixels connected to
// those that rise by at least grow per cent of it, up to reach pixels away.
const (
	cut   = 20
	grow  = 45
	reach = 5
)

// outliner outlines components. One goroutine uses it at a time.
type outliner struct {
	levels *levels
	// taken are the pixels of all components.
	taken *span.Set

	state []uint8
	queue []int32
}

// The bits of outliner.state: a pixel that was looked at, and one of the outline.
const (
	seen uint8 = 1 << iota
	kept
)

// outline returns the outline of the component with the given pixels, which are in reading order, and a peak that rises
// above the ground: its pixels with a level of at least ground + ⌊cut·rise⌋, and those that are 8-connected to these
// through pixels of at least ground + ⌊grow·rise⌋ that are within reach of the component and of no component.
func (o *outliner) outline(spans []processing.Span, ground, rise int) []processing.Span {
	s := processing.NewSums()
	for _, r := range spans {
		s.Add(r)
	}
	pic := o.levels.pic
	x0, y0 := max(int(s.Left)-reach, 0), max(int(s.Top)-reach, 0)
	x1, y1 := min(int(s.Right)+reach, pic.Width), min(int(s.Base)+reach, pic.Height)
	w, h := x1-x0, y1-y0
	if cap(o.state) < w*h {
		o.state = make([]uint8, w*h+w*h/2)
	}
	o.state = o.state[:w*h]
	clear(o.state)
	o.queue = o.queue[:0]
	least, inside := ground+grow*rise/100, ground+cut*rise/100
	for _, r := range spans {
		for x := int(r.X0); x < int(r.X1); x++ {
			i := (int(r.Y)-y0)*w + x - x0
			o.state[i] = seen
			if int(o.levels.at(x, int(r.Y))) >= inside {
				o.state[i] = kept
				o.queue = append(o.queue, int32(i))
			}
		}
	}
	for len(o.queue) > 0 {
		at := int(o.queue[len(o.queue)-1])
		o.queue = o.queue[:len(o.queue)-1]
		x, y := at%w, at/w
		for v := max(y-1, 0); v <= min(y+1, h-1); v++ {
			for u := max(x-1, 0); u <= min(x+1, w-1); u++ {
				i := v*w + u
				if o.state[i] != 0 {
					continue
				}
				o.state[i] = seen
				if int(o.levels.at(x0+u, y0+v)) >= least && !o.taken.Has(x0+u, y0+v) && reached(spans, x0+u, y0+v) {
					o.state[i] = kept
					o.queue = append(o.queue, int32(i))
				}
			}
		}
	}
	out := span.Append(nil, o.state, w, 0, h, kept)
	for i := range out {
		out[i].X0, out[i].X1, out[i].Y = out[i].X0+int32(x0), out[i].X1+int32(x0), out[i].Y+int32(y0)
	}
	return out
}

// reached reports whether a pixel is within reach of spans, which are in reading order.
func reached(spans []processing.Span, x, y int) bool {
	for row := y - reach; row <= y+reach; row++ {
		i := sort.Search(len(spans), func(i int) bool {
			s := &spans[i]
			return int(s.Y) > row || int(s.Y) == row && int(s.X1)+reach > x
		})
		if i < len(spans) && int(spans[i].Y) == row && int(spans[i].X0)-reach <= x {
			return true
		}
	}
	return false
}
