package tiff

import (
	"bufio"
	"errors"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"

	"blik/app/imagefile/container"
	"blik/processing"
)

// inputBuffer is the number of compressed bytes read at a time.
const inputBuffer = 64 << 10

// scratch holds the buffers of one core for decoding one segment after another.
type scratch struct {
	// section is the segment being decoded, in its buffer.
	section *io.SectionReader
	in      *bufio.Reader
	zlib    io.ReadCloser
	buf     []byte
	shuffle []byte
	// row is the row that DecodeCoarse subsamples.
	row *processing.Picture
}

// rows returns a buffer of n bytes.
func (s *scratch) rows(n int64) []byte {
	s.buf = slices.Grow(s.buf[:0], int(n))
	return s.buf[:n]
}

// input returns r with a buffer.
func (s *scratch) input(r io.Reader) *bufio.Reader {
	if s.in == nil {
		s.in = bufio.NewReaderSize(r, inputBuffer)
	} else {
		s.in.Reset(r)
	}
	return s.in
}

// open returns the rows of a segment as a stream of uncompressed bytes. skip skips bytes of an uncompressed segment.
func (f *File) open(s *scratch, u unit, skip int64) (io.Reader, error) {
	l := f.lay
	at, n := l.offsets[u.index], l.counts[u.index]
	s.section = f.src.Section(at+skip, n-skip)
	r := io.Reader(s.section)
	if l.lsbFirst {
		r = reversed{r}
	}
	switch l.compression {
	case compNone:
		return r, nil
	case compPackBits:
		return &packBitsReader{in: s.input(r)}, nil
	case compLZW:
		in := s.input(r)
		if head, err := in.Peek(2); err == nil && head[0] == 0 && head[1]&1 != 0 {
			return nil, container.Unsupported(
				"TIFF with the LZW compression used before 1993 is not supported; save it again")
		}
		return lzw.NewReader(in, lzw.MSB, 8), nil
	case compDeflate, compOldZip:
		in := s.input(r)
		var err error
		if s.zlib == nil {
			s.zlib, err = zlib.NewReader(in)
		} else {
			err = s.zlib.(zlib.Resetter).Reset(in, nil)
		}
		if err != nil {
			s.zlib = nil
			return nil, l.readError(u, err)
		}
		return s.zlib, nil
	default:
		format := ccitt.Group4
		if l.compression == compG3 {
			format = ccitt.Group3
		}
		// Inverted, the codes for white give zero bits, whatever these mean in the picture.
		return ccitt.NewReader(singly{s.input(r)}, ccitt.MSB, format, l.width, u.h, &ccitt.Options{Invert: true}), nil
	}
}

// readError returns the fault for an error in a segment.
func (l *layout) readError(u unit, err error) error {
	var fault *container.Fault
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &fault):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return container.Damaged("strip or tile %d ends before its last row", u.index+1)
	case errors.As(err, &corrupt), errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum),
		errors.Is(err, zlib.ErrDictionary), isLZW(err), l.compression == compG3, l.compression == compG4:
		return container.Damaged("the %s data of strip or tile %d are damaged",
			l.compression, u.index+1)
	}
	return err
}

// isLZW recognises the LZW reader's unexported error for invalid codes.
func isLZW(err error) bool { return strings.HasPrefix(err.Error(), "lzw: ") }

// reversed reverses the bits of each byte.
type reversed struct{ r io.Reader }

func (r reversed) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	reverseBits(p[:n])
	return n, err
}

func reverseBits(p []byte) {
	for i, b := range p {
		p[i] = bits.Reverse8(b)
	}
}

// packBitsReader decodes PackBits: a byte n of 0…127 precedes n+1 bytes, −n of −1…−127 precedes one byte to be repeated
// n+1 times; −128 has no effect.
type packBitsReader struct {
	in *bufio.Reader
	// left is the number of remaining bytes of the current run: copies of value, or bytes of the stream.
	left   int
	repeat bool
	value  byte
}

func (r *packBitsReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		b, err := r.in.ReadByte()
		if err != nil {
			return 0, err
		}
		n := int(int8(b))
		switch {
		case n >= 0:
			r.left, r.repeat = n+1, false
		case n > -128:
			r.left, r.repeat = 1-n, true
			if r.value, err = r.in.ReadByte(); err != nil {
				return 0, err
			}
		}
	}
	p = p[:min(len(p), r.left)]
	n := len(p)
	var err error
	if r.repeat {
		for i := range p {
			p[i] = r.value
		}
	} else {
		n, err = r.in.Read(p)
	}
	r.left -= n
	return n, err
}
