//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for float means with 256-bit vectors, two of which hold a column of a group's rows.

// transposeRows256 transposes the sums of a group's rows into columns.
func transposeRows256(g *BlockGroup) {
	from, to, pitch := unsafe.Pointer(&g.col[0]), unsafe.Pointer(&g.lanes[0]), 8*g.pitch
	for row := 0; row < groupRows; row += 4 {
		for i := 0; i < pitch; i += 32 {
			at := i + row*pitch
			a, b := loadD256(from, at), loadD256(from, at+pitch)
			c, d := loadD256(from, at+2*pitch), loadD256(from, at+3*pitch)
			a, b = a.SelectFromPairGrouped(0, 2, b), a.SelectFromPairGrouped(1, 3, b)
			c, d = c.SelectFromPairGrouped(0, 2, d), c.SelectFromPairGrouped(1, 3, d)
			at = 8*i + 8*row
			storeD256(to, at, a.Select128FromPair(0, 2, c))
			storeD256(to, at+64, b.Select128FromPair(0, 2, d))
			storeD256(to, at+128, a.Select128FromPair(1, 3, c))
			storeD256(to, at+192, b.Select128FromPair(1, 3, d))
		}
	}
}

// transposeMeans256 transposes the means of columns into rows; the last four columns overlap the ones before. Missing
// rows overwrite the sums, which are no longer needed.
func transposeMeans256(g *BlockGroup) {
	from := unsafe.Pointer(&g.means[0])
	to := meanRowsOf(g)
	for i := 0; ; i += 4 {
		i = min(i, g.n-4)
		a, b := loadF256(from, 32*i), loadF256(from, 32*i+32)
		c, d := loadF256(from, 32*i+64), loadF256(from, 32*i+96)
		u, v := a.SelectFromPairGrouped(0, 1, 4, 5, b), c.SelectFromPairGrouped(0, 1, 4, 5, d)
		a, c = a.SelectFromPairGrouped(2, 3, 6, 7, b), c.SelectFromPairGrouped(2, 3, 6, 7, d)
		storeQuarters(to[0], to[4], 4*i, u.SelectFromPairGrouped(0, 2, 4, 6, v))
		storeQuarters(to[1], to[5], 4*i, u.SelectFromPairGrouped(1, 3, 5, 7, v))
		storeQuarters(to[2], to[6], 4*i, a.SelectFromPairGrouped(0, 2, 4, 6, c))
		storeQuarters(to[3], to[7], 4*i, a.SelectFromPairGrouped(1, 3, 5, 7, c))
		if i == g.n-4 {
			break
		}
	}
}

// meanRowsOf returns where the means of a group's rows go.
func meanRowsOf(g *BlockGroup) (to [groupRows]unsafe.Pointer) {
	for i := range to {
		to[i] = unsafe.Pointer(&g.lanes[0])
		if i < len(g.dst) {
			to[i] = unsafe.Pointer(&g.dst[i][:g.n][0])
		}
	}
	return to
}

func storeQuarters(p, q unsafe.Pointer, at int, v archsimd.Float32x8) {
	v.GetLo().Store((*[4]float32)(unsafe.Add(p, at)))
	v.GetHi().Store((*[4]float32)(unsafe.Add(q, at)))
}

// blockMeans256 does for eight rows at a time what blockSums does for one row.
func blockMeans256(g *BlockGroup) {
	n, k := g.n, g.k
	if n < 4 {
		blockMeans(g)
		return
	}
	transposeRows256(g)
	lanes, means := unsafe.Pointer(&g.lanes[0]), unsafe.Pointer(&g.means[0])
	counts := unsafe.Pointer(&g.ny)
	counts1, counts2 := loadD256(counts, 0), loadD256(counts, 32)
	zero := archsimd.BroadcastFloat64x4(0)
	for j := 0; j < n; j += k {
		run1, run2 := loadD256(lanes, 64*(j+k-1)), loadD256(lanes, 64*(j+k-1)+32)
		for i := j + k - 2; i >= j; i-- {
			run1, run2 = loadD256(lanes, 64*i).Add(run1), loadD256(lanes, 64*i+32).Add(run2)
			storeD256(lanes, 64*i, run1)
			storeD256(lanes, 64*i+32, run2)
		}
		run1, run2 = zero, zero
		for i := j; i < min(j+k, n); i++ {
			s1, s2 := loadD256(lanes, 64*i), loadD256(lanes, 64*i+32)
			if i > j {
				run1 = run1.Add(loadD256(lanes, 64*(i+k-1)))
				run2 = run2.Add(loadD256(lanes, 64*(i+k-1)+32))
				s1, s2 = s1.Add(run1), s2.Add(run2)
			}
			nx := archsimd.BroadcastFloat64x4(g.nx[i])
			s1.Div(counts1.Mul(nx)).ConvertToFloat32().Store((*[4]float32)(unsafe.Add(means, 32*i)))
			s2.Div(counts2.Mul(nx)).ConvertToFloat32().Store((*[4]float32)(unsafe.Add(means, 32*i+16)))
		}
	}
	transposeMeans256(g)
	archsimd.ClearAVXUpperBits()
}
