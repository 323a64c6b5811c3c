package processing

import (
	"context"
	"math"
	"slices"
)

// Detect finds the glare on pic. It returns ctx.Err() within 100 ms of a cancel, and an error for a picture, parameters
// or a region that are not valid.
func Detect(ctx context.Context, be Backend, pic *Picture, p Params, o Options) (*Result, error) {
	d, err := newDetector(ctx, be, pic, p, o)
	if err != nil {
		return nil, err
	}
	defer d.release()
	cands, spans, err := d.candidates(pic)
	if err != nil {
		return nil, err
	}
	accepted := make([]bool, len(cands))
	for i := range cands {
		accepted[i] = d.accepts(&cands[i])
	}
	if err := d.manualRules(pic, spans, cands, accepted); err != nil {
		return nil, err
	}
	spans, err = d.refine(spans, cands, accepted)
	if err != nil {
		return nil, err
	}
	res := &Result{Params: d.p, Device: be.Name()}
	res.Params.Mode = Manual
	if p.Mode == Adaptive {
		res.Chosen = d.chosen()
	}
	if err := d.stage(stepCleanup(), func() (err error) {
		res.Mask, err = d.cleanup(spans, o.Region)
		return err
	}); err != nil {
		return nil, err
	}
	if o.Region != nil {
		spans = clip(spans, o.Region, d.w)
	}
	res.Findings = findings(spans, cands)
	res.Timings = be.Timings()
	return res, nil
}

// Candidates returns every spot that Detect would decide about. It is what the decision function is fitted on.
func Candidates(ctx context.Context, be Backend, pic *Picture, p Params) ([]Candidate, error) {
	d, err := newDetector(ctx, be, pic, p, Options{})
	if err != nil {
		return nil, err
	}
	defer d.release()
	cands, spans, err := d.candidates(pic)
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(cands))
	for i := range cands {
		out[i] = Candidate{Measures: cands[i].features[:], Score: cands[i].score, Core: int(cands[i].core.n)}
	}
	for _, s := range spans {
		c := &out[s.label]
		c.Runs = append(c.Runs, Run{int(s.y), int(s.x0), int(s.x1)})
	}
	return out, nil
}

// detector is one run of detection: its planes and what it measured.
type detector struct {
	ctx      context.Context
	be       Backend
	w, h     int
	p        Params
	progress Progress
	encode   []uint8
	planes   []Plane

	y, v, b      Plane
	cls, seed    Plane
	exclude      Plane
	white, noise float64
	done         float64 // share of the whole, for progress
	cores        []span  // of the last pass
	grower       *grower
	host         []uint8 // a byte a pixel to paint on
}

func newDetector(ctx context.Context, be Backend, pic *Picture, p Params, o Options) (*detector, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if o.Region != nil {
		if err := o.Region.Validate(pic.Width, pic.Height); err != nil {
			return nil, err
		}
	}
	if p.Mode == Adaptive {
		p = adaptive(p)
	}
	be.Timings() // what an earlier, failed job left
	return &detector{ctx: ctx, be: be, w: pic.Width, h: pic.Height, p: p, progress: o.Progress}, nil
}

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
}

// radius scales a window's radius, given for glints of up to 12 px radius.
func (d *detector) radius(r float64) int {
	return min(max(int(math.Round(r*d.p.Scale)), 1), 127)
}

func (d *detector) backgroundRadii() []int {
	r := float64(d.p.Window-1) / 2
	return []int{d.radius(r), d.radius(1.8 * r), d.radius(3.4 * r), d.radius(6.6 * r)}
}

// share converts per cent to 1/65536, level to 1/65535 of white.
func share(percent float64) uint32 { return uint32(percent/100*65536 + 0.5) }
func level(percent float64) uint16 { return uint16(percent/100*65535 + 0.5) }

// candidates runs luminance, background and three passes of core and growth, and measures what is left.
func (d *detector) candidates(pic *Picture) ([]candidate, []span, error) {
	for _, p := range []struct {
		dst  *Plane
		kind Kind
	}{{&d.y, U16}, {&d.v, U8}, {&d.b, U16}, {&d.cls, U8}, {&d.seed, U16}, {&d.exclude, U8}} {
		var err error
		if *p.dst, err = d.plane(p.kind); err != nil {
			return nil, nil, err
		}
	}
	d.grower = newGrower(d.w, d.h)
	d.host = make([]uint8, d.w*d.h)
	tables := pic.Tables()
	d.encode = tables.Encode8
	if err := d.stage(stepLuminance(), func() error {
		return d.be.Luma(d.ctx, d.y, d.v, pic, tables)
	}); err != nil {
		return nil, nil, err
	}
	if err := d.stage(stepEstimate(), d.firstEstimate); err != nil {
		return nil, nil, err
	}
	var spans []span
	var n int
	for range 3 {
		if err := d.classify(); err != nil {
			return nil, nil, err
		}
		if err := d.stage(stepComponents(), func() (err error) {
			spans, n, err = d.components()
			return err
		}); err != nil {
			return nil, nil, err
		}
	}
	var cands []candidate
	err := d.stage(stepMeasures(), func() (err error) {
		if err = d.measureWhite(); err != nil {
			return err
		}
		if err = d.measureNoise(); err != nil {
			return err
		}
		cands, err = d.measure(spans, n)
		return err
	})
	return cands, spans, err
}

// step is a stage of detection; share is its part of the whole, roughly.
type step struct {
	name  Text
	share float64
}

// The steps. Background, cores and components run four times: three passes and the refinement.
func stepLuminance() step  { return step{Text{"luminance", "яркость"}, 0.07} }
func stepEstimate() step   { return step{Text{"first estimate", "первая оценка"}, 0.14} }
func stepBackground() step { return step{Text{"background", "фон"}, 0.08} }
func stepCores() step      { return step{Text{"cores", "ядра"}, 0.05} }
func stepComponents() step { return step{Text{"components", "компоненты"}, 0.04} }
func stepMeasures() step   { return step{Text{"measures", "признаки"}, 0.08} }
func stepCleanup() step    { return step{Text{"cleanup", "обработка маски"}, 0.03} }

// stage runs f as a named stage of the backend and tells the progress.
func (d *detector) stage(s step, f func() error) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if d.progress != nil {
		d.progress(s.name, min(d.done, 1))
	}
	end := d.be.Stage(s.name.EN)
	defer end()
	d.done += s.share
	return f()
}

// firstEstimate excludes what stands out of the mean of an opening: bright points and their surroundings.
func (d *detector) firstEstimate() error {
	r := d.radius(12)
	if err := d.be.Morph(d.ctx, d.b, d.y, Open, Square(r)); err != nil {
		return err
	}
	if err := d.be.BoxMean(d.ctx, d.seed, d.b, r); err != nil {
		return err
	}
	if err := d.be.Excess(d.ctx, d.exclude, d.y, d.seed, d.v, level(25), uint8(d.p.Level)); err != nil {
		return err
	}
	return d.be.Morph(d.ctx, d.exclude, d.exclude, Dilate, Square(3))
}

// classify computes background and class bits from the present exclusion.
func (d *detector) classify() error {
	if err := d.stage(stepBackground(), func() error {
		return d.be.Background(d.ctx, d.b, d.y, d.exclude, d.backgroundRadii())
	}); err != nil {
		return err
	}
	return d.stage(stepCores(), func() error {
		err := d.be.Contrast(d.ctx, d.cls, d.seed, d.y, d.b, d.v, ContrastRule{
			Absolute: level(d.p.Visible), Relative: share(d.p.Relative),
			SeedAbsolute: level(d.p.Contrast), SeedLevel: uint8(d.p.Level),
		})
		if err != nil {
			return err
		}
		if err := d.be.Morph(d.ctx, d.seed, d.seed, Dilate, Square(d.radius(4))); err != nil {
			return err
		}
		return d.be.Cores(d.ctx, d.cls, d.y, d.b, d.seed, CoreRule{Core: share(d.p.Core), Grow: share(5)})
	})
}

func (d *detector) growth() growth {
	return growth{base: 1.5, slope: 0.7, farBase: 4, farSlope: 2, closed: 0.15,
		limit: 30 * d.p.Scale, maxCore: int(4000 * d.p.Scale * d.p.Scale)}
}

// components labels and grows the cores, and excludes the components and their neighbours from the next background.
func (d *detector) components() ([]span, int, error) {
	host, err := d.be.Host(d.ctx, d.cls)
	if err != nil {
		return nil, 0, err
	}
	d.cores = spansOf(host.U8, d.w, d.h, ClassCore)
	n := connect(d.cores)
	spans, err := d.grower.grow(d.ctx, host.U8, d.cores, areas(d.cores, n), d.growth())
	if err != nil {
		return nil, 0, err
	}
	return spans, n, d.excludeSpans(spans)
}

func areas(spans []span, n int) []int {
	a := make([]int, n)
	for _, s := range spans {
		a[s.label] += int(s.x1 - s.x0)
	}
	return a
}

// excludeSpans makes the spans, widened by a pixel, the exclusion.
func (d *detector) excludeSpans(spans []span) error {
	if err := d.be.Upload(d.ctx, d.exclude, Samples{U8: d.paint(spans)}); err != nil {
		return err
	}
	return d.be.Morph(d.ctx, d.exclude, d.exclude, Dilate, Square(1))
}

// paint returns a byte plane with 255 where the spans are; it is d.host, good until the next call.
func (d *detector) paint(spans []span) []uint8 {
	clear(d.host)
	for _, s := range spans {
		row := d.host[int(s.y)*d.w+int(s.x0) : int(s.y)*d.w+int(s.x1)]
		for i := range row {
			row[i] = 255
		}
	}
	return d.host
}

// measure computes the features and scores of the n candidates.
func (d *detector) measure(spans []span, n int) ([]candidate, error) {
	if n == 0 {
		return nil, nil
	}
	host, err := d.be.Host(d.ctx, d.cls)
	if err != nil {
		return nil, err
	}
	s := &scene{w: d.w, h: d.h, cls: host.U8, member: d.paint(spans), y: d.y, b: d.b, v: d.v,
		spread: d.seed, encode: d.encode, white: d.white}
	if err := d.be.Deviation(d.ctx, d.seed, d.y, d.exclude, d.radius(9)); err != nil {
		return nil, err
	}
	// One plane serves one measure after the other: a picture of 100 megapixels should fit into the memory of a laptop.
	extra, err := d.be.Alloc(U16, d.w, d.h)
	if err != nil {
		return nil, err
	}
	defer extra.Release()
	s.starlet = extra
	if err := d.be.StarletBand(d.ctx, s.starlet, d.v, 2); err != nil {
		return nil, err
	}
	t, err := tallies(d.ctx, d.be, s, spans, n)
	if err != nil {
		return nil, err
	}
	r := d.radius(32)
	wide, err := d.countAround(extra, d.cls, ClassWide, r, t)
	if err != nil {
		return nil, err
	}
	// Nothing needs the exclusion any more; refine makes another.
	if err := d.be.Upload(d.ctx, d.exclude, Samples{U8: s.member}); err != nil {
		return nil, err
	}
	members, err := d.countAround(extra, d.exclude, 255, r, t)
	if err != nil {
		return nil, err
	}
	cands := make([]candidate, n)
	model := defaultScore()
	for i := range t {
		at := t[i].middle(d.w)
		area := float64(windowArea(int(at)%d.w, int(at)/d.w, d.w, d.h, r))
		cands[i] = t[i].candidate(s, float64(wide[i])/area, float64(wide[i]-members[i])/area)
		cands[i].score = model.score(&cands[i].features)
	}
	return cands, nil
}

// countAround returns, for the middle of each candidate, how many pixels of the window of radius r have one of the given
// bits in plane of; into is overwritten.
func (d *detector) countAround(into, of Plane, bits uint8, r int, t []tally) ([]uint32, error) {
	if err := d.be.BoxCount(d.ctx, into, of, bits, r); err != nil {
		return nil, err
	}
	index := make([]uint32, len(t))
	for i := range t {
		index[i] = t[i].middle(d.w)
	}
	count := make([]uint32, len(t))
	return count, d.be.Gather(d.ctx, count, into, index)
}

// measureWhite takes the level that only one pixel in a thousand outside the candidates exceeds.
func (d *detector) measureWhite() error {
	hist, err := d.be.Histogram(d.ctx, d.y, d.exclude)
	if err != nil {
		return err
	}
	var total, seen uint64
	for _, c := range hist {
		total += c
	}
	d.white = 255
	for i, c := range hist {
		if seen += c; seen*1000 >= total*999 {
			d.white = float64(d.encode[i])
			break
		}
	}
	return nil
}

// scoreOff is the threshold that leaves the decision to the rules, however low a score may fall.
const scoreOff = -20

// accepts decides whether a candidate is glare.
func (d *detector) accepts(c *candidate) bool {
	return (d.p.Score <= scoreOff || c.score+d.p.Sensitivity >= d.p.Score) &&
		c.all.n >= int64(d.p.MinArea) && c.all.n <= int64(d.p.MaxArea) &&
		c.features[FeatureElongation] <= d.p.MaxElongation
}

// refine takes the background once more without what was accepted, and grows the accepted cores again.
func (d *detector) refine(spans []span, cands []candidate, accepted []bool) ([]span, error) {
	kept := slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return !accepted[s.label] })
	if len(kept) == 0 {
		return nil, nil
	}
	if err := d.excludeSpans(kept); err != nil {
		return nil, err
	}
	if err := d.classify(); err != nil {
		return nil, err
	}
	var out []span
	err := d.stage(stepComponents(), func() error {
		host, err := d.be.Host(d.ctx, d.cls)
		if err != nil {
			return err
		}
		cores := slices.DeleteFunc(d.cores, func(s span) bool { return !accepted[s.label] })
		area := make([]int, len(cands))
		for _, s := range cores {
			area[s.label] += int(s.x1 - s.x0)
		}
		out, err = d.grower.grow(d.ctx, host.U8, cores, area, d.growth())
		return err
	})
	return out, err
}
