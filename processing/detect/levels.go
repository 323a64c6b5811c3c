package detect

import "blik/processing"

// levels reads the levels of a picture in sRGB: (R + 2G + B + 2) >> 2 of its colours in 8 bits, as processing.Luminance
// writes them, or, if dark, the darkest of these colours. One goroutine uses it at a time.
type levels struct {
	pic     *processing.Picture
	dark    bool
	display []uint8
	whole   []uint16
	inks    []uint8
}

func newLevels(pic *processing.Picture) *levels {
	return &levels{pic: pic, display: pic.Tables().Display}
}

// another returns levels of the same picture for another goroutine.
func (l *levels) another() *levels { return &levels{pic: l.pic, display: l.display} }

// at returns the level of a pixel.
func (l *levels) at(x, y int) uint8 {
	p, i := l.pic, 3*(y*l.pic.Width+x)
	switch {
	case p.U8 != nil && p.Channels == 3:
		return l.of(l.display[p.U8[i]], l.display[p.U8[i+1]], l.display[p.U8[i+2]])
	case p.U16 != nil && p.Channels == 3:
		return l.of(l.display[p.U16[i]], l.display[p.U16[i+1]], l.display[p.U16[i+2]])
	}
	var one [1]uint8
	l.row(one[:], x, y)
	return one[0]
}

// of returns the level of a colour.
func (l *levels) of(r, g, b uint8) uint8 {
	if l.dark {
		return min(r, g, b)
	}
	return uint8((uint(r) + 2*uint(g) + uint(b) + 2) >> 2)
}

// row writes the levels of the pixels from (x, y) on.
func (l *levels) row(dst []uint8, x, y int) {
	p, c := l.pic, l.pic.Channels
	from, to := (y*p.Width+x)*c, (y*p.Width+x+len(dst))*c
	switch {
	case p.U8 != nil && c == 4:
		l.inks = append(l.inks[:0], p.U8[from:to]...)
		processing.WithoutInks(l.inks[:3*len(dst)], l.inks)
		level(l, dst, l.inks, 3)
	case p.U8 != nil:
		level(l, dst, p.U8[from:to], c)
	case p.U16 != nil && c != 4:
		level(l, dst, p.U16[from:to], c)
	default:
		l.whole = append(l.whole[:0], make([]uint16, to-from)...)
		if p.U16 != nil {
			copy(l.whole, p.U16[from:to])
		} else {
			processing.Quantise(l.whole, p.F32[from:to])
		}
		if c == 4 {
			processing.WithoutInks(l.whole[:3*len(dst)], l.whole)
			c = 3
		}
		level(l, dst, l.whole, c)
	}
}

// level writes the levels of samples of one or three channels.
func level[S uint8 | uint16](l *levels, dst []uint8, src []S, channels int) {
	if channels == 1 {
		for i := range dst {
			dst[i] = l.display[src[i]]
		}
		return
	}
	for i := range dst {
		p := src[3*i : 3*i+3 : 3*i+3]
		dst[i] = l.of(l.display[p[0]], l.display[p[1]], l.display[p[2]])
	}
}

// window returns the levels of the pixels with x0 ≤ x < x1 and y0 ≤ y < y1, in rows, in the memory of buf.
func (l *levels) window(buf []uint8, x0, y0, x1, y1 int) []uint8 {
	w := x1 - x0
	if n := w * (y1 - y0); cap(buf) < n {
		buf = make([]uint8, n+n/2)
	}
	buf = buf[:w*(y1-y0)]
	for y := y0; y < y1; y++ {
		l.row(buf[(y-y0)*w:(y-y0+1)*w], x0, y)
	}
	return buf
}
