//go:build goexperiment.simd && amd64

package network

import (
	"simd/archsimd"
	"unsafe"
)

// The vector kernels of the input process inputLanes cells at a time, up to the end of a row or beyond it.

func darkest256(dst, a, b, c []uint8) {
	d, p, q, r := pointerTo(dst), pointerTo(a), pointerTo(b), pointerTo(c)
	for i := 0; i < len(dst); i += 16 {
		v := load16(p, i).Min(load16(q, i)).Min(load16(r, i))
		v.Store((*[16]uint8)(unsafe.Add(d, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func exchange256(sums, enter, leave []int32) {
	s, e, l := pointerTo(sums), pointerTo(enter), pointerTo(leave)
	for i := 0; i < len(sums); i += inputLanes {
		store8(s, i, load8(s, i).Add(load8(e, i)).Sub(load8(l, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func cells256(p *inputRows, row []int32) {
	pixels, dst, n := pointerTo(p.pixels), pointerTo(row), p.stride
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
	s, q := pointerTo(p.sums), pointerTo(p.quads)
	for i := 0; i < len(p.sums)-inputLanes; i += inputLanes {
		store8(q, i, load8(s, i).Add(load8(s, i+1)).Add(load8(s, i+2).Add(load8(s, i+3))))
	}
}

// window256 returns figure f summed over the surroundings, whose first column is x.
func window256(p *inputRows, f, x int) archsimd.Int32x8 {
	q, i := pointerTo(p.quads), f*p.stride+x
	four := load8(q, i).Add(load8(q, i+4)).Add(load8(q, i+8).Add(load8(q, i+12)))
	return four.Add(load8(pointerTo(p.sums), i+16))
}

// factors256 computes the factors. The integer part of a quotient of integers below 2^24 is exact in float32 if the
// product of quotient and divisor is below 2^24: a quotient that is not an integer is then further from the next one
// than the largest rounding error. That of the share may be rounded up to the next integer, and is then too large by
// 1.
func factors256(p *inputRows, rows int32) {
	sumQuads256(p)
	dst, n := pointerTo(p.factors), p.stride
	eight, wide := archsimd.BroadcastFloat32x8(8<<fraction), archsimd.BroadcastFloat32x8(32<<fraction)
	whole := archsimd.BroadcastInt32x8(32 << fraction)
	top, round := archsimd.BroadcastInt32x8(Top), archsimd.BroadcastInt32x8(half)
	start := archsimd.BroadcastInt32x8(zero<<fraction + half)
	height := archsimd.BroadcastInt32x8(4 * rows)
	for x := 0; x < p.columns.to-p.columns.from; x += inputLanes {
		n8 := height.Mul(load8(pointerTo(p.counts), x))
		light, squares := window256(p, 4, x), window256(p, 5, x)
		var deviation archsimd.Int32x8
		deviation = deviation.SetLo(deviation4(n8.GetLo(), light.GetLo(), squares.GetLo()))
		deviation = deviation.SetHi(deviation4(n8.GetHi(), light.GetHi(), squares.GetHi()))
		ease := light.ShiftAllLeft(2).Add(light).ShiftAllRight(6).Add(n8.ShiftAllLeft(1).Add(n8))
		gain := eight.Div(deviation.Add(ease).ConvertToFloat32()).ConvertToInt32()
		under := light.Add(n8.ShiftAllLeft(3).Add(n8.ShiftAllLeft(1)))
		share := wide.Div(under.ConvertToFloat32()).ConvertToInt32()
		share = share.Add(whole.Sub(share.Mul(under)).ShiftAllRight(31))
		store8(dst, byGain*n+x, n8.Mul(gain))
		store8(dst, byShare*n+x, n8.Mul(share))
		red, blue, darkest := window256(p, 0, x), window256(p, 2, x), window256(p, 3, x)
		store8(dst, fromRed*n+x, start.Sub(red.Mul(gain)))
		store8(dst, fromGreen*n+x, start.Sub(window256(p, 1, x).Mul(gain)))
		store8(dst, fromBlue*n+x, start.Sub(blue.Mul(gain)))
		store8(dst, fromDarkest*n+x, start.Sub(darkest.Mul(gain)))
		v := deviation.Add(deviation).Mul(share).Add(round).ShiftAllRight(fraction).Min(top)
		v = v.Or(red.Mul(share).Add(round).ShiftAllRight(fraction).Min(top).ShiftAllLeft(8))
		v = v.Or(blue.Mul(share).Add(round).ShiftAllRight(fraction).Min(top).ShiftAllLeft(16))
		v = v.Or(darkest.Mul(share).Add(round).ShiftAllRight(fraction).Min(top).ShiftAllLeft(24))
		store8(dst, around*n+x, v)
	}
	archsimd.ClearAVXUpperBits()
}

// deviation4 returns the square root of n·squares − light², rounded down. All operands are exact in float64.
func deviation4(n, light, squares archsimd.Int32x4) archsimd.Int32x4 {
	l := light.ConvertToFloat64()
	return n.ConvertToFloat64().Mul(squares.ConvertToFloat64()).Sub(l.Mul(l)).Sqrt().ConvertToInt32()
}

func planes256(p *inputRows, dst []int8, segment, k int) {
	factors, n := pointerTo(p.factors), p.stride
	to := pointerTo(dst)
	low := archsimd.BroadcastInt32x8(0xffff)
	top, round := archsimd.BroadcastInt32x8(Top), archsimd.BroadcastInt32x8(half)
	var none archsimd.Int32x8
	for x := 0; x < p.columns.to-p.columns.from; x += inputLanes {
		gain, share := load8(factors, byGain*n+x), load8(factors, byShare*n+x)
		// The planes of even and odd pixels.
		var normal0, normal1, ratio0, ratio1, own0, own1 archsimd.Int32x8
		for c := 3; c >= 0; c-- {
			v := words(pointerTo(p.pixels), 2*(2*c+k)*n+2*(radius+x)).AsInt32x8()
			from := load8(factors, (fromRed+c)*n+x)
			even, odd := v.And(low), v.ShiftAllRight(16)
			normal := even.Mul(gain).Add(from).ShiftAllRight(fraction).Max(none).Min(top)
			normal0 = normal0.ShiftAllLeft(8).Or(normal)
			normal = odd.Mul(gain).Add(from).ShiftAllRight(fraction).Max(none).Min(top)
			normal1 = normal1.ShiftAllLeft(8).Or(normal)
			ratio0 = ratio0.ShiftAllLeft(8).Or(even.Mul(share).Add(round).ShiftAllRight(fraction).Min(top))
			ratio1 = ratio1.ShiftAllLeft(8).Or(odd.Mul(share).Add(round).ShiftAllRight(fraction).Min(top))
			own0 = own0.ShiftAllLeft(8).Or(even.ShiftAllRight(1))
			own1 = own1.ShiftAllLeft(8).Or(odd.ShiftAllRight(1))
		}
		store16(to, 8*x, normal0, normal1)
		store16(to, segment+8*x, ratio0, ratio1)
		same := load8(factors, around*n+x)
		store16(to, 2*segment+8*x, same, same)
		store16(to, 3*segment+8*x, own0, own1)
	}
	archsimd.ClearAVXUpperBits()
}

// store16 stores the elements of a and b in turn at an offset in bytes.
func store16(p unsafe.Pointer, offset int, a, b archsimd.Int32x8) {
	first, second := a.InterleaveLoGrouped(b), a.InterleaveHiGrouped(b)
	p = unsafe.Add(p, offset)
	first.GetLo().Store((*[4]int32)(p))
	second.GetLo().Store((*[4]int32)(unsafe.Add(p, 16)))
	first.GetHi().Store((*[4]int32)(unsafe.Add(p, 32)))
	second.GetHi().Store((*[4]int32)(unsafe.Add(p, 48)))
}

// pointerTo returns a pointer to the first element of a slice.
func pointerTo[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

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
