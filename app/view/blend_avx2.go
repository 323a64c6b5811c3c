//go:build goexperiment.simd && amd64

package view

import (
	"simd/archsimd"
	"unsafe"

	"blik/internal/simd"
)

// vectorBlender returns the blender for the processor, nil if it has none.
func vectorBlender() *blender {
	if simd.Chosen() < simd.AVX2 {
		return nil
	}
	return &blender{blend: blend256, interpolate: interpolate256}
}

func blend256(out []lanes, a, b []packed, weight lanes) {
	n := len(out)
	top, bottom, to := unsafe.Pointer(&a[:n][0]), unsafe.Pointer(&b[:n][0]), unsafe.Pointer(&out[0])
	var weights [2][16]uint16
	for i := range weights[0] {
		weights[0][i], weights[1][i] = uint16(256-weight), uint16(weight)
	}
	above, below := archsimd.LoadUint16x16(&weights[0]), archsimd.LoadUint16x16(&weights[1])
	rounding, shift := archsimd.LoadUint16x16(&rounding16), archsimd.LoadUint16x16(&shift16)
	for i := 0; ; i += 4 {
		i = min(i, n-4)
		sum := loadPixels(top, i).Mul(above).Add(loadPixels(bottom, i).Mul(below)).Add(rounding)
		sum.MulHigh(shift).Store((*[16]uint16)(unsafe.Add(to, 8*i)))
		if i == n-4 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// loadPixels returns the lanes of four pixels.
func loadPixels(p unsafe.Pointer, at int) archsimd.Uint16x16 {
	return archsimd.LoadUint8x16((*[16]uint8)(unsafe.Add(p, 4*at))).ExtendToUint16()
}

// Constant vectors. They are never written. Broadcasting or shifting by a number would use a legacy SSE instruction,
// which waits for the upper halves of the registers.
var (
	rounding16 = [16]uint16{128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128}
	// The upper half of a product with shift16 is the other factor shifted right by 8.
	shift16 = [16]uint16{256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256}
	// The upper bytes of lanes, in the first or the second half of each 128 bits.
	upperFirst = [32]int8{1, 3, 5, 7, 9, 11, 13, 15, -1, -1, -1, -1, -1, -1, -1, -1,
		1, 3, 5, 7, 9, 11, 13, 15, -1, -1, -1, -1, -1, -1, -1, -1}
	upperSecond = [32]int8{-1, -1, -1, -1, -1, -1, -1, -1, 1, 3, 5, 7, 9, 11, 13, 15,
		-1, -1, -1, -1, -1, -1, -1, -1, 1, 3, 5, 7, 9, 11, 13, 15}
)

func interpolate256(row []lanes, column []int32, pairs [][8]uint16, out []uint8) {
	n := len(column)
	from, to := unsafe.Pointer(&row[0]), unsafe.Pointer(&out[:4*n][0])
	at, weights := unsafe.Pointer(&column[0]), unsafe.Pointer(&pairs[:n][0])
	first, second := archsimd.LoadInt8x32(&upperFirst), archsimd.LoadInt8x32(&upperSecond)
	rounding := archsimd.LoadUint16x16(&rounding16)
	for i := 0; ; i += 8 {
		i = min(i, n-8)
		a, b := weighted(from, at, weights, i), weighted(from, at, weights, i+2)
		c, d := weighted(from, at, weights, i+4), weighted(from, at, weights, i+6)
		// Columns i, i+2, i+1, i+3, and the next four.
		e := a.InterleaveLoGrouped(b).AsUint16x16().Add(a.InterleaveHiGrouped(b).AsUint16x16())
		f := c.InterleaveLoGrouped(d).AsUint16x16().Add(c.InterleaveHiGrouped(d).AsUint16x16())
		low := e.Add(rounding).AsUint8x32().PermuteOrZeroGrouped(first)
		high := f.Add(rounding).AsUint8x32().PermuteOrZeroGrouped(second)
		all := low.Or(high)
		even, odd := all.GetLo().AsUint32x4(), all.GetHi().AsUint32x4()
		even.InterleaveLo(odd).Store((*[4]uint32)(unsafe.Add(to, 4*i)))
		even.InterleaveHi(odd).Store((*[4]uint32)(unsafe.Add(to, 4*i+16)))
		if i == n-8 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// weighted returns the two neighbours of column i, and in the upper half those of column i+1, times their weights.
func weighted(row, column, weights unsafe.Pointer, i int) archsimd.Uint64x4 {
	left := archsimd.LoadUint16x8((*[8]uint16)(unsafe.Add(row, 8*int(*(*int32)(unsafe.Add(column, 4*i))))))
	right := archsimd.LoadUint16x8((*[8]uint16)(unsafe.Add(row, 8*int(*(*int32)(unsafe.Add(column, 4*i+4))))))
	both := archsimd.Uint16x16{}.SetLo(left).SetHi(right)
	return both.Mul(archsimd.LoadUint16x16((*[16]uint16)(unsafe.Add(weights, 16*i)))).AsUint64x4()
}
