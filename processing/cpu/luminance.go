package cpu

import (
	"context"

	"blik/processing"
)

// Luminance writes the two planes that detection works on; processing.LuminanceTables has the arithmetic.
func (b executor) Luminance(ctx context.Context, op processing.Luminance) error {
	yp, vp := op.Y.(*plane), op.V.(*plane)
	l := newLuminanceRows(op.Tables)
	c := op.Picture.Channels
	return b.chunks(ctx, yp.w*yp.h, func(w *worker, i, j int) {
		y, v := yp.data.U16[i:j], vp.data.U8[i:j]
		// Where samples are made others first, they are in pieces that stay in the first-level cache.
		const piece = 2048
		switch {
		case op.Picture.U8 != nil && c == 4:
			rgb := take[uint8](w, 3*piece)
			for k := 0; k < len(y); k += piece {
				n := min(piece, len(y)-k)
				processing.WithoutInks(rgb[:3*n], op.Picture.U8[c*(i+k):])
				l.row8(y[k:k+n], v[k:k+n], rgb[:3*n], 3)
			}
		case op.Picture.U16 != nil && c == 4:
			rgb := take[uint16](w, 3*piece)
			for k := 0; k < len(y); k += piece {
				n := min(piece, len(y)-k)
				processing.WithoutInks(rgb[:3*n], op.Picture.U16[c*(i+k):])
				l.row16(y[k:k+n], v[k:k+n], rgb[:3*n], 3)
			}
		case op.Picture.U8 != nil:
			l.row8(y, v, op.Picture.U8[c*i:c*j], c)
		case op.Picture.U16 != nil:
			l.row16(y, v, op.Picture.U16[c*i:c*j], c)
		default:
			whole := take[uint16](w, piece*c)
			for k := 0; k < len(y); k += piece {
				n := min(piece, len(y)-k)
				processing.Quantise(whole[:c*n], op.Picture.F32[c*(i+k):])
				if c == 4 {
					processing.WithoutInks(whole[:3*n], whole[:4*n])
					l.row16(y[k:k+n], v[k:k+n], whole[:3*n], 3)
				} else {
					l.row16(y[k:k+n], v[k:k+n], whole[:c*n], c)
				}
			}
		}
	})
}

// luminanceRows holds the tables with what 8-bit samples have in common multiplied out.
type luminanceRows struct {
	red, green, blue [256]uint32
	// level8 is Encode8 of Linear8.
	level8   [256]uint8
	linear16 *[1 << 16]uint16
	encode8  *[1 << 16]uint8
}

func newLuminanceRows(t *processing.LuminanceTables) *luminanceRows {
	l := &luminanceRows{encode8: (*[1 << 16]uint8)(t.Encode8)}
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

func (l *luminanceRows) row8(y []uint16, v []uint8, pix []uint8, channels int) {
	v = v[:len(y)]
	if channels == 1 {
		for i, p := range pix[:len(y)] {
			// Weights of 65536 in all leave a grey sample's light as it is.
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

func (l *luminanceRows) row16(y []uint16, v []uint8, pix []uint16, channels int) {
	v = v[:len(y)]
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
