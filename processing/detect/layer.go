package detect

import (
	"context"
	"image"

	"blik/internal/message"
	"blik/processing"
	"blik/processing/network"
)

// LayerOptions are the options of Inspect besides the parameters.
type LayerOptions struct {
	Layer Layer
	// Rect is the part of the picture, clipped to it. Its surroundings are read as far as they matter.
	Rect image.Rectangle
	// Progress may be nil.
	Progress processing.Progress
	// Network and Decision are as in Options.
	Network  *network.Model
	Decision *processing.Decision
	// Table, if not nil, is that of a detection of the same picture.
	Table *Table
}

// Inspect computes a layer as detection does with the same parameters. It returns ctx.Err() within 100 ms of a cancel.
func Inspect(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params, o LayerOptions,
) (*LayerMap, error) {
	if o.Layer != LayerNetwork && o.Layer != LayerScore {
		return inspectClassic(ctx, be, pic, p, o)
	}
	// The network has no parameters but the learned shift.
	net := processing.DefaultParams()
	net.Learned = p.Learned
	of := Options{Progress: o.Progress, Network: o.Network, Decision: o.Decision}
	if err := of.complete(pic, net); err != nil {
		return nil, err
	}
	m, err := NewLayerMap(pic, o.Layer, o.Rect)
	if err != nil {
		return nil, err
	}
	if o.Layer == LayerNetwork {
		return m, logits(ctx, be, pic, of, m)
	}
	t := o.Table
	if !t.Serves(net) {
		if t, err = Search(ctx, be, pic, of); err != nil {
			return nil, err
		}
	}
	t.draw(m, of.Decision, net.Learned)
	return m, nil
}

// logits writes the network's logits.
func logits(
	ctx context.Context, be processing.Backend, pic *processing.Picture, o Options, m *LayerMap,
) error {
	o.scale = scaleOf(pic)
	part := m.Rect.Inset(-o.scale.pixel(o.Network.Reach())).Intersect(image.Rect(0, 0, pic.Width, pic.Height))
	grain := o.scale.pixel(partGrain)
	part.Min.X, part.Min.Y = part.Min.X/grain*grain, part.Min.Y/grain*grain
	if part.Size() != image.Pt(pic.Width, pic.Height) {
		pic = pic.Part(part.Min.X, part.Min.Y, part.Dx(), part.Dy())
	}
	_, pic, _, err := o.seen(ctx, pic)
	if err != nil {
		return err
	}
	s := newPlanes(ctx, be, o.Progress)
	defer s.release()
	rgb, err := s.colours(pic)
	if err != nil {
		return err
	}
	dst, err := s.alloc(processing.U8, pic.Width, pic.Height)
	if err != nil {
		return err
	}
	end := o.stage(be, message.Of("network"), 0.1)
	// The layer's values begin at −8, in sixteenths.
	err = s.do(processing.Glints{
		Dst: dst, Red: rgb[0], Green: rgb[1], Blue: rgb[2], Model: o.Network, Offset: 128,
	})
	end()
	if err != nil {
		return err
	}
	value, err := s.samples(dst)
	if err != nil {
		return err
	}
	return m.fill(ctx, part, func(i int) uint16 {
		return value(o.scale.cell(i/part.Dx())*pic.Width + o.scale.cell(i%part.Dx()))
	})
}

// draw writes the scores of the components, the highest one where several share a pixel.
func (t *Table) draw(m *LayerMap, d *processing.Decision, learned *processing.Learned) {
	for _, s := range t.spans {
		y := int(s.Y)
		if y < m.Rect.Min.Y || y >= m.Rect.Max.Y {
			continue
		}
		sample := m.Spec.Sample(t.score(int(s.Label), d, learned))
		row := m.Pix[(y-m.Rect.Min.Y)*m.Rect.Dx():][:m.Rect.Dx()]
		for x := max(int(s.X0), m.Rect.Min.X); x < min(int(s.X1), m.Rect.Max.X); x++ {
			at := &row[x-m.Rect.Min.X]
			*at = max(*at, sample)
		}
	}
}
