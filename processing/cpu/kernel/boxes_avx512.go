//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for box means with 512-bit vectors, which sum along a row and divide in the same pass. The last block goes
// through a copy.

func loadWords32(p unsafe.Pointer, at int) archsimd.Uint16x32 {
	return archsimd.LoadUint16x32((*[32]uint16)(unsafe.Add(p, 2*at)))
}

func loadSums16(p unsafe.Pointer, at int) archsimd.Uint32x16 {
	return archsimd.LoadUint32x16((*[16]uint32)(unsafe.Add(p, 4*at)))
}

func loadFloats16(p unsafe.Pointer, at int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(p, 4*at)))
}

// slideBytes512 is slide for 16-bit sums of bytes.
func slideBytes512(col []uint16, add, sub []uint8) {
	n := len(col)
	if n < 32 {
		slide(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	moved := func(i int) archsimd.Uint16x32 {
		a, s := load8x256(p, i).ExtendToUint16(), load8x256(q, i).ExtendToUint16()
		return loadWords32(c, i).Add(a.Sub(s))
	}
	last := n - 32
	tail := moved(last)
	for i := 0; i < last; i += 32 {
		moved(i).Store((*[32]uint16)(unsafe.Add(c, 2*i)))
	}
	tail.Store((*[32]uint16)(unsafe.Add(c, 2*last)))
	archsimd.ClearAVXUpperBits()
}

// Indices that move a sum of 32 bits to the lanes after those that it covers; 16 selects a zero.
const (
	fourBefore = "\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00" +
		"\x03\x00\x00\x00\x03\x00\x00\x00\x03\x00\x00\x00\x03\x00\x00\x00" +
		"\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00" +
		"\x0b\x00\x00\x00\x0b\x00\x00\x00\x0b\x00\x00\x00\x0b\x00\x00\x00"
	eightBefore = "\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00" +
		"\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00" +
		"\x07\x00\x00\x00\x07\x00\x00\x00\x07\x00\x00\x00\x07\x00\x00\x00" +
		"\x07\x00\x00\x00\x07\x00\x00\x00\x07\x00\x00\x00\x07\x00\x00\x00"
)

func places16(table string) archsimd.Uint32x16 {
	return loadSums16(unsafe.Pointer(unsafe.StringData(table)), 0)
}

// prefix16 holds the constants of a prefix sum over the lanes of a vector.
type prefix16 struct{ four, eight, zero archsimd.Uint32x16 }

// of returns the prefix sums: in each lane the sum of itself and those before it.
func (p prefix16) of(v archsimd.Uint32x16) archsimd.Uint32x16 {
	zero := p.zero.AsUint8x64()
	v = v.Add(v.AsUint8x64().ConcatShiftBytesRightGrouped(12, zero).AsUint32x16())
	v = v.Add(v.AsUint8x64().ConcatShiftBytesRightGrouped(8, zero).AsUint32x16())
	v = v.Add(v.ConcatPermute(p.zero, p.four))
	return v.Add(v.ConcatPermute(p.zero, p.eight))
}

func newPrefix16() prefix16 {
	return prefix16{places16(fourBefore), places16(eightBefore), archsimd.BroadcastUint32x16(0)}
}

// total returns the sum of k column sums in every lane; a whole vector may be read at the last one.
func (p prefix16) total(from unsafe.Pointer, k int) archsimd.Uint32x16 {
	s, i := p.zero, 0
	for ; i+16 <= k; i += 16 {
		s = s.Add(loadSums16(from, i))
	}
	return p.end(s.Add(loadSums16(from, i).Masked(firstOf16(k - i))))
}

// totalWords is total for 16-bit sums.
func (p prefix16) totalWords(from unsafe.Pointer, k int) archsimd.Uint32x16 {
	s, i := p.zero, 0
	for ; i+16 <= k; i += 16 {
		s = s.Add(loadWords16(from, i).ExtendToUint32())
	}
	return p.end(s.Add(loadWords16(from, i).ExtendToUint32().Masked(firstOf16(k - i))))
}

// end returns the sum of all lanes in every lane.
func (p prefix16) end(v archsimd.Uint32x16) archsimd.Uint32x16 {
	return p.of(v).Permute(archsimd.BroadcastUint32x16(15))
}

// firstOf16 selects the first n lanes.
func firstOf16(n int) archsimd.Mask32x16 { return archsimd.Mask32x16FromBits(1<<n - 1) }

// boxes8x512 takes the sums of pairs of columns along the vector, so that it covers 32 columns with steps of 16 lanes.
// Quotients are exact, like those of quotients.
func boxes8x512(dst []uint8, col []uint16, k int, c *Counts) {
	n := len(dst)
	blocks := (n + Block - 1) / Block
	from := unsafe.Pointer(&col[:blocks*Block+k][0])
	half := unsafe.Pointer(&c.half[:blocks*Block][0])
	inverse := unsafe.Pointer(&c.inverse[:blocks*Block][0])
	p := newPrefix16()
	carry := p.totalWords(from, k)
	both := archsimd.BroadcastUint32x16(0x00010001).AsInt16x32()
	second := archsimd.BroadcastUint32x16(0x00010000).AsInt16x32()
	all, byte := archsimd.BroadcastUint32x16(15), archsimd.BroadcastUint32x16(8)
	to := unsafe.Pointer(&dst[0])
	var rest [Block]uint8
	for i := 0; i < blocks*Block; i += Block {
		d := loadWords32(from, i+k).Sub(loadWords32(from, i)).AsInt16x32()
		odd := p.of(d.DotProductPairs(both).AsUint32x16()).Add(carry)
		even := odd.AsInt32x16().Sub(d.DotProductPairs(second))
		carry = odd.Permute(all)
		x := even.ConvertToFloat32().Add(loadFloats16(half, i)).Mul(loadFloats16(inverse, i))
		y := odd.AsInt32x16().ConvertToFloat32().Add(loadFloats16(half, i+16)).Mul(loadFloats16(inverse, i+16))
		q := y.ConvertToInt32().AsUint32x16().ShiftLeft(byte).Or(x.ConvertToInt32().AsUint32x16()).TruncateToUint16()
		if i+Block <= n {
			q.Store((*[16]uint16)(unsafe.Add(to, i)))
		} else {
			q.Store((*[16]uint16)(unsafe.Pointer(&rest)))
		}
	}
	archsimd.ClearAVXUpperBits()
	if i := n &^ (Block - 1); i < n {
		copy(dst[i:], rest[:])
	}
}

// boxes16x512 divides in float32 by slightly too much, which gives the quotient or one less, and then corrects it.
func boxes16x512(dst []uint16, col []uint32, k int, c *Counts) {
	const block = Block / 2
	n := len(dst)
	blocks := (n + block - 1) / block
	from := unsafe.Pointer(&col[:blocks*block+k][0])
	pixels := unsafe.Pointer(&c.pixels[:blocks*block][0])
	inverse := unsafe.Pointer(&c.inverse[:blocks*block][0])
	p := newPrefix16()
	carry := p.total(from, k)
	less := archsimd.BroadcastFloat32x16(1 - 1.0/(1<<21))
	all, one := archsimd.BroadcastUint32x16(15), archsimd.BroadcastUint32x16(1)
	to := unsafe.Pointer(&dst[0])
	var rest [block]uint16
	for i := 0; i < blocks*block; i += block {
		s := p.of(loadSums16(from, i+k).Sub(loadSums16(from, i))).Add(carry)
		carry = s.Permute(all)
		count := loadSums16(pixels, i)
		s = s.Add(count.ShiftRight(one))
		q := s.ConvertToFloat32().Mul(loadFloats16(inverse, i).Mul(less)).ConvertToUint32()
		q = q.Add(one.Masked(s.Sub(q.Mul(count)).GreaterEqual(count)))
		if i+block <= n {
			q.TruncateToUint16().Store((*[16]uint16)(unsafe.Add(to, 2*i)))
		} else {
			q.TruncateToUint16().Store(&rest)
		}
	}
	archsimd.ClearAVXUpperBits()
	if i := n &^ (block - 1); i < n {
		copy(dst[i:], rest[:])
	}
}

func storeSums16(p unsafe.Pointer, at int, v archsimd.Uint32x16) {
	v.Store((*[16]uint32)(unsafe.Add(p, 4*at)))
}

// censor32x512 works on 16 pixels at a time.
func censor32x512(col []uint32, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	if n < 16 {
		censor32(col, add, sub, addOut, subOut)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	r, s := unsafe.Pointer(&addOut[:n][0]), unsafe.Pointer(&subOut[:n][0])
	one, zero := archsimd.BroadcastUint32x16(1<<NarrowShift), archsimd.BroadcastUint32x16(0)
	packed := func(p, out unsafe.Pointer, i int) archsimd.Uint32x16 {
		in := loadBytes16(out, i).ExtendToUint32().Equal(zero)
		return loadWords16(p, i).ExtendToUint32().Or(one).Masked(in)
	}
	last := n - 16
	tail := loadSums16(c, last).Add(packed(p, r, last)).Sub(packed(q, s, last))
	for i := 0; i < last; i += 16 {
		storeSums16(c, i, loadSums16(c, i).Add(packed(p, r, i)).Sub(packed(q, s, i)))
	}
	storeSums16(c, last, tail)
	archsimd.ClearAVXUpperBits()
}

// censoredMean32x512 divides as boxes16x512 does. Most windows hold as many pixels as the one before, so that their
// reciprocal is reused.
func censoredMean32x512(dst []uint16, sum []uint32, inverse []uint64, need uint32) bool {
	n := len(dst)
	if n < 16 {
		return censoredMean32(dst, sum, inverse, need)
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&sum[:n][0])
	low, one, shift := archsimd.BroadcastUint32x16(NarrowMask), archsimd.BroadcastUint32x16(1),
		archsimd.BroadcastUint32x16(NarrowShift)
	enough, first := archsimd.BroadcastUint32x16(need), archsimd.BroadcastUint32x16(0)
	less := archsimd.BroadcastFloat32x16(1 - 1.0/(1<<21))
	same, reciprocal := one, less
	var short uint16
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		s := loadSums16(from, i)
		count := s.ShiftRight(shift)
		short |= count.Less(enough).ToBits()
		s = s.And(low).Add(count.ShiftRight(one))
		count = count.Max(one)
		share := reciprocal
		if count.Equal(same).ToBits() != 0xffff {
			share = less.Div(count.ConvertToFloat32())
			same, reciprocal = count.Permute(first), share.Permute(first)
		}
		q := s.ConvertToFloat32().Mul(share).ConvertToUint32()
		q = q.Add(one.Masked(s.Sub(q.Mul(count)).GreaterEqual(count)))
		q.TruncateToUint16().Store((*[16]uint16)(unsafe.Add(to, 2*i)))
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
	return short != 0
}
