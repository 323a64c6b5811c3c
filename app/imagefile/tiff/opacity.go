package tiff

import (
	"context"
	"io"
	"math"
	"sync/atomic"

	"blik/app/imagefile/container"
)

var _ container.OpacityDecoder = (*File)(nil)

// The values of tag 338.
const (
	extraAssociated   = 1
	extraUnassociated = 2
)

// opacitySample returns the number of the sample of a pixel that is its opacity; ok is false if there is none.
func (f *File) opacitySample() (sample int, ok bool) {
	e, extra := f.dir.Find(tagExtraSamples), f.lay.samples-f.lay.colours
	if e == nil || extra == 0 {
		return 0, false
	}
	// Unreadable values do not affect the colour samples.
	kinds, _ := f.src.Ints(e, extra)
	for i, kind := range kinds {
		if kind == extraAssociated || kind == extraUnassociated {
			return f.lay.colours + i, true
		}
	}
	return 0, false
}

// Opacity implements container.OpacityDecoder.
func (f *File) Opacity(ctx context.Context) ([]uint8, error) {
	l := f.lay
	sample, ok := f.opacitySample()
	if !ok {
		return nil, nil
	}
	first, n, step, lane := 0, l.across*l.down, l.samples, sample
	if l.planar {
		first, step, lane = sample*n, 1, 0
	}
	out := make([]uint8, l.width*l.height)
	var transparent atomic.Bool
	err := eachTask(ctx, n, func(ctx context.Context, s *scratch, i int) error {
		u := l.unit(first + i)
		if err := f.lay.stored(u, f.src.Size); err != nil {
			return err
		}
		r, err := f.open(s, u, 0)
		if err != nil {
			return err
		}
		for y := range u.h {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := s.rows(l.rowBytes())
			if _, err := io.ReadFull(r, row); err != nil {
				return l.readError(u, err)
			}
			f.unpredict(s, row)
			to := out[(u.y+y)*l.width+u.x:][:u.w]
			for x := range to {
				to[x] = l.opacity(row, x*step+lane)
				if to[x] < 255 {
					transparent.Store(true)
				}
			}
		}
		return nil
	})
	if err != nil || !transparent.Load() {
		return nil, err
	}
	return out, nil
}

// opacity returns sample i of a row in 8 bits, 0 only for 0 and less.
func (l *layout) opacity(row []byte, i int) uint8 {
	switch l.depth {
	case 8:
		return row[i]
	case 16:
		v := l.order().Uint16(row[2*i:])
		return max(uint8(v>>8), uint8(min(v, 1)))
	case 32:
		v := math.Float32frombits(l.order().Uint32(row[4*i:]))
		if !(v > 0) {
			return 0
		}
		return max(uint8(min(v, 1)*255+0.5), 1)
	}
	return l.bits(row, i) * (255 / uint8(1<<l.depth-1))
}
