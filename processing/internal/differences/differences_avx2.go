//go:build goexperiment.simd && amd64

package differences

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// lanes is the number of pixels in a vector; products are computed in halves of it.
const lanes = 8

func get(p []float32, i int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[lanes]float32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p)), 4*i)))
}

// vectors holds constants that every row needs, in all lanes.
type vectors struct {
	scale, shift [lanes / 2]float64
	top, bottom  [lanes]float32
}

func newVectors() (v vectors) {
	for i := range lanes {
		v.scale[i/2], v.shift[i/2], v.top[i], v.bottom[i] = scale, shift, most, -most
	}
	return v
}

// addVectors adds all pixels that fill whole vectors and returns their number.
func (s *Sums) addVectors(a, b *Row, n int) (done int, ok bool) {
	sum := &s.products
	s0, s1, s2 := archsimd.LoadFloat64x4(&sum[0]), archsimd.LoadFloat64x4(&sum[1]), archsimd.LoadFloat64x4(&sum[2])
	s3, s4, s5 := archsimd.LoadFloat64x4(&sum[3]), archsimd.LoadFloat64x4(&sum[4]), archsimd.LoadFloat64x4(&sum[5])
	scale, high := archsimd.LoadFloat64x4(&s.scale), archsimd.LoadFloat64x4(&s.shift)
	top, bottom := archsimd.LoadFloat32x8(&s.top), archsimd.LoadFloat32x8(&s.bottom)
	zero := top.Sub(top)
	ok = true
	pairs := 0
	for ; done+lanes <= n; done += lanes {
		known := get(a.Known, done).Mul(get(b.Known, done)).NotEqual(zero)
		d0 := get(a.Pix[0], done).Sub(get(b.Pix[0], done)).Masked(known)
		d1 := get(a.Pix[1], done).Sub(get(b.Pix[1], done)).Masked(known)
		d2 := get(a.Pix[2], done).Sub(get(b.Pix[2], done)).Masked(known)
		fits := d0.Less(top).And(d1.Less(top)).And(d2.Less(top)).And(d0.Greater(bottom)).And(d1.Greater(bottom)).
			And(d2.Greater(bottom))
		if fits.ToBits() != 1<<lanes-1 {
			ok = false
			break
		}
		pairs += bits.OnesCount8(known.ToBits())
		p, q, r := d0.GetLo().ConvertToFloat64(), d1.GetLo().ConvertToFloat64(), d2.GetLo().ConvertToFloat64()
		s0 = s0.Add(p.Mul(p).Mul(scale).Add(high).Sub(high))
		s1 = s1.Add(q.Mul(p).Mul(scale).Add(high).Sub(high))
		s2 = s2.Add(q.Mul(q).Mul(scale).Add(high).Sub(high))
		s3 = s3.Add(r.Mul(p).Mul(scale).Add(high).Sub(high))
		s4 = s4.Add(r.Mul(q).Mul(scale).Add(high).Sub(high))
		s5 = s5.Add(r.Mul(r).Mul(scale).Add(high).Sub(high))
		p, q, r = d0.GetHi().ConvertToFloat64(), d1.GetHi().ConvertToFloat64(), d2.GetHi().ConvertToFloat64()
		s0 = s0.Add(p.Mul(p).Mul(scale).Add(high).Sub(high))
		s1 = s1.Add(q.Mul(p).Mul(scale).Add(high).Sub(high))
		s2 = s2.Add(q.Mul(q).Mul(scale).Add(high).Sub(high))
		s3 = s3.Add(r.Mul(p).Mul(scale).Add(high).Sub(high))
		s4 = s4.Add(r.Mul(q).Mul(scale).Add(high).Sub(high))
		s5 = s5.Add(r.Mul(r).Mul(scale).Add(high).Sub(high))
	}
	s0.Store(&sum[0])
	s1.Store(&sum[1])
	s2.Store(&sum[2])
	s3.Store(&sum[3])
	s4.Store(&sum[4])
	s5.Store(&sum[5])
	archsimd.ClearAVXUpperBits()
	s.pairs += pairs
	return done, ok
}
