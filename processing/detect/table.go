package detect

import (
	"context"
	"image"
	"math"
	"sync"

	"blik/internal/parallel"
	"blik/internal/span"
	"blik/processing"
)

// Table holds the components of a picture that a decision may accept. It is not changed once it is made.
type Table struct {
	Width, Height int
	Components    []Component
	// Described: the components have vectors.
	Described bool

	// spans are those of all components in reading order, labelled by the index of the component. They may overlap.
	spans []processing.Span
}

// Component is a spot that the network found.
type Component struct {
	// Area is the number of its pixels, Spans are these in reading order.
	Area  int
	Spans []processing.Span
	// Strength is √evidence times its company, Shares are the shares of the sum of the logits by kind.
	Strength float64
	Shares   [GlintKinds]float64
	// Ground is the median level around its peak, Rise how far the peak rises above it, in lightness or, if dark, in
	// the darkest channel; Contrast is the same in linear light, 0…1.
	Ground, Rise int
	Contrast     float64
	dark         bool
	// Vector describes it for processing.Learned; nil unless Options.Vectors was set.
	Vector []float64
}

// Kind returns the kind with the largest share, the first one of equal shares.
func (c *Component) Kind() GlintKind {
	best := GlintKind(processing.KindGlare)
	for k, s := range c.Shares {
		if s > c.Shares[best] {
			best = GlintKind(k)
		}
	}
	return best
}

// Components whose logits sum up to less than leastSum, or that rise by less than leastRise levels, are never accepted.
const (
	leastSum  = 0.5
	leastRise = 30
)

// sumOf returns Σ logit of a component.
func sumOf(p *processing.GlintProps) float64 {
	return float64(total(p.Sums)) / network16
}

// evidence returns what speaks for a component whose outline has a number of pixels: the mean of its logits, because
// painted lights are rather large than sure; its contrast, which is its rise over its ground; and how large the sum of
// its logits is for its radius, because large glints are sure in all of their pixels.
func evidence(p *processing.GlintProps, ground, rise int, area float64) float64 {
	const (
		rim    = 5  // pixels that a component may have more or fewer, depending on the network's cells
		base   = 30 // sums far below it hardly count
		dark   = 16 // grounds that are darker count as little more than this
		finest = 1  // radius of the smallest disc that a lens draws
		broad  = 4  // radius from which on being larger says no more
		unit   = 36 // puts the default threshold near 10
	)
	sum := sumOf(p)
	contrast := float64(rise) / float64(ground+dark)
	radius := min(max(finest, math.Sqrt(area/math.Pi)), broad)
	dense := (1 + sum/base) / radius
	return unit * sum / float64(p.Area+rim) * math.Sqrt(contrast) * dense * math.Sqrt(dense)
}

// network16 is the logit that stands for 1 in the network's planes.
const network16 = 16

func total(logits [GlintKinds]uint64) (sum uint64) {
	for _, v := range logits {
		sum += v
	}
	return sum
}

// outlined makes the table of what was found on a picture in sRGB: spans of it, and properties measured in cells.
func outlined(ctx context.Context, pic *processing.Picture, f found, s scale) (*Table, error) {
	// The components that are kept, in their order.
	number, kept := make([]int32, len(f.props)), make([]*processing.GlintProps, 0, len(f.props))
	for i := range f.props {
		p := &f.props[i]
		if _, rise, _ := p.Rise(); sumOf(p) < leastSum || rise < leastRise {
			number[i] = -1
			continue
		}
		number[i] = int32(len(kept))
		kept = append(kept, p)
	}
	t := &Table{Width: pic.Width, Height: pic.Height, Components: make([]Component, len(kept))}
	var taken *span.Set
	var marked sync.WaitGroup
	marked.Go(func() {
		taken = span.NewSet(pic.Width, pic.Height)
		taken.Mark(0, f.spans)
	})
	own := span.Group(f.spans, len(kept), func(i int) int { return int(number[f.spans[i].Label]) })
	marked.Wait()
	// Where each lies, and its evidence.
	at, evidences := make([]image.Point, len(kept)), make([]float64, len(kept))
	const chunk = 16
	first := newLevels(pic)
	err := parallel.Chunks(ctx, len(own), chunk, func(from, to int) {
		o := outliner{levels: first.another(), taken: taken}
		for i := from; i < to; i++ {
			c := &t.Components[i]
			*c = newComponent(kept[i])
			o.levels.dark = c.dark
			c.Spans = o.outline(own[i], c.Ground, c.Rise)
			for k := range c.Spans {
				c.Spans[k].Label = uint32(i)
				c.Area += int(c.Spans[k].X1 - c.Spans[k].X0)
			}
			middle := middle(own[i])
			at[i] = image.Pt(s.cell(middle.X), s.cell(middle.Y))
			evidences[i] = evidence(kept[i], c.Ground, c.Rise, s.area(c.Area))
		}
	})
	if err != nil {
		return nil, err
	}
	var strengths sync.WaitGroup
	strengths.Go(func() {
		for i, others := range othersAround(s.cells(pic.Width), s.cells(pic.Height), at, evidences) {
			t.Components[i].Strength = math.Sqrt(evidences[i]) * company(others)
		}
	})
	sets := make([][]processing.Span, len(t.Components))
	for i := range sets {
		sets[i] = t.Components[i].Spans
	}
	t.spans = span.InReadingOrder(sets, pic.Height)
	strengths.Wait()
	return t, nil
}

// newComponent returns a component of what was measured, without its pixels and strength.
func newComponent(p *processing.GlintProps) (c Component) {
	c.Ground, c.Rise, c.dark = p.Rise()
	c.Contrast = contrast(c.Ground, c.Rise)
	for k, v := range p.Sums {
		c.Shares[k] = float64(v) / float64(total(p.Sums))
	}
	return c
}

// Serves reports whether a decision with the parameters needs no other table of the same picture.
func (t *Table) Serves(p processing.Params) bool {
	return t != nil && p.UsesNetwork() && (p.Learned == nil || t.Described)
}
