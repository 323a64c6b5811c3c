package correct

import (
	"context"
	"iter"
	"sync"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/internal/simd"
	"blik/processing/internal/arena"
	"blik/processing/internal/relax"

	"blik/processing"
)

// step is a step of the correction of a site; each is reported as the stage of its name.
type step uint8

// The steps in their order.
const (
	stepSurroundings step = iota
	stepLight
	stepHarmonic
	stepFill
	stepFinish
	stepCount
)

// steps returns the name of each step, and the share of the work that comes before it.
func steps() [stepCount]struct {
	name message.Message
	at   float64
} {
	return [stepCount]struct {
		name message.Message
		at   float64
	}{
		stepSurroundings: {message.Of("surroundings"), 0},
		stepLight:        {message.Of("light"), 0.2},
		stepHarmonic:     {message.Of("harmonic").Context("stage"), 0.3},
		stepFill:         {message.Of("fill"), 0.6},
		stepFinish:       {message.Of("finish"), 0.8},
	}
}

// plan is how a backend takes sites through the steps. All plans give the same results.
type plan interface {
	// correct calls f for parts of the sites, in their order, and drops those that are done so that their memory can be
	// freed; area is an estimate of the size of a site's window. It returns the times of the steps, unless the backend
	// records them.
	correct(sites []*site, area func(*site) int, f func(b bench, part []*site) error) ([]processing.StageTime, error)
}

// bench is where some sites take the steps together. Its methods return the context's error after a cancel.
type bench interface {
	// runStep runs f as a step.
	runStep(s step, f func() error) error
	// each calls f for 0 … n−1. The tools belong to that call.
	each(n int, f func(t *tools, i int)) error
	// harmonic is the operation Harmonic on the planes of each site's window.
	harmonic(sites []*site, planes [][][]float32) error
	// separate is the operation Separate.
	separate(views []*lightSite) error
	// detail writes the operation Detail of each site's values into its planes.
	detail(sites []*site, planes [][][]float32) error
}

func planOf(ctx context.Context, be processing.Backend, idle *pool, progress processing.Progress) plan {
	if local, ok := be.(processing.Local); ok {
		return &onThreads{ctx: ctx, be: local, idle: idle, progress: progress}
	}
	return &inBatches{ctx: ctx, be: be, idle: idle, progress: progress}
}

// tools are the buffers of one goroutine.
type tools struct {
	level   simd.Level
	grid    relax.Grid
	scratch arena.Arena
}

// mostScratch is how much scratch memory tools keep, in words: 8 MiB.
const mostScratch = 1 << 20

// pool lends tools to goroutines. The zero value is ready for use.
type pool struct{ idle sync.Pool }

// borrow returns tools for the calling goroutine, to be returned by giveBack.
func (p *pool) borrow() *tools {
	if t, ok := p.idle.Get().(*tools); ok {
		return t
	}
	return &tools{level: simd.Chosen()}
}

func (p *pool) giveBack(t *tools) {
	t.scratch.Reset()
	t.scratch.Drop(mostScratch)
	p.idle.Put(t)
}

// eacher calls f for 0 … n−1 on several threads, unless there is a cancel.
type eacher func(n int, f func(t *tools, i int))

// each calls f for 0 … n−1 on several threads. It returns the context's error after a cancel.
func (p *pool) each(ctx context.Context, n int, f func(t *tools, i int)) error {
	return parallel.Workers(ctx, 0, n, func(tasks iter.Seq[int]) {
		t := p.borrow()
		defer p.giveBack(t)
		for i := range tasks {
			t.scratch.Reset()
			f(t, i)
		}
	})
}

// batchPixels is the number of window pixels in a batch: enough to keep a device busy, in little memory.
const batchPixels = 1 << 20

// batchEnd returns the end of the batch that begins with site first.
func batchEnd(sites []*site, first int, area func(*site) int) (last int) {
	total := 0
	for last = first; last < min(first+256, len(sites)); last++ {
		if total += area(sites[last]); total > batchPixels && last > first {
			break
		}
	}
	return last
}
