package processing

// Quantise converts the first len(dst) float samples to 16 bits: ⌊clamp(x, 0, 1)·65535 + ½⌋, 0 for NaN.
func Quantise(dst []uint16, src []float32) {
	src = src[:len(dst)]
	for i, x := range src {
		switch {
		case x >= 1:
			dst[i] = 65535
		case x > 0:
			dst[i] = uint16(float64(float64(x)*65535) + 0.5)
		default:
			dst[i] = 0
		}
	}
}

// WithoutInks converts CMYK samples to RGB as LuminanceTables defines; rgb has three samples for each four of src and
// may share its beginning with src.
func WithoutInks[S uint8 | uint16](rgb, src []S) {
	most := uint32(^S(0))
	for len(rgb) >= 3 {
		p := src[:4:4]
		paper := most - uint32(p[3])
		r := ((most-uint32(p[0]))*paper + most/2) / most
		g := ((most-uint32(p[1]))*paper + most/2) / most
		b := ((most-uint32(p[2]))*paper + most/2) / most
		q := rgb[:3:3]
		q[0], q[1], q[2] = S(r), S(g), S(b)
		rgb, src = rgb[3:], src[4:]
	}
}
