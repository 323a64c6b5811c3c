package experiment

import (
	"context"
	"errors"
	"math"

	labcpu "blik/lab/cpu"
	"blik/processing"
	"blik/processing/cpu"
)

// program is a Method that runs one of the program's own operations.
type program struct {
	// workers limits the goroutines; 0 means one per processor.
	workers    int
	memory     func(c Case) int64
	operations func(c Case) float64
	prepare    func(ctx context.Context, r *programRun, in *Input, c Case) error
}

func (m program) Memory(c Case) int64       { return m.memory(c) }
func (m program) Operations(c Case) float64 { return m.operations(c) }

func (m program) Prepare(ctx context.Context, in *Input, c Case) (Runner, error) {
	r := &programRun{backend: cpu.New(cpu.Workers(m.workers))}
	if err := m.prepare(ctx, r, in, c); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// programRun holds the planes of an operation; output reads the result from them.
type programRun struct {
	backend *cpu.Backend
	planes  []processing.Plane
	compute func(ctx context.Context) error
	output  func(ctx context.Context) (Output, error)
}

func (r *programRun) plane(kind processing.Kind, s Size) (processing.Plane, error) {
	p, err := r.backend.Alloc(kind, s.W, s.H)
	if err == nil {
		r.planes = append(r.planes, p)
	}
	return p, err
}

// floats returns a plane of floats and its samples, which computations may write.
func (r *programRun) floats(ctx context.Context, s Size) (processing.Plane, []float32, error) {
	p, err := r.plane(processing.F32, s)
	if err != nil {
		return nil, nil, err
	}
	host, err := r.backend.Host(ctx, p)
	return p, host.F32, err
}

func (r *programRun) Run(ctx context.Context) error              { return r.compute(ctx) }
func (r *programRun) Output(ctx context.Context) (Output, error) { return r.output(ctx) }

func (r *programRun) Close() error {
	for _, p := range r.planes {
		p.Release()
	}
	return r.backend.Close()
}

// ownOnBytes runs an operation on 8-bit planes. Its memory is two planes and the scratch of the workers.
func ownOnBytes(
	workers int, operations func(c Case) float64, op func(dst, src processing.Plane, c Case) processing.Op,
) Method {
	return program{
		workers:    workers,
		memory:     func(c Case) int64 { return 2*int64(c.Size.Samples()) + 64<<20 },
		operations: operations,
		prepare: func(ctx context.Context, r *programRun, in *Input, c Case) error {
			src, err := r.plane(processing.U8, in.Size)
			dst, err2 := r.plane(processing.U8, in.Size)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			run := op(dst, src, c)
			r.compute = func(ctx context.Context) error { return r.backend.Do(ctx, run) }
			r.output = func(ctx context.Context) (Output, error) {
				s, err := r.backend.Host(ctx, dst)
				return Output{U8: s.U8}, err
			}
			return r.backend.Upload(ctx, src, processing.Samples{U8: in.U8})
		},
	}
}

// maxVarianceSide is the largest window of MeanVariance.
const maxVarianceSide = 255

func inVarianceSide(c Case) bool { return c.Int("m") <= maxVarianceSide }

// ownMeanVariance computes mean and variance of bytes, or of the same samples as floats, in one pass; its result is the
// rounded mean. Rounding the quotient of two integers below 2²⁴ to a float never moves it across a half, so the rounded
// mean equals that of integer arithmetic.
func ownMeanVariance(kind processing.Kind) Method {
	return program{
		memory:     func(c Case) int64 { return 13*int64(c.Size.Samples()) + 64<<20 },
		operations: func(c Case) float64 { return 2 * RecursiveAdditions(c) },
		prepare: func(ctx context.Context, r *programRun, in *Input, c Case) error {
			_, mean, err := r.floats(ctx, in.Size)
			_, variance, err2 := r.floats(ctx, in.Size)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			cores, w, h, radius := labcpu.New(0), in.Size.W, in.Size.H, c.Int("m")/2
			r.compute = func(ctx context.Context) error {
				return labcpu.MeanVariance(ctx, cores, mean, variance, in.U8, w, h, radius)
			}
			r.output = func(context.Context) (Output, error) {
				out := make([]uint8, len(mean))
				for i, v := range mean {
					out[i] = uint8(math.Floor(float64(v) + 0.5))
				}
				return Output{U8: out}, nil
			}
			if kind != processing.F32 {
				return nil
			}
			_, samples, err := r.floats(ctx, in.Size)
			for i := range samples {
				samples[i] = float32(in.U8[i])
			}
			r.compute = func(ctx context.Context) error {
				return labcpu.MeanVariance(ctx, cores, mean, variance, samples, w, h, radius)
			}
			return err
		},
	}
}

// programWavelets maps this package's names to the wavelets of the program.
func programWavelets() map[string]labcpu.Wavelet {
	return map[string]labcpu.Wavelet{"haar": labcpu.Haar, "d4": labcpu.Daubechies4}
}

// onProgramWavelet reports whether the program implements the transform of a case: it does so only for pictures and its
// own wavelets.
func onProgramWavelet(c Case) bool {
	_, ok := programWavelets()[c.Values["wavelet"]]
	return ok && c.Size.H > 0
}

// ownWavelet runs the program's transform or its inverse.
func ownWavelet() Method {
	return program{
		memory:     func(c Case) int64 { return 3*4*int64(Coefficients(c.Size).Samples()) + 64<<20 },
		operations: WaveletOperations,
		prepare: func(ctx context.Context, r *programRun, in *Input, c Case) error {
			size, wave := Coefficients(in.Size), programWavelets()[c.Values["wavelet"]]
			p, src, err := r.floats(ctx, size)
			_, dst, err2 := r.floats(ctx, size)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			if err := r.backend.Upload(ctx, p, processing.Samples{F32: Extended(in)}); err != nil {
				return err
			}
			cores := labcpu.New(0)
			forward := func(ctx context.Context) error { return cores.Transform(ctx, dst, src, size.W, size.H, wave) }
			if c.Values["direction"] == "forward" {
				r.compute = forward
				r.output = func(context.Context) (Output, error) { return Output{F32: placed(dst, size, wave)}, nil }
				return nil
			}
			_, back, err := r.floats(ctx, size)
			if err != nil {
				return err
			}
			r.compute = func(ctx context.Context) error { return cores.Inverse(ctx, back, dst, size.W, size.H, wave) }
			r.output = func(context.Context) (Output, error) { return Output{F32: back}, nil }
			return forward(ctx)
		},
	}
}

// placed reorders the program's coefficients to the order of this package: with 4 taps, the program's filter starts two
// samples earlier, which shifts each band by one place.
func placed(x []float32, size Size, wave labcpu.Wavelet) []float32 {
	if wave == labcpu.Haar {
		return x
	}
	w, h := size.W, size.H
	out := make([]float32, len(x))
	next := func(i, n int) int { // within the half of n that contains i
		if i%(n/2) == n/2-1 {
			return i - n/2 + 1
		}
		return i + 1
	}
	for y := range h {
		row := x[next(y, h)*w:][:w]
		for i := range w {
			out[y*w+i] = row[next(i, w)]
		}
	}
	return out
}
