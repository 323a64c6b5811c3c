package png

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"

	"blik/internal/parallel"
)

const (
	// bandBytes is the approximate size of a band.
	bandBytes = 1 << 20
	// windowBytes is the largest distance of a match in deflate (RFC 1951, 2).
	windowBytes = 1 << 15
)

// band is a run of rows of one pass that is filtered and compressed independently.
type band struct {
	// rows holds context rows and then the rows of the band, each of width bytes. The context rows precede the band:
	// the first is only needed for filtering the second, the others form the dictionary.
	rows           []byte
	width, context int
	last           bool

	// lines are the filtered rows, except the first. Their first dict bytes are the dictionary.
	lines []byte
	dict  int
	out   bytes.Buffer
	sum   uint32
	err   error
	done  chan struct{}
}

// rowWriter filters and compresses rows in bands, on all processors, and writes each band as an IDAT chunk, in order.
// Together they are one zlib stream, made as in Mark Adler's pigz: each band except the last ends with an empty stored
// block, which aligns the stream to a byte, and each band uses the end of the previous one as its dictionary.
type rowWriter struct {
	ctx  context.Context
	stop context.CancelFunc
	free chan *band
	work chan *band
	// order holds the bands in stream order.
	order   chan *band
	workers sync.WaitGroup
	writer  sync.WaitGroup
	err     error
	// current is the band being filled, nil before the first row.
	current *band
}

// newRowWriter starts writing rows to w, with pixels of pixelBytes bytes and at a level of package flate. The caller
// must call close.
func newRowWriter(ctx context.Context, w io.Writer, pixelBytes, level int) *rowWriter {
	workers := parallel.Processors()
	count := workers + 2 // one is being filled, one is being written
	d := &rowWriter{free: make(chan *band, count), work: make(chan *band, count), order: make(chan *band, count)}
	d.ctx, d.stop = context.WithCancel(ctx)
	for range count {
		d.free <- &band{done: make(chan struct{}, 1)}
	}
	for range workers {
		d.workers.Go(func() {
			// The only error is an invalid level.
			z, _ := flate.NewWriter(nil, level)
			for b := range d.work {
				if d.ctx.Err() == nil {
					b.filter(pixelBytes)
					b.compress(z)
				}
				b.done <- struct{}{}
			}
		})
	}
	d.writer.Go(func() {
		sum := uint32(1)
		head := zlibHeader()
		for b := range d.order {
			<-b.done
			if d.err == nil {
				d.err = b.err
			}
			if d.err == nil {
				d.err = d.ctx.Err()
			}
			if d.err == nil {
				sum = adlerJoin(sum, b.sum, len(b.lines)-b.dict)
				d.err = writeIDAT(w, head, b, sum)
				head = nil
			}
			if d.err != nil {
				d.stop()
			}
			d.free <- b
		}
	})
	return d
}

// beginPass starts a pass with rows of width bytes. Its first row has none above it.
func (d *rowWriter) beginPass(width int) error {
	d.add()
	b, err := d.next(width)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, make([]byte, width)...)
	b.context = 1
	return nil
}

// row adds a row to the pass.
func (d *rowWriter) row(row []byte) error {
	// Start a new band only when a row needs it, so that finish knows the last one.
	if b := d.current; len(b.rows)-b.context*b.width >= bandBytes {
		d.add()
		next, err := d.next(b.width)
		if err != nil {
			return err
		}
		line := b.width + 1
		next.context = min(len(b.rows)/b.width, 1+(windowBytes+line-1)/line)
		next.rows = append(next.rows, b.rows[len(b.rows)-next.context*b.width:]...)
	}
	d.current.rows = append(d.current.rows, row...)
	return nil
}

// next takes a free band and makes it the current one.
func (d *rowWriter) next(width int) (*band, error) {
	select {
	case b := <-d.free:
		b.rows, b.width, b.context, b.last = b.rows[:0], width, 0, false
		d.current = b
		return b, nil
	case <-d.ctx.Done():
		return nil, d.ctx.Err()
	}
}

// add passes on the current band, if there is one, to be compressed and written.
func (d *rowWriter) add() {
	if b := d.current; b != nil {
		d.current = nil
		d.work <- b
		d.order <- b
	}
}

// finish passes on the last band.
func (d *rowWriter) finish() {
	d.current.last = true
	d.add()
}

// close waits until everything has been written, and returns the first error.
func (d *rowWriter) close() error {
	close(d.work)
	d.workers.Wait()
	close(d.order)
	d.writer.Wait()
	d.stop()
	return d.err
}

// filter filters the rows of the band and those of the dictionary.
func (b *band) filter(pixelBytes int) {
	var c chooser
	b.lines, b.dict = b.lines[:0], 0
	for at := b.width; at < len(b.rows); at += b.width {
		if at == b.context*b.width {
			b.dict = len(b.lines)
		}
		b.lines = append(b.lines, c.line(b.rows[at:at+b.width], b.rows[at-b.width:at], pixelBytes)...)
	}
}

func (b *band) compress(z *flate.Writer) {
	b.out.Reset()
	z.ResetDict(&b.out, b.lines[max(b.dict-windowBytes, 0):b.dict])
	data := b.lines[b.dict:]
	b.sum = adler32.Checksum(data)
	if _, b.err = z.Write(data); b.err != nil {
		return
	}
	if b.last {
		b.err = z.Close()
	} else {
		b.err = z.Flush()
	}
}

// zlibHeader returns the first two bytes of the stream (RFC 1950, 2.2): a window of 32 KiB, fast compression.
func zlibHeader() []byte { return []byte{0x78, 0x5e} }

// writeIDAT writes a band as a chunk, preceded by head, which may be empty, and followed by sum if it is the last band.
func writeIDAT(w io.Writer, head []byte, b *band, sum uint32) error {
	var tail []byte
	if b.last {
		tail = binary.BigEndian.AppendUint32(nil, sum)
	}
	n := len(head) + b.out.Len() + len(tail)
	begin := append(binary.BigEndian.AppendUint32(nil, uint32(n)), "IDAT"...)
	crc := crc32.ChecksumIEEE(begin[4:])
	for _, part := range [][]byte{head, b.out.Bytes(), tail} {
		crc = crc32.Update(crc, crc32.IEEETable, part)
	}
	for _, part := range [][]byte{begin, head, b.out.Bytes(), tail, binary.BigEndian.AppendUint32(nil, crc)} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// adlerJoin returns the Adler-32 of the concatenation of two byte strings from theirs; n is the length of the second.
// Each of the n steps adds the low sum of the first, less its start value 1, to the high sum.
func adlerJoin(first, second uint32, n int) uint32 {
	const mod = 65521
	a1, b1 := uint64(first&0xffff), uint64(first>>16)
	a2, b2 := uint64(second&0xffff), uint64(second>>16)
	a := (a1 + a2 + mod - 1) % mod
	b := (b1 + b2 + uint64(n)%mod*(a1+mod-1)) % mod
	return uint32(b<<16 | a)
}
