package detect

import (
	"context"
	"math"
	"slices"

	"blik/internal/message"

	"blik/processing"
)

// Classic is what the classical detector found.
type Classic struct {
	// Spans are the pixels of the accepted components, in reading order without overlaps; labels tell the components
	// apart.
	Spans []processing.Span
	// Noise is the standard deviation of the noise in levels.
	Noise float64
	// Params are the values that were used.
	Params processing.Params
}

// ClassicOptions are the options of DetectClassic besides the parameters.
type ClassicOptions struct {
	// Progress may be nil.
	Progress processing.Progress
}

// DetectClassic finds glare without a network: luminance, a background that leaves the glare out, cores, growth, and
// rules on what was found. docs/detection.md describes it. It returns ctx.Err() within 100 ms of a cancel, and an error
// for a picture or parameters that are not valid.
func DetectClassic(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params, o ClassicOptions,
) (*Classic, error) {
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

// BytesPerPixel is the memory that detection takes besides the picture, in bytes per pixel: planes, masks, and the
// findings on a picture full of glare.
const BytesPerPixel = 16

// detector is one run of the classical detector: its planes and what it measured.
type detector struct {
	ctx      context.Context
	be       processing.Backend
	w, h     int
	p        processing.Params
	progress processing.Progress
	tables   *processing.LuminanceTables
	planes   []processing.Plane

	// frugal is the backend if it is one: then b and seed are nil, and exclude is a plane of AllocMarks.
	frugal processing.Frugal

	y, v, b      processing.Plane
	cls, seed    processing.Plane
	exclude      processing.Plane
	noise        float64
	done         float64 // share of the whole, for progress
	cores, grown processing.Components
}

func newDetector(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params, o ClassicOptions,
) (*detector, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	d := &detector{ctx: ctx, be: be, w: pic.Width, h: pic.Height, p: p.Resolved(), progress: o.Progress}
	d.frugal, _ = be.(processing.Frugal)
	return d, nil
}

// do carries out an operation.
func (d *detector) do(op processing.Op) error { return d.be.Do(d.ctx, op) }

// plane allocates a plane that lives until the end of the run.
func (d *detector) plane(k processing.Kind) (processing.Plane, error) {
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
	for _, c := range []*processing.Components{&d.cores, &d.grown} {
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

// share converts per cent to 1/65536, lightOf to 1/65535 of white.
func share(percent float64) uint32   { return uint32(float64(percent/100*65536) + 0.5) }
func lightOf(percent float64) uint16 { return uint16(float64(percent/100*65535) + 0.5) }

// whiteLight is the largest value of a luminance in 16 bits.
const whiteLight = 65535

// allocate makes the planes of a run, and returns the picture in sRGB.
func (d *detector) allocate(pic *processing.Picture) (*processing.Picture, error) {
	for _, p := range []struct {
		dst   *processing.Plane
		kind  processing.Kind
		steps bool
	}{
		{&d.y, processing.U16, false}, {&d.v, processing.U8, false}, {&d.b, processing.U16, true},
		{&d.cls, processing.U8, false}, {&d.seed, processing.U16, true}, {&d.exclude, processing.U8, true},
	} {
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

func (d *detector) luminance(pic *processing.Picture) error {
	return d.do(processing.Luminance{Y: d.y, V: d.v, Picture: pic, Tables: d.tables})
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
	op := processing.FirstEstimate{
		Exclude: d.exclude, Y: d.y, V: d.v, Radius: d.radius(12), Over: lightOf(25), Level: uint8(d.p.Level), Margin: 3,
	}
	if d.frugal != nil {
		return d.frugal.FirstEstimate(d.ctx, op)
	}
	return d.firstEstimateBySteps(op)
}

// classify computes the class bits from the current exclusion.
func (d *detector) classify() error {
	op := processing.Classify{
		Class: d.cls, Y: d.y, V: d.v, Exclude: d.exclude, Radii: d.backgroundRadii(),
		Contrast: processing.ContrastRule{
			Absolute: lightOf(d.p.Visible), Relative: share(d.p.Relative),
			SeedAbsolute: lightOf(d.p.Contrast), SeedLevel: uint8(d.p.Level),
		},
		PeakRadius: d.radius(4), Cores: processing.CoreRule{Core: share(d.p.Core), Grow: share(5)},
	}
	if d.frugal == nil {
		return d.classifyBySteps(op)
	}
	return d.stage(stepClasses(), func() error { return d.frugal.Classify(d.ctx, op) })
}

func (d *detector) growth() processing.Growth {
	return processing.Growth{Base: 1.5, Slope: 0.7, FarBase: 4, FarSlope: 2, Closed: 0.15,
		Limit: 30 * d.p.Scale, MaxCore: int(4000 * d.p.Scale * d.p.Scale)}
}

// components labels and grows the cores, and excludes the components and their neighbours from the next background.
func (d *detector) components() (err error) {
	d.forget()
	cores := processing.Label{Class: d.cls, Bits: processing.ClassCore}
	if d.cores, err = processing.Evaluate(d.ctx, d.be, cores); err != nil {
		return err
	}
	if err := d.grow(); err != nil {
		return err
	}
	return d.excludeGrown()
}

// grow grows the cores.
func (d *detector) grow() error {
	grown, err := processing.Evaluate(d.ctx, d.be, processing.Grow{Cores: d.cores, Class: d.cls, Growth: d.growth()})
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
		grown, err := processing.Evaluate(d.ctx, d.be, processing.Spans{Components: d.grown})
		if err != nil {
			return err
		}
		return d.frugal.Mark(d.ctx, d.exclude, grown, 1)
	}
	if err := d.do(processing.Rasterize{Dst: d.exclude, Components: d.grown}); err != nil {
		return err
	}
	return d.do(processing.Morph{Dst: d.exclude, Src: d.exclude, Op: processing.Dilate, Element: processing.Square(1)})
}

// accept reports for each component whether it is glare, by area and elongation.
func (d *detector) accept() ([]bool, error) {
	cores, err := processing.Evaluate(d.ctx, d.be, processing.Spans{Components: d.cores})
	if err != nil {
		return nil, err
	}
	grown, err := processing.Evaluate(d.ctx, d.be, processing.Spans{Components: d.grown})
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
func sumsOf(spans []processing.Span, n int) []processing.Sums {
	sums := make([]processing.Sums, n)
	for i := range sums {
		sums[i] = processing.NewSums()
	}
	for _, s := range spans {
		sums[s.Label].Add(s)
	}
	return sums
}

// refine computes the background once more, without what was accepted, grows the accepted cores again, and returns
// their spans.
func (d *detector) refine(accepted []bool) ([]processing.Span, error) {
	if !slices.Contains(accepted, true) {
		return nil, nil
	}
	if err := d.do(processing.FilterComponents{Components: d.grown, Keep: accepted}); err != nil {
		return nil, err
	}
	if err := d.excludeGrown(); err != nil {
		return nil, err
	}
	if err := d.classify(); err != nil {
		return nil, err
	}
	var spans []processing.Span
	err := d.stage(stepComponents(), func() error {
		if err := d.do(processing.FilterComponents{Components: d.cores, Keep: accepted}); err != nil {
			return err
		}
		if err := d.grow(); err != nil {
			return err
		}
		var err error
		spans, err = processing.Evaluate(d.ctx, d.be, processing.Spans{Components: d.grown})
		return err
	})
	return spans, err
}

// ClassicReach returns how far around a part of a picture DetectClassic looks, in pixels: as far as the windows of all
// its steps together, for one pass of the search. Pixels beyond matter only through chains of touching findings, and
// each link only through a small share of a window: on rendered glare, with each parameter at its minimum, middle and
// maximum, one pass was enough to give the mask of the whole picture.
func ClassicReach(p processing.Params) int {
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
	tiles, err := processing.Evaluate(d.ctx, d.be, processing.NoiseTiles{Src: d.v, Side: noiseTile})
	if err != nil || len(tiles) == 0 {
		return err
	}
	slices.Sort(tiles)
	d.noise = tiles[len(tiles)/4]
	return nil
}

// firstEstimateBySteps carries out op one operation after the other.
func (d *detector) firstEstimateBySteps(op processing.FirstEstimate) error {
	around := processing.Square(op.Radius)
	if err := d.do(processing.Morph{Dst: d.b, Src: op.Y, Op: processing.Open, Element: around}); err != nil {
		return err
	}
	if err := d.do(processing.BoxMean{Dst: d.seed, Src: d.b, Radius: op.Radius}); err != nil {
		return err
	}
	if err := d.do(processing.DifferenceThreshold{
		Dst: op.Exclude, Y: op.Y, Background: d.seed, V: op.V, Over: op.Over, Level: op.Level,
	}); err != nil {
		return err
	}
	return d.do(processing.Morph{
		Dst: op.Exclude, Src: op.Exclude, Op: processing.Dilate, Element: processing.Square(op.Margin),
	})
}

// classifyBySteps carries out op one operation after the other, and leaves the background in d.b.
func (d *detector) classifyBySteps(op processing.Classify) error {
	if err := d.stage(stepBackground(), func() error {
		return d.do(processing.Background{Dst: d.b, Y: op.Y, Exclude: op.Exclude, Radii: op.Radii})
	}); err != nil {
		return err
	}
	return d.stage(stepCores(), func() error {
		err := d.do(processing.Contrast{
			Class: op.Class, Seed: d.seed, Y: op.Y, Background: d.b, V: op.V, Rule: op.Contrast,
		})
		if err != nil {
			return err
		}
		near := processing.Square(op.PeakRadius)
		err = d.do(processing.Morph{Dst: d.seed, Src: d.seed, Op: processing.Dilate, Element: near})
		if err != nil {
			return err
		}
		return d.do(processing.Cores{Class: op.Class, Y: op.Y, Background: d.b, Peak: d.seed, Rule: op.Cores})
	})
}

// Chosen lists the values that the classical detector measured or, in adaptive mode, chose, in the order in which they
// are shown.
func (c *Classic) Chosen() []Chosen {
	list := []Chosen{
		{
			ID: "noise", Name: message.Of("Noise"), Value: c.Noise,
			Why: message.Of("standard deviation in levels, from the finest wavelet band of the quietest quarter of " +
				"the picture"),
		},
	}
	radii := (&detector{p: c.Params}).backgroundRadii()
	reasons := map[string]message.Message{
		"scale": message.Of("suits glare of up to about 12 px radius"),
		"window": message.Of("the smallest window with enough paint between findings; windows of up to %d px are "+
			"used elsewhere", 2*radii[len(radii)-1]+1),
		"visible":  message.Of("what the eye sees as glare on a painting, far above the noise (%.1f levels)", c.Noise),
		"relative": message.Of("glare must rise more over bright paint than over dark paint"),
		"contrast": message.Of("weaker spots cannot be distinguished from paint"),
		"level":    message.Of("the reflection of a lamp is never darker"),
		"core":     message.Of("separates a finding from a weaker neighbour"),
	}
	for _, s := range processing.Specs() {
		if why, ok := reasons[s.ID]; ok {
			list = append(list, Chosen{
				ID: s.ID, Name: s.Name, Unit: s.Unit, Value: s.Get(c.Params), Why: why,
			})
		}
	}
	return list
}
