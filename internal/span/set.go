package span

import (
	"encoding/binary"
	"sort"

	"blik/internal/parallel"
)

// Set is a set of pixels of a picture, stored as a bitmap: one bit per pixel, 64 pixels of a row per word.
type Set struct {
	w, h int
	// stride is the number of words per row: one more than needed, so that 64 pixels can be read from any column.
	stride int
	words  []uint64
}

// NewSet returns the empty set of pixels of a picture of w × h.
func NewSet(w, h int) *Set {
	s := &Set{w: w, h: h, stride: (w+63)/64 + 1}
	s.words = make([]uint64, s.stride*h)
	return s
}

// Mark sets the set to the pixels of the given spans, which are in reading order, and all pixels within margin of them
// (Chebyshev distance).
func (s *Set) Mark(margin int, sets ...[]Span) {
	parallel.Split(s.h, 64, func(from, to int) {
		clear(s.words[from*s.stride : to*s.stride])
		for _, spans := range sets {
			first := sort.Search(len(spans), func(i int) bool { return int(spans[i].Y) >= from-margin })
			for _, r := range spans[first:] {
				if int(r.Y) >= to+margin {
					break
				}
				x0, x1 := max(int(r.X0)-margin, 0), min(int(r.X1)+margin, s.w)
				for y := max(int(r.Y)-margin, from); y < min(int(r.Y)+margin+1, to); y++ {
					s.add(y, x0, x1)
				}
			}
		}
	})
}

// add adds the pixels x0 … x1−1 of row y, at least one.
func (s *Set) add(y, x0, x1 int) {
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

// At returns 64 pixels of row y from column x on, with that of column x in the lowest bit. Pixels right of the picture
// are not in the set; a nil set is empty.
func (s *Set) At(x, y int) uint64 {
	if s == nil {
		return 0
	}
	i := y*s.stride + x/64
	return s.words[i]>>(x%64) | s.words[i+1]<<(64-x%64)
}

// Has reports whether a pixel is in the set.
func (s *Set) Has(x, y int) bool { return s.words[y*s.stride+x/64]>>(x%64)&1 != 0 }

// Unpack writes 255 for the pixels of row y from column x on that are in the set, 0 for the others.
func (s *Set) Unpack(dst []uint8, x, y int) {
	for ; len(dst) >= 64; dst, x = dst[64:], x+64 {
		v := s.At(x, y)
		if v == 0 {
			clear(dst[:64])
			continue
		}
		for i := 0; i < 64; i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], spread(uint8(v>>i)))
		}
	}
	if len(dst) > 0 {
		v := s.At(x, y)
		for i := range dst {
			dst[i] = -uint8(v >> i & 1)
		}
	}
}

// spread expands each bit to a byte of 0 or 255, the lowest bit first.
func spread(bits uint8) uint64 {
	const low, every = 0x7f7f7f7f7f7f7f7f, 0x0101010101010101
	v := uint64(bits) * every & 0x8040201008040201
	return (v + low) &^ low >> 7 * 255
}

// Pack replaces the pixels of row y from column x on, a multiple of 64, by those whose byte in src is not 0. src ends
// at such a column or at the picture's edge.
func (s *Set) Pack(src []uint8, x, y int) {
	const low = 0x7f7f7f7f7f7f7f7f
	words := s.words[y*s.stride+x/64:]
	for i := 0; len(src) > 0; i++ {
		var word uint64
		n := min(64, len(src))
		k := 0
		for ; k+8 <= n; k += 8 {
			v := binary.LittleEndian.Uint64(src[k:])
			set := ((v&low + low) | v) &^ low >> 7
			word |= set * 0x0102040810204080 >> 56 << k
		}
		for ; k < n; k++ {
			if src[k] != 0 {
				word |= 1 << k
			}
		}
		words[i], src = word, src[n:]
	}
}
