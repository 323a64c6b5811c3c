package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"slices"
)

// A page is a picture of a TIFF that the test writes independently of the package under test.
type page struct {
	w, h, depth, colours, extra int
	photometric                 uint16
	planar                      bool
	// kinds are those of the extra samples; nil for opacity first, and then others.
	kinds []uint16
	// tile is the side of its tiles, 0 for strips of rows rows.
	tile, rows  int
	compression uint16
	// samples are those of all pixels, interleaved, big-endian.
	samples []byte
	// tags, exif and gps are further tags with their values.
	tags, exif, gps []tagged
	subs            []*page
	// entries changes the tags before they are written.
	entries func(all []tagged) []tagged
	// spare returns what fills an entry behind a short value.
	spare func(tag uint16) byte
	// behind is stored behind the data of segments, and counted as part of them.
	behind map[int][]byte
	// reversed stores the last segment first; align is what their offsets are a multiple of.
	reversed bool
	align    int
	// beside is stored in the tiles outside the picture; nil repeats the nearest pixel.
	beside []byte
}

type tagged struct {
	tag, kind uint16
	data      []byte // big-endian
}

// form is how a file is written.
type form struct {
	order binary.AppendByteOrder
	big   bool
	// lead follows the header.
	lead []byte
}

// tiffWriter appends to data.
type tiffWriter struct {
	form
	data []byte
	// directories are those written so far.
	directories []written
	spare       func(tag uint16) byte
}

// written is a directory: the page that it describes or belongs to, where it begins, and where the offset of the next
// one is.
type written struct {
	page     *page
	below    bool
	at, next int
}

// kindBytes returns the bytes of a value, and of the numbers that it is made of.
func kindBytes(kind uint16) (value, number int) {
	switch kind {
	case 3:
		return 2, 2
	case 4, 13:
		return 4, 4
	case 5:
		return 8, 4
	case 16:
		return 8, 8
	}
	return 1, 1
}

func (w *tiffWriter) offset(b []byte, v int) []byte {
	if w.big {
		return w.order.AppendUint64(b, uint64(v))
	}
	return w.order.AppendUint32(b, uint32(v))
}

// turned converts big-endian numbers to the byte order of the file.
func (w *tiffWriter) turned(data []byte, number int) []byte {
	data = slices.Clone(data)
	if w.order == binary.AppendByteOrder(binary.LittleEndian) {
		for i := 0; i+number <= len(data); i += number {
			slices.Reverse(data[i : i+number])
		}
	}
	return data
}

// writeTIFF returns a file of the pages.
func writeTIFF(f form, pages ...*page) []byte { return writeTIFFs(f, pages...).data }

func writeTIFFs(f form, pages ...*page) *tiffWriter {
	w := &tiffWriter{form: f}
	w.data = []byte("MM")
	if f.order == binary.AppendByteOrder(binary.LittleEndian) {
		w.data = []byte("II")
	}
	at := 4
	if f.big {
		w.data = f.order.AppendUint16(w.data, 43)
		w.data = f.order.AppendUint16(w.data, 8)
		w.data = f.order.AppendUint16(w.data, 0)
		at = 8
	} else {
		w.data = f.order.AppendUint16(w.data, 42)
	}
	w.data = append(w.offset(w.data, 0), f.lead...)
	for _, p := range pages {
		dir, next := w.page(p)
		copy(w.data[at:], w.offset(nil, dir))
		at = next
	}
	return w
}

// page writes a page and returns where its directory begins, and where the offset of the next one is.
func (w *tiffWriter) page(p *page) (dir, next int) {
	offsets, counts := w.segments(p)
	all := slices.Clone(p.tags)
	short := func(tag uint16, v ...int) {
		t := tagged{tag: tag, kind: 3}
		for _, x := range v {
			t.data = binary.BigEndian.AppendUint16(t.data, uint16(x))
		}
		all = append(all, t)
	}
	long := func(tag, kind uint16, v ...int) {
		t := tagged{tag: tag, kind: kind}
		for _, x := range v {
			t.data = binary.BigEndian.AppendUint32(t.data, uint32(x))
		}
		all = append(all, t)
	}
	n := p.colours + p.extra
	long(256, 4, p.w)
	long(257, 4, p.h)
	short(258, slices.Repeat([]int{p.depth}, n)...)
	short(259, int(p.compression))
	short(262, int(p.photometric))
	short(277, n)
	if p.planar {
		short(284, 2)
	}
	if p.extra > 0 {
		kinds := append([]int{2}, make([]int, p.extra-1)...)
		for i, kind := range p.kinds {
			kinds[i] = int(kind)
		}
		short(338, kinds...)
	}
	if p.tile > 0 {
		short(322, p.tile)
		short(323, p.tile)
		long(324, 4, offsets...)
		long(325, 4, counts...)
	} else {
		long(278, 4, p.rows)
		long(273, 4, offsets...)
		long(279, 4, counts...)
	}
	for _, below := range []struct {
		tag  uint16
		tags []tagged
	}{{34665, p.exif}, {34853, p.gps}} {
		if below.tags != nil {
			at, next := w.directory(below.tags)
			w.directories = append(w.directories, written{p, true, at, next})
			long(below.tag, 4, at)
		}
	}
	var subs []int
	for _, s := range p.subs {
		at, _ := w.page(s)
		subs = append(subs, at)
	}
	if subs != nil {
		long(330, 4, subs...)
	}
	if p.entries != nil {
		all = p.entries(all)
	}
	w.spare = p.spare
	dir, next = w.directory(all)
	w.spare = nil
	w.directories = append(w.directories, written{p, false, dir, next})
	return dir, next
}

// directory writes tags.
func (w *tiffWriter) directory(tags []tagged) (at, next int) {
	slices.SortStableFunc(tags, func(a, b tagged) int { return int(a.tag) - int(b.tag) })
	room := 4
	if w.big {
		room = 8
	}
	var entries []byte
	for _, t := range tags {
		value, number := kindBytes(t.kind)
		data := w.turned(t.data, number)
		entries = w.order.AppendUint16(w.order.AppendUint16(entries, t.tag), t.kind)
		entries = w.offset(entries, len(data)/value)
		if len(data) <= room {
			fill := make([]byte, room-len(data))
			if w.spare != nil {
				fill = bytes.Repeat([]byte{w.spare(t.tag)}, len(fill))
			}
			entries = append(entries, append(data, fill...)...)
			continue
		}
		w.even()
		entries = w.offset(entries, len(w.data))
		w.data = append(w.data, data...)
	}
	w.even()
	at = len(w.data)
	if w.big {
		w.data = w.order.AppendUint64(w.data, uint64(len(tags)))
	} else {
		w.data = w.order.AppendUint16(w.data, uint16(len(tags)))
	}
	w.data = append(w.data, entries...)
	next = len(w.data)
	w.data = w.offset(w.data, 0)
	return at, next
}

func (w *tiffWriter) even() {
	if len(w.data)%2 != 0 {
		w.data = append(w.data, 0)
	}
}

// segments writes strips or tiles.
func (w *tiffWriter) segments(p *page) (offsets, counts []int) {
	n, bytesEach := p.colours+p.extra, p.depth/8
	sw, sh := p.w, p.rows
	if p.tile > 0 {
		sw, sh = p.tile, p.tile
	}
	var all [][]byte
	planes := [][]int{nil}
	for c := range n {
		if !p.planar {
			planes[0] = append(planes[0], c)
			continue
		}
		if c == 0 {
			planes = nil
		}
		planes = append(planes, []int{c})
	}
	for _, channels := range planes {
		for y0 := 0; y0 < p.h; y0 += sh {
			for x0 := 0; x0 < p.w; x0 += sw {
				rows := min(sh, p.h-y0)
				if p.tile > 0 {
					rows = sh
				}
				var raw []byte
				for y := y0; y < y0+rows; y++ {
					for x := x0; x < x0+sw; x++ {
						for k, c := range channels {
							if p.beside != nil && (y >= p.h || x >= p.w) {
								for i := range bytesEach {
									raw = append(raw, p.beside[(len(raw)+k+i)%len(p.beside)])
								}
								continue
							}
							at := ((min(y, p.h-1)*p.w+min(x, p.w-1))*n + c) * bytesEach
							raw = append(raw, p.samples[at:at+bytesEach]...)
						}
					}
				}
				all = append(all, append(pack(p.compression, w.turned(raw, bytesEach)), p.behind[len(all)]...))
			}
		}
	}
	offsets, counts = make([]int, len(all)), make([]int, len(all))
	for i := range all {
		if p.reversed {
			i = len(all) - 1 - i
		}
		for p.align > 0 && len(w.data)%p.align != 0 {
			w.data = append(w.data, 0)
		}
		offsets[i], counts[i] = len(w.data), len(all[i])
		w.data = append(w.data, all[i]...)
		w.even()
	}
	return offsets, counts
}

// pack encodes a segment in the simplest way.
func pack(compression uint16, raw []byte) []byte {
	var out bytes.Buffer
	switch compression {
	case 8:
		z := zlib.NewWriter(&out)
		z.Write(raw)
		z.Close()
	case 5:
		// Codes of nine bits: before they would grow, the table is cleared.
		var bits, have uint32
		emit := func(code uint32) {
			bits, have = bits<<9|code, have+9
			for have >= 8 {
				out.WriteByte(byte(bits >> (have - 8)))
				have -= 8
			}
		}
		for i, v := range raw {
			if i%200 == 0 {
				emit(256)
			}
			emit(uint32(v))
		}
		emit(257)
		if have > 0 {
			out.WriteByte(byte(bits << (8 - have)))
		}
	case 32773:
		for part := range slices.Chunk(raw, 128) {
			out.WriteByte(byte(len(part) - 1))
			out.Write(part)
		}
	default:
		out.Write(raw)
	}
	return out.Bytes()
}
