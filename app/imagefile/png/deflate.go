package png

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"

	"blik/app/imagefile/inflate"
	"blik/internal/parallel"
)

const (
	// bandBytes is about the size of the rows that are compressed together.
	bandBytes = 1 << 20
	// windowBytes is how far back deflate can refer (RFC 1951, 2).
	windowBytes = 1 << 15
)

// band is a run of rows of one pass that is filtered and compressed on its own.
type band struct {
	// rows holds the rows, each width bytes, after the context rows that precede them: the first of those is only the
	// row above, the others make the dictionary.
	rows           []byte
	width, context int
	last           bool

	// lines are the filtered rows but for the first; deflate blocks may refer to the first dict bytes of them.
	lines []byte
	dict  int
	out   bytes.Buffer
	sum   uint32
	err   error
	done  chan struct{}
}

// rowWriter filters and compresses rows on all processors, in bands, and writes each band as an IDAT chunk, in order.
// Together they are one zlib stream: each band but the last ends with an empty stored block, which fills the byte, and
// takes the end of the band before as its dictionary (the method of Mark Adler's pigz).
type rowWriter struct {
	ctx  context.Context
	stop context.CancelFunc
	free chan *band
	work chan *band
	// order holds the bands in the order of the stream.
	order   chan *band
	workers sync.WaitGroup
	writer  sync.WaitGroup
	err     error
	// current is the band being filled, nil before the first row.
	current *band
}

// newRowWriter starts writing to w rows whose pixels are pixelBytes wide, at a level of package flate. close must be
// called in the end.
func newRowWriter(ctx context.Context, w io.Writer, pixelBytes, level int) *rowWriter {
	workers := parallel.Processors()
	count := workers + 2 // one is being filled, one written
	d := &rowWriter{free: make(chan *band, count), work: make(chan *band, count), order: make(chan *band, count)}
	d.ctx, d.stop = context.WithCancel(ctx)
	for range count {
		d.free <- &band{done: make(chan struct{}, 1)}
	}
	for range workers {
		d.workers.Go(func() {
			// The level is always one that flate has.
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

// beginPass announces rows of so many bytes, the first of which has none above it.
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

// row writes a row of the pass.
func (d *rowWriter) row(row []byte) error {
	// The next band begins only when there is a row for it, so that the last one is known in the end.
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

// next makes a free band the current one.
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

// add hands the current band over, if there is one.
func (d *rowWriter) add() {
	if b := d.current; b != nil {
		d.current = nil
		d.work <- b
		d.order <- b
	}
}

// finish hands over the last band.
func (d *rowWriter) finish() {
	d.current.last = true
	d.add()
}

// close waits until everything is written and returns the first error.
func (d *rowWriter) close() error {
	close(d.work)
	d.workers.Wait()
	close(d.order)
	d.writer.Wait()
	d.stop()
	return d.err
}

// filter filters the rows and, for the dictionary, those before them.
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

// compress makes the deflate blocks of the band.
func (b *band) compress(z *flate.Writer) {
	b.out.Reset()
	z.ResetDict(&b.out, b.lines[max(b.dict-windowBytes, 0):b.dict])
	data := b.lines[b.dict:]
	b.sum = inflate.Adler32(data)
	if _, b.err = z.Write(data); b.err != nil {
		return
	}
	if b.last {
		b.err = z.Close()
	} else {
		b.err = z.Flush()
	}
}

// zlibHeader returns the two bytes that begin the stream (RFC 1950, 2.2): a window of 32 KiB, compressed fast.
func zlibHeader() []byte { return []byte{0x78, 0x5e} }

// writeIDAT writes a band as a chunk, after the head of the stream if it is not nil, and with sum after the last one.
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
