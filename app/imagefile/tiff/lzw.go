package tiff

// LZW as in TIFF 6.0, section 13: codes of 9 to 12 bits, most significant bit first, which grow one code earlier than
// in other formats. Package golang.org/x/image/tiff/lzw has a reader but no writer.
const (
	lzwClear   = 256
	lzwEnd     = 257
	lzwFirst   = 258
	lzwCodes   = 4096
	lzwMinBits = 9
)

// lzwWriter writes a stream of codes. Strings are looked up in a hash table of prefix and byte, with open addressing.
type lzwWriter struct {
	out   []byte
	acc   uint32
	nbits uint
	width uint
	next  int
	// last is the code of the string so far, −1 before the first byte.
	last int
	// A used entry of the table holds its key, prefix and byte, plus one.
	keys  [lzwHash]uint32
	codes [lzwHash]uint16
}

const lzwHash = 1 << 14

// reset begins another stream, appended to out.
func (w *lzwWriter) reset(out []byte) {
	w.out, w.acc, w.nbits, w.width, w.last = out, 0, 0, lzwMinBits, -1
	w.clear()
}

func (w *lzwWriter) clear() {
	w.emit(lzwClear)
	w.width, w.next = lzwMinBits, lzwFirst
	w.keys = [lzwHash]uint32{}
}

func (w *lzwWriter) emit(code int) {
	w.acc = w.acc<<w.width | uint32(code)
	w.nbits += w.width
	for w.nbits >= 8 {
		w.nbits -= 8
		w.out = append(w.out, byte(w.acc>>w.nbits))
	}
}

// write adds p to the stream.
func (w *lzwWriter) write(p []byte) {
	if w.last < 0 && len(p) > 0 {
		w.last, p = int(p[0]), p[1:]
	}
	for _, b := range p {
		key := uint32(w.last)<<8 | uint32(b)
		at := key * 0x9e3779b1 >> (32 - 14)
		for w.keys[at] != 0 && w.keys[at] != key+1 {
			at = (at + 1) % lzwHash
		}
		if w.keys[at] != 0 {
			w.last = int(w.codes[at])
			continue
		}
		w.emit(w.last)
		w.keys[at], w.codes[at] = key+1, uint16(w.next)
		w.grow()
		w.last = int(b)
	}
}

// grow counts a string that was added to the table, as the reader does. The table is cleared two codes before it is
// full, as in libtiff, so that no reader has to grow codes to 13 bits.
func (w *lzwWriter) grow() {
	w.next++
	switch {
	case w.next == lzwCodes-2:
		w.clear()
	case w.next == 1<<w.width:
		w.width++
	}
}

// finish ends the stream and returns it.
func (w *lzwWriter) finish() []byte {
	if w.last >= 0 {
		w.emit(w.last)
		w.grow()
	}
	w.emit(lzwEnd)
	if w.nbits > 0 {
		w.out = append(w.out, byte(w.acc<<(8-w.nbits)))
	}
	return w.out
}
