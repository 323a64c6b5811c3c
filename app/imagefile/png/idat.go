package png

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"

	"blik/app/imagefile/container"
)

// idatReader reads the data of the IDAT chunks as one stream and verifies their checksums.
type idatReader struct {
	src *bufio.Reader
	// at is the offset of the next byte, end that of the end of the last chunk, left the number of bytes left in the
	// chunk.
	at, end int64
	left    int64
	crc     hash.Hash32
}

func newIDATReader(f *File) *idatReader {
	return &idatReader{src: bufio.NewReaderSize(io.NewSectionReader(f.r, f.idat, f.idatEnd-f.idat), 1<<17),
		at: f.idat, end: f.idatEnd}
}

func (r *idatReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		if err := r.finish(); err != nil {
			return 0, err
		}
		if r.at == r.end {
			return 0, io.EOF
		}
		// Open has verified that these are IDAT chunks within the file.
		var head [8]byte
		if _, err := io.ReadFull(r.src, head[:]); err != nil {
			return 0, container.ReadError(err)
		}
		r.at += 8
		r.left = int64(binary.BigEndian.Uint32(head[:]))
		r.crc = crc32.NewIEEE()
		r.crc.Write(head[4:])
	}
	n, err := r.src.Read(p[:min(int64(len(p)), r.left)])
	r.crc.Write(p[:n])
	r.at += int64(n)
	r.left -= int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, container.ReadError(err)
}

// finish verifies the checksum of the chunk that has been read.
func (r *idatReader) finish() error {
	if r.crc == nil {
		return nil
	}
	var sum [4]byte
	if _, err := io.ReadFull(r.src, sum[:]); err != nil {
		return container.ReadError(err)
	}
	r.at += 4
	if binary.BigEndian.Uint32(sum[:]) != r.crc.Sum32() {
		return damaged("IDAT", "has a wrong checksum")
	}
	r.crc = nil
	return nil
}

// inflater decompresses the IDAT chunks to lines: filter type and filtered row. It works ahead on its own goroutine,
// because inflating and unfiltering take about the same time.
type inflater struct {
	blocks <-chan block
	free   chan<- []byte
	stop   context.CancelFunc
	// current and before are the blocks of the last two lines.
	current, before []byte
	rest            []byte
}

// block holds whole lines, or the error that ended the stream.
type block struct {
	lines []byte
	err   error
}

const (
	// blockBytes is the approximate size of a block: large enough that passing it on costs next to nothing, small
	// enough to stay in the cache.
	blockBytes = 1 << 17
	// blockCount is the number of blocks: one is being filled, one waits, and the reader of the lines holds two.
	blockCount = 4
	// packedBytes is the size of the buffer of packed bytes, zlibBytes the approximate memory of the zlib reader: its
	// window and its tables.
	packedBytes, zlibBytes = 1 << 16, windowBytes + 1<<16
)

// scratch returns the memory of a decoder in bytes, without the samples. It also counts that of Inventory, which
// collects the alpha of interlaced pictures.
func (f *File) scratch() int64 {
	line := int64(f.rowBytes(f.width)) + 1
	n := blockCount*max(line, blockBytes) + line + packedBytes + zlibBytes + 1<<17
	if f.interlaced && f.transparent() {
		n += alphaBytes * int64(f.width) * int64(f.height)
	}
	return n
}

// whole reports whether the file is long enough for the picture.
func (f *File) whole() error {
	if f.rawBytes()/maxExpansion > f.packed {
		return container.Truncated()
	}
	return nil
}

// inflate starts decompression. The caller must call close.
func (f *File) inflate(ctx context.Context) *inflater {
	ctx, stop := context.WithCancel(ctx)
	// With room for all blocks and an error, the goroutine waits only for free blocks.
	blocks, free := make(chan block, blockCount+1), make(chan []byte, blockCount)
	size := max(f.rowBytes(f.width)+1, blockBytes)
	for range blockCount {
		free <- nil // allocated when first filled
	}
	go func() {
		defer close(blocks)
		if err := f.fill(ctx, blocks, free, size); err != nil {
			blocks <- block{err: err}
		}
	}()
	return &inflater{blocks: blocks, free: free, stop: stop}
}

// fill inflates into blocks of at most size bytes, or one line.
func (f *File) fill(ctx context.Context, blocks chan<- block, free <-chan []byte, size int) error {
	// From a buffer the zlib reader takes no byte beyond the end of its stream.
	packed := bufio.NewReaderSize(newIDATReader(f), packedBytes)
	z, err := zlib.NewReader(packed)
	if err != nil {
		return inflateError(err)
	}
	for _, p := range f.passes() {
		line := f.rowBytes(p.width) + 1
		for y := 0; y < p.height; {
			var buf []byte
			select {
			case buf = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			rows := min(max(size/line, 1), p.height-y)
			if cap(buf) < rows*line {
				buf = make([]byte, rows*line)
			}
			buf = buf[:rows*line]
			if _, err := io.ReadFull(z, buf); err != nil {
				return inflateError(err)
			}
			blocks <- block{lines: buf}
			y += rows
		}
	}
	// Reading to the end verifies the checksums.
	var more [1]byte
	n, err := io.ReadFull(z, more[:])
	if n > 0 {
		return container.Damaged("there are more pixels than the declared size")
	}
	if err != io.EOF {
		return inflateError(err)
	}
	behind, err := io.Copy(io.Discard, packed)
	if err == nil {
		f.used.Store(f.packed - behind)
	}
	return err
}

// inflateError converts errors of the zlib stream to faults of the file, and returns others unchanged.
func inflateError(err error) error {
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return container.Damaged("the pixels end too early")
	case zlib.ErrChecksum:
		return container.Damaged("the pixels have a wrong checksum")
	case zlib.ErrHeader, zlib.ErrDictionary:
		return container.Damaged("the compressed pixels are damaged")
	}
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok {
		return container.Damaged("the compressed pixels are damaged")
	}
	return err
}

// line returns the next line, of n bytes. The caller may change it. It is valid until the second call after this one.
func (r *inflater) line(n int) ([]byte, error) {
	if len(r.rest) == 0 {
		if r.before != nil {
			r.free <- r.before
		}
		b, ok := <-r.blocks
		switch {
		case b.err != nil:
			return nil, b.err
		case !ok:
			return nil, io.ErrUnexpectedEOF
		}
		r.before, r.current = r.current, b.lines
		r.rest = b.lines
	}
	line := r.rest[:n:n]
	r.rest = r.rest[n:]
	return line, nil
}

// end waits until the data after the last line have been verified.
func (r *inflater) end() error {
	for b := range r.blocks {
		if b.err != nil {
			return b.err
		}
	}
	return nil
}

// close stops decompression and waits until the file is no longer being read.
func (r *inflater) close() {
	r.stop()
	for range r.blocks {
	}
}
