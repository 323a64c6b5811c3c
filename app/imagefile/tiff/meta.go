package tiff

import (
	"math"

	"blik/app/imagefile/codec"
)

// readMeta reads what travels with the pixels. Blocks that are damaged are left out: the picture does not need them, and
// a patched file keeps them as they are.
func readMeta(s *source, d *directory) (codec.Metadata, error) {
	m := codec.Metadata{Orientation: 1}
	for _, block := range []struct {
		tag  uint16
		into *[]byte
	}{{tagICC, &m.ICC}, {tagXMP, &m.XMP}, {tagIPTC, &m.IPTC}, {tagPhotoshop, &m.Photoshop}} {
		e := d.find(block.tag)
		if e == nil {
			continue
		}
		if _, ok := e.length(s.size); !ok || e.count == 0 {
			continue
		}
		b, err := s.raw(e)
		if err != nil {
			return m, err
		}
		if block.tag == tagIPTC && e.kind == kindLong && len(b) >= 4 && b[0] != iimMarker && b[3] == iimMarker {
			swapWords(b)
		}
		*block.into = b
	}
	if o, err := s.first(d, tagOrientation, 1); err == nil && o >= 1 && o <= 8 {
		m.Orientation = int(o)
	}
	var err error
	if m.XResolution, err = s.rational(d.find(tagXResolution)); err != nil {
		return m, err
	}
	if m.YResolution, err = s.rational(d.find(tagYResolution)); err != nil {
		return m, err
	}
	const none, inch, centimetre = 1, 2, 3
	switch unit, err := s.first(d, tagResolutionUnit, inch); {
	case err != nil || unit == none:
	case unit == inch:
		m.Unit = codec.UnitInch
	case unit == centimetre:
		m.Unit = codec.UnitCentimetre
	}
	m.EXIF = s.exifBlock(d)
	return m, nil
}

// exifBlock collects what an EXIF block holds: the tags that describe the picture, and the EXIF and GPS directories. It
// returns nil where the file has none of them.
func (s *source) exifBlock(d *directory) []byte {
	room := min(s.size, 64<<20)
	fields := s.fields(d.at, describes, &room)
	if len(fields) == 0 {
		return nil
	}
	form := dialect{order: s.order}
	head := form.header(8)
	return append(head, form.directory(fields, int64(len(head)), 0)...)
}

// describes says whether a tag tells of the picture rather than of how it is stored: those that Exif 2.32 has for the
// first directory, and what Windows adds.
func describes(tag uint16) bool {
	switch {
	case tag >= 269 && tag <= 272, tag == 285, tag == 305, tag == 306, tag == 315, tag == 316, tag == 318, tag == 319,
		tag == 18246, tag == 18249, tag == 33432, tag == tagEXIF, tag == tagGPS, tag >= 40091 && tag <= 40095:
		return true
	}
	return false
}

// iimMarker begins every data set of IPTC's information interchange model.
const iimMarker = 0x1c

// swapWords undoes the storing of a stream of bytes as whole numbers of the other byte order.
func swapWords(b []byte) {
	for ; len(b) >= 4; b = b[4:] {
		b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
	}
}

// rational returns the value of a tag of kind RATIONAL, 0 where it is missing or no number.
func (s *source) rational(e *entry) (float64, error) {
	if e == nil || e.kind != kindRational || e.count != 1 {
		return 0, nil
	}
	if _, ok := e.length(s.size); !ok {
		return 0, nil
	}
	b, err := s.raw(e)
	if err != nil {
		return 0, err
	}
	over, under := float64(s.order.Uint32(b)), float64(s.order.Uint32(b[4:]))
	if under == 0 || math.IsInf(over/under, 0) {
		return 0, nil
	}
	return over / under, nil
}
