package tiff

import (
	"context"
	"encoding/binary"
	"slices"

	"blik/app/imagefile/container"
	"blik/processing"
)

// convert stores a picture that cannot hold new values in a layout that can: uncompressed strips at the end of the
// file, followed by a directory with every tag of the old one that does not describe the layout. The values of these
// tags and all other directories stay in place. The header is changed last to point to the new directory; until then
// the old file is valid.
func (f *File) convert(ctx context.Context, file container.File, patches []processing.Patch, c *claims) error {
	if c.header {
		return errCrossed()
	}
	pic, err := f.Decode(ctx)
	if err != nil {
		return err
	}
	if !apply(pic, patches) {
		return nil
	}
	s := f.src
	d := dialect{s.Order, s.Big}
	strips := newStripes(pic)
	counts := strips.counts()
	start := (s.Size + 7) / 8 * 8
	places, end := offsets(start, counts)
	end = (end + 7) / 8 * 8
	fields, err := f.convertedFields(d, strips, places, counts)
	if err != nil {
		return err
	}
	dir := d.directory(fields, end, f.dir.Next)
	if end+int64(len(dir)) > limit(s) {
		return errGrown()
	}
	// Padding is written too, so that the file has no undefined bytes.
	if _, err := file.WriteAt(make([]byte, start-s.Size), s.Size); err != nil {
		return err
	}
	var buf []byte
	for i := range strips.n {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = strips.pack(i, buf, d.order)
		if i == strips.n-1 {
			buf = append(buf, make([]byte, end-places[i]-counts[i])...)
		}
		if _, err := file.WriteAt(buf, places[i]); err != nil {
			return err
		}
	}
	if _, err := file.WriteAt(dir, end); err != nil {
		return err
	}
	_, err = file.WriteAt(d.header(end), 0)
	return err
}

// convertedFields are the fields of the new directory.
func (f *File) convertedFields(d dialect, strips stripes, offsets, counts []int64) ([]field, error) {
	s, l := f.src, f.lay
	fields := d.layoutFields(strips, l.convertedColours(), offsets, counts)
	dropped := l.replaced()
	for _, f := range fields {
		dropped = append(dropped, f.tag)
	}
	for _, e := range f.dir.Entries {
		if slices.Contains(dropped, e.Tag) {
			continue
		}
		value, err := s.Bytes(e.Field, s.OffsetSize())
		if err != nil {
			return nil, err
		}
		fields = append(fields, field{tag: e.Tag, kind: e.Kind, count: e.Count, kept: value})
	}
	return fields, nil
}

// convertedColours returns the photometric interpretation of the new directory.
func (l *layout) convertedColours() uint16 {
	switch {
	case l.colourMap != nil, l.photometric == photometricYCbCr:
		return photometricRGB
	case l.channels > 1:
		return uint16(l.photometric)
	}
	return blackIsZero
}

// replaced returns the tags of the old directory whose description of the samples no longer applies.
func (l *layout) replaced() []uint16 {
	const grayResponseUnit, grayResponseCurve = 290, 291
	tags := []uint16{
		tagFillOrder, tagMinSample, tagMaxSample, tagPlanar, grayResponseUnit, grayResponseCurve, tagT4Options,
		tagT6Options, tagPredictor, tagColorMap, tagTileWidth, tagTileLength, tagTileOffsets, tagTileByteCounts,
		tagSampleFormat, tagSMinSample, tagSMaxSample, tagBitsPerSample, tagPhotometric, tagSamples,
		tagJPEGTables,
	}
	if l.photometric == photometricYCbCr {
		tags = append(tags, tagYCbCrCoefficients, tagYCbCrSubsampling, tagYCbCrPositioning, tagReferenceBlackWhite)
	}
	if l.decoded != l.depth {
		tags = append(tags, tagTransfer)
	}
	return tags
}

// convertedLayout returns the tags of the new directory that describe its samples, with big-endian numbers.
func (f *File) convertedLayout() []field {
	l := f.lay
	return dialect{order: binary.BigEndian}.sampleFields(l.channels, l.decoded, l.convertedColours())
}

// apply writes the patches into pic and reports whether anything changed.
func apply(pic *processing.Picture, patches []processing.Patch) (changed bool) {
	for i := range patches {
		p, at := &patches[i], 0
		for _, r := range p.Runs {
			n := (r.X1 - r.X0) * pic.Channels
			to := (r.Y*pic.Width + r.X0) * pic.Channels
			changed = changed || !pic.Samples().Equal(to, p.Samples(), at, n)
			at += n
		}
		p.Apply(pic)
	}
	return changed
}
