package processing

import (
	"sort"

	"blik/internal/parallel"
)

// pixelSet is a set of pixels of a picture, a bit each: 64 pixels of a row in a word.
type pixelSet struct {
	w, h int
	// stride is the number of words of a row: one more than needed, so that 64 pixels can be read from any column.
	stride int
	words  []uint64
}

// newPixelSet returns the pixels of the given spans, which are in reading order, and those beside them.
func newPixelSet(w, h int, sets ...[]Span) *pixelSet {
	s := &pixelSet{w: w, h: h, stride: (w+63)/64 + 1}
	s.words = make([]uint64, s.stride*h)
	parallel.Split(h, 64, func(from, to int) {
		for _, spans := range sets {
			first := sort.Search(len(spans), func(i int) bool { return int(spans[i].Y) >= from-1 })
			for _, r := range spans[first:] {
				if int(r.Y) > to {
					break
				}
				x0, x1 := max(int(r.X0)-1, 0), min(int(r.X1)+1, w)
				for y := max(int(r.Y)-1, from); y < min(int(r.Y)+2, to); y++ {
					s.add(y, x0, x1)
				}
			}
		}
	})
	return s
}

// add takes in the pixels x0 … x1−1 of row y, at least one.
func (s *pixelSet) add(y, x0, x1 int) {
	row := s.words[y*s.stride : (y+1)*s.stride]
	a, b := x0/64, (x1-1)/64
	first, last := ^uint64(0)<<(x0%64), ^uint64(0)>>(63-(x1-1)%64)
	if a == b {
		row[a] |= first & last
		return
	}
	row[a] |= first
	for i := a + 1; i < b; i++ {
		row[i] = ^uint64(0)
	}
	row[b] |= last
}

// at returns 64 pixels of row y from column x on, that of column x in the lowest bit. Of those right of the picture
// none is in the set; a nil set is empty.
func (s *pixelSet) at(x, y int) uint64 {
	if s == nil {
		return 0
	}
	i := y*s.stride + x/64
	return s.words[i]>>(x%64) | s.words[i+1]<<(64-x%64)
}
