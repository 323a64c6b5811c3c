package exif

import (
	"bytes"
	"math"

	"blik/app/imagefile/container"
)

// The tags that Facts looks for.
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

// Resolution returns the resolution of a picture whose file states another one outside its EXIF block: that of EXIF if
// it has a unit, otherwise the other one if that has a unit, otherwise whichever gives the aspect ratio of a pixel.
func (f Facts) Resolution(x, y float64, unit container.Unit) (float64, float64, container.Unit) {
	own, other := f.XResolution > 0 && f.YResolution > 0, x > 0 && y > 0
	switch {
	case own && f.Unit != container.UnitNone, own && !other:
		return f.XResolution, f.YResolution, f.Unit
	case other:
		return x, y, unit
	}
	return 0, 0, container.UnitNone
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

// Previews returns the places of previews in the metadata of a picture; facts are those of its EXIF block.
func Previews(m container.Metadata, facts Facts) []container.Preview {
	var all []container.Preview
	if facts.Thumbnail {
		all = append(all, container.PreviewEXIF)
	}
	if hasPreview(m.Photoshop) {
		all = append(all, container.PreviewPhotoshop)
	}
	// XMP specification part 2, 1.2.2.4.
	if bytes.Contains(m.XMP, []byte("xmpGImg:image")) || bytes.Contains(m.XMP, []byte("xapGImg:image")) {
		all = append(all, container.PreviewXMP)
	}
	return all
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
