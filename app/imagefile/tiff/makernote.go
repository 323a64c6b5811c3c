package tiff

import (
	"bytes"
	"encoding/binary"
	"slices"

	"blik/app/imagefile/exif"
)

const tagMakerNote = 37500

// Maker notes are data of a camera in a form of its own, which mostly points to places by their offset in the EXIF
// block. Such a block is kept whole, at the beginning of the new file: its own header becomes that of the file, so that
// every offset in it stays right. Only its first directory is replaced, by that of the picture after it.

// lead is an EXIF block that begins a new file.
type lead struct {
	// block is the EXIF block, of even length. Its preview, which the new file does not hold, is blank.
	block []byte
	order binary.ByteOrder
	// fields are the tags of its first directory that describe the picture. Their values stay where they are.
	fields []field
}

// newLead returns the lead for an EXIF block; ok is false if it holds no maker note, or if it is damaged in any way.
func newLead(data []byte) (l lead, ok bool) {
	s, at, err := exif.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil || s.Big {
		return l, false
	}
	b := blockReader{s: s, size: int64(len(data))}
	first := b.directory(at)
	camera := b.below(first, exif.TagEXIF)
	b.below(first, exif.TagGPS)
	b.below(camera, exif.TagInterop)
	if b.damaged || camera == nil || camera.Find(tagMakerNote) == nil {
		return l, false
	}
	l.block, l.order = bytes.Clone(data), s.Order
	for _, e := range first.Entries {
		if portable(e.Tag) && e.Count > 0 {
			l.fields = append(l.fields, field{tag: e.Tag, kind: e.Kind, count: e.Count, kept: data[e.Field:][:4]})
		}
	}
	if preview, err := s.Directory(first.Next); first.Next != 0 && err == nil {
		place, _ := s.First(preview, tagJPEGOffset, 0)
		n, _ := s.First(preview, tagJPEGLength, 0)
		if place > 0 && n > 0 && place <= b.size && n <= b.size-place && b.free(place, place+n) {
			clear(l.block[place : place+n])
		}
	}
	if len(l.block)%2 == 1 {
		l.block = append(l.block, 0)
	}
	return l, true
}

// makerNote returns the entry of the maker note of a file or an EXIF block whose first directory is d; nil without one.
func makerNote(s *exif.Reader, d *exif.Directory) *exif.Entry {
	at, err := s.First(d, exif.TagEXIF, 0)
	if err != nil || at == 0 {
		return nil
	}
	camera, _ := s.Directory(at)
	return camera.Find(tagMakerNote)
}

// movesMakerNote reports whether the maker note of the file is elsewhere in its EXIF block, so that offsets in it would
// no longer be right.
func (f *File) movesMakerNote(block []byte) bool {
	was := makerNote(f.src, f.dir)
	s, at, err := exif.Open(bytes.NewReader(block), int64(len(block)))
	if was == nil || err != nil {
		return was != nil
	}
	d, _ := s.Directory(at)
	is := makerNote(s, d)
	return is == nil || is.Value != was.Value
}

// blockReader reads the directories of an EXIF block and notes what is damaged.
type blockReader struct {
	s       *exif.Reader
	size    int64
	damaged bool
	// used are the parts that directories and values take.
	used []span
}

// directory reads a directory. Its values must lie in the block, and no tag may occur twice.
func (b *blockReader) directory(at int64) *exif.Directory {
	d, err := b.s.Directory(at)
	if err != nil || d.Cut || !b.free(d.At, d.At+d.Length) {
		b.damaged = true
		return nil
	}
	b.used = append(b.used, span{0, 8, spanHeader}, span{d.At, d.At + d.Length, spanDirectory})
	var seen []uint16
	for _, e := range d.Entries {
		n, ok := e.Length(b.size)
		if !ok || slices.Contains(seen, e.Tag) {
			b.damaged = true
			return nil
		}
		seen = append(seen, e.Tag)
		if !e.Inline {
			b.used = append(b.used, span{e.Value, e.Value + n, spanOther})
		}
	}
	return d
}

// below reads the directory that a tag of a directory points to, if it has the tag.
func (b *blockReader) below(d *exif.Directory, tag uint16) *exif.Directory {
	e := d.Find(tag)
	if e == nil || b.damaged {
		return nil
	}
	at, err := b.s.Ints(e, 2)
	if err != nil || len(at) != 1 || e.Kind.Size() != 4 {
		b.damaged = true
		return nil
	}
	return b.directory(at[0])
}

// free reports whether nothing uses a part of the block.
func (b *blockReader) free(at, end int64) bool {
	return !slices.ContainsFunc(b.used, func(s span) bool { return s.at < end && at < s.end })
}
