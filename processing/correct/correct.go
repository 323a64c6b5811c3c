package correct

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/internal/simd"
	"blik/processing/internal/relax"

	"blik/processing"
)

// Correct computes the paint that the glare under the mask hides. Samples under the mask are not used, except unclipped
// ones by MethodSubtract. It uses the parameters of StageCorrection and does not change pic and mask. The result
// depends neither on which spots are corrected together nor on the number of threads.
//
// Spots are corrected in windows cut out of the picture, so that memory and time grow with the mask, not with the
// picture. If the whole picture is glare, spots keep their samples.
//
// It returns ctx.Err() within 100 ms of a cancel, and an error for a picture, mask, parameters or spots that are not
// valid or do not belong together.
func Correct(
	ctx context.Context, b processing.Backend, pic *processing.Picture, mask *processing.Mask, p processing.Params,
	o Options,
) (*Correction, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if mask.Width != pic.Width || mask.Height != pic.Height || len(mask.Pix) != pic.Width*pic.Height {
		return nil, fmt.Errorf("a mask of %d × %d pixels does not belong to a picture of %d × %d",
			mask.Width, mask.Height, pic.Width, pic.Height)
	}
	b.Timings() // discard what an earlier, failed job left
	c := &corrector{ctx: ctx, be: b, pic: pic, p: p, progress: o.Progress, methods: methods()}
	if err := c.stage(message.Of("spots"), 0, func() error {
		c.glare = newGlareMap(mask, p.Halo)
		c.codec = newCodec(pic)
		if halo := c.estimateHalo(); halo < c.p.Halo {
			c.p.Halo = halo
			c.glare = c.glare.withHalo(halo)
		}
		c.glare.share()
		c.light = c.estimateLight()
		if p.Halo > 0 {
			c.veils = c.findVeils()
		}
		return nil
	}); err != nil {
		return nil, err
	}
	sites, patches, err := c.sites(o.Spots)
	if err != nil {
		return nil, err
	}
	if need := c.memory(sites); o.Memory > 0 && need > o.Memory {
		return nil, message.Errorf("correcting %d places takes %.1f GiB of memory, and only %.1f GiB are free",
			len(patches), float64(need)/(1<<30), float64(o.Memory)/(1<<30))
	}
	if err := c.correct(sites, patches); err != nil {
		return nil, err
	}
	return &Correction{Patches: patches, Timings: c.timings(), Device: b.Name()}, ctx.Err()
}

// correct corrects the sites, and drops each when it is done so that its memory can be freed.
func (c *corrector) correct(sites []*site, patches []processing.Patch) error {
	done := 0
	if be, ok := c.be.(processing.Local); ok {
		n, err := c.correctLocally(be, sites, patches)
		if err != nil {
			return err
		}
		done = n
	}
	for done < len(sites) {
		n, err := c.batch(sites, done, patches)
		if err != nil {
			return err
		}
		clear(sites[done:n])
		done = n
	}
	return nil
}

// corrector is one run of Correct.
type corrector struct {
	ctx      context.Context
	be       processing.Backend
	pic      *processing.Picture
	p        processing.Params
	progress processing.Progress
	glare    *glareMap
	codec    *codec
	methods  []method
	// light is the colour of the light over the whole picture, of length 1.
	light [4]float64
	// veils is nil if the picture has none.
	veils *veils
	// idle are the tools that no goroutine has borrowed; mu guards them, and progress.
	mu   sync.Mutex
	idle []*tools
	// local are the times of the steps of correctLocally.
	local []processing.StageTime
}

// stage runs f as a named stage of the backend and reports the progress.
func (c *corrector) stage(name message.Message, done float64, f func() error) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.progress != nil {
		c.progress(name, done)
	}
	defer c.be.Stage(name.String())()
	if err := f(); err != nil {
		return err
	}
	return c.ctx.Err()
}

// do carries out an operation.
func (c *corrector) do(op processing.Op) error { return c.be.Do(c.ctx, op) }

// each runs f for 0 … n−1 on several threads and stops early when the job is cancelled.
func (c *corrector) each(n int, f func(i int)) {
	// Callers check the context afterwards.
	_ = parallel.Each(c.ctx, n, f)
}

// tools are the buffers of one goroutine.
type tools struct {
	level   simd.Level
	grid    relax.Grid
	scratch scratch
}

// borrow returns tools for the calling goroutine, to be returned by giveBack.
func (c *corrector) borrow() *tools {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		t := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return t
	}
	return &tools{level: simd.Chosen()}
}

func (c *corrector) giveBack(t *tools) {
	t.scratch.reset()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, t)
}

// eachWith is each, with tools for f.
func (c *corrector) eachWith(n int, f func(t *tools, i int)) {
	_ = parallel.Workers(c.ctx, 0, n, func(tasks iter.Seq[int]) {
		t := c.borrow()
		defer c.giveBack(t)
		for i := range tasks {
			t.scratch.reset()
			f(t, i)
		}
	})
}

// sites returns the windows in which the given spots are corrected, all of the mask if spots is nil, and an empty patch
// for each spot.
func (c *corrector) sites(spots []processing.Spot) ([]*site, []processing.Patch, error) {
	if spots == nil {
		spots = c.glare.spots
	}
	patches := make([]processing.Patch, len(spots))
	// Spots that share a window are corrected together if they have the same method.
	type key struct {
		group  int32
		method processing.Method
		nth    uint16
	}
	sites, of := make([]*site, 0, len(spots)), map[key]*site{}
	times := make([]uint16, len(c.glare.spots))
	for i, s := range spots {
		if int(s.Method) >= len(c.methods) {
			return nil, nil, fmt.Errorf("spot %d: there is no method %d", s.ID, s.Method)
		}
		spot := c.glare.find(s.Runs)
		if spot < 0 {
			return nil, nil, fmt.Errorf("spot %d is not a piece of the mask", s.ID)
		}
		patches[i].Spot = s.ID
		k := key{group: c.glare.group[spot], method: c.resolve(s.Method, int(c.glare.areas[spot])),
			nth: times[spot]}
		times[spot]++
		g := &c.glare.groups[k.group]
		one := wanted{int32(spot), int32(i)}
		if len(g.spots) == 1 {
			sites = append(sites, &site{group: g, index: one.spot, wanted: []wanted{one}, method: k.method})
			continue
		}
		if of[k] == nil {
			of[k] = &site{group: g, index: g.spots[0], method: k.method}
			sites = append(sites, of[k])
		}
		of[k].wanted = append(of[k].wanted, one)
	}
	for _, s := range sites {
		slices.SortFunc(s.wanted, func(a, b wanted) int { return cmp.Compare(a.spot, b.spot) })
	}
	// Largest first: windows of similar size share a batch, so that no thread waits for a large one at its end.
	slices.SortStableFunc(sites, func(a, b *site) int { return cmp.Compare(b.group.area, a.group.area) })
	return sites, patches, nil
}

// resolve returns the method that corrects a spot of the given area for which m was asked.
func (c *corrector) resolve(m processing.Method, area int) processing.Method {
	if m == processing.MethodAuto {
		m = c.p.Method
	}
	switch {
	case m == processing.MethodAuto && discRadius(area) > exemplarRadius:
		return processing.MethodExemplar
	case m == processing.MethodAuto:
		return processing.MethodSubtract
	}
	return m
}

// Memory that correction takes, in bytes: per spot, with its patch and its place in the queue; per pixel of the windows
// of a batch; per such pixel and channel.
const (
	spotBytes    = 640
	windowBytes  = 200
	channelBytes = 44
)

// memory returns an upper bound of the memory that correcting the sites takes besides picture and mask, in bytes.
func (c *corrector) memory(sites []*site) int64 {
	window, samples := batchPixels, 0
	for _, s := range sites {
		window = max(window, c.windowOf(s.group).area())
		samples += s.group.area
		for _, t := range s.wanted {
			samples += c.veils.area(t.spot)
		}
	}
	return int64(len(c.glare.spots))*spotBytes + int64(samples)*int64(c.pic.Channels*c.pic.Depth()/8) +
		int64(window)*int64(windowBytes+channelBytes*c.pic.Channels)
}

// windowOf returns the window of a group, provided that it holds enough paint: else cutWindow makes it larger.
func (c *corrector) windowOf(g *group) box { return g.around.grown(g.reach, c.pic.Width, c.pic.Height) }

// batchPixels is the number of window pixels in a batch: enough to keep a device busy, in little memory.
const batchPixels = 1 << 20

// batchEnd returns the end of the batch that begins with site first.
func (c *corrector) batchEnd(sites []*site, first int) (last int) {
	total := 0
	for last = first; last < min(first+256, len(sites)); last++ {
		if total += c.windowOf(sites[last].group).area(); total > batchPixels && last > first {
			break
		}
	}
	return last
}

// batch corrects the batch of sites that begins with site first, and returns its end.
func (c *corrector) batch(sites []*site, first int, patches []processing.Patch) (last int, err error) {
	n := len(sites)
	done := float64(first) / float64(n)
	last = c.batchEnd(sites, first)
	part := sites[first:last]
	err = c.stage(message.Of("surroundings"), done, func() error {
		c.eachWith(len(part), func(t *tools, i int) { c.cutWindow(t, part[i]) })
		return nil
	})
	if err != nil {
		return 0, err
	}
	share := float64(last-first) / float64(n)
	if err := c.solve(part, done, share); err != nil {
		return 0, err
	}
	err = c.stage(message.Of("finish"), done+float64(0.8*share), func() error {
		c.eachWith(len(part), func(t *tools, i int) { c.finish(t, part[i], patches) })
		return nil
	})
	if c.progress != nil && err == nil {
		c.progress(message.Of("finish"), float64(last)/float64(n))
	}
	return last, err
}

// solve fills the windows by the methods of their spots.
func (c *corrector) solve(sites []*site, done, share float64) error {
	for i, p := range passes() {
		var part []*site
		for _, s := range sites {
			if s.known > 0 && slices.Contains(c.methods[s.method].passes, pass(i)) {
				part = append(part, s)
			}
		}
		if len(part) == 0 {
			continue
		}
		if err := c.stage(p.name, done+float64(share*(0.2+float64(0.1*float64(i)))), func() error {
			a, err := c.newAtlas(part)
			if err != nil {
				return err
			}
			defer a.release()
			return p.run(c, a)
		}); err != nil {
			return err
		}
	}
	return c.stage(message.Of("fill"), done+float64(0.6*share), func() error {
		c.each(len(sites), func(i int) {
			s := sites[i]
			if s.known == 0 {
				return
			}
			if fill := c.methods[s.method].fill; fill != nil {
				fill(s, c.ctx)
			}
			s.followTexture(simd.Chosen())
		})
		return c.details(sites)
	})
}

// atlas holds the windows of several spots side by side in planes of the backend.
type atlas struct {
	c      *corrector
	w, h   int
	sites  []*site
	tiles  []processing.Tile
	state  processing.Plane
	planes []processing.Plane
	host   []float32
}

func (c *corrector) newAtlas(sites []*site) (*atlas, error) {
	a := &atlas{c: c, sites: sites}
	for _, s := range sites {
		a.w = max(a.w, s.width())
	}
	a.w = max(a.w, 1024)
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
	var err error
	if a.state, err = a.plane(processing.U8); err != nil {
		return nil, err
	}
	if err := a.putState(); err != nil {
		a.release()
		return nil, err
	}
	return a, nil
}

// putState uploads the states of all windows; gaps between windows count as known.
func (a *atlas) putState() error {
	state := make([]uint8, a.w*a.h)
	a.c.each(len(a.sites), func(i int) { pack(state, a.sites[i].state, a.w, a.tiles[i]) })
	return a.c.be.Upload(a.c.ctx, a.state, processing.Samples{U8: state})
}

func (a *atlas) plane(k processing.Kind) (processing.Plane, error) {
	p, err := a.c.be.Alloc(k, a.w, a.h)
	if err != nil {
		a.release()
		return nil, err
	}
	a.planes = append(a.planes, p)
	return p, nil
}

func (a *atlas) release() {
	for _, p := range a.planes {
		p.Release()
	}
	a.planes = nil
}

func pack[T any](dst, src []T, stride int, t processing.Tile) {
	for y := range t.H {
		copy(dst[(t.Y+y)*stride+t.X:][:t.W], src[y*t.W:(y+1)*t.W])
	}
}

func unpack[T any](dst, src []T, stride int, t processing.Tile) {
	for y := range t.H {
		copy(dst[y*t.W:(y+1)*t.W], src[(t.Y+y)*stride+t.X:])
	}
}

// put uploads one plane of every window: of(i) for site i.
func (a *atlas) put(p processing.Plane, of func(i int) []float32) error {
	a.c.each(len(a.sites), func(i int) { pack(a.host, of(i), a.w, a.tiles[i]) })
	return a.c.be.Upload(a.c.ctx, p, processing.Samples{F32: a.host})
}

// get downloads one plane of every window, into of(i) for site i.
func (a *atlas) get(p processing.Plane, of func(i int) []float32) error {
	host, err := a.c.be.Host(a.c.ctx, p)
	if err != nil {
		return err
	}
	a.c.each(len(a.sites), func(i int) { unpack(of(i), host.F32, a.w, a.tiles[i]) })
	return nil
}

// inPlace runs an operation on each channel.
func (a *atlas) inPlace(op func(processing.Plane) error) error {
	p, err := a.plane(processing.F32)
	if err != nil {
		return err
	}
	for k := range a.c.pic.Channels {
		channel := func(i int) []float32 { return a.sites[i].pix[k] }
		if err := a.put(p, channel); err != nil {
			return err
		}
		if err := op(p); err != nil {
			return err
		}
		if err := a.get(p, channel); err != nil {
			return err
		}
	}
	return nil
}
