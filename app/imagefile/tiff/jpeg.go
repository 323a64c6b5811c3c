package tiff

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/app/imagefile/jpeg"
	"blik/processing"
)

// readJPEG checks that the pictures in the segments are of a supported kind (TIFF Technical Note 2), and keeps their
// shared tables.
func (l *layout) readJPEG(s *exif.Reader, d *exif.Directory) error {
	if l.depth != 8 || l.float || l.planar || l.samples != l.colours ||
		l.photometric == photometricInk || l.photometric == photometricIndex {
		return container.Unsupported(
			"TIFF with JPEG compression is supported only for 8-bit grey, RGB or YCbCr without alpha")
	}
	var err error
	l.tables, err = s.Raw(d.Find(tagJPEGTables))
	return err
}

// Markers of JPEG (ITU-T T.81, table B.1).
var (
	startOfImage = []byte{0xff, 0xd8}
	endOfImage   = []byte{0xff, 0xd9}
)

// decodeJPEG decodes a segment. Its stream is completed by the shared tables. The tag PhotometricInterpretation states
// the colour model, as for libtiff, whatever markers and names of components in the stream say.
func (f *File) decodeJPEG(ctx context.Context, pic *processing.Picture, u unit) error {
	l := f.lay
	data, err := f.src.Bytes(l.offsets[u.index], l.counts[u.index])
	if err != nil {
		return err
	}
	if l.lsbFirst {
		reverseBits(data)
	}
	bad := func(err error) error {
		return container.Damaged("the JPEG data of strip or tile %d are damaged (%v)", u.index+1, err)
	}
	data, ok := bytes.CutPrefix(data, startOfImage)
	if !ok {
		return bad(fmt.Errorf("no start of image"))
	}
	tables := bytes.TrimSuffix(bytes.TrimPrefix(l.tables, startOfImage), endOfImage)
	data = slices.Concat(startOfImage, tables, data)
	file, err := jpeg.OpenWithin(bytes.NewReader(data), int64(len(data)), l.colour())
	if err != nil {
		return bad(err)
	}
	// The size determines the memory, so it must match the tags.
	info := file.Info()
	if info.Width != l.segmentWidth || info.Height < u.h || info.Height > max(u.rows, l.segmentHeight) {
		return bad(fmt.Errorf(
			"%d × %d pixels where %d × %d were expected", info.Width, info.Height, l.segmentWidth, u.rows))
	}
	segment, err := file.Decode(ctx)
	if err != nil {
		if e := ctx.Err(); e != nil {
			return e
		}
		return bad(err)
	}
	for y := range u.h {
		row := pic.U8[((u.y+y)*pic.Width+u.x)*pic.Channels:][:u.w*pic.Channels]
		copy(row, segment.U8[y*segment.Width*segment.Channels:])
		if l.photometric == whiteIsZero {
			invert(row)
		}
	}
	return nil
}
