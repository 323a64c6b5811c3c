package png

import (
	"compress/flate"
	"context"
	"io"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// Encode writes a new PNG: grey or RGB of 8 or 16 bits, with the profile, EXIF, XMP, IPTC and resolution of m. Floating-point
// samples become 16 bits, what lies outside 0…1 is clipped. The rows are filtered and compressed on all processors.
//
// PNG has no CMYK, which is Unsupported.
func Encode(ctx context.Context, w io.Writer, pic *processing.Picture, m codec.Metadata) error {
	if err := pic.Validate(); err != nil {
		return err
	}
	h := header{width: pic.Width, height: pic.Height, depth: 16, kind: typeGrey}
	if pic.U8 != nil {
		h.depth = 8
	}
	switch pic.Channels {
	case 3:
		h.kind = typeRGB
	case 4:
		return codec.Unsupported("PNG holds no CMYK; save the picture as TIFF", "в PNG нет CMYK; сохраните изображение как TIFF")
	}
	head := appendChunk([]byte(signature), "IHDR", h.data())
	if _, err := w.Write(appendMetadata(head, m)); err != nil {
		return err
	}

	line := h.rowBytes(h.width) + 1
	rows := max(bandBytes/line, 1)
	dictRows := min((windowBytes+line-1)/line, rows)
	d := newDeflater(ctx, w, flate.BestSpeed)
	for y0 := 0; y0 < h.height; y0 += rows {
		b, err := d.next()
		if err != nil {
			break // close tells why
		}
		y1 := min(y0+rows, h.height)
		b.last = y1 == h.height
		b.prepare = func(b *band) { filterRows(b, pic, h, max(y0-dictRows, 0), y0, y1) }
		d.add(b)
	}
	if err := d.close(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := w.Write(appendChunk(nil, "IEND", nil))
	return err
}

// filterRows filters the rows y0 … y1 and, as their dictionary, those from before on.
func filterRows(b *band, pic *processing.Picture, h header, before, y0, y1 int) {
	var c chooser
	bpp := h.pixelBytes()
	row := make([]byte, 0, h.rowBytes(h.width))
	above := make([]byte, cap(row))
	if before > 0 {
		above = appendRow(above[:0], pic, before-1)
	}
	for y := before; y < y1; y++ {
		if y == y0 {
			b.dict = len(b.lines)
		}
		row = appendRow(row[:0], pic, y)
		b.lines = append(b.lines, c.line(row, above, bpp)...)
		row, above = above, row
	}
}

// appendRow appends the bytes of row y as PNG stores them.
func appendRow(dst []byte, p *processing.Picture, y int) []byte {
	n := p.Width * p.Channels
	switch {
	case p.U8 != nil:
		return append(dst, p.U8[y*n:(y+1)*n]...)
	case p.U16 != nil:
		for _, v := range p.U16[y*n : (y+1)*n] {
			dst = append(dst, byte(v>>8), byte(v))
		}
	default:
		for _, v := range p.F32[y*n : (y+1)*n] {
			// Written so that what is not a number becomes 0.
			s := uint16(0)
			if v >= 1 {
				s = 65535
			} else if v > 0 {
				s = uint16(v*65535 + 0.5)
			}
			dst = append(dst, byte(s>>8), byte(s))
		}
	}
	return dst
}
