//go:build goexperiment.simd && amd64

package differences

import (
	"simd/archsimd"
	"unsafe"
)

// lanes is the number of pixels in a vector; sums are computed in halves of it.
const lanes = 8

func get(p []float32, i int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[lanes]float32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p)), 4*i)))
}

// betweenVectors is Between for all pairs that fill whole vectors; it returns their number.
func betweenVectors(dst []int64, planes [][]float32, at, to int, known, knownTo []float32) (done int) {
	n := len(dst) &^ (lanes - 1)
	if n == 0 {
		return 0
	}
	scale, most := archsimd.BroadcastFloat32x8(square), archsimd.BroadcastFloat32x8(beyond)
	// Adding 2⁵² to an integer below it leaves the integer in the lowest bits.
	high, pair := archsimd.BroadcastFloat64x4(1<<52), archsimd.BroadcastInt64x4(Pair)
	bits := archsimd.BroadcastInt64x4(1<<52 - 1)
	zero := scale.Sub(scale)
	none := high.Sub(high)
	to64 := func(v archsimd.Float32x4, met archsimd.Float32x4, out *int64) {
		whole := v.ConvertToFloat64().Add(high).AsInt64x4().And(bits).Add(pair)
		whole.Masked(met.ConvertToFloat64().NotEqual(none)).Store((*[lanes / 2]int64)(unsafe.Pointer(out)))
	}
	for ; done < n; done += lanes {
		sum := zero
		for _, p := range planes {
			e := get(p, at+done).Sub(get(p, at+to+done))
			sum = sum.Add(e.Mul(e))
		}
		units := sum.Min(most).Mul(scale).Trunc()
		met := get(known, done).Mul(get(knownTo, done))
		to64(units.GetLo(), met.GetLo(), &dst[done])
		to64(units.GetHi(), met.GetHi(), &dst[done+lanes/2])
	}
	archsimd.ClearAVXUpperBits()
	return done
}

// slideVectors is Slide for all numbers that fill whole vectors; it returns their number.
func slideVectors(totals, old, p, q []int64) (done int) {
	const four = 4
	get := func(p []int64, i int) archsimd.Int64x4 {
		return archsimd.LoadInt64x4((*[four]int64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p)), 8*i)))
	}
	for ; done+four <= len(totals); done += four {
		sum := get(p, done).Add(get(q, done))
		get(totals, done).Add(sum.Sub(get(old, done))).Store((*[four]int64)(totals[done:]))
		sum.Store((*[four]int64)(old[done:]))
	}
	archsimd.ClearAVXUpperBits()
	return done
}
