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
	key, colours := f.key(), f.opaqueColours()
	lines, err := f.inflate(ctx)
	if err != nil {
		return nil, err
	}
	defer lines.close()
	out, opaque := make([]uint8, f.width*f.height), true
	var fresh, row []byte
	err = f.eachRow(ctx, lines, func(p pass, y int, stored []byte) error {
		fresh = f.expand(fresh[:0], stored, p.width, colours)
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
