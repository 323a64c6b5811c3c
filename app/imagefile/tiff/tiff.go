// Package tiff reads pictures from TIFF and BigTIFF files and changes single pixels of them in place, so that the rest
// of the file stays byte for byte what it was; and it writes new TIFF files.
//
// Sources: TIFF Revision 6.0 (Adobe 1992), TIFF Technical Notes 1 to 3 (Adobe 1995, 2005: sub-IFDs, Deflate, floating
// point), the BigTIFF design of libtiff 4, and Exif 2.32 for the directories beside the picture.
//
// The structure of a file is never trusted: every count and offset is checked against the length of the file before
// anything is allocated, and memory for the samples is allocated only by Decode, after the caller has seen Info. The
// package does not deal with file names, limits or colours.
package tiff

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/message"
	"blik/internal/parallel"
)

// File is an opened TIFF. It can be used from several goroutines.
type File struct {
	src  *exif.Reader
	dir  *exif.Directory
	lay  *layout
	info container.Info
	// promise is COG's word whether the file still has the layout that it describes, at an offset in the file; empty if
	// there is none.
	promise   string
	promiseAt int64
	// read is what decoding found out about the data of the segments.
	read *readings
}

var (
	_ container.Container     = (*File)(nil)
	_ container.Patcher       = (*File)(nil)
	_ container.RowDecoder    = (*File)(nil)
	_ container.CoarseDecoder = (*File)(nil)
	_ container.Learner       = (*File)(nil)
)

// Open reads the structure of the TIFF in the first size bytes of r. An unreadable file gives a container.Fault.
func Open(r io.ReaderAt, size int64) (*File, error) {
	s, at, err := exif.Open(r, size)
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, container.Damaged("the file holds no picture")
	}
	d, err := s.Directory(at)
	if err != nil {
		return nil, err
	}
	if err := refuseOther(s, d); err != nil {
		return nil, err
	}
	l, err := readLayout(s, d)
	if err != nil {
		return nil, err
	}
	f := newFile(s, d, l)
	f.measure()
	f.findPromise()
	meta, err := readMeta(s, d)
	if err != nil {
		return nil, err
	}
	f.info = f.describe(meta)
	return f, nil
}

// refuseOther rejects files whose first IFD is not the main image.
func refuseOther(s *exif.Reader, d *exif.Directory) error {
	if d.Find(tagDNGVersion) != nil {
		return container.Unsupported("raw camera data are not supported; develop the picture and save it as RGB")
	}
	const reduced = 1
	kind, err := s.First(d, tagSubfileType, 0)
	if err == nil && kind&reduced != 0 && (d.Next != 0 || d.Find(tagSubIFDs) != nil) {
		return container.Unsupported(
			"the first picture of the file is only a preview; save the full picture as its first page")
	}
	return nil
}

// Info returns the properties of the first picture.
func (f *File) Info() container.Info { return f.info }

// others finds the pictures in the file that Patch leaves unchanged.
func (f *File) others(pages []int64, meta container.Metadata) container.Others {
	const reduced, mask, oldReduced = 1, 4, 2
	o := container.Others{Copies: f.copies(), Layers: f.layered(), Previews: exif.Previews(meta, exif.Facts{})}
	// Directories may overlap, so their total is bounded; the rest of them counts as pages.
	room := 1 << 20
	for i, at := range pages {
		if room < 0 {
			o.Pages += len(pages) - i
			break
		}
		d, err := f.src.Directory(at)
		if err != nil {
			o.Pages++
			continue
		}
		room -= len(d.Entries)
		// Unreadable values do not make it a copy.
		kind, _ := f.src.First(d, tagSubfileType, 0)
		old, _ := f.src.First(d, tagOldSubfileType, 0)
		switch {
		case kind&mask != 0:
		case kind&reduced != 0 || old == oldReduced:
			o.Copies++
		default:
			o.Pages++
		}
	}
	return o
}

// dropped names the parts that a new file of the picture would not hold.
func (f *File) dropped(meta container.Metadata) []message.Message {
	var (
		all  []message.Message
		tags []string
	)
	for _, e := range f.dir.Entries {
		switch e.Tag {
		case tagICC, tagXMP, tagIPTC, tagPhotoshop, tagLayers, tagSubIFDs, exif.TagXResolution, exif.TagYResolution,
			exif.TagResolutionUnit, exif.TagOrientation:
			continue
		}
		if describes(e.Tag) || !portable(e.Tag) || e.Tag == tagExtraSamples || e.Tag == tagSampleFormat {
			continue
		}
		tags = append(tags, strconv.Itoa(int(e.Tag)))
	}
	if len(tags) > 0 {
		list := strings.Join(tags, ", ")
		all = append(all, message.Of("the tags %s", list))
	}
	if n := f.copies(); n > 0 {
		all = append(all, message.Plural(n, "%d sub-picture", "%d sub-pictures", n))
	}
	if f.layered() {
		all = append(all, message.Of("Photoshop's layers"))
	}
	if f.movesMakerNote(meta.EXIF) {
		all = append(all, message.Of("the places that the camera's maker note points to"))
	}
	return all
}

// layered reports whether the file also contains Photoshop layers.
func (f *File) layered() bool {
	e := f.dir.Find(tagLayers)
	return e != nil && e.Count > 0
}

// copies returns the number of sub-pictures of the first picture, which are mostly smaller copies.
func (f *File) copies() int {
	e := f.dir.Find(tagSubIFDs)
	if e == nil {
		return 0
	}
	if _, ok := e.Length(f.src.Size); !ok {
		return 0
	}
	return int(e.Count)
}

// describe fills the Info.
func (f *File) describe(meta container.Metadata) container.Info {
	l := f.lay
	pages := f.src.Following(f.dir, math.MaxUint16)
	i := container.Info{
		Width: l.width, Height: l.height,
		Depth: l.depth, Float: l.float,
		Extra:       l.samples - l.colours,
		Compression: l.compression.String(),
		Pictures:    1 + len(pages),
		Meta:        meta,
		Raw:         (int64(l.width)*int64(l.samples)*int64(l.depth) + 7) / 8 * int64(l.height),
		Expansion:   l.compression.expansion(),
		Readonly:    f.readonly(),
		Others:      f.others(pages, meta),
		Stale:       f.stale(),
		Dropped:     f.dropped(meta),
	}
	i.Colour = l.colour()
	if i.Expansion > 0 && i.Raw/i.Expansion > f.src.Size && repeats(l.offsets) {
		// Segments share bytes, so the file holds more than its length.
		i.Expansion = 0
	}
	i.Scratch = f.scratch()
	return i
}

// colour returns the colour model that the tags state.
func (l *layout) colour() container.Colour {
	switch l.photometric {
	case photometricRGB:
		return container.RGB
	case photometricIndex:
		return container.Palette
	case photometricInk:
		return container.CMYK
	case photometricYCbCr:
		return container.YCbCr
	}
	return container.Grey
}

// repeats reports whether two offsets are equal, as when blank tiles are stored only once.
func repeats(offsets []int64) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(offsets)))) < len(offsets)
}

// readonly returns the reason why Patch would fail.
func (f *File) readonly() error {
	if l := f.lay; f.converts() && l.samples > l.colours {
		return container.Unsupported(
			"a picture with extra samples can be changed only with 8 or more bits per sample, without a palette and " +
				"with the lengths of its strips; convert it to RGB of 8 bits in another program first")
	}
	return nil
}

// converts reports whether the picture cannot hold new values and must be converted when it is changed: those of a
// palette or of fewer than 8 bits are too few, JPEG would change other pixels, too, and there may be no place for the
// length of a compressed strip.
func (f *File) converts() bool {
	l := f.lay
	return l.colourMap != nil || l.depth < 8 || l.compression == compJPEG ||
		l.compression != compNone && l.countsEntry == nil
}

// chunk is the number of bytes of rows read and converted at a time: small enough for the cache of a core.
const chunk = 256 << 10

// scratch returns the memory that Decode needs in addition to the samples.
func (f *File) scratch() int64 {
	l := f.lay
	// Rows, the buffer of compressed bytes and the state of the decompressor.
	each := max(chunk, l.rowBytes()) + inputBuffer + 128<<10
	if l.predictor == predictFloat {
		each += l.rowBytes()
	}
	if l.compression == compJPEG {
		n := min(int64(l.segmentWidth)*int64(l.segmentHeight), maxPixels)
		const progressive = 1 + 4 // a sample and its coefficient of four bytes
		each += 3*progressive*n + slices.Max(l.counts)
	}
	total := each * int64(min(parallel.Processors(), max(len(l.offsets), 1)))
	if l.decoded > max(l.depth, 8) {
		// A palette of 16-bit colours makes larger samples than those of the file.
		total += int64(l.width) * int64(l.height) * int64(l.channels)
	}
	return total
}
