package detect

import (
	"context"
	"errors"
	"image"
	"math"

	"blik/internal/span"
	"blik/processing"
)

// Touched is a glint that was found at a place in the picture.
type Touched struct {
	// Mask is the mask of a part of the picture, whose first pixel lies at (Left, Top). It is cleaned up as the
	// parameters say, but not opened: what the user points at is not a speck.
	Mask      *processing.Mask
	Left, Top int
	// Runs are the pixels of the glint before cleanup, in coordinates of the picture, in reading order.
	Runs []processing.Run
}

// TouchOptions are the options of Touch besides the parameters.
type TouchOptions struct {
	// X and Y are the place; Slack is how far from it the glint may lie, in pixels.
	X, Y, Slack float64
	// Table, if not nil, is that of a detection of the same picture.
	Table *Table
	// Taken, if not nil, has the size of the picture; glints that it marks are not found again.
	Taken *processing.Mask
}

// ErrNoGlint is the error of Touch if nothing is brighter than its surroundings.
var ErrNoGlint = errors.New("nothing is brighter than its surroundings here")

const (
	// touchReach is how far a glint may extend from the pixel that it is grown from.
	touchReach = 30
	// touchRise is the smallest rise over the ground, in levels.
	touchRise = 4
)

// touchShares are the shares of the rise, in per cent, down to which a glint is followed. The first is that of the
// outline; the others serve glints on bright ground, where the first one would spread without end.
var touchShares = [...]int{grow, 60, 70, 80, 90}

// Touch finds the glint that the user points at: the component of the table with the pixel that is nearest within the
// slack, or else the pixels around the brightest one within the slack that are connected with it and rise as high as an
// outline does. The error is ErrNoGlint if nothing rises.
func Touch(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params, o TouchOptions,
) (*Touched, error) {
	if err := valid(pic, p); err != nil {
		return nil, err
	}
	// NaN fails this, too.
	if !(o.X >= 0 && o.Y >= 0 && o.X < float64(pic.Width) && o.Y < float64(pic.Height) && o.Slack >= 0) {
		return nil, ErrNoGlint
	}
	spans := o.considered()
	t := &Touched{}
	if spans == nil {
		var err error
		if spans, err = o.grown(ctx, pic); err != nil {
			return nil, err
		}
	}
	for _, s := range spans {
		t.Runs = append(t.Runs, processing.Run{Y: int(s.Y), X0: int(s.X0), X1: int(s.X1)})
	}
	return t, t.cleanUp(ctx, be, pic, p, spans)
}

// distance returns how far the centre of a pixel is from the place; 0 for the pixel that holds it.
func (o *TouchOptions) distance(x, y int) float64 {
	if x == int(o.X) && y == int(o.Y) {
		return 0
	}
	return math.Hypot(float64(x)+0.5-o.X, float64(y)+0.5-o.Y)
}

func (o *TouchOptions) taken(x, y int) bool {
	return o.Taken != nil && o.Taken.Pix[y*o.Taken.Width+x] >= processing.MaskLevel
}

// considered returns the pixels of the component that is nearest; nil if there is none.
func (o *TouchOptions) considered() []processing.Span {
	if o.Table == nil {
		return nil
	}
	best, label := math.Inf(1), uint32(0)
	for _, s := range o.Table.spans {
		if math.Abs(float64(s.Y)+0.5-o.Y) > o.Slack+1 {
			continue
		}
		x := min(max(int(o.X), int(s.X0)), int(s.X1)-1)
		if d := o.distance(x, int(s.Y)); d <= o.Slack && d < best && !o.taken(x, int(s.Y)) {
			best, label = d, s.Label
		}
	}
	if math.IsInf(best, 1) {
		return nil
	}
	return o.Table.Components[label].Spans
}

// grown returns the glint that is grown from the brightest pixel within the slack.
func (o *TouchOptions) grown(ctx context.Context, pic *processing.Picture) ([]processing.Span, error) {
	slack := int(math.Ceil(min(o.Slack, touchReach)))
	margin := slack + touchReach + 2
	x, y := int(o.X), int(o.Y)
	at := image.Rect(x-margin, y-margin, x+margin+1, y+margin+1).Intersect(image.Rect(0, 0, pic.Width, pic.Height))
	part, err := pic.Part(at.Min.X, at.Min.Y, at.Dx(), at.Dy()).InSRGB(ctx)
	if err != nil {
		return nil, err
	}
	w, h := part.Width, part.Height
	l := newLevels(part)
	level := l.window(nil, 0, 0, w, h)
	seed := -1
	for i, v := range level {
		u, t := i%w+at.Min.X, i/w+at.Min.Y
		if o.distance(u, t) <= min(o.Slack, touchReach) && !o.taken(u, t) && (seed < 0 || v > level[seed]) {
			seed = i
		}
	}
	if seed < 0 {
		return nil, ErrNoGlint
	}
	free := span.NewSet(w, h)
	ground := int((&grounds{levels: l, taken: free}).around(image.Pt(seed%w, seed/w), touchReach))
	rise := int(level[seed]) - ground
	if rise < touchRise {
		return nil, ErrNoGlint
	}
	for _, share := range touchShares {
		spans := flood(level, w, seed, ground+(share*rise+99)/100)
		if spans == nil {
			continue
		}
		for i := range spans {
			spans[i].X0 += int32(at.Min.X)
			spans[i].X1 += int32(at.Min.X)
			spans[i].Y += int32(at.Min.Y)
		}
		return spans, nil
	}
	return nil, ErrNoGlint
}

// flood returns the pixels of at least a level that are 8-connected with the seed, in reading order; nil if they extend
// beyond touchReach.
func flood(level []uint8, w, seed, least int) []processing.Span {
	h := len(level) / w
	reached := make([]uint8, len(level))
	reached[seed] = kept
	for queue := []int{seed}; len(queue) > 0; {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		x, y := at%w, at/w
		if max(x-seed%w, seed%w-x, y-seed/w, seed/w-y) > touchReach {
			return nil
		}
		for v := max(y-1, 0); v <= min(y+1, h-1); v++ {
			for u := max(x-1, 0); u <= min(x+1, w-1); u++ {
				if i := v*w + u; reached[i] == 0 && int(level[i]) >= least {
					reached[i] = kept
					queue = append(queue, i)
				}
			}
		}
	}
	return span.Append(nil, reached, w, 0, h, kept)
}

// cleanUp makes the mask of a glint as detection would, but does not open it.
func (t *Touched) cleanUp(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params, spans []processing.Span,
) (err error) {
	p.Open = 0
	s := processing.NewSums()
	for _, r := range spans {
		s.Add(r)
	}
	around := cleanupReach(p) + 2
	t.Left, t.Top = max(int(s.Left)-around, 0), max(int(s.Top)-around, 0)
	own := make([]processing.Span, len(spans))
	for i, r := range spans {
		own[i] = processing.Span{Y: r.Y - int32(t.Top), X0: r.X0 - int32(t.Left), X1: r.X1 - int32(t.Left)}
	}
	w, h := min(int(s.Right)+around, pic.Width)-t.Left, min(int(s.Base)+around, pic.Height)-t.Top
	t.Mask = processing.NewMask(w, h)
	return CleanUp(ctx, be, t.Mask, own, p, nil)
}
