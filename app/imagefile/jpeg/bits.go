package jpeg

import "errors"

// errCorrupt is the error for undecodable coefficients; Rewrite converts it to a fault.
var errCorrupt = errors.New("corrupt entropy-coded data")

// bitReader reads entropy-coded data (F.2.2.5) up to the next marker.
type bitReader struct {
	data []byte
	at   int
	// acc holds count bits at its bottom.
	acc   uint64
	count uint
	// missing is the number of them that are zeros appended to the data.
	missing uint
}

// fill makes at least 32 bits available.
func (r *bitReader) fill() {
	for r.count <= 56 {
		b := byte(0)
		switch {
		case r.at >= len(r.data):
			r.missing += 8
		case r.data[r.at] != 0xff:
			b = r.data[r.at]
			r.at++
		case r.at+1 < len(r.data) && r.data[r.at+1] == 0:
			b = 0xff
			r.at += 2
		default: // a marker
			r.missing += 8
		}
		r.acc = r.acc<<8 | uint64(b)
		r.count += 8
	}
}

// bits returns the next n bits, at most 16.
func (r *bitReader) bits(n uint) int32 {
	if r.count < n {
		r.fill()
	}
	r.count -= n
	return int32(r.acc >> r.count & (1<<n - 1))
}

// signed reads a number of n bits, extended as in F.2.2.1.
func (r *bitReader) signed(n uint) int32 {
	if n == 0 {
		return 0
	}
	v := r.bits(n)
	if v < 1<<(n-1) {
		v -= 1<<n - 1
	}
	return v
}

// symbol decodes the next code.
func (r *bitReader) symbol(t *decodeTable) (uint8, error) {
	if r.count < 16 {
		r.fill()
	}
	if e := t.short[r.acc>>(r.count-shortBits)&(1<<shortBits-1)]; e != 0 {
		r.count -= uint(e >> 8)
		t.seen[uint8(e)] = true
		return uint8(e), nil
	}
	for n := uint(shortBits + 1); n <= 16; n++ {
		code := int32(r.acc >> (r.count - n) & (1<<n - 1))
		if code < t.limit[n] {
			r.count -= n
			s := t.symbols[code+t.offset[n]]
			t.seen[s] = true
			return s, nil
		}
	}
	return 0, errCorrupt
}

// overrun reports whether more bits were used than the data have.
func (r *bitReader) overrun() bool { return r.missing > r.count }

// check returns an error if more bits were used than the data have.
func (r *bitReader) check() error {
	if r.overrun() {
		return errCorrupt
	}
	return nil
}

// align drops the bits that fill the last byte. Whole bytes that remain are zeros after a marker, or unused data.
func (r *bitReader) align() { r.acc, r.count, r.missing = 0, 0, 0 }

// shortBits is the maximum length of codes decoded with a single lookup.
const shortBits = 9

// decodeTable decodes Huffman codes (F.2.2.3).
type decodeTable struct {
	// short has the length of the code in its upper and the symbol in its lower byte; 0 for longer codes.
	short [1 << shortBits]uint16
	// limit is one more than the greatest code of each length; offset maps codes to symbols.
	limit, offset [17]int32
	symbols       []byte
	// seen are the symbols that occurred.
	seen [256]bool
}

// newDecodeTable makes a table of the numbers of codes of the lengths 1…16 and of their symbols (C.2).
func newDecodeTable(counts, symbols []byte) (*decodeTable, error) {
	t := &decodeTable{symbols: symbols}
	code, k := int32(0), int32(0)
	for n := 1; n <= 16; n++ {
		t.offset[n] = k - code
		for range counts[n-1] {
			if n <= shortBits {
				from := code << (shortBits - n)
				for i := range int32(1) << (shortBits - n) {
					if from+i >= 1<<shortBits {
						return nil, errCorrupt
					}
					t.short[from+i] = uint16(n)<<8 | uint16(symbols[k])
				}
			}
			code++
			k++
		}
		if code > 1<<n {
			return nil, errCorrupt
		}
		t.limit[n] = code
		code <<= 1
	}
	return t, nil
}

// bitWriter writes entropy-coded data, or, while it is counting, only counts how often each symbol occurs.
type bitWriter struct {
	out      []byte
	acc      uint64
	count    uint
	counting bool
}

// bits writes the lowest n bits of v, at most 32.
func (w *bitWriter) bits(v uint32, n uint) {
	if w.counting || n == 0 {
		return
	}
	w.acc = w.acc<<n | uint64(v)&(1<<n-1)
	for w.count += n; w.count >= 8; {
		w.count -= 8
		b := byte(w.acc >> w.count)
		w.out = append(w.out, b)
		if b == 0xff {
			w.out = append(w.out, 0)
		}
	}
}

// symbol writes the code of a symbol.
func (w *bitWriter) symbol(t *encodeTable, s uint8) {
	if w.counting {
		t.frequency[s]++
		return
	}
	w.bits(uint32(t.code[s]), uint(t.length[s]))
}

// align fills the last byte with ones (F.1.2.3).
func (w *bitWriter) align() {
	if w.count > 0 {
		w.bits(0xff, 8-w.count)
	}
}

// encodeTable is a Huffman table optimised for the data to encode.
type encodeTable struct {
	frequency [256]int64
	code      [256]uint16
	length    [256]uint8
	// counts and symbols are as DHT stores them; no symbols: the table is not used.
	counts  [16]byte
	symbols []byte
}

// build constructs the code from the frequencies (K.2).
func (t *encodeTable) build() {
	const (
		// reserved stands for the code of all ones, which must not occur.
		reserved  = 256
		maxLength = 16
	)
	var frequency [reserved + 1]int64
	copy(frequency[:], t.frequency[:])
	frequency[reserved] = 1
	var size, next [reserved + 1]int
	for i := range next {
		next[i] = -1
	}
	for {
		// The two least frequent trees become one; of equals, the later symbols first.
		a, b := -1, -1
		for i, f := range frequency {
			switch {
			case f == 0:
			case a < 0 || f <= frequency[a]:
				a, b = i, a
			case b < 0 || f <= frequency[b]:
				b = i
			}
		}
		if b < 0 {
			break
		}
		frequency[a] += frequency[b]
		frequency[b] = 0
		end := a
		for i := a; i >= 0; i = next[i] {
			size[i]++
			end = i
		}
		next[end] = b
		for i := b; i >= 0; i = next[i] {
			size[i]++
		}
	}
	var counts [reserved + 2]int
	for _, n := range size {
		if n > 0 {
			counts[n]++
		}
	}
	// Pairs of codes that are too long take the place of one, and its symbol goes down beside a shorter one (figure
	// K.3).
	for n := len(counts) - 1; n > maxLength; n-- {
		for counts[n] > 0 {
			j := n - 2
			for counts[j] == 0 {
				j--
			}
			counts[n] -= 2
			counts[n-1]++
			counts[j+1] += 2
			counts[j]--
		}
	}
	longest := maxLength
	for counts[longest] == 0 {
		longest--
	}
	counts[longest]--

	t.symbols = t.symbols[:0]
	for n := 1; n <= reserved; n++ {
		for s := range reserved {
			if size[s] == n {
				t.symbols = append(t.symbols, byte(s))
			}
		}
	}
	code, k := uint16(0), 0
	for n := 1; n <= maxLength; n++ {
		t.counts[n-1] = byte(counts[n])
		for range counts[n] {
			t.code[t.symbols[k]], t.length[t.symbols[k]] = code, uint8(n)
			code++
			k++
		}
		code <<= 1
	}
}
