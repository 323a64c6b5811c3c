//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"

	"blik/cuda"
	"blik/lab/experiment"
	"blik/processing"
)

// vhgwVariants are erosion and dilation with rectangles.
func vhgwVariants(b *cuda.Backend) []experiment.Variant {
	method := func(prepare func(q cuda.Queue, t *trial, dst, src *plane, op processing.MorphOp,
		e processing.Element) error) experiment.Method {
		return trialMethod{
			b:          b,
			memory:     func(c experiment.Case) int64 { return int64(c.Size.Samples()) },
			operations: experiment.RecursiveComparisons,
			prepare: func(q cuda.Queue, t *trial, in *experiment.Input, c experiment.Case) error {
				src, err := t.picture(q, in)
				if err != nil {
					return err
				}
				dst, err := t.plane(src.w, src.h)
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
		return method(func(q cuda.Queue, t *trial, dst, src *plane, op processing.MorphOp, e processing.Element) error {
			v, err := newVHGW(q, t, src.w, src.h, cuda.Passes(e, src.w, src.h), shared)
			if err != nil {
				return err
			}
			t.compute = func(q cuda.Queue) error {
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
		{ID: "gpu-program", Device: experiment.GPU, Method: method(func(_ cuda.Queue, t *trial, dst, src *plane,
			op processing.MorphOp, e processing.Element) error {
			t.operation = func(ctx context.Context) error {
				return b.Do(ctx, processing.Morph{Dst: dst.Plane, Src: src.Plane, Op: op, Element: e})
			}
			return nil
		})},
	}
}

// vhgw is an erosion or dilation by the kernels of experiment_vhgw.cu, which filter down the columns; for rows the
// plane is transposed before and after.
type vhgw struct {
	passes []cuda.Pass
	shared bool
	// first is the result of the first half of an opening or closing, between that of a pass along the rows. turned and
	// filtered are transposed planes; suffix and prefix hold a value for each pixel.
	first, between, turned, filtered *plane
	suffix, prefix                   cuda.Buffer
}

func newVHGW(q cuda.Queue, t *trial, w, h int, list []cuda.Pass, shared bool) (*vhgw, error) {
	v := &vhgw{passes: list, shared: shared}
	var err error
	for _, p := range []struct {
		plane **plane
		w, h  int
	}{{&v.first, w, h}, {&v.between, w, h}, {&v.turned, h, w}, {&v.filtered, h, w}} {
		if *p.plane, err = t.plane(p.w, p.h); err != nil {
			return nil, err
		}
	}
	if shared {
		return v, nil
	}
	n := int64(max(words(w)*h, words(h)*w)) * 4
	if v.suffix, err = t.work.Bytes(q, n); err != nil {
		return nil, err
	}
	v.prefix, err = t.work.Bytes(q, n)
	return v, err
}

// words is the number of words of four samples in a row.
func words(w int) int { return (w + 3) / 4 }

func (v *vhgw) extreme(q cuda.Queue, dst, src *plane, dilate bool) error {
	name := "vhgwErode"
	if dilate {
		name = "vhgwDilate"
	}
	switch len(v.passes) {
	case 0:
		return q.Duplicate(dst.Plane, src.Plane)
	case 1:
		return v.pass(q, name, dst, src, v.passes[0])
	}
	if err := v.pass(q, name, v.between, src, v.passes[0]); err != nil {
		return err
	}
	return v.pass(q, name, dst, v.between, v.passes[1])
}

func (v *vhgw) pass(q cuda.Queue, name string, dst, src *plane, p cuda.Pass) error {
	if p.Down {
		return v.columns(q, name, dst, src, p.R)
	}
	if err := q.Transpose(v.turned.Plane, src.Plane); err != nil {
		return err
	}
	if err := v.columns(q, name, v.filtered, v.turned, p.R); err != nil {
		return err
	}
	return q.Transpose(dst.Plane, v.filtered.Plane)
}

func (v *vhgw) columns(q cuda.Queue, name string, dst, src *plane, r int) error {
	k, n := 2*r+1, words(src.w)
	segments := (src.h + k - 1) / k
	memory, reach, block := "Global", "Many", threads{32, 2}
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
	grid := cuda.Blocks((n+block.x-1)/block.x, (2*segments+block.y-1)/block.y)
	if v.shared {
		shared := block.x * block.y * vhgwBytes(k)
		return q.LaunchShared(name+memory+reach, grid, block.size(), shared, dst.Plane, src.Plane, r, n, src.h)
	}
	return q.Launch(name+memory+reach, grid, block.size(), dst.Plane, src.Plane, v.suffix, v.prefix, r, n, src.h)
}

// threads is the size of a block.
type threads struct{ x, y int }

func (n threads) size() cuda.Dim { return cuda.Blocks(n.x, n.y) }

// vhgwBytes is the shared memory that a thread needs for the suffixes or prefixes of k words.
func vhgwBytes(k int) int { return k * 4 }

// vhgwBlock is the largest block of up to 32 × 4 threads, two for each segment, whose suffixes and prefixes fit into
// shared memory.
func vhgwBlock(k int) threads {
	n := min(cuda.MaxShared/vhgwBytes(k), 128)
	switch {
	case n == 128:
		return threads{32, 4}
	case n >= 64:
		return threads{32, 2}
	}
	x := 1
	for 4*x <= n {
		x *= 2
	}
	return threads{x, 2}
}
