package tiff

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"blik/app/imagefile/codec"
)

// source reads the structure of a TIFF: a header, and directories of entries that it leads to.
type source struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	// big: a BigTIFF, whose counts and offsets have 8 bytes.
	big bool
}

// entry is one tag of a directory.
type entry struct {
	tag   uint16
	kind  kind
	count uint64
	// at is where the entry itself begins in the file; value is where its values do: in the entry or where it points.
	at, value int64
	// inline: the values lie in the entry.
	inline bool
}

// length returns the bytes of the entry's values; ok is false for an unknown kind and where they could not lie in a
// file of the given size.
func (e *entry) length(size int64) (n int64, ok bool) {
	each := e.kind.size()
	if each == 0 || e.count > uint64(size/each) {
		return 0, false
	}
	n = int64(e.count) * each
	return n, e.value >= 0 && e.value <= size-n
}

// directory is a list of tags; next is the offset of the directory behind it, 0 at the end of the chain.
type directory struct {
	at, length int64
	entries    []entry
	next       int64
}

// maxEntries is what a directory of classic TIFF can hold at the most.
const maxEntries = 1<<16 - 1

// openSource reads the header and returns the offset of the first directory.
func openSource(r io.ReaderAt, size int64) (*source, int64, error) {
	s := &source{r: r, size: size}
	head, err := s.bytes(0, 8)
	if err != nil {
		return nil, 0, err
	}
	switch string(head[:2]) {
	case "II":
		s.order = binary.LittleEndian
	case "MM":
		s.order = binary.BigEndian
	default:
		return nil, 0, codec.Damaged("this is not a TIFF: its byte order is missing")
	}
	switch version := s.order.Uint16(head[2:]); version {
	case 42:
		return s, int64(s.order.Uint32(head[4:])), nil
	case 43:
		s.big = true
		if s.order.Uint16(head[4:]) != 8 || s.order.Uint16(head[6:]) != 0 {
			return nil, 0, codec.Damaged("the BigTIFF header is damaged: offsets must have 8 bytes")
		}
		head, err = s.bytes(8, 8)
		if err != nil {
			return nil, 0, err
		}
		return s, clampOffset(s.order.Uint64(head)), nil
	default:
		return nil, 0, codec.Damaged("this is not a TIFF: version %d instead of 42 or 43", version)
	}
}

// clampOffset keeps offsets that no file can have past the end of every file.
func clampOffset(v uint64) int64 { return int64(min(v, math.MaxInt64)) }

// bytes reads n bytes at offset at. Nothing is allocated for what lies past the end of the file.
func (s *source) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > s.size || n > s.size-at {
		return nil, codec.Truncated()
	}
	b := make([]byte, n)
	if err := readFull(s.r, b, at); err != nil {
		return nil, err
	}
	return b, nil
}

// readFull fills b from offset at; a file that ends before is truncated.
func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return codec.Truncated()
	default:
		return err
	}
}

// offsetSize returns the bytes of an offset in this file.
func (s *source) offsetSize() int64 {
	if s.big {
		return 8
	}
	return 4
}

// offset reads an offset from b.
func (s *source) offset(b []byte) int64 {
	if s.big {
		return clampOffset(s.order.Uint64(b))
	}
	return int64(s.order.Uint32(b))
}

// putOffset writes an offset to b.
func (s *source) putOffset(b []byte, v int64) {
	if s.big {
		s.order.PutUint64(b, uint64(v))
	} else {
		s.order.PutUint32(b, uint32(v))
	}
}

// count reads how many entries the directory at offset at has, and says where they begin and how long one is.
func (s *source) count(at int64) (n, first, each int64, err error) {
	head, each := int64(2), int64(12)
	if s.big {
		head, each = 8, 20
	}
	b, err := s.bytes(at, head)
	if err != nil {
		return 0, 0, 0, err
	}
	count := uint64(s.order.Uint16(b))
	if s.big {
		count = s.order.Uint64(b)
	}
	if count == 0 || count > maxEntries {
		return 0, 0, 0, codec.Damaged("a directory is damaged: it claims to hold %d tags", count)
	}
	return int64(count), at + head, each, nil
}

// directory reads the directory at offset at.
func (s *source) directory(at int64) (*directory, error) {
	n, first, each, err := s.count(at)
	if err != nil {
		return nil, err
	}
	b, err := s.bytes(first, n*each)
	if err != nil {
		return nil, err
	}
	d := &directory{at: at, length: first - at + n*each, entries: make([]entry, n)}
	field := s.offsetSize()
	for i := range d.entries {
		raw := b[int64(i)*each:][:each]
		e := &d.entries[i]
		e.at = first + int64(i)*each
		e.tag, e.kind = s.order.Uint16(raw), kind(s.order.Uint16(raw[2:]))
		if s.big {
			e.count = s.order.Uint64(raw[4:])
		} else {
			e.count = uint64(s.order.Uint32(raw[4:]))
		}
		e.value = e.at + each - field
		e.inline = e.count <= uint64(field) && int64(e.count)*e.kind.size() <= field
		if !e.inline {
			e.value = s.offset(raw[each-field:])
		}
	}
	// A file that ends right behind the last entry has no further directory.
	if tail, err := s.bytes(first+n*each, field); err == nil {
		d.next = s.offset(tail)
		d.length += field
	}
	return d, nil
}

// following returns the directories behind d in the chain, as far as they can be read; a loop ends it, and so does the
// limit.
func (s *source) following(d *directory, limit int) []int64 {
	seen := map[int64]bool{d.at: true}
	var chain []int64
	for at := d.next; at != 0 && !seen[at] && len(chain) < limit; {
		n, first, each, err := s.count(at)
		if err != nil || first+n*each > s.size {
			break
		}
		seen[at] = true
		chain = append(chain, at)
		tail, err := s.bytes(first+n*each, s.offsetSize())
		if err != nil {
			break
		}
		at = s.offset(tail)
	}
	return chain
}

// find returns the first entry with the tag, nil where there is none.
func (d *directory) find(tag uint16) *entry {
	for i := range d.entries {
		if d.entries[i].tag == tag {
			return &d.entries[i]
		}
	}
	return nil
}

// raw returns the bytes of the entry's values as they are stored, nil where there is no such entry.
func (s *source) raw(e *entry) ([]byte, error) {
	if e == nil {
		return nil, nil
	}
	n, ok := e.length(s.size)
	if !ok {
		return nil, errLyingTag(e)
	}
	return s.bytes(e.value, n)
}

func errLyingTag(e *entry) error {
	return codec.Damaged("tag %d is damaged: %d values of type %d do not fit into the file", e.tag, e.count, e.kind)
}

// ints returns the first values of an entry of whole numbers, limit at the most.
func (s *source) ints(e *entry, limit int) ([]int64, error) {
	if !e.kind.whole() {
		return nil, codec.Damaged("tag %d is damaged: it holds no whole numbers", e.tag)
	}
	if _, ok := e.length(s.size); !ok {
		return nil, errLyingTag(e)
	}
	head := *e
	head.count = min(head.count, uint64(max(limit, 0)))
	b, err := s.raw(&head)
	if err != nil {
		return nil, err
	}
	v := make([]int64, head.count)
	for i := range v {
		switch each := int(e.kind.size()); each {
		case 1:
			v[i] = int64(b[i])
		case 2:
			v[i] = int64(s.order.Uint16(b[2*i:]))
		case 4:
			v[i] = int64(s.order.Uint32(b[4*i:]))
		default:
			v[i] = clampOffset(s.order.Uint64(b[8*i:]))
		}
	}
	return v, nil
}

// first returns the first value of the tag, or the default where the tag is missing or empty.
func (s *source) first(d *directory, tag uint16, def int64) (int64, error) {
	e := d.find(tag)
	if e == nil || e.count == 0 {
		return def, nil
	}
	v, err := s.ints(e, 1)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}
