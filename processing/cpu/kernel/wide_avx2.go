//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for running sums of squares with 256-bit vectors, like those of sums_avx2.go.

func load4x64(p unsafe.Pointer, at int) archsimd.Uint64x4 {
	return archsimd.LoadUint64x4((*[4]uint64)(unsafe.Add(p, 8*at)))
}

func store4x64(p unsafe.Pointer, at int, v archsimd.Uint64x4) {
	v.Store((*[4]uint64)(unsafe.Add(p, 8*at)))
}

// storeSixteen writes sixteen sums.
func storeSixteen(p unsafe.Pointer, at int, a, b, c, d archsimd.Uint64x4) {
	store4x64(p, at, a)
	store4x64(p, at+4, b)
	store4x64(p, at+8, c)
	store4x64(p, at+12, d)
}

func squares8x256(col []uint64, add, sub []uint8) {
	n := len(col)
	if n < 16 {
		squares(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	moved := func(i int) (a, b, e, d archsimd.Uint64x4) {
		// Squares of bytes are words.
		x, y := loadBytes16(p, i).ExtendToUint16(), loadBytes16(q, i).ExtendToUint16()
		x, y = x.Mul(x), y.Mul(y)
		u := x.GetLo().ExtendToUint32().Sub(y.GetLo().ExtendToUint32()).AsInt32x8()
		v := x.GetHi().ExtendToUint32().Sub(y.GetHi().ExtendToUint32()).AsInt32x8()
		a = load4x64(c, i).Add(u.GetLo().ExtendToInt64().AsUint64x4())
		b = load4x64(c, i+4).Add(u.GetHi().ExtendToInt64().AsUint64x4())
		e = load4x64(c, i+8).Add(v.GetLo().ExtendToInt64().AsUint64x4())
		return a, b, e, load4x64(c, i+12).Add(v.GetHi().ExtendToInt64().AsUint64x4())
	}
	last := n - 16
	a1, b1, c1, d1 := moved(last)
	for i := 0; i < last; i += 16 {
		a, b, e, d := moved(i)
		storeSixteen(c, i, a, b, e, d)
	}
	storeSixteen(c, last, a1, b1, c1, d1)
	archsimd.ClearAVXUpperBits()
}

func squares16x256(col []uint64, add, sub []uint16) {
	n := len(col)
	if n < 8 {
		squares(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	moved := func(i int) (a, b archsimd.Uint64x4) {
		// Squares of words are 32 bits.
		x, y := loadWords8(p, i).ExtendToUint32(), loadWords8(q, i).ExtendToUint32()
		x, y = x.Mul(x), y.Mul(y)
		a = load4x64(c, i).Add(x.GetLo().ExtendToUint64()).Sub(y.GetLo().ExtendToUint64())
		return a, load4x64(c, i+4).Add(x.GetHi().ExtendToUint64()).Sub(y.GetHi().ExtendToUint64())
	}
	last := n - 8
	a1, b1 := moved(last)
	for i := 0; i < last; i += 8 {
		a, b := moved(i)
		store4x64(c, i, a)
		store4x64(c, i+4, b)
	}
	store4x64(c, last, a1)
	store4x64(c, last+4, b1)
	archsimd.ClearAVXUpperBits()
}
