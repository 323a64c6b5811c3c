package tiff

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
)

// layout describes how the samples of a picture are stored in its file.
type layout struct {
	width, height int
	// samples is the number of samples of a pixel in the file, colours the number of colour samples among them,
	// channels the number of samples of a decoded pixel.
	samples, colours, channels int
	// depth is the number of bits of a stored sample, decoded that of a sample in the Picture.
	depth, decoded int
	float          bool
	photometric    int64
	// planar: each sample of a pixel has separate segments.
	planar      bool
	compression compression
	predictor   int64
	bigEndian   bool
	// lsbFirst: the bits of every stored byte are reversed (FillOrder 2).
	lsbFirst bool
	// A segment is a strip or a tile: its size in pixels, and the number of segments across and down.
	tiled                       bool
	segmentWidth, segmentHeight int
	across, down                int
	offsets, counts             []int64
	// given are the byte counts that the file states; counts those that the samples need.
	given                     []int64
	offsetsEntry, countsEntry *exif.Entry
	// colourMap is the palette: all reds, all greens, all blues, as 16-bit values.
	colourMap []uint16
	// tables are the JPEG tables that the segments share.
	tables []byte
	// t4 are the options of CCITT group 3.
	t4 int64
}

// The limits of accepted values.
const (
	maxSide     = math.MaxInt32
	maxPixels   = 1 << 40
	maxSegments = 1 << 23
	maxTile     = 1 << 13
)

// lookup reads single values of a directory and keeps the first error. The values are valid only without one.
type lookup struct {
	s   *exif.Reader
	d   *exif.Directory
	err error
}

func (f *lookup) get(tag uint16, def int64) int64 {
	v, err := f.s.First(f.d, tag, def)
	f.err = cmp.Or(f.err, err)
	return v
}

// readLayout reads the layout of the picture of directory d, or returns why it is not supported.
func readLayout(s *exif.Reader, d *exif.Directory) (*layout, error) {
	f := &lookup{s: s, d: d}
	l := &layout{}
	w, h := f.get(tagWidth, -1), f.get(tagLength, -1)
	comp := f.get(tagCompression, int64(compNone))
	l.photometric = f.get(tagPhotometric, -1)
	samples := f.get(tagSamples, 1)
	planar := f.get(tagPlanar, 1)
	fill := f.get(tagFillOrder, 1)
	l.predictor = f.get(tagPredictor, predictNone)
	l.t4 = f.get(tagT4Options, 0)
	inks := f.get(tagInkSet, 1)
	if f.err != nil {
		return nil, f.err
	}
	switch {
	case w < 0 || h < 0:
		return nil, container.Damaged("the size of the picture is missing")
	case w == 0 || h == 0:
		return nil, container.Damaged("the picture has no pixels: %d × %d", w, h)
	case w > maxSide || h > maxSide || w > maxPixels/h:
		return nil, container.Damaged("the picture claims an implausible size: %d × %d pixels", w, h)
	case samples < 1 || samples > math.MaxUint16:
		return nil, container.Damaged("the picture is damaged: %d samples per pixel", samples)
	case planar != 1 && planar != 2:
		return nil, container.Damaged("the picture is damaged: planar configuration %d", planar)
	case fill != 1 && fill != 2:
		return nil, container.Damaged("the picture is damaged: fill order %d", fill)
	}
	l.width, l.height, l.samples = int(w), int(h), int(samples)
	l.planar, l.lsbFirst = planar == 2 && samples > 1, fill == 2
	l.bigEndian = s.Order == binary.BigEndian
	for _, step := range []func() error{
		// The colour model first: models that are not supported have uncommon samples, too.
		l.refuseColours,
		func() error { return l.readFormat(s, d) },
		func() error { return l.readColours(s, d, inks) },
		func() error { return l.readCompression(s, d, comp) },
		func() error { return l.readSegments(s, d) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// same returns the common value of all values of the tag.
func same(s *exif.Reader, d *exif.Directory, tag uint16, def int64) (v int64, equal bool, err error) {
	e := d.Find(tag)
	if e == nil || e.Count == 0 {
		return def, true, nil
	}
	all, err := s.Ints(e, math.MaxUint16)
	if err != nil {
		return 0, false, err
	}
	if slices.ContainsFunc(all, func(v int64) bool { return v != all[0] }) {
		return 0, false, nil
	}
	return all[0], true, nil
}

// readFormat reads depth and format of the samples, which must be the same for all.
func (l *layout) readFormat(s *exif.Reader, d *exif.Directory) error {
	depth, equal, err := same(s, d, tagBitsPerSample, 1)
	if err != nil {
		return err
	}
	format, sameFormat, err := same(s, d, tagSampleFormat, 1)
	if err != nil {
		return err
	}
	const unsigned, signed, float, undefined = 1, 2, formatFloat, 4
	switch {
	case !equal || !sameFormat:
		return container.Unsupported("TIFF whose samples differ in depth or format is not supported")
	case format == float && depth != 32:
		return container.Unsupported(
			"TIFF with %d-bit floating-point samples is not supported; save it with 32 bits", depth)
	case format == signed:
		return container.Unsupported("TIFF with signed samples is not supported; save it with unsigned ones")
	case format != unsigned && format != float && format != undefined:
		return container.Unsupported("TIFF with samples of format %d is not supported", format)
	}
	switch depth {
	case 1, 2, 4, 8, 16:
	case 32:
		if format == float {
			break
		}
		fallthrough
	default:
		return container.Unsupported(
			"TIFF with %d-bit samples is not supported; save it with 8 or 16 bits, or 32-bit floating point", depth)
	}
	l.depth, l.float = int(depth), format == float
	l.decoded = max(l.depth, 8)
	return nil
}

// refuseColours rejects colour models that are not supported.
func (l *layout) refuseColours() error {
	switch l.photometric {
	case whiteIsZero, blackIsZero, photometricRGB, photometricYCbCr, photometricIndex, photometricInk:
		return nil
	case photometricMask:
		return container.Unsupported("the first picture of the file is a transparency mask")
	case 8, 9, 10:
		return container.Unsupported("TIFF in Lab colours is not supported; save it as RGB")
	case 32844, 32845:
		return container.Unsupported("TIFF in LogLuv encoding is not supported; save it as RGB")
	case 32803, 34892:
		return container.Unsupported("raw camera data are not supported; develop the picture and save it as RGB")
	case -1:
		return container.Damaged("the colour model of the picture is missing")
	}
	return container.Unsupported(
		"TIFF in this colour model (PhotometricInterpretation %d) is not supported; save it as RGB", l.photometric)
}

// readColours reads the samples of the colour model.
func (l *layout) readColours(s *exif.Reader, d *exif.Directory, inks int64) error {
	switch l.photometric {
	case whiteIsZero, blackIsZero:
		l.colours, l.channels = 1, 1
		if l.photometric == whiteIsZero && l.float {
			return container.Unsupported("floating-point TIFF in which 0 is white is not supported")
		}
	case photometricRGB, photometricYCbCr:
		l.colours, l.channels = 3, 3
	case photometricIndex:
		l.colours, l.channels = 1, 3
		if l.float {
			return container.Damaged("the palette picture is damaged: its indices are not whole numbers")
		}
		if err := l.readPalette(s, d); err != nil {
			return err
		}
	case photometricInk:
		l.colours, l.channels = 4, 4
		if inks != 1 || l.samples < 4 {
			return container.Unsupported("TIFF with inks other than cyan, magenta, yellow and black is not supported")
		}
	}
	if l.samples < l.colours {
		return container.Damaged(
			"the picture is damaged: %d samples per pixel, but its colours need %d", l.samples, l.colours)
	}
	return nil
}

// readPalette reads the colour map, and distinguishes maps of 16-bit values from maps of 8-bit values, which may be
// stored as 257·v, as 256·v or, by old programs, as v.
func (l *layout) readPalette(s *exif.Reader, d *exif.Directory) error {
	e := d.Find(tagColorMap)
	n := 3 << l.depth
	if e == nil || e.Count < uint64(n) {
		return container.Damaged("the palette is missing or too short")
	}
	v, err := s.Ints(e, n)
	if err != nil {
		return err
	}
	l.colourMap = make([]uint16, n)
	old, shifted, repeated := true, true, true
	for i, x := range v {
		x = min(x, math.MaxUint16)
		l.colourMap[i] = uint16(x)
		old = old && x < 256
		shifted = shifted && x&0xff == 0
		repeated = repeated && x>>8 == x&0xff
	}
	switch {
	case old:
		for i := range l.colourMap {
			l.colourMap[i] <<= 8
		}
		l.decoded = 8
	case shifted || repeated:
		l.decoded = 8
	default:
		l.decoded = 16
	}
	return nil
}

// readCompression checks that the compression is compatible with the samples.
func (l *layout) readCompression(s *exif.Reader, d *exif.Directory, comp int64) error {
	l.compression = compression(comp)
	switch {
	case comp > math.MaxUint16:
		l.compression = 0
	case l.compression == compG3 && l.t4&1 != 0:
		return container.Unsupported(
			"TIFF with two-dimensional CCITT group 3 compression is not supported; save it with LZW")
	case l.compression == compG3 && l.t4&4 != 0:
		return container.Unsupported(
			"TIFF with CCITT group 3 compression and fill bits is not supported; save it with LZW")
	}
	switch l.compression {
	case compNone, compPackBits:
	case compLZW, compDeflate, compOldZip:
		switch {
		case l.predictor < predictNone || l.predictor > predictFloat:
			return container.Unsupported("TIFF with predictor %d is not supported", l.predictor)
		case l.predictor == predictHorizontal && l.depth < 8:
			return container.Unsupported("TIFF with a predictor for %d-bit samples is not supported", l.depth)
		case l.predictor == predictFloat && !l.float:
			return container.Damaged("the picture is damaged: its predictor is for floating-point samples only")
		}
	case compG3, compG4:
		if l.depth != 1 || l.samples != 1 {
			return container.Damaged("the picture is damaged: CCITT compression is for black and white only")
		}
	case compJPEG:
		if err := l.readJPEG(s, d); err != nil {
			return err
		}
	case 2, 6, 34661, 34712, 34925, 50000, 50001, 50002, 52546:
		name := map[compression]string{
			2: "CCITT RLE", 6: "old-style JPEG", 34661: "JBIG", 34712: "JPEG 2000", 34925: "LZMA",
			50000: "Zstandard", 50001: "WebP", 50002: "JPEG XL", 52546: "JPEG XL"}[l.compression]
		return container.Unsupported(
			"TIFF with %s compression is not supported; save it uncompressed or with LZW or Deflate", name)
	default:
		return container.Unsupported(
			"TIFF with compression %d is not supported; save it uncompressed or with LZW or Deflate", comp)
	}
	if l.photometric == photometricYCbCr && l.compression != compJPEG {
		return container.Unsupported("TIFF in YCbCr colours is supported only with JPEG compression; save it as RGB")
	}
	if !l.predicts() {
		l.predictor = predictNone
	}
	return nil
}

// predicts reports whether the compression is one that is used with a predictor.
func (l *layout) predicts() bool {
	return l.compression == compLZW || l.compression == compDeflate || l.compression == compOldZip
}

// readSegments reads the offsets of the strips or tiles.
func (l *layout) readSegments(s *exif.Reader, d *exif.Directory) error {
	f := &lookup{s: s, d: d}
	tileW, tileH := f.get(tagTileWidth, -1), f.get(tagTileLength, -1)
	rows := f.get(tagRowsPerStrip, math.MaxUint32)
	if f.err != nil {
		return f.err
	}
	w, h := int64(l.width), int64(l.height)
	segW, segH := w, min(rows, h)
	offsetsTag, countsTag := uint16(tagStripOffsets), uint16(tagStripByteCounts)
	if tileW >= 0 || tileH >= 0 {
		l.tiled, segW, segH = true, tileW, tileH
		offsetsTag, countsTag = tagTileOffsets, tagTileByteCounts
	}
	switch {
	case segW < 1 || segH < 1:
		return container.Damaged("the picture is damaged: its strips or tiles hold no pixels")
	case l.tiled && (segW > max(w, maxTile) || segH > max(h, maxTile)):
		return container.Damaged(
			"the picture is damaged: tiles of %d × %d pixels in a picture of %d × %d", segW, segH, w, h)
	}
	across, down := (w+segW-1)/segW, (h+segH-1)/segH
	planes := int64(1)
	if l.planar {
		planes = int64(l.samples)
	}
	if across*down > maxSegments/planes {
		return container.Unsupported("TIFF with more than %d strips or tiles is not supported", maxSegments)
	}
	l.segmentWidth, l.segmentHeight, l.across, l.down = int(segW), int(segH), int(across), int(down)
	n := int(across * down * planes)

	// Some programs use the tags of strips for tiles.
	if l.offsetsEntry = d.Find(offsetsTag); l.offsetsEntry == nil && l.tiled {
		offsetsTag, countsTag = tagStripOffsets, tagStripByteCounts
		l.offsetsEntry = d.Find(offsetsTag)
	}
	l.countsEntry = d.Find(countsTag)
	if l.offsetsEntry == nil {
		return container.Damaged("the location of the pixels is missing")
	}
	if l.countsEntry == nil && l.compression != compNone && n > 1 {
		return container.Damaged("the lengths of the compressed strips or tiles (StripByteCounts) are missing")
	}
	var err error
	if l.offsets, err = s.Ints(l.offsetsEntry, n); err != nil {
		return err
	}
	if l.countsEntry != nil {
		if l.counts, err = s.Ints(l.countsEntry, n); err != nil {
			return err
		}
	}
	l.given = l.counts
	listed := len(l.offsets)
	switch {
	case l.compression == compNone:
	case l.countsEntry == nil:
		l.counts = []int64{0}
	default:
		listed = min(listed, len(l.counts))
	}
	if listed < n {
		return container.Damaged("the picture is damaged: %d strips or tiles of %d are listed", listed, n)
	}
	if l.compression == compNone {
		return l.sizeUncompressed(n)
	}
	return nil
}

// measure sets the length of a single compressed strip or tile that is 0 or missing: like libtiff, up to the next part
// of the file or its end.
func (f *File) measure() {
	l := f.lay
	if l.compression == compNone || len(l.offsets) != 1 || l.counts[0] != 0 || l.offsets[0] == 0 {
		return
	}
	end := f.src.Size
	spans, _ := f.spans()
	for _, s := range spans {
		if s.what != 0 && s.at > l.offsets[0] {
			end = min(end, s.at)
		}
	}
	l.counts[0] = max(end-l.offsets[0], 0)
}

// sizeUncompressed computes the lengths of segments that are not compressed: there is no other way to hold the pixels,
// and files whose single strip gives a wrong length are common. Other lengths that are too short are a contradiction.
func (l *layout) sizeUncompressed(n int) error {
	given := l.given
	l.counts = make([]int64, n)
	for i := range l.counts {
		u := l.unit(i)
		need := l.rowBytes() * int64(u.rows)
		if i < len(given) && n > 1 && given[i] > 0 && given[i] < l.rowBytes()*int64(u.h) {
			return container.Damaged(
				"the picture is damaged: strip or tile %d has %d bytes, but its pixels need %d", i+1, given[i], need)
		}
		l.counts[i] = need
		if i < len(given) && given[i] == 0 && l.offsets[i] == 0 {
			l.counts[i] = 0
		}
	}
	return nil
}

// order returns the byte order of the samples.
func (l *layout) order() binary.ByteOrder {
	if l.bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// rowBytes returns the bytes of a row of a segment, as they are stored.
func (l *layout) rowBytes() int64 {
	n := int64(l.segmentWidth)
	if !l.planar {
		n *= int64(l.samples)
	}
	return (n*int64(l.depth) + 7) / 8
}

// unit is a segment and the part of the picture that it holds.
type unit struct {
	index, plane int
	x, y, w, h   int
	// rows is the number of stored rows: tiles that extend beyond the edge are stored whole.
	rows int
}

// unit returns the segment with the index.
func (l *layout) unit(i int) unit {
	each := l.across * l.down
	u := unit{index: i, plane: i / each}
	i %= each
	u.x, u.y = i%l.across*l.segmentWidth, i/l.across*l.segmentHeight
	u.w, u.h = min(l.segmentWidth, l.width-u.x), min(l.segmentHeight, l.height-u.y)
	u.rows = u.h
	if l.tiled {
		u.rows = l.segmentHeight
	}
	return u
}

// coloured returns the number of segments that hold colour: all except those of extra planes.
func (l *layout) coloured() int {
	if l.planar {
		return l.across * l.down * l.colours
	}
	return l.across * l.down
}

// check reports whether the segments that are needed lie within a file of the given size.
func (l *layout) check(size int64) error {
	for i := range l.coloured() {
		if err := l.stored(l.unit(i), size); err != nil {
			return err
		}
	}
	return nil
}

// stored returns an error for a segment that does not lie within a file of the given size.
func (l *layout) stored(u unit, size int64) error {
	at, n := l.offsets[u.index], l.counts[u.index]
	if n == 0 || at == 0 {
		return container.Damaged("the picture is incomplete: strip or tile %d is not stored", u.index+1)
	}
	if l.compression == compNone {
		n = l.rowBytes() * int64(u.h)
	}
	if at > size || n > size-at {
		return container.Truncated()
	}
	return nil
}
