package processing

import (
	"context"
	"math"
	"slices"

	"blik/internal/message"
)

// Classic is what the classical detector found.
type Classic struct {
	// Spans are the pixels of the accepted components, in reading order without overlaps; labels tell the components
	// apart.
	Spans []Span
	// Noise is the standard deviation of the noise in levels.
	Noise float64
	// Params are the values that were used.
	Params Params
}

// ClassicOptions are the options of DetectClassic besides the parameters.
type ClassicOptions struct {
	// Progress may be nil.
	Progress Progress
}

// DetectClassic finds glare without a network: luminance, a background that leaves the glare out, cores, growth, and
// rules on what was found. docs/detection.md describes it. It returns ctx.Err() within 100 ms of a cancel, and an error
// for a picture or parameters that are not valid.
func DetectClassic(ctx context.Context, be Backend, pic *Picture, p Params, o ClassicOptions) (*Classic, error) {
	d, err := newDetector(ctx, be, pic, p, o)
	if err != nil {
		return nil, err
	}
	defer d.release()
	if pic, err = d.allocate(pic); err != nil {
		return nil, err
	}
	if err := d.stage(stepLuminance(), func() error { return d.luminance(pic) }); err != nil {
		return nil, err
	}
	if err := d.search(); err != nil {
		return nil, err
	}
	if err := d.stage(stepRules(), d.measureNoise); err != nil {
		return nil, err
	}
	accepted, err := d.accept()
	if err != nil {
		return nil, err
	}
	spans, err := d.refine(accepted)
	if err != nil {
		return nil, err
	}
	return &Classic{Spans: spans, Noise: d.noise, Params: d.p}, nil
}

// DetectionBytes is the memory that detection takes besides the picture, in bytes per pixel: planes, masks, and the
// findings on a picture full of glare.
const DetectionBytes = 16

// detector is one run of the classical detector: its planes and what it measured.
type detector struct {
	ctx      context.Context
	be       Backend
	w, h     int
	p        Params
	progress Progress
	tables   *LuminanceTables
	planes   []Plane

	// frugal is the backend if it is one: then b and seed are nil, and exclude is a plane of AllocMarks.
	frugal Frugal

	y, v, b      Plane
	cls, seed    Plane
	exclude      Plane
	noise        float64
	done         float64 // share of the whole, for progress
	cores, grown Components
}

func newDetector(ctx context.Context, be Backend, pic *Picture, p Params, o ClassicOptions) (*detector, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	d := &detector{ctx: ctx, be: be, w: pic.Width, h: pic.Height, p: p.Resolved(), progress: o.Progress}
	d.frugal, _ = be.(Frugal)
	return d, nil
}

// do carries out an operation.
func (d *detector) do(op Op) error { return d.be.Do(d.ctx, op) }

// plane allocates a plane that lives until the end of the run.
func (d *detector) plane(k Kind) (Plane, error) {
	p, err := d.be.Alloc(k, d.w, d.h)
	if err == nil {
		d.planes = append(d.planes, p)
	}
	return p, err
}

func (d *detector) release() {
	for _, p := range d.planes {
		p.Release()
	}
	d.forget()
}

// forget releases the components of a pass.
func (d *detector) forget() {
	for _, c := range []*Components{&d.cores, &d.grown} {
		if *c != nil {
			(*c).Release()
			*c = nil
		}
	}
}

// radius returns a window's radius at the scale of the parameters; r is that for glints of up to 12 px radius.
func (d *detector) radius(r float64) int {
	return min(max(int(math.Round(r*d.p.Scale)), 1), 127)
}

func (d *detector) backgroundRadii() []int {
	r := float64(d.p.Window-1) / 2
	return []int{d.radius(r), d.radius(1.8 * r), d.radius(3.4 * r), d.radius(6.6 * r)}
}

// share converts per cent to 1/65536, level to 1/65535 of white.
func share(percent float64) uint32 { return uint32(float64(percent/100*65536) + 0.5) }
func level(percent float64) uint16 { return uint16(float64(percent/100*65535) + 0.5) }

// white is the largest value of a luminance in 16 bits.
const white = 65535

// allocate makes the planes of a run, and returns the picture in sRGB.
func (d *detector) allocate(pic *Picture) (*Picture, error) {
	for _, p := range []struct {
		dst   *Plane
		kind  Kind
		steps bool
	}{{&d.y, U16, false}, {&d.v, U8, false}, {&d.b, U16, true}, {&d.cls, U8, false}, {&d.seed, U16, true},
		{&d.exclude, U8, true}} {
		if p.steps && d.frugal != nil {
			continue
		}
		var err error
		if *p.dst, err = d.plane(p.kind); err != nil {
			return nil, err
		}
	}
	if d.frugal != nil {
		var err error
		if d.exclude, err = d.frugal.AllocMarks(d.w, d.h); err != nil {
			return nil, err
		}
		d.planes = append(d.planes, d.exclude)
	}
	pic, err := pic.InSRGB(d.ctx)
	if err == nil && d.tables == nil {
		d.tables = pic.Tables()
	}
	return pic, err
}

func (d *detector) luminance(pic *Picture) error {
	return d.do(Luminance{Y: d.y, V: d.v, Picture: pic, Tables: d.tables})
}

// search finds candidates by background and three passes of core and growth.
func (d *detector) search() error {
	if err := d.stage(stepEstimate(), d.firstEstimate); err != nil {
		return err
	}
	for range 3 {
		if err := d.classify(); err != nil {
			return err
		}
		if err := d.stage(stepComponents(), d.components); err != nil {
			return err
		}
	}
	return nil
}

// step is a stage of detection; share is roughly its part of the whole.
type step struct {
	name  message.Message
	share float64
}

// The steps. Background, cores and components run four times: three passes and the refinement.
func stepLuminance() step  { return step{message.Of("luminance"), 0.08} }
func stepEstimate() step   { return step{message.Of("first estimate"), 0.14} }
func stepBackground() step { return step{message.Of("background"), 0.1} }
func stepCores() step      { return step{message.Of("cores"), 0.04} }
func stepClasses() step    { return step{message.Of("background and cores"), 0.14} }
func stepComponents() step { return step{message.Of("components"), 0.04} }
func stepRules() step      { return step{message.Of("rules"), 0.06} }

// stage runs f as a named stage of the backend and reports the progress.
func (d *detector) stage(s step, f func() error) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if d.progress != nil {
		d.progress(s.name, min(d.done, 1))
	}
	defer d.be.Stage(s.name.String())()
	d.done += s.share
	return f()
}

// firstEstimate excludes bright points and their surroundings: pixels that rise above the mean of an opening.
func (d *detector) firstEstimate() error {
	op := FirstEstimate{
		Exclude: d.exclude, Y: d.y, V: d.v, Radius: d.radius(12), Over: level(25), Level: uint8(d.p.Level), Margin: 3,
	}
	if d.frugal != nil {
		return d.frugal.FirstEstimate(d.ctx, op)
	}
	return d.firstEstimateBySteps(op)
}

// classify computes the class bits from the current exclusion.
func (d *detector) classify() error {
	op := Classify{
		Class: d.cls, Y: d.y, V: d.v, Exclude: d.exclude, Radii: d.backgroundRadii(),
		Contrast: ContrastRule{
			Absolute: level(d.p.Visible), Relative: share(d.p.Relative),
			SeedAbsolute: level(d.p.Contrast), SeedLevel: uint8(d.p.Level),
		},
		PeakRadius: d.radius(4), Cores: CoreRule{Core: share(d.p.Core), Grow: share(5)},
	}
	if d.frugal == nil {
		return d.classifyBySteps(op)
	}
	return d.stage(stepClasses(), func() error { return d.frugal.Classify(d.ctx, op) })
}

func (d *detector) growth() Growth {
	return Growth{Base: 1.5, Slope: 0.7, FarBase: 4, FarSlope: 2, Closed: 0.15,
		Limit: 30 * d.p.Scale, MaxCore: int(4000 * d.p.Scale * d.p.Scale)}
}

// components labels and grows the cores, and excludes the components and their neighbours from the next background.
func (d *detector) components() (err error) {
	d.forget()
	if d.cores, err = Evaluate(d.ctx, d.be, Label{Class: d.cls, Bits: ClassCore}); err != nil {
		return err
	}
	if err := d.grow(); err != nil {
		return err
	}
	return d.excludeGrown()
}

// grow grows the cores.
func (d *detector) grow() error {
	grown, err := Evaluate(d.ctx, d.be, Grow{Cores: d.cores, Class: d.cls, Growth: d.growth()})
	if err != nil {
		return err
	}
	if d.grown != nil {
		d.grown.Release()
	}
	d.grown = grown
	return nil
}

// excludeGrown makes the grown components, dilated by a pixel, the exclusion.
func (d *detector) excludeGrown() error {
	if d.frugal != nil {
		grown, err := Evaluate(d.ctx, d.be, Spans{Components: d.grown})
		if err != nil {
			return err
		}
		return d.frugal.Mark(d.ctx, d.exclude, grown, 1)
	}
	if err := d.do(Rasterize{Dst: d.exclude, Components: d.grown}); err != nil {
		return err
	}
	return d.do(Morph{Dst: d.exclude, Src: d.exclude, Op: Dilate, Element: Square(1)})
}

// accept reports for each component whether it is glare, by area and elongation.
func (d *detector) accept() ([]bool, error) {
	cores, err := Evaluate(d.ctx, d.be, Spans{Components: d.cores})
	if err != nil {
		return nil, err
	}
	grown, err := Evaluate(d.ctx, d.be, Spans{Components: d.grown})
	if err != nil {
		return nil, err
	}
	core, whole := sumsOf(cores, d.cores.Len()), sumsOf(grown, d.cores.Len())
	accepted := make([]bool, len(whole))
	for i := range whole {
		n := whole[i].N
		accepted[i] = n >= int64(d.p.MinArea) && n <= int64(d.p.MaxArea) && n > 0 &&
			core[i].Elongation() <= d.p.MaxElongation
	}
	return accepted, nil
}

// sumsOf returns the sums of each of n labels.
func sumsOf(spans []Span, n int) []Sums {
	sums := make([]Sums, n)
	for i := range sums {
		sums[i] = NewSums()
	}
	for _, s := range spans {
		sums[s.Label].Add(s)
	}
	return sums
}

// refine computes the background once more, without what was accepted, grows the accepted cores again, and returns
// their spans.
func (d *detector) refine(accepted []bool) ([]Span, error) {
	if !slices.Contains(accepted, true) {
		return nil, nil
	}
	if err := d.do(FilterComponents{Components: d.grown, Keep: accepted}); err != nil {
		return nil, err
	}
	if err := d.excludeGrown(); err != nil {
		return nil, err
	}
	if err := d.classify(); err != nil {
		return nil, err
	}
	var spans []Span
	err := d.stage(stepComponents(), func() error {
		if err := d.do(FilterComponents{Components: d.cores, Keep: accepted}); err != nil {
			return err
		}
		if err := d.grow(); err != nil {
			return err
		}
		var err error
		spans, err = Evaluate(d.ctx, d.be, Spans{Components: d.grown})
		return err
	})
	return spans, err
}

// ClassicReach returns how far around a part of a picture DetectClassic looks, in pixels: as far as the windows of all
// its steps together, for one pass of the search. Pixels beyond matter only through chains of touching findings, and
// each link only through a small share of a window: on rendered glare, with each parameter at its minimum, middle and
// maximum, one pass was enough to give the mask of the whole picture.
func ClassicReach(p Params) int {
	d := &detector{p: p.Resolved()}
	return d.searchReach(1)
}

// searchReach returns how far the first estimate and a number of passes look: the background's widest window, the
// seeds, the growth.
func (d *detector) searchReach(passes int) int {
	radii := d.backgroundRadii()
	pass := radii[len(radii)-1] + d.radius(4) + int(math.Ceil(d.growth().Limit)) + 1
	return 3*d.radius(12) + 3 + passes*pass
}

// noiseTile is the side of the tiles whose noise is measured, in pixels.
const noiseTile = 64

// measureNoise estimates the noise in 8-bit levels: the lower quartile over tiles of the estimate from their finest
// wavelet band. Canvas and brush work fill that band in most tiles of a painting, and the quartile keeps them out.
func (d *detector) measureNoise() error {
	tiles, err := Evaluate(d.ctx, d.be, NoiseTiles{Src: d.v, Side: noiseTile})
	if err != nil || len(tiles) == 0 {
		return err
	}
	slices.Sort(tiles)
	d.noise = tiles[len(tiles)/4]
	return nil
}
