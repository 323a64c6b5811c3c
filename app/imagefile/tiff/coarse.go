package tiff

import (
	"context"

	"blik/processing"
)

// widestRow is the maximum number of bytes of a row of segments that DecodeCoarse reads at a time.
const widestRow = 64 << 20

// DecodeCoarse implements container.CoarseDecoder. It reads whole rows, as many as the result has, on all cores.
func (f *File) DecodeCoarse(ctx context.Context, step int) (*processing.Picture, error) {
	l := f.lay
	if l.compression != compNone || l.rowBytes() > widestRow/int64(l.across*l.channels) || step < 1 {
		return nil, nil
	}
	if err := f.whole(); err != nil {
		return nil, err
	}
	pic := l.newPicture((l.width+step-1)/step, (l.height+step-1)/step)
	err := eachTask(ctx, pic.Height, func(ctx context.Context, s *scratch, i int) error {
		if s.row == nil {
			s.row = l.newPicture(l.width, 1)
		}
		y := i * step
		each := l.across * l.down
		for plane := 0; plane*each < l.coloured(); plane++ {
			for x := range l.across {
				u := l.unit(plane*each + y/l.segmentHeight*l.across + x)
				within := y - u.y
				u.y = -within
				if err := f.decodeRows(ctx, s, s.row, u, within, within+1); err != nil {
					return err
				}
			}
		}
		thin(pic, i, s.row, step)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pic, nil
}

// thin stores every step-th pixel of a row of a picture as row y of pic.
func thin(pic *processing.Picture, y int, row *processing.Picture, step int) {
	n, to, from := pic.Channels, pic.Samples(), row.Samples()
	for x := range pic.Width {
		to.Copy((y*pic.Width+x)*n, from, x*step*n, n)
	}
}
