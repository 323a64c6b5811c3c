package processing

// cleanup makes the mask from the accepted spans: open, close, fill, widen, soften, and clip to the region.
func (d *detector) cleanup(spans []span, region *Region) (*Mask, error) {
	m := &Mask{Width: d.w, Height: d.h, Pix: d.paint(spans)}
	d.host = nil // it is the result's now
	p := d.p
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
	}, p.Open > 0 || p.Close > 0); err != nil {
		return nil, err
	}
	if p.Fill {
		fillHoles(m.Pix, d.w, d.h)
	}
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
	}, p.Margin > 0 || p.Feather > 0); err != nil {
		return nil, err
	}
	if region != nil {
		clipMask(m, region)
	}
	return m, nil
}

// onMask lets f make a new mask from the plane of the present one, if that is wanted at all.
func (d *detector) onMask(m *Mask, f func(Plane) (Plane, error), wanted bool) error {
	if !wanted {
		return nil
	}
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

// fillHoles sets to 255 every 4-connected set of zeros that does not reach the border.
func fillHoles(pix []uint8, w, h int) {
	var gaps []span
	for y := range h {
		row := pix[y*w : y*w+w]
		for x := 0; x < w; x++ {
			if row[x] != 0 {
				continue
			}
			x0 := x
			for x < w && row[x] == 0 {
				x++
			}
			gaps = append(gaps, span{y: int32(y), x0: int32(x0), x1: int32(x)})
		}
	}
	set := make(disjoint, len(gaps))
	joinRows(gaps, set, fourConnected)
	open := make([]bool, len(gaps))
	for i, g := range gaps {
		if g.x0 == 0 || int(g.x1) == w || g.y == 0 || int(g.y) == h-1 {
			open[set.find(uint32(i))] = true
		}
	}
	for i, g := range gaps {
		if !open[set.find(uint32(i))] {
			row := pix[int(g.y)*w:]
			for x := g.x0; x < g.x1; x++ {
				row[x] = 255
			}
		}
	}
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
