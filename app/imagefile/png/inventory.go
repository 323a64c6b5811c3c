package png

import (
	"context"
	"crypto/sha256"
	"io"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// Inventory lists all chunks except the pixels, with those before the pixels separate from those after them, the
// transparency of the pixels, and the data after the last chunk. If changed is set, it lists what the rewritten file
// will contain.
func (f *File) Inventory(ctx context.Context, changed bool) (*container.Inventory, error) {
	v := &container.Inventory{}
	left := changed && len(f.stale) > 0
	changed = changed && f.converts()
	name := func(c chunk) message.Message {
		if c.at > f.idat {
			return message.Of("chunk %s after the pixels", c.name)
		}
		return message.Of("chunk %s", c.name)
	}
	end := int64(0)
	for at := int64(len(signature)); end == 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := f.chunkAt(at)
		if err != nil {
			return nil, err
		}
		at = c.end()
		switch c.name {
		case "IEND":
			end = at
		case "IDAT":
		case "IHDR", "PLTE", "tRNS", "bKGD", "sBIT", "hIST":
			if err := f.listConverted(v, c, name(c), changed && c.at < f.idat); err != nil {
				return nil, err
			}
		default:
			if left && stale(c.name) {
				continue
			}
			if err := v.AddRange(name(c), f.r, c.at, c.n+4); err != nil {
				return nil, err
			}
		}
	}
	if err := v.AddRange(message.Of("data after the picture"), f.r, end, f.size-end); err != nil {
		return nil, err
	}
	return v, f.listTransparency(ctx, v, changed)
}

// listConverted lists a chunk that describes the samples; if changed is set, it lists the converted chunk.
func (f *File) listConverted(v *container.Inventory, c chunk, name message.Message, changed bool) error {
	d := make([]byte, min(c.n, 3*256))
	if _, err := f.r.ReadAt(d, c.at); err != nil && err != io.EOF {
		return container.ReadError(err)
	}
	if changed {
		if d = f.convertChunk(c.name, d); d == nil {
			return nil
		}
	}
	if c.name == "IHDR" && len(d) == 13 {
		v.AddGeometry(message.Of("size").Context("differs"), d[:8])
		// All except the interlace method.
		v.Add(name, d[8:12])
		return nil
	}
	v.Add(name, d)
	return nil
}

// listTransparency lists the alpha of all pixels, unless all are opaque.
func (f *File) listTransparency(ctx context.Context, v *container.Inventory, changed bool) error {
	if !f.transparent() {
		return nil
	}
	key, colours := f.key(), f.opaqueColours()
	lines, err := f.inflate(ctx)
	if err != nil {
		return err
	}
	defer lines.close()
	// Interlaced files store pixels in another order, so their alpha is first collected in plane.
	sum, fresh := sha256.New(), []byte(nil)
	opacity := make([]byte, 0, alphaBytes*f.width)
	plane := []byte(nil)
	if f.interlaced {
		plane = make([]byte, alphaBytes*f.width*f.height)
	}
	err = f.eachRow(ctx, lines, func(p pass, y int, row []byte) error {
		fresh = f.expand(fresh[:0], row, p.width, colours)
		opacity = f.rewritten().opacity(opacity[:0], fresh, p.width, key)
		if plane == nil {
			sum.Write(opacity)
			return nil
		}
		for x := range p.width {
			at := alphaBytes * ((p.y0+y*p.dy)*f.width + p.x0 + x*p.dx)
			copy(plane[at:at+alphaBytes], opacity[alphaBytes*x:])
		}
		return nil
	})
	if err != nil {
		return err
	}
	sum.Write(plane)
	v.AddSum(message.Of("transparency").Context("differs"), sum)
	return nil
}

// transparent reports whether pixels may be transparent.
func (f *File) transparent() bool { return f.alpha() || f.transparency != nil }

// alphaBytes is the number of bytes for the alpha of a pixel in an inventory.
const alphaBytes = 2

// opacity appends the alpha of the pixels of a row, alphaBytes each.
func (h header) opacity(dst, row []byte, width int, key []byte) []byte {
	bpp := h.pixelBytes()
	for x := range width {
		pixel := row[x*bpp:][:bpp]
		switch {
		case h.alpha() && h.depth == 16:
			dst = append(dst, pixel[bpp-2:]...)
		case h.alpha():
			dst = append(dst, pixel[bpp-1], 0)
		case key != nil && string(pixel) == string(key):
			dst = append(dst, 0, 0)
		default:
			dst = append(dst, 255, 255)
		}
	}
	return dst
}
