package experiment

// curve is Hilbert's curve over the square of side 2^order (Hilbert 1891), cut down to a picture of w × h pixels: what
// lies outside is skipped. Sizes that are no power of two so take the curve of the next one; up to three of four
// positions of a square picture are then skipped, which is part of what the experiment measures.
type curve struct{ w, h, order int }

func newCurve(w, h int) curve { return curve{w, h, log2(max(w, h))} }

// positions is the number of positions on the uncut curve.
func (c curve) positions() int { return 1 << (2 * c.order) }

// at returns the pixel at distance d along the uncut curve: each pair of bits, lowest first, turns and places the
// quarter below it.
func (c curve) at(d int) (x, y int) {
	for s := 1; s < 1<<c.order; s <<= 1 {
		qx := d >> 1 & 1
		qy := (d ^ qx) & 1
		if qy == 0 {
			if qx == 1 {
				x, y = s-1-x, s-1-y
			}
			x, y = y, x
		}
		x += s * qx
		y += s * qy
		d >>= 2
	}
	return x, y
}

// skipOrder: an aligned stretch of 4^skipOrder positions is a square of side 2^skipOrder, skipped at once where it lies
// outside.
const skipOrder = 4

// visit calls f for the pixels of the picture at distances i … j−1, in order.
func (c curve) visit(i, j int, f func(x, y int)) {
	const length, mask = 1 << (2 * skipOrder), 1<<skipOrder - 1
	for d := i; d < j; {
		x, y := c.at(d)
		if d%length == 0 && c.order >= skipOrder && (x&^mask >= c.w || y&^mask >= c.h) {
			d += length
			continue
		}
		if x < c.w && y < c.h {
			f(x, y)
		}
		d++
	}
}
