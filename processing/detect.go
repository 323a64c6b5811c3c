package processing

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"iter"
	"math"
	"runtime"
	"slices"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/processing/internal/span"
	"blik/processing/network"
)

// Detect finds the glare on pic. It returns ctx.Err() within 100 ms of a cancel, and an error for a picture, parameters
// or a region that are not valid.
func Detect(ctx context.Context, be Backend, pic *Picture, p Params, o Options) (*Result, error) {
	d, err := newDetector(ctx, be, pic, p, o)
	if err != nil {
		return nil, err
	}
	defer d.release()
	// The manual rules look at all candidates, and so may a further detection.
	if o.Memory == nil && !d.hasManualRules(pic) {
		d.least = d.leastScore()
	}
	cands, known, err := d.recall(o.Memory, pic)
	if err == nil && !known {
		if cands, err = d.candidates(pic); err == nil {
			err = d.remember(o.Memory, pic, cands)
		}
	}
	if err != nil {
		return nil, err
	}
	d.beginMask()
	accepted := make([]bool, len(cands))
	parallel.Split(len(cands), 512, func(from, to int) {
		for i := from; i < to; i++ {
			accepted[i] = d.accepts(&cands[i])
		}
	})
	if d.hasManualRules(pic) {
		if err := d.manualRules(pic, spansOf(cands, nil), cands, accepted); err != nil {
			return nil, err
		}
	}
	spans, err := d.refine(cands, accepted)
	if err != nil {
		return nil, err
	}
	res := &Result{Params: d.p, Device: be.Name()}
	res.Params.Mode = Manual
	if p.Mode == Adaptive {
		res.Chosen = d.chosen()
	}
	// The findings need no backend, and are put together while it makes the mask.
	found := make(chan []Finding, 1)
	go func() {
		inside := spans
		if o.Region != nil {
			inside = clip(spans, o.Region, d.w)
		}
		found <- findings(inside, cands, d.rule.explainer())
	}()
	err = d.stage(stepCleanup(), func() (err error) {
		if res.Mask, err = d.emptyMask(); err == nil && len(spans) > 0 {
			err = d.cleanup(res.Mask, spans, o.Region)
		}
		return err
	})
	res.Findings = <-found
	if err != nil {
		return nil, err
	}
	res.Timings = be.Timings()
	return res, nil
}

// Candidates returns every spot that Detect would decide about. The decision function is fitted on those that are not
// Reduced.
func Candidates(ctx context.Context, be Backend, pic *Picture, p Params, o Options) ([]Candidate, error) {
	d, err := newDetector(ctx, be, pic, p, o)
	if err != nil {
		return nil, err
	}
	defer d.release()
	cands, err := d.candidates(pic)
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(cands))
	for i := range cands {
		c := &cands[i]
		out[i] = Candidate{
			Measures: c.measures, Score: c.score, Searched: c.props != nil, Peak: int(c.look.darkest), Vector: c.vector,
			Reduced: c.side > 1,
		}
		for _, r := range c.spans {
			out[i].Runs = append(out[i].Runs, Run{int(r.Y), int(r.X0), int(r.X1)})
		}
	}
	return out, nil
}

// DetectionBytes is the memory that Detect takes besides the picture, in bytes per pixel: planes, masks, and the
// findings on a picture full of glare.
const DetectionBytes = 16

// detector is one run of detection: its planes and what it measured.
type detector struct {
	ctx      context.Context
	be       Backend
	w, h     int
	p        Params
	progress Progress
	tables   *LuminanceTables
	planes   []Plane

	model   *network.Model
	colours [3]Plane // red, green and blue for the network
	logits  Plane    // output of the network
	// logitsAt is where the plane of logits begins in the picture.
	logitsAt image.Point
	// logitsRead is closed when logits were read; nil if nothing reads them.
	logitsRead <-chan struct{}
	decision   *Decision
	rule       *Rule
	ruleID     string
	// vectors: candidates get vectors, which learning and learned filters work on.
	vectors bool
	// spans are those of the grown components if these were recalled from a Memory.
	spans []Span
	// searched is the number of candidates that only the search found; they come first.
	searched int
	// seen is the picture as detection sees it, and exposure how it was brightened: nil in manual mode, and before that
	// is known.
	seen     *Picture
	exposure *exposure
	// cutting says what the picture is a part of; nil if it is whole. reduced: only this size is searched.
	cutting *cutting
	reduced bool
	// shown is what the network sees of the picture; empty for all of it.
	shown image.Rectangle
	// least is at most 0, and the score, without doubt about sheets, below which candidates of reduced pictures need
	// not be returned. hidden are the pixels of those.
	least  float64
	hidden [][]Span

	// frugal is the backend if it is one: then b and seed are nil, exclude is a plane of AllocMarks, and background is
	// that of the last pass.
	frugal     Frugal
	remote     Remote // the backend if it is one
	background Plane

	y, v, b      Plane
	cls, seed    Plane
	exclude      Plane
	noise        float64
	known        *float64 // the noise, if known
	done         float64  // share of the whole, for progress
	cores, grown Components
	mask         <-chan *Mask // an empty one for the result
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
	d := &detector{
		ctx: ctx, be: be, w: pic.Width, h: pic.Height, p: p, progress: o.Progress, decision: o.Decision, known: o.noise,
		exposure: o.exposure, cutting: o.cutting, least: math.Inf(-1),
	}
	if c := o.cutting; c != nil {
		d.shown = c.shown(1, c.at)
	}
	d.frugal, _ = be.(Frugal)
	d.remote, _ = be.(Remote)
	if d.decision == nil {
		var err error
		if d.decision, err = DefaultDecision(); err != nil {
			return nil, err
		}
	}
	d.p.Detector = p.Detector.resolve(p.Mode, d.decision)
	d.ruleID = d.p.Detector.rule()
	if d.rule = d.decision.Rules[d.ruleID]; d.rule == nil {
		return nil, fmt.Errorf("the decision has no rule %q", d.ruleID)
	}
	if d.ruleID != RuleClassic {
		if d.model = o.Network; d.model == nil {
			var err error
			if d.model, err = network.Default(); err != nil {
				return nil, err
			}
		}
	}
	if d.vectors = o.Vectors || p.Learned != nil; d.vectors && d.model == nil {
		return nil, message.Errorf("the learned adjustment needs the network; choose a detector other than %s",
			d.ruleID)
	}
	if p.Learned != nil {
		if err := p.Learned.Validate(d.model); err != nil {
			return nil, err
		}
	}
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
	for _, p := range slices.Concat(d.planes, d.colours[:]) {
		if p != nil {
			p.Release()
		}
	}
	if d.background != nil {
		d.background.Release()
	}
	d.forgetLogits()
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

// candidates finds and measures everything that the decision may be about, at every size.
func (d *detector) candidates(pic *Picture) ([]candidate, error) {
	if !d.searchesOctaves() {
		return d.ownCandidates(pic)
	}
	if d.remote == nil {
		// The reduced pictures come first, so that memory is not needed for the planes of all sizes at once.
		list, err := newOctaves(d.ctx, pic, d.cutting)
		if err != nil {
			return nil, err
		}
		large, err := d.searchOctaves(list)
		if err != nil {
			return nil, err
		}
		fine, err := d.ownCandidates(pic)
		if err != nil {
			return nil, err
		}
		return d.outlineOctaves(fine, large)
	}
	// The host reduces the picture while the backend searches it, and measures candidates while the backend searches
	// the reduced pictures.
	var list []octave
	var reduceErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		list, reduceErr = newOctaves(d.ctx, pic, d.cutting)
	}()
	finish, err := d.beginCandidates(pic)
	<-done
	if err != nil {
		return nil, err
	}
	large, err := d.searchOctaves(list)
	fine, fineErr := finish()
	if err = cmp.Or(reduceErr, err, fineErr); err != nil {
		return nil, err
	}
	return d.outlineOctaves(fine, large)
}

// ownCandidates finds and measures the candidates at the picture's own size.
func (d *detector) ownCandidates(pic *Picture) ([]candidate, error) {
	finish, err := d.beginCandidates(pic)
	if err != nil {
		return nil, err
	}
	return finish()
}

// beginCandidates does the work of ownCandidates on the backend. The result, which must be called before the detector
// is released, waits for the work on the host and returns the candidates.
func (d *detector) beginCandidates(pic *Picture) (finish func() ([]candidate, error), err error) {
	pic, err = d.allocate(pic)
	if err != nil {
		return nil, err
	}
	luminance := func() error {
		return d.stage(stepLuminance(), func() error { return d.computeLuminance(pic) })
	}
	if !d.borrows() {
		if err := luminance(); err != nil {
			return nil, err
		}
	}
	d.beginMask()
	var seen <-chan glintsFound
	if d.ruleID != RuleClassic {
		err := d.stage(stepNetwork(), func() (err error) {
			if d.borrows() {
				if err := d.borrow(pic); err != nil {
					return err
				}
			}
			seen, err = d.glints()
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if d.borrows() {
		d.frugal.Trim()
		if err := luminance(); err != nil {
			return nil, err
		}
	}
	if d.ruleID != RuleNetwork {
		if err := d.search(); err != nil {
			return nil, err
		}
	}
	if d.frugal != nil {
		d.frugal.Trim()
	}
	// The surroundings are measured on the host, while the backend works on its planes.
	surveying := make(chan *surveyed, 1)
	var found []searched
	err = d.stage(stepMeasures(), func() (err error) {
		var grown []Span
		if d.grown != nil {
			if grown, err = Evaluate(d.ctx, d.be, Spans{Components: d.grown}); err != nil {
				return err
			}
		}
		go func() { surveying <- d.surveyCandidates(pic, grown, seen) }()
		if found, err = d.measure(grown); err == nil {
			err = d.measureNoise()
		}
		if err != nil {
			<-surveying
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() ([]candidate, error) {
		defer d.be.Stage(stepMeasures().name.String())()
		s := <-surveying
		d.searched = s.searched
		return s.cands, d.decide(s, found)
	}, nil
}

// allocate makes the planes of a run, and returns the picture as detection sees it: in sRGB.
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
	pic, err := pic.inSRGB(d.ctx)
	if err != nil {
		return nil, err
	}
	if d.tables == nil {
		d.tables = pic.Tables()
	}
	d.seen = pic
	if rule, ok := d.whiteRule(); ok {
		if d.exposure == nil && d.cutting != nil {
			if d.exposure, err = d.cutting.exposure(d.ctx, d.tables, rule, d.w, d.h); err != nil {
				return nil, err
			}
		}
		if d.seen, d.exposure, err = pic.exposed(d.ctx, d.tables, rule, d.exposure); err != nil {
			return nil, err
		}
		if d.seen != pic {
			d.tables = d.seen.Tables()
		}
	}
	return d.seen, nil
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

// surveyed are the candidates with the measures of their surroundings in the picture.
type surveyed struct {
	cands []candidate
	// searched is the number of candidates that only the search found; they come first.
	searched int
	// component is the component of the search that each candidate is, or shares most pixels with; −1 if there is none.
	component []int32
	// kept are the pixels of each candidate inside its outline.
	kept [][]Span
	err  error
}

// surveyCandidates joins the candidates of search and network, and measures their surroundings.
func (d *detector) surveyCandidates(pic *Picture, grown []Span, seen <-chan glintsFound) *surveyed {
	var by glintsFound
	if seen != nil {
		by = <-seen
	}
	marked := make(chan *span.Set, 1)
	go func() { marked <- marks(d.w, d.h, grown, by.spans) }()
	components := 0
	if d.grown != nil {
		components = d.grown.Len()
	}
	v := attach(components, grown, by)
	v.kept = make([][]Span, len(v.cands))
	near := newNeighbours(d.w, d.h, v.cands)
	order, ends := surveyTasks(v.cands)
	taken := <-marked
	v.err = parallel.Workers(d.ctx, 0, len(ends)-1, func(tasks iter.Seq[int]) {
		s := surveyor{pic: pic, tables: d.tables, taken: taken, rule: d.outline(), exposure: d.exposure}
		for task := range tasks {
			for _, i := range order[ends[task]:ends[task+1]] {
				c := &v.cands[i]
				for j := range c.spans {
					c.spans[j].Label = uint32(i)
				}
				near.count(c)
				c.look, v.kept[i] = s.survey(c.spans, d.trimsSearch() || i >= v.searched)
			}
			// The goroutine that feeds the backend must not wait.
			runtime.Gosched()
		}
	})
	return v
}

// decide computes the scores of candidates; found is what the search measured of its components.
func (d *detector) decide(v *surveyed, found []searched) error {
	if v.err != nil {
		return v.err
	}
	cands := v.cands
	if d.vectors {
		if err := d.describe(cands); err != nil {
			return err
		}
	}
	list, index := Measures(), d.rule.index()
	described := len(vectorMeasures(list))
	const share = 64
	return parallel.Chunks(d.ctx, len(cands), share, func(from, to int) {
		values := make([]float64, (to-from)*len(list))
		for i := from; i < to; i++ {
			c := &cands[i]
			if k := v.component[i]; k >= 0 {
				c.searched = found[k]
			}
			c.spans = v.kept[i]
			c.measures, values = values[:len(list):len(list)], values[len(list):]
			c.measure(list)
			c.score = d.rule.Scale.Score(d.rule.sum(c.measures, index))
			if d.vectors {
				c.vector = slices.Concat(c.measures[:described], c.vector)
			}
			if d.p.Learned != nil {
				c.score += d.p.Learned.Shift(c.vector)
			}
		}
	})
}

// surveyTasks divides the work on candidates: large ones first and on their own, so that no thread waits for the last
// of them. Task i works on order[ends[i]:ends[i+1]].
func surveyTasks(cands []candidate) (order, ends []int) {
	const large, share = 64 * 64, 16
	order = make([]int, 0, len(cands))
	small := make([]int, 0, len(cands))
	ends = append(ends, 0)
	for i := range cands {
		s := &cands[i].shape
		if int(s.Right-s.Left)*int(s.Base-s.Top) < large {
			small = append(small, i)
			continue
		}
		order = append(order, i)
		ends = append(ends, len(order))
	}
	order = append(order, small...)
	for end := ends[len(ends)-1]; end < len(order); {
		end = min(end+share, len(order))
		ends = append(ends, end)
	}
	return order, ends
}

// outline returns the rule for the outline of what the network finds: pixels visibly brighter than their ground, and
// for fainter glints those that rise by a share of the largest rise.
func (d *detector) outline() outlineRule {
	return outlineRule{absolute: d.p.Visible / 100, relative: d.p.Relative / 100, share: 0.4}
}

// trimsSearch reports whether the components of the search are trimmed by the outline rule, too: with the classical
// detector in adaptive mode. The search grows in luminance, and so spreads over saturated paint that is as luminous as
// the white glint on it.
func (d *detector) trimsSearch() bool { return d.ruleID == RuleClassic && d.p.Mode == Adaptive }

// trim drops the pixels of the search's components outside their outline. Spans are labelled by the index of their
// candidate; own are the spans of the other candidates, which do not count as ground.
func (d *detector) trim(spans, own []Span) ([]Span, error) {
	kept := make([]candidate, d.searched)
	deal(kept, spans, nil)
	taken := marks(d.w, d.h, spans, own)
	order, ends := surveyTasks(kept)
	err := parallel.Workers(d.ctx, 0, len(ends)-1, func(tasks iter.Seq[int]) {
		s := surveyor{pic: d.seen, tables: d.tables, taken: taken, rule: d.outline()}
		for task := range tasks {
			for _, i := range order[ends[task]:ends[task+1]] {
				if c := &kept[i]; len(c.spans) > 0 {
					c.spans = s.outline(c.spans, s.ground(c.spans))
				}
			}
		}
	})
	return spansOf(kept, nil), err
}

// spansOf returns the spans of the candidates for which keep (nil: all) returns true, in reading order without
// overlaps.
func spansOf(cands []candidate, keep func(i int) bool) []Span {
	sets := make([][]Span, 0, len(cands))
	for i := range cands {
		if keep == nil || keep(i) {
			sets = append(sets, cands[i].spans)
		}
	}
	return merge(sets...)
}

// step is a stage of detection; share is roughly its part of the whole.
type step struct {
	name  message.Message
	share float64
}

// The steps. Background, cores and components run four times: three passes and the refinement. Shares are relative to
// the sum over the steps of a rule: see wholeWork.
func stepLuminance() step  { return step{message.Of("luminance"), 0.07} }
func stepNetwork() step    { return step{message.Of("network"), 0.4} }
func stepEstimate() step   { return step{message.Of("first estimate"), 0.14} }
func stepBackground() step { return step{message.Of("background"), 0.08} }
func stepCores() step      { return step{message.Of("cores"), 0.05} }
func stepClasses() step    { return step{message.Of("background and cores"), 0.13} }
func stepComponents() step { return step{message.Of("components"), 0.04} }
func stepMeasures() step   { return step{message.Of("measures"), 0.16} }
func stepCleanup() step    { return step{message.Of("cleanup"), 0.03} }

// wholeWork adds up the shares of all steps of the rule, at every size.
func (d *detector) wholeWork() float64 {
	sum := d.ownWork()
	if d.searchesOctaves() {
		for n := 1; n <= octaveCount; n++ {
			sum += d.ownWork() / float64(int(1)<<(2*n))
		}
	}
	return sum
}

// ownWork adds up the shares of the steps at the picture's own size.
func (d *detector) ownWork() float64 {
	search := stepEstimate().share + float64(4*(stepBackground().share+stepCores().share+stepComponents().share))
	sum := stepLuminance().share + stepMeasures().share + stepCleanup().share
	if d.ruleID != RuleNetwork {
		sum += search
	}
	if d.ruleID != RuleClassic {
		sum += stepNetwork().share
	}
	return sum
}

// stage runs f as a named stage of the backend and reports the progress.
func (d *detector) stage(s step, f func() error) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if d.progress != nil {
		d.progress(s.name, min(d.done, 1))
	}
	end := d.be.Stage(s.name.String())
	defer end()
	d.done += s.share / d.wholeWork()
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

// classify computes background and class bits from the current exclusion.
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
		d.background = nil
		return d.classifyBySteps(op)
	}
	if d.background != nil {
		d.background.Release()
		d.background = nil
	}
	return d.stage(stepClasses(), func() (err error) {
		d.background, err = d.frugal.Classify(d.ctx, op)
		return err
	})
}

func (d *detector) growth() Growth {
	return Growth{Base: 1.5, Slope: 0.7, FarBase: 4, FarSlope: 2, Closed: 0.15,
		Limit: 30 * d.p.Scale, MaxCore: int(4000 * d.p.Scale * d.p.Scale)}
}

// components labels and grows the cores, and excludes the components and their neighbours from the next background.
func (d *detector) components() (err error) {
	if err := d.label(); err != nil {
		return err
	}
	if d.grown, err = Evaluate(d.ctx, d.be, Grow{Cores: d.cores, Class: d.cls, Growth: d.growth()}); err != nil {
		return err
	}
	return d.excludeGrown()
}

// label replaces the components of the last pass by the labelled cores.
func (d *detector) label() (err error) {
	d.forget()
	d.cores, err = Evaluate(d.ctx, d.be, Label{Class: d.cls, Bits: ClassCore})
	return err
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

// excludeKept makes the grown components that are kept, dilated by a pixel, the exclusion. Components recalled from a
// Memory are only known as spans, and are drawn here.
func (d *detector) excludeKept(keep []bool) error {
	if d.grown != nil {
		if err := d.do(FilterComponents{Components: d.grown, Keep: keep}); err != nil {
			return err
		}
		return d.excludeGrown()
	}
	kept := slices.DeleteFunc(slices.Clone(d.spans), func(s Span) bool { return !keep[s.Label] })
	if d.frugal != nil {
		return d.frugal.Mark(d.ctx, d.exclude, kept, 1)
	}
	drawn := make([]uint8, d.w*d.h)
	span.Fill(drawn, d.w, kept, 255)
	if err := d.be.Upload(d.ctx, d.exclude, Samples{U8: drawn}); err != nil {
		return err
	}
	return d.do(Morph{Dst: d.exclude, Src: d.exclude, Op: Dilate, Element: Square(1)})
}

// measure measures the components of the search, whose spans are grown, in the planes of the backend.
func (d *detector) measure(grown []Span) ([]searched, error) {
	if d.grown == nil || d.grown.Len() == 0 {
		return nil, nil
	}
	spread, err := d.at(grown)
	if err != nil {
		return nil, err
	}
	defer spread.Release()
	if err := d.do(Deviation{
		Dst: spread, Y: d.y, Exclude: d.exclude, Radius: d.radius(9), Where: grown,
	}); err != nil {
		return nil, err
	}
	// Nothing reads the exclusion any more, and refine makes another.
	member := d.exclude
	if err := d.drawGrown(member, grown); err != nil {
		return nil, err
	}
	band, err := d.at(grown)
	if err != nil {
		return nil, err
	}
	defer band.Release()
	background := d.b
	if d.frugal != nil {
		background = d.background
	}
	if err := d.do(StarletBand{Dst: band, Src: d.v, Level: 2, Where: grown}); err != nil {
		return nil, err
	}
	t, err := Evaluate(d.ctx, d.be, MeasureRegions{
		Components: d.grown, Class: d.cls, Member: member, Y: d.y, Background: background, V: d.v, Deviation: spread,
		Starlet: band, Tables: d.tables,
	})
	if err != nil {
		return nil, err
	}
	index := make([]uint32, len(t))
	for i := range t {
		index[i] = middle(&t[i], d.w)
	}
	r := d.radius(32)
	wide, err := d.countAround(d.cls, ClassWide, r, index)
	if err != nil {
		return nil, err
	}
	members, err := d.countAround(member, 255, r, index)
	if err != nil {
		return nil, err
	}
	found := make([]searched, len(t))
	for i := range t {
		area := float64(windowArea(int(index[i])%d.w, int(index[i])/d.w, d.w, d.h, r))
		found[i] = searched{
			label: uint32(i), props: &t[i], density: float64(wide[i]) / area,
			stray: float64(wide[i]-members[i]) / area,
		}
	}
	return found, nil
}

// drawGrown draws the grown components, whose spans are given, into member.
func (d *detector) drawGrown(member Plane, grown []Span) error {
	if d.frugal != nil {
		return d.frugal.Mark(d.ctx, member, grown, 0)
	}
	return d.do(Rasterize{Dst: member, Components: d.grown})
}

// spare returns a plane (U8) that nothing reads between the measures and the refinement, nor after it.
func (d *detector) spare() Plane {
	if d.frugal != nil {
		return d.cls
	}
	return d.exclude
}

// countAround counts, for each pixel index, the pixels of plane of in the window of radius r that have one of the given
// bits.
func (d *detector) countAround(of Plane, bits uint8, r int, index []uint32) ([]uint32, error) {
	ascending := slices.Clone(index)
	slices.Sort(ascending)
	ascending = slices.Compact(ascending)
	where := make([]Span, len(ascending))
	for i, at := range ascending {
		x, y := int32(int(at)%d.w), int32(int(at)/d.w)
		where[i] = Span{Y: y, X0: x, X1: x + 1}
	}
	into, err := d.at(where)
	if err != nil {
		return nil, err
	}
	defer into.Release()
	if err := d.do(BoxCount{Dst: into, Class: of, Bits: bits, Radius: r, Where: where}); err != nil {
		return nil, err
	}
	count := make([]uint32, len(index))
	return count, d.do(Gather{Values: count, Src: into, Index: index})
}

// scoreOff is the threshold of the score at which only the manual rules decide, however low a score may fall.
const scoreOff = -20

// leastScore returns the score below which no candidate counts as glare, nor has an effect on whether others do.
func (d *detector) leastScore() float64 {
	if d.p.Score <= scoreOff {
		return math.Inf(-1)
	}
	return math.Min(d.p.Score-d.p.Sensitivity, 0)
}

// accepts decides whether a candidate is glare.
func (d *detector) accepts(c *candidate) bool {
	if d.p.Score <= scoreOff {
		// Without the score, every candidate of the search counts, and with the network as the only detector those that
		// it calls glare.
		if c.props == nil && (d.ruleID != RuleNetwork || c.glint.strong <= 0) {
			return false
		}
	} else if c.score+d.p.Sensitivity < d.p.Score {
		return false
	}
	return d.fits(c)
}

// fits reports whether the parameters allow a finding of that area and elongation.
func (d *detector) fits(c *candidate) bool {
	largest := int64(d.p.MaxArea)
	if c.side > 1 {
		largest *= int64(c.side * c.side)
	}
	return c.shape.N >= int64(d.p.MinArea) && c.shape.N <= largest && len(c.spans) > 0 &&
		c.elongation() <= d.p.MaxElongation
}

// refine computes the background once more, without what was accepted, grows the accepted cores of the search again,
// and returns the spans of everything accepted, in reading order.
func (d *detector) refine(cands []candidate, accepted []bool) ([]Span, error) {
	own := make(chan []Span, 1)
	go func() { own <- spansOf(cands, func(i int) bool { return accepted[i] && i >= d.searched }) }()
	if !slices.Contains(accepted[:d.searched], true) {
		return <-own, nil
	}
	keep, number := make([]bool, d.cores.Len()), make([]uint32, d.cores.Len())
	for i := range d.searched {
		keep[cands[i].label], number[cands[i].label] = accepted[i], uint32(i)
	}
	if err := d.excludeKept(keep); err != nil {
		return nil, err
	}
	if err := d.classify(); err != nil {
		return nil, err
	}
	var spans []Span
	err := d.stage(stepComponents(), func() error {
		if err := d.do(FilterComponents{Components: d.cores, Keep: keep}); err != nil {
			return err
		}
		grown, err := Evaluate(d.ctx, d.be, Grow{Cores: d.cores, Class: d.cls, Growth: d.growth()})
		if err != nil {
			return err
		}
		if d.grown != nil {
			d.grown.Release()
		}
		d.grown = grown
		spans, err = Evaluate(d.ctx, d.be, Spans{Components: grown})
		return err
	})
	for i := range spans {
		spans[i].Label = number[spans[i].Label]
	}
	others := <-own
	if err == nil && d.trimsSearch() {
		spans, err = d.trim(spans, others)
	}
	return merge(spans, others), err
}
