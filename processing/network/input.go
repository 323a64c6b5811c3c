package network

import (
	"math"
	"unsafe"
)

// figures is the number of sums over a cell's four pixels: red, green, blue, darkest channel, lightness and squared
// lightness.
const figures = 6

// inputRows computes rows of the input planes in order, from running sums over the surroundings.
//
// All its rows begin radius columns of cells before the first that planes are computed for, have stride columns of
// cells, and hold 0 where there is no picture, so that windows need not be clipped.
type inputRows struct {
	kernels *kernels
	pic     Picture
	// height is the height of the picture in cells; columns are the columns of cells that planes are computed for.
	height  int
	columns span
	// stride is a multiple of inputLanes and includes at least columnsBehind columns more than needed.
	stride int
	// pixels holds two rows each of red, green, blue and the darkest channel, 2·stride bytes per row.
	pixels []uint8
	// cells holds the figures of the most recent rows of cells, none those of a row of nothing but 0. In a row, each
	// figure has all its columns together.
	cells, none []int32
	// sums holds the figures summed over the rows of the surroundings, quads the sums of every four adjacent columns of
	// sums.
	sums, quads []int32
	// counts holds the number of columns in the surroundings of each column.
	counts []int32
	// factors holds what turns the samples of a cell's pixels into planes: see factor.
	factors []int32
	// row is the row of cells that factors and pixels hold; −1 for none.
	row int
	// rows is the range of rows that sums covers.
	rows span
}

// A row of factors: v·byGain + from[c] and v·byShare, rounded and clamped, are the planes of a sample v of channel c;
// around holds the four planes that are the same for all pixels of a cell, in the bytes of a word.
const (
	byGain = iota
	byShare
	around
	fromRed
	fromGreen
	fromBlue
	fromDarkest
	factorRows
)

const (
	// inputLanes is the number of cells computed at a time.
	inputLanes = 8
	// ringRows is the number of rows of cells kept.
	ringRows = 2*radius + 2
	// columnsBehind is the number of columns read beyond the end of a row; their values are not used.
	columnsBehind = 3 * inputLanes
)

// begin prepares for rows and columns of pixels of a picture; the first column is the first one of a cell.
func (p *inputRows) begin(k *kernels, pic Picture, rows, columns span) {
	p.kernels, p.pic, p.row = k, pic, -1
	p.columns = cellSpan(columns)
	p.height = (pic.Height + 1) / 2
	n := p.columns.to - p.columns.from + 2*radius
	p.stride = (n+inputLanes-1)/inputLanes*inputLanes + columnsBehind
	p.pixels = resize(p.pixels, 8*2*p.stride)
	p.cells, p.none = resize(p.cells, ringRows*figures*p.stride), resize(p.none, figures*p.stride)
	p.sums, p.quads = resize(p.sums, figures*p.stride), resize(p.quads, figures*p.stride)
	p.counts, p.factors = resize(p.counts, p.stride), resize(p.factors, factorRows*p.stride)
	first := max(0, cellSpan(rows).from-radius)
	p.rows = span{first, first}
	for x := p.columns.from; x < p.columns.to; x++ {
		w := span{x - radius, x + radius + 1}.clip((pic.Width + 1) / 2)
		p.counts[x-p.columns.from] = int32(w.to - w.from)
	}
	// The counts beyond the last column must not be 0.
	for i := p.columns.to - p.columns.from; i < p.stride; i++ {
		p.counts[i] = 1
	}
}

// cellSpan returns the cells that pixels are in.
func cellSpan(s span) span { return span{s.from / cellSide, (s.to + cellSide - 1) / cellSide} }

// resize returns a slice of n zero elements, reusing s if it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// pixelRow computes the planes of row y, which must not precede that of the last call, into blocks of segment bytes.
// Each pixel has one byte for each of four channels. Some pixels beyond the last column are written too.
func (p *inputRows) pixelRow(dst []int8, segment, y int) {
	if cell := y / cellSide; cell != p.row {
		p.cellRow(cell)
	}
	p.kernels.planes(p, dst, segment, y%cellSide)
}

// cellRow computes the factors of row y of cells.
func (p *inputRows) cellRow(y int) {
	surroundings := span{y - radius, y + radius + 1}.clip(p.height)
	for p.rows.to < surroundings.to || p.rows.from < surroundings.from {
		enter, leave := p.none, p.none
		if p.rows.to < surroundings.to {
			enter = p.figuresOf(p.rows.to)
			p.load(p.rows.to)
			p.kernels.cells(p, enter)
			p.rows.to++
		}
		if p.rows.from < surroundings.from {
			leave = p.figuresOf(p.rows.from)
			p.rows.from++
		}
		p.kernels.exchange(p.sums, enter, leave)
	}
	p.load(y)
	p.row = y
	p.kernels.factors(p, int32(surroundings.to-surroundings.from))
}

// figuresOf returns the figures of row y of cells, which must be one of the most recent.
func (p *inputRows) figuresOf(y int) []int32 {
	n := figures * p.stride
	return p.cells[y%ringRows*n:][:n:n]
}

// load copies the pixels of a row of cells to p.pixels.
func (p *inputRows) load(y int) {
	w, h := p.pic.Width, p.pic.Height
	from := 2 * (p.columns.from - radius)
	inside := span{from, from + 2*p.stride}.clip(w)
	for c, plane := range [][]uint8{p.pic.Red, p.pic.Green, p.pic.Blue} {
		for k := range 2 {
			row := p.samples(c, k)
			n := copy(row[inside.from-from:], plane[min(2*y+k, h-1)*w:][inside.from:inside.to])
			if end := inside.from - from + n; inside.to == w && w&1 != 0 {
				row[end] = row[end-1]
			}
		}
	}
	for k := range 2 {
		p.kernels.darkest(p.samples(3, k), p.samples(0, k), p.samples(1, k), p.samples(2, k))
	}
}

// samples returns one of the two rows of pixels of a channel.
func (p *inputRows) samples(channel, k int) []uint8 {
	n := 2 * p.stride
	return p.pixels[(2*channel+k)*n:][:n:n]
}

// factorsOf returns a row of factors.
func (p *inputRows) factorsOf(row int) []int32 { return p.factors[row*p.stride:][:p.stride:p.stride] }

// darkestPlain writes the minimum of three values.
func darkestPlain(dst, a, b, c []uint8) {
	for i := range dst {
		dst[i] = min(a[i], b[i], c[i])
	}
}

// exchangePlain adds one row and subtracts another.
func exchangePlain(sums, enter, leave []int32) {
	for i := range sums {
		sums[i] += enter[i] - leave[i]
	}
}

// cellsPlain computes the figures of a row of cells from the pixels.
func cellsPlain(p *inputRows, row []int32) {
	n := p.stride
	for x := range n {
		var s [figures]int32
		for k := range 4 {
			at := 2*x + k%2
			var v [4]int32
			for c := range v {
				v[c] = int32(p.samples(c, k/2)[at])
				s[c] += v[c]
			}
			light := (v[0] + 2*v[1] + v[2] + 2) >> 2
			s[4] += light
			s[5] += light * light
		}
		for f, u := range s {
			row[f*n+x] = u
		}
	}
}

const half = 1 << (fraction - 1)

// factorsPlain computes the factors of a row of cells; rows is the number of rows in the surroundings.
func factorsPlain(p *inputRows, rows int32) {
	n := p.stride
	var window [figures]int32
	for f := range window {
		for x := range 2 * radius {
			window[f] += p.sums[f*n+x]
		}
	}
	for x := range p.columns.to - p.columns.from {
		for f := range window {
			window[f] += p.sums[f*n+x+2*radius]
		}
		p.cellFactors(x, &window, 4*rows*p.counts[x])
		for f := range window {
			window[f] -= p.sums[f*n+x]
		}
	}
}

// cellFactors computes the factors of a cell. window holds the figures of the n pixels in its surroundings.
func (p *inputRows) cellFactors(x int, window *[figures]int32, n int32) {
	square := int64(n)*int64(window[5]) - int64(window[4])*int64(window[4])
	deviation := int32(math.Sqrt(float64(square)))
	gain := (8 << fraction) / (deviation + 5*window[4]>>6 + 3*n)
	share := (32 << fraction) / (window[4] + 10*n)
	p.factorsOf(byGain)[x] = n * gain
	p.factorsOf(byShare)[x] = n * share
	for c := range 4 {
		p.factorsOf(fromRed + c)[x] = zero<<fraction - window[c]*gain + half
	}
	word := uint32(0)
	for i, v := range [4]int32{2 * deviation, window[0], window[2], window[3]} {
		word |= uint32(min((v*share+half)>>fraction, Top)) << (8 * i)
	}
	p.factorsOf(around)[x] = int32(word)
}

// planesPlain computes the planes of a row of pixels from the factors; k is 0 for the upper one of the cells.
func planesPlain(p *inputRows, dst []int8, segment, k int) {
	gain, share, same := p.factorsOf(byGain), p.factorsOf(byShare), p.factorsOf(around)
	for x := range 2 * (p.columns.to - p.columns.from) {
		cell := x / 2
		var normal, ratio, own uint32
		for c := range 4 {
			v := int32(p.samples(c, k)[2*radius+x])
			normal |= uint32(min(max((v*gain[cell]+p.factorsOf(fromRed + c)[cell])>>fraction, 0), Top)) << (8 * c)
			ratio |= uint32(min((v*share[cell]+half)>>fraction, Top)) << (8 * c)
			own |= uint32(v>>1) << (8 * c)
		}
		put(dst[4*x:], normal)
		put(dst[segment+4*x:], ratio)
		put(dst[2*segment+4*x:], uint32(same[cell]))
		put(dst[3*segment+4*x:], own)
	}
}

// put writes a cell.
func put(dst []int8, v uint32) {
	*(*uint32)(unsafe.Pointer(unsafe.SliceData(dst[:4]))) = v
}
