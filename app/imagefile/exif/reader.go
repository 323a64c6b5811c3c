// Package exif reads directories of tags, the structure shared by TIFF, BigTIFF, EXIF and related formats, and the few
// facts from them that the containers need.
//
// Counts and offsets are not trusted: each is checked against the length of the data before anything is allocated.
package exif

import (
	"encoding/binary"
	"io"
	"math"

	"blik/app/imagefile/container"
)

// Reader reads a header and the directories that it leads to.
type Reader struct {
	r     io.ReaderAt
	Size  int64
	Order binary.ByteOrder
	// Big: a BigTIFF, whose counts and offsets have 8 bytes.
	Big bool
}

// Entry is one tag of a directory.
type Entry struct {
	Tag   uint16
	Kind  Kind
	Count uint64
	// At is the offset of the entry in the file, Field that of its last field, which holds its values or their offset,
	// and Value the offset of its values.
	At, Field, Value int64
	// Inline: the values are stored in the entry.
	Inline bool
}

// Length returns the bytes of the entry's values; ok is false for an unknown kind and where they could not lie in a
// file of the given size.
func (e *Entry) Length(size int64) (n int64, ok bool) {
	each := e.Kind.Size()
	if each == 0 || e.Count > uint64(size/each) {
		return 0, false
	}
	n = int64(e.Count) * each
	return n, e.Value >= 0 && e.Value <= size-n
}

// Directory is a list of tags in Length bytes; Next is the offset of the following directory, 0 at the end of the
// chain.
type Directory struct {
	At, Length int64
	Entries    []Entry
	Next       int64
	// Cut: the file ends before the whole of Next.
	Cut bool
}

// maxEntries is the maximum number of entries in a directory of classic TIFF.
const maxEntries = 1<<16 - 1

// Open reads the header and returns the offset of the first directory.
func Open(r io.ReaderAt, size int64) (*Reader, int64, error) {
	s := &Reader{r: r, Size: size}
	head, err := s.Bytes(0, 8)
	if err != nil {
		return nil, 0, err
	}
	switch string(head[:2]) {
	case "II":
		s.Order = binary.LittleEndian
	case "MM":
		s.Order = binary.BigEndian
	default:
		return nil, 0, container.Damaged("this is not a TIFF: its byte order is missing")
	}
	switch version := s.Order.Uint16(head[2:]); version {
	case 42:
		return s, int64(s.Order.Uint32(head[4:])), nil
	case 43:
		s.Big = true
		if s.Order.Uint16(head[4:]) != 8 || s.Order.Uint16(head[6:]) != 0 {
			return nil, 0, container.Damaged("the BigTIFF header is damaged: offsets must have 8 bytes")
		}
		head, err = s.Bytes(8, 8)
		if err != nil {
			return nil, 0, err
		}
		return s, clampOffset(s.Order.Uint64(head)), nil
	default:
		return nil, 0, container.Damaged("this is not a TIFF: version %d instead of 42 or 43", version)
	}
}

// clampOffset maps offsets too large for any file to one past the end of every file.
func clampOffset(v uint64) int64 { return int64(min(v, math.MaxInt64)) }

// Bytes reads n bytes at offset at. It allocates nothing for a range past the end of the file.
func (s *Reader) Bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > s.Size || n > s.Size-at {
		return nil, container.Truncated()
	}
	b := make([]byte, n)
	if err := container.ReadFull(s.r, b, at); err != nil {
		return nil, err
	}
	return b, nil
}

// Section returns a reader of n bytes at offset at.
func (s *Reader) Section(at, n int64) *io.SectionReader { return io.NewSectionReader(s.r, at, n) }

// OffsetSize returns the bytes of an offset in this file.
func (s *Reader) OffsetSize() int64 {
	if s.Big {
		return 8
	}
	return 4
}

// HeaderSize returns the bytes of the header of this file.
func (s *Reader) HeaderSize() int64 { return 2 * s.OffsetSize() }

// Offset reads an offset from b.
func (s *Reader) Offset(b []byte) int64 {
	if s.Big {
		return clampOffset(s.Order.Uint64(b))
	}
	return int64(s.Order.Uint32(b))
}

// count reads the number of entries of the directory at offset at, and returns where they begin and the length of one.
func (s *Reader) count(at int64) (n, first, each int64, err error) {
	head, each := int64(2), int64(12)
	if s.Big {
		head, each = 8, 20
	}
	b, err := s.Bytes(at, head)
	if err != nil {
		return 0, 0, 0, err
	}
	count := uint64(s.Order.Uint16(b))
	if s.Big {
		count = s.Order.Uint64(b)
	}
	if count == 0 || count > maxEntries {
		return 0, 0, 0, container.Damaged("a directory is damaged: it claims to hold %d tags", count)
	}
	return int64(count), at + head, each, nil
}

// Directory reads the directory at offset at. If it is truncated, the complete entries are returned together with the
// error.
func (s *Reader) Directory(at int64) (*Directory, error) {
	n, first, each, err := s.count(at)
	if err != nil {
		return nil, err
	}
	var short error
	if whole := (s.Size - first) / each; n > whole {
		n, short = whole, container.Truncated()
	}
	b, err := s.Bytes(first, n*each)
	if err != nil {
		return nil, err
	}
	d := &Directory{At: at, Length: first - at + n*each, Entries: make([]Entry, n), Cut: true}
	field := s.OffsetSize()
	for i := range d.Entries {
		raw := b[int64(i)*each:][:each]
		e := &d.Entries[i]
		e.At = first + int64(i)*each
		e.Tag, e.Kind = s.Order.Uint16(raw), Kind(s.Order.Uint16(raw[2:]))
		if s.Big {
			e.Count = s.Order.Uint64(raw[4:])
		} else {
			e.Count = uint64(s.Order.Uint32(raw[4:]))
		}
		e.Field = e.At + each - field
		e.Value = e.Field
		e.Inline = e.Count <= uint64(field) && int64(e.Count)*e.Kind.Size() <= field
		if !e.Inline {
			e.Value = s.Offset(raw[each-field:])
		}
	}
	// A file that ends right after the last entry has no further directory.
	if tail, err := s.Bytes(first+n*each, field); err == nil {
		d.Next = s.Offset(tail)
		d.Length += field
		d.Cut = false
	}
	return d, short
}

// Following returns the readable directories after d in the chain; it stops at a loop or at the limit.
func (s *Reader) Following(d *Directory, limit int) []int64 {
	seen := map[int64]bool{d.At: true}
	var chain []int64
	for at := d.Next; at != 0 && !seen[at] && len(chain) < limit; {
		n, first, each, err := s.count(at)
		if err != nil || first+n*each > s.Size {
			break
		}
		seen[at] = true
		chain = append(chain, at)
		tail, err := s.Bytes(first+n*each, s.OffsetSize())
		if err != nil {
			break
		}
		at = s.Offset(tail)
	}
	return chain
}

// Find returns the first entry with the tag; nil if there is none or d is nil.
func (d *Directory) Find(tag uint16) *Entry {
	if d == nil {
		return nil
	}
	for i := range d.Entries {
		if d.Entries[i].Tag == tag {
			return &d.Entries[i]
		}
	}
	return nil
}

// Raw returns the stored bytes of the entry's values; nil for a nil entry.
func (s *Reader) Raw(e *Entry) ([]byte, error) {
	if e == nil {
		return nil, nil
	}
	n, ok := e.Length(s.Size)
	if !ok {
		return nil, errLyingTag(e)
	}
	return s.Bytes(e.Value, n)
}

func errLyingTag(e *Entry) error {
	return container.Damaged("tag %d is damaged: %d values of type %d do not fit into the file", e.Tag, e.Count, e.Kind)
}

// Ints returns the first values of an entry of whole numbers, at most limit.
func (s *Reader) Ints(e *Entry, limit int) ([]int64, error) {
	if !e.Kind.whole() {
		return nil, container.Damaged("tag %d is damaged: it holds no whole numbers", e.Tag)
	}
	if _, ok := e.Length(s.Size); !ok {
		return nil, errLyingTag(e)
	}
	head := *e
	head.Count = min(head.Count, uint64(max(limit, 0)))
	b, err := s.Raw(&head)
	if err != nil {
		return nil, err
	}
	v := make([]int64, head.Count)
	for i := range v {
		switch each := int(e.Kind.Size()); each {
		case 1:
			v[i] = int64(b[i])
		case 2:
			v[i] = int64(s.Order.Uint16(b[2*i:]))
		case 4:
			v[i] = int64(s.Order.Uint32(b[4*i:]))
		default:
			v[i] = clampOffset(s.Order.Uint64(b[8*i:]))
		}
	}
	return v, nil
}

// First returns the first value of the tag, or the default if the tag is missing or empty.
func (s *Reader) First(d *Directory, tag uint16, def int64) (int64, error) {
	e := d.Find(tag)
	if e == nil || e.Count == 0 {
		return def, nil
	}
	v, err := s.Ints(e, 1)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// Kind is the type of an entry's values.
type Kind uint16

// The kinds that are named.
const (
	Byte           Kind = 1
	ASCII          Kind = 2
	Short          Kind = 3
	Long           Kind = 4
	Rational       Kind = 5
	Undefined      Kind = 7
	signedRational Kind = 10
	IFD            Kind = 13
	Long8          Kind = 16
	IFD8           Kind = 18
)

// Size returns the size of a value in bytes; 0 for an unknown kind.
func (k Kind) Size() int64 {
	switch k {
	case 1, 2, 6, 7:
		return 1
	case 3, 8:
		return 2
	case 4, 9, 11, 13:
		return 4
	case 5, 10, 12, 16, 17, 18:
		return 8
	}
	return 0
}

// whole reports whether values of the kind are unsigned whole numbers.
func (k Kind) whole() bool {
	switch k {
	case Byte, Short, Long, IFD, Long8, IFD8:
		return true
	}
	return false
}

// Unit returns the size in bytes of the numbers in a value of the kind: fractions consist of two numbers.
func (k Kind) Unit() int64 {
	if k == Rational || k == signedRational {
		return 4
	}
	return k.Size()
}
