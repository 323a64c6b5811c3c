package network

import (
	"math"
	"unsafe"
)

// figures are the sums of a cell's four pixels: red, green, blue, darkest channel, lightness and its square.
const figures = 6

// inputRows computes rows of the input planes one after another, from running sums of the surroundings.
type inputRows struct {
	pic Picture
	// height and width are those of the picture in cells.
	height, width int
	// columns are those that planes are computed for, wide those whose cells they depend on.
	columns, wide span
	// cells are the sums of the last rows of cells in wide, sums those over the rows of the surroundings. A row has all
	// columns of a figure after those of the one before.
	cells, sums []uint32
	// rows are those that sums has.
	rows span
	// pixels are two rows of pixels in columns, channel by channel with the darkest one; four bytes are a cell.
	pixels []uint8
}

// ringRows is the number of rows of cells that are kept.
const ringRows = 2*radius + 2

// begin prepares for a part of the picture.
func (p *inputRows) begin(pic Picture, rows, columns span) {
	p.pic, p.columns = pic, columns
	p.height, p.width = (pic.Height+1)/2, (pic.Width+1)/2
	p.wide = span{columns.from - radius, columns.to + radius}.clip(p.width)
	n := p.wide.to - p.wide.from
	p.cells, p.sums = resize(p.cells, ringRows*figures*n), resize(p.sums, figures*n)
	p.pixels = resize(p.pixels, 16*n)
	clear(p.sums)
	p.rows = span{max(0, rows.from-radius), max(0, rows.from-radius)}
}

// resize returns a slice of n elements, s where it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// row computes row y, which follows the one of the last call, into blocks of segment bytes. Cells have the bytes of
// four channels.
func (p *inputRows) row(dst []int8, segment, y int) {
	surroundings := span{y - radius, y + radius + 1}.clip(p.height)
	for ; p.rows.to < surroundings.to; p.rows.to++ {
		p.enter(p.rows.to)
	}
	for ; p.rows.from < surroundings.from; p.rows.from++ {
		for i, v := range p.cellRow(p.rows.from) {
			p.sums[i] -= v
		}
	}
	p.load(y, p.columns)
	n := p.wide.to - p.wide.from
	cells := p.cellRow(y)
	var window [figures]uint32
	in := span{p.wide.from, p.wide.from}
	count := uint32(4 * (surroundings.to - surroundings.from))
	for x := p.columns.from; x < p.columns.to; x++ {
		w := span{x - radius, x + radius + 1}.clip(p.width)
		for ; in.to < w.to; in.to++ {
			for f := range window {
				window[f] += p.sums[f*n+in.to-p.wide.from]
			}
		}
		for ; in.from < w.from; in.from++ {
			for f := range window {
				window[f] -= p.sums[f*n+in.from-p.wide.from]
			}
		}
		at := x - p.columns.from
		var here [4]uint32
		for c := range here {
			here[c] = cells[c*n+x-p.wide.from]
		}
		p.cell(dst[4*at:], segment, p.pixels[16*at:16*at+16], &here, &window, count*uint32(w.to-w.from))
	}
}

// cell computes the planes of a cell: here are its own sums, window those of its n pixels of surroundings.
func (p *inputRows) cell(dst []int8, segment int, pixels []uint8, here *[4]uint32, window *[figures]uint32, n uint32) {
	square := uint64(n)*uint64(window[5]) - uint64(window[4])*uint64(window[4])
	deviation := uint32(math.Sqrt(float64(square)))
	gain := int32((8 << gainBits) / (deviation + ease*n))
	for c := range 4 {
		var v uint32
		for k, x := range pixels[4*c : 4*c+4] {
			normal := ((int32(x)*int32(n)-int32(window[c]))*gain + 1<<(gainBits-1)) >> gainBits
			v |= uint32(min(max(zero+normal, 0), Top)) << (8 * k)
		}
		put(dst[c*segment:], v)
	}
	put(dst[4*segment:], here[0]>>3|here[1]>>3<<8|here[2]>>3<<16|here[3]>>3<<24)
	half := 2 * n
	put(dst[5*segment:], window[0]/half|window[1]/half<<8|window[2]/half<<16|min(2*deviation/n, Top)<<24)
}

// put writes a cell.
func put(dst []int8, v uint32) {
	*(*uint32)(unsafe.Pointer(unsafe.SliceData(dst[:4]))) = v
}

// cellRow is the row of sums of row y, which must be one of the last.
func (p *inputRows) cellRow(y int) []uint32 {
	n := figures * (p.wide.to - p.wide.from)
	return p.cells[y%ringRows*n : (y%ringRows+1)*n]
}

// enter adds a row of cells to the sums.
func (p *inputRows) enter(y int) {
	p.load(y, p.wide)
	n := p.wide.to - p.wide.from
	row := p.cellRow(y)
	for x := range n {
		v := p.pixels[16*x : 16*x+16]
		var s [figures]uint32
		for c := range 4 {
			for _, u := range v[4*c : 4*c+4] {
				s[c] += uint32(u)
			}
		}
		for k := range 4 {
			light := (uint32(v[k]) + 2*uint32(v[4+k]) + uint32(v[8+k]) + 2) >> 2
			s[4] += light
			s[5] += light * light
		}
		for f, u := range s {
			row[f*n+x] = u
			p.sums[f*n+x] += u
		}
	}
}

// load puts the pixels of a row of cells into p.pixels: 16 bytes a cell, the four pixels of each channel together.
func (p *inputRows) load(y int, columns span) {
	w, h := p.pic.Width, p.pic.Height
	for c, plane := range [][]uint8{p.pic.Red, p.pic.Green, p.pic.Blue} {
		for k := range 2 {
			row := plane[min(2*y+k, h-1)*w:][:w]
			for x := columns.from; x < columns.to; x++ {
				to := p.pixels[16*(x-columns.from)+4*c+2*k:][:2]
				to[0], to[1] = row[2*x], row[min(2*x+1, w-1)]
			}
		}
	}
	for x := range columns.to - columns.from {
		v := p.pixels[16*x : 16*x+16]
		for k := range 4 {
			v[12+k] = min(v[k], v[4+k], v[8+k])
		}
	}
}
