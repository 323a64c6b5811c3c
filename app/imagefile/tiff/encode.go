package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/processing"
)

// Encode writes a new uncompressed TIFF of one picture, in strips, with its metadata: profile, XMP, IPTC, Photoshop's
// resources, resolution and orientation under their tags; of the EXIF block the tags of its first directory become tags
// of the picture and its EXIF, GPS and interoperability directories are kept with all their values. The thumbnail is
// left out. The file has the byte order of the EXIF block, on which maker notes rely; without one it is little-endian.
// A block with maker notes begins the file, so that offsets in them stay right (see HoldsMakerNote).
// A file of more than 4 GiB is a BigTIFF.
func Encode(ctx context.Context, w io.Writer, pic *processing.Picture, m container.Metadata) error {
	if err := pic.Validate(); err != nil {
		return err
	}
	return newEncoder(pic, m).write(ctx, w)
}

// encoder writes one picture.
type encoder struct {
	dialect
	strips stripes
	counts []int64
	m      container.Metadata
	meta   []field
	// lead begins the file; nil without an EXIF block that has to be kept whole.
	lead []byte
}

func newEncoder(pic *processing.Picture, m container.Metadata) *encoder {
	strips := newStripes(pic)
	e := &encoder{strips: strips, counts: strips.counts(), m: m}
	if lead, ok := newLead(m.EXIF); ok {
		e.order, e.lead, e.meta = lead.order, lead.block, metaFields(m, lead.order, lead.fields)
		return e
	}
	e.plain()
	return e
}

// plain sets the metadata of a file whose EXIF block is taken apart.
func (e *encoder) plain() {
	order, fields := exifFields(e.m.EXIF)
	e.order, e.lead, e.meta = order, nil, metaFields(e.m, order, fields)
}

// HoldsMakerNote reports whether Encode keeps the maker note of an EXIF block so that offsets in it stay right, if
// there is one. That is impossible in a BigTIFF and for damaged blocks.
func HoldsMakerNote(pic *processing.Picture, m container.Metadata) bool {
	s, at, err := exif.Open(bytes.NewReader(m.EXIF), int64(len(m.EXIF)))
	if err != nil {
		return true
	}
	if d, _ := s.Directory(at); makerNote(s, d) == nil {
		return true
	}
	e := newEncoder(pic, m)
	e.head()
	return e.lead != nil
}

func (e *encoder) write(ctx context.Context, w io.Writer) error {
	if _, err := w.Write(e.head()); err != nil {
		return err
	}
	var buf []byte
	for i := range e.strips.n {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = e.strips.pack(i, buf, e.order)
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// head returns everything before the strips.
func (e *encoder) head() []byte {
	// The length of the directory does not depend on the offsets in it, so it is determined with zeros.
	length := func() int64 {
		first := int64(len(e.begin(0)))
		return first + int64(len(e.directory(e.fields(make([]int64, len(e.counts))), first, 0)))
	}
	places, end := offsets(length(), e.counts)
	if !e.big && end > math.MaxUint32 {
		e.plain()
		e.big = true
		places, _ = offsets(length(), e.counts)
	}
	first := int64(len(e.begin(0)))
	return append(e.begin(first), e.directory(e.fields(places), first, 0)...)
}

// begin returns what precedes the directory at first.
func (e *encoder) begin(first int64) []byte {
	if e.lead == nil {
		return e.header(first)
	}
	return append(e.header(first), e.lead[len(e.header(0)):]...)
}

// fields returns all tags of the picture, given the offsets of its strips.
func (e *encoder) fields(places []int64) []field {
	pic := e.strips.pic
	photometric := map[int]uint16{1: blackIsZero, 3: photometricRGB, 4: photometricInk}[pic.Channels]
	all := e.layoutFields(e.strips, photometric, places, e.counts)
	all = append(all, e.longs(tagWidth, int64(pic.Width)), e.longs(tagLength, int64(pic.Height)))
	return append(all, e.meta...)
}

// metaFields returns the tags of the metadata, given those of the EXIF block.
func metaFields(m container.Metadata, order binary.ByteOrder, all []field) []field {
	d := dialect{order: order}
	set := func(f field) {
		if i := slices.IndexFunc(all, func(a field) bool { return a.tag == f.tag }); i >= 0 {
			all[i] = f
		} else {
			all = append(all, f)
		}
	}
	for _, b := range []field{
		block(tagICC, exif.Undefined, m.ICC), block(tagXMP, exif.Byte, m.XMP),
		block(tagIPTC, exif.Undefined, m.IPTC), block(tagPhotoshop, exif.Byte, m.Photoshop),
	} {
		if b.count > 0 {
			set(b)
		}
	}
	if m.XResolution > 0 && m.YResolution > 0 {
		set(d.rational(exif.TagXResolution, m.XResolution))
		set(d.rational(exif.TagYResolution, m.YResolution))
		// TIFF numbers the units from 1.
		set(d.shorts(exif.TagResolutionUnit, uint16(m.Unit)+1))
	}
	if text := strings.Join(m.Comments, "\n"); text != "" {
		all = append(all, commentField(all, text))
	}
	if m.Orientation >= 1 && m.Orientation <= 8 {
		set(d.shorts(exif.TagOrientation, uint16(m.Orientation)))
	}
	return all
}

// commentField returns a comment as the description of the picture or, if it has one, as the UTF-16 comment shown by
// Windows. If it has both, a second description follows the first.
func commentField(have []field, text string) field {
	taken := func(tag uint16) bool { return slices.ContainsFunc(have, func(f field) bool { return f.tag == tag }) }
	if taken(tagDescription) && !taken(tagXPComment) {
		var b []byte
		for _, u := range append(utf16.Encode([]rune(text)), 0) {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		return block(tagXPComment, exif.Byte, b)
	}
	return block(tagDescription, exif.ASCII, append([]byte(text), 0))
}

// exifFields reads an EXIF block without its damaged parts.
func exifFields(data []byte) (binary.ByteOrder, []field) {
	s, at, err := exif.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil || s.Big {
		return binary.LittleEndian, nil
	}
	room := s.Size
	return s.Order, fieldsAt(s, at, portable, &room)
}

// portable reports whether a tag of an EXIF block's first directory is copied with the picture: all except those that
// describe the sample layout of another file, and its thumbnail.
func portable(tag uint16) bool {
	switch {
	case tag >= 254 && tag <= 266, tag == tagStripOffsets, tag >= 277 && tag <= 281, tag == tagPlanar,
		tag >= 288 && tag <= 293, tag == tagTransfer, tag == tagPredictor, tag >= 320 && tag <= 347,
		tag >= 512 && tag <= 532, tag == 559:
		return false
	}
	return true
}

// fieldsAt returns the tags of the directory at offset at that keep accepts, with those of its EXIF, GPS and
// interoperability directories, as far as they can be read. Their values may take at most room bytes in total, because
// many tags may point to the same bytes.
func fieldsAt(s *exif.Reader, at int64, keep func(tag uint16) bool, room *int64) []field {
	d, err := s.Directory(at)
	if err != nil {
		return nil
	}
	var all []field
	seen := map[uint16]bool{}
	for i := range d.Entries {
		e := &d.Entries[i]
		if seen[e.Tag] || !keep(e.Tag) {
			continue
		}
		seen[e.Tag] = true
		switch e.Tag {
		case exif.TagEXIF, exif.TagGPS, exif.TagInterop:
			if v, err := s.Ints(e, 1); err == nil && len(v) == 1 {
				if sub := fieldsAt(s, v[0], within(e.Tag), room); len(sub) > 0 {
					all = append(all, field{tag: e.Tag, sub: sub})
				}
			}
			continue
		}
		if n, ok := e.Length(s.Size); !ok || n == 0 || n > *room {
			continue
		}
		if s.Big && e.Kind > exif.IFD {
			continue // 8-byte numbers are unknown outside BigTIFF
		}
		if b, err := s.Raw(e); err == nil {
			*room -= int64(len(b))
			all = append(all, field{tag: e.Tag, kind: e.Kind, count: e.Count, data: b})
		}
	}
	return all
}

// within returns the filter for tags of the directory under a tag. All are kept, except that only the EXIF directory
// may point further, to the interoperability directory; this prevents loops in damaged blocks.
func within(tag uint16) func(uint16) bool {
	return func(t uint16) bool {
		return t != exif.TagEXIF && t != exif.TagGPS && (t != exif.TagInterop || tag == exif.TagEXIF)
	}
}
