package correct

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"blik/internal/message"

	"blik/processing"
)

// The steps of a site in correctLocally; each is reported as the stage of that name.
const (
	stepSurroundings = iota
	stepLight
	stepFill
	stepFinish
	stepCount
)

// laps are the times of the steps, summed over threads.
type laps [stepCount]atomic.Int64

// isLocal reports whether a site needs only the operations of a Solver.
func (c *corrector) isLocal(s *site) bool {
	return !slices.ContainsFunc(c.methods[s.method].passes, func(p pass) bool { return p != passLight })
}

// correctLocally moves the sites that need no operations on planes to the front, corrects them, and returns how many
// there are.
func (c *corrector) correctLocally(be processing.Local, sites []*site, patches []processing.Patch) (n int, err error) {
	slices.SortStableFunc(sites, func(a, b *site) int {
		switch p, q := c.isLocal(a), c.isLocal(b); {
		case p == q:
			return 0
		case p:
			return -1
		}
		return 1
	})
	for n < len(sites) && c.isLocal(sites[n]) {
		n++
	}
	// The largest window from each site on.
	largest := make([]int, n+1)
	for i := n - 1; i >= 0; i-- {
		largest[i] = max(largest[i+1], c.windowOf(sites[i].group).area())
	}
	progress := c.reporter(len(sites))
	for done := 0; done < n; {
		// Each thread has one window at a time, and together they need no more memory than a batch.
		last := n
		if largest[done]*runtime.GOMAXPROCS(0) > batchPixels {
			last = c.batchEnd(sites[:n], done)
		}
		var times laps
		begin := time.Now()
		err := be.EachTile(c.ctx, last-done, func(by processing.Solver, i int) {
			t := c.borrow()
			defer c.giveBack(t)
			c.whole(t, by, sites[done+i], patches, &times)
			sites[done+i] = nil
			progress()
		})
		c.addTimes(&times, time.Since(begin))
		if err != nil {
			return 0, err
		}
		done = last
	}
	return n, nil
}

// reporter returns a function to call after each site, which reports the progress.
func (c *corrector) reporter(sites int) func() {
	if c.progress == nil {
		return func() {}
	}
	done := 0
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		done++
		c.progress(message.Of("fill"), float64(done)/float64(sites))
	}
}

// whole corrects one site.
func (c *corrector) whole(t *tools, by processing.Solver, s *site, patches []processing.Patch, times *laps) {
	begin := time.Now()
	lap := func(step int) {
		now := time.Now()
		times[step].Add(int64(now.Sub(begin)))
		begin = now
	}
	s.memory = &t.scratch
	c.cutWindow(t, s)
	lap(stepSurroundings)
	if s.known > 0 {
		m := &c.methods[s.method]
		if slices.Contains(m.passes, passLight) {
			c.lookThroughOne(t, by, s)
			lap(stepLight)
			if c.ctx.Err() != nil {
				return
			}
		}
		if m.fill != nil {
			m.fill(s, c.ctx)
		}
		s.followTexture(t.level)
		if c.p.Grain > 0 {
			c.grainOf(by, s)
		}
		s.bound()
		lap(stepFill)
	}
	if c.ctx.Err() == nil {
		c.finish(t, s, patches)
		lap(stepFinish)
	}
}

// lookThroughOne is lookThrough for one site.
func (c *corrector) lookThroughOne(t *tools, by processing.Solver, s *site) {
	v := newView(s)
	w, h := s.width(), s.height()
	paint := takePlanes(&t.scratch, len(s.pix), w*h)
	sweeps, omega := s.relaxation()
	for range 2 {
		for k, p := range s.pix {
			copy(paint[k], p)
		}
		by.Harmonic(paint, s.state, w, h, sweeps, omega)
		for k, p := range paint {
			copy(v.guess[k], p)
		}
		if c.ctx.Err() != nil {
			return
		}
		v.consider(t, c.light)
		if len(v.beyond) == 0 {
			break
		}
	}
	for k := range s.pix {
		v.squared(k)
	}
	by.Separate(paint, v.seen, v.light, v.expected, s.state, w, h, &v.m)
	for k, p := range s.pix {
		copy(p, paint[k])
	}
	v.refine(t)
	v.madeUp()
}

// addTimes divides the time that passed among the stages, in proportion to the time of their steps over all threads.
func (c *corrector) addTimes(times *laps, passed time.Duration) {
	names := [stepCount]string{
		message.Of("surroundings").String(), passes()[passLight].name.String(), message.Of("fill").String(),
		message.Of("finish").String(),
	}
	var all float64
	for k := range times {
		all += float64(times[k].Load())
	}
	for k, name := range names {
		if n := times[k].Load(); n > 0 {
			c.local = addTime(c.local, name, time.Duration(float64(passed)*float64(n)/all))
		}
	}
}

func addTime(list []processing.StageTime, name string, t time.Duration) []processing.StageTime {
	for i := range list {
		if list[i].Name == name {
			list[i].Time += t
			return list
		}
	}
	return append(list, processing.StageTime{Name: name, Time: t})
}

// timings returns the times of all stages.
func (c *corrector) timings() []processing.StageTime {
	list := c.be.Timings()
	for _, s := range c.local {
		list = addTime(list, s.Name, s.Time)
	}
	return list
}
