package synth

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"blik/internal/simd"
	"blik/processing"
)

// Example is a picture for training a detector.
type Example struct {
	// Kind is one of ExampleKinds. Condition is the relief condition if the kind is "condition", the preset of Presets
	// if it is "spots", and "altered" if a clean painting got strokes, dabs or cracks.
	Kind      string `json:"kind"`
	Condition string `json:"condition,omitempty"`
	Seed      uint64 `json:"seed"`
	// X, Y, Width and Height are the part of the painting that was used.
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Stats  Stats   `json:"stats"`

	Picture *processing.Picture `json:"-"`
	// Truth has the three levels of RenderRelief, by StrictTruth.
	Truth *processing.Mask `json:"-"`
}

// ExampleKinds lists the kinds of examples and their shares: glints from a relief with options at random (VariedRelief)
// or by a named condition, single drawn glints (RenderGlare), and paintings without glare.
func ExampleKinds() (kinds []string, shares []float64) {
	return []string{"varied", "condition", "spots", "clean", "plain"}, []float64{0.1, 0.45, 0.11, 0.34, 0}
}

// NewExample renders an example of w × h pixels on a random part of the painting, at random scale. Everything is
// determined by the seed; with an empty kind it also chooses the kind.
func NewExample(
	ctx context.Context, painting *processing.Picture, w, h int, kind string, seed uint64,
) (*Example, error) {
	if err := painting.Validate(); err != nil {
		return nil, fmt.Errorf("training example: %w", err)
	}
	if w < 64 || h < 64 || painting.Channels > 3 {
		return nil, fmt.Errorf("training example: at least 64 × 64 pixels of a picture in grey or RGB expected")
	}
	g := stream(seed, 0x747261696e)
	kinds, shares := ExampleKinds()
	if choice := kinds[pick(g, shares...)]; kind == "" {
		kind = choice
	}
	e := &Example{Kind: kind, Seed: seed}
	part := e.excerpt(g, painting, w, h)
	o := VariedRelief(seed)
	var err error
	switch kind {
	case "varied":
	case "condition":
		names := ReliefConditions()
		e.Condition = names[g.IntN(len(names))]
		if o, err = ReliefCondition(e.Condition); err != nil {
			return nil, err
		}
		o.Seed, o.Truth = seed, StrictTruth()
		o.Relief.ThreadPitch = Range{5, 9}.uniform(g)
		o.Lit *= simd.Exp(0.6 * g.NormFloat64())
		o.Lens *= Range{0.8, 1.4}.uniform(g)
	case "spots":
		return e, e.drawSpots(ctx, g, part, o)
	case "clean":
		o.Lamps = nil
		// Half of the clean pictures get only camera noise.
		if g.IntN(2) == 0 {
			o.Shading, o.Relief.CrackPitch, o.Dabs, o.StrokeWidth = 0, 0, 0, 0
		} else {
			e.Condition = "altered"
		}
	case "plain":
		e.Picture, e.Truth = part, processing.NewMask(w, h)
		return e, nil
	default:
		return nil, fmt.Errorf("no kind of example is called %q; there are %q", kind, kinds)
	}
	e.Picture, e.Truth, e.Stats, err = RenderRelief(ctx, part, o)
	return e, err
}

// excerpt takes a part of the painting: half of the parts at its own resolution, a sixth as large as possible, the
// others in between.
func (e *Example) excerpt(g *rand.Rand, painting *processing.Picture, w, h int) *processing.Picture {
	fit := math.Min(float64(painting.Width)/float64(w), float64(painting.Height)/float64(h))
	scale, choice := math.Min(fit, 1), g.IntN(6)
	between := Range{scale, fit}.logUniform(g)
	switch choice {
	case 0:
		scale = fit
	case 1, 2:
		scale = between
	}
	e.Width, e.Height = scale*float64(w), scale*float64(h)
	e.X, e.Y = g.Float64()*(float64(painting.Width)-e.Width), g.Float64()*(float64(painting.Height)-e.Height)
	if scale == 1 {
		e.X, e.Y = math.Floor(e.X), math.Floor(e.Y)
	}
	return resampled(painting, e.X, e.Y, scale, w, h)
}

// resampled returns w × h pixels in 8-bit sRGB. Each is the mean in linear light of a square of side scale; the corner
// of the first square is at (x0, y0).
func resampled(pic *processing.Picture, x0, y0, scale float64, w, h int) *processing.Picture {
	from := newCurve(pic.Depth(), pic.Transfer)
	to := newCurve(8, processing.TransferSRGB)
	out := &processing.Picture{Width: w, Height: h, Channels: pic.Channels, U8: make([]uint8, w*h*pic.Channels)}
	ch, n := pic.Channels, int(math.Ceil(scale))
	top := max(int(y0-0.5), 0)
	rows := make([]float32, 0, (int(scale*float64(h))+4)*pic.Width*ch)
	for y := top; y < min(int(y0+scale*float64(h))+2, pic.Height); y++ {
		rows = rows[:len(rows)+pic.Width*ch]
		from.decodeRow(rows[len(rows)-pic.Width*ch:], pic, y)
	}
	bottom := top + len(rows)/(pic.Width*ch) - 1
	at := func(x, y, c int) float32 {
		x, y = min(max(x, 0), pic.Width-1), min(max(y, top), bottom)
		return rows[((y-top)*pic.Width+x)*ch+c]
	}
	line := make([]float32, w*ch)
	for y := range h {
		clear(line)
		for k := range n * n {
			v := y0 + scale*(float64(y)+(float64(k/n)+0.5)/float64(n)) - 0.5
			j := int(math.Floor(v))
			fv := float32(v - float64(j))
			for x := range w {
				u := x0 + scale*(float64(x)+(float64(k%n)+0.5)/float64(n)) - 0.5
				i := int(math.Floor(u))
				fu := float32(u - float64(i))
				for c := range ch {
					a := at(i, j, c) + (at(i+1, j, c)-at(i, j, c))*fu
					b := at(i, j+1, c) + (at(i+1, j+1, c)-at(i, j+1, c))*fu
					line[x*ch+c] += a + (b-a)*fv
				}
			}
		}
		for i := range line {
			line[i] /= float32(n * n)
		}
		to.encodeRow(out, y, line)
	}
	return out
}

// drawSpots renders single glints of random settings instead of a relief.
func (e *Example) drawSpots(ctx context.Context, g *rand.Rand, part *processing.Picture, o ReliefOptions) error {
	names := Presets()
	e.Condition = names[g.IntN(len(names))]
	spots, err := Preset(e.Condition)
	if err != nil {
		return err
	}
	o.Lamps = nil
	ground := newGround(&o, linearPlane(part, o.Grey), newCurve(8, part.Transfer)).light
	linear := &processing.Picture{
		Width: ground.w, Height: ground.h, Channels: ground.ch, Transfer: processing.TransferLinear, F32: ground.pix,
	}
	spots.Seed, spots.NoiseGain, spots.NoiseRead = e.Seed, 0, 0
	// At most 4,000 glints: more of the largest presets would cover the picture.
	spots.Density = math.Min(spots.Density*simd.Exp(0.6*g.NormFloat64()), 4000)
	spots.Scale = Range{0.5, 1.2}.uniform(g)
	shone, _, _, err := RenderGlare(ctx, linear, spots)
	if err != nil {
		return err
	}
	light := ground.like(shone.F32)
	e.Truth, e.Stats = o.Truth.compare(ground, light)
	e.Picture, err = develop(light, e.Seed, o.NoiseGain, o.NoiseRead, o.JPEGQuality, part)
	return err
}
