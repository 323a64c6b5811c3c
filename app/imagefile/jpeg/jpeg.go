// Package jpeg reads JPEG files and, if the user insists on a JPEG result, rewrites only the blocks of 8 × 8 samples
// that a correction touches (ITU-T T.81; section numbers in the comments refer to it).
//
// Decoding and rewriting work on the quantised coefficients. Samples are computed exactly as by libjpeg, so that
// pictures look as in other programs; the standard library rounds differently and repeats subsampled chroma. Rewriting
// copies the coefficients of untouched blocks unchanged, so that every decoder still decodes them identically.
package jpeg

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// The markers (B.1.1.3) that matter here.
const (
	markerTEM  = 0x01
	markerSOF0 = 0xc0
	markerSOF1 = 0xc1
	markerSOF2 = 0xc2
	markerDHT  = 0xc4
	markerJPG  = 0xc8
	markerDAC  = 0xcc
	markerSOF  = 0xcf // the last of the SOF markers
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDQT  = 0xdb
	markerDRI  = 0xdd
	markerAPP0 = 0xe0
	markerAPP1 = 0xe1
	markerAPP2 = 0xe2
	markerAPPB = 0xeb
	markerAPPD = 0xed
	markerAPPE = 0xee
	markerCOM  = 0xfe
)

// The signatures of the application segments.
const (
	signatureJFIF        = "JFIF\x00"
	signatureJFXX        = "JFXX\x00"
	signatureEXIF        = "Exif\x00\x00"
	signatureXMP         = "http://ns.adobe.com/xap/1.0/\x00"
	signatureExtendedXMP = "http://ns.adobe.com/xmp/extension/\x00"
	signatureICC         = "ICC_PROFILE\x00"
	signaturePhotoshop   = "Photoshop 3.0\x00"
	signatureAdobe       = "Adobe"
)

// maxExpansion: a block of 64 samples takes at least one bit, and a chroma block may cover eight times as many pixels
// as it has samples.
const maxExpansion = 2048

// maxScans bounds the number of passes over the whole picture. Encoders use about ten progressive scans; a scan of a
// few bytes may cover any number of blocks, so that a small file could keep a decoder busy for hours.
const maxScans = 100

// maxComments bounds the comments that are read.
const maxComments = 1000

// component is a colour component of the frame (B.2.2).
type component struct {
	id    uint8
	h, v  int
	quant uint8
}

// File is an opened JPEG file.
type File struct {
	r             io.ReaderAt
	size          int64
	width, height int
	// frame is the SOF marker; 0 before it is read.
	frame      byte
	components []component
	// scans is the offset of the first scan.
	scans int64
	jfif  bool
	// adobe is the colour transform of Adobe's segment; −1 if there is none.
	adobe int
	// stated is the colour model according to the container around the stream; nil without one.
	stated *container.Colour
	meta   container.Metadata
	// warnings and dropped are those of container.Info.
	warnings, dropped []message.Message
	stale             []message.Message
	others            container.Others
}

var (
	_ container.Rewriter   = (*File)(nil)
	_ container.BlockCoder = (*File)(nil)
	_ container.Trailer    = (*File)(nil)
)

// Open reads the segments before the first scan. The File reads from r as long as it is used.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size, adobe: -1}
	f.meta.Orientation = 1
	if err := f.walk(); err != nil {
		return nil, err
	}
	return f, nil
}

// OpenWithin is Open for a stream within another container, whose word on the colour model decides: Grey or RGB for
// components that are the samples, YCbCr for components to be converted. Markers and the names of components in the
// stream then have no say.
func OpenWithin(r io.ReaderAt, size int64, stated container.Colour) (*File, error) {
	f, err := Open(r, size)
	if err != nil {
		return nil, err
	}
	f.stated = &stated
	if have := len(f.components); have != f.Info().Channels() {
		return nil, container.Damaged("%d components where %d were expected", have, f.Info().Channels())
	}
	return f, nil
}

// Info returns the information in the segments.
func (f *File) Info() container.Info {
	i := container.Info{
		Width: f.width, Height: f.height, Depth: 8, Colour: f.colour(), Compression: "JPEG", Pictures: 1, Meta: f.meta,
		Raw:       int64(f.width) * int64(f.height) * int64(len(f.components)),
		Expansion: maxExpansion, Warnings: f.warnings, Dropped: f.dropped, Others: f.others,
		Stale: f.stale,
	}
	i.Scratch = f.scratch()
	return i
}

// colour returns the stated colour model; without one it follows libjpeg's rules: JFIF's segment, otherwise Adobe's,
// otherwise the names of the components.
func (f *File) colour() container.Colour {
	if f.stated != nil {
		return *f.stated
	}
	switch c := f.components; len(c) {
	case 1:
		return container.Grey
	case 3:
		named := c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'
		if !f.jfif && (f.adobe == 0 || f.adobe < 0 && named) {
			return container.RGB
		}
		return container.YCbCr
	default:
		if f.adobe > 0 {
			return container.YCCK
		}
		return container.CMYK
	}
}

// scratch returns the memory that decoding needs in addition to the samples of the picture: the file, the coefficients,
// and the samples of the components.
func (f *File) scratch() int64 {
	var samples int64
	for _, p := range f.planes() {
		samples += int64(p.stride) * int64(p.rows) * 64
	}
	return f.size + 3*samples + 1<<18
}

// plane is the grid of blocks of a component.
type plane struct {
	// stride and rows cover whole MCUs; width and height count the blocks that hold pixels. A scan of a single
	// component stores only these (A.2.2).
	stride, rows, width, height int
}

// planes returns the grids of all components.
func (f *File) planes() []plane {
	maxH, maxV := f.sampling()
	acrossMCUs, downMCUs := ceilDiv(f.width, 8*maxH), ceilDiv(f.height, 8*maxV)
	list := make([]plane, len(f.components))
	for i, c := range f.components {
		list[i] = plane{
			stride: acrossMCUs * c.h, rows: downMCUs * c.v,
			width: ceilDiv(ceilDiv(f.width*c.h, maxH), 8), height: ceilDiv(ceilDiv(f.height*c.v, maxV), 8),
		}
	}
	return list
}

// sampling returns the largest sampling factors.
func (f *File) sampling() (h, v int) {
	for _, c := range f.components {
		h, v = max(h, c.h), max(v, c.v)
	}
	return h, v
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// walk reads segments up to the first scan.
func (f *File) walk() error {
	var soi [2]byte
	if f.size < 2 {
		return container.Truncated()
	}
	if err := container.ReadFull(f.r, soi[:], 0); err != nil {
		return err
	}
	if soi != [2]byte{0xff, markerSOI} {
		return container.Damaged("this is not a JPEG file")
	}
	var c collector
	at := int64(2)
	for {
		_, s, err := segmentAt(f.r, f.size, at)
		if err != nil {
			return err
		}
		if s.marker == markerSOS {
			if f.frame == 0 {
				return container.Damaged("the frame header (SOF) is missing")
			}
			f.scans = s.end()
			c.finish(f)
			return nil
		}
		if s.marker == markerEOI {
			return container.Damaged("there are no pixels (SOS)")
		}
		if err := f.readSegment(s, &c); err != nil {
			return err
		}
		at = s.end()
	}
}

// segment is a marker with its parameters.
type segment struct {
	marker byte
	// at is the offset of the parameters, after their length; n is their length.
	at, n int64
}

func (s segment) end() int64 { return s.at + s.n }

// standalone reports whether a marker has no length and no parameters.
func standalone(marker byte) bool {
	return marker == markerTEM || marker >= markerRST0 && marker <= markerEOI
}

// segmentAt finds the first segment at or after offset in a file; begin is the offset of the marker's FF byte. Anything
// between segments is skipped, as in libjpeg.
func segmentAt(r io.ReaderAt, size, offset int64) (begin int64, s segment, err error) {
	var buf [512]byte
	for after := false; ; {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), max(size-offset, 0))], offset)
		if n == 0 {
			if err == nil || err == io.EOF {
				err = container.Truncated()
			}
			return 0, s, err
		}
		for i, b := range buf[:n] {
			marker := after && b != 0 && b != 0xff
			after = b == 0xff
			if !marker || b >= markerRST0 && b <= markerSOI || b == markerTEM {
				continue
			}
			begin = offset + int64(i) - 1
			s = segment{marker: b, at: begin + 2}
			if standalone(b) {
				return begin, s, nil
			}
			var length [2]byte
			if s.at+2 > size {
				return 0, s, container.Truncated()
			}
			if err := container.ReadFull(r, length[:], s.at); err != nil {
				return 0, s, err
			}
			s.at += 2
			s.n = int64(binary.BigEndian.Uint16(length[:])) - 2
			if s.n < 0 {
				return 0, s, damaged(b, "has a wrong length")
			}
			if s.end() > size {
				return 0, s, container.Truncated()
			}
			return begin, s, nil
		}
		offset += int64(n)
	}
}

// read returns the parameters of a segment.
func (f *File) read(s segment) ([]byte, error) {
	d := make([]byte, s.n)
	if err := container.ReadFull(f.r, d, s.at); err != nil {
		return nil, err
	}
	return d, nil
}

func (f *File) readSegment(s segment, c *collector) error {
	switch {
	case s.marker == markerDAC:
		return unsupportedCoding("arithmetic coding")
	case s.marker >= markerSOF0 && s.marker <= markerSOF && s.marker != markerDHT && s.marker != markerJPG:
		return f.readFrame(s)
	case s.marker >= markerAPP0 && s.marker <= markerAPPE, s.marker == markerCOM:
		d, err := f.read(s)
		if err != nil {
			return err
		}
		switch s.marker {
		case markerAPP0:
			if rest, ok := bytes.CutPrefix(d, []byte(signatureJFIF)); ok {
				f.jfif = true
				f.setDensity(rest)
				const size = 7 // width and height of the preview
				c.preview = c.preview || len(rest) > size+1 && rest[size] > 0 && rest[size+1] > 0
			} else if bytes.HasPrefix(d, []byte(signatureJFXX)) {
				c.preview = true
			} else if len(d) >= 5 {
				c.other(s.marker)
			}
		case markerAPPE:
			if len(d) >= 12 && bytes.HasPrefix(d, []byte(signatureAdobe)) {
				f.adobe = int(d[11])
			}
		case markerCOM:
			if len(f.meta.Comments) < maxComments {
				f.meta.Comments = append(f.meta.Comments, comment(d))
			}
		default:
			c.collect(s.marker, d, &f.meta)
		}
	}
	return nil
}

// readFrame reads SOF (B.2.2).
func (f *File) readFrame(s segment) error {
	switch s.marker {
	case markerSOF0, markerSOF1, markerSOF2:
	case 0xc3:
		return unsupportedCoding("lossless coding")
	case 0xc5, 0xc6, 0xc7:
		return unsupportedCoding("hierarchical coding")
	default:
		return unsupportedCoding("arithmetic coding")
	}
	if f.frame != 0 {
		return container.Damaged("there are two frame headers (SOF)")
	}
	d, err := f.read(s)
	if err != nil {
		return err
	}
	if len(d) < 6 || len(d) != 6+3*int(d[5]) {
		return damaged(s.marker, "has a wrong length")
	}
	if d[0] != 8 {
		return container.Unsupported("JPEG with %d bits per sample cannot be read; save it as TIFF", d[0])
	}
	f.frame = s.marker
	f.height, f.width = int(binary.BigEndian.Uint16(d[1:])), int(binary.BigEndian.Uint16(d[3:]))
	if f.height == 0 && f.width > 0 {
		return container.Unsupported("JPEG files that define the height in a DNL marker are not supported")
	}
	if f.width == 0 {
		return container.Damaged("a width of 0 pixels is not possible")
	}
	for d = d[6:]; len(d) > 0; d = d[3:] {
		c := component{id: d[0], h: int(d[1] >> 4), v: int(d[1] & 15), quant: d[2]}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.quant > 3 {
			return damaged(s.marker, "is inconsistent")
		}
		if slices.ContainsFunc(f.components, func(other component) bool { return other.id == c.id }) {
			return damaged(s.marker, "names a component twice")
		}
		f.components = append(f.components, c)
	}
	return f.checkSampling()
}

// checkSampling rejects components whose samples do not cover whole pixels.
func (f *File) checkSampling() error {
	switch len(f.components) {
	case 1:
		// The factors of a single component have no meaning (A.2.2).
		f.components[0].h, f.components[0].v = 1, 1
	case 3, 4:
	default:
		return container.Unsupported("JPEG with %d components cannot be read", len(f.components))
	}
	maxH, maxV := f.sampling()
	for _, c := range f.components {
		if maxH%c.h != 0 || maxV%c.v != 0 {
			return container.Unsupported("JPEG with this kind of chroma subsampling cannot be read; save it as TIFF")
		}
	}
	return nil
}

// damaged returns a fault of one segment.
func damaged(marker byte, text message.Text) error {
	return container.Damaged("the segment FF%02X %s", marker, message.Of(text))
}

func unsupportedCoding(name message.Text) error {
	return container.Unsupported("JPEG with %s cannot be read; save it as TIFF", name)
}
