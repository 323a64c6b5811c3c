//go:build goexperiment.simd && amd64

package patch

import (
	"simd/archsimd"
	"unsafe"

	"blik/internal/simd"
)

func kernelOf(level simd.Level) func(*[lanes]float32, [][]float32, Group, []int32, []float32, float32) {
	if level == simd.Plain {
		return costs
	}
	return costs256
}

func get(p unsafe.Pointer, at int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[lanes]float32)(unsafe.Add(p, 4*at)))
}

// between is how many pixels are compared between two looks at the limit.
const between = 6

func costs256(sum *[lanes]float32, planes [][]float32, g Group, offsets []int32, values []float32, limit float32) {
	worst, from, mask := archsimd.BroadcastFloat32x8(limit), g.from, g.Mask
	s := get(unsafe.Pointer(unsafe.SliceData(values)), 0)
	s = s.AsInt32x8().Xor(s.AsInt32x8()).AsFloat32x8()
	v := unsafe.Pointer(unsafe.SliceData(values))
	if len(planes) == 3 {
		p := unsafe.Pointer(&planes[0][from])
		q, r := unsafe.Pointer(&planes[1][from]), unsafe.Pointer(&planes[2][from])
		for len(offsets) > 0 {
			n := min(between, len(offsets))
			for _, o := range offsets[:n] {
				at := int(o)
				a, b, c := get(p, at).Sub(get(v, 0)), get(q, at).Sub(get(v, lanes)), get(r, at).Sub(get(v, 2*lanes))
				s = s.Add(get(v, 3*lanes).Mul(a.Mul(a).Add(b.Mul(b)).Add(c.Mul(c))))
				v = unsafe.Add(v, 4*4*lanes)
			}
			if offsets = offsets[n:]; s.Less(worst).ToBits()&mask == 0 {
				break
			}
		}
	} else {
		for i, o := range offsets {
			at := int(from) + int(o)
			square := s.AsInt32x8().Xor(s.AsInt32x8()).AsFloat32x8()
			for _, p := range planes {
				d := get(unsafe.Pointer(unsafe.SliceData(p)), at).Sub(get(v, 0))
				square = square.Add(d.Mul(d))
				v = unsafe.Add(v, 4*lanes)
			}
			s = s.Add(get(v, 0).Mul(square))
			v = unsafe.Add(v, 4*lanes)
			if i%between == between-1 && s.Less(worst).ToBits()&mask == 0 {
				break
			}
		}
	}
	s.Store(sum)
	archsimd.ClearAVXUpperBits()
}
