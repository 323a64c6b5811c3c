package processing

import (
	"image"

	"blik/processing/network"
)

// Part is a part of a picture with the surroundings that detection needs: Detect of a Part finds there what Detect of
// the whole picture would.
type Part struct {
	// Picture is a copy of Area, the part with its surroundings; Options are those of its detection.
	Picture *Picture
	Options Options
	Area    image.Rectangle

	inside image.Rectangle
}

// NewPart cuts a part out of a picture for detection with p and o. The noise of the whole picture is taken from
// o.Memory, if that holds it; progress is reported to o.Progress. ok is false if the region of o does not touch the
// part.
//
// The surroundings are as wide as the windows of all steps of detection together. Pixels beyond them matter only
// through chains of touching findings, and each link only through a small share of a window.
func NewPart(pic *Picture, p Params, o Options, inside image.Rectangle) (part *Part, ok bool, err error) {
	whole := image.Rect(0, 0, pic.Width, pic.Height)
	inside = inside.Intersect(whole)
	around, err := surroundings(pic, p, o)
	if err != nil {
		return nil, false, err
	}
	grain := around.grain
	area := inside.Inset(-around.reach)
	area.Min.X, area.Min.Y = max(area.Min.X, 0)/grain*grain, max(area.Min.Y, 0)/grain*grain
	area = area.Intersect(whole)
	if inside.Empty() {
		return nil, false, nil
	}
	o.cutting = &cutting{
		whole: pic, inside: inside.Inset(-around.cleanup).Intersect(whole), at: area.Min, reach: around.candidates,
		network: around.network, grain: grain, light: area.Inset(-around.light).Intersect(whole),
	}
	if known := around.exposure; known != nil {
		o.exposure = known.part(area.Min.X/whiteSide, area.Min.Y/whiteSide, area.Dx(), area.Dy())
	}
	if o.Memory != nil && o.Memory.filled && o.Memory.of.pic == pic {
		o.noise = &o.Memory.noise
	}
	o.Memory = nil
	if o.Region != nil {
		moved := &Region{Shape: o.Region.Shape}
		for _, at := range o.Region.Points {
			moved.Points = append(moved.Points, Point{at.X - float64(area.Min.X), at.Y - float64(area.Min.Y)})
		}
		if o.Region = moved; moved.Validate(area.Dx(), area.Dy()) != nil {
			return nil, false, nil
		}
	}
	return &Part{
		Picture: pic.Part(area.Min.X, area.Min.Y, area.Dx(), area.Dy()), Options: o, Area: area, inside: inside,
	}, true, nil
}

// Mask cuts the mask of the part itself out of the result of its detection. It also returns the place of the mask's
// first pixel in the picture.
func (p *Part) Mask(r *Result) (*Mask, image.Point) {
	m := NewMask(p.inside.Dx(), p.inside.Dy())
	for y := range m.Height {
		from := (p.inside.Min.Y-p.Area.Min.Y+y)*r.Mask.Width + p.inside.Min.X - p.Area.Min.X
		copy(m.Pix[y*m.Width:][:m.Width], r.Mask.Pix[from:])
	}
	return m, p.inside.Min
}

// surrounded says what detection of a part of a picture depends on; distances are in pixels.
type surrounded struct {
	// reach is how far around the part detection looks. It comprises cleanup, within which findings matter, and how far
	// the candidates of one size look, candidates; those of the network alone look as far as network.
	reach, cleanup, candidates, network int
	// light is how far around all that white is looked for; 0 if exposure is known: how the picture is brightened.
	light    int
	exposure *exposure
	// grain is what the place of the part with its surroundings must be a multiple of.
	grain int
}

// surroundings returns what detection of a part of pic with p and o depends on.
func surroundings(pic *Picture, p Params, o Options) (s surrounded, err error) {
	if p.Mode == Adaptive {
		p = adaptive(p)
	}
	decision := o.Decision
	if decision == nil {
		if decision, err = DefaultDecision(); err != nil {
			return s, err
		}
	}
	rule := p.Detector.resolve(p.Mode, decision).rule()
	d := &detector{p: p, ruleID: rule}
	s.grain = neighbourhood
	if rule != RuleNetwork {
		radii := d.backgroundRadii()
		// The first estimate, and what one pass needs: the background's widest window, the seeds, the growth.
		first := 3*d.radius(12) + 3
		pass := radii[len(radii)-1] + d.radius(4) + int(d.growth().Limit) + 1
		s.candidates = first + searchPasses*pass
	}
	if rule != RuleClassic {
		model := o.Network
		if model == nil {
			if model, err = network.Default(); err != nil {
				return s, err
			}
		}
		s.network = model.Reach()
		s.candidates = max(s.candidates, s.network)
		for side := s.grain; s.grain%model.Grain() != 0; {
			s.grain += side
		}
	}
	// What measures look at around a candidate: counts in windows, and neighbours two squares away with their pixels.
	measures := max(d.radius(32), 4*neighbourhood)
	s.candidates += measures
	s.network += measures
	s.cleanup = 2*p.Open + 2*p.Close + p.Margin + int(4*p.Feather) + 1
	s.reach = s.candidates + s.cleanup
	if r, ok := d.whiteRule(); ok {
		// The squares whose centres surround a pixel.
		s.reach += whiteSide
		if s.exposure = o.Memory.exposed(pic, rule, p.Mode); s.exposure == nil {
			s.light = (r.reach + 1) * whiteSide
		}
	}
	return s, nil
}

// searchPasses is the number of passes of the search that the surroundings cover. On rendered glare, with each
// parameter at its minimum, middle and maximum, one was enough to give the mask of the whole picture; without any,
// single pixels differed.
const searchPasses = 1
