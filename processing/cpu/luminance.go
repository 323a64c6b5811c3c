package cpu

import (
	"context"

	"blik/processing"
)

// Luminance writes those planes that are given; processing.LuminanceTables has the arithmetic.
func (b executor) Luminance(ctx context.Context, op processing.Luminance) error {
	l := newLuminanceRows(op.Tables)
	pic, c := op.Picture, op.Picture.Channels
	return b.chunks(ctx, pic.Width*pic.Height, func(w *worker, i, j int) {
		var out lumaRow
		if op.Lit() {
			out.y, out.v = op.Y.(*plane).data.U16[i:j], op.V.(*plane).data.U8[i:j]
		}
		if op.Coloured() {
			for k, p := range []processing.Plane{op.Red, op.Green, op.Blue} {
				out.rgb[k] = p.(*plane).data.U8[i:j]
			}
		}
		switch {
		case pic.U8 != nil:
			coded(w, out, pic.U8[c*i:c*j], c, l.row8)
		case pic.U16 != nil:
			coded(w, out, pic.U16[c*i:c*j], c, l.row16)
		default:
			whole := scratch[uint16](w, piece*c)
			out.pieces(func(k int, out lumaRow) {
				n := out.len()
				processing.Quantise(whole[:c*n], pic.F32[c*(i+k):])
				if c == 4 {
					processing.WithoutInks(whole[:3*n], whole[:4*n])
					l.row16(out, whole[:3*n], 3)
				} else {
					l.row16(out, whole[:c*n], c)
				}
			})
		}
	})
}

// piece is the number of pixels that are converted before they are processed, few enough for the first-level cache.
const piece = 2048

// coded applies row to samples, those of CMYK converted to RGB.
func coded[S uint8 | uint16](w *worker, out lumaRow, pix []S, channels int, row func(lumaRow, []S, int)) {
	if channels != 4 {
		row(out, pix, channels)
		return
	}
	rgb := scratch[S](w, 3*piece)
	out.pieces(func(k int, out lumaRow) {
		n := out.len()
		processing.WithoutInks(rgb[:3*n], pix[4*k:])
		row(out, rgb[:3*n], 3)
	})
}

// lumaRow is the destination of some pixels; the rows of luminance or of the colours are nil if they are not needed.
type lumaRow struct {
	y   []uint16
	v   []uint8
	rgb [3][]uint8
}

// len returns the number of pixels.
func (o *lumaRow) len() int { return max(len(o.y), len(o.rgb[0])) }

// pieces calls f with the place and the planes of each piece.
func (o lumaRow) pieces(f func(at int, out lumaRow)) {
	for k := 0; k < o.len(); k += piece {
		e := min(k+piece, o.len())
		var p lumaRow
		if o.y != nil {
			p.y, p.v = o.y[k:e], o.v[k:e]
		}
		for c := range p.rgb {
			if o.rgb[c] != nil {
				p.rgb[c] = o.rgb[c][k:e]
			}
		}
		f(k, p)
	}
}

// coloured writes the samples re-encoded for display.
func coloured[S uint8 | uint16](out *lumaRow, display []uint8, pix []S, channels int) {
	red, green, blue := out.rgb[0], out.rgb[1], out.rgb[2]
	green, blue = green[:len(red)], blue[:len(red)]
	if channels == 1 {
		for i, p := range pix[:len(red)] {
			v := display[p]
			red[i], green[i], blue[i] = v, v, v
		}
		return
	}
	for i := range red {
		p := pix[:3:3]
		pix = pix[3:]
		red[i], green[i], blue[i] = display[p[0]], display[p[1]], display[p[2]]
	}
}

// luminanceRows holds the tables, with the products for 8-bit samples computed in advance.
type luminanceRows struct {
	red, green, blue [256]uint32
	// level8 is Encode8 of Linear8.
	level8   [256]uint8
	linear16 *[1 << 16]uint16
	encode8  *[1 << 16]uint8
	display  []uint8
}

func newLuminanceRows(t *processing.LuminanceTables) *luminanceRows {
	l := &luminanceRows{encode8: (*[1 << 16]uint8)(t.Encode8), display: t.Display}
	if t.Linear16 != nil {
		l.linear16 = (*[1 << 16]uint16)(t.Linear16)
	}
	for i, x := range t.Linear8 {
		l.red[i] = processing.LuminanceRed * uint32(x)
		l.green[i] = processing.LuminanceGreen * uint32(x)
		l.blue[i] = processing.LuminanceBlue*uint32(x) + 1<<15
		l.level8[i] = t.Encode8[x]
	}
	return l
}

// planesOf writes the colours, if they are needed, and returns the rows of luminance and level, empty if they are not.
func planesOf[S uint8 | uint16](l *luminanceRows, out *lumaRow, pix []S, channels int) (y []uint16, v []uint8) {
	if out.rgb[0] != nil {
		coloured(out, l.display, pix, channels)
	}
	return out.y, out.v[:len(out.y)]
}

func (l *luminanceRows) row8(out lumaRow, pix []uint8, channels int) {
	y, v := planesOf(l, &out, pix, channels)
	if channels == 1 {
		for i, p := range pix[:len(y)] {
			// The weights add up to 65536, so that the light of a grey sample stays.
			y[i] = uint16((l.red[p] + l.green[p] + l.blue[p]) >> 16)
			v[i] = l.level8[p]
		}
		return
	}
	for i := range y {
		p := pix[:3:3]
		pix = pix[3:]
		s := (l.red[p[0]] + l.green[p[1]] + l.blue[p[2]]) >> 16
		y[i] = uint16(s)
		low := l.level8[min(p[0], p[1], p[2])]
		v[i] = uint8((uint32(l.encode8[uint16(s)]) + uint32(low)) >> 1)
	}
}

func (l *luminanceRows) row16(out lumaRow, pix []uint16, channels int) {
	y, v := planesOf(l, &out, pix, channels)
	lin, enc := l.linear16, l.encode8
	if channels == 1 {
		for i, p := range pix[:len(y)] {
			y[i] = lin[p]
			v[i] = enc[lin[p]]
		}
		return
	}
	for i := range y {
		p := pix[:3:3]
		pix = pix[3:]
		s := (processing.LuminanceRed*uint32(lin[p[0]]) + processing.LuminanceGreen*uint32(lin[p[1]]) +
			processing.LuminanceBlue*uint32(lin[p[2]]) + 1<<15) >> 16
		y[i] = uint16(s)
		low := enc[lin[min(p[0], p[1], p[2])]]
		v[i] = uint8((uint32(enc[uint16(s)]) + uint32(low)) >> 1)
	}
}
