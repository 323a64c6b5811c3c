//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"math"

	"gorgonia.org/cu"

	"blik/processing"
)

// cuPtr makes an offset one that can be added to a device pointer.
func cuPtr(n int64) cu.DevicePtr { return cu.DevicePtr(n) }

// table is a summed-area table in device memory, made by the kernels of window.cu.
type table struct {
	memory buffer
	stride int
}

// chunkRows, tableThreads are those of window.cu.
const chunkRows = 16

// table sums what the kernels tableChunks<name> and tableRows<name> sum; size is 4 or 8, the bytes of a sum.
func (q *queue) table(name string, size, w, h int, args ...any) (table, error) {
	chunks := (h + chunkRows - 1) / chunkRows
	stride := int(roundUp(int64(w+1), 32))
	sums, err := q.bytes(int64(chunks) * int64(w) * int64(size))
	if err != nil {
		return table{}, err
	}
	t := table{stride: stride}
	if t.memory, err = q.bytes(int64(h+1) * int64(stride) * int64(size)); err != nil {
		return table{}, err
	}
	columns := dim{x: 256}
	if err := q.launch("tableChunks"+name, dim{(w + 255) / 256, chunks}, columns, append([]any{sums, w, h}, args...)...); err != nil {
		return table{}, err
	}
	prefix := "tablePrefix32"
	if size == 8 {
		prefix = "tablePrefix64"
	}
	if err := q.launch(prefix, dim{x: (w + 255) / 256}, columns, sums, w, chunks); err != nil {
		return table{}, err
	}
	return t, q.launch("tableRows"+name, dim{x: chunks}, columns, append([]any{t.memory, stride, sums, w, h}, args...)...)
}

// clamped is the radius, or less where a smaller one covers the whole picture already.
func clamped(r, w, h int) int { return min(r, max(w, h)-1) }

// BoxMean writes the rounded mean over the window of radius r.
func (b *Backend) BoxMean(ctx context.Context, dst, src processing.Plane, r int) error {
	a := b.args("box mean")
	d := a.plane("destination", dst, processing.U8, processing.U16, processing.F32)
	s := a.plane("source", src, processing.U8, processing.U16, processing.F32)
	a.same(d, s)
	a.apart(d, s)
	a.radius(r, math.MaxInt32)
	if a.err != nil {
		return a.err
	}
	w, h := a.w, a.h
	r = clamped(r, w, h)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		if d.kind == processing.F32 {
			return q.boxMeanFloat(d, s, min(r, w-1), min(r, h-1))
		}
		most := uint64(math.MaxUint8)
		if d.kind == processing.U16 {
			most = math.MaxUint16
		}
		pixels := uint64(min(2*r+1, w)) * uint64(min(2*r+1, h))
		kind, name, size := "Value", "boxMean", 4
		// With half a window's count for rounding.
		if pixels*most+pixels > math.MaxUint32 {
			kind, name, size = "Long", "boxMeanLong", 8
		}
		t, err := q.table(kind+kindName(s.kind), size, w, h, s)
		if err != nil {
			return err
		}
		return q.pixels(name+kindName(d.kind), w, h, d, t.memory, t.stride, r)
	})
}

func (q *queue) boxMeanFloat(d, s *plane, rx, ry int) error {
	w, h := d.w, d.h
	size := 8 * int64(w) * int64(h)
	columns, err := q.bytes(size)
	if err != nil {
		return err
	}
	ends, err := q.bytes(size)
	if err != nil {
		return err
	}
	block := dim{x: 64}
	segments := func(n, r int) int { return (n + 2*r) / (2*r + 1) }
	if err := q.launch("boxColumnsF32", dim{(w + 63) / 64, segments(h, ry)}, block, columns, s, ry, w, h); err != nil {
		return err
	}
	return q.launch("boxRowsF32", dim{(h + 63) / 64, segments(w, rx)}, block, d, ends, columns, rx, ry, w, h)
}

// BoxCount writes how many pixels of the window of radius r have one of the bits in cls.
func (b *Backend) BoxCount(ctx context.Context, dst, cls processing.Plane, bits uint8, r int) error {
	a := b.args("box count")
	d := a.plane("destination", dst, processing.U16)
	c := a.plane("class", cls, processing.U8)
	a.radius(r, 127)
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		t, err := q.table("BitsU8", 4, a.w, a.h, c, int(bits))
		if err != nil {
			return err
		}
		return q.pixels("boxCount", a.w, a.h, d, t.memory, t.stride, r)
	})
}

// sums makes the tables of the samples and of their squares.
func (q *queue) sums(s *plane) (sum, squares table, err error) {
	size := 4
	if s.kind == processing.U16 {
		size = 8
	}
	if sum, err = q.table("Value"+kindName(s.kind), 4, s.w, s.h, s); err != nil {
		return sum, squares, err
	}
	squares, err = q.table("Square"+kindName(s.kind), size, s.w, s.h, s)
	return sum, squares, err
}

// MeanVariance writes mean and population variance of the window of radius r, 0 ≤ r ≤ 127.
func (b *Backend) MeanVariance(ctx context.Context, mean, variance, src processing.Plane, r int) error {
	a := b.args("mean and variance")
	m := a.plane("mean", mean, processing.F32)
	v := a.plane("variance", variance, processing.F32)
	s := a.plane("source", src, processing.U8, processing.U16)
	a.radius(r, 127)
	if a.err == nil && m == v {
		a.fail("mean and variance are the same plane")
	}
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(m, v)
		sum, squares, err := q.sums(s)
		if err != nil {
			return err
		}
		return q.pixels("meanVariance"+kindName(s.kind), a.w, a.h, m, v, sum.memory, squares.memory, sum.stride, r)
	})
}

// GuardRing writes the z-score of the core window against the ring between the windows of radius guard and outer.
func (b *Backend) GuardRing(ctx context.Context, z, src processing.Plane, core, guard, outer int, noise float64) error {
	a := b.args("guard ring")
	d := a.plane("destination", z, processing.F32)
	s := a.plane("source", src, processing.U8, processing.U16)
	if core < 0 || core > guard || guard >= outer || outer > 127 {
		a.fail("radii %d, %d and %d: must be 0 ≤ core ≤ guard < outer ≤ 127", core, guard, outer)
	}
	if !(noise >= 0) || math.IsInf(noise, 1) {
		a.fail("noise %v: must be at least 0 and finite", noise)
	}
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		sum, squares, err := q.sums(s)
		if err != nil {
			return err
		}
		return q.pixels("guardRing"+kindName(s.kind), a.w, a.h, d, sum.memory, squares.memory, sum.stride, core, guard, outer, noise*noise)
	})
}

// maxCensored is the largest radius whose windows fit packed sums.
const maxCensored = 2047

// Background writes the mean of y over the pixels of a window that exclude leaves. Radii are at most 2047.
func (b *Backend) Background(ctx context.Context, dst, y, exclude processing.Plane, radii []int) error {
	a := b.args("background")
	d := a.plane("destination", dst, processing.U16)
	l := a.plane("luminance", y, processing.U16)
	e := a.plane("exclusion", exclude, processing.U8)
	a.apart(d, l)
	if len(radii) == 0 {
		a.fail("no radius given")
	}
	levels := make([]int32, len(radii))
	for i, r := range radii {
		a.radius(r, maxCensored)
		if i > 0 && r < radii[i-1] {
			a.fail("radius %d after %d: must ascend", r, radii[i-1])
		}
		levels[i] = int32(r)
	}
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		list, err := q.constants(bytesOf(levels))
		if err != nil {
			return err
		}
		t, err := q.table("Censored", 8, a.w, a.h, l, e)
		if err != nil {
			return err
		}
		return q.pixels("background", a.w, a.h, d, l, t.memory, t.stride, list, len(levels))
	})
}

// Deviation writes the standard deviation of y over the pixels of the window that exclude leaves.
func (b *Backend) Deviation(ctx context.Context, dst, y, exclude processing.Plane, r int) error {
	a := b.args("deviation")
	d := a.plane("destination", dst, processing.U16)
	l := a.plane("luminance", y, processing.U16)
	e := a.plane("exclusion", exclude, processing.U8)
	a.apart(d, l)
	a.radius(r, 127)
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		sum, err := q.table("Censored", 8, a.w, a.h, l, e)
		if err != nil {
			return err
		}
		squares, err := q.table("CensoredSquare", 8, a.w, a.h, l, e)
		if err != nil {
			return err
		}
		return q.pixels("deviation", a.w, a.h, d, sum.memory, squares.memory, sum.stride, r)
	})
}
