package imagefile

import (
	"context"
	"io"
	"math"

	"blik/internal/message"
	"blik/processing"
)

// hide finds the wholly transparent pixels of the picture. For detection and correction, visible paint continues into
// them as in a mirror at the nearest visible pixel, so that it has the same grain there and no edge.
func (f *File) hide(ctx context.Context, r io.ReaderAt) error {
	opacity, err := f.opacity(ctx, r)
	if opacity == nil || err != nil {
		return err
	}
	hidden, any := make([]bool, len(opacity)), false
	for i, v := range opacity {
		hidden[i] = v == 0
		any = any || v == 0
	}
	if !any {
		return nil
	}
	const offsetBytes = 4
	need := float64(samplesBytes(f.Picture)) + offsetBytes*float64(len(hidden))
	if free := machineMemory().available; free > 0 && need > float64(free) {
		return &faultWithoutPath{ErrMemory, message.Of(
			"the transparent parts of %d × %d pixels take %s of memory, and only %s are free",
			f.Picture.Width, f.Picture.Height, gibibytes(need), gibibytes(float64(free)))}
	}
	seen, err := mirrored(ctx, f.Picture, hidden)
	if err != nil {
		return err
	}
	h := &processing.Hidden{Pixels: hidden, Seen: seen}
	f.Picture.Hidden, seen.Hidden = h, h
	return nil
}

// mirrored returns a copy of a picture in which visible pixels are mirrored into the hidden ones.
func mirrored(ctx context.Context, pic *processing.Picture, hidden []bool) (*processing.Picture, error) {
	near, err := nearest(ctx, hidden, pic.Width, pic.Height)
	if err != nil {
		return nil, err
	}
	out, err := patched(ctx, pic, nil)
	if err != nil {
		return nil, err
	}
	w, c := pic.Width, pic.Channels
	to, src, none := out.Samples(), pic.Samples(), processing.NewSamples(pic.Depth(), c)
	return out, eachRow(ctx, pic.Height, func(y int) {
		for x := range w {
			i := y*w + x
			if !hidden[i] {
				continue
			}
			d := near[i]
			if d == farAway() { // no pixel of the picture is visible
				to.Copy(i*c, none, 0, c)
				continue
			}
			from := i + int(d.y)*w + int(d.x)
			// The pixel on the other side of the nearest one, if that is visible, too.
			mx, my := x+2*int(d.x), y+2*int(d.y)
			if mx >= 0 && mx < w && my >= 0 && my < pic.Height && !hidden[my*w+mx] {
				from = my*w + mx
			}
			to.Copy(i*c, src, from*c, c)
		}
	})
}

// offset is the distance to another pixel.
type offset struct{ x, y int16 }

// farAway returns what stands for a pixel of which no visible one is near enough to be known.
func farAway() offset { return offset{math.MinInt16, math.MinInt16} }

// nearest returns the offset of the nearest visible pixel for each pixel, up to the small errors of sequential distance
// propagation (Danielsson 1980): two passes, in which each pixel asks its neighbours.
func nearest(ctx context.Context, hidden []bool, w, h int) ([]offset, error) {
	near := make([]offset, len(hidden))
	for i, is := range hidden {
		if is {
			near[i] = farAway()
		}
	}
	length := func(d offset) int64 {
		if d == farAway() {
			return math.MaxInt64
		}
		return int64(d.x)*int64(d.x) + int64(d.y)*int64(d.y)
	}
	ask := func(x, y, dx, dy int) {
		i := y*w + x
		if !hidden[i] || x+dx < 0 || x+dx >= w || y+dy < 0 || y+dy >= h {
			return
		}
		d := near[i+dy*w+dx]
		vx, vy := int(d.x)+dx, int(d.y)+dy
		if d == farAway() || max(vx, -vx, vy, -vy) > math.MaxInt16 {
			return
		}
		if v := (offset{int16(vx), int16(vy)}); length(v) < length(near[i]) {
			near[i] = v
		}
	}
	for _, side := range []int{-1, 1} {
		for row := range h {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			y := row
			if side > 0 {
				y = h - 1 - row
			}
			for x := range w {
				for dx := -1; dx <= 1; dx++ {
					ask(x, y, dx, side)
				}
				ask(x, y, -1, 0)
			}
			for x := w - 1; x >= 0; x-- {
				ask(x, y, 1, 0)
			}
		}
	}
	return near, nil
}
