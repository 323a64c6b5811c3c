package png

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zlib"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
)

// Keywords of textual chunks that hold metadata.
const (
	keywordXMP = "XML:com.adobe.xmp"
	// rawProfile is the prefix of the keywords under which ImageMagick stores metadata as hexadecimal text, if PNG had
	// no chunk for them.
	rawProfile = "Raw profile type "
)

// readMetadata reads a chunk of metadata. If several are of the same kind, the first one is used.
func (f *File) readMetadata(c chunk) error {
	m := &f.meta
	switch c.name {
	case "iCCP":
		if m.ICC != nil {
			return nil
		}
		return f.readProfile(c)
	case "eXIf":
		d, err := f.chunkData(c, maxMetadata)
		if err == nil && len(d) > 0 {
			f.setEXIF(d)
		}
		return err
	case "iTXt":
		return f.readInternational(c)
	case "zTXt", "tEXt":
		return f.readText(c)
	case "pHYs", "gAMA", "sRGB", "cICP":
		if c.name != "pHYs" {
			f.drop(c.name)
		}
		d, err := f.chunkData(c, 64)
		if err != nil {
			return err
		}
		switch {
		case c.name == "pHYs" && len(d) == 9:
			f.setResolution(d)
		case c.name == "gAMA" && len(d) == 4:
			f.gamma = float64(binary.BigEndian.Uint32(d)) / 100000
		case c.name == "sRGB":
			f.srgb = true
		case c.name == "cICP" && len(d) == 4:
			// Transfer characteristics 13 are those of sRGB (ITU-T H.273).
			f.srgb = d[1] == 13
		}
	default:
		f.drop(c.name)
		if stale(c.name) && !slices.Contains(f.stale, c.name) {
			f.stale = append(f.stale, c.name)
		}
	}
	return nil
}

// readProfile reads the colour profile. A damaged one is ignored with a warning, unless it expands beyond the limits.
func (f *File) readProfile(c chunk) error {
	before := f.unpacked
	d, err := f.chunkData(c, maxMetadata)
	if err == nil {
		_, rest, _ := bytes.Cut(d, []byte{0})
		if len(rest) < 1 || rest[0] != 0 {
			err = damaged(c.name, "cannot be understood")
		} else {
			f.meta.ICC, err = f.unpack(c.name, rest[1:])
		}
	}
	var fault *container.Fault
	if bomb := f.unpacked-before > maxMetadata || f.unpacked > 4*maxMetadata; errors.As(err, &fault) && !bomb {
		f.warnings = append(f.warnings, container.DamagedProfile())
		f.drop(c.name)
		return nil
	}
	return err
}

// drop records a chunk that a new file would not contain.
func (f *File) drop(name string) {
	if !slices.Contains(f.dropped, name) {
		f.dropped = append(f.dropped, name)
	}
}

// setEXIF stores EXIF data. Some writers put the prefix of the JPEG segment before the TIFF structure.
func (f *File) setEXIF(d []byte) {
	d = bytes.TrimPrefix(d, []byte("Exif\x00\x00"))
	if f.meta.EXIF != nil || len(d) == 0 {
		return
	}
	facts := exif.FactsOf(d)
	f.meta.EXIF, f.meta.Orientation, f.exif = d, facts.Orientation, facts
}

// setResolution stores pHYs: pixels per metre, stored per centimetre, or only an aspect ratio.
func (f *File) setResolution(d []byte) {
	x, y := float64(binary.BigEndian.Uint32(d)), float64(binary.BigEndian.Uint32(d[4:]))
	if x == 0 || y == 0 {
		return
	}
	f.meta.Unit = container.UnitNone
	if d[8] == 1 {
		x, y, f.meta.Unit = x/100, y/100, container.UnitCentimetre
	}
	f.meta.XResolution, f.meta.YResolution = x, y
}

// begins reports whether the data of a chunk begin with text. It reads no more than that.
func (f *File) begins(c chunk, text string) (bool, error) {
	if c.n < int64(len(text)) {
		return false, nil
	}
	head := make([]byte, len(text))
	if err := container.ReadFull(f.r, head, c.at); err != nil {
		return false, err
	}
	return string(head) == text, nil
}

// readInternational reads iTXt if it is an XMP packet (11.3.3.4, and XMP specification part 3, 1.1.5).
func (f *File) readInternational(c chunk) error {
	if ok, err := f.begins(c, keywordXMP+"\x00"); !ok || err != nil || f.meta.XMP != nil {
		f.drop(c.name)
		return err
	}
	d, err := f.chunkData(c, maxMetadata)
	if err != nil {
		return err
	}
	d = d[len(keywordXMP)+1:]
	if len(d) < 2 {
		return damaged(c.name, "cannot be understood")
	}
	packed := d[0] == 1
	fields := bytes.SplitN(d[2:], []byte{0}, 3) // language, translated keyword, text
	if len(fields) < 3 {
		return damaged(c.name, "cannot be understood")
	}
	f.meta.XMP = fields[2]
	if packed {
		f.meta.XMP, err = f.unpack(c.name, fields[2])
	}
	return err
}

// readText reads EXIF, XMP, IPTC and Photoshop resources that ImageMagick stored as text, and ignores other text.
func (f *File) readText(c chunk) error {
	if ok, err := f.begins(c, rawProfile); !ok || err != nil {
		f.drop(c.name)
		return err
	}
	d, err := f.chunkData(c, maxMetadata)
	if err != nil {
		return err
	}
	keyword, text, _ := bytes.Cut(d, []byte{0})
	kind := strings.TrimPrefix(string(keyword), rawProfile)
	switch kind {
	case "exif", "APP1", "xmp", "iptc", "8bim":
	default:
		return nil
	}
	if c.name == "zTXt" {
		if len(text) < 1 || text[0] != 0 {
			return damaged(c.name, "cannot be understood")
		}
		if text, err = f.unpack(c.name, text[1:]); err != nil {
			return err
		}
	}
	profile := parseRawProfile(text)
	switch {
	case len(profile) == 0:
	case kind == "exif" || kind == "APP1" && bytes.HasPrefix(profile, []byte("Exif\x00\x00")):
		f.setEXIF(profile)
	case kind == "xmp":
		if f.meta.XMP == nil {
			f.meta.XMP = profile
		}
	case kind == "APP1": // not EXIF
	case bytes.HasPrefix(profile, []byte("8BIM")):
		if f.meta.Photoshop == nil {
			f.meta.Photoshop, f.meta.IPTC = profile, exif.IPTC(profile)
		}
	case f.meta.IPTC == nil:
		f.meta.IPTC = profile
	}
	return nil
}

// parseRawProfile parses "\nname\n length\nhexadecimal digits with line breaks"; nil if text has another form.
func parseRawProfile(text []byte) []byte {
	lines := strings.SplitN(strings.TrimLeft(string(text), "\n"), "\n", 3)
	if len(lines) < 3 {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(lines[1]))
	digits := strings.Join(strings.Fields(lines[2]), "")
	if err != nil || n < 0 || len(digits) != 2*n {
		return nil
	}
	if profile, err := hex.DecodeString(digits); err == nil {
		return profile
	}
	return nil
}

// unpack decompresses metadata of at most maxMetadata bytes. All metadata of a file may have four times that, because
// several kinds may exist.
func (f *File) unpack(name string, packed []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, damaged(name, "cannot be unpacked")
	}
	out, err := io.ReadAll(io.LimitReader(z, maxMetadata+1))
	f.unpacked += int64(len(out))
	switch {
	case len(out) > maxMetadata:
		return nil, damaged(name, "unpacks to more than 16 MiB")
	case f.unpacked > 4*maxMetadata:
		return nil, container.Damaged("the metadata unpack to more than 64 MiB")
	case err != nil:
		return nil, damaged(name, "cannot be unpacked")
	}
	return out, nil
}

// appendMetadata appends the chunks of m in an order in which they may precede IDAT.
func appendMetadata(dst []byte, m container.Metadata) []byte {
	if len(m.ICC) > 0 {
		dst = appendChunk(dst, "iCCP", append([]byte("ICC profile\x00\x00"), pack(m.ICC)...))
	}
	if d := physicalSize(m); d != nil {
		dst = appendChunk(dst, "pHYs", d)
	}
	if len(m.EXIF) > 0 {
		dst = appendChunk(dst, "eXIf", m.EXIF)
	}
	if len(m.XMP) > 0 {
		// Not compressed, so that programs that scan files for XMP packets find it; no language, no translated keyword.
		dst = appendChunk(dst, "iTXt", append([]byte(keywordXMP+"\x00\x00\x00\x00\x00"), m.XMP...))
	}
	for _, text := range m.Comments {
		dst = appendChunk(dst, "iTXt", append([]byte("Comment\x00\x00\x00\x00\x00"), text...))
	}
	resources := m.Photoshop
	if len(resources) == 0 && len(m.IPTC) > 0 {
		resources = exif.Resources(m.IPTC)
	}
	if len(resources) > 0 {
		// The length has eight columns, like that of ImageMagick.
		text := fmt.Appendf(nil, "\niptc\n%8d\n", len(resources))
		const perLine = 36
		for line := range slices.Chunk(resources, perLine) {
			text = append(hex.AppendEncode(text, line), '\n')
		}
		dst = appendChunk(dst, "zTXt", append([]byte(rawProfile+"iptc\x00\x00"), pack(text)...))
	}
	return dst
}

// physicalSize returns the data of pHYs: whole pixels per metre, or an aspect ratio; nil if there is no resolution.
func physicalSize(m container.Metadata) []byte {
	x, y, unit := m.XResolution, m.YResolution, byte(1)
	switch m.Unit {
	case container.UnitInch:
		x, y = x/0.0254, y/0.0254
	case container.UnitCentimetre:
		x, y = 100*x, 100*y
	default:
		unit = 0
		for range 4 { // ratios such as 1.0667 : 1
			if x == math.Trunc(x) && y == math.Trunc(y) {
				break
			}
			x, y = 10*x, 10*y
		}
	}
	x, y = math.Round(x), math.Round(y)
	if !(x >= 1 && y >= 1 && x <= maxChunk && y <= maxChunk) {
		return nil
	}
	d := binary.BigEndian.AppendUint32(nil, uint32(x))
	return append(binary.BigEndian.AppendUint32(d, uint32(y)), unit)
}

// pack compresses metadata.
func pack(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	// Writing to a bytes.Buffer cannot fail.
	_, _ = z.Write(data)
	_ = z.Close()
	return out.Bytes()
}
