package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"runtime"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// EncodeOptions are the choices of Encode; their zero value is the usual one.
type EncodeOptions struct {
	// Deflate compresses without loss, with the predictor that suits the samples. Each strip is compressed twice, because
	// where it will lie must be known before the first byte is written.
	Deflate bool
	// Big writes a BigTIFF also where the file is not over 4 GiB.
	Big bool
}

// Encode writes a new TIFF of one picture, in strips, with its metadata: profile, XMP, IPTC, Photoshop's resources,
// resolution and orientation under their tags; of the EXIF block the tags of its first directory become tags of the
// picture and its EXIF, GPS and interoperability directories are kept with all their values. The thumbnail is left out.
// The file has the byte order of the EXIF block, which maker notes rely on; without one it is little-endian.
func Encode(ctx context.Context, w io.Writer, pic *processing.Picture, m codec.Metadata, o EncodeOptions) error {
	if err := pic.Validate(); err != nil {
		return err
	}
	order, meta := metaFields(m)
	strips := newStripes(pic)
	e := &encoder{strips: strips, order: order}
	counts := strips.counts()
	if o.Deflate {
		err := e.deflate(ctx, func(i int, data []byte) error {
			counts[i] = int64(len(data))
			return nil
		})
		if err != nil {
			return err
		}
	}
	if _, err := w.Write(e.head(meta, counts, o)); err != nil {
		return err
	}
	if o.Deflate {
		return e.deflate(ctx, func(i int, data []byte) error {
			_, err := w.Write(data)
			return err
		})
	}
	var buf []byte
	for i := range strips.n {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = strips.pack(i, buf, order)
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// encoder writes one picture.
type encoder struct {
	strips stripes
	order  binary.ByteOrder
}

// head returns everything that precedes the strips.
func (e *encoder) head(meta []field, counts []int64, o EncodeOptions) []byte {
	d := dialect{e.order, o.Big}
	// The length of the directory does not depend on the offsets in it, so nought will do to learn it.
	length := func() int64 {
		first := int64(len(d.header(0)))
		return first + int64(len(d.directory(e.fields(d, meta, make([]int64, len(counts)), counts, o), first, 0)))
	}
	places, end := offsets(length(), counts)
	if !d.big && end > math.MaxUint32 {
		d.big = true
		places, _ = offsets(length(), counts)
	}
	first := int64(len(d.header(0)))
	return append(d.header(first), d.directory(e.fields(d, meta, places, counts, o), first, 0)...)
}

// fields returns all tags of the picture.
func (e *encoder) fields(d dialect, meta []field, places, counts []int64, o EncodeOptions) []field {
	pic := e.strips.pic
	photometric := map[int]uint16{1: blackIsZero, 3: photometricRGB, 4: photometricInk}[pic.Channels]
	all := d.layoutFields(e.strips, photometric, places, counts)
	all = append(all, d.longs(tagWidth, int64(pic.Width)), d.longs(tagLength, int64(pic.Height)))
	if o.Deflate {
		for i := range all {
			if all[i].tag == tagCompression {
				all[i] = d.shorts(tagCompression, uint16(compDeflate))
			}
		}
		all = append(all, d.shorts(tagPredictor, e.predictor()))
	}
	return append(all, meta...)
}

func (e *encoder) predictor() uint16 {
	if e.strips.pic.F32 != nil {
		return predictFloat
	}
	return predictHorizontal
}

// deflate compresses the strips, as many at a time as there are cores, and hands them on in order.
func (e *encoder) deflate(ctx context.Context, emit func(i int, data []byte) error) error {
	type state struct {
		compressor
		buf, tmp, out []byte
	}
	states := make([]state, runtime.GOMAXPROCS(0))
	lanes, depth := e.strips.pic.Channels, e.strips.pic.Depth()
	for at := 0; at < e.strips.n; at += len(states) {
		n := min(len(states), e.strips.n-at)
		err := parallel(ctx, n, func(_ context.Context, _ *scratch, i int) (err error) {
			s := &states[i]
			s.begin(compDeflate)
			s.buf = e.strips.pack(at+i, s.buf, e.order)
			for rows := s.buf; len(rows) > 0; rows = rows[e.strips.rowBytes:] {
				row := rows[:e.strips.rowBytes]
				if e.predictor() == predictFloat {
					s.tmp = append(s.tmp[:0], row...)
					doFloat(row, s.tmp, lanes, e.order)
				} else {
					doHorizontal(row, lanes, depth, e.order)
				}
			}
			if err := s.row(s.buf); err != nil {
				return err
			}
			s.out, err = s.end()
			return err
		})
		if err != nil {
			return err
		}
		for i := range n {
			if err := emit(at+i, states[i].out); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// metaFields returns the byte order of the file and the tags of the metadata.
func metaFields(m codec.Metadata) (binary.ByteOrder, []field) {
	order, all := exifFields(m.EXIF)
	d := dialect{order: order}
	set := func(f field) {
		for i := range all {
			if all[i].tag == f.tag {
				all[i] = f
				return
			}
		}
		all = append(all, f)
	}
	if len(m.ICC) > 0 {
		set(block(tagICC, kindUndefined, m.ICC))
	}
	if len(m.XMP) > 0 {
		set(block(tagXMP, kindByte, m.XMP))
	}
	if len(m.IPTC) > 0 {
		set(block(tagIPTC, kindUndefined, m.IPTC))
	}
	if len(m.Photoshop) > 0 {
		set(block(tagPhotoshop, kindByte, m.Photoshop))
	}
	if m.XResolution > 0 && m.YResolution > 0 {
		set(d.rational(tagXResolution, m.XResolution))
		set(d.rational(tagYResolution, m.YResolution))
		// TIFF numbers the units from 1.
		set(d.shorts(tagResolutionUnit, uint16(m.Unit)+1))
	}
	if m.Orientation >= 1 && m.Orientation <= 8 {
		set(d.shorts(tagOrientation, uint16(m.Orientation)))
	}
	return order, all
}

// exifFields reads an EXIF block. What is damaged in it is left out.
func exifFields(exif []byte) (binary.ByteOrder, []field) {
	s, at, err := openSource(bytes.NewReader(exif), int64(len(exif)))
	if err != nil || s.big {
		return binary.LittleEndian, nil
	}
	room := s.size
	return s.order, s.fields(at, rehoused, &room)
}

// rehoused says whether a tag of an EXIF block's first directory goes with the picture: all but those that describe how
// the samples of another file lie, and its thumbnail.
func rehoused(tag uint16) bool {
	switch {
	case tag >= 254 && tag <= 266, tag == tagStripOffsets, tag >= 277 && tag <= 281, tag == tagPlanar,
		tag >= 288 && tag <= 293, tag == tagTransfer, tag == tagPredictor, tag >= 320 && tag <= 347,
		tag >= 512 && tag <= 532, tag == 559:
		return false
	}
	return true
}

// fields returns the tags of the directory at offset at that keep accepts, with those of its EXIF, GPS and
// interoperability directories, as far as they can be read. Their values may take room bytes together: many tags may
// point to the same bytes.
func (s *source) fields(at int64, keep func(tag uint16) bool, room *int64) []field {
	d, err := s.directory(at)
	if err != nil {
		return nil
	}
	var all []field
	seen := map[uint16]bool{}
	for i := range d.entries {
		e := &d.entries[i]
		if seen[e.tag] || !keep(e.tag) {
			continue
		}
		seen[e.tag] = true
		switch e.tag {
		case tagEXIF, tagGPS, tagInterop:
			if v, err := s.ints(e, 1); err == nil && len(v) == 1 {
				if sub := s.fields(v[0], within(e.tag), room); len(sub) > 0 {
					all = append(all, field{tag: e.tag, sub: sub})
				}
			}
			continue
		}
		if n, ok := e.length(s.size); !ok || n == 0 || n > *room {
			continue
		}
		if s.big && e.kind > kindIFD {
			continue // 8-byte numbers are unknown outside BigTIFF
		}
		if b, err := s.raw(e); err == nil {
			*room -= int64(len(b))
			all = append(all, field{tag: e.tag, kind: e.kind, count: e.count, data: b})
		}
	}
	return all
}

// within says which tags of the directory under a tag are kept: all, but only the EXIF directory leads further, to that
// of interoperability, which keeps damaged blocks from leading in circles.
func within(tag uint16) func(uint16) bool {
	return func(t uint16) bool {
		return t != tagEXIF && t != tagGPS && (t != tagInterop || tag == tagEXIF)
	}
}
