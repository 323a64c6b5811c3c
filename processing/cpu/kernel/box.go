package kernel

import (
	"math"
)

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
func NewCounts(a *Arena, n int, columns func(i int) int) *Counts {
	n = (n + Block - 1) / Block * Block
	c := &Counts{columns: Take[uint32](a, n), pixels: Take[uint32](a, n), half: Take[float32](a, n),
		inverse: Take[float32](a, n)}
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

// FloatCounts are the numbers n of pixels of the windows along a row, 1/n, and 1/n².
type FloatCounts struct {
	columns, pixels, share, square []float64
	// Most windows are whole: those of columns from … to−1.
	from, to int
}

// NewFloatCounts is NewCounts for floats.
func NewFloatCounts(a *Arena, n int, columns func(i int) int) *FloatCounts {
	n = (n + Block - 1) / Block * Block
	c := &FloatCounts{columns: Take[float64](a, n), pixels: Take[float64](a, n),
		share: Take[float64](a, n), square: Take[float64](a, n)}
	for i := range c.columns {
		c.columns[i] = float64(columns(i))
	}
	c.from, c.to = longestRun(c.columns)
	return c
}

// Set computes the counts of a row whose windows have ny rows.
func (c *FloatCounts) Set(ny int) {
	sides := func(i, end int) {
		for ; i < end; i++ {
			n := float64(ny) * c.columns[i]
			share := 1 / n
			c.pixels[i], c.share[i], c.square[i] = n, share, share*share
		}
	}
	sides(0, c.from+1)
	sides(c.to, len(c.columns))
	Fill(c.pixels[c.from:c.to], c.pixels[c.from])
	Fill(c.share[c.from:c.to], c.share[c.from])
	Fill(c.square[c.from:c.to], c.square[c.from])
}

// SumsExactly reports whether sums of n samples need no rounding in float64, given the bits of the smallest nonzero
// magnitude and of the largest. All samples are multiples of the last place of the smallest, and the sum must be less
// than 2⁵³ of these.
func SumsExactly(least, most uint32, n float64) bool {
	return most < Infinity && (least == 0 || n*float64(math.Float32frombits(most)) < unitOf(least)*(1<<53))
}

// unitOf returns the value of the last place of a positive sample with these bits.
func unitOf(bits uint32) float64 { return math.Ldexp(1, max(int(bits>>23), 1)-150) }

// magnitudes returns the bits of the smallest nonzero magnitude of the samples, 0 if there is none, and of the largest.
func magnitudes(s []float32) (least, most uint32) {
	least--
	for _, v := range s {
		m := math.Float32bits(v) & math.MaxInt32
		least, most = min(least, m-1), max(most, m)
	}
	return least + 1, most
}

func slideFloats(col []float64, add, sub []float32) {
	add, sub = add[:len(col)], sub[:len(col)]
	for i := range col {
		col[i] += float64(add[i]) - float64(sub[i])
	}
}

// floatMeans writes means of windows of the columns i+1 … i+k.
func floatMeans(dst []float32, col []float64, k int, c *FloatCounts) {
	s := 0.0
	for _, v := range col[:k] {
		s += v
	}
	for i := range dst {
		s += col[i+k] - col[i]
		dst[i] = float32(s / c.pixels[i])
	}
}

// groupRows is the number of rows that boxMeanFloat sums horizontally at a time: as many as a vector has lanes.
const groupRows = 8

// BlockGroup holds rows of column sums of a tile, and the rows for the means of their windows.
type BlockGroup struct {
	// col holds groupRows rows of pitch sums, a multiple of groupRows; the first n + k − 1 of a row count.
	col   []float64
	pitch int
	// dst are the rows that exist.
	dst [][]float32
	n   int
	// k is the width of the windows, nx and ny how many columns and rows of each lie inside the picture. A whole vector
	// may be read at the last column of nx.
	k  int
	nx []float64
	ny [groupRows]float64
	// lanes is scratch: the sums of each column side by side, and for their means as many floats.
	lanes []float64
	means []float32
}

// NewBlockGroup returns a group of rows with n windows k columns wide; columns returns how many columns of window i lie
// inside the picture, also of some after the last.
func NewBlockGroup(a *Arena, n, k int, columns func(i int) int) *BlockGroup {
	pitch := (n + k - 1 + groupRows - 1) / groupRows * groupRows
	g := &BlockGroup{
		col: Take[float64](a, groupRows*pitch), pitch: pitch, n: n, k: k, nx: Take[float64](a, n+groupRows),
		lanes: Take[float64](a, groupRows*pitch), means: Take[float32](a, groupRows*pitch),
		dst: make([][]float32, 0, groupRows),
	}
	clear(g.col)
	for i := range g.nx {
		g.nx[i] = float64(columns(i))
	}
	return g
}

// Full reports whether the group has all rows.
func (g *BlockGroup) Full() bool { return len(g.dst) == groupRows }

// Empty removes the rows.
func (g *BlockGroup) Empty() { g.dst = g.dst[:0] }

// Next appends a row, whose windows have ny rows, and returns its column sums from x0 to x1. The others are 0.
func (g *BlockGroup) Next(dst []float32, ny, x0, x1 int) []float64 {
	i := len(g.dst)
	g.dst = append(g.dst, dst)
	g.ny[i] = float64(ny)
	col := g.col[i*g.pitch : (i+1)*g.pitch]
	// blockMeans may have left values there.
	clear(col[:x0])
	clear(col[x1:])
	return col[x0:x1]
}

func addRow(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] += a[i]
	}
}

func doubles(dst []float64, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = float64(src[i])
	}
}

func advanceSums(dst, run, keep []float64, x []float32, suffix []float64) {
	n := len(dst)
	run, keep, x, suffix = run[:n], keep[:n], x[:n], suffix[:n]
	for i := range dst {
		v := float64(x[i])
		keep[i] = v
		run[i] += v
		dst[i] = suffix[i] + run[i]
	}
}

func blockMeans(g *BlockGroup) {
	sum := g.lanes[:g.n]
	for i, dst := range g.dst {
		blockSums(sum, g.col[i*g.pitch:(i+1)*g.pitch], g.k)
		for x, s := range sum {
			dst[x] = float32(s / (g.ny[i] * g.nx[x]))
		}
	}
}

// blockSums is windowMax with + instead of max.
func blockSums(dst, src []float64, k int) {
	for j := 0; j < len(dst); j += k {
		block := src[j : j+k]
		for i := k - 2; i >= 0; i-- {
			block[i] += block[i+1]
		}
		n := min(k, len(dst)-j)
		dst[j] = block[0]
		run := 0.0
		for i := 1; i < n; i++ {
			run += src[j+k+i-1]
			dst[j+i] = block[i] + run
		}
	}
}
