package correct

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"blik/processing"
)

// onThreads takes each site from beginning to end on one thread, while its pixels are in the cache.
type onThreads struct {
	ctx      context.Context
	be       processing.Local
	idle     *pool
	progress processing.Progress
}

func (p *onThreads) correct(
	sites []*site, area func(*site) int, f func(b bench, part []*site) error,
) (times []processing.StageTime, err error) {
	n := len(sites)
	// The largest window from each site on.
	largest := make([]int, n+1)
	for i := n - 1; i >= 0; i-- {
		largest[i] = max(largest[i+1], area(sites[i]))
	}
	progress := p.reporter(n)
	for done := 0; done < n && err == nil; {
		// Each thread has one window at a time, and together they need no more memory than a batch.
		last := n
		if largest[done]*runtime.GOMAXPROCS(0) > batchPixels {
			last = batchEnd(sites, done, area)
		}
		var passed laps
		begin := time.Now()
		err = p.be.EachTile(p.ctx, last-done, func(by processing.Solver, i int) {
			t := p.idle.borrow()
			defer p.idle.giveBack(t)
			one := sites[done+i : done+i+1]
			one[0].memory = &t.scratch
			// Nothing fails but by a cancel, and EachTile reports that.
			_ = f(&thread{ctx: p.ctx, by: by, tools: t, passed: &passed}, one)
			clear(one)
			progress()
		})
		times = passed.add(times, time.Since(begin))
		done = last
	}
	return times, err
}

// reporter returns a function to call after each site, which reports the progress.
func (p *onThreads) reporter(sites int) func() {
	if p.progress == nil {
		return func() {}
	}
	var mu sync.Mutex
	done, name := 0, steps()[stepFill].name
	return func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		p.progress(name, float64(done)/float64(sites))
	}
}

// laps are the times of the steps, summed over threads.
type laps [stepCount]atomic.Int64

// add adds the time that passed to those of the stages, in proportion to the time of their steps over all threads.
func (l *laps) add(list []processing.StageTime, passed time.Duration) []processing.StageTime {
	var all float64
	for k := range l {
		all += float64(l[k].Load())
	}
	for k, s := range steps() {
		if n := l[k].Load(); n > 0 {
			t := time.Duration(float64(passed) * float64(n) / all)
			list = addTime(list, processing.StageTime{Name: s.name.String(), Time: t})
		}
	}
	return list
}

// addTime adds the time of a stage to a list.
func addTime(list []processing.StageTime, s processing.StageTime) []processing.StageTime {
	for i := range list {
		if list[i].Name == s.Name {
			list[i].Time += s.Time
			return list
		}
	}
	return append(list, s)
}

// thread is a thread's bench.
type thread struct {
	ctx    context.Context
	by     processing.Solver
	tools  *tools
	passed *laps
}

func (b *thread) runStep(s step, f func() error) error {
	begin := time.Now()
	err := f()
	b.passed[s].Add(int64(time.Since(begin)))
	return err
}

func (b *thread) each(n int, f func(t *tools, i int)) error {
	for i := range n {
		f(b.tools, i)
	}
	return b.ctx.Err()
}

func (b *thread) harmonic(sites []*site, planes [][][]float32) error {
	for i, s := range sites {
		sweeps, omega := s.relaxation()
		b.by.Harmonic(planes[i], s.state, s.width(), s.height(), sweeps, omega)
	}
	return b.ctx.Err()
}

func (b *thread) separate(views []*lightSite) error {
	for _, v := range views {
		b.by.Separate(v.paint, v.seen, v.light, v.expected, v.state, v.width(), v.height(), &v.m)
	}
	return b.ctx.Err()
}

func (b *thread) detail(sites []*site, planes [][][]float32) error {
	for i, s := range sites {
		for k, p := range planes[i] {
			copy(p, s.pix[k])
			b.by.Detail(p, s.state, s.width(), s.height())
		}
	}
	return b.ctx.Err()
}
