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

// DetectClassic finds glare without a network: luminance, a background that leaves the glare out, cores, growth, and
// rules on what was found. docs/detection.md describes it. progress may be nil. It returns ctx.Err() within 100 ms of a
// cancel, and an error for a picture or parameters that are not valid.
func DetectClassic(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params,
	progress processing.Progress,
) (*Classic, error) {
	if err := valid(pic, p); err != nil {
		return nil, err
	}
	p = p.Resolved()
	s := newPlanes(ctx, be, progress)
	defer s.release()
	l, err := s.light(pic)
	if err != nil {
		return nil, err
	}
	c, err := s.search(l, p, 3)
	if err != nil {
		return nil, err
	}
	defer c.release()
	var noise float64
	if err := s.stage(stageRules(), func() error { noise, err = s.noise(l.v); return err }); err != nil {
		return nil, err
	}
	accepted, err := s.accept(c, p)
	if err != nil {
		return nil, err
	}
	spans, err := s.refine(l, c, accepted, p)
	if err != nil {
		return nil, err
	}
	return &Classic{Spans: spans, Noise: noise, Params: p}, nil
}

// BytesPerPixel is the memory that detection takes besides the picture, in bytes per pixel: planes, masks, and the
// findings on a picture full of glare.
const BytesPerPixel = 16

// valid returns an error for a picture or parameters that are not valid.
func valid(pic *processing.Picture, p processing.Params) error {
	if err := pic.Validate(); err != nil {
		return err
	}
	return p.Validate()
}

// light are the planes that the classical search reads: luminance (U16) and level (U8).
type light struct{ y, v processing.Plane }

// candidates are what the classical search finds: the cores, and the components that these grew to.
type candidates struct {
	cores, grown processing.Components
	// class has the class bits that they were found by, and marks the pixels that the next background leaves out.
	class, marks processing.Plane
}

func (c *candidates) release() {
	for _, list := range []*processing.Components{&c.cores, &c.grown} {
		if *list != nil {
			(*list).Release()
			*list = nil
		}
	}
}

// radiusOf returns a window's radius at the scale of the parameters; r is that for glints of up to 12 px radius.
func radiusOf(p processing.Params, r float64) int {
	return min(max(int(math.Round(r*p.Scale)), 1), 127)
}

func backgroundRadii(p processing.Params) []int {
	r := float64(p.Window-1) / 2
	return []int{radiusOf(p, r), radiusOf(p, 1.8*r), radiusOf(p, 3.4*r), radiusOf(p, 6.6*r)}
}

func growthOf(p processing.Params) processing.Growth {
	return processing.Growth{Base: 1.5, Slope: 0.7, FarBase: 4, FarSlope: 2, Closed: 0.15,
		Limit: 30 * p.Scale, MaxCore: int(4000 * p.Scale * p.Scale)}
}

// share converts per cent to 1/65536, lightOf to 1/65535 of white.
func share(percent float64) uint32   { return uint32(float64(percent/100*65536) + 0.5) }
func lightOf(percent float64) uint16 { return uint16(float64(percent/100*65535) + 0.5) }

// whiteLight is the largest value of a luminance in 16 bits.
const whiteLight = 65535

// searchStage is a stage of the classical search; share is roughly its part of the whole.
type searchStage struct {
	name  message.Message
	share float64
}

// The stages. Background, cores and components run four times: three passes and the refinement.
func stageLuminance() searchStage  { return searchStage{message.Of("luminance"), 0.08} }
func stageEstimate() searchStage   { return searchStage{message.Of("first estimate"), 0.14} }
func stageBackground() searchStage { return searchStage{message.Of("background"), 0.1} }
func stageCores() searchStage      { return searchStage{message.Of("cores"), 0.04} }
func stageClasses() searchStage    { return searchStage{message.Of("background and cores"), 0.14} }
func stageComponents() searchStage { return searchStage{message.Of("components"), 0.04} }
func stageRules() searchStage      { return searchStage{message.Of("rules"), 0.06} }

// stage runs f as a named stage of the backend and reports the progress.
func (s *planes) stage(of searchStage, f func() error) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.progress != nil {
		s.progress(of.name, min(s.done, 1))
	}
	defer s.be.Stage(of.name.String())()
	s.done += of.share
	return f()
}

// light computes luminance and level of a picture.
func (s *planes) light(pic *processing.Picture) (l light, err error) {
	if l.y, err = s.alloc(processing.U16, pic.Width, pic.Height); err != nil {
		return l, err
	}
	if l.v, err = s.alloc(processing.U8, pic.Width, pic.Height); err != nil {
		return l, err
	}
	if pic, err = pic.InSRGB(s.ctx); err != nil {
		return l, err
	}
	tables := pic.Tables()
	return l, s.stage(stageLuminance(), func() error {
		return s.do(processing.Luminance{Y: l.y, V: l.v, Picture: pic, Tables: tables})
	})
}

// search finds candidates by background and passes of core and growth. After an error it has released them.
func (s *planes) search(l light, p processing.Params, passes int) (c candidates, err error) {
	w, h := l.y.Size()
	if c.class, err = s.alloc(processing.U8, w, h); err != nil {
		return c, err
	}
	if c.marks, err = s.plan.allocMarks(s, w, h); err != nil {
		return c, err
	}
	// Bright points and their surroundings do not count as background.
	if err := s.stage(stageEstimate(), func() error {
		return s.plan.estimate(s, processing.FirstEstimate{
			Exclude: c.marks, Y: l.y, V: l.v, Radius: radiusOf(p, 12), Over: lightOf(25), Level: uint8(p.Level),
			Margin: 3,
		})
	}); err != nil {
		return c, err
	}
	for range passes {
		if err = s.plan.classify(s, classes(l, c, p)); err == nil {
			err = s.stage(stageComponents(), func() error { return s.components(&c, p) })
		}
		if err != nil {
			c.release()
			return c, err
		}
	}
	return c, nil
}

// classes computes the class bits of candidates from their marks.
func classes(l light, c candidates, p processing.Params) processing.Classify {
	return processing.Classify{
		Class: c.class, Y: l.y, V: l.v, Exclude: c.marks, Radii: backgroundRadii(p),
		Contrast: processing.ContrastRule{
			Absolute: lightOf(p.Visible), Relative: share(p.Relative),
			SeedAbsolute: lightOf(p.Contrast), SeedLevel: uint8(p.Level),
		},
		PeakRadius: radiusOf(p, 4), Cores: processing.CoreRule{Core: share(p.Core), Grow: share(5)},
	}
}

// components labels and grows the cores, and excludes the components and their neighbours from the next background.
func (s *planes) components(c *candidates, p processing.Params) (err error) {
	c.release()
	cores := processing.Label{Class: c.class, Bits: processing.ClassCore}
	if c.cores, err = processing.Evaluate(s.ctx, s.be, cores); err != nil {
		return err
	}
	grow := processing.Grow{Cores: c.cores, Class: c.class, Growth: growthOf(p)}
	if c.grown, err = processing.Evaluate(s.ctx, s.be, grow); err != nil {
		return err
	}
	return s.plan.mark(s, c.marks, c.grown)
}

// spansOf returns the pixels of components.
func (s *planes) spansOf(c processing.Components) ([]processing.Span, error) {
	return processing.Evaluate(s.ctx, s.be, processing.Spans{Components: c})
}

// accept reports for each candidate whether it is glare, by area and elongation.
func (s *planes) accept(c candidates, p processing.Params) ([]bool, error) {
	cores, err := s.spansOf(c.cores)
	if err != nil {
		return nil, err
	}
	grown, err := s.spansOf(c.grown)
	if err != nil {
		return nil, err
	}
	core, whole := sumsOf(cores, c.cores.Len()), sumsOf(grown, c.cores.Len())
	accepted := make([]bool, len(whole))
	for i := range whole {
		n := whole[i].N
		accepted[i] = n >= int64(p.MinArea) && n <= int64(p.MaxArea) && n > 0 &&
			core[i].Elongation() <= p.MaxElongation
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
func (s *planes) refine(
	l light, c candidates, accepted []bool, p processing.Params,
) (spans []processing.Span, err error) {
	if !slices.Contains(accepted, true) {
		return nil, nil
	}
	if err := s.do(processing.FilterComponents{Components: c.grown, Keep: accepted}); err != nil {
		return nil, err
	}
	if err := s.plan.mark(s, c.marks, c.grown); err != nil {
		return nil, err
	}
	if err := s.plan.classify(s, classes(l, c, p)); err != nil {
		return nil, err
	}
	err = s.stage(stageComponents(), func() error {
		if err := s.do(processing.FilterComponents{Components: c.cores, Keep: accepted}); err != nil {
			return err
		}
		grow := processing.Grow{Cores: c.cores, Class: c.class, Growth: growthOf(p)}
		grown, err := processing.Evaluate(s.ctx, s.be, grow)
		if err != nil {
			return err
		}
		defer grown.Release()
		spans, err = s.spansOf(grown)
		return err
	})
	return spans, err
}

// ClassicReach returns how far around a part of a picture DetectClassic looks, in pixels: as far as the windows of all
// its steps together, for one pass of the search. Pixels beyond matter only through chains of touching findings, and
// each link only through a small share of a window: on rendered glare, with each parameter at its minimum, middle and
// maximum, one pass was enough to give the mask of the whole picture.
func ClassicReach(p processing.Params) int { return searchReach(p.Resolved(), 1) }

// searchReach returns how far the first estimate and a number of passes look: the background's widest window, the
// seeds, the growth.
func searchReach(p processing.Params, passes int) int {
	radii := backgroundRadii(p)
	pass := radii[len(radii)-1] + radiusOf(p, 4) + int(math.Ceil(growthOf(p).Limit)) + 1
	return 3*radiusOf(p, 12) + 3 + passes*pass
}

// noiseTile is the side of the tiles whose noise is measured, in pixels.
const noiseTile = 64

// noise estimates the noise of a plane in levels: the lower quartile over tiles of the estimate from their finest
// wavelet band. Canvas and brush work fill that band in most tiles of a painting, and the quartile keeps them out.
func (s *planes) noise(v processing.Plane) (float64, error) {
	tiles, err := processing.Evaluate(s.ctx, s.be, processing.NoiseTiles{Src: v, Side: noiseTile})
	if err != nil || len(tiles) == 0 {
		return 0, err
	}
	slices.Sort(tiles)
	return tiles[len(tiles)/4], nil
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
	radii := backgroundRadii(c.Params)
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
