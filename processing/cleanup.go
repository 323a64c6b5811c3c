package processing

import "blik/processing/internal/span"

// cleanup makes the mask from the accepted spans: open, close, fill, widen, soften, and clip to the region.
func (d *detector) cleanup(spans []Span, region *Region) (*Mask, error) {
	m := NewMask(d.w, d.h)
	span.Fill(m.Pix, d.w, spans, 255)
	p := d.p
	if p.Open > 0 || p.Close > 0 {
		if err := d.onMask(m, func(pl Plane) (Plane, error) {
			if p.Open > 0 {
				if err := d.be.Morph(d.ctx, pl, pl, Open, Square(p.Open)); err != nil {
					return nil, err
				}
			}
			if p.Close > 0 {
				return pl, d.be.Morph(d.ctx, pl, pl, Close, Square(p.Close))
			}
			return pl, nil
		}); err != nil {
			return nil, err
		}
		spans = span.Append(nil, m.Pix, d.w, 0, d.h, 255)
	}
	if p.Fill {
		span.Fill(m.Pix, d.w, span.Holes(spans, d.w, d.h), 255)
	}
	if p.Margin > 0 || p.Feather > 0 {
		if err := d.onMask(m, func(pl Plane) (Plane, error) {
			if p.Margin > 0 {
				if err := d.be.Morph(d.ctx, pl, pl, Dilate, Square(p.Margin)); err != nil {
					return nil, err
				}
			}
			if p.Feather > 0 {
				return d.cls, d.be.Gaussian(d.ctx, d.cls, pl, p.Feather)
			}
			return pl, nil
		}); err != nil {
			return nil, err
		}
	}
	if region != nil {
		clipMask(m, region)
	}
	return m, nil
}

// onMask lets f make a new mask from the plane of the present one.
func (d *detector) onMask(m *Mask, f func(Plane) (Plane, error)) error {
	if err := d.be.Upload(d.ctx, d.exclude, Samples{U8: m.Pix}); err != nil {
		return err
	}
	out, err := f(d.exclude)
	if err != nil {
		return err
	}
	host, err := d.be.Host(d.ctx, out)
	if err == nil {
		copy(m.Pix, host.U8)
	}
	return err
}

// clipMask clears what lies outside the region.
func clipMask(m *Mask, r *Region) {
	for y := range m.Height {
		row := m.Pix[y*m.Width : (y+1)*m.Width]
		x := 0
		for _, in := range r.Spans(y, m.Width) {
			clear(row[x:in.X0])
			x = in.X1
		}
		clear(row[x:])
	}
}
