//go:build cuda && linux && amd64

package cuda

import (
	"context"

	"blik/processing/experiment"
)

// traversalVariants blur in the orders of the experiment traversal. With memory=mapped the picture, what is between the
// passes, the result and the list of pixels all lie in host memory; else all of them in the device's.
func traversalVariants(b *Backend) []experiment.Variant {
	variant := func(id string, list pixelOrder, pass blurPass) experiment.Variant {
		return experiment.Variant{ID: id, Device: experiment.GPU, Method: trialMethod{
			b: b,
			memory: func(c experiment.Case) int64 {
				n := int64(c.Size.Samples())
				planes, lists := roundUp(int64(c.Size.W), pitchGrain)*int64(c.Size.H), 4*n
				if list == nil {
					lists = 0
				}
				if c.Values["memory"] == "mapped" {
					return 3*planes + 2*lists + n
				}
				return planes + lists + n
			},
			operations: func(c experiment.Case) float64 { return 2 * 11 * float64(c.Size.Samples()) },
			prepare: func(q *queue, t *trial, in *experiment.Input, c experiment.Case) error {
				return prepareBlur(q, t, in, c, list, pass)
			},
		}}
	}
	return []experiment.Variant{
		variant("gpu-raster-memory", experiment.RasterOrder, listedPass),
		variant("gpu-hilbert-memory", experiment.HilbertOrder, listedPass),
		variant("gpu-raster-fast-4", nil, scheduledPass(4)),
		variant("gpu-raster-fast-16", nil, scheduledPass(16)),
		variant("gpu-hilbert-fast", nil, curvedPass),
	}
}

// pixelOrder lists the pixels of a picture.
type pixelOrder func(ctx context.Context, w, h int) []uint32

// blurTrial is a picture to be blurred, rows at multiples of pitch bytes.
type blurTrial struct {
	w, h, pitch int
	// list is that of the pixels, where the order is read from memory.
	list buffer
	taps []any
}

// blurPass queues one pass: pass is Columns or Rows.
type blurPass func(q *queue, v *blurTrial, dst, src buffer, pass string) error

// launch queues a kernel; args are those between the planes and the size.
func (v *blurTrial) launch(q *queue, name string, grid, block dim, dst, src buffer, args ...any) error {
	all := append([]any{dst, src, v.pitch}, args...)
	all = append(all, v.w, v.h)
	return q.launch(name, grid, block, append(all, v.taps...)...)
}

func listedPass(q *queue, v *blurTrial, dst, src buffer, pass string) error {
	n := v.w * v.h
	grid, block := along(n)
	return v.launch(q, "listed"+pass, grid, block, dst, src, v.list, n)
}

func curvedPass(q *queue, v *blurTrial, dst, src buffer, pass string) error {
	order := experiment.CurveOrder(v.w, v.h)
	grid, block := along(1 << (2 * order))
	return v.launch(q, "curved"+pass, grid, block, dst, src, order)
}

// scheduledPass takes so many pixels a thread down the columns, 4 or 16, and one along the rows.
func scheduledPass(pixels int) blurPass {
	columns := map[int]string{4: "scheduledColumns4", 16: "scheduledColumns16"}[pixels]
	return func(q *queue, v *blurTrial, dst, src buffer, pass string) error {
		if pass == "Rows" {
			grid, block := over(v.w, v.h)
			return v.launch(q, "scheduledRows", grid, block, dst, src)
		}
		grid, block := over((v.w+pixels-1)/pixels, v.h)
		return v.launch(q, columns, grid, block, dst, src)
	}
}

func prepareBlur(q *queue, t *trial, in *experiment.Input, c experiment.Case, list pixelOrder, pass blurPass) error {
	if err := experiment.CheckOrder(in.Size); err != nil {
		return err
	}
	v := &blurTrial{w: in.Size.W, h: in.Size.H}
	v.pitch = int(roundUp(int64(v.w), pitchGrain))
	for _, tap := range experiment.GaussTaps() {
		v.taps = append(v.taps, int(tap))
	}
	var pixels []uint32
	if list != nil {
		pixels = list(q.ctx, v.w, v.h)
		if err := q.ctx.Err(); err != nil {
			return err
		}
	}

	bytes := v.pitch * v.h
	var src, between, dst buffer
	// whole is the host's view of dst, padding included.
	var whole []byte
	var err error
	if c.Values["memory"] == "mapped" {
		var from, to []byte
		if from, src, err = t.mapped(q, bytes); err != nil {
			return err
		}
		for y := range v.h {
			copy(from[y*v.pitch:], in.U8[y*v.w:(y+1)*v.w])
		}
		if _, between, err = t.mapped(q, bytes); err != nil {
			return err
		}
		if whole, dst, err = t.mapped(q, bytes); err != nil {
			return err
		}
		if list != nil {
			if to, v.list, err = t.mapped(q, 4*len(pixels)); err != nil {
				return err
			}
			copyWide(to, bytesOf(pixels))
		}
	} else {
		for _, m := range []*buffer{&src, &between, &dst} {
			if *m, err = t.bytes(q, int64(bytes)); err != nil {
				return err
			}
		}
		if err := q.d.upload(src.ptr, int64(v.pitch), in.U8, v.w); err != nil {
			return err
		}
		if list != nil {
			if v.list, err = t.uploaded(q, bytesOf(pixels)); err != nil {
				return err
			}
		}
	}

	t.compute = func(q *queue) error {
		if err := pass(q, v, between, src, "Columns"); err != nil {
			return err
		}
		return pass(q, v, dst, between, "Rows")
	}
	var out []uint8
	t.result = func(q *queue) (experiment.Output, error) {
		if out == nil {
			out = make([]uint8, v.w*v.h)
		}
		view := whole
		if view == nil {
			view = make([]byte, bytes)
			if err := downloaded(q, view, dst); err != nil {
				return experiment.Output{}, err
			}
		}
		for y := range v.h {
			copy(out[y*v.w:(y+1)*v.w], view[y*v.pitch:])
		}
		return experiment.Output{U8: out}, nil
	}
	return nil
}
