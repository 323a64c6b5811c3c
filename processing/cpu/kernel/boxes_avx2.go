//go:build goexperiment.simd && amd64

package kernel

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// Kernels for backgrounds and box means with 256-bit vectors. Means sum along a row and divide in the same pass.

// slideBytes256 is slide for 16-bit sums of bytes.
func slideBytes256(col []uint16, add, sub []uint8) {
	n := len(col)
	if n < 16 {
		Slide(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	moved := func(i int) archsimd.Uint16x16 {
		a, s := loadBytes16(p, i).ExtendToUint16(), loadBytes16(q, i).ExtendToUint16()
		return loadWords16(c, i).Add(a.Sub(s))
	}
	last := n - 16
	tail := moved(last)
	for i := 0; i < last; i += 16 {
		store16x256(c, 2*i, moved(i))
	}
	store16x256(c, 2*last, tail)
	archsimd.ClearAVXUpperBits()
}

// censor32x256 works on 16 pixels at a time. Where nothing is excluded, which is almost everywhere, the counts of the
// two rows cancel.
func censor32x256(col []uint32, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	if n < 16 {
		censor32(col, add, sub, addOut, subOut)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	r, s := unsafe.Pointer(&addOut[:n][0]), unsafe.Pointer(&subOut[:n][0])
	one, zero := archsimd.BroadcastUint32x8(1<<NarrowShift), archsimd.BroadcastUint16x16(0)
	packed := func(p, out unsafe.Pointer, i int) (low, high archsimd.Uint32x8) {
		in, v := loadBytes16(out, i).ExtendToUint16().Equal(zero).ToInt16x16(), loadWords16(p, i)
		low = v.GetLo().ExtendToUint32().Or(one).And(in.GetLo().ExtendToInt32().AsUint32x8())
		return low, v.GetHi().ExtendToUint32().Or(one).And(in.GetHi().ExtendToInt32().AsUint32x8())
	}
	moved := func(i int) (low, high archsimd.Uint32x8) {
		a, b := packed(p, r, i)
		d, e := packed(q, s, i)
		return loadSums8(c, i).Add(a).Sub(d), loadSums8(c, i+8).Add(b).Sub(e)
	}
	last := n - 16
	low1, high1 := moved(last)
	for i := 0; i < last; i += 16 {
		var low, high archsimd.Uint32x8
		if loadBytes16(r, i).Or(loadBytes16(s, i)).IsZero() {
			low, high = moved16(c, p, q, i)
		} else {
			low, high = moved(i)
		}
		storeSums8(c, i, low)
		storeSums8(c, i+8, high)
	}
	storeSums8(c, last, low1)
	storeSums8(c, last+8, high1)
	archsimd.ClearAVXUpperBits()
}

// narrowMeans256 works on 16 windows at a time. Where all hold the same number of pixels, it divides exactly by
// ⌈2³²/n⌉: a sum s of n² · 65536 at most errs by less than s·n/2³² < 1 unit of 1/n. Other sums are divided
// in float32 by slightly too much, which gives the quotient or one less, and then corrected.
func narrowMeans256(dst []uint16, poor []uint64, col []uint32, k int, need uint32) bool {
	const block = 16
	n := len(dst)
	whole := (n + block - 1) / block * block
	from, to := unsafe.Pointer(&col[:whole+k][0]), unsafe.Pointer(&dst[0])
	bits := unsafe.Pointer(&poor[:(n+63)/64][0])
	poor[(n-1)/64] = 0
	p := newPrefix8()
	carry := p.total(col, k)
	low, one, seven := archsimd.BroadcastUint32x8(NarrowMask), archsimd.BroadcastUint32x8(1),
		archsimd.BroadcastUint32x8(7)
	shift, order := archsimd.BroadcastUint32x8(NarrowShift), places32(twos)
	upper, half := archsimd.BroadcastUint64x4((1<<32-1)<<32), archsimd.BroadcastUint64x4(32)
	enough, less := archsimd.BroadcastInt32x8(int32(need)), archsimd.BroadcastFloat32x8(1-1.0/(1<<21))
	// same is the number of pixels that reciprocal belongs to; at first, one that no window can hold.
	same, more, reciprocal := low, p.zero, p.zero
	short := uint16(0)
	var rest [block]uint16
	for i := 0; i < whole; i += block {
		d, e := loadSums8(from, i+k).Sub(loadSums8(from, i)), loadSums8(from, i+8+k).Sub(loadSums8(from, i+8))
		d, e = sums8(d, p.zero), sums8(e, p.zero)
		s := d.Add(carry)
		carry = carry.Add(last8(d))
		u := e.Add(carry)
		carry = carry.Add(last8(e))
		count, count2 := s.ShiftRight(shift), u.ShiftRight(shift)
		s, u = s.And(low), u.And(low)
		var v archsimd.Uint16x16
		var found uint16
		if count.Equal(same).And(count2.Equal(same)).ToBits() == 0xff {
			s, u = s.Add(more), u.Add(more)
			a := s.MulEvenWiden(reciprocal).ShiftRight(half)
			b := s.AsUint64x4().ShiftRight(half).AsUint32x8().MulEvenWiden(reciprocal).And(upper)
			f := u.MulEvenWiden(reciprocal).ShiftRight(half)
			g := u.AsUint64x4().ShiftRight(half).AsUint32x8().MulEvenWiden(reciprocal).And(upper)
			v = a.Or(b).AsInt32x8().SaturateToUint16ConcatGrouped(f.Or(g).AsInt32x8())
		} else {
			found = uint16(enough.Greater(count.AsInt32x8()).ToBits()) |
				uint16(enough.Greater(count2.AsInt32x8()).ToBits())<<8
			s, u = s.Add(count.ShiftRight(one)), u.Add(count2.ShiftRight(one))
			count, count2 = count.Max(one), count2.Max(one)
			a := s.AsInt32x8().ConvertToFloat32().Mul(less.Div(count.AsInt32x8().ConvertToFloat32())).ConvertToInt32()
			b := u.AsInt32x8().ConvertToFloat32().Mul(less.Div(count2.AsInt32x8().ConvertToFloat32())).ConvertToInt32()
			// The mask is −1 where at least the count is left.
			left := s.Sub(a.AsUint32x8().Mul(count)).AsInt32x8()
			a = a.Sub(left.Greater(count.Sub(one).AsInt32x8()).ToInt32x8())
			left = u.Sub(b.AsUint32x8().Mul(count2)).AsInt32x8()
			b = b.Sub(left.Greater(count2.Sub(one).AsInt32x8()).ToInt32x8())
			v = a.SaturateToUint16ConcatGrouped(b)
			if m := count2.GetHi().GetElem(3); m >= max(need, 2) {
				same = count2.Permute(seven)
				more = same.ShiftRight(one)
				reciprocal = archsimd.BroadcastUint32x8((1<<32-1)/m + 1)
			}
		}
		v = v.AsUint32x8().Permute(order).AsUint16x16()
		if i+block > n {
			v.Store(&rest)
			found &= 1<<(n-i) - 1
		} else {
			store16x256(to, 2*i, v)
		}
		*(*uint16)(unsafe.Add(bits, i/8)) = found
		short |= found
	}
	archsimd.ClearAVXUpperBits()
	if i := n &^ (block - 1); i < n {
		copy(dst[i:], rest[:])
	}
	return short != 0
}

// prefix8 holds the constants of a prefix sum over the lanes of a vector.
type prefix8 struct{ three, upper, zero archsimd.Uint32x8 }

func newPrefix8() prefix8 {
	return prefix8{archsimd.BroadcastUint32x8(3), places32(upperHalf), archsimd.BroadcastUint32x8(0)}
}

// of returns the prefix sums: in each lane the sum of itself and those before it.
func (p prefix8) of(v archsimd.Uint32x8) archsimd.Uint32x8 {
	zero := p.zero.AsUint8x32()
	v = v.Add(v.AsUint8x32().ConcatShiftBytesRightGrouped(12, zero).AsUint32x8())
	v = v.Add(v.AsUint8x32().ConcatShiftBytesRightGrouped(8, zero).AsUint32x8())
	return v.Add(v.Permute(p.three).And(p.upper))
}

// sums8 is prefix8.of by shuffles inside the halves of a vector and moves of whole halves. On Zen 3 it is faster in the
// kernels that divide whole numbers of 32 bits, and slower in others.
func sums8(v, zero archsimd.Uint32x8) archsimd.Uint32x8 {
	v = v.Add(v.AsUint8x32().ConcatShiftBytesRightGrouped(12, zero.AsUint8x32()).AsUint32x8())
	v = v.Add(v.AsUint8x32().ConcatShiftBytesRightGrouped(8, zero.AsUint8x32()).AsUint32x8())
	return v.Add(v.PermuteScalarsGrouped(3, 3, 3, 3).Select128FromPair(2, 0, zero))
}

// last8 returns the last lane in every lane, by the same means.
func last8(v archsimd.Uint32x8) archsimd.Uint32x8 {
	v = v.PermuteScalarsGrouped(3, 3, 3, 3)
	return v.Select128FromPair(1, 1, v)
}

// total returns the sum of k column sums in every lane.
func (p prefix8) total(col []uint32, k int) archsimd.Uint32x8 {
	first := k % 8
	s, from := p.zero, unsafe.Pointer(&col[:k][0])
	for i := first; i < k; i += 8 {
		s = s.Add(loadSums8(from, i))
	}
	return p.end(s).Add(archsimd.BroadcastUint32x8(sumUp(col[:first])))
}

// totalWords is total for 16-bit sums.
func (p prefix8) totalWords(col []uint16, k int) archsimd.Uint32x8 {
	first := k % 8
	s, from := p.zero, unsafe.Pointer(&col[:k][0])
	for i := first; i < k; i += 8 {
		v := archsimd.LoadUint16x8((*[8]uint16)(unsafe.Add(from, 2*i)))
		s = s.Add(v.ExtendToUint32())
	}
	return p.end(s).Add(archsimd.BroadcastUint32x8(sumUp(col[:first])))
}

// end returns the sum of all lanes in every lane.
func (p prefix8) end(v archsimd.Uint32x8) archsimd.Uint32x8 {
	return p.of(v).Permute(archsimd.BroadcastUint32x8(7))
}

// boxes8x256 takes the sums of pairs of columns along the vector, so that it works on 32 columns with two steps of 8.
// Quotients are exact, like those of quotients.
func boxes8x256(dst []uint8, col []uint16, k int, c *Counts) {
	n := len(dst)
	blocks := (n + Block - 1) / Block
	from := unsafe.Pointer(&col[:blocks*Block+k][0])
	half := unsafe.Pointer(&c.half[:blocks*Block][0])
	inverse := unsafe.Pointer(&c.inverse[:blocks*Block][0])
	p := newPrefix8()
	carry := p.totalWords(col, k)
	both := archsimd.BroadcastUint32x8(0x00010001).AsInt16x16()
	second := archsimd.BroadcastUint32x8(0x00010000).AsInt16x16()
	seven, byte, order := archsimd.BroadcastUint32x8(7), archsimd.BroadcastUint32x8(8), places32(twos)
	// pairs returns the means of 16 columns starting at i, two per lane; their counts are at j.
	pairs := func(i, j int) archsimd.Int32x8 {
		d := loadWords16(from, i+k).Sub(loadWords16(from, i)).AsInt16x16()
		odd := p.of(d.DotProductPairs(both).AsUint32x8()).Add(carry)
		even := odd.AsInt32x8().Sub(d.DotProductPairs(second))
		carry = odd.Permute(seven)
		x := even.ConvertToFloat32().Add(loadFloats8(half, j)).Mul(loadFloats8(inverse, j))
		y := odd.AsInt32x8().ConvertToFloat32().Add(loadFloats8(half, j+16)).Mul(loadFloats8(inverse, j+16))
		return y.ConvertToInt32().AsUint32x8().ShiftLeft(byte).Or(x.ConvertToInt32().AsUint32x8()).AsInt32x8()
	}
	to := unsafe.Pointer(&dst[0])
	var rest [Block]uint8
	for i := 0; i < blocks*Block; i += Block {
		a := pairs(i, i)
		q := a.SaturateToUint16ConcatGrouped(pairs(i+16, i+8)).AsUint32x8().Permute(order).AsUint8x32()
		if i+Block <= n {
			store8x256(to, i, q)
		} else {
			q.Store(&rest)
		}
	}
	archsimd.ClearAVXUpperBits()
	if i := n &^ (Block - 1); i < n {
		copy(dst[i:], rest[:])
	}
}

// boxes16x256 divides sums of n samples by ⌈2³²⁺ᵏ/n⌉ where all windows are whole; 2ᵏ is the largest power of two below
// n. A sum s of n · 65536 at most errs by less than s · n/2³²⁺ᵏ < 1 unit of 1/n, because n is below 2¹⁴. At the sides
// of the picture it divides as narrowMeans256 does.
func boxes16x256(dst []uint16, col []uint32, k int, c *Counts) {
	const block = Block / 2
	n := len(dst)
	blocks := (n + block - 1) / block
	from := unsafe.Pointer(&col[:blocks*block+k][0])
	pixels := unsafe.Pointer(&c.pixels[:blocks*block][0])
	inverse := unsafe.Pointer(&c.inverse[:blocks*block][0])
	first, end, held := c.from, c.to-block, uint32(1)
	if first < c.to {
		held = c.pixels[first]
	}
	power := max(0, bits.Len32(held-1)-1)
	whole := archsimd.BroadcastUint32x8(uint32((uint64(1)<<(32+power)-1)/uint64(held) + 1))
	if held == 1 {
		// The factor would need a bit more.
		end = -1
	}
	p := newPrefix8()
	carry := p.total(col, k)
	less := archsimd.BroadcastFloat32x8(1 - 1.0/(1<<21))
	one, order := archsimd.BroadcastUint32x8(1), places32(twos)
	half, odd := archsimd.BroadcastUint32x8(held/2), archsimd.BroadcastUint64x4(32)
	shift, low := archsimd.BroadcastUint64x4(uint64(power)), archsimd.BroadcastUint64x4(uint64(32+power))
	upper := archsimd.BroadcastUint64x4((1<<32 - 1) << 32)
	to := unsafe.Pointer(&dst[0])
	var rest [block]uint16
	for i := 0; i < blocks*block; i += block {
		d := sums8(loadSums8(from, i+k).Sub(loadSums8(from, i)), p.zero)
		e := sums8(loadSums8(from, i+8+k).Sub(loadSums8(from, i+8)), p.zero)
		s := d.Add(carry)
		carry = carry.Add(last8(d))
		u := e.Add(carry)
		carry = carry.Add(last8(e))
		var a, b archsimd.Int32x8
		if i >= first && i <= end {
			s, u = s.Add(half), u.Add(half)
			x := s.AsUint64x4().ShiftRight(odd).AsUint32x8().MulEvenWiden(whole).ShiftRight(shift).And(upper)
			y := u.AsUint64x4().ShiftRight(odd).AsUint32x8().MulEvenWiden(whole).ShiftRight(shift).And(upper)
			a = s.MulEvenWiden(whole).ShiftRight(low).Or(x).AsInt32x8()
			b = u.MulEvenWiden(whole).ShiftRight(low).Or(y).AsInt32x8()
		} else {
			count, count2 := loadSums8(pixels, i), loadSums8(pixels, i+8)
			s, u = s.Add(count.ShiftRight(one)), u.Add(count2.ShiftRight(one))
			a = s.AsInt32x8().ConvertToFloat32().Mul(loadFloats8(inverse, i).Mul(less)).ConvertToInt32()
			b = u.AsInt32x8().ConvertToFloat32().Mul(loadFloats8(inverse, i+8).Mul(less)).ConvertToInt32()
			// The mask is −1 where at least the count is left.
			left := s.Sub(a.AsUint32x8().Mul(count)).AsInt32x8()
			a = a.Sub(left.Greater(count.Sub(one).AsInt32x8()).ToInt32x8())
			left = u.Sub(b.AsUint32x8().Mul(count2)).AsInt32x8()
			b = b.Sub(left.Greater(count2.Sub(one).AsInt32x8()).ToInt32x8())
		}
		q := a.SaturateToUint16ConcatGrouped(b).AsUint32x8().Permute(order).AsUint16x16()
		if i+block <= n {
			store16x256(to, 2*i, q)
		} else {
			q.Store(&rest)
		}
	}
	archsimd.ClearAVXUpperBits()
	if i := n &^ (block - 1); i < n {
		copy(dst[i:], rest[:])
	}
}
