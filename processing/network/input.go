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
// All its rows begin radius columns of cells before the first that planes are computed for, have stride columns, and
// hold 0 where there is no picture, so that windows need not be clipped.
type inputRows struct {
	kernels *kernels
	pic     Picture
	// height is the height of the picture in cells; columns are the columns that planes are computed for.
	height  int
	columns span
	// stride is a multiple of inputLanes and includes at least columnsBehind columns more than needed.
	stride int
	// pixels holds two rows each of red, green, blue and the darkest channel, 2·stride bytes per row.
	pixels []uint8
	// cells holds the figures of the most recent rows of cells. In a row, each figure has all its columns together.
	cells []int32
	// sums holds the figures summed over the rows of the surroundings, quads the sums of every four adjacent columns of
	// sums.
	sums, quads []int32
	// counts holds the number of columns in the surroundings of each column.
	counts []int32
	// gains holds g/n for a row of cells, where g = 2^20·8/(deviation + ease) and n is the number of pixels; products
	// holds n times that.
	gains, products []int32
	// rows is the range of rows that sums covers.
	rows span
}

const (
	// inputLanes is the number of cells computed at a time.
	inputLanes = 8
	// ringRows is the number of rows of cells kept.
	ringRows = 2*radius + 2
	// columnsBehind is the number of columns read beyond the end of a row; their values are not used.
	columnsBehind = 3 * inputLanes
)

// begin prepares for a part of the picture.
func (p *inputRows) begin(k *kernels, pic Picture, rows, columns span) {
	p.kernels, p.pic, p.columns = k, pic, columns
	p.height = (pic.Height + 1) / 2
	n := columns.to - columns.from + 2*radius
	p.stride = (n+inputLanes-1)/inputLanes*inputLanes + columnsBehind
	p.pixels = resize(p.pixels, 8*2*p.stride)
	p.cells = resize(p.cells, ringRows*figures*p.stride)
	p.sums, p.quads = resize(p.sums, figures*p.stride), resize(p.quads, figures*p.stride)
	p.counts, p.gains, p.products = resize(p.counts, p.stride), resize(p.gains, p.stride), resize(p.products, p.stride)
	first := max(0, rows.from-radius)
	p.rows = span{first, first}
	for x := columns.from; x < columns.to; x++ {
		w := span{x - radius, x + radius + 1}.clip((pic.Width + 1) / 2)
		p.counts[x-columns.from] = int32(w.to - w.from)
	}
	// The counts beyond the last column must not be 0.
	for i := columns.to - columns.from; i < p.stride; i++ {
		p.counts[i] = 1
	}
}

// resize returns a slice of n zero elements, reusing s if it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// row computes row y, which must follow that of the last call, into blocks of segment bytes. Each cell has one byte for
// each of four channels. Some cells beyond the last column are written too.
func (p *inputRows) row(dst []int8, segment, y int) {
	surroundings := span{y - radius, y + radius + 1}.clip(p.height)
	for p.rows.to < surroundings.to || p.rows.from < surroundings.from {
		enter, leave := -1, -1
		if p.rows.to < surroundings.to {
			enter = p.rows.to
			p.load(enter)
			p.kernels.cells(p, p.cellRow(enter))
			p.rows.to++
		}
		if p.rows.from < surroundings.from {
			leave = p.rows.from
			p.rows.from++
		}
		p.slide(enter, leave)
	}
	p.load(y)
	p.kernels.planes(p, dst, segment, p.cellRow(y), int32(surroundings.to-surroundings.from))
}

// slide adds one row of cells to the sums and subtracts another; −1 stands for none.
func (p *inputRows) slide(enter, leave int) {
	sums := p.sums
	switch {
	case enter >= 0 && leave >= 0:
		p.kernels.exchange(sums, p.cellRow(enter), p.cellRow(leave))
	case enter >= 0:
		for i, v := range p.cellRow(enter) {
			sums[i] += v
		}
	default:
		for i, v := range p.cellRow(leave) {
			sums[i] -= v
		}
	}
}

// cellRow returns the row of figures of row y, which must be one of the most recent.
func (p *inputRows) cellRow(y int) []int32 {
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
			row := p.pixelRow(c, k)
			n := copy(row[inside.from-from:], plane[min(2*y+k, h-1)*w:][inside.from:inside.to])
			if end := inside.from - from + n; inside.to == w && w&1 != 0 {
				row[end] = row[end-1]
			}
		}
	}
	for k := range 2 {
		p.kernels.darkest(p.pixelRow(3, k), p.pixelRow(0, k), p.pixelRow(1, k), p.pixelRow(2, k))
	}
}

// pixelRow returns a row of pixels of a channel.
func (p *inputRows) pixelRow(channel, k int) []uint8 {
	n := 2 * p.stride
	return p.pixels[(2*channel+k)*n:][:n:n]
}

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
				v[c] = int32(p.pixelRow(c, k/2)[at])
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

// planesPlain computes a row of planes. here holds the cells' own figures; rows is the number of rows in the
// surroundings.
func planesPlain(p *inputRows, dst []int8, segment int, here []int32, rows int32) {
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
		p.cellPlain(dst[4*x:], segment, x+radius, here, &window, 4*rows*p.counts[x])
		for f := range window {
			window[f] -= p.sums[f*n+x]
		}
	}
}

// cellPlain computes the planes of the cell in column x. window holds the figures of the n pixels in its surroundings.
func (p *inputRows) cellPlain(dst []int8, segment, x int, here []int32, window *[figures]int32, n int32) {
	square := int64(n)*int64(window[5]) - int64(window[4])*int64(window[4])
	deviation := int32(math.Sqrt(float64(square)))
	gain := (8 << gainBits) / (deviation + ease*n)
	var own uint32
	for c := range 4 {
		own |= uint32(here[c*p.stride+x]) >> 3 << (8 * c)
		var v uint32
		for k := range 4 {
			pixel := int32(p.pixelRow(c, k/2)[2*x+k%2])
			normal := ((pixel*n-window[c])*gain + 1<<(gainBits-1)) >> gainBits
			v |= uint32(min(max(zero+normal, 0), Top)) << (8 * k)
		}
		put(dst[c*segment:], v)
	}
	put(dst[4*segment:], own)
	half := 2 * n
	put(dst[5*segment:], uint32(window[0]/half|window[1]/half<<8|window[2]/half<<16|min(2*deviation/n, Top)<<24))
}

// put writes a cell.
func put(dst []int8, v uint32) {
	*(*uint32)(unsafe.Pointer(unsafe.SliceData(dst[:4]))) = v
}
