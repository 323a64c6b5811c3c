package cpu

import (
	"context"
	"sync"
	"time"

	"blik/internal/parallel"
	"blik/internal/simd"
	"blik/processing"
	"blik/processing/cpu/kernel"
	"blik/processing/network"
)

// Backend implements processing.Backend with goroutines in host memory.
type Backend struct {
	workers int
	level   simd.Level
	kernels kernel.Table
	tiling  tiling
	pool    pool

	mu     sync.Mutex
	idle   []*worker
	stages []stage
	// network is the last model that Glints used, prepared for the kernels.
	network *network.Engine
}

var _ processing.Backend = (*Backend)(nil)

// Option is an option of New.
type Option func(*Backend)

// Workers sets the number of goroutines of an operation; values below 1 keep the default, one per processor.
func Workers(n int) Option {
	return func(b *Backend) {
		if n >= 1 {
			b.workers = n
		}
	}
}

// Kernels sets the row kernels of operations, instead of those that simd.Chosen names. It does not check whether the
// processor supports them.
func Kernels(level simd.Level) Option {
	return func(b *Backend) { b.level, b.kernels = level, kernel.Of(level) }
}

// New returns a Backend that holds no memory yet.
func New(opts ...Option) *Backend {
	b := &Backend{workers: parallel.Processors(), tiling: defaultTiling()}
	Kernels(simd.Chosen())(b)
	for _, o := range opts {
		o(b)
	}
	return b
}

func (b *Backend) Name() string { return "cpu" }

// Close drops the memory kept for reuse. Planes stay usable until they are released; no more can be allocated.
func (b *Backend) Close() error {
	b.pool.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = nil
	return nil
}

// stage is a named interval of time; ended counts its finished repetitions.
type stage struct {
	name  string
	time  time.Duration
	ended int
}

// Stage starts a named stage on the monotonic clock; only the first call of the result counts.
func (b *Backend) Stage(name string) (end func()) {
	b.mu.Lock()
	b.enter(name)
	b.mu.Unlock()
	start := time.Now()
	return sync.OnceFunc(func() {
		d := time.Since(start)
		b.mu.Lock()
		defer b.mu.Unlock()
		s := b.enter(name)
		s.time += d
		s.ended++
	})
}

// enter returns the entry of a stage, appended on its first start. The caller holds b.mu.
func (b *Backend) enter(name string) *stage {
	for i := range b.stages {
		if b.stages[i].name == name {
			return &b.stages[i]
		}
	}
	b.stages = append(b.stages, stage{name: name})
	return &b.stages[len(b.stages)-1]
}

// Timings returns the stages that ended since the last call, in the order of their first start. Running ones are
// reported by a later call.
func (b *Backend) Timings() []processing.StageTime {
	b.mu.Lock()
	defer b.mu.Unlock()
	var times []processing.StageTime
	running := b.stages[:0]
	for _, s := range b.stages {
		if s.ended == 0 {
			running = append(running, s)
			continue
		}
		times = append(times, processing.StageTime{Name: s.name, Time: s.time})
	}
	b.stages = running
	return times
}

// executor is Backend for operations whose arguments were checked.
type executor struct{ *Backend }

var _ processing.Executor = executor{}

func (b *Backend) Do(ctx context.Context, op processing.Op) error {
	return processing.Execute(ctx, b, executor{b}, op)
}
