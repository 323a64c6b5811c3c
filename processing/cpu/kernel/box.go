package kernel

import "blik/processing/internal/arena"

// MaxMean bounds the number of pixels for which float32 divides sums of bytes exactly, and 16-bit sums to within a
// unit.
const MaxMean = 1 << 14

// MaxBytes is the largest radius for which the differences of column sums of bytes fit a signed 16-bit word.
const MaxBytes = 63

// Block is the largest number of columns that a kernel with counts processes at a time. It may read up to the end
// of the last block; results beyond the row are not used.
const Block = 32

// Counts are the numbers of columns and pixels of the windows along a row: those of whole windows, and fewer at the
// sides of the picture.
type Counts struct {
	columns, pixels []uint32
	// half is n/2, and inverse 1/n; for bytes in blocks of Block, even columns before odd ones.
	half, inverse []float32
	// Most windows are whole: those of columns from … to−1.
	from, to int
}

// NewCounts returns counts for n windows, to be completed by set for each row; columns returns the number of columns of
// window i, also of some after the last.
func NewCounts(a *arena.Arena, n int, columns func(i int) int) *Counts {
	n = (n + Block - 1) / Block * Block
	c := &Counts{columns: arena.Take[uint32](a, n), pixels: arena.Take[uint32](a, n),
		half: arena.Take[float32](a, n), inverse: arena.Take[float32](a, n)}
	for i := range c.columns {
		c.columns[i] = uint32(columns(i))
	}
	c.from, c.to = longestRun(c.columns)
	return c
}

// longestRun returns the longest run of equal values.
func longestRun[T comparable](s []T) (from, to int) {
	i := 0
	for j := range s {
		if j+1 < len(s) && s[j+1] == s[j] {
			continue
		}
		if j+1-i > to-from {
			from, to = i, j+1
		}
		i = j + 1
	}
	return from, to
}

// Set computes the counts of a row whose windows have ny rows.
func (c *Counts) Set(ny int, paired bool) {
	// Paired columns are stored in a different order, so only whole blocks can be filled at once.
	from, to := c.from, c.to
	if paired {
		from, to = (from+Block-1)/Block*Block, to/Block*Block
	}
	if from >= to {
		from, to = 0, 0
	}
	sides := func(i, end int) {
		const block = Block
		for ; i < end; i++ {
			n, at := uint32(ny)*c.columns[i], i
			if paired {
				at = i&^(block-1) + i&1*(block/2) + i&(block-1)>>1
			}
			c.pixels[i], c.half[at], c.inverse[at] = n, float32(n/2)+0.5, 1/float32(n)
		}
	}
	sides(0, from)
	sides(to, len(c.columns))
	if from < to {
		n := uint32(ny) * c.columns[from]
		Fill(c.pixels[from:to], n)
		Fill(c.half[from:to], float32(n/2)+0.5)
		Fill(c.inverse[from:to], 1/float32(n))
	}
}

func sumUp[T uint16 | uint32](s []T) (sum uint32) {
	for _, v := range s {
		sum += uint32(v)
	}
	return sum
}

// boxes writes the rounded means of windows of the columns i+1 … i+k.
func boxes[T uint8 | uint16, S uint16 | uint32](dst []T, col []S, k int, c *Counts) {
	s := sumUp(col[:k])
	enter, leave, pixels := col[k:][:len(dst)], col[:len(dst)], c.pixels[:len(dst)]
	var n uint32
	var inv uint64
	for i := range dst {
		s += uint32(enter[i]) - uint32(leave[i])
		if pixels[i] != n {
			n = pixels[i]
			inv = Inverse(uint64(n))
		}
		dst[i] = T(divide(uint64(s)+uint64(n/2), inv))
	}
}
