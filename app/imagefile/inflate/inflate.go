// Package inflate reads zlib streams (RFC 1950, RFC 1951) of photographs, which consist mostly of literals; it decodes
// two at a time if their codes are short. It accepts the same streams as the standard library, with the same output.
package inflate

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
)

// The errors of streams that violate RFC 1950 or RFC 1951. A truncated stream gives io.ErrUnexpectedEOF; errors of the
// reader are passed on.
var (
	ErrHeader   = errors.New("zlib: invalid header")
	ErrChecksum = errors.New("zlib: invalid checksum")
	ErrCorrupt  = errors.New("flate: corrupt input")
)

const (
	// window is the maximum distance of a match, longest its maximum length.
	window, longest = 1 << 15, 258
	// ahead is the number of bytes inflated between two moves of the window, spare the number of bytes that may be
	// written beyond the end of a match.
	ahead, spare = 1 << 17, 16
	// inputBytes is the size of the buffer of packed bytes; the rest is padding at the end of the input.
	inputBytes, padding = 1 << 16, 16
)

// Memory is the approximate memory of a Reader in bytes.
const Memory = window + ahead + inputBytes + 1<<16

// state is the part of the stream that the reader expects next.
type state uint8

const (
	atBlock state = iota
	inStored
	inCodes
	atEnd
)

// Reader inflates a zlib stream.
type Reader struct {
	src io.Reader
	// in holds packed bytes. Those from at on are neither consumed nor in bits; zeros follow the end of the input.
	in     []byte
	at     int
	padded bool
	srcErr error
	// bits holds the next count bits, the first lowest. Bits above them may be set; in still holds those from at on.
	bits  uint64
	count uint

	// out holds inflated bytes: those before read are delivered, those before have are valid.
	out        []byte
	read, have int
	sum        adler

	state  state
	final  bool
	stored int
	err    error

	literals literalTable
	distance distanceTable
	endBits  uint8 // of the end-of-block code
}

// NewReader reads the header of the stream. The reader buffers, and may read beyond the end of the stream.
func NewReader(src io.Reader) (*Reader, error) {
	r := &Reader{src: src, in: make([]byte, 0, inputBytes+padding), out: make([]byte, window+ahead+longest+spare),
		sum: newAdler()}
	head, err := r.take(16)
	if err != nil {
		return nil, err
	}
	// The method must be deflate with a window of at most 32 KiB.
	if head&0x0f != 8 || head>>4&0x0f > 7 || (head&0xff<<8|head>>8)%31 != 0 {
		return nil, ErrHeader
	}
	if head>>13&1 != 0 {
		// A preset dictionary would be identified by its checksum here; only the empty dictionary is accepted.
		sum, err := r.take(32)
		if err != nil {
			return nil, err
		}
		if bits.ReverseBytes32(sum) != 1 {
			return nil, ErrHeader
		}
	}
	return r, nil
}

// Read implements io.Reader. It returns io.EOF after the last byte if the checksum is right.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for r.read == r.have {
		if r.err != nil {
			return 0, r.err
		}
		if r.have >= window+ahead {
			copy(r.out, r.out[r.have-window:r.have])
			r.read, r.have = window, window
		}
		r.err = r.more()
		r.sum.add(r.out[r.read:r.have])
		if r.err == io.EOF {
			r.err = r.verify()
		}
	}
	n := copy(p, r.out[r.read:r.have])
	r.read += n
	return n, nil
}

// Unread returns, after the end of the stream, the number of bytes that were read beyond it.
func (r *Reader) Unread() int { return r.left() / 8 }

// more inflates until the space is used up; io.EOF is the end of the last block.
func (r *Reader) more() (err error) {
	for err == nil && r.have < window+ahead {
		switch r.state {
		case atBlock:
			err = r.block()
		case inStored:
			err = r.copyStored()
		case inCodes:
			err = r.codes()
		default:
			return io.EOF
		}
	}
	if err != nil && r.overdrawn() {
		return r.ended()
	}
	return err
}

// verify compares the checksum after the last block.
func (r *Reader) verify() error {
	r.drop(r.count % 8)
	var want uint32
	for range 4 {
		b, err := r.take(8)
		if err != nil {
			return err
		}
		want = want<<8 | uint32(b)
	}
	if want != r.sum.sum() {
		return ErrChecksum
	}
	return io.EOF
}

// refill makes at least 8 bytes available from at on. At the end of the input it appends zeros, the use of which
// overdrawn detects.
func (r *Reader) refill() error {
	if len(r.in)-r.at >= 8 {
		return nil
	}
	if r.padded {
		// Less than 8 bytes of padding are left, and bits holds at most 8 more.
		return r.ended()
	}
	// The bytes in bits are kept as well, because a stored block returns them.
	from := max(r.at-8, 0)
	n := copy(r.in[:inputBytes], r.in[from:])
	r.in, r.at = r.in[:n], r.at-from
	for len(r.in)-r.at < 8 && r.srcErr == nil {
		var k int
		k, r.srcErr = r.src.Read(r.in[len(r.in):inputBytes])
		r.in = r.in[:len(r.in)+k]
	}
	if len(r.in)-r.at < 8 {
		r.padded = true
		r.in = r.in[:len(r.in)+padding]
		clear(r.in[len(r.in)-padding:])
	}
	return nil
}

// overdrawn reports whether bits of the padding have been used.
func (r *Reader) overdrawn() bool { return r.left() < 0 }

// left returns the number of remaining bits of the input in memory; it is negative if bits of the padding were used.
func (r *Reader) left() int {
	end := len(r.in)
	if r.padded {
		end -= padding
	}
	return 8*(end-r.at) + int(r.count)
}

// ended returns the error for truncated input.
func (r *Reader) ended() error {
	if r.srcErr != nil && r.srcErr != io.EOF {
		return r.srcErr
	}
	return io.ErrUnexpectedEOF
}

// fill makes at least 56 bits available.
func (r *Reader) fill() error {
	if err := r.refill(); err != nil {
		return err
	}
	r.bits |= binary.LittleEndian.Uint64(r.in[r.at:]) << r.count
	r.at += int(63-r.count) >> 3
	r.count |= 56
	return nil
}

func (r *Reader) drop(n uint) {
	r.bits >>= n
	r.count -= n
}

// take returns the next n ≤ 32 bits.
func (r *Reader) take(n uint) (uint32, error) {
	if r.count < n {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	v := uint32(r.bits & (1<<n - 1))
	r.drop(n)
	if r.overdrawn() {
		return 0, r.ended()
	}
	return v, nil
}

// block begins the next block (RFC 1951, 3.2.3).
func (r *Reader) block() error {
	if r.final {
		r.state = atEnd
		return nil
	}
	head, err := r.take(3)
	if err != nil {
		return err
	}
	r.final = head&1 != 0
	switch head >> 1 {
	case 0:
		return r.beginStored()
	case 1:
		r.fixed()
	case 2:
		if err := r.dynamic(); err != nil {
			return err
		}
	default:
		return ErrCorrupt
	}
	r.state = inCodes
	return nil
}

// beginStored reads the length of a stored block (3.2.4) and returns the bytes in bits to the input.
func (r *Reader) beginStored() error {
	r.drop(r.count % 8)
	size, err := r.take(32)
	if err != nil {
		return err
	}
	if size&0xffff != ^size>>16 {
		return ErrCorrupt
	}
	r.at -= int(r.count / 8)
	r.bits, r.count = 0, 0
	r.stored, r.state = int(size&0xffff), inStored
	return nil
}

func (r *Reader) copyStored() error {
	for r.stored > 0 && r.have < window+ahead {
		if err := r.refill(); err != nil {
			return err
		}
		end := len(r.in)
		if r.padded {
			end -= padding
		}
		if r.at >= end {
			return r.ended()
		}
		n := copy(r.out[r.have:window+ahead], r.in[r.at:min(end, r.at+r.stored)])
		r.at, r.have, r.stored = r.at+n, r.have+n, r.stored-n
	}
	if r.stored == 0 {
		r.state = atBlock
	}
	return nil
}

// codes inflates coded data to the end of the block, of the input in memory, or of the output space.
func (r *Reader) codes() error {
	lit, dist := &r.literals, &r.distance
	for r.have < window+ahead {
		if err := r.refill(); err != nil {
			return err
		}
		in, out, bits, count, at, have := r.in, r.out, r.bits, r.count, r.at, r.have
		result, taken := going, uint32(0)
	fast:
		for have < window+ahead && at+8 <= len(in) {
			bits |= binary.LittleEndian.Uint64(in[at:]) << (count & 63)
			at += int(63-count) >> 3
			count |= 56
			// Four lookups take at most 4·primaryBits = 48 bits.
			e := lit.primary[bits&(1<<primaryBits-1)]
			for k := 0; k < 3 && e >= literalEntry; k++ {
				binary.LittleEndian.PutUint16(out[have:], uint16(e>>8))
				have += int(e >> 24 & 3)
				bits >>= e & 63
				count -= uint(e & 63)
				e = lit.primary[bits&(1<<primaryBits-1)]
			}
			if e >= literalEntry {
				binary.LittleEndian.PutUint16(out[have:], uint16(e>>8))
				have += int(e >> 24 & 3)
				bits >>= e & 63
				count -= uint(e & 63)
				continue
			}
			if count < 48 {
				if at+8 > len(in) {
					break
				}
				bits |= binary.LittleEndian.Uint64(in[at:]) << (count & 63)
				at += int(63-count) >> 3
				count |= 56
			}
			if e&subEntry != 0 {
				e = lit.sub[(e>>8&0xfff+uint32(bits>>primaryBits)&uint32(lit.subMask))%subSize]
				if e >= literalEntry {
					out[have] = uint8(e >> 8)
					have++
					bits >>= e & 63
					count -= uint(e & 63)
					continue
				}
			}
			// A length: the entry holds the base length, the number of extra bits, and the number of all its bits.
			extra := e >> 24 & 7
			length := int(e>>8&0x1ff) + int(bits>>(e&63-extra)&(1<<extra-1))
			bits >>= e & 63
			count -= uint(e & 63)
			switch {
			case e&endEntry != 0:
				result = blockEnd
				break fast
			case length == 0:
				result, taken = corrupt, e&63
				break fast
			}
			d := dist.primary[bits&(1<<distanceBits-1)]
			if d&subEntry != 0 {
				d = dist.sub[(d>>8&0xfff+uint32(bits>>distanceBits)&uint32(dist.subMask))%distanceSub]
			}
			extra = d >> 24 & 15
			back := int(d>>8&0xffff) + int(bits>>(d&63-extra)&(1<<extra-1))
			bits >>= d & 63
			count -= uint(d & 63)
			if back == 0 || back > have {
				result, taken = corrupt, e&63+d&63
				break
			}
			have = repeat(out, have, back, length)
		}
		r.bits, r.count, r.at, r.have = bits, count, at, have
		switch result {
		case corrupt:
			// A code shorter than the end-of-block code means truncated input.
			if r.padded && r.left()+int(taken) < int(r.endBits) {
				return r.ended()
			}
			return ErrCorrupt
		case blockEnd:
			r.state = atBlock
			if r.overdrawn() {
				return r.ended()
			}
			return nil
		}
	}
	return nil
}

// The ways in which the inner loop of codes ends.
const (
	going = iota
	blockEnd
	corrupt
)

// repeat appends length bytes from back bytes before have, and returns the new end. It may write spare bytes beyond.
func repeat(out []byte, have, back, length int) int {
	end := have + length
	if back >= 8 {
		// Eight bytes at a time never overlap.
		for at := have; at < end; at += 8 {
			binary.LittleEndian.PutUint64(out[at:], binary.LittleEndian.Uint64(out[at-back:]))
		}
		return end
	}
	// A repeating pattern doubles with each copy.
	from := have - back
	for have < end {
		have += copy(out[have:end], out[from:have])
	}
	return end
}
