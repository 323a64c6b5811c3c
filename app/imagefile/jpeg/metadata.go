package jpeg

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/message"
)

// collector gathers metadata that is split over several segments.
type collector struct {
	// profile holds the chunks of the ICC profile by number; nil before the first.
	profile [][]byte
	broken  bool
	// extended holds the portions of the second part of XMP, each with its 40-byte header.
	extended [][]byte
	exif     exif.Facts
	// pictures is the number of pictures in the file according to an index, others the markers of unknown segments.
	pictures int
	others   []byte
	// preview: JFIF holds a preview. credentials: there are content credentials.
	preview, credentials bool
}

// other records a segment without known metadata.
func (c *collector) other(marker byte) {
	if !slices.Contains(c.others, marker) {
		c.others = append(c.others, marker)
	}
}

// setDensity reads the data after "JFIF\0" (ITU-T T.871, 10.1): version, unit, densities.
func (f *File) setDensity(d []byte) {
	if len(d) < 7 {
		return
	}
	x, y := float64(binary.BigEndian.Uint16(d[3:])), float64(binary.BigEndian.Uint16(d[5:]))
	if x == 0 || y == 0 || d[2] > 2 || d[2] == 0 && x == y {
		return
	}
	f.meta.XResolution, f.meta.YResolution = x, y
	f.meta.Unit = [...]container.Unit{container.UnitNone, container.UnitInch, container.UnitCentimetre}[d[2]]
}

// collect collects the metadata of an application segment.
func (c *collector) collect(marker byte, d []byte, m *container.Metadata) {
	has := func(signature string) ([]byte, bool) { return bytes.CutPrefix(d, []byte(signature)) }
	switch marker {
	case markerAPP1:
		if block, ok := has(signatureEXIF); ok && m.EXIF == nil && len(block) > 0 {
			m.EXIF, c.exif = block, exif.FactsOf(block)
			m.Orientation = c.exif.Orientation
		} else if xmp, ok := has(signatureXMP); ok && m.XMP == nil {
			m.XMP = xmp
		} else if portion, ok := has(signatureExtendedXMP); ok && len(portion) >= 40 {
			c.extended = append(c.extended, portion)
		} else {
			c.other(marker)
		}
	case markerAPP2:
		if chunk, ok := has(signatureICC); ok && len(chunk) >= 2 {
			c.takeProfile(int(chunk[0]), int(chunk[1]), chunk[2:])
		} else if index, ok := has(signatureMPF); ok {
			c.pictures = max(c.pictures, len(indexed(index)))
		} else {
			c.other(marker)
		}
	case markerAPPD:
		if resources, ok := has(signaturePhotoshop); ok {
			m.Photoshop = append(m.Photoshop, resources...)
		} else {
			c.other(marker)
		}
	default:
		// A box of JUMBF with a manifest of C2PA (2.1, A.3.1).
		c.credentials = c.credentials || marker == markerAPPB && bytes.Contains(d, []byte("c2pa"))
		c.other(marker)
	}
}

// comment returns the text of a comment segment. It has no declared character set and is read as UTF-8 if valid,
// otherwise as Latin-1.
func comment(d []byte) string {
	d = bytes.TrimRight(d, "\x00")
	if utf8.Valid(d) {
		return string(d)
	}
	text := make([]rune, len(d))
	for i, b := range d {
		text[i] = rune(b)
	}
	return string(text)
}

// takeProfile takes chunk number (from 1) of count (ICC.1:2022, B.4).
func (c *collector) takeProfile(number, count int, data []byte) {
	if c.profile == nil {
		c.profile = make([][]byte, count)
	}
	if count != len(c.profile) || number < 1 || number > count || c.profile[number-1] != nil || len(data) == 0 {
		c.broken = true
		return
	}
	c.profile[number-1] = data
}

// finish joins split metadata and lists the parts that a new file would not hold.
func (c *collector) finish(f *File) {
	m := &f.meta
	for _, chunk := range c.profile {
		c.broken = c.broken || chunk == nil
		m.ICC = append(m.ICC, chunk...)
	}
	if c.broken {
		m.ICC = nil
		f.warnings = append(f.warnings, container.DamagedProfile())
		f.dropped = append(f.dropped, message.Of("the damaged colour profile"))
	}
	m.IPTC = exif.IPTC(m.Photoshop)
	m.XMP = joinXMP(m.XMP, c.extended)
	m.XResolution, m.YResolution, m.Unit = c.exif.Resolution(m.XResolution, m.YResolution, m.Unit)
	if c.pictures > 1 {
		f.dropped = append(f.dropped,
			message.Plural(c.pictures-1, "%d further picture", "%d further pictures", c.pictures-1))
	}
	if len(c.others) > 0 {
		var names []string
		for _, marker := range c.others {
			names = append(names, fmt.Sprintf("FF%02X", marker))
		}
		list := strings.Join(names, ", ")
		f.dropped = append(f.dropped, message.Of("segments of other programs (%s)", list))
	}
	if c.credentials {
		f.stale = append(f.stale, container.StaleCredentials())
	}
	f.others.Further = max(c.pictures-1, 0)
	f.others.Previews = exif.Previews(*m, c.exif)
	if c.preview {
		f.others.Previews = append(f.others.Previews, container.PreviewJFIF)
	}
}

// joinXMP appends the properties of extended XMP (XMP specification part 3, 1.1.3.1) to those of the packet if the
// portions are complete and match the packet; otherwise it returns the packet.
func joinXMP(packet []byte, portions [][]byte) []byte {
	const heading, guidLength = 40, 32
	var guid, whole []byte
	filled := 0
	for _, p := range portions {
		if !bytes.Contains(packet, p[:guidLength]) {
			continue
		}
		length, offset := binary.BigEndian.Uint32(p[guidLength:]), binary.BigEndian.Uint32(p[guidLength+4:])
		if whole == nil {
			// All portions are present, so the total is no longer than their sum.
			total := 0
			for _, q := range portions {
				total += len(q) - heading
			}
			if int64(length) > int64(total) || length == 0 {
				return packet
			}
			guid, whole = p[:guidLength], make([]byte, length)
		}
		data := p[heading:]
		if !bytes.Equal(guid, p[:guidLength]) || int64(offset)+int64(len(data)) > int64(len(whole)) {
			return packet
		}
		filled += copy(whole[offset:], data)
	}
	if whole == nil || filled != len(whole) {
		return packet
	}
	sum := md5.Sum(whole)
	if !bytes.EqualFold(guid, []byte(hex.EncodeToString(sum[:]))) {
		return packet
	}
	_, inner, ok := bytes.Cut(whole, []byte("<rdf:RDF"))
	if !ok {
		return packet
	}
	_, inner, _ = bytes.Cut(inner, []byte(">"))
	end, at := bytes.LastIndex(inner, []byte("</rdf:RDF>")), bytes.LastIndex(packet, []byte("</rdf:RDF>"))
	if end < 0 || at < 0 {
		return packet
	}
	return bytes.Join([][]byte{packet[:at], inner[:end], packet[at:]}, nil)
}
