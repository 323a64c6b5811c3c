//go:build goexperiment.simd && amd64

package network

import "simd/archsimd"

// Permutations of eight cells: the first or last four cells, each twice; the halves of two vectors combined; and two
// groups of four in turn. They are never written.
var (
	firstTwice = [8]uint32{0, 0, 1, 1, 2, 2, 3, 3}
	lastTwice  = [8]uint32{4, 4, 5, 5, 6, 6, 7, 7}
	halves     = [8]uint32{0, 1, 4, 5, 2, 3, 6, 7}
	inTurn     = [8]uint32{0, 4, 1, 5, 2, 6, 3, 7}
)

// Permutations of the bytes of four cells: neighbours alternate, and the low bytes of eight 16-bit numbers go to either
// half. They are never written.
var (
	alternate = [16]int8{0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15}
	lowFirst  = [16]int8{0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1}
	lowLast   = [16]int8{-1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 4, 6, 8, 10, 12, 14}
)

// bytesOf has at index 4·channel + k the permutation that moves this channel of four cells to bytes 4k…4k+3. It is
// never written.
var bytesOf = func() (table [4 * Outputs][16]int8) {
	for i := range table {
		for b := range table[i] {
			table[i][b] = -1
			if b/4 == i%4 {
				table[i][b] = int8(4*(b%4) + i/4)
			}
		}
	}
	return table
}()

func double256(dst, src []uint32) {
	low, high := archsimd.LoadUint32x8(&firstTwice), archsimd.LoadUint32x8(&lastTwice)
	for len(dst) >= 16 {
		v := archsimd.LoadUint32x8((*[8]uint32)(src))
		v.Permute(low).Store((*[8]uint32)(dst))
		v.Permute(high).Store((*[8]uint32)(dst[8:]))
		dst, src = dst[16:], src[8:]
	}
	archsimd.ClearAVXUpperBits()
	doublePlain(dst, src)
}

// both returns a vector with a permutation of 16 bytes in both halves.
func both(order *[16]int8) archsimd.Int8x32 {
	v := archsimd.LoadInt8x16(order)
	var w archsimd.Int8x32
	return w.SetLo(v).SetHi(v)
}

func halve256(dst, upper, lower []uint32) {
	pairs, first, last := both(&alternate), both(&lowFirst), both(&lowLast)
	order := archsimd.LoadUint32x8(&halves)
	one, two := archsimd.BroadcastInt8x32(1), archsimd.BroadcastInt16x16(2)
	for len(dst) >= 8 {
		a := archsimd.LoadUint32x8((*[8]uint32)(upper)).AsUint8x32()
		a = a.Add(archsimd.LoadUint32x8((*[8]uint32)(lower)).AsUint8x32()).PermuteOrZeroGrouped(pairs)
		b := archsimd.LoadUint32x8((*[8]uint32)(upper[8:])).AsUint8x32()
		b = b.Add(archsimd.LoadUint32x8((*[8]uint32)(lower[8:])).AsUint8x32()).PermuteOrZeroGrouped(pairs)
		c := a.DotProductPairsSaturated(one).Add(two).ShiftAllRight(2).AsUint8x32().PermuteOrZeroGrouped(first)
		d := b.DotProductPairsSaturated(one).Add(two).ShiftAllRight(2).AsUint8x32().PermuteOrZeroGrouped(last)
		c.Or(d).AsUint32x8().Permute(order).Store((*[8]uint32)(dst))
		dst, upper, lower = dst[8:], upper[16:], lower[16:]
	}
	archsimd.ClearAVXUpperBits()
	halvePlain(dst, upper, lower)
}

func outputs256(logits, kinds []uint8, cells []uint32) {
	order := archsimd.LoadUint32x8(&inTurn)
	for len(cells) >= 32 {
		a, b := archsimd.LoadUint32x8((*[8]uint32)(cells)), archsimd.LoadUint32x8((*[8]uint32)(cells[8:]))
		c, d := archsimd.LoadUint32x8((*[8]uint32)(cells[16:])), archsimd.LoadUint32x8((*[8]uint32)(cells[24:]))
		channel := func(k int) archsimd.Uint8x32 {
			t := bytesOf[4*k : 4*k+4]
			v := a.AsUint8x32().PermuteOrZeroGrouped(both(&t[0])).Or(b.AsUint8x32().PermuteOrZeroGrouped(both(&t[1])))
			w := c.AsUint8x32().PermuteOrZeroGrouped(both(&t[2])).Or(d.AsUint8x32().PermuteOrZeroGrouped(both(&t[3])))
			return v.Or(w).AsUint32x8().Permute(order).AsUint8x32()
		}
		channel(0).Store((*[32]uint8)(logits))
		if kinds != nil {
			var none archsimd.Uint8x32
			one, two, three := channel(1), channel(2), channel(3)
			most := one.Max(two).Max(three)
			kind := archsimd.BroadcastUint8x32(2).Merge(archsimd.BroadcastUint8x32(3), two.Equal(most))
			kind = archsimd.BroadcastUint8x32(1).Merge(kind, one.Equal(most))
			none.Merge(kind, most.Equal(none)).Store((*[32]uint8)(kinds))
			kinds = kinds[32:]
		}
		cells, logits = cells[32:], logits[32:]
	}
	archsimd.ClearAVXUpperBits()
	outputsPlain(logits, kinds, cells)
}
