package kernel

func Widen(dst []uint32, src []uint16) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = uint32(src[i])
	}
}

// BandRow writes (256·fine − coarse) / 256 where that is positive.
func BandRow(dst []uint16, fine, coarse []uint32) {
	fine, coarse = fine[:len(dst)], coarse[:len(dst)]
	for i := range dst {
		v := int64(fine[i])<<8 - int64(coarse[i])
		dst[i] = uint16(max(v, 0) >> 8)
	}
}
