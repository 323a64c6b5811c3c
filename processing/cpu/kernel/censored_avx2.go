//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for 64-bit running sums with 256-bit vectors. AVX2 can neither convert between floats and 64-bit integers nor
// multiply 64-bit integers.

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

// included are the words of an exclusion mask: all bits where a pixel counts.
func included(out unsafe.Pointer, at int, zero archsimd.Uint16x16) archsimd.Uint16x16 {
	return loadBytes16(out, at).ExtendToUint16().Equal(zero).ToInt16x16().AsUint16x16()
}

// censor256 works on 16 pixels at a time. Where nothing is excluded, which is almost everywhere, the counts of the two
// rows cancel.
func censor256(col []uint64, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	if n < 16 {
		censor(col, add, sub, addOut, subOut)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	r, s := unsafe.Pointer(&addOut[:n][0]), unsafe.Pointer(&subOut[:n][0])
	zero, shift := archsimd.BroadcastUint16x16(0), archsimd.BroadcastUint64x4(CountShift)
	// moved adds the differences of samples and of counts to four sums.
	moved := func(i int, d, counts archsimd.Int32x4) archsimd.Uint64x4 {
		v := load4x64(c, i).Add(d.ExtendToInt64().AsUint64x4())
		return v.Add(counts.ExtendToInt64().AsUint64x4().ShiftLeft(shift))
	}
	step := func(i int) (a, b, e, f archsimd.Uint64x4) {
		in, out := included(r, i, zero), included(s, i, zero)
		x, y := loadWords16(p, i).And(in), loadWords16(q, i).And(out)
		// The masks are −1 where a pixel counts.
		counts := out.Sub(in).AsInt16x16()
		low := x.GetLo().ExtendToUint32().Sub(y.GetLo().ExtendToUint32()).AsInt32x8()
		high := x.GetHi().ExtendToUint32().Sub(y.GetHi().ExtendToUint32()).AsInt32x8()
		less, more := counts.GetLo().ExtendToInt32(), counts.GetHi().ExtendToInt32()
		a, b = moved(i, low.GetLo(), less.GetLo()), moved(i+4, low.GetHi(), less.GetHi())
		return a, b, moved(i+8, high.GetLo(), more.GetLo()), moved(i+12, high.GetHi(), more.GetHi())
	}
	last := n - 16
	a1, b1, e1, f1 := step(last)
	for i := 0; i < last; i += 16 {
		if !loadBytes16(r, i).Or(loadBytes16(s, i)).IsZero() {
			a, b, e, f := step(i)
			storeSixteen(c, i, a, b, e, f)
			continue
		}
		x, y := loadWords16(p, i), loadWords16(q, i)
		low := x.GetLo().ExtendToUint32().Sub(y.GetLo().ExtendToUint32()).AsInt32x8()
		high := x.GetHi().ExtendToUint32().Sub(y.GetHi().ExtendToUint32()).AsInt32x8()
		storeSixteen(c, i, load4x64(c, i).Add(low.GetLo().ExtendToInt64().AsUint64x4()),
			load4x64(c, i+4).Add(low.GetHi().ExtendToInt64().AsUint64x4()),
			load4x64(c, i+8).Add(high.GetLo().ExtendToInt64().AsUint64x4()),
			load4x64(c, i+12).Add(high.GetHi().ExtendToInt64().AsUint64x4()))
	}
	storeSixteen(c, last, a1, b1, e1, f1)
	archsimd.ClearAVXUpperBits()
}
