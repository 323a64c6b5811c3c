//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"

	"blik/cuda"
	"blik/internal/parallel"
	"blik/lab/experiment"
)

// traversalVariants blur in the orders of the experiment traversal. With memory=mapped the picture, the intermediate
// result, the result and the list of pixels are all in host memory; otherwise all of them are in device memory.
func traversalVariants(b *cuda.Backend) []experiment.Variant {
	variant := func(id string, list pixelOrder, pass blurPass) experiment.Variant {
		return experiment.Variant{ID: id, Device: experiment.GPU, Method: trialMethod{
			b: b,
			memory: func(c experiment.Case) int64 {
				n := int64(c.Size.Samples())
				planes, lists := roundUp(int64(c.Size.W), cuda.PitchGrain)*int64(c.Size.H), 4*n
				if list == nil {
					lists = 0
				}
				if c.Values["memory"] == "mapped" {
					return 3*planes + 2*lists + n
				}
				return lists + n
			},
			operations: func(c experiment.Case) float64 { return 2 * 11 * float64(c.Size.Samples()) },
			prepare: func(q cuda.Queue, t *trial, in *experiment.Input, c experiment.Case) error {
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
	// between is the intermediate result of the first pass.
	src, between, dst cuda.Buffer
	// list is the list of pixels if the order is read from memory.
	list cuda.Buffer
	taps []any
}

// blurPass queues one pass: pass is Columns or Rows.
type blurPass func(q cuda.Queue, v *blurTrial, dst, src cuda.Buffer, pass string) error

// launch queues a kernel; args are those between the planes and the size.
func (v *blurTrial) launch(q cuda.Queue, name string, grid, block cuda.Dim, dst, src cuda.Buffer, args ...any) error {
	all := append([]any{dst, src, v.pitch}, args...)
	all = append(all, v.w, v.h)
	return q.Launch(name, grid, block, append(all, v.taps...)...)
}

func listedPass(q cuda.Queue, v *blurTrial, dst, src cuda.Buffer, pass string) error {
	n := v.w * v.h
	grid, block := cuda.Along(n)
	return v.launch(q, "listed"+pass, grid, block, dst, src, v.list, n)
}

func curvedPass(q cuda.Queue, v *blurTrial, dst, src cuda.Buffer, pass string) error {
	order := experiment.CurveOrder(v.w, v.h)
	grid, block := cuda.Along(1 << (2 * order))
	return v.launch(q, "curved"+pass, grid, block, dst, src, order)
}

// scheduledPass filters 4 or 16 pixels per thread down the columns, and one along the rows.
func scheduledPass(pixels int) blurPass {
	columns := map[int]string{4: "scheduledColumns4", 16: "scheduledColumns16"}[pixels]
	return func(q cuda.Queue, v *blurTrial, dst, src cuda.Buffer, pass string) error {
		if pass == "Rows" {
			grid, block := cuda.Over(v.w, v.h)
			return v.launch(q, "scheduledRows", grid, block, dst, src)
		}
		grid, block := cuda.Over((v.w+pixels-1)/pixels, v.h)
		return v.launch(q, columns, grid, block, dst, src)
	}
}

func prepareBlur(
	q cuda.Queue, t *trial, in *experiment.Input, c experiment.Case, list pixelOrder, pass blurPass,
) error {
	if err := experiment.CheckOrder(in.Size); err != nil {
		return err
	}
	v := &blurTrial{w: in.Size.W, h: in.Size.H}
	v.pitch = int(roundUp(int64(v.w), cuda.PitchGrain))
	for _, tap := range experiment.GaussTaps() {
		v.taps = append(v.taps, int(tap))
	}
	var pixels []uint32
	if list != nil {
		pixels = list(q.Context(), v.w, v.h)
		if err := q.Context().Err(); err != nil {
			return err
		}
	}

	place := onDevice
	if c.Values["memory"] == "mapped" {
		place = inHost
	}
	t.compute = func(q cuda.Queue) error {
		if err := pass(q, v, v.between, v.src, "Columns"); err != nil {
			return err
		}
		return pass(q, v, v.dst, v.between, "Rows")
	}
	return place(q, t, v, in, pixels)
}

// onDevice allocates the planes, with the row pitch of v, and the list in device memory, and sets the result.
func onDevice(q cuda.Queue, t *trial, v *blurTrial, in *experiment.Input, pixels []uint32) error {
	src, err := t.picture(q, in)
	if err != nil {
		return err
	}
	between, err := t.plane(v.w, v.h)
	if err != nil {
		return err
	}
	dst, err := t.plane(v.w, v.h)
	if err != nil {
		return err
	}
	v.src, v.between, v.dst = src.memory, between.memory, dst.memory
	t.result = t.samples(dst)
	if len(pixels) > 0 {
		v.list, err = t.work.Uploaded(q, cuda.BytesOf(pixels))
	}
	return err
}

// inHost allocates the same in host memory mapped into the device.
func inHost(q cuda.Queue, t *trial, v *blurTrial, in *experiment.Input, pixels []uint32) error {
	var from, to, list []byte
	var err error
	n := v.pitch * v.h
	if from, v.src, err = t.work.Mapped(q, n); err != nil {
		return err
	}
	for y := range v.h {
		copy(from[y*v.pitch:], in.U8[y*v.w:(y+1)*v.w])
	}
	if _, v.between, err = t.work.Mapped(q, n); err != nil {
		return err
	}
	if to, v.dst, err = t.work.Mapped(q, n); err != nil {
		return err
	}
	var out []uint8
	t.result = func(cuda.Queue) (experiment.Output, error) {
		if out == nil {
			out = make([]uint8, v.w*v.h)
		}
		for y := range v.h {
			copy(out[y*v.w:(y+1)*v.w], to[y*v.pitch:])
		}
		return experiment.Output{U8: out}, nil
	}
	if len(pixels) > 0 {
		if list, v.list, err = t.work.Mapped(q, 4*len(pixels)); err == nil {
			parallel.Copy(list, cuda.BytesOf(pixels))
		}
	}
	return err
}
