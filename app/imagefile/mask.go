package imagefile

import (
	"context"

	"blik/app/imagefile/container"
	"blik/internal/message"
	"blik/processing"
)

// ReadMask reads a mask from a picture file of any format and depth: grey samples as they are, the highest of several
// colour samples, the upper eight of 16 bits, and floats with 1 as 255. It must be w × h pixels large; w = h = 0
// accepts any size within the limits.
func ReadMask(ctx context.Context, path string, w, h int, limits Limits) (*processing.Mask, error) {
	return runCancellable(ctx, func() (*processing.Mask, error) {
		f, err := read(ctx, path, limits, func(i container.Info) error {
			if (w != 0 || h != 0) && (i.Width != w || i.Height != h) {
				return &faultWithoutPath{ErrSize,
					message.Of("the mask has %d × %d pixels, the picture %d × %d", i.Width, i.Height, w, h)}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		return maskOf(ctx, f.Picture)
	})
}

func maskOf(ctx context.Context, p *processing.Picture) (*processing.Mask, error) {
	m := &processing.Mask{Width: p.Width, Height: p.Height}
	if p.Channels == 1 && p.U8 != nil {
		m.Pix = p.U8
		return m, nil
	}
	m.Pix = make([]uint8, p.Width*p.Height)
	c := p.Channels
	return m, eachRow(ctx, p.Height, func(y int) {
		for i := y * p.Width; i < (y+1)*p.Width; i++ {
			var v uint8
			for k := c * i; k < c*(i+1); k++ {
				switch {
				case p.U8 != nil:
					v = max(v, p.U8[k])
				case p.U16 != nil:
					v = max(v, uint8(p.U16[k]>>8))
				case p.F32[k] > 0: // no NaN
					v = max(v, uint8(min(p.F32[k], 1)*255+0.5))
				}
			}
			m.Pix[i] = v
		}
	})
}

// WriteMask writes m as an 8-bit grey PNG.
func WriteMask(ctx context.Context, path string, o WriteOptions, m *processing.Mask) error {
	return WritePNG(ctx, path, o, pictureOf(m))
}

// AddMask adds the output of WriteMask to the set.
func (o *Outputs) AddMask(ctx context.Context, path string, options WriteOptions, m *processing.Mask) error {
	return o.AddPNG(ctx, path, options, pictureOf(m))
}

// pictureOf returns a mask as a grey picture.
func pictureOf(m *processing.Mask) *processing.Picture {
	return &processing.Picture{Width: m.Width, Height: m.Height, Channels: 1, U8: m.Pix}
}
