package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// Detail writes the sum of the two finest bands of the starlet transform of the known pixels, 0 elsewhere.
func (b executor) Detail(ctx context.Context, op processing.Detail) error {
	return b.onTiles(ctx, op.Tiles, op.Dst, op.Src, op.State, func(t *worker, _ int, c *cutout) bool {
		return b.detail(t, c.p, c.state, c.w, c.h)
	})
}

// detail computes Detail for a tile. It returns false if it was stopped.
func (b *Backend) detail(t *worker, p []float32, state []uint8, w, h int) bool {
	known := scratch[float32](t, len(p))
	for j, s := range state {
		known[j] = 0
		if s == processing.StateKnown {
			known[j] = 1
		}
	}
	k := &b.kernels
	smooth := scratch[float32](t, len(p))
	k.DivideKnown(smooth, p, known, known)
	s := newSmoothing(t, w, h)
	for _, gap := range [2]int{1, 2} {
		if t.stopped() {
			return false
		}
		s.smooth(k, smooth, known, gap)
	}
	for j, v := range smooth {
		if known[j] != 0 {
			p[j] -= v
		} else {
			p[j] = 0
		}
	}
	return true
}

// smoothing holds the buffers for smoothing the known pixels of a tile of w × h.
type smoothing struct {
	w, h int
	// value and weight are the sums along rows; down and count are those of one row, along columns as well.
	value, weight, down, count []float32
	// padded is a row with zeros around it, empty a row of zeros.
	padded, empty []float32
	weights       *kernel.Weights5
}

// margin is the reach of the smoothing with the wider gap.
const margin = 4

func newSmoothing(t *worker, w, h int) *smoothing {
	s := &smoothing{
		w: w, h: h, value: scratch[float32](t, w*h), weight: scratch[float32](t, w*h), down: scratch[float32](t, w),
		count: scratch[float32](t, w), padded: scratch[float32](t, w+2*margin), empty: scratch[float32](t, w),
		weights: kernel.NewWeights5(),
	}
	clear(s.padded)
	clear(s.empty)
	return s
}

// smooth smooths the known pixels with [1 4 6 4 1] at the given gap, first along rows, then along columns, and divides
// by the sum of the weights on known pixels. known is 1 in known pixels; elsewhere p and known are 0.
func (s *smoothing) smooth(k *kernel.Table, p, known []float32, gap int) {
	w := s.w
	along := func(dst, src []float32) {
		q := s.padded
		copy(q[margin:], src)
		k.Taps5(dst, q[margin-2*gap:], q[margin-gap:], q[margin:], q[margin+gap:], q[margin+2*gap:], s.weights)
	}
	for y := range s.h {
		along(s.value[y*w:(y+1)*w], p[y*w:(y+1)*w])
		along(s.weight[y*w:(y+1)*w], known[y*w:(y+1)*w])
	}
	row := func(of []float32, y int) []float32 {
		if y < 0 || y >= s.h {
			return s.empty
		}
		return of[y*w : (y+1)*w]
	}
	for y := range s.h {
		for _, sum := range [2]struct{ dst, of []float32 }{{s.down, s.value}, {s.count, s.weight}} {
			k.Taps5(sum.dst, row(sum.of, y-2*gap), row(sum.of, y-gap), row(sum.of, y), row(sum.of, y+gap),
				row(sum.of, y+2*gap), s.weights)
		}
		k.DivideKnown(p[y*w:(y+1)*w], s.down, s.count, known[y*w:(y+1)*w])
	}
}
