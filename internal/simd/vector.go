//go:build goexperiment.simd && amd64

package simd

import "simd/archsimd"

// built reports whether vector kernels are part of the program.
const built = true

// processor returns the highest level that the processor and the system support.
func processor() Level {
	cpu := archsimd.X86
	switch {
	case !cpu.AVX2() || !cpu.FMA():
		return Plain
	case !cpu.AVX512():
		return AVX2
	case !cpu.AVX512VNNI():
		return AVX512
	}
	return VNNI
}

// clearUpper clears the upper halves of the vector registers.
func clearUpper() {
	if archsimd.X86.AVX() {
		archsimd.ClearAVXUpperBits()
	}
}
