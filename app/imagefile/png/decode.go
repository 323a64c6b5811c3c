package png

import (
	"context"

	"blik/app/imagefile/container"
	"blik/processing"
)

// Decode returns the colour samples, without alpha and tRNS, as 8 or 16 bits. Palettes become RGB, and grey of fewer
// than 8 bits becomes 8 bits.
func (f *File) Decode(ctx context.Context) (*processing.Picture, error) {
	if err := f.whole(); err != nil {
		return nil, err
	}
	channels := f.Info().Channels()
	s := processing.NewSamples(max(int(f.depth), 8), f.width*f.height*channels)
	pic := &processing.Picture{Width: f.width, Height: f.height, Channels: channels, U8: s.U8, U16: s.U16}
	store := f.store(pic)
	err := f.eachRow(ctx, func(p pass, y int, row []byte) error {
		store(p, y, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pic, nil
}

// eachRow calls visit for the rows of all passes. row holds the samples as packed in the file; visit must not change
// it.
func (f *File) eachRow(ctx context.Context, visit func(p pass, y int, row []byte) error) error {
	if err := f.whole(); err != nil {
		return err
	}
	lines := f.inflate(ctx)
	defer lines.close()
	zero := make([]byte, f.rowBytes(f.width))
	bpp := f.pixelBytes()
	for _, p := range f.passes() {
		fill := f.fillBits(p.width)
		n := f.rowBytes(p.width)
		above := zero[:n]
		for y := range p.height {
			if err := ctx.Err(); err != nil {
				return err
			}
			line, err := lines.line(n + 1)
			if err != nil {
				return err
			}
			row := line[1:]
			if err := unfilter(line[0], row, above, bpp); err != nil {
				return err
			}
			if fill != 0 && row[n-1]&fill != 0 && row[n-1]&fill != fill {
				f.loose.Store(true)
			}
			if err := visit(p, y, row); err != nil {
				return err
			}
			above = row
		}
	}
	return lines.end()
}

// eachFreshRow is eachRow for rows in the format of the rewritten file, which visit may change.
func (f *File) eachFreshRow(ctx context.Context, visit func(p pass, y int, row []byte) error) error {
	colours := f.colours()
	var fresh []byte
	return f.eachRow(ctx, func(p pass, y int, row []byte) error {
		fresh = f.expand(fresh[:0], row, p.width, colours)
		return visit(p, y, fresh)
	})
}

// fillBits returns the bits of the last byte of a row of width pixels that belong to none of them.
func (h header) fillBits(width int) byte {
	return 1<<(-(width*h.samples()*int(h.depth))&7) - 1
}

// store returns the function that stores a row of a pass in pic.
func (f *File) store(pic *processing.Picture) func(p pass, y int, row []byte) {
	to8 := func(into func(dst, row []byte, step int)) func(p pass, y int, row []byte) {
		return func(p pass, y int, row []byte) {
			at := (p.y0+y*p.dy)*pic.Width + p.x0
			into(pic.U8[at*pic.Channels:], row[:f.rowBytes(p.width)], p.dx*pic.Channels)
		}
	}
	switch {
	case f.depth == 16:
		return func(p pass, y int, row []byte) {
			at := (p.y0+y*p.dy)*pic.Width + p.x0
			store16(pic.U16[at*pic.Channels:], row, p.dx*pic.Channels, pic.Channels, f.samples())
		}
	case f.kind == typePalette:
		colours := f.colours()
		return func(p pass, y int, row []byte) {
			dst := pic.U8[3*((p.y0+y*p.dy)*pic.Width+p.x0):]
			for x := range p.width {
				copy(dst[3*x*p.dx:], colours[f.index(row, x)][:3])
			}
		}
	case f.depth < 8:
		scale := 255 / (1<<f.depth - 1)
		return func(p pass, y int, row []byte) {
			dst := pic.U8[(p.y0+y*p.dy)*pic.Width+p.x0:]
			for x := range p.width {
				dst[x*p.dx] = uint8(f.index(row, x) * scale)
			}
		}
	case f.kind == typeGrey:
		return to8(func(dst, row []byte, step int) {
			if step == 1 {
				copy(dst, row)
				return
			}
			for x, v := range row {
				dst[x*step] = v
			}
		})
	case f.kind == typeGreyAlpha:
		return to8(func(dst, row []byte, step int) {
			for x := range len(row) / 2 {
				dst[x*step] = row[2*x]
			}
		})
	default:
		n := f.samples()
		return to8(func(dst, row []byte, step int) {
			if n == 3 && step == 3 {
				copy(dst, row)
				return
			}
			for ; len(row) >= n; row = row[n:] {
				dst[0], dst[1], dst[2] = row[0], row[1], row[2]
				dst = dst[min(step, len(dst)):]
			}
		})
	}
}

// store16 stores the first channels samples of each pixel, which has samples big-endian samples. step is the distance
// between pixels in dst.
func store16(dst []uint16, row []byte, step, channels, samples int) {
	if channels == samples && step == samples {
		for i := range dst[:min(len(row)/2, len(dst))] {
			dst[i] = uint16(row[2*i])<<8 | uint16(row[2*i+1])
		}
		return
	}
	for ; len(row) >= 2*samples; row = row[2*samples:] {
		for c := range channels {
			dst[c] = uint16(row[2*c])<<8 | uint16(row[2*c+1])
		}
		dst = dst[min(step, len(dst)):]
	}
}

// index returns sample x of a row with one sample of at most 8 bits per pixel.
func (f *File) index(row []byte, x int) int {
	if f.depth == 8 {
		return int(row[x])
	}
	perByte := 8 / int(f.depth)
	shift := 8 - int(f.depth)*(x%perByte+1)
	return int(row[x/perByte]) >> shift & (1<<f.depth - 1)
}

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
