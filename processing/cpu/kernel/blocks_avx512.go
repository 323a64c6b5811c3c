//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for float means with 512-bit vectors, whose lanes are rows.

// Indices into two vectors of doubles, and of floats.
const (
	evenPairs = "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x08\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00" +
		"\x04\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00" +
		"\x0c\x00\x00\x00\x00\x00\x00\x00\x0d\x00\x00\x00\x00\x00\x00\x00"
	oddPairs = "\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00" +
		"\x0a\x00\x00\x00\x00\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00" +
		"\x06\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00" +
		"\x0e\x00\x00\x00\x00\x00\x00\x00\x0f\x00\x00\x00\x00\x00\x00\x00"
	lowHalves = "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00" +
		"\x08\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00" +
		"\x0a\x00\x00\x00\x00\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00"
	highHalves = "\x04\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00" +
		"\x06\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00" +
		"\x0c\x00\x00\x00\x00\x00\x00\x00\x0d\x00\x00\x00\x00\x00\x00\x00" +
		"\x0e\x00\x00\x00\x00\x00\x00\x00\x0f\x00\x00\x00\x00\x00\x00\x00"
	upperRows = "\x00\x00\x00\x00\x08\x00\x00\x00\x10\x00\x00\x00\x18\x00\x00\x00" +
		"\x01\x00\x00\x00\x09\x00\x00\x00\x11\x00\x00\x00\x19\x00\x00\x00" +
		"\x02\x00\x00\x00\x0a\x00\x00\x00\x12\x00\x00\x00\x1a\x00\x00\x00" +
		"\x03\x00\x00\x00\x0b\x00\x00\x00\x13\x00\x00\x00\x1b\x00\x00\x00"
	lowerRows = "\x04\x00\x00\x00\x0c\x00\x00\x00\x14\x00\x00\x00\x1c\x00\x00\x00" +
		"\x05\x00\x00\x00\x0d\x00\x00\x00\x15\x00\x00\x00\x1d\x00\x00\x00" +
		"\x06\x00\x00\x00\x0e\x00\x00\x00\x16\x00\x00\x00\x1e\x00\x00\x00" +
		"\x07\x00\x00\x00\x0f\x00\x00\x00\x17\x00\x00\x00\x1f\x00\x00\x00"
	firstRows = "\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00" +
		"\x10\x00\x00\x00\x11\x00\x00\x00\x12\x00\x00\x00\x13\x00\x00\x00" +
		"\x04\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00\x00" +
		"\x14\x00\x00\x00\x15\x00\x00\x00\x16\x00\x00\x00\x17\x00\x00\x00"
	secondRows = "\x08\x00\x00\x00\x09\x00\x00\x00\x0a\x00\x00\x00\x0b\x00\x00\x00" +
		"\x18\x00\x00\x00\x19\x00\x00\x00\x1a\x00\x00\x00\x1b\x00\x00\x00" +
		"\x0c\x00\x00\x00\x0d\x00\x00\x00\x0e\x00\x00\x00\x0f\x00\x00\x00" +
		"\x1c\x00\x00\x00\x1d\x00\x00\x00\x1e\x00\x00\x00\x1f\x00\x00\x00"
)

// transposeRows transposes the sums of a group's rows into columns.
func transposeRows(g *BlockGroup) {
	from, to, pitch := unsafe.Pointer(&g.col[0]), unsafe.Pointer(&g.lanes[0]), 8*g.pitch
	lo2, hi2, lo4, hi4 := places64(evenPairs), places64(oddPairs), places64(lowHalves), places64(highHalves)
	for i := 0; i < pitch; i += 64 {
		a, b := loadD512(from, i), loadD512(from, i+pitch)
		c, d := loadD512(from, i+2*pitch), loadD512(from, i+3*pitch)
		e, f := loadD512(from, i+4*pitch), loadD512(from, i+5*pitch)
		u, v := loadD512(from, i+6*pitch), loadD512(from, i+7*pitch)
		a, b = a.SelectFromPairGrouped(0, 2, b), a.SelectFromPairGrouped(1, 3, b)
		c, d = c.SelectFromPairGrouped(0, 2, d), c.SelectFromPairGrouped(1, 3, d)
		e, f = e.SelectFromPairGrouped(0, 2, f), e.SelectFromPairGrouped(1, 3, f)
		u, v = u.SelectFromPairGrouped(0, 2, v), u.SelectFromPairGrouped(1, 3, v)
		// Four rows of columns 0 and 4, 2 and 6, 1 and 5, 3 and 7.
		a, c = a.ConcatPermute(c, lo2), a.ConcatPermute(c, hi2)
		b, d = b.ConcatPermute(d, lo2), b.ConcatPermute(d, hi2)
		e, u = e.ConcatPermute(u, lo2), e.ConcatPermute(u, hi2)
		f, v = f.ConcatPermute(v, lo2), f.ConcatPermute(v, hi2)
		storeD512(to, 8*i, a.ConcatPermute(e, lo4))
		storeD512(to, 8*i+64, b.ConcatPermute(f, lo4))
		storeD512(to, 8*i+128, c.ConcatPermute(u, lo4))
		storeD512(to, 8*i+192, d.ConcatPermute(v, lo4))
		storeD512(to, 8*i+256, a.ConcatPermute(e, hi4))
		storeD512(to, 8*i+320, b.ConcatPermute(f, hi4))
		storeD512(to, 8*i+384, c.ConcatPermute(u, hi4))
		storeD512(to, 8*i+448, d.ConcatPermute(v, hi4))
	}
}

// transposeMeans transposes the means of columns into rows; the last eight columns overlap the ones before. Missing
// rows overwrite the sums, which are no longer needed.
func transposeMeans(g *BlockGroup) {
	from, to := unsafe.Pointer(&g.means[0]), meanRowsOf(g)
	upper, lower, first, second := places16(upperRows), places16(lowerRows), places16(firstRows), places16(secondRows)
	for i := 0; ; i += 8 {
		i = min(i, g.n-8)
		a, b := loadF512(from, 32*i), loadF512(from, 32*i+64)
		c, d := loadF512(from, 32*i+128), loadF512(from, 32*i+192)
		a, b = a.ConcatPermute(b, upper), a.ConcatPermute(b, lower)
		c, d = c.ConcatPermute(d, upper), c.ConcatPermute(d, lower)
		storeHalves(to[0], to[1], 4*i, a.ConcatPermute(c, first))
		storeHalves(to[2], to[3], 4*i, a.ConcatPermute(c, second))
		storeHalves(to[4], to[5], 4*i, b.ConcatPermute(d, first))
		storeHalves(to[6], to[7], 4*i, b.ConcatPermute(d, second))
		if i == g.n-8 {
			break
		}
	}
}

func storeHalves(p, q unsafe.Pointer, at int, v archsimd.Float32x16) {
	storeF256(p, at, v.GetLo())
	storeF256(q, at, v.GetHi())
}

// blockMeans512 does for eight rows at a time what blockSums does for one row. Divisions are products with the
// reciprocal, corrected like those of meanVariance512; infinite sums are left out of the correction.
func blockMeans512(g *BlockGroup) {
	n, k := g.n, g.k
	if n < 8 {
		blockMeans(g)
		return
	}
	transposeRows(g)
	lanes, means := unsafe.Pointer(&g.lanes[0]), unsafe.Pointer(&g.means[0])
	counts, one := loadD512(unsafe.Pointer(&g.ny), 0), archsimd.BroadcastFloat64x8(1)
	zero, first := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastUint64x8(0)
	nx := unsafe.Pointer(&g.nx[:n+7][0])
	var last uint64
	pixels, share := one, one
	for j := 0; j < n; j += k {
		run := loadD512(lanes, 64*(j+k-1))
		for i := j + k - 2; i >= j; i-- {
			run = loadD512(lanes, 64*i).Add(run)
			storeD512(lanes, 64*i, run)
		}
		run = zero
		for i := j; i < min(j+k, n); i++ {
			s := loadD512(lanes, 64*i)
			if i > j {
				run = run.Add(loadD512(lanes, 64*(i+k-1)))
				s = s.Add(run)
			}
			if wide := *(*uint64)(unsafe.Add(nx, 8*i)); wide != last {
				last = wide
				pixels = counts.Mul(loadD512(nx, 8*i).Permute(first))
				share = one.Div(pixels)
			}
			q := s.Mul(share)
			rest := zero.Sub(q).MulAdd(pixels, s)
			q = rest.MulAdd(share, q).Merge(q, rest.Equal(rest))
			storeF256(means, 32*i, q.ConvertToFloat32())
		}
	}
	transposeMeans(g)
	archsimd.ClearAVXUpperBits()
}
