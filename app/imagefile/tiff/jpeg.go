package tiff

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// readJPEG checks that the pictures in the segments are of a kind that is read (TIFF Technical Note 2), and keeps the
// tables that they share.
func (l *layout) readJPEG(s *source, d *directory) error {
	switch {
	case l.depth != 8 || l.float || l.planar || l.samples != l.colours,
		l.photometric == photometricInk, l.photometric == photometricIndex:
		return unsupported("TIFF with JPEG compression is read only where it is 8-bit grey, RGB or YCbCr without alpha",
			"TIFF со сжатием JPEG читается, только если он 8-битный серый, RGB или YCbCr без прозрачности")
	}
	var err error
	if l.tables, err = s.raw(d.find(tagJPEGTables)); err != nil {
		return err
	}
	return nil
}

// Markers of JPEG (ITU-T T.81, table B.1).
var (
	startOfImage = []byte{0xff, 0xd8}
	endOfImage   = []byte{0xff, 0xd9}
)

// decodeJPEG decodes a segment. Its stream is completed by the shared tables and by a marker of Adobe's that says what
// the three components are, which TIFF says in a tag and JPEG leaves to guessing.
func (f *File) decodeJPEG(ctx context.Context, pic *processing.Picture, u unit) error {
	l := f.lay
	data, err := f.src.bytes(l.offsets[u.index], l.counts[u.index])
	if err != nil {
		return err
	}
	if l.lsbFirst {
		reverseBits(data)
	}
	bad := func(err error) error {
		return damaged("the JPEG data of strip or tile %d are damaged (%v)", "данные JPEG в полосе или плитке %d повреждены (%v)", u.index+1, err)
	}
	data, ok := bytes.CutPrefix(data, startOfImage)
	if !ok {
		return bad(fmt.Errorf("no start of image"))
	}
	transform := byte(0)
	if l.photometric == photometricYCbCr {
		transform = 1
	}
	head := append([]byte{}, startOfImage...)
	head = append(head, "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"...)
	head = append(head, transform)
	head = append(head, bytes.TrimSuffix(bytes.TrimPrefix(l.tables, startOfImage), endOfImage)...)
	stream := func() io.Reader { return io.MultiReader(bytes.NewReader(head), bytes.NewReader(data)) }
	cfg, err := jpeg.DecodeConfig(stream())
	if err != nil {
		return bad(err)
	}
	// The size decides over memory, so it must be what the tags promised.
	rows := u.rows
	if cfg.Width != l.segmentWidth || cfg.Height < u.h || cfg.Height > max(rows, l.segmentHeight) {
		return bad(fmt.Errorf("%d × %d pixels where %d × %d were expected", cfg.Width, cfg.Height, l.segmentWidth, rows))
	}
	img, err := jpeg.Decode(&cancelled{ctx, stream()})
	if err != nil {
		if e := ctx.Err(); e != nil {
			return e
		}
		return bad(err)
	}
	to := func(y int) []uint8 {
		at := ((u.y+y)*pic.Width + u.x) * pic.Channels
		return pic.U8[at : at+u.w*pic.Channels]
	}
	switch m := img.(type) {
	case *image.Gray:
		if l.channels != 1 {
			return bad(fmt.Errorf("grey where colours were expected"))
		}
		for y := range u.h {
			copy(to(y), m.Pix[y*m.Stride:])
			if l.photometric == whiteIsZero {
				invert(to(y))
			}
		}
	case *image.YCbCr:
		if l.channels != 3 {
			return bad(fmt.Errorf("colours where grey was expected"))
		}
		for y := range u.h {
			row := to(y)
			for x := range u.w {
				c, i := m.COffset(x, y), m.YOffset(x, y)
				row[3*x], row[3*x+1], row[3*x+2] = color.YCbCrToRGB(m.Y[i], m.Cb[c], m.Cr[c])
			}
		}
	case *image.RGBA:
		if l.channels != 3 {
			return bad(fmt.Errorf("colours where grey was expected"))
		}
		for y := range u.h {
			unpack8(to(y), m.Pix[y*m.Stride:], 3, 3, 4, u.w)
		}
	default:
		return codec.Unsupported("TIFF with this variant of JPEG compression is not read",
			"TIFF с этой разновидностью сжатия JPEG не читается")
	}
	return nil
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
