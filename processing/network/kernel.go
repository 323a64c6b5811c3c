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
	// blocks is the number of blocks of cells.
	blocks int
	// add is added to the first channel of the result, which is then clamped to 0…top.
	add, top int32
	// sums holds the sums of a block, one channel after the other, with room to align it to a cache line.
	sums [4*32 + line/4]int32
}

// plainBlock is the number of cells of a block for plain code.
const plainBlock = 32

// convolvePlain computes a row of four channels, or of their sums, without vector instructions. A 64-bit integer holds
// two sums, the first one plus 2³² times the second, so that one multiplication adds to both.
func convolvePlain(j *job) {
	p := j.pack
	const cells = plainBlock
	for block := range j.blocks {
		at := 4 * cells * block
		var sums [2][cells]int64
		for o := range sums {
			for x := range sums[o] {
				sums[o][x] = two(p.bias[2*o], p.bias[2*o+1])
			}
			if j.shared != nil {
				first := cellsOf(j.shared, 2*o*j.apart+at/2, cells/2)
				second := cellsOf(j.shared, (2*o+1)*j.apart+at/2, cells/2)
				for x := range first {
					both := two(int32(first[x]), int32(second[x]))
					sums[o][2*x], sums[o][2*x+1] = both, both
				}
			}
		}
		for k, t := range j.taps {
			var w [2][4]int64
			for o := range w {
				first, second := p.weights[4*k+2*o], p.weights[4*k+2*o+1]
				for c := range 4 {
					w[o][c] = two(first<<(24-8*c)>>24, second<<(24-8*c)>>24)
				}
			}
			src := (*[cells]uint32)(cellsOf(j.memory, int(t)+at, cells))
			for x, v := range src {
				a, b, c, d := int64(v&0xff), int64(v>>8&0xff), int64(v>>16&0xff), int64(v>>24)
				sums[0][x] += w[0][0]*a + w[0][1]*b + w[0][2]*c + w[0][3]*d
				sums[1][x] += w[1][0]*a + w[1][1]*b + w[1][2]*c + w[1][3]*d
			}
		}
		if j.raw {
			for o := range 4 {
				dst := cellsOf(j.memory, j.dst+o*j.apart+at, cells)
				for x := range dst {
					dst[x] = uint32(one(sums[o/2][x], o%2))
				}
			}
			continue
		}
		dst := cellsOf(j.memory, j.dst+at, cells)
		for x := range dst {
			v := uint32(0)
			add := j.add
			for o := range 4 {
				y := min(max(one(sums[o/2][x], o%2)>>p.shift[o]+add, 0), j.top)
				v |= uint32(y) << (8 * o)
				add = 0
			}
			dst[x] = v
		}
	}
}

// two returns an integer that holds two sums.
func two(first, second int32) int64 { return int64(first) + int64(second)<<32 }

// one returns one of two sums, number 0 or 1.
func one(both int64, number int) int32 {
	if number == 0 {
		return int32(both)
	}
	return int32((both - int64(int32(both))) >> 32)
}

// cellsOf returns n cells, starting at an offset.
func cellsOf(memory []int8, place, n int) []uint32 {
	m := memory[place : place+4*n]
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(m))), n)
}

// plainKernels returns the kernels without vector instructions.
func plainKernels() *kernels {
	return &kernels{block: plainBlock, convolve: convolvePlain, darkest: darkestPlain, cells: cellsPlain,
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
