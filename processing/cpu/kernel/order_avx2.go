//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for the maximum of bytes with 256-bit vectors. scripts/widen.sh derives from them those for other samples,
// for the minimum, and with 512-bit vectors.
//
// A row is processed in whole vectors; the last one overlaps the one before, so that no sample is left over. Offsets
// are in bytes.

func load8x256(p unsafe.Pointer, at int) archsimd.Uint8x32 {
	return archsimd.LoadUint8x32((*[32]uint8)(unsafe.Add(p, at)))
}

func store8x256(p unsafe.Pointer, at int, v archsimd.Uint8x32) {
	v.Store((*[32]uint8)(unsafe.Add(p, at)))
}

func foldMax8x256(dst, a []uint8) {
	size := len(dst) * int(unsafe.Sizeof(dst[0]))
	if size < 32 {
		foldMax(dst, a)
		return
	}
	d, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[:len(dst)][0])
	last := size - 32
	for i := 0; i < last; i += 32 {
		store8x256(d, i, load8x256(d, i).Max(load8x256(p, i)))
	}
	store8x256(d, last, load8x256(d, last).Max(load8x256(p, last)))
	archsimd.ClearAVXUpperBits()
}

// best4Max8x256 writes the best of four rows, which may be dst itself from later samples on.
func best4Max8x256(dst, a, b, c, d []uint8) {
	n := len(dst)
	size := n * int(unsafe.Sizeof(dst[0]))
	if size < 32 {
		best4Max(dst, a, b, c, d)
		return
	}
	to, p, q := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[:n][0]), unsafe.Pointer(&b[:n][0])
	r, s := unsafe.Pointer(&c[:n][0]), unsafe.Pointer(&d[:n][0])
	last := size - 32
	tail := load8x256(p, last).Max(load8x256(q, last)).Max(load8x256(r, last).Max(load8x256(s, last)))
	switch {
	case q == r && r == s:
		for i := 0; i < last; i += 32 {
			store8x256(to, i, load8x256(p, i).Max(load8x256(q, i)))
		}
	case r == s:
		for i := 0; i < last; i += 32 {
			store8x256(to, i, load8x256(p, i).Max(load8x256(q, i)).Max(load8x256(r, i)))
		}
	default:
		for i := 0; i < last; i += 32 {
			v := load8x256(p, i).Max(load8x256(q, i))
			store8x256(to, i, v.Max(load8x256(r, i).Max(load8x256(s, i))))
		}
	}
	store8x256(to, last, tail)
	archsimd.ClearAVXUpperBits()
}

func advanceMax8x256(dst, run, keep, x, suffix []uint8) {
	n := len(dst)
	size := n * int(unsafe.Sizeof(dst[0]))
	if size < 32 {
		advanceMax(dst, run, keep, x, suffix)
		return
	}
	to, best, copied := unsafe.Pointer(&dst[0]), unsafe.Pointer(&run[:n][0]), unsafe.Pointer(&keep[:n][0])
	in, rest := unsafe.Pointer(&x[:n][0]), unsafe.Pointer(&suffix[:n][0])
	step := func(i int) {
		v, b, s := load8x256(in, i), load8x256(best, i), load8x256(rest, i)
		b = v.Max(b)
		store8x256(copied, i, v)
		store8x256(best, i, b)
		store8x256(to, i, b.Max(s))
	}
	last := size - 32
	for i := 0; i < last; i += 32 {
		step(i)
	}
	step(last)
	archsimd.ClearAVXUpperBits()
}

func windowMax8x256(dst, src []uint8, k int) { windowBy4(best4Max8x256, dst, src, k) }

func orderMax8x256(worst uint8) Order[uint8] {
	return Order[uint8]{worst, blank(worst), foldMax8x256, advanceMax8x256, best4Max8x256,
		windowMax8x256}
}
