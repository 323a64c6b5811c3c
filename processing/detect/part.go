package detect

import (
	"image"

	"blik/processing"
	"blik/processing/network"
)

// Part is a part of a picture with the surroundings that detection needs: Detect of a Part finds there what Detect of
// the whole picture would.
type Part struct {
	// Picture is a copy of Area, the part with its surroundings; Options are those of its detection.
	Picture *processing.Picture
	Options Options
	Area    image.Rectangle

	inside image.Rectangle
}

const (
	// partGrain is what the place of a part must be a multiple of, as the network sees it: the side of its coarsest
	// cells.
	partGrain = 16
	// partComponent is how far a component may extend beyond the part before its strength, or its ground, is that of a
	// cut one.
	partComponent = 32
)

// NewPart cuts a part out of a picture for detection with p and o; progress is reported to o.Progress. ok is false if
// the part lies outside the picture, or if the region of o does not touch it.
func NewPart(
	pic *processing.Picture, p processing.Params, o Options, inside image.Rectangle,
) (part *Part, ok bool, err error) {
	whole := image.Rect(0, 0, pic.Width, pic.Height)
	if inside = inside.Intersect(whole); inside.Empty() {
		return nil, false, nil
	}
	around, err := partReach(p, o)
	if err != nil {
		return nil, false, err
	}
	if o.scale = sharp; p.UsesNetwork() {
		o.scale = scaleOf(pic)
	}
	area := inside.Inset(-o.scale.pixel(around))
	grain := o.scale.pixel(partGrain)
	area.Min.X, area.Min.Y = max(area.Min.X, 0)/grain*grain, max(area.Min.Y, 0)/grain*grain
	area = area.Intersect(whole)
	o.Table = nil
	if o.Region != nil {
		moved := &processing.Region{Shape: o.Region.Shape}
		for _, at := range o.Region.Points {
			moved.Points = append(moved.Points,
				processing.Point{X: at.X - float64(area.Min.X), Y: at.Y - float64(area.Min.Y)})
		}
		if o.Region = moved; moved.Validate(area.Dx(), area.Dy()) != nil {
			return nil, false, nil
		}
	}
	return &Part{
		Picture: pic.Part(area.Min.X, area.Min.Y, area.Dx(), area.Dy()), Options: o, Area: area, inside: inside,
	}, true, nil
}

// partReach returns how far around a part detection looks, in pixels.
func partReach(p processing.Params, o Options) (int, error) {
	cleanup := cleanupReach(p) + 1
	if !p.UsesNetwork() {
		return ClassicReach(p) + cleanup, nil
	}
	model := o.Network
	if model == nil {
		var err error
		if model, err = network.Default(); err != nil {
			return 0, err
		}
	}
	company := (companyReach + 1) * companyCell
	return model.Reach() + partComponent + processing.GroundRadius + reach + company + cleanup, nil
}

// Mask cuts the mask of the part itself out of the result of its detection. It also returns the place of the mask's
// first pixel in the picture.
func (p *Part) Mask(r *Result) (*processing.Mask, image.Point) {
	m := processing.NewMask(p.inside.Dx(), p.inside.Dy())
	for y := range m.Height {
		from := (p.inside.Min.Y-p.Area.Min.Y+y)*r.Mask.Width + p.inside.Min.X - p.Area.Min.X
		copy(m.Pix[y*m.Width:][:m.Width], r.Mask.Pix[from:])
	}
	return m, p.inside.Min
}
