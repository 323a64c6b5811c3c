//go:build goexperiment.simd && amd64

package kriging

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

func pixels(p unsafe.Pointer, at int) archsimd.Int16x16 {
	return archsimd.LoadInt16x16((*[vector]int16)(unsafe.Add(p, 2*at)))
}

// correlateVectors is Correlate for numbers of up to most. With zeros between the rows, each offset is a lag in one
// long row.
func correlateVectors(dst []int64, z []int32, w, reachX, reachY int, most int32, room []int16) {
	h, stride := len(z)/w, w+reachX
	line := room[:Room(h, w, reachX)]
	clear(line)
	for y := range h {
		row := line[y*stride:][:w]
		for x, v := range z[y*w : (y+1)*w] {
			row[x] = int16(v)
		}
	}
	// So many pairs of products fit a sum of 32 bits.
	fit := math.MaxInt32 / (2 * int(max(most, 1)) * int(max(most, 1)))
	start := unsafe.Pointer(unsafe.SliceData(line))
	var sums [lags]int64
	for dy := range reachY + 1 {
		down, up := dst[(reachY+dy)*(reachX+1):][:reachX+1], dst[(reachY-dy)*(reachX+1):][:reachX+1]
		n := (max(h-dy, 0)*stride + vector - 1) / vector
		for x := 0; x <= reachX; x += lags {
			dx := min(x, reachX-lags+1)
			if n == 0 {
				sums = [lags]int64{}
			} else {
				correlate256(&sums, start, unsafe.Add(start, 2*(dy*stride+dx)), n, fit)
			}
			copy(down[dx:], sums[:])
			if dy == 0 {
				continue
			}
			if n > 0 {
				correlate256(&sums, start, unsafe.Add(start, 2*(dy*stride-dx-lags+1)), n, fit)
			}
			for k, v := range sums {
				up[dx+lags-1-k] = v
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// correlate256 multiplies n vectors from p on with those from q on, from the next pixel after q on, and so on.
func correlate256(sums *[lags]int64, p, q unsafe.Pointer, n, fit int) {
	v := pixels(p, 0)
	zero := v.Xor(v).AsInt32x8()
	s0 := zero.AsInt64x4()
	s1, s2, s3 := s0, s0, s0
	for at := 0; at < n*vector; {
		end := at + min(n*vector-at, fit*vector)
		a, b, c, d := zero, zero, zero, zero
		for ; at < end; at += vector {
			v := pixels(p, at)
			a = a.Add(v.DotProductPairs(pixels(q, at)))
			b = b.Add(v.DotProductPairs(pixels(q, at+1)))
			c = c.Add(v.DotProductPairs(pixels(q, at+2)))
			d = d.Add(v.DotProductPairs(pixels(q, at+3)))
		}
		s0 = s0.Add(a.GetLo().ExtendToInt64()).Add(a.GetHi().ExtendToInt64())
		s1 = s1.Add(b.GetLo().ExtendToInt64()).Add(b.GetHi().ExtendToInt64())
		s2 = s2.Add(c.GetLo().ExtendToInt64()).Add(c.GetHi().ExtendToInt64())
		s3 = s3.Add(d.GetLo().ExtendToInt64()).Add(d.GetHi().ExtendToInt64())
	}
	var lanes [lags][4]int64
	s0.Store(&lanes[0])
	s1.Store(&lanes[1])
	s2.Store(&lanes[2])
	s3.Store(&lanes[3])
	for k, l := range lanes {
		sums[k] = (l[0] + l[1]) + (l[2] + l[3])
	}
}

func four(p unsafe.Pointer, at int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[side]float64)(unsafe.Add(p, 8*at)))
}

func all(p unsafe.Pointer, at int) archsimd.Float64x4 {
	return archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(p, 8*at)))
}

//go:noescape
func addProducts256(first, second *[2][side][side]float64, p, p2, d *float64, q int)

// addProductsVectors takes two columns at a time.
func addProductsVectors(sums *[2]square, p, p2, d []float64, q int) {
	for c := 0; c < side; c += 2 {
		addProducts256((*[2][side][side]float64)(sums[0][c:]), (*[2][side][side]float64)(sums[1][c:]),
			&p[0], &p2[0], &d[c], q)
	}
}

//go:noescape
func finish256(sums *square, p, d *float64)

func finishVectors(sums *square, p, d []float64, q int) {
	finish256(sums, &p[side*side*q], &d[side*side*q])
}

// rowProductsVectors has a row of p in each lane.
func rowProductsVectors(sums *[side][side]float64, p, v []float64) {
	a, b := unsafe.Pointer(unsafe.SliceData(p)), unsafe.Pointer(unsafe.SliceData(v))
	s0, s1 := archsimd.LoadFloat64x4(&sums[0]), archsimd.LoadFloat64x4(&sums[1])
	s2, s3 := archsimd.LoadFloat64x4(&sums[2]), archsimd.LoadFloat64x4(&sums[3])
	for at := 0; at < len(v); at += side {
		s0 = s0.Add(four(a, side*at).Mul(all(b, at)))
		s1 = s1.Add(four(a, side*(at+1)).Mul(all(b, at+1)))
		s2 = s2.Add(four(a, side*(at+2)).Mul(all(b, at+2)))
		s3 = s3.Add(four(a, side*(at+3)).Mul(all(b, at+3)))
	}
	s0.Store(&sums[0])
	s1.Store(&sums[1])
	s2.Store(&sums[2])
	s3.Store(&sums[3])
	archsimd.ClearAVXUpperBits()
}

func dotVectors(sum *[side]float64, a, b []float64) {
	p, q := unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b))
	s := archsimd.LoadFloat64x4(sum)
	for at := 0; at < len(a); at += side {
		s = s.Add(four(p, at).Mul(four(q, at)))
	}
	s.Store(sum)
	archsimd.ClearAVXUpperBits()
}
