//go:build goexperiment.simd && amd64

package simd

import "simd/archsimd"

// built reports whether vector kernels are part of the program.
const built = true

// processor returns the levels that the processor and the system support, the lowest first.
func processor() []Level {
	cpu := archsimd.X86
	levels := []Level{Plain}
	add := func(l Level, has bool) {
		if has {
			levels = append(levels, l)
		}
	}
	avx2 := cpu.AVX2() && cpu.FMA()
	add(AVX2, avx2)
	add(AVXVNNI, avx2 && cpu.AVXVNNI())
	add(AVX512, avx2 && cpu.AVX512())
	add(VNNI, avx2 && cpu.AVX512() && cpu.AVX512VNNI())
	return levels
}

// clearUpper clears the upper halves of the vector registers.
func clearUpper() {
	if archsimd.X86.AVX() {
		archsimd.ClearAVXUpperBits()
	}
}
