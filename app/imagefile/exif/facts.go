package exif

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"blik/app/imagefile/container"
)

// The tags that Facts and Same look for.
const (
	TagOrientation    = 274
	TagXResolution    = 282
	TagYResolution    = 283
	TagResolutionUnit = 296
	// The pointers to the directories of EXIF, GPS and interoperability.
	TagEXIF    = 34665
	TagGPS     = 34853
	TagInterop = 40965
)

// Facts holds the entries of a directory that affect how its picture is shown.
type Facts struct {
	// Orientation is 1…8; 1 if missing.
	Orientation int
	// XResolution and YResolution are in pixels per unit; 0 if missing.
	XResolution, YResolution float64
	Unit                     container.Unit
	// Thumbnail: a directory with a thumbnail follows; set by FactsOf.
	Thumbnail bool
}

// FactsOf reads the first directory of an EXIF block, a TIFF structure that begins with its byte order. An inconsistent
// block gives no facts; that is not an error, because the block is copied unchanged.
func FactsOf(block []byte) Facts {
	s, at, err := Open(bytes.NewReader(block), int64(len(block)))
	if err != nil {
		return Facts{Orientation: 1, Unit: container.UnitInch}
	}
	d, _ := s.Directory(at)
	facts := s.Facts(d)
	facts.Thumbnail = d != nil && len(s.Following(d, 1)) > 0
	return facts
}

// Facts reads the facts of a directory, which may be nil. Unreadable entries count as missing.
func (s *Reader) Facts(d *Directory) Facts {
	facts := Facts{Orientation: 1}
	if o, err := s.First(d, TagOrientation, 1); err == nil && o >= 1 && o <= 8 {
		facts.Orientation = int(o)
	}
	facts.XResolution, facts.YResolution = s.rational(d.Find(TagXResolution)), s.rational(d.Find(TagYResolution))
	const inch, centimetre = 2, 3
	switch unit, err := s.First(d, TagResolutionUnit, inch); {
	case err != nil:
	case unit == inch:
		facts.Unit = container.UnitInch
	case unit == centimetre:
		facts.Unit = container.UnitCentimetre
	}
	return facts
}

// rational returns the value of a tag of kind Rational; 0 if it is missing or not a number.
func (s *Reader) rational(e *Entry) float64 {
	if e == nil || e.Kind != Rational || e.Count != 1 {
		return 0
	}
	b, err := s.Raw(e)
	if err != nil {
		return 0
	}
	over, under := float64(s.Order.Uint32(b)), float64(s.Order.Uint32(b[4:]))
	if under == 0 || math.IsInf(over/under, 0) {
		return 0
	}
	return over / under
}

// Same reports whether every tag of EXIF block a that describes the picture is in b, with the same value. In another
// container a block may have another layout, lack its thumbnail, and have its numbers in the other byte order.
func Same(a, b []byte) bool {
	have := tagsOf(b)
	for tag, value := range tagsOf(a) {
		if other, ok := have[tag]; !ok || !slices.Equal(value, other) {
			return false
		}
	}
	return true
}

// place is a tag in one of the directories of an EXIF block: that of the picture (0), or the one under a pointer.
type place struct{ directory, tag uint16 }

// tagsOf returns the tags of an EXIF block (Exif 2.32, 4.5 and 4.6) with their kinds and values, numbers as big-endian.
// Damaged tags count as missing. Tags of the picture's own directory that describe how its samples are stored are left
// out.
func tagsOf(block []byte) map[place][]byte {
	found := map[place][]byte{}
	if s, at, err := Open(bytes.NewReader(block), int64(len(block))); err == nil {
		s.collect(found, 0, at)
	}
	return found
}

func (s *Reader) collect(found map[place][]byte, directory uint16, at int64) {
	d, _ := s.Directory(at)
	if d == nil {
		return
	}
	for i := range d.Entries {
		e := &d.Entries[i]
		switch {
		case directory == 0 && (e.Tag == TagEXIF || e.Tag == TagGPS), directory == TagEXIF && e.Tag == TagInterop:
			if v, err := s.Ints(e, 1); err == nil && len(v) == 1 {
				s.collect(found, e.Tag, v[0])
			}
			continue
		case directory == 0 && !describesPicture(e.Tag):
			continue
		}
		value := binary.BigEndian.AppendUint16(nil, uint16(e.Kind))
		if e.Kind.Size() > 0 {
			data, err := s.Raw(e)
			if err != nil {
				continue
			}
			if unit := int(e.Kind.Unit()); s.Order == binary.ByteOrder(binary.LittleEndian) {
				for n := 0; n < len(data); n += unit {
					slices.Reverse(data[n : n+unit])
				}
			}
			value = append(value, data...)
		}
		found[place{directory, e.Tag}] = value
	}
}

// describesPicture reports whether a tag of the first directory describes the picture and not its storage: those of
// Exif 2.32, table 4, but resolution, orientation and what only JPEG needs, and those that Windows adds.
func describesPicture(tag uint16) bool {
	switch {
	case tag >= 270 && tag <= 272, tag == 305, tag == 306, tag == 315, tag == 33432, tag == 18246, tag == 18249,
		tag >= 40091 && tag <= 40095:
		return true
	}
	return false
}
