package correct

import (
	"context"

	"blik/internal/parallel"

	"blik/processing"
)

// inBatches takes the sites of a batch through one step after the other, with their windows side by side in planes of
// the backend.
type inBatches struct {
	ctx      context.Context
	be       processing.Backend
	idle     *pool
	progress processing.Progress
	// before is the share of the sites in batches before the current one, share that of the current one.
	before, share float64
}

func (p *inBatches) correct(
	sites []*site, area func(*site) int, f func(b bench, part []*site) error,
) ([]processing.StageTime, error) {
	n := float64(len(sites))
	for done := 0; done < len(sites); {
		last := batchEnd(sites, done, area)
		p.before, p.share = float64(done)/n, float64(last-done)/n
		if err := f(p, sites[done:last]); err != nil {
			return nil, err
		}
		clear(sites[done:last])
		done = last
		p.report(stepFinish, float64(done)/n)
	}
	return nil, nil
}

func (p *inBatches) report(s step, done float64) {
	if p.progress != nil {
		p.progress(steps()[s].name, done)
	}
}

func (p *inBatches) runStep(s step, f func() error) error {
	p.report(s, p.before+float64(p.share*steps()[s].at))
	defer p.be.Stage(steps()[s].name.String())()
	return f()
}

func (p *inBatches) each(n int, f func(t *tools, i int)) error { return p.idle.each(p.ctx, n, f) }

func (p *inBatches) harmonic(sites []*site, planes [][][]float32) error {
	a := p.newAtlas(sites)
	defer a.release()
	op := processing.Harmonic{Dst: a.plane(processing.F32), State: a.state, Tiles: a.tiles}
	for _, s := range sites {
		sweeps, omega := s.relaxation()
		op.Sweeps, op.Omegas = append(op.Sweeps, sweeps), append(op.Omegas, omega)
	}
	for k := range planes[0] {
		channel := func(i int) []float32 { return planes[i][k] }
		a.put(op.Dst, channel)
		a.do(op)
		a.get(op.Dst, channel)
	}
	return a.err
}

func (p *inBatches) separate(views []*lightSite) error {
	sites, models := make([]*site, len(views)), make([]processing.Separation, len(views))
	for i, v := range views {
		sites[i], models[i] = v.site, v.m
	}
	a := p.newAtlas(sites)
	defer a.release()
	ch := len(views[0].paint)
	op := processing.Separate{
		Paint: make([]processing.Plane, ch), Seen: make([]processing.Plane, ch), State: a.state, Tiles: a.tiles,
		Light: a.plane(processing.F32), Expected: a.plane(processing.F32), Models: models,
	}
	a.put(op.Light, func(i int) []float32 { return views[i].light })
	a.put(op.Expected, func(i int) []float32 { return views[i].expected })
	for k := range ch {
		op.Paint[k], op.Seen[k] = a.plane(processing.F32), a.plane(processing.F32)
		a.put(op.Paint[k], func(i int) []float32 { return views[i].paint[k] })
		a.put(op.Seen[k], func(i int) []float32 { return views[i].seen[k] })
	}
	a.do(op)
	for k := range ch {
		a.get(op.Paint[k], func(i int) []float32 { return views[i].paint[k] })
	}
	a.get(op.Light, func(i int) []float32 { return views[i].light })
	return a.err
}

func (p *inBatches) detail(sites []*site, planes [][][]float32) error {
	a := p.newAtlas(sites)
	defer a.release()
	op := processing.Detail{
		Dst: a.plane(processing.F32), Src: a.plane(processing.F32), State: a.state, Tiles: a.tiles,
	}
	for k := range planes[0] {
		a.put(op.Src, func(i int) []float32 { return sites[i].pix[k] })
		a.do(op)
		a.get(op.Dst, func(i int) []float32 { return planes[i][k] })
	}
	return a.err
}

// atlas holds the windows of several sites side by side in planes of the backend. After an error its methods do
// nothing.
type atlas struct {
	*inBatches
	w, h   int
	tiles  []processing.Tile
	state  processing.Plane
	planes []processing.Plane
	host   []float32
	err    error
}

// newAtlas places the windows and uploads their states; gaps between windows count as known.
func (p *inBatches) newAtlas(sites []*site) *atlas {
	a := &atlas{inBatches: p, w: 1024}
	for _, s := range sites {
		a.w = max(a.w, s.width())
	}
	// Shelves: windows stand side by side until the row is full.
	x, y, high := 0, 0, 0
	for _, s := range sites {
		w, h := s.width(), s.height()
		if x+w > a.w {
			x, y, high = 0, y+high, 0
		}
		a.tiles = append(a.tiles, processing.Tile{X: x, Y: y, W: w, H: h})
		x, high = x+w, max(high, h)
	}
	a.h = y + high
	a.host = make([]float32, a.w*a.h)
	a.state = a.plane(processing.U8)
	state := make([]uint8, a.w*a.h)
	a.tile(func(i int, t processing.Tile) { processing.PasteTile(state, sites[i].state, a.w, t) })
	a.upload(a.state, processing.Samples{U8: state})
	return a
}

// tile calls f for every window on several threads.
func (a *atlas) tile(f func(i int, t processing.Tile)) {
	if a.err == nil {
		a.err = parallel.Each(a.ctx, len(a.tiles), func(i int) { f(i, a.tiles[i]) })
	}
}

func (a *atlas) plane(k processing.Kind) (p processing.Plane) {
	if a.err != nil {
		return nil
	}
	if p, a.err = a.be.Alloc(k, a.w, a.h); a.err == nil {
		a.planes = append(a.planes, p)
	}
	return p
}

func (a *atlas) release() {
	for _, p := range a.planes {
		p.Release()
	}
}

func (a *atlas) upload(p processing.Plane, samples processing.Samples) {
	if a.err == nil {
		a.err = a.be.Upload(a.ctx, p, samples)
	}
}

// put uploads of(i) of each site i.
func (a *atlas) put(p processing.Plane, of func(i int) []float32) {
	a.tile(func(i int, t processing.Tile) { processing.PasteTile(a.host, of(i), a.w, t) })
	a.upload(p, processing.Samples{F32: a.host})
}

// get downloads into of(i) of each site i.
func (a *atlas) get(p processing.Plane, of func(i int) []float32) {
	var host processing.Samples
	if a.err == nil {
		host, a.err = a.be.Host(a.ctx, p)
	}
	a.tile(func(i int, t processing.Tile) { processing.CutTile(of(i), host.F32, a.w, t) })
}

func (a *atlas) do(op processing.Op) {
	if a.err == nil {
		a.err = a.be.Do(a.ctx, op)
	}
}
