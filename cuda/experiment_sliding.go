//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"

	"blik/lab/experiment"
	"blik/processing"
)

// slidingVariants are the means over an m × m window.
func slidingVariants(b *Backend) []experiment.Variant {
	method := func(operations func(experiment.Case) float64, prepare func(q *queue, t *trial, dst *plane,
		in *experiment.Input, r int) error) experiment.Method {
		return trialMethod{
			b:          b,
			memory:     func(c experiment.Case) int64 { return int64(c.Size.Samples()) },
			operations: operations,
			prepare: func(q *queue, t *trial, in *experiment.Input, c experiment.Case) error {
				dst, err := t.plane(processing.U8, in.Size.W, in.Size.H)
				if err != nil {
					return err
				}
				t.result = t.samples(dst)
				return prepare(q, t, dst, in, c.Int("m")/2)
			},
		}
	}
	// recursive runs the recursion down the columns in one kernel and along their sums in another. turned: the first
	// kernel transposes the sums as it writes them, so that both kernels have coalesced access.
	recursive := func(columns, rows string, turned bool) experiment.Method {
		return method(experiment.RecursiveAdditions,
			func(q *queue, t *trial, dst *plane, in *experiment.Input, r int) error {
				w, h := dst.w, dst.h
				src, err := framed(q, t, w, h, 1, noWindow, r)
				if err != nil {
					return err
				}
				sumsW, sumsH, rx, ry := w, h, r, noWindow
				if turned {
					sumsW, sumsH, rx, ry = h, w, noWindow, r
				}
				sums, err := framed(q, t, sumsW, sumsH, 4, rx, ry)
				if err != nil {
					return err
				}
				// One thread per line, in blocks of one warp so that few lines occupy many multiprocessors.
				lines := func(n int) dim { return dim{x: (n + 31) / 32} }
				t.compute = func(q *queue) error {
					err := q.launch(columns, lines(w), dim{x: 32},
						sums.first, sums.pitch, src.first, src.pitch, r, w, h)
					if err != nil {
						return err
					}
					return q.launch(rows, lines(h), dim{x: 32}, dst, sums.first, sums.pitch, r, sumsW, sumsH)
				}
				return q.d.upload(src.first.ptr, int64(src.pitch), in.U8, w)
			})
	}
	return []experiment.Variant{
		{ID: "gpu-direct", Device: experiment.GPU, Method: method(experiment.DirectAdditions,
			func(q *queue, t *trial, dst *plane, in *experiment.Input, r int) error {
				src, err := t.picture(q, in)
				t.compute = func(q *queue) error { return q.pixels("slidingDirect", dst.w, dst.h, dst, src, r) }
				return err
			})},
		{ID: "gpu-recursive", Device: experiment.GPU, Method: recursive("slidingColumns", "slidingRows", false)},
		{ID: "gpu-recursive-coalesced", Device: experiment.GPU,
			Method: recursive("slidingTurnedSums", "slidingTurnedMeans", true)},
		{ID: "gpu-program", Device: experiment.GPU, Method: method(experiment.RecursiveAdditions,
			func(q *queue, t *trial, dst *plane, in *experiment.Input, r int) error {
				src, err := t.picture(q, in)
				t.operation = func(ctx context.Context) error {
					return b.Do(ctx, processing.BoxMean{Dst: dst, Src: src, Radius: r})
				}
				return err
			})},
	}
}

// frame is a zero-padded plane, in which windows slide along lines without bounds checks.
type frame struct {
	// first is the memory of the first sample within the frame; rows are pitch bytes apart.
	first buffer
	pitch int
}

// slideAhead is how far the kernels read ahead; noWindow is the radius for a direction without a window.
const (
	slideAhead = 16
	noWindow   = -1
)

// framed returns a plane of w × h samples of the given size in bytes, padded with zeros for windows of radius rx along
// the rows and ry along the columns.
func framed(q *queue, t *trial, w, h, bytes, rx, ry int) (frame, error) {
	around := func(r int) (before, behind int) {
		if r == noWindow {
			return 0, 0
		}
		return r + 1, r + 3*slideAhead
	}
	left, right := around(rx)
	above, below := around(ry)
	f := frame{pitch: int(roundUp(int64((left+w+right)*bytes), pitchGrain))}
	size := int64(f.pitch) * int64(above+h+below)
	m, err := t.bytes(q, size)
	if err != nil {
		return f, err
	}
	f.first = buffer{m.ptr + cuPtr(int64(above)*int64(f.pitch)+int64(left*bytes)), 0}
	return f, q.d.zero(m, size)
}
