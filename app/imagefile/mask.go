package imagefile

import (
	"context"
	"sync/atomic"

	"blik/app/imagefile/container"
	"blik/internal/message"
	"blik/processing"
)

// ReadMask reads a mask from a picture file of any format and depth: grey samples as they are, the highest of several
// colour samples, the upper eight of 16 bits, and floats with 1 as 255. It must be w × h pixels large; w = h = 0
// accepts any size within the limits.
func ReadMask(ctx context.Context, path string, w, h int, limits Limits) (*processing.Mask, error) {
	return runCancellable(ctx, func() (*processing.Mask, error) {
		f, err := read(ctx, path, limits, sizeOf(w, h))
		if err != nil {
			return nil, err
		}
		return maskOf(ctx, f.Picture)
	})
}

// ReadPlainMask is ReadMask for masks that are black and white, with grey edges at most. Any other picture, for example
// a photograph, is ErrNotMask: the error says what it is and how much of it ReadMask would mark.
func ReadPlainMask(ctx context.Context, path string, w, h int, limits Limits) (*processing.Mask, error) {
	return runCancellable(ctx, func() (*processing.Mask, error) {
		f, err := read(ctx, path, limits, sizeOf(w, h))
		if err != nil {
			return nil, err
		}
		m, err := maskOf(ctx, f.Picture)
		if err != nil {
			return nil, err
		}
		if err := doubt(ctx, f.Path, f.Picture, m); err != nil {
			return nil, err
		}
		return m, nil
	})
}

// The limits for a mask: at most a share colouredShare of its pixels have channels that differ by more than
// colourSpread, and if it has more than fewLevels levels, at most a share greyShare are neither dark nor bright.
const (
	colouredShare, colourSpread = 0.001, 32
	greyShare, fewLevels        = 0.25, 16
	darkLevel, brightLevel      = 32, 223
)

// doubt returns why a picture is unlikely to be a mask, or nil.
func doubt(ctx context.Context, path string, p *processing.Picture, m *processing.Mask) error {
	var coloured atomic.Int64
	if c := p.Channels; c > 1 {
		err := eachRow(ctx, p.Height, func(y int) {
			n := int64(0)
			for i := y * p.Width; i < (y+1)*p.Width; i++ {
				least := m.Pix[i]
				for k := c * i; k < c*(i+1); k++ {
					least = min(least, sample8(p, k))
				}
				if m.Pix[i]-least > colourSpread {
					n++
				}
			}
			coloured.Add(n)
		})
		if err != nil {
			return err
		}
	}
	var histogram [256]int
	for _, v := range m.Pix {
		histogram[v]++
	}
	levels, grey, marked := 0, 0, 0
	for v, n := range histogram {
		if n > 0 {
			levels++
		}
		if v > darkLevel && v < brightLevel {
			grey += n
		}
		if v >= processing.MaskLevel {
			marked += n
		}
	}
	all := float64(len(m.Pix))
	share := int(100*float64(marked)/all + 0.5)
	switch {
	case float64(coloured.Load()) > colouredShare*all:
		return fault(path, ErrNotMask, nil,
			"this is not a mask but a picture in colour; as a mask it would mark %d %% of the picture", share)
	case levels > fewLevels && float64(grey) > greyShare*all:
		return fault(path, ErrNotMask, nil,
			"this is not a mask but a picture in shades of grey; as a mask it would mark %d %% of the picture", share)
	}
	return nil
}

// sample8 returns sample k of a picture, converted to 8 bits.
func sample8(p *processing.Picture, k int) uint8 {
	switch {
	case p.U8 != nil:
		return p.U8[k]
	case p.U16 != nil:
		return uint8(p.U16[k] >> 8)
	case p.F32[k] > 0: // no NaN
		return uint8(min(p.F32[k], 1)*255 + 0.5)
	}
	return 0
}

// sizeOf returns a check that rejects files whose size is not w × h; w = h = 0 accepts any.
func sizeOf(w, h int) func(container.Info) error {
	return func(i container.Info) error {
		if (w != 0 || h != 0) && (i.Width != w || i.Height != h) {
			return &faultWithoutPath{ErrSize,
				message.Of("the mask has %d × %d pixels, the picture %d × %d", i.Width, i.Height, w, h)}
		}
		return nil
	}
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
				v = max(v, sample8(p, k))
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
