//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"
	"errors"
	"sync"

	"blik/cuda"
	"blik/lab/experiment"
)

// sumVariants are the sums of many floats. With one GPU there is no variant for several.
func sumVariants(x *provider) []experiment.Variant {
	method := func(
		prepare func(q cuda.Queue, t *trial, src cuda.Buffer, n int) (total cuda.Buffer, err error),
	) experiment.Method {
		return trialMethod{
			b:          x.b,
			memory:     func(experiment.Case) int64 { return 0 },
			operations: additions,
			prepare: func(q cuda.Queue, t *trial, in *experiment.Input, _ experiment.Case) error {
				src, err := t.work.Uploaded(q, cuda.BytesOf(in.F32))
				if err != nil {
					return err
				}
				total, err := prepare(q, t, src, len(in.F32))
				t.result = func(q cuda.Queue) (experiment.Output, error) {
					sum, err := fetchFloat(q, total)
					return experiment.Output{Sum: &sum}, err
				}
				return err
			},
		}
	}
	list := []experiment.Variant{
		{ID: "gpu-halving", Device: experiment.GPU, Method: method(prepareHalving)},
		{ID: "gpu-tree", Device: experiment.GPU, Method: method(prepareTree)},
	}
	if len(x.names) > 1 {
		list = append(list, experiment.Variant{ID: "gpu-several", Device: experiment.GPU, Method: several{x},
			GPUs: x.names})
	}
	return list
}

func additions(c experiment.Case) float64 { return float64(c.Size.Samples()) }

// fetchFloat reads one float.
func fetchFloat(q cuda.Queue, from cuda.Buffer) (float64, error) {
	host, err := q.Fetch(from, 4)
	if err != nil {
		return 0, err
	}
	return float64(cuda.SamplesOf[float32](host)[0]), nil
}

// prepareHalving adds the halves element by element, first into separate memory, so that the input is kept, then in
// place.
func prepareHalving(q cuda.Queue, t *trial, src cuda.Buffer, n int) (cuda.Buffer, error) {
	if n == 1 {
		t.compute = func(cuda.Queue) error { return nil }
		return src, nil
	}
	half, err := t.work.Bytes(q, int64(n/2)*4)
	t.compute = func(q cuda.Queue) error {
		from := src
		for left := n; left > 1; left /= 2 {
			grid := cuda.Blocks((left/2+halveBlock-1)/halveBlock, 0)
			err := q.Launch("sumHalve", grid, cuda.Blocks(256, 0), half, from, left/2, left%2)
			if err != nil {
				return err
			}
			from = half
		}
		return nil
	}
	return half, err
}

// halveBlock is the number of pairs added by a block of sumHalve, treeTile the number of values added by a block of
// sumTree.
const (
	halveBlock = 4 * 256
	treeTile   = 64 * 256
)

// tree is a sum by the kernel sumTree.
type tree struct {
	n                       int
	src, total, parts, done cuda.Buffer
}

func newTree(q cuda.Queue, t *trial, src cuda.Buffer, n int) (*tree, error) {
	s := &tree{n: n, src: src}
	var err error
	if s.total, err = t.work.Bytes(q, 4); err != nil {
		return s, err
	}
	if s.done, err = t.work.Bytes(q, 4); err != nil {
		return s, err
	}
	var parts int64
	for left := n; left > 1; {
		left = (left + treeTile - 1) / treeTile
		parts += roundUp(int64(left), 4)
	}
	if s.parts, err = t.work.Bytes(q, max(parts, 4)*4); err != nil {
		return s, err
	}
	return s, q.Zero(s.done, 4)
}

// prepareTree sums in one pass over the array.
func prepareTree(q cuda.Queue, t *trial, src cuda.Buffer, n int) (cuda.Buffer, error) {
	s, err := newTree(q, t, src, n)
	t.compute = s.add
	return s.total, err
}

func (s *tree) add(q cuda.Queue) error {
	grid := cuda.Blocks((s.n+treeTile-1)/treeTile, 0)
	return q.Launch("sumTree", grid, cuda.Blocks(256, 0), s.total, s.parts, s.done, s.src, s.n)
}

// several is the Method that distributes an array over all GPUs.
type several struct{ x *provider }

var _ experiment.Method = several{}

func (several) Memory(experiment.Case) int64         { return 0 }
func (several) Operations(c experiment.Case) float64 { return additions(c) }

func (m several) Prepare(ctx context.Context, in *experiment.Input, c experiment.Case) (experiment.Runner, error) {
	all, err := m.x.all()
	if err != nil {
		return nil, explained(err)
	}
	s := &shares{sums: make([]float32, len(all))}
	n := len(in.F32)
	for i, b := range all {
		part := in.F32[n*i/len(all) : n*(i+1)/len(all)]
		if len(part) == 0 {
			continue
		}
		one := &share{trial: trial{b: b, work: cuda.NewWork(b)}, index: i}
		s.list = append(s.list, one)
		err := b.Queue(ctx, func(q cuda.Queue) error {
			src, err := one.trial.work.Uploaded(q, cuda.BytesOf(part))
			if err != nil {
				return err
			}
			if one.tree, err = newTree(q, &one.trial, src, len(part)); err != nil {
				return err
			}
			return q.Synchronize()
		})
		if err != nil {
			return nil, explained(errors.Join(err, s.Close()))
		}
	}
	return s, nil
}

// shares is a sum on several GPUs. They have no common clock, so it does not time itself: its time ends when all parts
// are in host memory and added up.
type shares struct {
	list []*share
	sums []float32
}

// share is the part computed by one GPU.
type share struct {
	trial trial
	tree  *tree
	index int
}

func (s *shares) Run(ctx context.Context) error {
	errs := make([]error, len(s.list))
	var wg sync.WaitGroup
	for i, one := range s.list {
		wg.Go(func() {
			errs[i] = one.trial.b.Queue(ctx, func(q cuda.Queue) error {
				if err := one.tree.add(q); err != nil {
					return err
				}
				sum, err := fetchFloat(q, one.tree.total)
				s.sums[one.index] = float32(sum)
				return err
			})
		})
	}
	wg.Wait()
	return explained(errors.Join(errs...))
}

func (s *shares) Output(context.Context) (experiment.Output, error) {
	// In sequence: there are few devices.
	var sum float32
	for _, v := range s.sums {
		sum += v
	}
	total := float64(sum)
	return experiment.Output{Sum: &total}, nil
}

func (s *shares) Close() error {
	var errs []error
	for _, one := range s.list {
		errs = append(errs, one.trial.Close())
	}
	s.list = nil
	return errors.Join(errs...)
}

// all returns a Backend for each GPU, opened on first use.
func (x *provider) all() ([]*cuda.Backend, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := len(x.others); i < len(x.names)-1; i++ {
		ordinal := i
		if ordinal >= x.b.Info().Ordinal {
			ordinal++
		}
		b, err := cuda.Open(ordinal)
		if err != nil {
			return nil, err
		}
		x.others = append(x.others, b)
	}
	return append([]*cuda.Backend{x.b}, x.others...), nil
}
