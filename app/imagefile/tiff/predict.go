package tiff

import (
	"encoding/binary"
	"slices"
)

// lanes returns the number of samples of a pixel in a segment.
func (l *layout) lanes() int {
	if l.planar {
		return 1
	}
	return l.samples
}

// unpredict converts a stored row to samples.
func (f *File) unpredict(s *scratch, row []byte) {
	l := f.lay
	switch l.predictor {
	case predictHorizontal:
		undoHorizontal(row, l.lanes(), l.depth, l.order())
	case predictFloat:
		undoFloat(row, s.shuffled(len(row)), l.lanes(), l.order())
	}
}

// predict is the inverse of unpredict.
func (f *File) predict(s *scratch, row []byte) {
	l := f.lay
	switch l.predictor {
	case predictHorizontal:
		doHorizontal(row, l.lanes(), l.depth, l.order())
	case predictFloat:
		doFloat(row, s.shuffled(len(row)), l.lanes(), l.order())
	}
}

// shuffled returns a second buffer for a row of n bytes.
func (s *scratch) shuffled(n int) []byte {
	s.shuffle = slices.Grow(s.shuffle[:0], n)
	return s.shuffle[:n]
}

// undoHorizontal adds the sample of the previous pixel to each sample (TIFF 6.0, section 14), modulo its range.
func undoHorizontal(row []byte, lanes, depth int, order binary.ByteOrder) {
	switch depth {
	case 8:
		for i := lanes; i < len(row); i++ {
			row[i] += row[i-lanes]
		}
	case 16:
		step := 2 * lanes
		if order == binary.LittleEndian {
			for i := step; i+2 <= len(row); i += 2 {
				v := binary.LittleEndian.Uint16(row[i:]) + binary.LittleEndian.Uint16(row[i-step:])
				binary.LittleEndian.PutUint16(row[i:], v)
			}
			return
		}
		for i := step; i+2 <= len(row); i += 2 {
			v := binary.BigEndian.Uint16(row[i:]) + binary.BigEndian.Uint16(row[i-step:])
			binary.BigEndian.PutUint16(row[i:], v)
		}
	default:
		step := 4 * lanes
		for i := step; i+4 <= len(row); i += 4 {
			order.PutUint32(row[i:], order.Uint32(row[i:])+order.Uint32(row[i-step:]))
		}
	}
}

// doHorizontal is the inverse of undoHorizontal.
func doHorizontal(row []byte, lanes, depth int, order binary.ByteOrder) {
	switch depth {
	case 8:
		for i := len(row) - 1; i >= lanes; i-- {
			row[i] -= row[i-lanes]
		}
	case 16:
		step := 2 * lanes
		for i := len(row) - 2; i >= step; i -= 2 {
			order.PutUint16(row[i:], order.Uint16(row[i:])-order.Uint16(row[i-step:]))
		}
	default:
		step := 4 * lanes
		for i := len(row) - 4; i >= step; i -= 4 {
			order.PutUint32(row[i:], order.Uint32(row[i:])-order.Uint32(row[i-step:]))
		}
	}
}

// undoFloat undoes the floating-point predictor (TIFF Technical Note 3): the bytes of a row are those of all samples
// sorted by significance, most significant first in files of either byte order, and then differences of bytes.
func undoFloat(row, tmp []byte, lanes int, order binary.ByteOrder) {
	for i := lanes; i < len(row); i++ {
		row[i] += row[i-lanes]
	}
	copy(tmp, row)
	n := len(row) / 4
	for i := range n {
		order.PutUint32(row[4*i:], uint32(tmp[i])<<24|uint32(tmp[n+i])<<16|uint32(tmp[2*n+i])<<8|uint32(tmp[3*n+i]))
	}
}

// doFloat is the inverse of undoFloat.
func doFloat(row, tmp []byte, lanes int, order binary.ByteOrder) {
	n := len(row) / 4
	for i := range n {
		v := order.Uint32(row[4*i:])
		tmp[i], tmp[n+i], tmp[2*n+i], tmp[3*n+i] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
	}
	copy(row, tmp)
	for i := len(row) - 1; i >= lanes; i-- {
		row[i] -= row[i-lanes]
	}
}
