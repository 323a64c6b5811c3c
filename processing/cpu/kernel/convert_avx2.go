//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Conversions between samples with 256-bit vectors. Offsets are in samples.

func loadBytes16(p unsafe.Pointer, at int) archsimd.Uint8x16 {
	return archsimd.LoadUint8x16((*[16]uint8)(unsafe.Add(p, at)))
}

func loadWords16(p unsafe.Pointer, at int) archsimd.Uint16x16 {
	return archsimd.LoadUint16x16((*[16]uint16)(unsafe.Add(p, 2*at)))
}

// loadF256 and storeF256 take offsets in bytes.
func loadF256(p unsafe.Pointer, at int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, at)))
}

func storeF256(p unsafe.Pointer, at int, v archsimd.Float32x8) {
	v.Store((*[8]float32)(unsafe.Add(p, at)))
}

func loadFloats8(p unsafe.Pointer, at int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*at)))
}

// Tables of indices, as they lie in memory. They are string constants, because the compiler would copy an array with
// SSE instructions, each of which may cost hundreds of cycles between those on long vectors.
const (
	// evenBytes and oddBytes move the low bytes of words to the beginning and to the end of a 128-bit vector.
	evenBytes = "\x00\x02\x04\x06\x08\x0a\x0c\x0e\xff\xff\xff\xff\xff\xff\xff\xff"
	oddBytes  = "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x02\x04\x06\x08\x0a\x0c\x0e"
	// fours restores the order of groups of four samples after two packings, which work on halves; twos does after one.
	fours = "\x00\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00" +
		"\x02\x00\x00\x00\x06\x00\x00\x00\x03\x00\x00\x00\x07\x00\x00\x00"
	twos = "\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00" +
		"\x02\x00\x00\x00\x03\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00\x00"
)

// places8 and places32 load tables of indices of bytes and of 32-bit samples.
func places8(table string) archsimd.Int8x32 {
	return archsimd.LoadInt8x32((*[32]int8)(unsafe.Pointer(unsafe.StringData(table))))
}

func places32(table string) archsimd.Uint32x8 {
	return archsimd.LoadUint32x8((*[8]uint32)(unsafe.Pointer(unsafe.StringData(table))))
}

// byteOrder returns how 32 samples that were packed to words become bytes.
func byteOrder() (low, high archsimd.Int8x32, order archsimd.Uint32x8) {
	return places8(evenBytes + evenBytes), places8(oddBytes + oddBytes), places32(fours)
}

// lowByteOrder returns what lowBytes needs.
func lowByteOrder() (even, odd archsimd.Int8x16) {
	return places8(evenBytes + evenBytes).GetLo(), places8(oddBytes + oddBytes).GetLo()
}

// lowBytes returns the low bytes of 16 words.
func lowBytes(v archsimd.Uint16x16, even, odd archsimd.Int8x16) archsimd.Uint8x16 {
	return v.GetLo().AsUint8x16().PermuteOrZero(even).Or(v.GetHi().AsUint8x16().PermuteOrZero(odd))
}
