package imagefile

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"io"
	"runtime"
	"sync"

	"blik/processing"
)

// WritePNG writes p, of 8 or 16 bits, as PNG of the same depth. It compresses bands of rows on all processors, which
// the standard library's encoder does not, and needs no copy of the picture.
func WritePNG(ctx context.Context, path string, p *processing.Picture) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.F32 != nil {
		return errors.New("PNG holds no floating-point samples")
	}
	return WriteFile(ctx, path, func(w io.Writer) error { return encodePNG(ctx, w, p, 1<<20) })
}

// encodePNG writes p as a PNG stream. bandBytes is about the size of the raw samples that are compressed together; with
// a megabyte, what a new band forgets of the one before costs less than a thousandth.
func encodePNG(ctx context.Context, w io.Writer, p *processing.Picture, bandBytes int) error {
	if _, err := io.WriteString(w, "\x89PNG\r\n\x1a\n"); err != nil {
		return err
	}
	colourType := byte(0)
	if p.Channels == 3 {
		colourType = 2
	}
	var ihdr [13]byte
	binary.BigEndian.PutUint32(ihdr[0:], uint32(p.Width))
	binary.BigEndian.PutUint32(ihdr[4:], uint32(p.Height))
	ihdr[8], ihdr[9] = byte(p.Depth()), colourType
	if err := writeChunk(w, "IHDR", ihdr[:]); err != nil {
		return err
	}

	rowBytes := p.Width * p.Channels * p.Depth() / 8
	rows := max(1, bandBytes/rowBytes)
	// The zlib stream (RFC 1950) is one header, the bands' deflate blocks, each band ending at a byte, and a checksum.
	head := []byte{0x78, 0x01}
	sum := uint32(1)
	encoders := make([]bandEncoder, runtime.GOMAXPROCS(0))
	for y := 0; y < p.Height; {
		if err := ctx.Err(); err != nil {
			return err
		}
		used := 0
		var wg sync.WaitGroup
		for i := range encoders {
			if y >= p.Height {
				break
			}
			y0, y1 := y, min(y+rows, p.Height)
			y, used = y1, i+1
			wg.Go(func() { encoders[i].encode(p, y0, y1) })
		}
		wg.Wait()
		for i := range encoders[:used] {
			e := &encoders[i]
			if e.err != nil {
				return e.err
			}
			sum = adlerJoin(sum, e.sum, e.length)
			data := e.out.Bytes()
			if head != nil {
				data, head = append(head, data...), nil
			}
			if y >= p.Height && i == used-1 {
				data = binary.BigEndian.AppendUint32(data, sum)
			}
			if err := writeChunk(w, "IDAT", data); err != nil {
				return err
			}
		}
	}
	return writeChunk(w, "IEND", nil)
}

func writeChunk(w io.Writer, name string, data []byte) error {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	head = append(head, name...)
	crc := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, data)
	for _, part := range [][]byte{head, data, binary.BigEndian.AppendUint32(nil, crc)} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// adlerJoin returns the Adler-32 of two byte strings after each other from their own, the second of length n: every
// step over the second adds what the first had gathered above its start value of 1.
func adlerJoin(first, second uint32, n int) uint32 {
	const mod = 65521
	a1, b1 := uint64(first&0xffff), uint64(first>>16)
	a2, b2 := uint64(second&0xffff), uint64(second>>16)
	a := (a1 + a2 + mod - 1) % mod
	b := (b1 + b2 + uint64(n)%mod*(a1+mod-1)) % mod
	return uint32(b<<16 | a)
}

// bandEncoder filters and compresses bands, one after the other, in buffers that it keeps.
type bandEncoder struct {
	out    bytes.Buffer
	sum    uint32
	length int
	err    error

	deflate    *flate.Writer
	row, above []byte
	tries      [3][]byte
}

func (e *bandEncoder) encode(p *processing.Picture, y0, y1 int) {
	if e.deflate == nil {
		// BestSpeed is always a valid level.
		e.deflate, _ = flate.NewWriter(nil, flate.BestSpeed)
	}
	e.out.Reset()
	e.deflate.Reset(&e.out)
	sum := adler32.New()
	w := io.MultiWriter(e.deflate, sum)
	e.above = e.above[:0]
	if y0 > 0 {
		e.above = appendRow(e.above, p, y0-1)
	}
	e.length = 0
	for y := y0; y < y1; y++ {
		e.row = appendRow(e.row[:0], p, y)
		line := e.filter(p.Channels * p.Depth() / 8)
		if _, e.err = w.Write(line); e.err != nil {
			return
		}
		e.length += len(line)
		e.row, e.above = e.above, e.row
	}
	e.sum = sum.Sum32()
	if y1 == p.Height {
		e.err = e.deflate.Close()
	} else {
		e.err = e.deflate.Flush()
	}
}

// appendRow appends the bytes of row y as PNG stores them.
func appendRow(dst []byte, p *processing.Picture, y int) []byte {
	n := p.Width * p.Channels
	if p.U8 != nil {
		return append(dst, p.U8[y*n:(y+1)*n]...)
	}
	for _, v := range p.U16[y*n : (y+1)*n] {
		dst = append(dst, byte(v>>8), byte(v))
	}
	return dst
}

// filter returns the filter's type and the filtered row: of left, up and Paeth the one with the smallest sum of
// absolute differences (PNG 3rd edition, 9.2 and 12.7). pixel is the bytes of a pixel.
func (e *bandEncoder) filter(pixel int) []byte {
	const left, up, paeth = 1, 2, 4
	row, above := e.row, e.above
	if len(above) == 0 {
		above = make([]byte, len(row))
	}
	if len(e.tries[0]) != len(row)+1 {
		for k, kind := range [3]byte{left, up, paeth} {
			e.tries[k] = make([]byte, len(row)+1)
			e.tries[k][0] = kind
		}
	}
	n := len(row)
	above = above[:n]
	l, u, q := e.tries[0][1:][:n], e.tries[1][1:][:n], e.tries[2][1:][:n]
	if bytes.Equal(row, above) { // most rows of a mask
		clear(u)
		return e.tries[1]
	}
	var costs [3]int
	for i := range pixel { // no left neighbour: Paeth predicts the one above
		l[i], u[i], q[i] = row[i], row[i]-above[i], row[i]-above[i]
		costs[0] += magnitude(l[i])
		costs[1] += magnitude(u[i])
		costs[2] += magnitude(q[i])
	}
	for i, v := range row[pixel:] {
		d := v - row[i]
		l[i+pixel] = d
		costs[0] += magnitude(d)
	}
	for i, v := range row[pixel:] {
		d := v - above[i+pixel]
		u[i+pixel] = d
		costs[1] += magnitude(d)
	}
	for i, v := range row[pixel:] {
		d := v - predict(row[i], above[i+pixel], above[i])
		q[i+pixel] = d
		costs[2] += magnitude(d)
	}
	best := 0
	for k := range costs {
		if costs[k] < costs[best] {
			best = k
		}
	}
	return e.tries[best]
}

// magnitude is the absolute value of a difference modulo 256.
func magnitude(d uint8) int {
	s := int(int8(d))
	sign := s >> 8
	return (s ^ sign) - sign
}

// predict is Paeth's predictor: of left, up and upper left the one nearest to left + up − upper left.
func predict(a, b, c uint8) uint8 {
	pa, pb := int(b)-int(c), int(a)-int(c)
	pc := pa + pb
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}
