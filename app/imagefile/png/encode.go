package png

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"

	"blik/app/imagefile/container"
	"blik/processing"
)

// Encode writes a new PNG: grey or RGB of 8 or 16 bits, with the profile, EXIF, XMP, IPTC and resolution of m.
// Floating-point samples are clipped to 0…1 and become 16 bits. Rows are filtered and compressed on all processors.
//
// The error is container.Unsupported for CMYK, which PNG does not have.
func Encode(ctx context.Context, w io.Writer, pic *processing.Picture, m container.Metadata) error {
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
		return container.Unsupported("PNG does not support CMYK; save the picture as TIFF")
	}
	head := appendChunk([]byte(signature), "IHDR", h.data())
	if _, err := w.Write(appendMetadata(head, m)); err != nil {
		return err
	}

	d := newRowWriter(ctx, w, h.pixelBytes(), encodeLevel)
	if err := d.rows(pic, h); err == nil {
		d.finish()
	} // else close returns the reason
	if err := d.close(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := w.Write(appendChunk(nil, "IEND", nil))
	return err
}

// encodeLevel is the level of package flate for new pictures. Photographs become 1 % larger than with the default
// level, in three quarters of the time.
const encodeLevel = 3

// rows writes the rows of pic.
func (d *rowWriter) rows(pic *processing.Picture, h header) error {
	if err := d.beginPass(h.rowBytes(h.width)); err != nil {
		return err
	}
	var row []byte
	for y := range h.height {
		row = appendRow(row[:0], pic, y)
		if err := d.row(row); err != nil {
			return err
		}
	}
	return nil
}

// appendRow appends the bytes of row y in the format of PNG.
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
			// Both comparisons are false for NaN, which becomes 0.
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

// appendChunk appends a chunk (5.3): length, name, data and checksum.
func appendChunk(dst []byte, name string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	at := len(dst)
	dst = append(append(dst, name...), data...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}

// data returns the data of IHDR.
func (h header) data() []byte {
	d := binary.BigEndian.AppendUint32(nil, uint32(h.width))
	d = binary.BigEndian.AppendUint32(d, uint32(h.height))
	d = append(d, h.depth, h.kind, 0, 0, 0)
	if h.interlaced {
		d[12] = 1
	}
	return d
}
