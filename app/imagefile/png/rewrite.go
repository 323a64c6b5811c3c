package png

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"sort"

	"blik/app/imagefile/container"
	"blik/processing"
)

// Rewrite writes the file with the pixels of the patches in place of its own. The pixels are filtered and compressed
// again, with the same interlacing. All chunks except IDAT and unknown ones that are marked as unsafe to copy, and
// anything after IEND, are copied byte for byte. Alpha never changes.
//
// If tRNS makes a colour transparent, a transparent pixel keeps its (invisible) colour. If the new colour of a visible
// pixel would be the transparent one, its last channel is changed by one level.
//
// A palette becomes 8-bit RGB (RGBA if tRNS exists), and grey of fewer than 8 bits becomes 8 bits. IHDR, tRNS, bKGD and
// sBIT are converted accordingly. PLTE and hIST are removed with the palette, and sBIT of such greys, whose samples now
// have more bits.
//
// The patches must have the depth and channels of the picture that Decode returns. Without patches, and if a file that
// would be converted would not change in any pixel, the file is copied.
func (f *File) Rewrite(ctx context.Context, w io.Writer, patches []processing.Patch) error {
	if len(patches) == 0 {
		return f.copyRange(ctx, w, 0, f.size)
	}
	if err := f.Info().Readonly; err != nil {
		return err
	}
	edits, err := f.edits(patches)
	if err != nil {
		return err
	}
	if f.converts() {
		differs, err := f.differs(ctx, edits)
		if err != nil {
			return err
		}
		if !differs {
			return f.copyRange(ctx, w, 0, f.size)
		}
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err := f.writeHead(ctx, out); err != nil {
		return err
	}
	d := newRowWriter(ctx, out, f.rewritten().pixelBytes(), rewriteLevel)
	if err = f.rewriteRows(ctx, d, edits); err == nil {
		d.finish()
	}
	if closing := d.close(); closing != nil {
		err = closing
	}
	if err != nil {
		return err
	}
	if err := f.copyChunks(ctx, out, f.idatEnd, f.end); err != nil {
		return err
	}
	if err := f.copyRange(ctx, out, f.end, f.size); err != nil {
		return err
	}
	return out.Flush()
}

// rewriteLevel is the level of package flate for rewritten pictures. Other programs have usually compressed them well.
const rewriteLevel = 6

// copyRange copies the bytes from…to−1 of the file.
func (f *File) copyRange(ctx context.Context, w io.Writer, from, to int64) error {
	const step = 8 << 20
	for ; from < to; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(step, to-from)
		if _, err := io.CopyN(w, io.NewSectionReader(f.r, from, n), n); err != nil {
			return container.ReadError(err)
		}
	}
	return nil
}

// copyChunks copies the chunks from…to−1 of the file, except those that no longer apply.
func (f *File) copyChunks(ctx context.Context, w io.Writer, from, to int64) error {
	if len(f.stale) == 0 {
		return f.copyRange(ctx, w, from, to)
	}
	for from < to {
		c, err := f.chunkAt(from)
		if err != nil {
			return err
		}
		if from = c.end(); stale(c.name) {
			continue
		}
		if err := f.copyRange(ctx, w, c.at-8, from); err != nil {
			return err
		}
	}
	return nil
}

// edit is a run of pixels of a row with its new samples.
type edit struct {
	processing.Run
	// samples holds the colour channels, big-endian.
	samples []byte
}

// edits returns the runs of the patches, sorted by row.
func (f *File) edits(patches []processing.Patch) ([]edit, error) {
	channels, depth := f.Info().Channels(), max(int(f.depth), 8)
	if err := processing.CheckPatches(f.width, f.height, channels, depth, patches); err != nil {
		return nil, err
	}
	var list []edit
	for _, p := range patches {
		samples := p.U8
		for _, v := range p.U16 {
			samples = append(samples, byte(v>>8), byte(v))
		}
		for _, r := range p.Runs {
			n := (r.X1 - r.X0) * channels * depth / 8
			list = append(list, edit{r, samples[:n]})
			samples = samples[n:]
		}
	}
	slices.SortFunc(list, func(a, b edit) int { return cmp.Compare(a.Y, b.Y) })
	return list, nil
}

// rewritten returns the header of the rewritten file.
func (f *File) rewritten() header {
	h := f.header
	if h.kind == typePalette {
		h.kind = typeRGB
		if f.transparency != nil {
			h.kind = typeRGBAlpha
		}
	}
	h.depth = max(h.depth, 8)
	return h
}

// scale returns the factor that converts grey of fewer than 8 bits to 8 bits.
func (f *File) scale() int { return 255 / (1<<min(f.depth, 8) - 1) }

// writeHead writes everything before the pixels.
func (f *File) writeHead(ctx context.Context, w io.Writer) error {
	if _, err := io.WriteString(w, signature); err != nil {
		return err
	}
	if !f.converts() {
		return f.copyChunks(ctx, w, int64(len(signature)), f.idat)
	}
	for at := int64(len(signature)); at < f.idat; {
		c, err := f.chunkAt(at)
		if err != nil {
			return err
		}
		at = c.end()
		switch c.name {
		case "IHDR", "PLTE", "tRNS", "bKGD", "sBIT", "hIST":
			var d []byte
			if d, err = f.chunkData(c, 3*256); err == nil {
				if d = f.convertChunk(c.name, d); d != nil {
					_, err = w.Write(appendChunk(nil, c.name, d))
				}
			}
		default:
			err = f.copyChunks(ctx, w, c.at-8, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// convertChunk converts the data of a chunk to match the converted samples; nil if the chunk no longer has a meaning.
func (f *File) convertChunk(name string, d []byte) []byte {
	palette := f.kind == typePalette
	switch name {
	case "IHDR":
		return f.rewritten().data()
	case "tRNS", "bKGD":
		switch {
		case !palette && len(d) == 2:
			return []byte{0, byte(int(d[1]) & (1<<f.depth - 1) * f.scale())}
		case palette && name == "bKGD" && len(d) == 1 && int(d[0]) < len(f.palette)/3:
			c := f.palette[3*int(d[0]):]
			return []byte{0, c[0], 0, c[1], 0, c[2]}
		}
	case "sBIT":
		if palette && len(d) == 3 {
			if f.transparency != nil {
				return append(d, 8)
			}
			return d
		}
	}
	return nil
}

// expand appends a row in the format of the rewritten file.
func (f *File) expand(dst, row []byte, width int, colours *[256][4]uint8) []byte {
	switch {
	case !f.converts():
		dst = append(dst, row...)
	case f.kind == typePalette:
		n := 3
		if f.transparency != nil {
			n = 4
		}
		for x := range width {
			dst = append(dst, colours[f.index(row, x)][:n]...)
		}
	default:
		for x := range width {
			dst = append(dst, uint8(f.index(row, x)*f.scale()))
		}
	}
	return dst
}

// colours returns the palette with alpha. Indices beyond its end are black, as in the standard library and libpng.
func (f *File) colours() *[256][4]uint8 {
	table := new([256][4]uint8)
	for i := range table {
		copy(table[i][:3], f.palette[min(3*i, len(f.palette)):])
		table[i][3] = 255
	}
	if f.kind == typePalette {
		for i, a := range f.transparency {
			table[i][3] = a
		}
	}
	return table
}

// key returns the colour that tRNS makes transparent, as a pixel of the rewritten file; nil if there is none.
func (f *File) key() []byte {
	switch {
	case f.transparency == nil || f.kind == typePalette:
		return nil
	case f.depth == 16:
		return f.transparency
	case f.kind == typeGrey:
		return f.convertChunk("tRNS", f.transparency)[1:]
	}
	return []byte{f.transparency[1], f.transparency[3], f.transparency[5]}
}

// differs reports whether the edits change any pixel.
func (f *File) differs(ctx context.Context, edits []edit) (bool, error) {
	h, key := f.rewritten(), f.key()
	differs := false
	err := f.eachFreshRow(ctx, func(p pass, y int, row []byte) error {
		differs = change(row, p, y, h, key, edits) || differs
		return nil
	})
	return differs, err
}

// rewriteRows writes all rows with the edits applied.
func (f *File) rewriteRows(ctx context.Context, d *rowWriter, edits []edit) error {
	h, key := f.rewritten(), f.key()
	return f.eachFreshRow(ctx, func(p pass, y int, row []byte) error {
		if y == 0 {
			if err := d.beginPass(h.rowBytes(p.width)); err != nil {
				return err
			}
		}
		change(row, p, y, h, key, edits)
		return d.row(row)
	})
}

// change applies the edits to row y of a pass, whose format is that of h, and reports whether a pixel changed. Pixels
// of the colour key are not changed.
func change(row []byte, p pass, y int, h header, key []byte, edits []edit) bool {
	y = p.y0 + y*p.dy
	changed := false
	bpp := h.pixelBytes()
	colour := bpp
	if h.alpha() {
		colour -= int(h.depth) / 8
	}
	first := sort.Search(len(edits), func(i int) bool { return edits[i].Y >= y })
	for _, e := range edits[first:] {
		if e.Y != y {
			break
		}
		// The first pixel of the pass that is not left of the run.
		i := max((e.X0-p.x0+p.dx-1)/p.dx, 0)
		for x := p.x0 + i*p.dx; x < e.X1; x, i = x+p.dx, i+1 {
			pixel := row[i*bpp:][:colour]
			sample := e.samples[(x-e.X0)*colour:][:colour]
			if bytes.Equal(pixel, sample) || key != nil && bytes.Equal(pixel, key) {
				continue
			}
			copy(pixel, sample)
			if key != nil && bytes.Equal(pixel, key) {
				pixel[colour-1] ^= 1
			}
			changed = true
		}
	}
	return changed
}
