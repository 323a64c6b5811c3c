package experiment

import "context"

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
