package cpu

import (
	"context"
	"math"
	"unsafe"

	"blik/processing"
)

// Gaussian blurs with standard deviation sigma (at most 1000). Sums are float32 in a fixed order: down the columns,
// then along the rows, each from the middle tap outwards in pairs.
func (b executor) Gaussian(ctx context.Context, op processing.Gaussian) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	switch d.kind {
	case processing.U8:
		return gaussian[uint8](ctx, b.Backend, d, s, op.Sigma)
	case processing.U16:
		return gaussian[uint16](ctx, b.Backend, d, s, op.Sigma)
	default:
		return gaussian[float32](ctx, b.Backend, d, s, op.Sigma)
	}
}

// gaussian sums down the columns where the picture is, and mirrors the sums. A ring keeps the rows that a window needs
// as floats; where they are too many, a group of them at a time is converted for each row.
func gaussian[T sample](ctx context.Context, b *Backend, d, s *plane, sigma float64) error {
	dst, src, w, h := pixels[T](d), pixels[T](s), d.w, d.h
	taps := processing.GaussianTaps(sigma)
	r := len(taps) - 1
	if r == 0 {
		return copyPlane(ctx, b, dst, src)
	}
	k := conversionsOf[T](&b.kernels)
	return b.tiles(ctx, w, h, r, r, func(t *worker, tile rect) {
		n := tile.x1 - tile.x0
		x0, x1 := max(0, tile.x0-r), min(w, tile.x1+r)
		m := x1 - x0
		group, kept := r, min(h, 2*r+1)
		if keep := 4*kept*m <= 8*b.tiling.ring; !keep {
			group, kept = min(r, 16), 0
		}
		rows := take[float32](t, max(kept, 2*group+1)*m)
		slot := func(i int) []float32 { return rows[i*m:][:m] }
		padded, out, sum := take[float32](t, n+2*r), take[float32](t, n), take[float32](t, m)
		inside := padded[x0-(tile.x0-r):][:m]
		across, down := make([]pair, r), make([]pair, group)
		for i := range across {
			across[i] = pair{&padded[r-1-i], &padded[r+1+i]}
		}
		next := max(0, tile.y0-r)
		row := func(y, i int) []float32 {
			y = mirror(y, h)
			if kept > 0 {
				return slot(y % kept)
			}
			k.widen(slot(i), src[y*w+x0:y*w+x1])
			return slot(i)
		}
		p := newCancelCheck(t, (r+1)*m)
		for y := tile.y0; y < tile.y1; y++ {
			for ; kept > 0 && next <= min(h-1, y+r); next++ {
				k.widen(slot(next%kept), src[next*w+x0:next*w+x1])
			}
			if p.stop() {
				return
			}
			for i := 0; i < r; i += group {
				pairs := down[:min(group, r-i)]
				for j := range pairs {
					pairs[j] = pair{&row(y-1-i-j, 2*j)[0], &row(y+1+i+j, 2*j+1)[0]}
				}
				if i == 0 {
					b.kernels.symmetric(inside, row(y, 2*group), taps[0], pairs, taps[1:])
				} else {
					copy(sum, inside)
					b.kernels.symmetric(inside, sum, 1, pairs, taps[1+i:])
				}
			}
			for x := tile.x0 - r; x < x0; x++ {
				padded[x-(tile.x0-r)] = inside[mirror(x, w)-x0]
			}
			for x := x1; x < tile.x1+r; x++ {
				padded[x-(tile.x0-r)] = inside[mirror(x, w)-x0]
			}
			b.kernels.symmetric(out, padded[r:], taps[0], across, taps[1:])
			k.round(dst[y*w+tile.x0:y*w+tile.x1], out)
		}
	})
}

// pair points to the beginnings of two rows.
type pair struct{ a, b *float32 }

// symmetric sums rows, each product and each sum rounded by itself: the conversions of products keep a compiler from
// fusing them with the sums, which would round differently.
func symmetric(dst, middle []float32, tap float32, pairs []pair, taps []float32) {
	n := len(dst)
	for i, v := range middle[:n] {
		dst[i] = float32(tap * v)
	}
	for k, p := range pairs {
		tap, a, b := taps[k], unsafe.Slice(p.a, n), unsafe.Slice(p.b, n)
		for i := range dst {
			dst[i] += float32(tap * (a[i] + b[i]))
		}
	}
}

// toFloats converts samples.
func toFloats[T sample](dst []float32, src []T) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(v)
	}
}

// roundRow rounds to nearest where T is an integer; the weights may add up to a little more than 1.
func roundRow[T sample](dst []T, src []float32) {
	var zero T
	var most float32
	switch any(zero).(type) {
	case uint8:
		most = math.MaxUint8
	case uint16:
		most = math.MaxUint16
	default:
		for i, v := range src[:len(dst)] {
			dst[i] = T(v)
		}
		return
	}
	for i, v := range src[:len(dst)] {
		dst[i] = T(int32(min(v+0.5, most)))
	}
}
