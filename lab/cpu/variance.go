package cpu

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync"

	"blik/internal/parallel"
)

// MeanVariance writes mean and population variance of the window of a radius, 0…127, from n²σ² = n·ΣX² − (ΣX)². The
// sums are recursive, four additions a pixel at any radius (McDonnell 1981), and exact: samples and their squares are
// first rounded to multiples of a unit, as fine as 53 bits of a sum allow. With M the greatest magnitude, means err by
// at most 2⁻³⁵·M and variances by 2⁻³⁴·M² before they are rounded; no variance is negative. Samples that are not finite
// are an error.
func MeanVariance[T uint8 | uint16 | float32](ctx context.Context, c *Cores, mean, variance []float32, src []T,
	w, h, radius int) error {
	v := variances[T]{c: c, mean: mean, variance: variance, src: src, w: w, h: h, rx: min(radius, w-1),
		ry: min(radius, h-1)}
	// A few rows suggest a unit; if the largest of all samples needs another one, the sums are taken again.
	var most uint32
	row := make([]float32, w)
	for y := 0; y < h; y += 16 {
		most = max(most, c.k.greatest(v.floats(row, y)))
	}
	for most < infinity {
		round := v.rounding(most)
		greatest, err := v.run(ctx, round)
		if err != nil {
			return err
		}
		most = greatest
		if most < infinity && v.rounding(most) == round {
			return nil
		}
	}
	return errors.New("mean and variance of samples that are not finite")
}

// infinity is the bits of positive infinity; those of NaN and of negative numbers are larger.
const infinity = 0x7f800000

// variances is a MeanVariance. rx and ry are the radius, or less if a smaller one already covers the whole picture.
type variances[T uint8 | uint16 | float32] struct {
	c              *Cores
	mean, variance []float32
	src            []T
	w, h, rx, ry   int
}

// rounding rounds samples and their squares to whole numbers of units, so that their sums need no rounding and are the
// same in any order.
type rounding struct{ sample, square float64 }

// rounding returns that for samples up to a magnitude with these bits.
func (v *variances[T]) rounding(most uint32) rounding {
	// 1.5·2⁵² units, with the unit so large that whole numbers of units up to the given sum are exact in float64.
	// Adding it to a number of at most an eighth of the sum rounds the number to whole units.
	unit53 := func(sum float64) float64 {
		_, exponent := math.Frexp(sum)
		return math.Ldexp(1.5, exponent-1)
	}
	m := float64(math.Float32frombits(most))
	// Kernels add up eight columns at a time, and sums of samples are differences of two windows.
	pixels := float64(max(2*v.rx+1, lanes)) * float64(2*v.ry+1)
	return rounding{unit53(2 * pixels * m), unit53(pixels * m * m)}
}

// floats returns a row as floats, which may be the source's own.
func (v *variances[T]) floats(row []float32, y int) []float32 {
	switch s := any(v.src).(type) {
	case []uint8:
		v.c.k.bytes(row, s[y*v.w:(y+1)*v.w])
	case []uint16:
		v.c.k.words(row, s[y*v.w:(y+1)*v.w])
	case []float32:
		return s[y*v.w : (y+1)*v.w]
	}
	return row
}

// run takes the sums with a rounding, and returns the bits of the greatest magnitude; those of NaN are above those of
// infinity.
func (v *variances[T]) run(ctx context.Context, round rounding) (uint32, error) {
	var mu sync.Mutex
	var greatest uint32
	k := 2*v.rx + 1
	// Rows around a task are added up once more, which matters little if it is high.
	rows := max(min((v.h+v.c.workers-1)/v.c.workers, max(64, 16*v.ry)), 1)
	err := parallel.Workers(ctx, v.c.workers, (v.h+rows-1)/rows, func(tasks iter.Seq[int]) {
		// The kernel also reads the column before the first window, and up to the end of the last vector.
		width := 1 + v.w + 2*v.rx + lanes
		col, col2 := make([]float64, width), make([]float64, width)
		inside, inside2 := col[1+v.rx:][:v.w], col2[1+v.rx:][:v.w]
		enter, leave, none := make([]float32, v.w), make([]float32, v.w), make([]float32, v.w)
		counts := newCounts(v.w, v.rx)
		most := uint32(0)
		for i := range tasks {
			y0, y1 := i*rows, min(v.h, (i+1)*rows)
			clear(col)
			clear(col2)
			for y := max(0, y0-v.ry); y < y1+v.ry && ctx.Err() == nil; y++ {
				add, sub := none, none
				if y < v.h {
					add = v.floats(enter, y)
					most = max(most, v.c.k.greatest(add))
				}
				if old := y - 2*v.ry - 1; old >= max(0, y0-v.ry) {
					sub = v.floats(leave, old)
				}
				v.c.k.slide(inside, inside2, add, sub, round)
				if at := y - v.ry; at >= y0 {
					counts.set(min(at+v.ry, v.h-1) - max(at-v.ry, 0) + 1)
					v.c.k.variances(v.mean[at*v.w:][:v.w], v.variance[at*v.w:][:v.w], col, col2, k, counts)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		greatest = max(greatest, most)
	})
	return greatest, err
}

// counts are the numbers n of pixels of the windows along a row, 1/n, and 1/n², for whole vectors.
type counts struct {
	rows                           int
	columns, pixels, share, square []float64
}

func newCounts(w, r int) *counts {
	n := (w + lanes - 1) / lanes * lanes
	c := &counts{0, make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	for x := range c.columns {
		c.columns[x] = float64(max(1, min(x+r, w-1)-max(x-r, 0)+1))
	}
	return c
}

// set computes the counts of a row whose windows have some rows.
func (c *counts) set(rows int) {
	if c.rows == rows {
		return
	}
	c.rows = rows
	for i, columns := range c.columns {
		n := float64(rows) * columns
		share := 1 / n
		c.pixels[i], c.share[i], c.square[i] = n, share, share*share
	}
}

func toFloats[T uint8 | uint16](dst []float32, src []T) {
	for i, v := range src[:len(dst)] {
		dst[i] = float32(v)
	}
}

// greatest returns the bits of the largest magnitude.
func greatest(s []float32) (most uint32) {
	for _, v := range s {
		most = max(most, math.Float32bits(v)&math.MaxInt32)
	}
	return most
}

func slide(col, col2 []float64, add, sub []float32, r rounding) {
	for i := range col {
		a, s := float64(add[i]), float64(sub[i])
		col[i] += (a + r.sample) - (s + r.sample)
		col2[i] += (float64(a*a) + r.square) - (float64(s*s) + r.square)
	}
}

// windowVariances writes mean and variance of windows of the columns i+1 … i+k. Values that rounding makes negative
// become 0.
func windowVariances(mean, variance []float32, col, col2 []float64, k int, c *counts) {
	var s, s2 float64
	for i, v := range col[:k] {
		s += v
		s2 += col2[i]
	}
	for i := range mean {
		s += col[i+k] - col[i]
		s2 += col2[i+k] - col2[i]
		mean[i] = float32(s * c.share[i])
		variance[i] = float32(max(float64(c.pixels[i]*s2)-float64(s*s), 0) * c.square[i])
	}
}
