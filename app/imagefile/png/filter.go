package png

import (
	"bytes"

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

// unfilter makes samples of a row in place. above is the row before it, all zero for the first, and bpp the distance to
// the byte on the left.
func unfilter(kind uint8, row, above []byte, bpp int) error {
	above = above[:len(row)]
	switch kind {
	case filterNone:
	case filterSub:
		for i := bpp; i < len(row); i++ {
			row[i] += row[i-bpp]
		}
	case filterUp:
		for i, u := range above {
			row[i] += u
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
	// Each byte waits for the one on its left. Three channels side by side are three chains, on which a processor works
	// at the same time; for others, one channel after the other at least keeps left and upper left in registers.
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

// predict is Paeth's predictor: of left, above and upper left the one nearest to left + above − upper left.
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

// filter returns the line of a row with the given filter, in dst.
func filter(dst []byte, kind uint8, row, above []byte, bpp int) []byte {
	dst = append(append(dst[:0], kind), row...)
	line, above := dst[1:], above[:len(row)]
	switch kind {
	case filterSub:
		for i, a := range row[:max(len(row)-bpp, 0)] {
			line[i+bpp] -= a
		}
	case filterUp:
		for i, b := range above {
			line[i] -= b
		}
	case filterAverage:
		for i := range min(bpp, len(row)) {
			line[i] -= above[i] / 2
		}
		for i := bpp; i < len(row); i++ {
			line[i] -= uint8((int(row[i-bpp]) + int(above[i])) / 2)
		}
	case filterPaeth:
		for i := range min(bpp, len(row)) {
			line[i] -= above[i]
		}
		for i := bpp; i < len(row); i++ {
			line[i] -= uint8(predict(int(row[i-bpp]), int(above[i]), int(above[i-bpp])))
		}
	}
	return dst
}

// chooser filters rows with the filter that leaves the least, in buffers that it keeps.
type chooser struct{ tries [3][]byte }

// line returns the filtered line, good until the next call: of left, up and Paeth the filter with the smallest sum of
// absolute differences (12.7).
func (c *chooser) line(row, above []byte, bpp int) []byte {
	if bytes.Equal(row, above) { // most rows of a mask
		c.tries[1] = append(c.tries[1][:0], filterUp)
		c.tries[1] = append(c.tries[1], make([]byte, len(row))...)
		return c.tries[1]
	}
	best, least := 0, -1
	for k, kind := range [...]uint8{filterSub, filterUp, filterPaeth} {
		c.tries[k] = filter(c.tries[k], kind, row, above, bpp)
		cost := 0
		for _, d := range c.tries[k][1:] {
			s := int(int8(d))
			cost += max(s, -s)
		}
		if least < 0 || cost < least {
			best, least = k, cost
		}
	}
	return c.tries[best]
}
