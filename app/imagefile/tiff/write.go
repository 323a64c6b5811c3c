package tiff

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"blik/app/imagefile/exif"
	"blik/processing"
)

// field is a tag to be written: its values in the byte order of the file; or, with kept, the value field copied from
// another entry in the same file; or, with sub, the directory that it points to.
type field struct {
	tag   uint16
	kind  exif.Kind
	count uint64
	data  []byte
	kept  []byte
	sub   []field
}

// dialect is the form of a file to be written.
type dialect struct {
	order binary.ByteOrder
	big   bool
}

// header returns the bytes of the file's header, which points to the directory at first.
func (d dialect) header(first int64) []byte {
	mark := "MM"
	if d.order == binary.LittleEndian {
		mark = "II"
	}
	b := []byte(mark)
	app := d.order.(binary.AppendByteOrder)
	if !d.big {
		b = app.AppendUint16(b, 42)
		return app.AppendUint32(b, uint32(first))
	}
	b = app.AppendUint16(b, 43)
	b = app.AppendUint16(b, 8)
	b = app.AppendUint16(b, 0)
	return app.AppendUint64(b, uint64(first))
}

// shorts, longs and rational return fields of the respective types.

func (d dialect) shorts(tag uint16, v ...uint16) field {
	b := make([]byte, 2*len(v))
	for i, x := range v {
		d.order.PutUint16(b[2*i:], x)
	}
	return field{tag: tag, kind: exif.Short, count: uint64(len(v)), data: b}
}

func (d dialect) longs(tag uint16, v ...int64) field { return d.ints(tag, exif.Long, v) }

// offsets returns a field of offsets into the file.
func (d dialect) offsets(tag uint16, v []int64) field {
	if d.big {
		return d.ints(tag, exif.Long8, v)
	}
	return d.ints(tag, exif.Long, v)
}

func (d dialect) ints(tag uint16, k exif.Kind, v []int64) field {
	each := int(k.Size())
	b := make([]byte, each*len(v))
	for i, x := range v {
		putInt(d.order, b[each*i:][:each], x)
	}
	return field{tag: tag, kind: k, count: uint64(len(v)), data: b}
}

// rational writes v ≥ 0 with the smallest power of ten as denominator that represents it exactly, otherwise with the
// largest possible one.
func (d dialect) rational(tag uint16, v float64) field {
	under := 1.0
	for under < 1e6 && v*under != math.Trunc(v*under) && v*under*10 <= math.MaxUint32 {
		under *= 10
	}
	b := make([]byte, 8)
	d.order.PutUint32(b, uint32(min(math.Round(v*under), math.MaxUint32)))
	d.order.PutUint32(b[4:], uint32(under))
	return field{tag: tag, kind: exif.Rational, count: 1, data: b}
}

// block returns a field of bytes.
func block(tag uint16, k exif.Kind, b []byte) field {
	return field{tag: tag, kind: k, count: uint64(len(b)), data: b}
}

// directory returns the bytes of a directory at the even offset at, with the values and sub-directories of its fields
// after it. Its length depends neither on at nor on the numbers in the fields.
func (d dialect) directory(fields []field, at, next int64) []byte {
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.tag, b.tag) })
	head, each, room := 2, 12, 4
	if d.big {
		head, each, room = 8, 20, 8
	}
	b := make([]byte, head+len(fields)*each+room)
	putInt(d.order, b[:head], int64(len(fields)))
	for i, f := range fields {
		// Values begin at even offsets.
		if len(b)%2 != 0 {
			b = append(b, 0)
		}
		e := b[head+i*each:][:each]
		here := at + int64(len(b))
		value := f.data
		if f.sub != nil {
			f.kind, f.count = exif.Long, 1
			value = make([]byte, 4)
			d.order.PutUint32(value, uint32(here))
		}
		d.order.PutUint16(e, f.tag)
		d.order.PutUint16(e[2:], uint16(f.kind))
		putInt(d.order, e[4:each-room], int64(f.count))
		switch {
		case f.kept != nil:
			copy(e[each-room:], f.kept)
		case len(value) <= room:
			copy(e[each-room:], value)
		default:
			putInt(d.order, e[each-room:], here)
			b = append(b, value...)
		}
		if f.sub != nil {
			b = append(b, d.directory(f.sub, here, 0)...)
		}
	}
	putInt(d.order, b[head+len(fields)*each:][:room], next)
	if len(b)%2 != 0 {
		b = append(b, 0)
	}
	return b
}

// pack writes n samples of pic from sample at on to row.
func pack(row []byte, pic *processing.Picture, at, n int, order binary.ByteOrder) {
	switch {
	case pic.U8 != nil:
		copy(row, pic.U8[at:at+n])
	case pic.U16 != nil && order == binary.LittleEndian:
		for i, v := range pic.U16[at : at+n] {
			binary.LittleEndian.PutUint16(row[2*i:], v)
		}
	case pic.U16 != nil:
		for i, v := range pic.U16[at : at+n] {
			binary.BigEndian.PutUint16(row[2*i:], v)
		}
	default:
		for i, v := range pic.F32[at : at+n] {
			order.PutUint32(row[4*i:], math.Float32bits(v))
		}
	}
}

// stripBytes is the approximate length of the strips of new pictures.
const stripBytes = 128 << 10

// stripes is the division of a new picture into strips.
type stripes struct {
	pic      *processing.Picture
	rowBytes int
	// rows is the height of a strip, n the number of strips.
	rows, n int
}

func newStripes(pic *processing.Picture) stripes {
	s := stripes{pic: pic, rowBytes: pic.Width * pic.Channels * pic.Depth() / 8}
	s.rows = min(max(stripBytes/s.rowBytes, 1), pic.Height)
	s.n = (pic.Height + s.rows - 1) / s.rows
	return s
}

// height returns the rows of strip i.
func (s stripes) height(i int) int { return min(s.rows, s.pic.Height-i*s.rows) }

// pack writes strip i to buf, which is grown to hold it.
func (s stripes) pack(i int, buf []byte, order binary.ByteOrder) []byte {
	n := s.height(i) * s.rowBytes
	buf = slices.Grow(buf[:0], n)[:n]
	row := s.pic.Width * s.pic.Channels
	pack(buf, s.pic, i*s.rows*row, s.height(i)*row, order)
	return buf
}

// counts returns the uncompressed lengths of the strips in bytes.
func (s stripes) counts() []int64 {
	c := make([]int64, s.n)
	for i := range c {
		c[i] = int64(s.height(i)) * int64(s.rowBytes)
	}
	return c
}

// offsets returns the offsets of consecutive strips of these lengths from at on, and the end of the last one.
func offsets(at int64, counts []int64) ([]int64, int64) {
	o := make([]int64, len(counts))
	for i, n := range counts {
		o[i] = at
		at += n
	}
	return o, at
}

// layoutFields are the tags that describe the uncompressed sample layout of a new picture.
func (d dialect) layoutFields(s stripes, photometric uint16, offsets, counts []int64) []field {
	return append(d.sampleFields(s.pic.Channels, s.pic.Depth(), photometric),
		d.shorts(tagCompression, uint16(compNone)),
		d.offsets(tagStripOffsets, offsets),
		d.longs(tagRowsPerStrip, int64(s.rows)),
		d.longs(tagStripByteCounts, counts...))
}

// sampleFields are the tags that describe the samples of a new picture.
func (d dialect) sampleFields(channels, depth int, photometric uint16) []field {
	all := []field{
		d.shorts(tagBitsPerSample, slices.Repeat([]uint16{uint16(depth)}, channels)...),
		d.shorts(tagPhotometric, photometric), d.shorts(tagSamples, uint16(channels)),
	}
	if depth == 32 {
		all = append(all, d.shorts(tagSampleFormat, slices.Repeat([]uint16{formatFloat}, channels)...))
	}
	return all
}
