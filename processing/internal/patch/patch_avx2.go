//go:build goexperiment.simd && amd64

package patch

import (
	"simd/archsimd"
	"unsafe"

	"blik/internal/simd"
)

func kernelOf(level simd.Level) func(*[Lanes]float32, [][]float32, Group, []int32, []float32, float32) {
	if level >= simd.AVX2 {
		return costs256
	}
	return costs
}

// between is the number of pixels compared between two checks of the limit.
const between = 6

func get(p unsafe.Pointer, at int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*at)))
}

func costs256(sum *[Lanes]float32, planes [][]float32, g Group, offsets []int32, values []float32, limit float32) {
	// w counts the values that are used; v does not move, because past the last value it would point at nothing.
	v, w := unsafe.Pointer(unsafe.SliceData(values)), 0
	worst, from, mask := archsimd.BroadcastFloat32x8(limit), g.from, g.Mask
	s := get(v, 0)
	s = s.AsInt32x8().Xor(s.AsInt32x8()).AsFloat32x8()
	t := s
	if len(planes) == 3 {
		p := unsafe.Pointer(&planes[0][from])
		q, r := unsafe.Pointer(&planes[1][from]), unsafe.Pointer(&planes[2][from])
		for len(offsets) > 0 {
			n := min(between, len(offsets))
			for _, o := range offsets[:n] {
				at := int(o)
				v0, v1, v2, weight := get(v, w), get(v, w+Lanes), get(v, w+2*Lanes), get(v, w+3*Lanes)
				a, b, c := get(p, at).Sub(v0), get(q, at).Sub(v1), get(r, at).Sub(v2)
				s = s.Add(weight.Mul(a.Mul(a).Add(b.Mul(b)).Add(c.Mul(c))))
				a, b, c = get(p, at+8).Sub(v0), get(q, at+8).Sub(v1), get(r, at+8).Sub(v2)
				t = t.Add(weight.Mul(a.Mul(a).Add(b.Mul(b)).Add(c.Mul(c))))
				w += 4 * Lanes
			}
			offsets = offsets[n:]
			if (uint16(s.Less(worst).ToBits())|uint16(t.Less(worst).ToBits())<<8)&mask == 0 {
				break
			}
		}
	} else {
		zero := s
		for i, o := range offsets {
			at := int(from) + int(o)
			first, second := zero, zero
			for _, p := range planes {
				plane := unsafe.Pointer(unsafe.SliceData(p))
				a, b := get(plane, at).Sub(get(v, w)), get(plane, at+8).Sub(get(v, w))
				first, second = first.Add(a.Mul(a)), second.Add(b.Mul(b))
				w += Lanes
			}
			s, t = s.Add(get(v, w).Mul(first)), t.Add(get(v, w).Mul(second))
			w += Lanes
			if i%between == between-1 &&
				(uint16(s.Less(worst).ToBits())|uint16(t.Less(worst).ToBits())<<8)&mask == 0 {
				break
			}
		}
	}
	s.Store((*[8]float32)(sum[:8]))
	t.Store((*[8]float32)(sum[8:]))
	archsimd.ClearAVXUpperBits()
}
