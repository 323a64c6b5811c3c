// Package png reads PNG files, writes new ones, and rewrites the pixels of existing ones without changing any other
// chunk. Section numbers in the comments refer to W3C Portable Network Graphics (PNG), third edition.
//
// Rows are decoded one by one, so that a picture is in memory only once, as samples. Pixels are inflated while earlier
// rows are unfiltered, and deflated in bands on all processors.
package png

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/message"
)

// The colour types (11.2.1).
const (
	typeGrey      = 0
	typeRGB       = 2
	typePalette   = 3
	typeGreyAlpha = 4
	typeRGBAlpha  = 6
)

const (
	signature = "\x89PNG\r\n\x1a\n"
	// maxExpansion is the largest ratio of deflate: a match of 258 bytes takes at least two bits.
	maxExpansion = 1032
	// maxMetadata is the largest size of a chunk of metadata, compressed and decompressed.
	maxMetadata = 16 << 20
	// maxChunk is the longest chunk that the format allows (5.3).
	maxChunk = 1<<31 - 1
)

// header is the content of IHDR.
type header struct {
	width, height int
	depth, kind   uint8
	interlaced    bool
}

// samples returns the number of samples of a pixel, including alpha.
func (h header) samples() int {
	switch h.kind {
	case typeRGB:
		return 3
	case typeGreyAlpha:
		return 2
	case typeRGBAlpha:
		return 4
	default:
		return 1
	}
}

// alpha reports whether the last sample of a pixel is its alpha.
func (h header) alpha() bool { return h.kind == typeGreyAlpha || h.kind == typeRGBAlpha }

// rowBytes returns the number of bytes of a row of w pixels, without its filter type.
func (h header) rowBytes(w int) int {
	return int((int64(w)*int64(h.samples())*int64(h.depth) + 7) / 8)
}

// pixelBytes returns the distance between a byte and the corresponding byte of the pixel to the left, at least 1 (9.2).
func (h header) pixelBytes() int { return max(h.samples()*int(h.depth)/8, 1) }

// rawBytes returns the number of bytes of all rows, without their filter types.
func (h header) rawBytes() int64 {
	var n int64
	for _, p := range h.passes() {
		n += int64(p.height) * int64(h.rowBytes(p.width))
	}
	return n
}

// pass is a reduced picture: pixels x0, x0+dx, … of rows y0, y0+dy, …
type pass struct{ x0, y0, dx, dy, width, height int }

// passes returns the whole picture as one pass, or the seven passes of Adam7 without the empty ones (8.2).
func (h header) passes() []pass {
	if !h.interlaced {
		return []pass{{0, 0, 1, 1, h.width, h.height}}
	}
	var list []pass
	for _, p := range [7]pass{
		{x0: 0, y0: 0, dx: 8, dy: 8}, {x0: 4, y0: 0, dx: 8, dy: 8}, {x0: 0, y0: 4, dx: 4, dy: 8},
		{x0: 2, y0: 0, dx: 4, dy: 4}, {x0: 0, y0: 2, dx: 2, dy: 4}, {x0: 1, y0: 0, dx: 2, dy: 2},
		{x0: 0, y0: 1, dx: 1, dy: 2},
	} {
		p.width = (h.width - p.x0 + p.dx - 1) / p.dx
		p.height = (h.height - p.y0 + p.dy - 1) / p.dy
		if p.width > 0 && p.height > 0 {
			list = append(list, p)
		}
	}
	return list
}

// File is an opened PNG file.
type File struct {
	r    io.ReaderAt
	size int64
	header
	// palette is PLTE and transparency tRNS; nil if the chunk is missing.
	palette, transparency []byte
	// idat and idatEnd are the offsets of the start and end of the IDAT chunks, packed is the number of data bytes in
	// them.
	idat, idatEnd, packed int64
	// end is the offset after IEND.
	end int64
	// stale holds the names of the chunks that depend on the pixels in a way that is not known.
	stale []string
	// frames is the number of frames according to acTL, or 0. still is set if the picture is not one of them.
	frames int
	still  bool
	// gamma is that of gAMA. srgb is set if sRGB or cICP names the transfer curve of sRGB, which has precedence.
	gamma float64
	srgb  bool
	meta  container.Metadata
	// unpacked is the number of bytes that metadata were decompressed to so far.
	unpacked int64
	warnings []message.Message
	// exif are the facts of the EXIF block.
	exif exif.Facts
	// used is the number of bytes of the IDAT chunks up to the end of the zlib stream, −1 before they were inflated;
	// loose: the bits that fill the last byte of a row are neither all 0 nor all 1 somewhere.
	used  atomic.Int64
	loose atomic.Bool
	// dropped holds the names of the chunks that a new file would not contain.
	dropped []string
}

var (
	_ container.Rewriter = (*File)(nil)
	_ container.Trailer  = (*File)(nil)
)

// Open reads the chunks of a file of size bytes, except the pixels. The File keeps r and reads from it later. Errors
// are those of package container: the file is damaged, truncated or not supported.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	f.used.Store(-1)
	f.meta.Orientation = 1
	if err := f.walk(); err != nil {
		return nil, err
	}
	return f, nil
}

// Info describes the file.
func (f *File) Info() container.Info {
	i := container.Info{
		Width: f.width, Height: f.height, Depth: int(f.depth), Compression: "Deflate", Pictures: 1, Meta: f.meta,
		Raw: f.rawBytes(), Expansion: maxExpansion, Scratch: f.scratch(),
	}
	m := &i.Meta
	m.XResolution, m.YResolution, m.Unit = f.exif.Resolution(m.XResolution, m.YResolution, m.Unit)
	if !f.srgb {
		i.Gamma = f.gamma
	}
	switch f.kind {
	case typeGrey, typeGreyAlpha:
		i.Colour = container.Grey
	case typePalette:
		i.Colour = container.Palette
	default:
		i.Colour = container.RGB
	}
	i.Transparent = f.transparency != nil
	if f.alpha() {
		i.Extra = 1
	}
	if f.frames > 0 {
		i.Pictures = f.frames
		if f.still {
			i.Pictures++
		}
	}
	i.Warnings = slices.Clone(f.warnings)
	i.Others.Frames = i.Pictures - 1
	i.Others.Previews = exif.Previews(f.meta, f.exif)
	if len(f.stale) > 0 {
		list := strings.Join(f.stale, ", ")
		list = strings.ReplaceAll(list, "caBX", "caBX (content credentials, C2PA)")
		i.Stale = append(i.Stale, message.Of(
			"A corrected copy leaves out PNG chunks that belong to the old pixels: %s.", list))
	}
	if list := strings.Join(f.dropped, ", "); list != "" {
		i.Dropped = append(i.Dropped, message.Of("the chunks %s", list))
	}
	if f.frames > 0 && f.converts() {
		i.Readonly = container.Unsupported("an animated PNG with a palette or fewer than 8 bits cannot be rewritten")
	}
	return i
}

// Trailing implements container.Trailer.
func (f *File) Trailing(context.Context) (int64, error) { return f.size - f.end, nil }

// stale reports whether a chunk must not be copied once the pixels have changed: it is marked as unsafe to copy (5.4),
// and it is not one of those that stay right when only the values of pixels change.
func stale(name string) bool {
	switch name {
	case "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD", "hIST", "tRNS", "sPLT", "tIME", "acTL",
		"fcTL", "fdAT", "pCAL", "sCAL", "sTER":
		return false
	}
	const lowerCase = 0x20
	return name[0]&lowerCase != 0 && name[3]&lowerCase == 0
}

// chunk is the name of a chunk, with the offset and the length of its data.
type chunk struct {
	name string
	at   int64
	n    int64
}

// end returns the offset of the next chunk.
func (c chunk) end() int64 { return c.at + c.n + 4 }

// chunkAt reads the header of the chunk at offset.
func (f *File) chunkAt(offset int64) (chunk, error) {
	if offset+12 > f.size {
		return chunk{}, container.Truncated()
	}
	var head [8]byte
	if err := container.ReadFull(f.r, head[:], offset); err != nil {
		return chunk{}, err
	}
	c := chunk{name: string(head[4:]), at: offset + 8, n: int64(binary.BigEndian.Uint32(head[:]))}
	for _, b := range head[4:] {
		if b|0x20 < 'a' || b|0x20 > 'z' {
			return chunk{}, container.Damaged("invalid chunk name")
		}
	}
	if c.n > maxChunk {
		return chunk{}, damaged(c.name, "is longer than the format allows")
	}
	if c.end() > f.size {
		return chunk{}, container.Truncated()
	}
	return c, nil
}

// chunkData reads the data of a chunk, at most limit bytes, and verifies its checksum.
func (f *File) chunkData(c chunk, limit int64) ([]byte, error) {
	if c.n > limit {
		return nil, damaged(c.name, "is too long")
	}
	buf := make([]byte, c.n+4)
	if err := container.ReadFull(f.r, buf, c.at); err != nil {
		return nil, err
	}
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(c.name)), crc32.IEEETable, buf[:c.n])
	if sum != binary.BigEndian.Uint32(buf[c.n:]) {
		return nil, damaged(c.name, "has a wrong checksum")
	}
	return buf[:c.n:c.n], nil
}

// walk reads all chunks up to IEND, except the pixels.
func (f *File) walk() error {
	var magic [len(signature)]byte
	if f.size < int64(len(magic)) {
		return container.Truncated()
	}
	if err := container.ReadFull(f.r, magic[:], 0); err != nil {
		return err
	}
	if string(magic[:]) != signature {
		return container.Damaged("this is not a PNG file")
	}
	at := int64(len(magic))
	for first := true; ; first = false {
		c, err := f.chunkAt(at)
		if err != nil {
			return err
		}
		at = c.end()
		if first != (c.name == "IHDR") {
			return misplaced(c.name)
		}
		switch c.name {
		case "IHDR":
			err = f.readHeader(c)
		case "IDAT":
			switch {
			case f.idat == 0:
				f.idat = c.at - 8
				if f.kind == typePalette && f.palette == nil {
					err = container.Damaged("the palette (PLTE) is missing")
				}
			case f.idatEnd != c.at-8:
				err = misplaced(c.name)
			}
			f.idatEnd = at
			f.packed += c.n
		case "IEND":
			if f.idat == 0 {
				return container.Damaged("there are no pixels (IDAT)")
			}
			f.end = at
			return nil
		case "PLTE":
			err = f.readPalette(c)
		case "tRNS":
			err = f.readTransparency(c)
		case "acTL":
			err = f.readAnimation(c)
		case "fcTL":
			if f.idat == 0 {
				f.still = false
			}
		default:
			if c.name[0] >= 'A' && c.name[0] <= 'Z' {
				return container.Unsupported("the PNG has an unknown chunk (%s) that the picture depends on", c.name)
			}
			err = f.readMetadata(c)
		}
		if err != nil {
			return err
		}
	}
}

func (f *File) readHeader(c chunk) error {
	if c.n != 13 {
		return damaged(c.name, "has a wrong length")
	}
	d, err := f.chunkData(c, 13)
	if err != nil {
		return err
	}
	w, h := binary.BigEndian.Uint32(d), binary.BigEndian.Uint32(d[4:])
	if w < 1 || h < 1 || w > maxChunk || h > maxChunk {
		return container.Damaged("a size of %d × %d pixels is not possible", w, h)
	}
	f.header = header{width: int(w), height: int(h), depth: d[8], kind: d[9], interlaced: d[12] == 1}
	// A bit for each depth that is valid for the colour type.
	depths := map[uint8]uint32{
		typeGrey: 1<<1 | 1<<2 | 1<<4 | 1<<8 | 1<<16, typePalette: 1<<1 | 1<<2 | 1<<4 | 1<<8,
		typeRGB: 1<<8 | 1<<16, typeGreyAlpha: 1<<8 | 1<<16, typeRGBAlpha: 1<<8 | 1<<16,
	}[f.kind]
	if f.depth > 16 || depths>>f.depth&1 == 0 {
		return container.Damaged("colour type %d with %d bits is not possible", f.kind, f.depth)
	}
	if d[10] != 0 || d[11] != 0 || d[12] > 1 {
		return container.Unsupported("the PNG uses an unknown compression, filter or interlace method")
	}
	// The number of bytes must not overflow.
	if int64(h) > (1<<62)/(int64(w)*8) {
		return container.Damaged("a size of %d × %d pixels is not possible", w, h)
	}
	return nil
}

func (f *File) readPalette(c chunk) error {
	if f.palette != nil || f.idat != 0 || f.transparency != nil {
		return misplaced(c.name)
	}
	if c.n == 0 || c.n%3 != 0 || c.n > 3*256 || f.kind == typePalette && c.n > 3<<f.depth {
		return damaged(c.name, "has a wrong length")
	}
	if f.kind == typeGrey || f.kind == typeGreyAlpha {
		return misplaced(c.name)
	}
	var err error
	f.palette, err = f.chunkData(c, 3*256)
	return err
}

func (f *File) readTransparency(c chunk) error {
	if f.transparency != nil || f.idat != 0 || f.alpha() || f.kind == typePalette && f.palette == nil {
		return misplaced(c.name)
	}
	want := int64(2)
	switch f.kind {
	case typeRGB:
		want = 6
	case typePalette:
		want = min(c.n, int64(len(f.palette)/3))
	}
	if c.n != want {
		return damaged(c.name, "has a wrong length")
	}
	var err error
	f.transparency, err = f.chunkData(c, want)
	return err
}

func (f *File) readAnimation(c chunk) error {
	if c.n != 8 || f.idat != 0 {
		return nil // read the file as a still picture
	}
	d, err := f.chunkData(c, 8)
	if err != nil {
		return err
	}
	f.frames, f.still = int(min(binary.BigEndian.Uint32(d), 1<<20)), true
	return nil
}

// damaged returns the error for a damaged chunk. The text continues "the chunk NAME …".
func damaged(name string, text message.Text) error {
	return container.Damaged("the chunk %s %s", name, message.Of(text))
}

func misplaced(name string) error {
	return damaged(name, "is in the wrong place")
}

// converts reports whether rewriting changes how samples are stored: a palette becomes RGB, and grey of fewer than 8
// bits becomes 8 bits.
func (h header) converts() bool { return h.kind == typePalette || h.depth < 8 }
