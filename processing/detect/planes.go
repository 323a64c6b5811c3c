package detect

import (
	"context"
	"math"

	"blik/processing"
	"blik/processing/network"
)

// planes owns the planes of a search on its backend, and has the plan for that.
type planes struct {
	ctx  context.Context
	be   processing.Backend
	plan plan
	all  []processing.Plane
	// progress may be nil; done is the share of the classical search that is done.
	progress processing.Progress
	done     float64
}

func newPlanes(ctx context.Context, be processing.Backend, progress processing.Progress) *planes {
	return &planes{ctx: ctx, be: be, plan: planOf(be), progress: progress}
}

func (s *planes) release() {
	for _, p := range s.all {
		p.Release()
	}
}

// keep releases a new plane at the end.
func (s *planes) keep(p processing.Plane, err error) (processing.Plane, error) {
	if err == nil {
		s.all = append(s.all, p)
	}
	return p, err
}

func (s *planes) alloc(k processing.Kind, w, h int) (processing.Plane, error) {
	return s.keep(s.be.Alloc(k, w, h))
}

// do carries out operations one after the other.
func (s *planes) do(ops ...processing.Op) error {
	for _, op := range ops {
		if err := s.be.Do(s.ctx, op); err != nil {
			return err
		}
	}
	return nil
}

// colours returns red, green and blue of a picture in sRGB, coded in 8 bits.
func (s *planes) colours(pic *processing.Picture) (rgb [3]processing.Plane, err error) {
	for i := range rgb {
		if rgb[i], err = s.alloc(processing.U8, pic.Width, pic.Height); err != nil {
			return rgb, err
		}
	}
	return rgb, s.do(processing.Luminance{
		Red: rgb[0], Green: rgb[1], Blue: rgb[2], Picture: pic, Tables: pic.Tables(),
	})
}

// glints returns the network's logits above 0, in sixteenths, and the kind of each pixel; progress gets the share done.
func (s *planes) glints(
	rgb [3]processing.Plane, m *network.Model, progress func(done float64),
) (logits, kinds processing.Plane, err error) {
	w, h := rgb[0].Size()
	if logits, err = s.alloc(processing.U8, w, h); err != nil {
		return nil, nil, err
	}
	if kinds, err = s.alloc(processing.U8, w, h); err != nil {
		return nil, nil, err
	}
	return logits, kinds, s.do(processing.Glints{
		Dst: logits, Kinds: kinds, Red: rgb[0], Green: rgb[1], Blue: rgb[2], Model: m,
		Progress: progress,
	})
}

// found are the components of the pixels with a logit above 0: their pixels in reading order, labelled by the index of
// their properties.
type found struct {
	spans []processing.Span
	props []processing.GlintProps
}

// measure labels and measures the pixels with a logit above 0.
func (s *planes) measure(rgb [3]processing.Plane, logits, kinds processing.Plane) (found, error) {
	components, err := processing.Evaluate(s.ctx, s.be, processing.Label{Class: logits, Bits: 255})
	if err != nil {
		return found{}, err
	}
	defer components.Release()
	props, err := processing.Evaluate(s.ctx, s.be, processing.MeasureGlints{
		Components: components, Logits: logits, Kinds: kinds, Red: rgb[0], Green: rgb[1], Blue: rgb[2],
	})
	if err != nil {
		return found{}, err
	}
	spans, err := processing.Evaluate(s.ctx, s.be, processing.Spans{Components: components})
	return found{spans, props}, err
}

// describe gives each component of the table its vector; the colours are those of its cells. For the means of the
// channels, a sample of its pixels suffices.
func (s *planes) describe(t *Table, rgb [3]processing.Plane, m *network.Model, cells scale) error {
	const most = 16
	width, _ := rgb[0].Size()
	var index []uint32
	counts := make([]int, len(t.Components))
	for i := range t.Components {
		c := &t.Components[i]
		step, at := (c.Area+most-1)/most, 0
		for _, r := range c.Spans {
			for x := r.X0; x < r.X1; x++ {
				if at%step == 0 {
					index = append(index, uint32(cells.cell(int(r.Y))*width+cells.cell(int(x))))
					counts[i]++
				}
				at++
			}
		}
	}
	channels, err := processing.Evaluate(s.ctx, s.be, processing.GlintChannels{
		Red: rgb[0], Green: rgb[1], Blue: rgb[2], Model: m, Index: index,
	})
	if err != nil {
		return err
	}
	n := m.Hidden()
	for i := range t.Components {
		c := &t.Components[i]
		v := make([]float64, n, n+2)
		for range counts[i] {
			for k := range v {
				v[k] += float64(channels[k]) / float64(counts[i])
			}
			channels = channels[n:]
		}
		c.Vector = append(v, math.Log(c.Strength), float64(c.Rise))
	}
	t.Described = true
	return nil
}
