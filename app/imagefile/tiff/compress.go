package tiff

import (
	"bytes"

	"github.com/klauspost/compress/zlib"
)

// patchLevel is the compression level for changed segments. It is high, so that they fit into their old place.
const patchLevel = 8

// compressor encodes the rows of one segment after another.
type compressor struct {
	kind compression
	lzw  *lzwWriter
	zlib *zlib.Writer
	buf  bytes.Buffer
	out  []byte
}

// begin starts a segment.
func (c *compressor) begin(kind compression) {
	c.kind = kind
	c.buf.Reset()
	c.out = c.out[:0]
	switch kind {
	case compLZW:
		if c.lzw == nil {
			c.lzw = &lzwWriter{}
		}
		c.lzw.reset(c.out)
	case compDeflate, compOldZip:
		if c.zlib == nil {
			// The level is valid for zlib.
			c.zlib, _ = zlib.NewWriterLevel(&c.buf, patchLevel)
		} else {
			c.zlib.Reset(&c.buf)
		}
	}
}

// row adds a row.
func (c *compressor) row(row []byte) error {
	var err error
	switch c.kind {
	case compNone:
		c.out = append(c.out, row...)
	case compPackBits:
		c.out = packBits(c.out, row)
	case compLZW:
		c.lzw.write(row)
	default:
		_, err = c.zlib.Write(row)
	}
	return err
}

// end returns the segment.
func (c *compressor) end() ([]byte, error) {
	switch c.kind {
	case compLZW:
		c.out = c.lzw.finish()
	case compDeflate, compOldZip:
		err := c.zlib.Close()
		return c.buf.Bytes(), err
	}
	return c.out, nil
}

// packBits appends a row encoded as TIFF 6.0, section 9, recommends: repeats of three or more bytes as runs, repeats of
// two only where no literal run precedes them.
func packBits(out, row []byte) []byte {
	literal := -1 // index of the count of the open run of literal bytes, −1 for none
	for len(row) > 0 {
		n := 1
		for n < len(row) && n < 128 && row[n] == row[0] {
			n++
		}
		switch {
		case n >= 3 || n == 2 && literal < 0:
			out = append(out, byte(1-n), row[0])
			literal = -1
		case literal >= 0 && int(out[literal])+n < 128:
			out = append(out, row[:n]...)
			out[literal] += byte(n)
		default:
			literal = len(out)
			out = append(out, byte(n-1))
			out = append(out, row[:n]...)
		}
		row = row[n:]
	}
	return out
}
