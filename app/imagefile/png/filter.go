package png

import (
	"bytes"
	"encoding/binary"

	"blik/app/imagefile/container"
)

// The filter types (9.2).
const (
	filterNone = iota
	filterSub
	filterUp
	filterAverage
	filterPaeth
)

// unfilter reverses the filter of a row in place. above is the previous row, all zero for the first, and bpp the
// distance to the byte on the left.
func unfilter(kind uint8, row, above []byte, bpp int) error {
	above = above[:len(row)]
	switch kind {
	case filterNone:
	case filterSub:
		for i := bpp; i < len(row); i++ {
			row[i] += row[i-bpp]
		}
	case filterUp:
		i := 0
		for ; i+8 <= len(row); i += 8 {
			binary.LittleEndian.PutUint64(row[i:],
				addBytes(binary.LittleEndian.Uint64(row[i:]), binary.LittleEndian.Uint64(above[i:])))
		}
		for ; i < len(row); i++ {
			row[i] += above[i]
		}
	case filterAverage:
		for i := range min(bpp, len(row)) {
			row[i] += above[i] / 2
		}
		for i := bpp; i < len(row); i++ {
			row[i] += uint8((int(row[i-bpp]) + int(above[i])) / 2)
		}
	case filterPaeth:
		unfilterPaeth(row, above, bpp)
	default:
		return container.Damaged("a row has an unknown filter")
	}
	return nil
}

func unfilterPaeth(row, above []byte, bpp int) {
	// Each byte depends on the one to its left. Three channels side by side are three independent chains, which a
	// processor computes in parallel. For other counts, channel by channel at least keeps left and upper left in
	// registers.
	switch bpp {
	case 3:
		var a0, a1, a2, c0, c1, c2 int
		for ; len(row) >= 3 && len(above) >= 3; row, above = row[3:], above[3:] {
			b0, b1, b2 := int(above[0]), int(above[1]), int(above[2])
			a0 = (predict(a0, b0, c0) + int(row[0])) & 0xff
			a1 = (predict(a1, b1, c1) + int(row[1])) & 0xff
			a2 = (predict(a2, b2, c2) + int(row[2])) & 0xff
			row[0], row[1], row[2] = uint8(a0), uint8(a1), uint8(a2)
			c0, c1, c2 = b0, b1, b2
		}
	default:
		for k := range min(bpp, len(row)) {
			a, c := 0, 0
			for i := k; i < len(row); i += bpp {
				b := int(above[i])
				a = (predict(a, b, c) + int(row[i])) & 0xff
				row[i] = uint8(a)
				c = b
			}
		}
	}
}

// predict is Paeth's predictor: whichever of left, above and upper left is nearest to left + above − upper left.
func predict(a, b, c int) int {
	pa, pb := b-c, a-c
	pc := pa + pb
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	if pa <= pb && pa <= pc {
		return a
	}
	if pb <= pc {
		return b
	}
	return c
}

// addBytes and subtractBytes work on the eight bytes of a word in parallel. Top bits are computed separately, so that
// no carry reaches the next byte.
const topBits = 0x8080808080808080

func addBytes(x, y uint64) uint64 { return (x&^topBits + y&^topBits) ^ (x^y)&topBits }

func subtractBytes(x, y uint64) uint64 { return (x | topBits - y&^topBits) ^ (x^^y)&topBits }

// subtract writes a − b into dst, byte by byte.
func subtract(dst, a, b []byte) {
	n := len(dst)
	a, b = a[:n], b[:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:],
			subtractBytes(binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])))
	}
	for ; i < n; i++ {
		dst[i] = a[i] - b[i]
	}
}

// filter returns the filtered line of a row, filter type first, in the memory of dst.
func filter(dst []byte, kind uint8, row, above []byte, bpp int) []byte {
	dst = append(append(dst[:0], kind), row...)
	line, above := dst[1:], above[:len(row)]
	first := min(bpp, len(row))
	switch kind {
	case filterSub:
		subtract(line[first:], row[first:], row)
	case filterUp:
		subtract(line, row, above)
	case filterAverage:
		for i := range first {
			line[i] -= above[i] / 2
		}
		for i := bpp; i < len(row); i++ {
			line[i] -= uint8((int(row[i-bpp]) + int(above[i])) / 2)
		}
	case filterPaeth:
		for i := range first {
			line[i] -= above[i]
		}
		for i := bpp; i < len(row); i++ {
			// If left and upper left are equal, the prediction is the pixel above. In masks that holds almost
			// everywhere.
			for i+8 <= len(row) && equalWords(row[i-bpp:], above[i-bpp:]) && equalWords(row[i:], above[i:]) {
				clear(line[i : i+8])
				i += 8
			}
			if i < len(row) {
				line[i] -= uint8(predict(int(row[i-bpp]), int(above[i]), int(above[i-bpp])))
			}
		}
	}
	return dst
}

// equalWords compares the first eight bytes. A pixel has at most eight.
func equalWords(a, b []byte) bool {
	return binary.LittleEndian.Uint64(a) == binary.LittleEndian.Uint64(b)
}

// costOf returns the sum of the absolute values of a filtered line.
func costOf(line []byte) int {
	const ones, pairs = 0x0101010101010101, 0x00ff00ff00ff00ff
	cost, i := 0, 0
	for i+8 <= len(line) {
		// Each of the four sums of 16 bits grows by at most 256.
		var sum uint64
		for end := min(len(line)-7, i+8*255); i < end; i += 8 {
			v := binary.LittleEndian.Uint64(line[i:])
			negative := v >> 7 & ones
			v = (v ^ negative*255) + negative
			sum += v&pairs + v>>8&pairs
		}
		for ; sum != 0; sum >>= 16 {
			cost += int(sum & 0xffff)
		}
	}
	for _, d := range line[i:] {
		s := int(int8(d))
		cost += max(s, -s)
	}
	return cost
}

// chooser filters rows with the filter that promises the smallest result. It reuses its buffers.
type chooser struct{ tries [3][]byte }

// line returns the filtered line, which is valid until the next call. Of Sub, Up and Paeth it uses the filter with the
// smallest sum of absolute differences (12.7).
func (c *chooser) line(row, above []byte, bpp int) []byte {
	if bytes.Equal(row, above) { // most rows of a mask
		c.tries[1] = append(c.tries[1][:0], filterUp)
		c.tries[1] = append(c.tries[1], make([]byte, len(row))...)
		return c.tries[1]
	}
	best, least := 0, -1
	for k, kind := range [...]uint8{filterSub, filterUp, filterPaeth} {
		c.tries[k] = filter(c.tries[k], kind, row, above, bpp)
		if cost := costOf(c.tries[k][1:]); least < 0 || cost < least {
			best, least = k, cost
		}
	}
	return c.tries[best]
}
