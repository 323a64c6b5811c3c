package png

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// Inventory lists all chunks except the pixels and their order, with those before the pixels separate from those after
// them, the transparency of the pixels, and the data after the last chunk. If changed is set, it lists what the
// rewritten file will contain.
func (f *File) Inventory(ctx context.Context, changed bool) (*container.Inventory, error) {
	v := &container.Inventory{}
	left := changed && len(f.stale) > 0
	v.Coverage.Mark(container.Structure, 0, int64(len(signature)))
	changed = changed && f.converts()
	name := func(c chunk) message.Message {
		if c.at > f.idat {
			return message.Of("chunk %s after the pixels", c.name)
		}
		return message.Of("chunk %s", c.name)
	}
	var order []string
	end, packed := int64(0), int64(0)
	for at := int64(len(signature)); end == 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := f.chunkAt(at)
		if err != nil {
			return nil, err
		}
		at = c.end()
		v.Coverage.Mark(container.Structure, c.at-8, 8)
		v.Coverage.Mark(container.Structure, c.at+c.n, 4)
		if c.name == "IDAT" {
			if packed == 0 {
				order = append(order, c.name)
			}
			// Bytes behind the end of the stream are listed below.
			used := max(min(f.used.Load()-packed, c.n), 0)
			v.Coverage.Mark(container.Sample, c.at, used)
			packed += c.n
			continue
		}
		v.Coverage.Mark(container.Value, c.at, c.n)
		if left && stale(c.name) {
			continue
		}
		listed, err := f.list(v, c, name(c), changed && c.at < f.idat)
		if err != nil {
			return nil, err
		}
		if listed {
			order = append(order, c.name)
		}
		if c.name == "IEND" {
			end = at
		}
	}
	v.Add(message.Of("the order of chunks"), []byte(strings.Join(order, " ")))
	v.Coverage.Mark(container.Value, end, f.size-end)
	if err := v.AddRange(message.Of("data after the picture"), f.r, end, f.size-end); err != nil {
		return nil, err
	}
	if err := f.listBehind(v); err != nil {
		return nil, err
	}
	if err := f.listLoose(ctx, v); err != nil {
		return nil, err
	}
	return v, f.listTransparency(ctx, v)
}

// list lists a chunk, of which a wrong checksum is a part. If changed is set, it lists the converted chunk, which may
// not exist.
func (f *File) list(v *container.Inventory, c chunk, name message.Message, changed bool) (bool, error) {
	described := []string{"IHDR", "PLTE", "tRNS", "bKGD", "sBIT", "hIST"}
	if slices.Contains(described, c.name) && (changed || c.name == "IHDR") {
		d, err := f.chunkData(c, maxMetadata)
		if err != nil {
			return false, err
		}
		if changed {
			if d = f.convertChunk(c.name, d); d == nil {
				return false, nil
			}
		}
		if c.name == "IHDR" {
			v.Add(message.Of("size").Context("differs"), d[:8]).Geometry = true
			// All except the interlace method.
			d = d[8:12]
		}
		v.Add(name, d)
		return true, nil
	}
	content, sum := sha256.New(), crc32.NewIEEE()
	sum.Write([]byte(c.name))
	if _, err := io.CopyN(io.MultiWriter(content, sum), io.NewSectionReader(f.r, c.at, c.n), c.n); err != nil {
		return false, container.ReadError(err)
	}
	stated := make([]byte, 4)
	if err := container.ReadFull(f.r, stated, c.at+c.n); err != nil {
		return false, err
	}
	right := binary.BigEndian.Uint32(stated) == sum.Sum32()
	if !right {
		content.Write(stated)
	}
	if c.name != "IEND" || c.n > 0 || !right {
		v.AddSum(name, content)
	}
	return true, nil
}

// listBehind lists the bytes in IDAT chunks behind the end of the zlib stream.
func (f *File) listBehind(v *container.Inventory) error {
	used := f.used.Load()
	if used < 0 || used == f.packed {
		return nil
	}
	h := sha256.New()
	for at, packed := f.idat, int64(0); at < f.idatEnd; {
		c, err := f.chunkAt(at)
		if err != nil {
			return err
		}
		from := max(min(used-packed, c.n), 0)
		v.Coverage.Mark(container.Value, c.at+from, c.n-from)
		if _, err := io.Copy(h, io.NewSectionReader(f.r, c.at+from, c.n-from)); err != nil {
			return container.ReadError(err)
		}
		at, packed = c.end(), packed+c.n
	}
	v.AddSum(message.Of("data behind the compressed pixels"), h).Unused = true
	return nil
}

// listLoose lists the bits that fill the rows, if there are some that hold anything.
func (f *File) listLoose(ctx context.Context, v *container.Inventory) error {
	if !f.loose.Load() {
		return nil
	}
	h := sha256.New()
	err := f.eachRow(ctx, func(p pass, _ int, row []byte) error {
		h.Write([]byte{row[f.rowBytes(p.width)-1] & f.fillBits(p.width)})
		return nil
	})
	v.AddSum(message.Of("unused bits of the rows"), h).Unused = true
	return err
}

// listTransparency lists the alpha of all pixels, unless all are opaque.
func (f *File) listTransparency(ctx context.Context, v *container.Inventory) error {
	if !f.transparent() {
		return nil
	}
	if err := f.whole(); err != nil {
		return err
	}
	// Interlaced files store pixels in another order, so their alpha is first collected in plane.
	sum, key := sha256.New(), f.key()
	opacity := make([]byte, 0, alphaBytes*f.width)
	plane := []byte(nil)
	if f.interlaced {
		plane = make([]byte, alphaBytes*f.width*f.height)
	}
	err := f.eachFreshRow(ctx, func(p pass, y int, row []byte) error {
		opacity = f.rewritten().opacity(opacity[:0], row, p.width, key)
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
