package inflate

import "math/bits"

const (
	// primaryBits and distanceBits are the numbers of bits in the first lookup of a code. Longer codes, of up to 15
	// bits, take a second one, whose tables lie in one piece: each has 2^(longest code − first bits) entries, for a
	// prefix that at least two codes share.
	primaryBits, distanceBits = 12, 9
	subSize, distanceSub      = 2048, 1024
	longestCode               = 15
	literalCodes              = 288
	distanceCodes             = 32
	// maxLiterals and maxDistances are the maximum numbers of codes in a block.
	maxLiterals, maxDistances = 286, 30
	endOfBlock                = 256
)

// The lowest six bits of an entry are its length in bits. An invalid code has only these, so that a stream that ends
// within it counts as truncated rather than corrupt. Other entries contain
//
//	literals   from bit 8 one or two bytes, at bit 24 how many, literalEntry
//	length     from bit 8 the base of 9 bits, at bit 24 the number of its extra bits, which are among those it takes
//	distance   from bit 8 the base of 16 bits, at bit 24 the number of its extra bits
//	end        endEntry
//	sub-table  from bit 8 its beginning, subEntry
const (
	literalEntry = 1 << 31
	endEntry     = 1 << 6
	subEntry     = 1 << 7
)

type literalTable struct {
	primary [1 << primaryBits]uint32
	single  [1 << primaryBits]uint32
	sub     [subSize]uint32
	subMask uint32
}

type distanceTable struct {
	primary [1 << distanceBits]uint32
	sub     [distanceSub]uint32
	subMask uint32
}

// build makes the tables of the canonical code with the given lengths (RFC 1951, 3.2.2); entry returns the table entry
// of a symbol whose code has n bits. The codes must use all bit patterns, with two exceptions: a single code of one
// bit, and no code at all. build returns the mask of the bits that index sub-tables.
func build(primary, sub []uint32, lengths []uint8, entry func(symbol int, n uint32) uint32) (mask uint32, ok bool) {
	var number [longestCode + 1]int
	most := 0
	for _, n := range lengths {
		number[n]++
		most = max(most, int(n))
	}
	number[0] = 0
	clear(primary)
	if most == 0 {
		return 0, true
	}
	if number[1] == 1 && most == 1 {
		for i := range primary {
			primary[i] = 1
		}
	}
	var next [longestCode + 2]int
	code := 0
	for n := 1; n <= most; n++ {
		code <<= 1
		next[n] = code
		code += number[n]
	}
	if code != 1<<most && !(code == 1 && most == 1) {
		return 0, false
	}
	first := bits.Len(uint(len(primary))) - 1
	subBits := max(most-first, 0)
	used := 0
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		code := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		if int(n) <= first {
			e := entry(symbol, uint32(n))
			for i := code; i < len(primary); i += 1 << n {
				primary[i] = e
			}
			continue
		}
		prefix := code & (len(primary) - 1)
		if primary[prefix] == 0 {
			primary[prefix] = uint32(used)<<8 | subEntry
			clear(sub[used : used+1<<subBits])
			used += 1 << subBits
		}
		e := entry(symbol, uint32(n))
		table := sub[primary[prefix]>>8:][:1<<subBits]
		for i := code >> first; i < len(table); i += 1 << (int(n) - first) {
			table[i] = e
		}
	}
	return 1<<subBits - 1, true
}

// literalOf returns the entry of a symbol of literals and lengths.
func literalOf(symbol int, n uint32) uint32 {
	switch {
	case symbol < endOfBlock:
		return literalEntry | 1<<24 | uint32(symbol)<<8 | n
	case symbol == endOfBlock:
		return endEntry | n
	case symbol >= maxLiterals:
		return n
	}
	base, extra := lengthOf(symbol)
	return extra<<24 | base<<8 | (n + extra)
}

// lengthOf returns the smallest length of a symbol, and the number of extra bits added to it (3.2.5).
func lengthOf(symbol int) (base, extra uint32) {
	i := uint32(symbol - endOfBlock - 1)
	switch {
	case i < 8:
		return 3 + i, 0
	case symbol == maxLiterals-1:
		return longest, 0
	}
	extra = i/4 - 1
	return 3 + (4+i%4)<<extra, extra
}

// distanceOf returns the entry of a distance symbol (3.2.5).
func distanceOf(symbol int, n uint32) uint32 {
	i := uint32(symbol)
	switch {
	case symbol >= maxDistances:
		return n
	case i < 4:
		return (1+i)<<8 | n
	}
	extra := i/2 - 1
	return extra<<24 | (1+(2+i%2)<<extra)<<8 | (n + extra)
}

// build makes the table; if the next two codes are short literals, one lookup returns both.
func (t *literalTable) build(lengths []uint8) (ok bool) {
	if t.subMask, ok = build(t.single[:], t.sub[:], lengths, literalOf); !ok {
		return false
	}
	for i, e := range &t.single {
		if e >= literalEntry {
			n := e & 63
			if f := t.single[i>>n]; f >= literalEntry && n+f&63 <= primaryBits {
				e = literalEntry | 2<<24 | f&0xff00<<8 | e&0xff00 | (n + f&63)
			}
		}
		t.primary[i] = e
	}
	return true
}

func (t *distanceTable) build(lengths []uint8) (ok bool) {
	t.subMask, ok = build(t.primary[:], t.sub[:], lengths, distanceOf)
	return ok
}

// fixed sets up the codes of 3.2.6.
func (r *Reader) fixed() {
	var lengths [literalCodes]uint8
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
	r.literals.build(lengths[:])
	r.endBits = lengths[endOfBlock]
	for i := range distanceCodes {
		lengths[i] = 5
	}
	r.distance.build(lengths[:distanceCodes])
}

// lengthOrder is the order in which the lengths of the codes of lengths are given (3.2.7).
const lengthOrder = "\x10\x11\x12\x00\x08\x07\x09\x06\x0a\x05\x0b\x04\x0c\x03\x0d\x02\x0e\x01\x0f"

// dynamic reads the codes of a block (3.2.7).
func (r *Reader) dynamic() error {
	head, err := r.take(14)
	if err != nil {
		return err
	}
	literals, distances, given := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if literals > maxLiterals || distances > maxDistances {
		return ErrCorrupt
	}
	var lengths [literalCodes + distanceCodes]uint8
	for i := range given {
		n, err := r.take(3)
		if err != nil {
			return err
		}
		lengths[lengthOrder[i]] = uint8(n)
	}
	// The codes for code lengths have at most 7 bits.
	const valid = 1 << 16
	var table [1 << 7]uint32
	if _, ok := build(table[:], nil, lengths[:19], func(symbol int, n uint32) uint32 {
		return valid | uint32(symbol)<<8 | n
	}); !ok {
		return ErrCorrupt
	}
	clear(lengths[:19])
	for i := 0; i < literals+distances; {
		// The longest take 7 + 7 bits.
		if r.count < 14 {
			if err := r.fill(); err != nil {
				return err
			}
		}
		e := table[r.bits&(1<<7-1)]
		r.drop(uint(e & 63))
		if e < valid {
			return ErrCorrupt
		}
		value, times := uint8(e>>8), 1
		switch value {
		case 16:
			if i == 0 {
				return ErrCorrupt
			}
			value, times = lengths[i-1], 3+r.few(2)
		case 17:
			value, times = 0, 3+r.few(3)
		case 18:
			value, times = 0, 11+r.few(7)
		}
		if i+times > literals+distances {
			return ErrCorrupt
		}
		for ; times > 0; times-- {
			lengths[i] = value
			i++
		}
	}
	if r.overdrawn() {
		return r.ended()
	}
	if !r.literals.build(lengths[:literals]) || !r.distance.build(lengths[literals:literals+distances]) {
		return ErrCorrupt
	}
	r.endBits = lengths[endOfBlock]
	return nil
}

// few returns n bits that must be available.
func (r *Reader) few(n uint) int {
	v := int(r.bits & (1<<n - 1))
	r.drop(n)
	return v
}
