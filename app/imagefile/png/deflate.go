package png

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"io"
	"runtime"
	"sync"
)

const (
	// bandBytes is about the size of the lines that are compressed together.
	bandBytes = 1 << 20
	// windowBytes is how far back deflate can refer (RFC 1951, 2).
	windowBytes = 1 << 15
)

// band is a run of filtered lines that is compressed by itself.
type band struct {
	// prepare, if not nil, fills lines and dict; it runs beside others.
	prepare func(*band)
	// lines are the lines of the band behind the last ones of the band before, dict bytes, to which its deflate blocks may
	// refer.
	lines []byte
	dict  int
	last  bool

	out  bytes.Buffer
	sum  uint32
	err  error
	done chan struct{}
}

// deflater compresses bands on all processors and writes each as an IDAT chunk, in order. All together they are one zlib
// stream: each band but the last ends with an empty stored block, which fills the byte, and takes the end of the band
// before as its dictionary (as Mark Adler's pigz does it).
type deflater struct {
	ctx  context.Context
	stop context.CancelFunc
	free chan *band
	work chan *band
	// order holds the bands in the order of the stream.
	order   chan *band
	workers sync.WaitGroup
	writer  sync.WaitGroup
	err     error
}

// newDeflater starts compressing to w at a level of package flate. close must be called in the end.
func newDeflater(ctx context.Context, w io.Writer, level int) *deflater {
	workers := runtime.GOMAXPROCS(0)
	count := workers + 2 // one is being filled, one written
	d := &deflater{free: make(chan *band, count), work: make(chan *band, count), order: make(chan *band, count)}
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
					b.compress(z)
				}
				b.done <- struct{}{}
			}
		})
	}
	d.writer.Go(func() {
		sum := uint32(1)
		head := zlibHeader(level)
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

// next returns an empty band, as soon as one is free.
func (d *deflater) next() (*band, error) {
	select {
	case b := <-d.free:
		b.prepare, b.lines, b.dict, b.last = nil, b.lines[:0], 0, false
		return b, nil
	case <-d.ctx.Done():
		return nil, d.ctx.Err()
	}
}

// add hands a band over.
func (d *deflater) add(b *band) {
	d.work <- b
	d.order <- b
}

// close waits until everything is written and returns the first error.
func (d *deflater) close() error {
	close(d.work)
	d.workers.Wait()
	close(d.order)
	d.writer.Wait()
	d.stop()
	return d.err
}

// compress makes the deflate blocks of the band.
func (b *band) compress(z *flate.Writer) {
	if b.prepare != nil {
		b.prepare(b)
	}
	b.out.Reset()
	z.Reset(&b.out)
	if b.dict > 0 {
		// What has gone through the compressor is its dictionary, also at levels for which package flate takes none.
		if _, b.err = z.Write(b.lines[:b.dict]); b.err == nil {
			b.err = z.Flush()
		}
		b.out.Reset()
	}
	data := b.lines[b.dict:]
	b.sum = adler32.Checksum(data)
	if b.err == nil {
		_, b.err = z.Write(data)
	}
	switch {
	case b.err != nil:
	case b.last:
		b.err = z.Close()
	default:
		b.err = z.Flush()
	}
}

// zlibHeader returns the two bytes that begin the stream (RFC 1950, 2.2): a window of 32 KiB, and how hard it was tried.
func zlibHeader(level int) []byte {
	if level == flate.BestSpeed {
		return []byte{0x78, 0x01}
	}
	return []byte{0x78, 0x5e}
}

// writeIDAT writes a band as a chunk, behind the head of the stream if it is not nil, and with its checksum at the end.
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
