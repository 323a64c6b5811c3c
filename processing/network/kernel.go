package network

import "unsafe"

// job is a row of four output channels to compute.
type job struct {
	memory []int8
	pack   *pack
	// taps holds the positions of the first cell for each tap, dst that of the result.
	taps []int32
	dst  int
	// wide is scratch memory for the expanded weights.
	wide []int8
	// blocks is the number of blocks of two vectors of cells.
	blocks int
	// The result is clamped to 0…top after add is added.
	add, top int32
	// sums holds the sums of a block, one channel after the other, with room to align it to a cache line.
	sums [4*32 + line/4]int32
}

// plainLanes is the number of cells of half a block for plain code.
const plainLanes = 16

// convolvePlain computes a row of four channels without vector instructions.
func convolvePlain(j *job) {
	p := j.pack
	const cells = 2 * plainLanes
	for block := range j.blocks {
		at := 4 * cells * block
		for o := range 4 {
			row := j.sums[cells*o : cells*(o+1)]
			for x := range row {
				row[x] = p.bias[o]
			}
		}
		for k, t := range j.taps {
			src := cellsOf(j.memory, int(t)+at, cells)
			for o := range 4 {
				w := p.weights[4*k+o]
				w0, w1, w2, w3 := w<<24>>24, w<<16>>24, w<<8>>24, w>>24
				row := j.sums[cells*o : cells*(o+1)]
				for x, v := range src {
					row[x] += w0*int32(v&0xff) + w1*int32(v>>8&0xff) + w2*int32(v>>16&0xff) + w3*int32(v>>24)
				}
			}
		}
		dst := cellsOf(j.memory, j.dst+at, cells)
		for x := range dst {
			v := uint32(0)
			for o := range 4 {
				y := min(max(j.sums[cells*o+x]>>p.shift[o]+j.add, 0), j.top)
				v |= uint32(y) << (8 * o)
			}
			dst[x] = v
		}
	}
}

// cellsOf returns n cells, starting at an offset.
func cellsOf(memory []int8, place, n int) []uint32 {
	m := memory[place : place+4*n]
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(m))), n)
}

// plainKernels returns the kernels without vector instructions.
func plainKernels() *kernels {
	return &kernels{lanes: plainLanes, convolve: convolvePlain, darkest: darkestPlain, cells: cellsPlain,
		exchange: exchangePlain, planes: planesPlain, double: doublePlain, part: partPlain}
}

// doublePlain writes each cell twice; of the last cell it writes only one if dst has an odd length.
func doublePlain(dst, src []uint32) {
	for i := range dst {
		dst[i] = src[i/2]
	}
}

// partPlain separates the cells of even columns from those of odd ones.
func partPlain(even, odd, src []uint32) {
	for i := range even {
		even[i], odd[i] = src[2*i], src[2*i+1]
	}
}
