//go:build goexperiment.simd && amd64

package network

import (
	"simd/archsimd"
	"unsafe"
)

// The vector kernels of the input process inputLanes cells at a time, up to the end of a row or beyond it.

func darkest256(dst, a, b, c []uint8) {
	d, p, q, r := at(dst), at(a), at(b), at(c)
	for i := 0; i < len(dst); i += 16 {
		v := load16(p, i).Min(load16(q, i)).Min(load16(r, i))
		v.Store((*[16]uint8)(unsafe.Add(d, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func exchange256(sums, enter, leave []int32) {
	s, e, l := at(sums), at(enter), at(leave)
	for i := 0; i < len(sums); i += inputLanes {
		store8(s, i, load8(s, i).Add(load8(e, i)).Sub(load8(l, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func cells256(p *inputRows, row []int32) {
	pixels, dst, n := at(p.pixels), at(row), p.stride
	one := archsimd.LoadInt16x16((*[16]int16)(unsafe.Pointer(&ones)))
	two := one.Add(one)
	for x := 0; x < n; x += inputLanes {
		r0, r1 := words(pixels, 2*x), words(pixels, 2*(n+x))
		g0, g1 := words(pixels, 2*(2*n+x)), words(pixels, 2*(3*n+x))
		b0, b1 := words(pixels, 2*(4*n+x)), words(pixels, 2*(5*n+x))
		d0, d1 := words(pixels, 2*(6*n+x)), words(pixels, 2*(7*n+x))
		store8(dst, x, r0.Add(r1).DotProductPairs(one))
		store8(dst, n+x, g0.Add(g1).DotProductPairs(one))
		store8(dst, 2*n+x, b0.Add(b1).DotProductPairs(one))
		store8(dst, 3*n+x, d0.Add(d1).DotProductPairs(one))
		l0 := r0.Add(b0).Add(g0.Add(g0)).Add(two).ShiftAllRight(2)
		l1 := r1.Add(b1).Add(g1.Add(g1)).Add(two).ShiftAllRight(2)
		store8(dst, 4*n+x, l0.Add(l1).DotProductPairs(one))
		store8(dst, 5*n+x, l0.DotProductPairs(l0).Add(l1.DotProductPairs(l1)))
	}
	archsimd.ClearAVXUpperBits()
}

// sumQuads256 computes the sums of every four adjacent columns of sums.
func sumQuads256(p *inputRows) {
	s, q := at(p.sums), at(p.quads)
	for i := 0; i < len(p.sums)-inputLanes; i += inputLanes {
		store8(q, i, load8(s, i).Add(load8(s, i+1)).Add(load8(s, i+2).Add(load8(s, i+3))))
	}
}

// window256 returns figure f summed over the surroundings, whose first column is x.
func window256(p *inputRows, f, x int) archsimd.Int32x8 {
	q, i := at(p.quads), f*p.stride+x
	four := load8(q, i).Add(load8(q, i+4)).Add(load8(q, i+8).Add(load8(q, i+12)))
	return four.Add(load8(at(p.sums), i+16))
}

// at returns a pointer to the first element of a slice.
func at[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

func load16(p unsafe.Pointer, i int) archsimd.Uint8x16 {
	return archsimd.LoadUint8x16((*[16]uint8)(unsafe.Add(p, i)))
}

// words loads 16 bytes, starting at index i, as 16-bit numbers.
func words(p unsafe.Pointer, i int) archsimd.Int16x16 {
	return load16(p, i).ExtendToUint16().AsInt16x16()
}

func load8(p unsafe.Pointer, i int) archsimd.Int32x8 {
	return archsimd.LoadInt32x8((*[8]int32)(unsafe.Add(p, 4*i)))
}

func store8(p unsafe.Pointer, i int, v archsimd.Int32x8) {
	v.Store((*[8]int32)(unsafe.Add(p, 4*i)))
}
