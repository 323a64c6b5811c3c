// Package relax relaxes the pixels of a hole in red–black order: first those with even x + y, then the others. Pixels
// of one colour do not depend on each other, so that vector instructions process eight at a time; the plain loops give
// the same bits.
package relax

import (
	"blik/internal/simd"

	"blik/processing/internal/arena"
)

// lanes is the number of pixels processed at a time.
const lanes = 8

// Grid holds the shape of a hole, for planes split into two halves, one for each colour of the checkerboard. Pixels
// that are relaxed together then lie side by side, as do their direct neighbours, which have the other colour, and
// their diagonal neighbours, which have the same. The zero Grid is ready for Reset; its memory is reused.
type Grid struct {
	level simd.Level
	w, h  int
	// (x0, y0) is the first pixel of the halves in the window. The halves have rows of stride values, with a margin of
	// one pixel around the hole.
	x0, y0, rows, stride int
	// repeat: a pixel at the border of the window is its own neighbour there; otherwise the neighbour is 0.
	repeat bool

	blocks [2][]block
	inside [2][]int32
	cells  [2][]cell
	pads   []pad
	memory arena.Arena
	// omega and step are the relaxation factors of Harmonic and of the other methods, in all lanes.
	omega, step [lanes]float32
}

// block is a run of lanes values of a half that starts with a pixel of the hole at index at. left is the index of the
// left neighbour of that pixel in the other half; its diagonal neighbours have the same index in rows above and below
// of its own half.
type block struct{ at, left int32 }

// cell is a pixel of the hole: its index in the window, in the half, and among the lanes of all blocks.
type cell struct{ pixel, at, lane int32 }

// pad is a value outside the window, in a half, and the pixel that it repeats.
type pad struct{ half, fromHalf, at, from int32 }

// Bounds returns the smallest rectangle around the pixels of a w × h window whose state is not 0, x1 and y1 excluded;
// all are 0 if there are none.
func Bounds(state []uint8, w, h int) (x0, y0, x1, y1 int) {
	x0, y0 = w, h
	for y := range h {
		row := state[y*w : (y+1)*w]
		first := 0
		for first < w && row[first] == 0 {
			first++
		}
		if first == w {
			continue
		}
		last := w
		for row[last-1] == 0 {
			last--
		}
		x0, x1, y0, y1 = min(x0, first), max(x1, last), min(y0, y), y+1
	}
	if x1 == 0 {
		return 0, 0, 0, 0
	}
	return x0, y0, x1, y1
}

// Reset sets the hole to the pixels of a w × h window whose state is not 0. With repeat, a pixel at the border of the
// window is its own neighbour, as Continue and Refine require; otherwise it has no neighbour there, as Harmonic and
// Separate require. The Grid then uses the given level of vector instructions.
func (g *Grid) Reset(level simd.Level, state []uint8, w, h int, repeat bool) {
	g.level = level
	for i := range g.step {
		g.step[i] = StrokeStep
	}
	g.w, g.h, g.repeat = w, h, repeat
	g.memory.Reset()
	for c := range 2 {
		g.blocks[c], g.inside[c], g.cells[c] = g.blocks[c][:0], g.inside[c][:0], g.cells[c][:0]
	}
	g.pads = g.pads[:0]
	x0, y0, x1, y1 := Bounds(state, w, h)
	if x1 == 0 {
		g.rows, g.stride = 0, 0
		return
	}
	// The halves have the colours of the window.
	g.x0, g.y0 = x0-1, y0-1
	g.x0 -= (g.x0 + g.y0) & 1
	g.rows, g.stride = y1-y0+2, (x1-g.x0+2)/2
	for y := y0; y < y1; y++ {
		row := state[y*w : (y+1)*w]
		at := (y - g.y0) * g.stride
		ends := [2]int{}
		for x := x0; x < x1; x++ {
			if row[x] == 0 {
				continue
			}
			c, i := (x+y)&1, at+(x-g.x0)>>1
			if i >= ends[c] {
				ends[c] = i + lanes
				g.blocks[c] = append(g.blocks[c], block{int32(i), int32(i - 1 + (x-g.x0)&1)})
				g.inside[c] = append(g.inside[c], make([]int32, lanes)...)
			}
			lane := len(g.inside[c]) - (ends[c] - i)
			g.inside[c][lane] = -1
			g.cells[c] = append(g.cells[c], cell{int32(y*w + x), int32(i), int32(lane)})
		}
	}
	if repeat && (x0 == 0 || y0 == 0 || x1 == w || y1 == h) {
		g.border(state)
	}
}

// Pixels returns the number of pixels of the hole.
func (g *Grid) Pixels() int { return len(g.cells[0]) + len(g.cells[1]) }

// Drop releases memory kept for reuse if the values take more than most words of 64 bits.
func (g *Grid) Drop(most int) {
	if g.memory.Words() > most {
		*g = Grid{}
	}
}

// border lists the values outside the window that repeat pixels of the hole.
func (g *Grid) border(state []uint8) {
	for y := range g.rows {
		for x := range 2 * g.stride {
			u, v := min(max(g.x0+x, 0), g.w-1)-g.x0, min(max(g.y0+y, 0), g.h-1)-g.y0
			if u == x && v == y || u < 0 || u >= 2*g.stride || state[(g.y0+v)*g.w+g.x0+u] == 0 {
				continue
			}
			g.pads = append(g.pads, pad{int32((x + y) & 1), int32((u + v) & 1), int32(y*g.stride + x/2),
				int32(v*g.stride + u/2)})
		}
	}
}

// alloc returns n values of scratch, valid until the next Reset.
func (g *Grid) alloc(n int) []float32 { return arena.Take[float32](&g.memory, n) }

// halves holds the two colours of a plane.
type halves [2][]float32

// load splits a plane of the window into halves.
func (g *Grid) load(src []float32) halves {
	// Vectors may extend beyond the last row.
	n := g.rows*g.stride + 2*lanes
	out := halves{g.alloc(n), g.alloc(n)}
	for y := range g.rows {
		even, odd := out[y&1][y*g.stride:][:g.stride], out[1-y&1][y*g.stride:][:g.stride]
		v := g.y0 + y
		x0, x1 := g.x0, g.x0+2*g.stride
		if v >= 0 && v < g.h && x0 >= 0 && x1 <= g.w {
			row := src[v*g.w+x0 : v*g.w+x1]
			for i := range even {
				even[i], odd[i] = row[2*i], row[2*i+1]
			}
			continue
		}
		for i := range even {
			even[i], odd[i] = g.value(src, x0+2*i, v), g.value(src, x0+2*i+1, v)
		}
	}
	return out
}

// value returns a pixel of the window, or its substitute outside the window.
func (g *Grid) value(src []float32, x, y int) float32 {
	u, v := min(max(x, 0), g.w-1), min(max(y, 0), g.h-1)
	if !g.repeat && (u != x || v != y) {
		return 0
	}
	return src[v*g.w+u]
}

// store writes the pixels of the hole to a plane.
func (g *Grid) store(dst []float32, from *halves) {
	for c, list := range g.cells {
		half := from[c]
		for i := range list {
			dst[list[i].pixel] = half[list[i].at]
		}
	}
}

// coeffs returns memory for some coefficients of each pixel of the hole. Each block holds one vector per coefficient.
func (g *Grid) coeffs(count int) halves {
	return halves{g.alloc(count * len(g.inside[0])), g.alloc(count * len(g.inside[1]))}
}

// setCoeff writes coefficient k of all pixels of the hole.
func (g *Grid) setCoeff(to *halves, count, k int, src []float32) {
	for c, list := range g.cells {
		for i := range list {
			coeffsAt(to[c], count, list[i].lane)[k*lanes] = src[list[i].pixel]
		}
	}
}

// refresh updates the repeated pixels outside the window.
func (g *Grid) refresh(planes []halves) {
	for i := range g.pads {
		p := &g.pads[i]
		for k := range planes {
			planes[k][p.half][p.at] = planes[k][p.fromHalf][p.from]
		}
	}
}
