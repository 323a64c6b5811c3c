package kernel

func Widen(dst []uint32, src []uint16) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = uint32(src[i])
	}
}

// BandRow writes (256·fine − coarse) / 2^shift where that is positive.
func BandRow[T uint16 | uint32](dst []uint16, fine, coarse []T, shift int) {
	fine, coarse = fine[:len(dst)], coarse[:len(dst)]
	for i := range dst {
		v := int64(fine[i])<<8 - int64(coarse[i])
		dst[i] = uint16(max(v, 0) >> (shift & 63))
	}
}
