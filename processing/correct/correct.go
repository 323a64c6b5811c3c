package correct

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"blik/internal/message"
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
	var idle pool
	c, err := newScene(ctx, b, &idle, pic, mask, p, o.Progress)
	if err != nil {
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
	area := func(s *site) int { return c.windowOf(s.group).area() }
	times, err := planOf(ctx, b, &idle, o.Progress).correct(sites, area, func(on bench, part []*site) error {
		return c.correct(ctx, on, part, patches)
	})
	if err != nil {
		return nil, err
	}
	all := b.Timings()
	for _, t := range times {
		all = addTime(all, t)
	}
	return &Correction{Patches: patches, Timings: all, Device: b.Name()}, ctx.Err()
}

// scene is a picture with what correction knows about it before it corrects a spot.
type scene struct {
	pic     *processing.Picture
	p       processing.Params // with the halo that the picture needs
	glare   *glareMap
	codec   *codec
	methods []method
	// light is the colour of the light over the whole picture, of length 1.
	light [4]float64
	// veils is nil if the picture has none.
	veils *veils
}

func newScene(
	ctx context.Context, be processing.Backend, idle *pool, pic *processing.Picture, mask *processing.Mask,
	p processing.Params, progress processing.Progress,
) (*scene, error) {
	name := message.Of("spots")
	if progress != nil {
		progress(name, 0)
	}
	defer be.Stage(name.String())()
	each := func(n int, f func(t *tools, i int)) {
		_ = idle.each(ctx, n, f) // the context is checked at the end
	}
	codec, glare, veiled := newCodec(pic), newGlareMap(mask, p.Halo), p.Halo > 0
	if halo := estimateHalo(each, codec, glare); halo < p.Halo {
		p.Halo = halo
		glare = glare.withHalo(halo)
	}
	glare.share()
	c := &scene{pic: pic, p: p, glare: glare, codec: codec, methods: methods()}
	c.light = estimateLight(each, codec, glare)
	if veiled {
		c.veils = findVeils(each, codec, glare, c.light)
	}
	return c, ctx.Err()
}

// correct takes sites through all steps.
func (c *scene) correct(ctx context.Context, on bench, sites []*site, patches []processing.Patch) error {
	if err := on.runStep(stepSurroundings, func() error {
		return on.each(len(sites), func(t *tools, i int) { c.cutWindow(t, sites[i]) })
	}); err != nil {
		return err
	}
	if err := c.solve(on, stepLight, sites, c.lookThrough); err != nil {
		return err
	}
	if err := c.solve(on, stepHarmonic, sites, harmonic); err != nil {
		return err
	}
	if err := on.runStep(stepFill, func() error { return c.fill(ctx, on, sites) }); err != nil {
		return err
	}
	return on.runStep(stepFinish, func() error {
		return on.each(len(sites), func(t *tools, i int) { c.finish(t, sites[i], patches) })
	})
}

// solve runs f, as a step, for the sites whose methods need it.
func (c *scene) solve(on bench, s step, sites []*site, f func(on bench, sites []*site) error) error {
	part := slices.DeleteFunc(slices.Clone(sites), func(site *site) bool {
		return site.known == 0 || c.methods[site.method].solve != s
	})
	if len(part) == 0 {
		return nil
	}
	return on.runStep(s, func() error { return f(on, part) })
}

// fill fills what is left by the methods of the sites, and adds texture and grain.
func (c *scene) fill(ctx context.Context, on bench, sites []*site) error {
	known := slices.DeleteFunc(slices.Clone(sites), func(s *site) bool { return s.known == 0 })
	if err := on.each(len(known), func(t *tools, i int) {
		s := known[i]
		if fill := c.methods[s.method].fill; fill != nil {
			fill(s, ctx)
		}
		s.followTexture(t.level)
	}); err != nil {
		return err
	}
	grainy := slices.DeleteFunc(slices.Clone(known), func(s *site) bool { return c.p.Grain == 0 || !s.grainy() })
	if err := addGrain(on, grainy, float32(c.p.Grain/100)); err != nil {
		return err
	}
	return on.each(len(known), func(_ *tools, i int) { known[i].bound() })
}

// sites returns the windows in which the given spots are corrected, all of the mask if spots is nil, and an empty patch
// for each spot.
func (c *scene) sites(spots []processing.Spot) ([]*site, []processing.Patch, error) {
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
func (c *scene) resolve(m processing.Method, area int) processing.Method {
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
func (c *scene) memory(sites []*site) int64 {
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
func (c *scene) windowOf(g *group) box { return g.around.grown(g.reach, c.pic.Width, c.pic.Height) }

// Correction is the result of Correct.
type Correction struct {
	// Patches are in the order of the spots.
	Patches []processing.Patch
	// Timings are the times of the stages.
	Timings []processing.StageTime
	// Device is the name of the backend that ran it.
	Device string
}

// Hide gives hidden pixels of the patches the samples that they have in pic.
func (c *Correction) Hide(pic *processing.Picture) {
	if pic.Hidden == nil {
		return
	}
	for i := range c.Patches {
		p, at := &c.Patches[i], 0
		for _, r := range p.Runs {
			for x := r.X0; x < r.X1; x, at = x+1, at+pic.Channels {
				from := r.Y*pic.Width + x
				if !pic.Hidden.Pixels[from] {
					continue
				}
				from *= pic.Channels
				p.Samples().Copy(at, pic.Samples(), from, pic.Channels)
			}
		}
	}
}

// Options are the options of Correct besides the parameters.
type Options struct {
	// Spots limits the work to these pieces of the mask, each with its own method; nil is all of Spots(mask).
	Spots []processing.Spot
	// Memory is the most memory to use, in bytes; 0 is no limit. A correction that would take more is refused at the
	// start.
	Memory int64
	// Progress may be nil.
	Progress processing.Progress
}
