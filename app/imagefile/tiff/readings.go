package tiff

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/message"
)

// readings is what decoding finds out about the stored data of a picture, besides its samples.
type readings struct {
	mu sync.Mutex
	// ends are the lengths of the data in the segments, in bytes from their offsets; −1 before a segment was decoded.
	ends []int64
	// surplus are the decoded bytes of segments beyond their last row, where there are any.
	surplus map[int]int64
	// loose: the bits that fill the last byte of a row are neither all 0 nor all 1 somewhere.
	loose bool
}

func newFile(s *exif.Reader, d *exif.Directory, l *layout) *File {
	f := &File{src: s, dir: d, lay: l, read: &readings{ends: make([]int64, len(l.offsets)), surplus: map[int]int64{}}}
	for i := range f.read.ends {
		f.read.ends[i] = -1
		if l.compression == compNone {
			f.read.ends[i] = l.counts[i]
		}
	}
	return f
}

// Learn implements container.Learner.
func (f *File) Learn(from container.Container) {
	if g, ok := from.(*File); ok && len(g.read.ends) == len(f.read.ends) {
		f.read = g.read
	}
}

// maxSurplus bounds the bytes that are decoded beyond the last row of a segment. Whatever remains counts as unused.
const maxSurplus = 1 << 20

// finish reads the rest of a segment whose rows were read from r, and records where its data end. Faults in that rest
// do not affect the picture.
func (f *File) finish(s *scratch, r io.Reader, u unit) {
	l := f.lay
	if l.compression == compNone {
		return
	}
	consumed := func() int64 {
		at, _ := s.section.Seek(0, io.SeekCurrent) // cannot fail
		return at - int64(s.in.Buffered())
	}
	rest := int64(u.rows-u.h) * l.rowBytes()
	if l.compression != compPackBits {
		// A PackBits stream has no end of its own: more bytes would become more rows.
		rest += maxSurplus
	}
	end := consumed()
	n, err := io.CopyN(io.Discard, r, rest)
	more := max(n-int64(u.rows-u.h)*l.rowBytes(), 0)
	switch {
	case errors.Is(err, zlib.ErrChecksum):
		end = consumed() - checksumBytes
	case more > 0, err == nil, err == io.EOF && l.compression != compG4,
		l.compression == compG4 && f.endsBlock(u, consumed()):
		end = consumed()
	}
	f.read.mu.Lock()
	defer f.read.mu.Unlock()
	f.read.ends[u.index] = end
	if more > 0 {
		f.read.surplus[u.index] = more
	}
}

// checksumBytes is the length of the checksum at the end of a zlib stream.
const checksumBytes = 4

// endsBlock reports whether the code for the end of a group 4 picture, of 24 bits, ends in the byte before end.
func (f *File) endsBlock(u unit, end int64) bool {
	const code, codeBits = 0x001001, 24
	data, err := f.src.Bytes(f.lay.offsets[u.index]+max(end-4, 0), min(end, 4))
	if err != nil {
		return false
	}
	if f.lay.lsbFirst {
		reverseBits(data)
	}
	var v uint64
	for _, b := range data {
		v = v<<8 | uint64(b)
	}
	for shift := range 8 {
		if v>>shift&(1<<codeBits-1) == code {
			return true
		}
	}
	return false
}

// fillBits returns the number of bits that fill the last byte of a row of a segment.
func (l *layout) fillBits(u unit) int {
	if l.depth >= 8 || l.tiled || l.compression == compG3 || l.compression == compG4 {
		return 0
	}
	return -(u.w * l.lanes() * l.depth) & 7
}

// noteLoose records whether the bits behind the samples of a row hold anything.
func (f *File) noteLoose(u unit, row []byte) {
	if n := f.lay.fillBits(u); n > 0 && len(row) > 0 {
		if v, all := row[len(row)-1]&(1<<n-1), byte(1)<<n-1; v != 0 && v != all {
			f.read.mu.Lock()
			f.read.loose = true
			f.read.mu.Unlock()
		}
	}
}

// singly passes on one byte at a time, so that no more of them are read than are decoded.
type singly struct{ in io.ByteReader }

func (s singly) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := s.in.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

// besides lists the bytes that the segments store outside the picture: tiles beyond its edge, rows beyond the last one.
// Zeros, repetitions of the nearest pixels and what the buffer of an encoder still held of the tile before are
// harmless.
func (l *lister) besides(p place, f *File) error {
	lay := f.lay
	for i := range lay.offsets {
		u := lay.unit(i)
		if !(lay.tiled && (u.w < lay.segmentWidth || u.h < u.rows)) && f.read.surplus[i] == 0 || lay.counts[i] == 0 {
			continue
		}
		if err := l.ctx.Err(); err != nil {
			return err
		}
		beside, hidden, err := f.beside(u)
		if err != nil {
			// A segment that cannot be decoded is listed as it is stored.
			continue
		}
		if len(beside) > 0 {
			item := l.v.Add(p.of(message.Of("values outside the picture in strip or tile %d", i+1)), beside)
			item.Unused, item.Harmless = true, !hidden
		}
	}
	return nil
}

// beside returns the bytes of a segment outside the picture, and whether something may be hidden in them.
func (f *File) beside(u unit) (beside []byte, hidden bool, err error) {
	l := f.lay
	s, before := &scratch{}, &scratch{}
	r, err := f.open(s, u, 0)
	if err != nil {
		return nil, false, err
	}
	// Encoders that do not clear their buffer leave what the tile before had there.
	var earlier io.Reader
	if u.index > 0 && l.stored(l.unit(u.index-1), f.src.Size) == nil {
		if earlier, err = f.open(before, l.unit(u.index-1), 0); err != nil {
			earlier = nil
		}
	}
	n := int(l.rowBytes())
	valid := u.w * l.lanes() * l.depth
	sample := max(l.depth/8, 1)
	pixel := max(l.lanes()*l.depth/8, 1)
	var last []byte
	rows := int64(u.rows) + (f.read.surplus[u.index]+int64(n)-1)/int64(n)
	for y := range int(rows) {
		row := s.rows(int64(n))
		read, err := io.ReadFull(r, row)
		if err != nil && y < u.h {
			return nil, false, err
		}
		if row = row[:read]; read == n {
			f.unpredict(s, row)
		}
		var old []byte
		if earlier != nil {
			old = before.rows(int64(n))
			if _, err := io.ReadFull(earlier, old); err != nil {
				earlier, old = nil, nil
			} else {
				f.unpredict(before, old)
			}
		}
		from := 0
		if y < u.h {
			from = (valid + 7) / 8
			if y == u.h-1 {
				last = bytes.Clone(row)
			}
		}
		for k := from; k < len(row); k++ {
			v := row[k]
			nearest := v
			if from > 0 {
				nearest = row[max(from-pixel, 0)+(k-from)%pixel]
			} else if k < len(last) {
				nearest = last[k]
			}
			// Some change the byte order of what is left in place, each time they write a tile.
			left := old != nil && (v == old[k] || v == old[k-k%sample+sample-1-k%sample])
			hidden = hidden || v != 0 && v != 0xff && v != nearest && !left
		}
		beside = append(beside, row[from:]...)
		if err != nil {
			break
		}
	}
	return beside, hidden, nil
}
