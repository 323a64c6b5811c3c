package cpu

import (
	"context"
	"math"

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

func gaussian[T sample](ctx context.Context, b *Backend, d, s *plane, sigma float64) error {
	dst, src, w, h := pixels[T](d), pixels[T](s), d.w, d.h
	taps := processing.GaussianTaps(sigma)
	r := len(taps) - 1
	if r == 0 {
		return copyPlane(ctx, b, dst, src)
	}
	return b.tiles(ctx, w, h, r, 0, func(t *worker, tile rect) {
		n := tile.x1 - tile.x0
		// Columns are summed where the picture is, and mirrored when they are complete.
		x0, x1 := max(0, tile.x0-r), min(w, tile.x1+r)
		inside, padded := take[float32](t, x1-x0), take[float32](t, n+2*r)
		out := take[float32](t, n)
		p := newCancelCheck(t, (r+1)*(x1-x0))
		for y := tile.y0; y < tile.y1; y++ {
			if p.stop() {
				return
			}
			row := func(y int) []T {
				y = mirror(y, h)
				return src[y*w+x0 : y*w+x1]
			}
			scaleRow(inside, row(y), taps[0])
			for i := 1; i <= r; i++ {
				addPair(inside, row(y-i), row(y+i), taps[i])
			}
			spread(padded, inside, x0, tile.x0-r, w)
			scaleRow(out, padded[r:], taps[0])
			for i := 1; i <= r; i++ {
				addPair(out, padded[r-i:], padded[r+i:], taps[i])
			}
			roundRow(dst[y*w+tile.x0:y*w+tile.x1], out)
		}
	})
}

// The conversions of products keep a compiler from fusing them with the sums, which would round differently.

func scaleRow[T sample](dst []float32, a []T, tap float32) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = float32(tap * float32(a[i]))
	}
}

// addPair adds the samples at equal distances on both sides; the sum of two integers is exact.
func addPair[T sample](dst []float32, a, b []T, tap float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] += float32(tap * (float32(a[i]) + float32(b[i])))
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
