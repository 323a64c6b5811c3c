package synth

import (
	"math"
	"slices"

	"blik/internal/simd"
)

// blurRadius returns the radius at which a Gaussian of standard deviation sigma is truncated.
func blurRadius(sigma float64) int {
	if sigma <= 0 {
		return 0
	}
	return int(math.Ceil(3.5 * sigma))
}

// gaussianKernel returns the 2·blurRadius+1 taps, which add up to 1.
func gaussianKernel(sigma float64) []float32 {
	r := blurRadius(sigma)
	k := make([]float64, 2*r+1)
	var sum float64
	for i := range k {
		d := float64(i - r)
		if sigma > 0 {
			k[i] = simd.Exp(-d * d / (2 * sigma * sigma))
		} else {
			k[i] = 1
		}
		sum += k[i]
	}
	out := make([]float32, len(k))
	for i := range k {
		out[i] = float32(k[i] / sum)
	}
	return out
}

// blurrer holds the buffers of inner.
type blurrer struct{ tmp, out []float32 }

// inner blurs the w × h plane and returns its inner part, without margin ≥ blurRadius pixels on every side.
func (b *blurrer) inner(src []float32, w, h int, sigma float64, margin int) []float32 {
	k := gaussianKernel(sigma)
	r := len(k) / 2
	iw, ih := w-2*margin, h-2*margin
	b.tmp = slices.Grow(b.tmp[:0], iw*h)[:iw*h]
	b.out = slices.Grow(b.out[:0], iw*ih)[:iw*ih]
	for y := range h {
		row := src[y*w : (y+1)*w]
		for x := range iw {
			var s float32
			for i, t := range k {
				s += t * row[x+margin-r+i]
			}
			b.tmp[y*iw+x] = s
		}
	}
	clear(b.out)
	for y := range ih {
		dst := b.out[y*iw : (y+1)*iw]
		for i, t := range k {
			row := b.tmp[(y+margin-r+i)*iw:]
			for x := range dst {
				dst[x] += t * row[x]
			}
		}
	}
	return b.out
}

// blurRow writes the blur of n pixels of interleaved channels, mirrored at the ends.
func blurRow(dst, src []float32, n, channels int, k []float32) {
	r := len(k) / 2
	dst = dst[:n*channels]
	clear(dst)
	if inside := (n - 2*r) * channels; inside > 0 {
		for i, t := range k {
			to, from := dst[r*channels:][:inside], src[i*channels:][:inside]
			for x := range to {
				to[x] += t * from[x]
			}
		}
	}
	mirrored := func(from, to int) {
		for x := from; x < to; x++ {
			for c := range channels {
				for i, t := range k {
					dst[x*channels+c] += t * src[reflect(x-r+i, n)*channels+c]
				}
			}
		}
	}
	mirrored(0, min(r, n))
	mirrored(max(r, n-r), n)
}

// reflect maps an index outside 0…n−1 back by mirroring at the first and last sample without repeating them.
func reflect(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	if i %= period; i < 0 {
		i += period
	}
	return min(i, period-i)
}
