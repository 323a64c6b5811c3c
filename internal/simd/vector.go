//go:build goexperiment.simd && amd64

package simd

import (
	"encoding/binary"
	"simd/archsimd"
)

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

// FourStreams reports whether a core reads memory faster in four streams than in one. Measured: true on an Intel Xeon,
// false on AMD Zen 5. Processors of other makers count as Intel's.
func FourStreams() bool { return maker() != "AuthenticAMD" }

// maker returns the name of the processor's maker, as CPUID spells it.
func maker() string {
	b, d, c := vendor()
	name := make([]byte, 0, 12)
	for _, r := range []uint32{b, d, c} {
		name = binary.LittleEndian.AppendUint32(name, r)
	}
	return string(name)
}

// vendor returns the registers that hold the maker's name (CPUID, leaf 0).
func vendor() (b, d, c uint32)
