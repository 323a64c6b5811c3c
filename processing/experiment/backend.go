package experiment

import (
	"context"
	"errors"

	"blik/processing"
	"blik/processing/cpu"
)

// onBackend runs one of the program's own operations on 8-bit planes.
type onBackend struct {
	workers    int
	operations func(c Case) float64
	run        func(ctx context.Context, b processing.Backend, dst, src processing.Plane, c Case) error
}

// Memory counts two planes and the scratch of the workers.
func (m onBackend) Memory(c Case) int64       { return 2*int64(c.Size.Samples()) + 64<<20 }
func (m onBackend) Operations(c Case) float64 { return m.operations(c) }

func (m onBackend) Prepare(ctx context.Context, in *Input, c Case) (Runner, error) {
	b := cpu.New(cpu.Workers(m.workers))
	r := &backendRun{onBackend: m, backend: b, c: c}
	var err error
	if r.src, err = b.Alloc(processing.U8, in.Size.W, in.Size.H); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if r.dst, err = b.Alloc(processing.U8, in.Size.W, in.Size.H); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := b.Upload(ctx, r.src, processing.Samples{U8: in.U8}); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

type backendRun struct {
	onBackend
	backend  *cpu.Backend
	src, dst processing.Plane
	c        Case
}

func (r *backendRun) Run(ctx context.Context) error { return r.run(ctx, r.backend, r.dst, r.src, r.c) }

func (r *backendRun) Output(ctx context.Context) (Output, error) {
	s, err := r.backend.Host(ctx, r.dst)
	return Output{U8: s.U8}, err
}

func (r *backendRun) Close() error {
	for _, p := range []processing.Plane{r.src, r.dst} {
		if p != nil {
			p.Release()
		}
	}
	return r.backend.Close()
}

// plain is a method implemented in this package: prepare returns the function that computes into out.
type plain struct {
	memory     func(c Case) int64
	operations func(c Case) float64
	prepare    func(ctx context.Context, in *Input, c Case) (run func(context.Context) error, out *Output, err error)
}

func (m plain) Memory(c Case) int64       { return m.memory(c) }
func (m plain) Operations(c Case) float64 { return m.operations(c) }

func (m plain) Prepare(ctx context.Context, in *Input, c Case) (Runner, error) {
	run, out, err := m.prepare(ctx, in, c)
	if err != nil {
		return nil, err
	}
	return plainRun{run, out}, nil
}

type plainRun struct {
	run func(ctx context.Context) error
	out *Output
}

func (r plainRun) Run(ctx context.Context) error          { return r.run(ctx) }
func (r plainRun) Output(context.Context) (Output, error) { return *r.out, nil }
func (r plainRun) Close() error                           { return nil }
