//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"

	"blik/lab/experiment"
	"blik/processing"
)

// vhgwVariants are erosion and dilation with rectangles.
func vhgwVariants(b *Backend) []experiment.Variant {
	method := func(prepare func(q *queue, t *trial, dst, src *plane, op processing.MorphOp,
		e processing.Element) error) experiment.Method {
		return trialMethod{
			b:          b,
			memory:     func(c experiment.Case) int64 { return int64(c.Size.Samples()) },
			operations: experiment.RecursiveComparisons,
			prepare: func(q *queue, t *trial, in *experiment.Input, c experiment.Case) error {
				src, err := t.picture(q, in)
				if err != nil {
					return err
				}
				dst, err := t.plane(processing.U8, src.w, src.h)
				if err != nil {
					return err
				}
				t.result = t.samples(dst)
				op, e := experiment.Morphology(c)
				return prepare(q, t, dst, src, op, e)
			},
		}
	}
	recursion := func(shared bool) experiment.Method {
		return method(func(q *queue, t *trial, dst, src *plane, op processing.MorphOp, e processing.Element) error {
			v, err := newVHGW(q, t, src.w, src.h, passes(e, src.w, src.h), shared)
			if err != nil {
				return err
			}
			t.compute = func(q *queue) error {
				switch op {
				case processing.Open, processing.Close:
					if err := v.extreme(q, v.first, src, op == processing.Close); err != nil {
						return err
					}
					return v.extreme(q, dst, v.first, op == processing.Open)
				}
				return v.extreme(q, dst, src, op == processing.Dilate)
			}
			return nil
		})
	}
	return []experiment.Variant{
		{ID: "gpu-vhgw-global", Device: experiment.GPU, Method: recursion(false)},
		{ID: "gpu-vhgw-shared", Device: experiment.GPU, Method: recursion(true)},
		{ID: "gpu-program", Device: experiment.GPU, Method: method(func(_ *queue, t *trial, dst, src *plane,
			op processing.MorphOp, e processing.Element) error {
			t.operation = func(ctx context.Context) error {
				return b.Do(ctx, processing.Morph{Dst: dst, Src: src, Op: op, Element: e})
			}
			return nil
		})},
	}
}

// vhgw is an erosion or dilation by the kernels of experiment_vhgw.cu, which filter down the columns; for rows the
// plane is transposed before and after.
type vhgw struct {
	passes []pass
	shared bool
	// first is the result of the first half of an opening or closing, between that of a pass along the rows. turned and
	// filtered are transposed planes; suffix and prefix hold a value for each pixel.
	first, between, turned, filtered *plane
	suffix, prefix                   buffer
}

func newVHGW(q *queue, t *trial, w, h int, list []pass, shared bool) (*vhgw, error) {
	v := &vhgw{passes: list, shared: shared}
	var err error
	for _, p := range []struct {
		plane **plane
		w, h  int
	}{{&v.first, w, h}, {&v.between, w, h}, {&v.turned, h, w}, {&v.filtered, h, w}} {
		if *p.plane, err = t.plane(processing.U8, p.w, p.h); err != nil {
			return nil, err
		}
	}
	if shared {
		return v, nil
	}
	n := int64(max(words(w)*h, words(h)*w)) * 4
	if v.suffix, err = t.bytes(q, n); err != nil {
		return nil, err
	}
	v.prefix, err = t.bytes(q, n)
	return v, err
}

// words is the number of words of four samples in a row.
func words(w int) int { return (w + 3) / 4 }

func (v *vhgw) extreme(q *queue, dst, src *plane, dilate bool) error {
	name := "vhgwErode"
	if dilate {
		name = "vhgwDilate"
	}
	switch len(v.passes) {
	case 0:
		return q.duplicate(dst, src)
	case 1:
		return v.pass(q, name, dst, src, v.passes[0])
	}
	if err := v.pass(q, name, v.between, src, v.passes[0]); err != nil {
		return err
	}
	return v.pass(q, name, dst, v.between, v.passes[1])
}

func (v *vhgw) pass(q *queue, name string, dst, src *plane, p pass) error {
	if p.down {
		return v.columns(q, name, dst, src, p.r)
	}
	if err := q.transpose(v.turned, src); err != nil {
		return err
	}
	if err := v.columns(q, name, v.filtered, v.turned, p.r); err != nil {
		return err
	}
	return q.transpose(dst, v.filtered)
}

func (v *vhgw) columns(q *queue, name string, dst, src *plane, r int) error {
	k, n := 2*r+1, words(src.w)
	segments := (src.h + k - 1) / k
	memory, reach, block := "Global", "Many", dim{32, 2}
	switch {
	case k <= 7:
		reach, block.y = "Few", 4
	case k >= 128:
		reach = "Most"
	case k >= 32:
		reach = "More"
	}
	if v.shared {
		memory, block = "Shared", vhgwBlock(k)
	}
	grid := dim{(n + block.x - 1) / block.x, (2*segments + block.y - 1) / block.y}
	if v.shared {
		return q.launchShared(name+memory+reach, grid, block, block.x*block.y*vhgwBytes(k), dst, src, r, n, src.h)
	}
	return q.launch(name+memory+reach, grid, block, dst, src, v.suffix, v.prefix, r, n, src.h)
}

// vhgwBytes is the shared memory that a thread needs for the suffixes or prefixes of k words.
func vhgwBytes(k int) int { return k * 4 }

// vhgwBlock is the largest block of up to 32 × 4 threads, two for each segment, whose suffixes and prefixes fit into
// shared memory.
func vhgwBlock(k int) dim {
	threads := min(maxShared/vhgwBytes(k), 128)
	switch {
	case threads == 128:
		return dim{32, 4}
	case threads >= 64:
		return dim{32, 2}
	}
	x := 1
	for 4*x <= threads {
		x *= 2
	}
	return dim{x, 2}
}
