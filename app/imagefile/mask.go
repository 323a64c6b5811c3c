package imagefile

import (
	"context"
	"io"
	"sync/atomic"

	"blik/app/imagefile/container"
	"blik/internal/message"
	"blik/processing"
)

// ReadMask reads a mask from a picture file of any format and depth: the light of each pixel, as bright as its
// brightest channel, over black as far as it is transparent; the upper eight of 16 bits, and floats with 1 as 255. It
// must be w × h pixels large; w = h = 0 accepts any size within the limits.
func ReadMask(ctx context.Context, path string, w, h int, limits Limits) (*processing.Mask, error) {
	return readMask(ctx, path, w, h, limits, false)
}

// ReadPlainMask is ReadMask for masks that are black and white, with grey edges at most, and mark no more than half of
// the picture. Anything else, for example a photograph or an inverted mask, is ErrNotMask: the error says what it is
// and how much of the picture ReadMask would mark.
func ReadPlainMask(ctx context.Context, path string, w, h int, limits Limits) (*processing.Mask, error) {
	return readMask(ctx, path, w, h, limits, true)
}

// readMask reads a mask; with plain it refuses what is unlikely to be one.
func readMask(ctx context.Context, path string, w, h int, limits Limits, plain bool) (*processing.Mask, error) {
	return runCancellable(ctx, func() (*processing.Mask, error) {
		p, err := readPaint(ctx, path, w, h, limits)
		if err != nil {
			return nil, err
		}
		m, err := p.mask(ctx)
		if err == nil && plain {
			err = p.doubt(ctx, path, m)
		}
		if err != nil {
			return nil, err
		}
		return m, nil
	})
}

// paint is a picture that is read as a mask. opacity is that of its pixels, nil if all are opaque.
type paint struct {
	*processing.Picture
	opacity []uint8
}

func readPaint(ctx context.Context, path string, w, h int, limits Limits) (*paint, error) {
	p := &paint{}
	f, err := read(ctx, path, limits, sizeOf(w, h), func(f *File, r io.ReaderAt) (err error) {
		p.opacity, err = f.opacity(ctx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Picture = f.Picture
	return p, nil
}

// light returns the brightest and the darkest of the channels of pixel i as light, in 8 bits.
func (p *paint) light(i int) (high, low uint8) {
	low = 255
	c := p.Channels
	for k := c * i; k < c*(i+1); k++ {
		v := sample8(p.Picture, k)
		high, low = max(high, v), min(low, v)
	}
	if c == 4 {
		// The samples are inks, and black covers the others.
		inks := [3]uint8{sample8(p.Picture, c*i), sample8(p.Picture, c*i+1), sample8(p.Picture, c*i+2)}
		black := sample8(p.Picture, c*i+3)
		high = scaled(255-min(inks[0], inks[1], inks[2]), 255-black)
		low = scaled(255-max(inks[0], inks[1], inks[2]), 255-black)
	}
	if p.opacity != nil {
		high, low = scaled(high, p.opacity[i]), scaled(low, p.opacity[i])
	}
	return high, low
}

func scaled(v, share uint8) uint8 { return uint8((int(v)*int(share) + 127) / 255) }

// mask returns the brightest channel of every pixel.
func (p *paint) mask(ctx context.Context) (*processing.Mask, error) {
	m := &processing.Mask{Width: p.Width, Height: p.Height}
	if p.Channels == 1 && p.U8 != nil && p.opacity == nil {
		m.Pix = p.U8
		return m, nil
	}
	m.Pix = make([]uint8, p.Width*p.Height)
	return m, eachRow(ctx, p.Height, func(y int) {
		for i := y * p.Width; i < (y+1)*p.Width; i++ {
			m.Pix[i], _ = p.light(i)
		}
	})
}

// The limits for a mask: at most a share colouredShare of its pixels have channels that differ by more than
// colourSpread, if it has more than fewLevels levels, at most a share greyShare are neither dark nor bright, and it
// marks at most a share markedShare.
const (
	colouredShare, colourSpread = 0.001, 32
	greyShare, fewLevels        = 0.25, 16
	darkLevel, brightLevel      = 32, 223
	markedShare                 = 0.5
)

// doubt returns why a picture is unlikely to be a mask, or nil.
func (p *paint) doubt(ctx context.Context, path string, m *processing.Mask) error {
	var coloured atomic.Int64
	if p.Channels > 1 {
		err := eachRow(ctx, p.Height, func(y int) {
			n := int64(0)
			for i := y * p.Width; i < (y+1)*p.Width; i++ {
				if high, low := p.light(i); high-low > colourSpread {
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
	brightest := 0
	for v, n := range histogram {
		if n > 0 {
			levels++
			brightest = v
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
	case marked == 0 && (p.opacity != nil || brightest > 0):
		return fault(path, ErrNotMask, nil,
			"this mask marks nothing: no pixel is at least half as bright as white; glare is white, all else black")
	case marked == len(m.Pix):
		return fault(path, ErrNotMask, nil,
			"this mask marks the whole picture, which leaves no paint to continue; glare is white, all else black")
	case float64(marked) > markedShare*all:
		return fault(path, ErrNotMask, nil,
			"this mask marks %d %% of the picture and may be inverted; glare is white, all else black", share)
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
		switch {
		case w == 0 && h == 0 || i.Width == w && i.Height == h:
			return nil
		case i.Width == h && i.Height == w:
			return &faultWithoutPath{ErrSize,
				message.Of("the mask has %d × %d pixels, the picture %d × %d: turn the mask by 90°, because masks "+
					"follow the stored pixels and not the EXIF orientation", i.Width, i.Height, w, h)}
		}
		return &faultWithoutPath{ErrSize,
			message.Of("the mask has %d × %d pixels, the picture %d × %d", i.Width, i.Height, w, h)}
	}
}

// TurnedRemark returns what a user should know who gives a mask for a picture with an EXIF orientation; ok is false for
// orientation 1.
func (f *File) TurnedRemark() (remark message.Message, ok bool) {
	return message.Of(
		"The picture is shown turned or mirrored (EXIF orientation %d), but the mask is taken as the pixels are "+
			"stored. A mask painted on the picture as it is shown marks other places.",
		f.Orientation), f.Orientation != 1
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
