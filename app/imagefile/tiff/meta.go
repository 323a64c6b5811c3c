package tiff

import (
	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
)

// readMeta reads the metadata. Damaged blocks are left out: the picture does not need them, and a patched file keeps
// them unchanged.
func readMeta(s *exif.Reader, d *exif.Directory) (container.Metadata, error) {
	var m container.Metadata
	for _, block := range []struct {
		tag  uint16
		into *[]byte
	}{{tagICC, &m.ICC}, {tagXMP, &m.XMP}, {tagIPTC, &m.IPTC}, {tagPhotoshop, &m.Photoshop}} {
		e := d.Find(block.tag)
		if e == nil {
			continue
		}
		if _, ok := e.Length(s.Size); !ok || e.Count == 0 {
			continue
		}
		b, err := s.Raw(e)
		if err != nil {
			return m, err
		}
		if block.tag == tagIPTC && e.Kind == exif.Long && len(b) >= 4 && b[0] != iimMarker && b[3] == iimMarker {
			swap(b, 4) // a byte stream that was stored as integers of the other byte order
		}
		*block.into = b
	}
	facts := s.Facts(d)
	m.Orientation = facts.Orientation
	m.XResolution, m.YResolution, m.Unit = facts.XResolution, facts.YResolution, facts.Unit
	m.EXIF = exifBlock(s, d)
	return m, nil
}

// exifBlock builds an EXIF block from the tags that describe the picture, and the EXIF and GPS directories. It returns
// nil if the file has none of them.
func exifBlock(s *exif.Reader, d *exif.Directory) []byte {
	room := min(s.Size, 64<<20)
	fields := fieldsAt(s, d.At, describes, &room)
	if len(fields) == 0 {
		return nil
	}
	form := dialect{order: s.Order}
	head := form.header(8)
	return append(head, form.directory(fields, int64(len(head)), 0)...)
}

// describes reports whether a tag describes the picture rather than how it is stored: those that Exif 2.32 has for the
// first directory, and what Windows adds.
func describes(tag uint16) bool {
	switch {
	case tag >= 269 && tag <= 272, tag == 285, tag == 305, tag == 306, tag == 315, tag == 316, tag == 318, tag == 319,
		tag == 18246, tag == 18249, tag == 33432, tag == exif.TagEXIF, tag == exif.TagGPS, tag >= 40091 && tag <= 40095:
		return true
	}
	return false
}

// iimMarker begins every data set of IPTC's information interchange model.
const iimMarker = 0x1c
