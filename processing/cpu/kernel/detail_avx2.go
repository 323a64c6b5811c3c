//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

func taps5x256(dst, a, b, c, d, e []float32, w *Weights5) {
	n := len(dst)
	size := 4 * n
	if size < 32 {
		taps5(dst, a, b, c, d, e, w)
		return
	}
	to, p, q := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[:n][0]), unsafe.Pointer(&b[:n][0])
	r, s, u := unsafe.Pointer(&c[:n][0]), unsafe.Pointer(&d[:n][0]), unsafe.Pointer(&e[:n][0])
	four, six := archsimd.LoadFloat32x8(&w[0]), archsimd.LoadFloat32x8(&w[1])
	zero := four.Sub(four)
	last := size - 32
	for i := 0; ; i += 32 {
		i = min(i, last)
		v := zero.Add(loadF256(p, i)).Add(loadF256(q, i).Mul(four)).Add(loadF256(r, i).Mul(six))
		storeF256(to, i, v.Add(loadF256(s, i).Mul(four)).Add(loadF256(u, i)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func divideKnown256(dst, v, m, known []float32) {
	n := len(dst)
	size := 4 * n
	if size < 32 {
		divideKnown(dst, v, m, known)
		return
	}
	to, p, q, k := unsafe.Pointer(&dst[0]), unsafe.Pointer(&v[:n][0]), unsafe.Pointer(&m[:n][0]),
		unsafe.Pointer(&known[:n][0])
	first := loadF256(k, 0)
	zero := first.Sub(first)
	last := size - 32
	for i := 0; ; i += 32 {
		i = min(i, last)
		storeF256(to, i, loadF256(p, i).Div(loadF256(q, i)).Masked(loadF256(k, i).NotEqual(zero)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
