package network

import "unsafe"

// job is a row of four output channels to compute.
type job struct {
	memory []int8
	pack   *pack
	// taps holds the positions of the first cell for each tap, dst that of the result.
	taps []int32
	dst  int
	// shared, if not nil, holds sums to add to, each for two cells, instead of the bias; those of the four channels are
	// apart bytes from each other. If raw is set, the result is the sums, not divided, likewise apart.
	shared []int8
	apart  int
	raw    bool
	// blocks is the number of blocks of two vectors of cells.
	blocks int
	// add is added to the first channel of the result, which is then clamped to 0…top.
	add, top int32
	// sums holds the sums of a block, one channel after the other, with room to align it to a cache line.
	sums [4*32 + line/4]int32
}

// plainLanes is the number of cells of half a block for plain code.
const plainLanes = 16

// convolvePlain computes a row of four channels, or of their sums, without vector instructions.
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
			if j.shared != nil {
				for x, v := range cellsOf(j.shared, o*j.apart+at/2, cells/2) {
					row[2*x], row[2*x+1] = int32(v), int32(v)
				}
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
		if j.raw {
			for o := range 4 {
				dst := cellsOf(j.memory, j.dst+o*j.apart+at, cells)
				for x := range dst {
					dst[x] = uint32(j.sums[cells*o+x])
				}
			}
			continue
		}
		dst := cellsOf(j.memory, j.dst+at, cells)
		for x := range dst {
			v := uint32(0)
			add := j.add
			for o := range 4 {
				y := min(max(j.sums[cells*o+x]>>p.shift[o]+add, 0), j.top)
				v |= uint32(y) << (8 * o)
				add = 0
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
		exchange: exchangePlain, factors: factorsPlain, planes: planesPlain, double: doublePlain, halve: halvePlain,
		outputs: outputsPlain}
}

// doublePlain writes each cell twice; of the last cell it writes only one if dst has an odd length.
func doublePlain(dst, src []uint32) {
	for i := range dst {
		dst[i] = src[i/2]
	}
}

// halvePlain writes the rounded means of 2 × 2 cells of two rows, channel by channel; dst has half their length.
func halvePlain(dst, upper, lower []uint32) {
	const even = 0x00ff00ff
	for i := range dst {
		a, b, c, d := upper[2*i], upper[2*i+1], lower[2*i], lower[2*i+1]
		low := a&even + b&even + c&even + d&even + 2*0x00010001
		high := a>>8&even + b>>8&even + c>>8&even + d>>8&even + 2*0x00010001
		dst[i] = low>>2&even | high>>2&even<<8
	}
}

// outputsPlain separates the logits of glare, and the kinds if there is room for them, from cells with the channels of
// Outputs.
func outputsPlain(logits, kinds []uint8, cells []uint32) {
	for i, v := range cells {
		logits[i] = uint8(v)
	}
	if kinds == nil {
		return
	}
	for i, v := range cells {
		kinds[i] = KindOf([Outputs]int32{0, int32(v >> 8 & 0xff), int32(v >> 16 & 0xff), int32(v >> 24)})
	}
}
