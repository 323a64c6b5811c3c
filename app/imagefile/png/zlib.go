package png

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io"
	"math/bits"
)

// zlibReader inflates a zlib stream (RFC 1950, 1951). Pictures are mostly literals, for which the reader of the standard
// library, made to take one byte of its input at a time, needs several times as long.
type zlibReader struct {
	src io.Reader
	// in[at:end] is unread input, behind which in has at least loadBytes more. ended says that src has no more; then those
	// are zero, and at may run past end: overrun tells when zeros were used that are none of the input.
	in      []byte
	at, end int
	ended   bool
	// acc holds the next count bits of input, the first at the bottom; what is above them comes again with in[at:].
	acc   uint64
	count uint

	// out is windowBytes of history and then what is new; out[given:filled] has yet to be read. Of the history, the last
	// known bytes are output.
	out           []byte
	given, filled int
	known         int
	sum           uint32
	err           error

	// final says that the block being read is the last; stored is what remains of it if it is not compressed.
	state  blockState
	final  bool
	stored int
	litlen []entry
	dist   []entry
}

type blockState uint8

const (
	betweenBlocks blockState = iota
	inStored
	inHuffman
)

var (
	errCorrupt  = errors.New("corrupt deflate stream")
	errChecksum = errors.New("wrong Adler-32")
)

const (
	loadBytes   = 8
	inputBytes  = 1 << 16
	outputBytes = 1 << 17
	maxMatch    = 258
	// maxCode is the length of the longest code. Codes longer than litlenBits or distBits go through a second table.
	maxCode    = 15
	litlenBits = 11
	distBits   = 8
)

// newZlibReader reads the header of the stream.
func newZlibReader(src io.Reader) (*zlibReader, error) {
	z := &zlibReader{
		src: src, in: make([]byte, inputBytes+loadBytes), sum: 1,
		out:    make([]byte, windowBytes+outputBytes+maxMatch),
		litlen: make([]entry, 1<<litlenBits, 1<<litlenBits+286<<(maxCode-litlenBits)),
		dist:   make([]entry, 1<<distBits, 1<<distBits+30<<(maxCode-distBits)),
	}
	z.given, z.filled = windowBytes, windowBytes
	if err := z.refill(); err != nil {
		return nil, err
	}
	cmf, flg := z.take(8), z.take(8)
	if z.overrun() {
		return nil, io.ErrUnexpectedEOF
	}
	// Method 8, a window of at most 32 KiB, no preset dictionary, and a check that makes it a multiple of 31.
	if cmf&15 != 8 || cmf>>4 > 7 || flg&0x20 != 0 || (cmf<<8|flg)%31 != 0 {
		return nil, errCorrupt
	}
	return z, nil
}

// Read implements io.Reader. It returns io.EOF only when the checksum was right.
func (z *zlibReader) Read(p []byte) (int, error) {
	for z.given == z.filled {
		if z.err != nil {
			return 0, z.err
		}
		copy(z.out[:windowBytes], z.out[z.filled-windowBytes:z.filled])
		z.known = min(z.known+z.filled-windowBytes, windowBytes)
		z.given, z.filled = windowBytes, windowBytes
		z.err = z.fill()
		fresh := z.out[windowBytes:z.filled]
		z.sum = adlerJoin(z.sum, adler32.Checksum(fresh), len(fresh))
		if z.err == io.EOF {
			z.err = z.finish()
		}
	}
	n := copy(p, z.out[z.given:z.filled])
	z.given += n
	return n, nil
}

// finish compares the checksum behind the last block and returns io.EOF where it is right.
func (z *zlibReader) finish() error {
	z.take(z.count & 7)
	if err := z.refill(); err != nil {
		return err
	}
	sum := bits.ReverseBytes32(uint32(z.take(32)))
	switch {
	case z.overrun():
		return io.ErrUnexpectedEOF
	case sum != z.sum:
		return errChecksum
	}
	return io.EOF
}

// refill makes sure that acc holds at least 56 bits.
func (z *zlibReader) refill() error {
	if z.end-z.at < loadBytes && !z.ended {
		if err := z.more(); err != nil {
			return err
		}
	}
	if z.at <= z.end {
		z.acc |= binary.LittleEndian.Uint64(z.in[z.at:]) << z.count
	} else if z.overrun() {
		return io.ErrUnexpectedEOF
	}
	z.at += int(63-z.count) >> 3
	z.count |= 56
	return nil
}

// more reads until at least loadBytes of input lie ahead, or all of it. What acc may hold stays in front of at, so that it
// can be given back.
func (z *zlibReader) more() error {
	behind := min(z.at, loadBytes)
	z.end = copy(z.in, z.in[z.at-behind:z.end])
	z.at = behind
	for z.end-z.at < loadBytes && !z.ended {
		n, err := z.src.Read(z.in[z.end:inputBytes])
		z.end += n
		if err == io.EOF {
			z.ended = true
			clear(z.in[z.end : z.end+loadBytes])
		} else if err != nil {
			return err
		}
	}
	return nil
}

// take returns the next n bits, which acc holds.
func (z *zlibReader) take(n uint) uint {
	v := z.acc & (1<<n - 1)
	z.acc >>= n
	z.count -= n
	return uint(v)
}

// overrun says that more bits were taken than the input has.
func (z *zlibReader) overrun() bool { return z.ended && 8*z.at-int(z.count) > 8*z.end }

// fill inflates until out is full or the stream ends, which is io.EOF.
func (z *zlibReader) fill() error {
	for z.filled < windowBytes+outputBytes {
		var err error
		switch z.state {
		case betweenBlocks:
			if z.final {
				return io.EOF
			}
			err = z.beginBlock()
		case inStored:
			err = z.copyStored()
		case inHuffman:
			err = z.decodeHuffman()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beginBlock reads the header of a block (RFC 1951, 3.2.3).
func (z *zlibReader) beginBlock() error {
	if err := z.refill(); err != nil {
		return err
	}
	z.final = z.take(1) == 1
	switch z.take(2) {
	case 0:
		// The block begins at a byte; what was loaded beyond is given back.
		z.take(z.count & 7)
		n, inverse := z.take(16), z.take(16)
		if z.overrun() {
			return io.ErrUnexpectedEOF
		}
		if n != ^inverse&0xffff {
			return errCorrupt
		}
		z.at -= int(z.count / 8)
		z.acc, z.count = 0, 0
		z.stored, z.state = int(n), inStored
		return nil
	case 1:
		z.state = inHuffman
		return z.fixedCodes()
	case 2:
		z.state = inHuffman
		return z.dynamicCodes()
	}
	return errCorrupt
}

// copyStored copies what is stored as it is.
func (z *zlibReader) copyStored() error {
	for z.stored > 0 {
		room := z.out[z.filled : windowBytes+outputBytes]
		if len(room) == 0 {
			return nil
		}
		if z.at >= z.end {
			if z.ended {
				return io.ErrUnexpectedEOF
			}
			if err := z.more(); err != nil {
				return err
			}
			continue
		}
		n := copy(room[:min(len(room), z.stored)], z.in[z.at:z.end])
		z.at += n
		z.filled += n
		z.stored -= n
	}
	z.state = betweenBlocks
	return nil
}

// entry of a table of codes: the length of the code in bits 0…3, the number of extra bits in 4…7, what it is in 8…11, and
// above 16 the literal, the smallest length or distance, or the place of the second table. Zero is no code.
type entry uint32

const (
	literal  entry = 1 << 8
	match    entry = 2 << 8
	endBlock entry = 3 << 8
	// longer: the code goes on in the second table.
	longer entry = 4 << 8

	kindMask entry = 15 << 8
)

// litlenEntry and distEntry are the entries of RFC 1951, 3.2.5, without lengths of codes.
func litlenEntry(symbol int) entry {
	switch {
	case symbol < 256:
		return literal | entry(symbol)<<16
	case symbol == 256:
		return endBlock
	case symbol < 265:
		return match | entry(symbol-254)<<16
	case symbol == 285:
		return match | maxMatch<<16
	case symbol > 285:
		return 0
	}
	extra := (symbol - 261) / 4
	return match | entry(3+(4+(symbol-261)%4)<<extra)<<16 | entry(extra)<<4
}

func distEntry(symbol int) entry {
	switch {
	case symbol < 4:
		return match | entry(symbol+1)<<16
	case symbol > 29:
		return 0
	}
	extra := symbol/2 - 1
	return match | entry(1+(2+symbol%2)<<extra)<<16 | entry(extra)<<4
}

// buildTable makes of the lengths of the codes (RFC 1951, 3.2.2) a table over the next bits of input, followed by second
// tables for longer codes. The table is one of 1<<width entries with room for the others behind it.
func buildTable(table []entry, width uint, lengths []uint8, of func(symbol int) entry) ([]entry, error) {
	table = table[:1<<width]
	clear(table)
	var counts [maxCode + 1]int
	for _, n := range lengths {
		counts[n]++
	}
	if counts[0] == len(lengths) {
		return table, nil // as a block without matches has no distances
	}
	counts[0] = 0
	var next [maxCode + 1]int
	code, free := 0, 1
	for n := 1; n <= maxCode; n++ {
		code = (code + counts[n-1]) << 1
		next[n] = code
		if free = free<<1 - counts[n]; free < 0 {
			return nil, errCorrupt
		}
	}
	// The only incomplete code that occurs is the single one of one bit.
	if free > 0 && (counts[1] != 1 || free != 1<<(maxCode-1)) {
		return nil, errCorrupt
	}
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		e := of(symbol) | entry(n)
		if e&kindMask == 0 {
			e = 0
		}
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		part, from, step := table[:1<<width], reversed, 1<<n
		if uint(n) > width {
			prefix := &table[reversed&(1<<width-1)]
			if *prefix == 0 {
				at := len(table)
				*prefix = longer | entry(at)<<16
				table = table[:at+1<<(maxCode-width)]
				clear(table[at:])
			}
			at := int(*prefix >> 16)
			part, from, step = table[at:at+1<<(maxCode-width)], reversed>>width, 1<<(uint(n)-width)
		}
		for i := from; i < len(part); i += step {
			part[i] = e
		}
	}
	return table, nil
}

// fixedCodes makes the tables of RFC 1951, 3.2.6.
func (z *zlibReader) fixedCodes() error {
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	var err error
	if z.litlen, err = buildTable(z.litlen, litlenBits, lengths[:], litlenEntry); err != nil {
		return err
	}
	for i := range 32 {
		lengths[i] = 5
	}
	z.dist, err = buildTable(z.dist, distBits, lengths[:32], distEntry)
	return err
}

// dynamicCodes reads the codes at the head of a block (RFC 1951, 3.2.7).
func (z *zlibReader) dynamicCodes() error {
	if err := z.refill(); err != nil {
		return err
	}
	litlens, dists, n := int(z.take(5))+257, int(z.take(5))+1, int(z.take(4))+4
	if litlens > 286 || dists > 30 {
		return errCorrupt
	}
	var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	var lengths [286 + 30]uint8
	for _, i := range order[:n] {
		if z.count < 3 {
			if err := z.refill(); err != nil {
				return err
			}
		}
		lengths[i] = uint8(z.take(3))
	}
	const width = 7
	table, err := buildTable(make([]entry, 1<<width), width, lengths[:19],
		func(symbol int) entry { return literal | entry(symbol)<<16 })
	if err != nil {
		return err
	}
	clear(lengths[:19])
	for i := 0; i < litlens+dists; {
		if err := z.refill(); err != nil {
			return err
		}
		e := table[z.acc&(1<<width-1)]
		if e == 0 {
			return errCorrupt
		}
		z.take(uint(e & 15))
		value, times := uint8(e>>16), 1
		switch value {
		case 16:
			if i == 0 {
				return errCorrupt
			}
			value, times = lengths[i-1], 3+int(z.take(2))
		case 17:
			value, times = 0, 3+int(z.take(3))
		case 18:
			value, times = 0, 11+int(z.take(7))
		}
		if i+times > litlens+dists {
			return errCorrupt
		}
		for range times {
			lengths[i] = value
			i++
		}
	}
	if z.overrun() {
		return io.ErrUnexpectedEOF
	}
	if lengths[256] == 0 {
		return errCorrupt // the block could not end
	}
	if z.litlen, err = buildTable(z.litlen, litlenBits, lengths[:litlens], litlenEntry); err != nil {
		return err
	}
	z.dist, err = buildTable(z.dist, distBits, lengths[litlens:litlens+dists], distEntry)
	return err
}

// decodeHuffman decodes codes until the block ends or out is full.
func (z *zlibReader) decodeHuffman() error {
	const (
		litlenMask = 1<<litlenBits - 1
		distMask   = 1<<distBits - 1
		full       = windowBytes + outputBytes
	)
	// All that changes with every code is kept in local variables, which the compiler keeps in registers.
	litlen, dist, out := z.litlen, z.dist, z.out
	acc, count, at, o := z.acc, z.count, z.at, z.filled
	for o < full {
		if z.end-at >= loadBytes {
			acc |= binary.LittleEndian.Uint64(z.in[at:]) << (count & 63)
			at += int(63-count) >> 3
			count |= 56
		} else {
			z.acc, z.count, z.at = acc, count, at
			if err := z.refill(); err != nil {
				return err
			}
			acc, count, at = z.acc, z.count, z.at
		}
		e := litlen[acc&litlenMask]
		// Two literals are taken at once, and a match after one of them if what was loaded holds all of it: two codes of at
		// most 15 bits, 5 and 13 extra bits.
		if e&kindMask == literal {
			acc >>= e & 15
			count -= uint(e & 15)
			out[o] = byte(e >> 16)
			o++
			e = litlen[acc&litlenMask]
			if e&kindMask == literal {
				acc >>= e & 15
				count -= uint(e & 15)
				out[o] = byte(e >> 16)
				o++
				continue
			}
			if count < 48 {
				continue
			}
		}
		if e&kindMask == longer {
			e = litlen[int(e>>16)+int(acc>>litlenBits&(1<<(maxCode-litlenBits)-1))]
		}
		acc >>= e & 15
		count -= uint(e & 15)
		switch e & kindMask {
		case literal:
			out[o] = byte(e >> 16)
			o++
			continue
		case endBlock:
			z.acc, z.count, z.at, z.filled = acc, count, at, o
			z.state = betweenBlocks
			if z.overrun() {
				return io.ErrUnexpectedEOF
			}
			return nil
		case match:
		default:
			return errCorrupt
		}
		extra := uint(e >> 4 & 15)
		length := int(e>>16) + int(acc&(1<<extra-1))
		acc >>= extra
		count -= extra

		e = dist[acc&distMask]
		if e&kindMask == longer {
			e = dist[int(e>>16)+int(acc>>distBits&(1<<(maxCode-distBits)-1))]
		}
		if e == 0 {
			return errCorrupt
		}
		acc >>= e & 15
		count -= uint(e & 15)
		extra = uint(e >> 4 & 15)
		back := int(e>>16) + int(acc&(1<<extra-1))
		acc >>= extra
		count -= extra
		from := o - back
		if from < windowBytes-z.known {
			return errCorrupt
		}
		end := o + length
		for o < end { // each round doubles what a reference into its own output can copy
			o += copy(out[o:end], out[from:o])
		}
	}
	z.acc, z.count, z.at, z.filled = acc, count, at, o
	return nil
}
