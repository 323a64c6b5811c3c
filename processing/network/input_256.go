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

func planes256(p *inputRows, dst []int8, segment int, here []int32, rows int32) {
	columns := p.columns.to - p.columns.from
	sumQuads256(p)
	gains256(p, at(dst[5*segment:]), columns, rows)
	own256(at(dst[4*segment:]), at(here), p.stride, columns)
	for c := range 4 {
		normals256(at(dst[c*segment:]), p, c, columns)
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

// gains256 computes gains and products, and the cells of means and deviations. The integer part of a quotient of
// integers below 2^24 is exact in float32: a quotient that is not an integer is at least 1/divisor away from the next
// one, twice the largest rounding error.
func gains256(p *inputRows, dst unsafe.Pointer, columns int, rows int32) {
	eight := archsimd.BroadcastFloat32x8(8 << gainBits)
	top := archsimd.BroadcastInt32x8(Top)
	height := archsimd.BroadcastInt32x8(4 * rows)
	for x := 0; x < columns; x += inputLanes {
		n := height.Mul(load8(at(p.counts), x))
		light, squares := window256(p, 4, x), window256(p, 5, x)
		deviation := deviation4(n.GetLo(), light.GetLo(), squares.GetLo())
		upper := deviation4(n.GetHi(), light.GetHi(), squares.GetHi())
		var both archsimd.Int32x8
		both = both.SetLo(deviation).SetHi(upper)
		gain := eight.Div(both.Add(n.ShiftAllLeft(3)).ConvertToFloat32()).ConvertToInt32()
		store8(at(p.gains), x, gain)
		store8(at(p.products), x, gain.Mul(n))
		size := n.ConvertToFloat32()
		half := size.Add(size)
		v := both.Add(both).ConvertToFloat32().Div(size).ConvertToInt32().Min(top).ShiftAllLeft(24)
		v = v.Or(window256(p, 2, x).ConvertToFloat32().Div(half).ConvertToInt32().ShiftAllLeft(16))
		v = v.Or(window256(p, 1, x).ConvertToFloat32().Div(half).ConvertToInt32().ShiftAllLeft(8))
		v = v.Or(window256(p, 0, x).ConvertToFloat32().Div(half).ConvertToInt32())
		store8(dst, x, v)
	}
}

// deviation4 returns the square root of n·squares − light², rounded down. All operands are exact in float64.
func deviation4(n, light, squares archsimd.Int32x4) archsimd.Int32x4 {
	l := light.ConvertToFloat64()
	return n.ConvertToFloat64().Mul(squares.ConvertToFloat64()).Sub(l.Mul(l)).Sqrt().ConvertToInt32()
}

// own256 computes the cells' own means.
func own256(dst, here unsafe.Pointer, stride, columns int) {
	for x := 0; x < columns; x += inputLanes {
		i := x + radius
		v := load8(here, i).ShiftAllRight(3)
		v = v.Or(load8(here, stride+i).ShiftAllRight(3).ShiftAllLeft(8))
		v = v.Or(load8(here, 2*stride+i).ShiftAllRight(3).ShiftAllLeft(16))
		v = v.Or(load8(here, 3*stride+i).ShiftAllRight(3).ShiftAllLeft(24))
		store8(dst, x, v)
	}
}

// normals256 compares the four pixels of a channel with their surroundings. It computes (pixel·n − sum)·gain as the
// difference of pixel·(n·gain) and sum·gain; with half and zero added, neither exceeds 32 bits.
func normals256(dst unsafe.Pointer, p *inputRows, channel, columns int) {
	pixels := at(p.pixels)
	first, second := 2*(2*channel*p.stride+radius), 2*((2*channel+1)*p.stride+radius)
	low := archsimd.BroadcastInt32x8(0xffff)
	offset := archsimd.BroadcastInt32x8(zero<<gainBits + 1<<(gainBits-1))
	top := archsimd.BroadcastInt32x8(Top)
	var none archsimd.Int32x8
	for x := 0; x < columns; x += inputLanes {
		product := load8(at(p.products), x)
		base := offset.Sub(window256(p, channel, x).Mul(load8(at(p.gains), x)))
		v0, v1 := words(pixels, first+2*x).AsInt32x8(), words(pixels, second+2*x).AsInt32x8()
		a := v0.And(low).Mul(product).Add(base).ShiftAllRight(gainBits).Max(none).Min(top)
		b := v0.ShiftAllRight(16).Mul(product).Add(base).ShiftAllRight(gainBits).Max(none).Min(top)
		a = a.Or(b.ShiftAllLeft(8))
		b = v1.And(low).Mul(product).Add(base).ShiftAllRight(gainBits).Max(none).Min(top)
		a = a.Or(b.ShiftAllLeft(16))
		b = v1.ShiftAllRight(16).Mul(product).Add(base).ShiftAllRight(gainBits).Max(none).Min(top)
		store8(dst, x, a.Or(b.ShiftAllLeft(24)))
	}
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
