package detect

import (
	"blik/internal/message"
	"blik/processing"
)

// plan is what backends do in different ways. All plans give the same results.
type plan interface {
	// find returns the colours of a picture and its components by the network.
	find(s *planes, pic *processing.Picture, o *Options) (rgb [3]processing.Plane, f found, err error)
	// allocMarks returns a plane of pixels that the background leaves out, 255, and others, 0.
	allocMarks(s *planes, w, h int) (processing.Plane, error)
	// estimate carries out op.
	estimate(s *planes, op processing.FirstEstimate) error
	// classify carries out op, in stages.
	classify(s *planes, op processing.Classify) error
	// mark marks the pixels of components and their neighbours, and no others.
	mark(s *planes, marks processing.Plane, c processing.Components) error
}

func planOf(be processing.Backend) plan {
	switch be := be.(type) {
	case processing.Frugal:
		return fused{be: be}
	case processing.GlintFinder:
		return atOnce{finder: be}
	}
	return stepwise{}
}

// stepwise carries out one operation after the other.
type stepwise struct{}

func (stepwise) find(
	s *planes, pic *processing.Picture, o *Options,
) (rgb [3]processing.Plane, f found, err error) {
	end := o.stage(s.be, message.Of("colours"), 0)
	rgb, err = s.colours(pic)
	end()
	if err != nil {
		return rgb, found{}, err
	}
	end = o.stage(s.be, message.Of("network"), 0.05)
	logits, kinds, err := s.glints(rgb, o.Network, func(done float64) {
		o.progress(message.Of("network"), 0.05+0.89*done)
	})
	end()
	if err != nil {
		return rgb, found{}, err
	}
	defer o.stage(s.be, message.Of("components"), 0.95)()
	f, err = s.measure(rgb, logits, kinds)
	return rgb, f, err
}

func (stepwise) allocMarks(s *planes, w, h int) (processing.Plane, error) {
	return s.alloc(processing.U8, w, h)
}

func (stepwise) estimate(s *planes, op processing.FirstEstimate) error {
	opened, mean, err := s.pair(op.Y)
	if err != nil {
		return err
	}
	defer opened.Release()
	defer mean.Release()
	return s.do(
		processing.Morph{Dst: opened, Src: op.Y, Op: processing.Open, Element: processing.Square(op.Radius)},
		processing.BoxMean{Dst: mean, Src: opened, Radius: op.Radius},
		processing.DifferenceThreshold{
			Dst: op.Exclude, Y: op.Y, Background: mean, V: op.V, Over: op.Over, Level: op.Level,
		},
		dilated(op.Exclude, op.Margin),
	)
}

func (stepwise) classify(s *planes, op processing.Classify) error {
	background, seed, err := s.pair(op.Y)
	if err != nil {
		return err
	}
	defer background.Release()
	defer seed.Release()
	if err := s.stage(stageBackground(), func() error {
		return s.do(processing.Background{Dst: background, Y: op.Y, Exclude: op.Exclude, Radii: op.Radii})
	}); err != nil {
		return err
	}
	return s.stage(stageCores(), func() error {
		return s.do(
			processing.Contrast{
				Class: op.Class, Seed: seed, Y: op.Y, Background: background, V: op.V, Rule: op.Contrast,
			},
			dilated(seed, op.PeakRadius),
			processing.Cores{Class: op.Class, Y: op.Y, Background: background, Peak: seed, Rule: op.Cores},
		)
	})
}

func (stepwise) mark(s *planes, marks processing.Plane, c processing.Components) error {
	return s.do(processing.Rasterize{Dst: marks, Components: c}, dilated(marks, 1))
}

// pair allocates two planes (U16) as large as p.
func (s *planes) pair(p processing.Plane) (a, b processing.Plane, err error) {
	w, h := p.Size()
	if a, err = s.alloc(processing.U16, w, h); err == nil {
		b, err = s.alloc(processing.U16, w, h)
	}
	return a, b, err
}

// dilated dilates a plane by a square, in place.
func dilated(p processing.Plane, radius int) processing.Op {
	return processing.Morph{Dst: p, Src: p, Op: processing.Dilate, Element: processing.Square(radius)}
}

// fused fuses operations of the classical search, and marks pixels in bits.
type fused struct {
	stepwise
	be processing.Frugal
}

func (f fused) allocMarks(s *planes, w, h int) (processing.Plane, error) {
	return s.keep(f.be.AllocMarks(w, h))
}

func (f fused) estimate(s *planes, op processing.FirstEstimate) error {
	return f.be.FirstEstimate(s.ctx, op)
}

func (f fused) classify(s *planes, op processing.Classify) error {
	return s.stage(stageClasses(), func() error { return f.be.Classify(s.ctx, op) })
}

func (f fused) mark(s *planes, marks processing.Plane, c processing.Components) error {
	spans, err := s.spansOf(c)
	if err != nil {
		return err
	}
	return f.be.Mark(s.ctx, marks, spans, 1)
}

// atOnce goes from a picture to its components by the network in one call.
type atOnce struct {
	stepwise
	finder processing.GlintFinder
}

func (a atOnce) find(
	s *planes, pic *processing.Picture, o *Options,
) (rgb [3]processing.Plane, f found, err error) {
	var p [5]processing.Plane
	for i := range p {
		if p[i], err = s.alloc(processing.U8, pic.Width, pic.Height); err != nil {
			return rgb, found{}, err
		}
	}
	copy(rgb[:], p[:])
	defer o.stage(s.be, message.Of("components"), 0)()
	f.spans, f.props, err = a.finder.FindGlints(s.ctx, processing.Luminance{
		Red: p[0], Green: p[1], Blue: p[2], Picture: pic, Tables: pic.Tables(),
	}, processing.Glints{
		Dst: p[3], Kinds: p[4], Red: p[0], Green: p[1], Blue: p[2], Model: o.Network,
	}, message.Of("network").String())
	return rgb, f, err
}
