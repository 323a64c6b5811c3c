package network

import "unsafe"

// job is a row of four output channels.
type job struct {
	memory []int8
	pack   *pack
	// taps are the places of the first cell that each tap takes, dst that of the result.
	taps []int32
	dst  int
	// wide is scratch for the weights.
	wide []int8
	// blocks is the number of blocks of two vectors of cells.
	blocks int
	// The result is cut to 0…top after add was added.
	add, top int32
	// sums are those of a block, four channels after each other. There is room to begin at a cache line.
	sums [4*32 + line/4]int32
}

// plainLanes is the number of cells of half a block for plain code.
const plainLanes = 16

// convolvePlain computes a row of four channels without vectors.
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

// cellsOf are n cells from a place on.
func cellsOf(memory []int8, place, n int) []uint32 {
	m := memory[place : place+4*n]
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(m))), n)
}

// plainKernels are those without vectors.
func plainKernels() *kernels {
	return &kernels{lanes: plainLanes, convolve: convolvePlain, darkest: darkestPlain, cells: cellsPlain,
		exchange: exchangePlain, planes: planesPlain, double: doublePlain, part: partPlain}
}

// doublePlain repeats each cell, the last one only if dst has an even number of them.
func doublePlain(dst, src []uint32) {
	for i := range dst {
		dst[i] = src[i/2]
	}
}

// partPlain parts the cells of even columns from those of odd ones.
func partPlain(even, odd, src []uint32) {
	for i := range even {
		even[i], odd[i] = src[2*i], src[2*i+1]
	}
}
