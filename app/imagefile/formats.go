package imagefile

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"blik/app/imagefile/container"
	"blik/app/imagefile/jpeg"
	"blik/app/imagefile/png"
	"blik/app/imagefile/tiff"
	"blik/internal/message"
	"blik/processing"
)

// Format is the container of a picture: the name of a row of the table of formats.
type Format string

// The formats that are read and written.
const (
	TIFF Format = "TIFF"
	PNG  Format = "PNG"
	JPEG Format = "JPEG"
)

// format is a row of the table: the properties of a container outside its package.
type format struct {
	name Format
	// extensions of file names, in lower case without the dot; new files get the first.
	extensions []string
	// magic lists the possible first bytes of a file.
	magic []string
	open  func(r io.ReaderAt, size int64) (container.Container, error)
	// encode writes a new file; nil if only files of this format are saved in it.
	encode func(ctx context.Context, w io.Writer, pic *processing.Picture, m container.Metadata) error
	// lossy: saving changes more than the intended pixels, which requires permission.
	lossy bool
	// cmyk and float: a new file can hold such samples as they are.
	cmyk, float bool
	// uncompressed: a new file takes at least the bytes of its samples.
	uncompressed bool
	// thumbnail: a new file holds the thumbnail of the EXIF block.
	thumbnail bool
	// holdsMakerNote reports whether a new file keeps the maker note of an EXIF block with its offsets; nil if every
	// file does.
	holdsMakerNote func(pic *processing.Picture, m container.Metadata) bool
	// keyed: a colour may stand for transparency, so a pixel may be stored one level off its new value.
	keyed bool
}

// formats returns the table. The first row is what a lossy source becomes.
func formats() []format {
	return []format{
		{
			name: TIFF, extensions: []string{"tif", "tiff", "btf", "tf8"},
			magic: []string{"II*\x00", "MM\x00*", "II+\x00", "MM\x00+"},
			open:  opener(tiff.Open), encode: tiff.Encode,
			cmyk: true, float: true, uncompressed: true, holdsMakerNote: tiff.HoldsMakerNote,
		},
		{
			name: PNG, extensions: []string{"png"}, magic: []string{"\x89PNG\r\n\x1a\n"},
			open: opener(png.Open), encode: png.Encode, keyed: true, thumbnail: true,
		},
		{
			name: JPEG, extensions: []string{"jpg", "jpeg", "jpe", "jfif"}, magic: []string{"\xff\xd8"},
			open: opener(jpeg.Open), lossy: true,
		},
	}
}

// opener adapts a container's Open to the type in the table.
func opener[C container.Container](
	open func(io.ReaderAt, int64) (C, error),
) func(io.ReaderAt, int64) (container.Container, error) {
	return func(r io.ReaderAt, size int64) (container.Container, error) {
		c, err := open(r, size)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

// row returns the row of a format, empty for one that does not exist.
func (f Format) row() format {
	for _, row := range formats() {
		if row.name == f {
			return row
		}
	}
	return format{}
}

// formatOf returns the format of an extension, with or without its dot; empty if there is none.
func formatOf(extension string) Format {
	extension = strings.ToLower(strings.TrimPrefix(extension, "."))
	for _, row := range formats() {
		if slices.Contains(row.extensions, extension) {
			return row.name
		}
	}
	return ""
}

// byMagic returns the row of the format of a file that begins with these bytes.
func byMagic(head []byte) (format, bool) {
	for _, row := range formats() {
		for _, magic := range row.magic {
			if bytes.HasPrefix(head, []byte(magic)) {
				return row, true
			}
		}
	}
	return format{}, false
}

func Formats() []Format {
	var names []Format
	for _, row := range formats() {
		names = append(names, row.name)
	}
	return names
}

// Extensions returns the extensions of file names of a format, in lower case without the dot; new files get the first.
func (f Format) Extensions() []string { return f.row().extensions }

// Extensions returns the extensions of the names of all files that are read.
func Extensions() []string {
	var all []string
	for _, row := range formats() {
		all = append(all, row.extensions...)
	}
	return all
}

// MaskExtensions returns Extensions in the order in which a mask is searched for, with the one that WriteMask writes
// first.
func MaskExtensions() []string {
	first := PNG.Extensions()
	return append(slices.Clone(first), slices.DeleteFunc(Extensions(), func(e string) bool {
		return slices.Contains(first, e)
	})...)
}

// carries reports whether a new file of the format holds a preview in metadata.
func (r format) carries(p container.Preview) bool {
	switch p {
	case container.PreviewEXIF:
		return r.thumbnail
	case container.PreviewJFIF:
		return false
	}
	return true
}

// Remarks returns what a user should know before a corrected copy of the file is saved in a format: what is damaged,
// what no longer applies, and what else in the file keeps the glare.
func (f *File) Remarks(to Format) []message.Message {
	remarks := slices.Clone(f.Info.Warnings)
	var parts []message.Message
	if to == f.Format {
		remarks = append(remarks, f.Info.Stale...)
		parts = f.Info.Others.Names()
	}
	for _, p := range f.Info.Others.Previews {
		if to == f.Format || to.row().carries(p) {
			parts = append(parts, p.Name())
		}
	}
	if len(parts) > 0 {
		remarks = append(remarks, message.Of(
			"Only the picture itself is searched and corrected; the glare stays in: %s.", message.Join(", ", parts...)))
	}
	return remarks
}

// SaveFormat returns the default format of a corrected copy: that of the source, but TIFF for JPEG, which loses quality
// with each save.
func (f *File) SaveFormat() Format {
	if f.Format.row().lossy {
		return formats()[0].name
	}
	return f.Format
}

// SaveExtensions returns the extensions that a user can choose for a corrected copy: those of SaveFormat first, and for
// a lossy source also those of other formats that can hold the picture, and its own.
func (f *File) SaveExtensions() []string {
	all := slices.Clone(f.SaveFormat().Extensions())
	for _, row := range formats() {
		offered := f.Format.row().lossy && row.name != f.SaveFormat()
		if offered && (row.name == f.Format || row.encode != nil && row.holds(f.Picture)) {
			all = append(all, row.extensions...)
		}
	}
	return all
}

// holds reports whether a new file keeps the samples of a picture as they are.
func (r format) holds(pic *processing.Picture) bool {
	return (r.cmyk || pic.Channels != 4) && (r.float || pic.F32 == nil)
}
