package png

import (
	"context"

	"blik/app/imagefile/container"
)

var _ container.OpacityDecoder = (*File)(nil)

// Opacity implements container.OpacityDecoder.
func (f *File) Opacity(ctx context.Context) ([]uint8, error) {
	if !f.transparent() {
		return nil, nil
	}
	if err := f.whole(); err != nil {
		return nil, err
	}
	out, opaque := make([]uint8, f.width*f.height), true
	key, row := f.key(), []byte(nil)
	err := f.eachFreshRow(ctx, func(p pass, y int, fresh []byte) error {
		row = f.rewritten().opacity(row[:0], fresh, p.width, key)
		at := (p.y0+y*p.dy)*f.width + p.x0
		for x := range p.width {
			v := row[alphaBytes*x]
			if v == 0 && row[alphaBytes*x+1] > 0 {
				v = 1 // 16 bits, and not wholly transparent
			}
			opaque = opaque && v == 255
			out[at+x*p.dx] = v
		}
		return nil
	})
	if err != nil || opaque {
		return nil, err
	}
	return out, nil
}
