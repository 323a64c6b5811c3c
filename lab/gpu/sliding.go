//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"

	"blik/cuda"
	"blik/lab/experiment"
	"blik/processing"
)

// slidingVariants are the means over an m × m window.
func slidingVariants(b *cuda.Backend) []experiment.Variant {
	method := func(operations func(experiment.Case) float64, prepare func(q cuda.Queue, t *trial, dst *plane,
		in *experiment.Input, r int) error) experiment.Method {
		return trialMethod{
			b:          b,
			memory:     func(c experiment.Case) int64 { return int64(c.Size.Samples()) },
			operations: operations,
			prepare: func(q cuda.Queue, t *trial, in *experiment.Input, c experiment.Case) error {
				dst, err := t.plane(in.Size.W, in.Size.H)
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
			func(q cuda.Queue, t *trial, dst *plane, in *experiment.Input, r int) error {
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
				lines := func(n int) cuda.Dim { return cuda.Blocks((n+31)/32, 0) }
				t.compute = func(q cuda.Queue) error {
					err := q.Launch(columns, lines(w), cuda.Blocks(32, 0),
						sums.first, sums.pitch, src.first, src.pitch, r, w, h)
					if err != nil {
						return err
					}
					return q.Launch(rows, lines(h), cuda.Blocks(32, 0),
						dst.Plane, sums.first, sums.pitch, r, sumsW, sumsH)
				}
				return q.UploadRows(src.first, int64(src.pitch), in.U8, w)
			})
	}
	return []experiment.Variant{
		{ID: "gpu-direct", Device: experiment.GPU, Method: method(experiment.DirectAdditions,
			func(q cuda.Queue, t *trial, dst *plane, in *experiment.Input, r int) error {
				src, err := t.picture(q, in)
				t.compute = func(q cuda.Queue) error {
					return q.Pixels("slidingDirect", dst.w, dst.h, dst.Plane, src.Plane, r)
				}
				return err
			})},
		{ID: "gpu-recursive", Device: experiment.GPU, Method: recursive("slidingColumns", "slidingRows", false)},
		{ID: "gpu-recursive-coalesced", Device: experiment.GPU,
			Method: recursive("slidingTurnedSums", "slidingTurnedMeans", true)},
		{ID: "gpu-program", Device: experiment.GPU, Method: method(experiment.RecursiveAdditions,
			func(q cuda.Queue, t *trial, dst *plane, in *experiment.Input, r int) error {
				src, err := t.picture(q, in)
				t.operation = func(ctx context.Context) error {
					return b.Do(ctx, processing.BoxMean{Dst: dst.Plane, Src: src.Plane, Radius: r})
				}
				return err
			})},
	}
}

// frame is a zero-padded plane, in which windows slide along lines without bounds checks.
type frame struct {
	// first is the memory of the first sample within the frame; rows are pitch bytes apart.
	first cuda.Buffer
	pitch int
}

// slideAhead is how far the kernels read ahead; noWindow is the radius for a direction without a window.
const (
	slideAhead = 16
	noWindow   = -1
)

// framed returns a plane of w × h samples of the given size in bytes, padded with zeros for windows of radius rx along
// the rows and ry along the columns.
func framed(q cuda.Queue, t *trial, w, h, bytes, rx, ry int) (frame, error) {
	around := func(r int) (before, behind int) {
		if r == noWindow {
			return 0, 0
		}
		return r + 1, r + 3*slideAhead
	}
	left, right := around(rx)
	above, below := around(ry)
	f := frame{pitch: int(roundUp(int64((left+w+right)*bytes), cuda.PitchGrain))}
	size := int64(f.pitch) * int64(above+h+below)
	m, err := t.work.Bytes(q, size)
	if err != nil {
		return f, err
	}
	f.first = m.At(int64(above)*int64(f.pitch) + int64(left*bytes))
	return f, q.Zero(m, size)
}
