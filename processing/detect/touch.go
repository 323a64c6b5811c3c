package processing

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"blik/processing/internal/span"
	"blik/processing/internal/tones"
)

// Touched is a glint that was found at a place in the picture.
type Touched struct {
	// Mask is the mask of a part of the picture, whose first pixel lies at (Left, Top). It is cleaned up as the
	// parameters say, but not opened: what the user points at is not a speck.
	Mask      *Mask
	Left, Top int
	// Runs are the pixels of the glint before cleanup, in coordinates of the picture, in reading order.
	Runs []Run
	// Considered: detection had found it, and rejected it.
	Considered bool
}

// TouchOptions are the options of Touch besides the parameters.
type TouchOptions struct {
	// X and Y are the place; Slack is how far from it the glint may lie, in pixels.
	X, Y, Slack float64
	// Memory, if not nil, holds the candidates of a detection of the same picture with the same parameters.
	Memory *Memory
	// Taken, if not nil, has the size of the picture; glints that it marks are not found again.
	Taken *Mask
}

// ErrNoGlint is the error of Touch if nothing is brighter than its surroundings.
var ErrNoGlint = errors.New("nothing is brighter than its surroundings here")

// leastRise is the smallest rise of a glint over its ground, as a share of white in linear light.
const leastRise = 0.01

// touchShares are the shares of the rise down to which a glint is followed. The first is that of detection; the others
// serve glints on bright ground, where the first one would spread without end.
var touchShares = [...]float64{0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// Touch finds the glint that the user points at, starting from the pixel nearby that rises most. That is the candidate
// of detection at that pixel, or else the connected pixels that rise over the ground by the outline rule. The error is
// ErrNoGlint if nothing rises.
func Touch(ctx context.Context, be Backend, pic *Picture, p Params, o TouchOptions) (*Touched, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	// NaN fails this, too.
	if !(o.X >= 0 && o.Y >= 0 && o.X < float64(pic.Width) && o.Y < float64(pic.Height) && o.Slack >= 0) {
		return nil, ErrNoGlint
	}
	if p.Mode == Adaptive {
		p = adaptive(p)
	}
	g, err := newGrower(ctx, pic, p, o)
	if err != nil {
		return nil, err
	}
	t := &Touched{}
	ground, ok := g.seed(o.X-float64(g.left), o.Y-float64(g.top), min(o.Slack, float64(g.reach)))
	if !ok {
		return nil, ErrNoGlint
	}
	spans := considered(o.Memory, int32(g.left+g.seedX), int32(g.top+g.seedY))
	if t.Considered = spans != nil; !t.Considered {
		spans = g.grow(ground)
	}
	if len(spans) == 0 {
		return nil, ErrNoGlint
	}
	for _, s := range spans {
		t.Runs = append(t.Runs, Run{int(s.Y), int(s.X0), int(s.X1)})
	}
	return t, t.cleanUp(ctx, be, pic, p, spans)
}

// considered returns the pixels of the candidate that holds pixel (x, y), nil if there is none.
func considered(m *Memory, x, y int32) []Span {
	if m == nil || !m.filled {
		return nil
	}
	for i := range m.cands {
		for _, s := range m.cands[i].spans {
			if s.Y == y && s.X0 <= x && x < s.X1 {
				return m.cands[i].spans
			}
		}
	}
	return nil
}

// grower grows a glint in a part of a picture whose first pixel is (left, top).
type grower struct {
	surveyor
	left, top, reach int
	lights           []light
	level            func(*light) float64
	// seedX and seedY are the pixel that it grows from; taken reports whether a pixel cannot be that.
	seedX, seedY int
	taken        func(x, y int) bool
}

func newGrower(ctx context.Context, pic *Picture, p Params, o TouchOptions) (*grower, error) {
	d := detector{p: p}
	reach := max(int(d.growth().Limit), 1)
	x, y := int(o.X), int(o.Y)
	margin := 2*reach + wideMargin
	left, top := max(x-margin, 0), max(y-margin, 0)
	part := pic.Part(left, top, min(x+margin+1, pic.Width)-left, min(y+margin+1, pic.Height)-top)
	part, err := part.inSRGB(ctx)
	if err != nil {
		return nil, err
	}
	g := &grower{
		surveyor: surveyor{
			pic: part, tables: part.Tables(), rule: d.outline(), w: part.Width, h: part.Height,
		},
		left: left, top: top, reach: reach, lights: make([]light, part.Width*part.Height),
		taken: func(x, y int) bool {
			return o.Taken != nil && o.Taken.Pix[(top+y)*o.Taken.Width+left+x] >= MaskLevel
		},
	}
	for row := range part.Height {
		g.read(g.lights[row*g.w:(row+1)*g.w], 0, row)
	}
	return g, nil
}

// grow grows the glint at the seed over a ground, and returns it in coordinates of the picture.
func (g *grower) grow(ground float64) []Span {
	for i, share := range touchShares {
		spans := g.follow(ground, share, i == 0)
		if spans == nil {
			continue
		}
		spans = g.outlined(spans)
		for i := range spans {
			s := &spans[i]
			s.X0, s.X1, s.Y = s.X0+int32(g.left), s.X1+int32(g.left), s.Y+int32(g.top)
		}
		return spans
	}
	return nil
}

// seed chooses the pixel within the slack that rises most over the median, in luminance or in the darkest channel, and
// returns that median as the ground; ok is false if all are taken.
func (g *grower) seed(x, y, slack float64) (ground float64, ok bool) {
	best := math.Inf(-1)
	values := make([]float64, len(g.lights))
	for _, level := range []func(*light) float64{
		func(p *light) float64 { return float64(p.y) }, func(p *light) float64 { return float64(p.dark) },
	} {
		for i := range g.lights {
			values[i] = level(&g.lights[i])
		}
		middle := median(values)
		for v := range g.pic.Height {
			for u := range g.pic.Width {
				near := u == int(x) && v == int(y) || math.Hypot(float64(u)+0.5-x, float64(v)+0.5-y) <= slack
				if !near || g.taken(u, v) {
					continue
				}
				if rise := level(&g.lights[v*g.w+u]) - middle; rise > best {
					best, ground, g.level, g.seedX, g.seedY = rise, middle, level, u, v
				}
			}
		}
	}
	return ground, g.level != nil
}

// median returns the median of values, and sorts them.
func median(values []float64) float64 {
	slices.SortFunc(values, cmp.Compare)
	return values[len(values)/2]
}

// follow returns the pixels connected with the seed that rise by a share of the largest rise among them, or if byRule
// by what detection asks for, if that is less. The ground is measured again around them. It returns nil if they extend
// beyond the reach, or do not rise.
func (g *grower) follow(ground, share float64, byRule bool) []Span {
	var spans []Span
	high := g.level(&g.lights[g.seedY*g.w+g.seedX]) - ground
	const passes = 3
	for range passes {
		if high < leastRise*white {
			return nil
		}
		least := float64(share * high)
		if byRule {
			least = min(least, max(g.rule.absolute*white, g.rule.relative*ground))
		}
		var ends bool
		if spans, ends = g.flood(ground + least); !ends || len(spans) == 0 {
			return nil
		}
		shape := NewSums()
		for _, s := range spans {
			shape.Add(s)
		}
		g.window(&shape, spans, nearMargin)
		var around tones.Sum
		top := 0.
		for i, own := range g.own {
			if own == 0 {
				add(&around, &light{y: g.tones[i].Y(), dark: g.tones[i].Dark()})
			} else if own&inside != 0 {
				top = max(top, g.level(&light{y: g.tones[i].Y(), dark: g.tones[i].Dark()}))
			}
		}
		if around.N > 0 {
			mean := meanOf(&around)
			ground = g.level(&light{y: uint16(mean.y), dark: uint16(mean.dark)})
		}
		high = top - ground
		g.x0, g.y0, g.w, g.h = 0, 0, g.pic.Width, g.pic.Height
	}
	return spans
}

// flood returns the pixels above a level that are 8-connected with the seed, in reading order; ends is false if they
// extend beyond the reach.
func (g *grower) flood(above float64) (spans []Span, ends bool) {
	w, h := g.pic.Width, g.pic.Height
	if g.level(&g.lights[g.seedY*w+g.seedX]) <= above {
		return nil, true
	}
	reached := make([]uint8, w*h)
	queue := []int{g.seedY*w + g.seedX}
	reached[queue[0]] = 255
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		x, y := at%w, at/w
		if (x-g.seedX)*(x-g.seedX)+(y-g.seedY)*(y-g.seedY) > g.reach*g.reach {
			return nil, false
		}
		for v := max(y-1, 0); v <= min(y+1, h-1); v++ {
			for u := max(x-1, 0); u <= min(x+1, w-1); u++ {
				if i := v*w + u; reached[i] == 0 && g.level(&g.lights[i]) > above {
					reached[i] = 255
					queue = append(queue, i)
				}
			}
		}
	}
	return span.Append(nil, reached, w, 0, h, 255), true
}

// outlined drops the pixels outside the outline of a glint, and those that are then separate from the seed.
func (g *grower) outlined(spans []Span) []Span {
	_, kept := g.survey(spans, true)
	span.Connect(kept, span.Eight)
	own := slices.IndexFunc(kept, func(s Span) bool {
		return int(s.Y) == g.seedY && int(s.X0) <= g.seedX && g.seedX < int(s.X1)
	})
	if own < 0 {
		return spans
	}
	label := kept[own].Label
	return slices.DeleteFunc(kept, func(s Span) bool { return s.Label != label })
}

// cleanUp makes the mask of a glint as detection would, but does not open it.
func (t *Touched) cleanUp(ctx context.Context, be Backend, pic *Picture, p Params, spans []Span) error {
	p.Open = 0
	shape := NewSums()
	for _, s := range spans {
		shape.Add(s)
	}
	around := 2*p.Close + p.Margin + int(math.Ceil(4*p.Feather)) + 2
	t.Left, t.Top = max(int(shape.Left)-around, 0), max(int(shape.Top)-around, 0)
	d := &detector{
		ctx: ctx, be: be, p: p, w: min(int(shape.Right)+around, pic.Width) - t.Left,
		h: min(int(shape.Base)+around, pic.Height) - t.Top,
	}
	defer d.release()
	for _, plane := range []*Plane{&d.exclude, &d.cls} {
		var err error
		if *plane, err = d.plane(U8); err != nil {
			return err
		}
	}
	own := slices.Clone(spans)
	for i := range own {
		own[i].X0, own[i].X1, own[i].Y = own[i].X0-int32(t.Left), own[i].X1-int32(t.Left), own[i].Y-int32(t.Top)
	}
	t.Mask = NewMask(d.w, d.h)
	return d.cleanup(t.Mask, own, nil)
}
