package processing

import "blik/internal/parallel"

// cleanup draws the accepted spans into the empty mask m: opens, closes, fills holes, dilates by the margin, feathers,
// and clips to the region. If nothing depends on neighbouring pixels, the spans are the mask.
func (d *detector) cleanup(m *Mask, spans []Span, region *Region) error {
	p, mask := d.p, d.spare()
	plain := p.Open == 0 && p.Close == 0 && p.Margin == 0 && p.Feather == 0
	if plain {
		fill(m, spans, p.Fill)
		if region != nil {
			clipMask(m, region)
		}
		return nil
	}
	if err := d.draw(mask, m, spans); err != nil {
		return err
	}
	for _, s := range []struct {
		op MorphOp
		r  int
	}{{Open, p.Open}, {Close, p.Close}} {
		if s.r > 0 {
			if err := d.do(Morph{Dst: mask, Src: mask, Op: s.op, Element: Square(s.r)}); err != nil {
				return err
			}
		}
	}
	if p.Fill {
		if err := d.do(FillHoles{Dst: mask}); err != nil {
			return err
		}
	}
	if p.Margin > 0 {
		if err := d.do(Morph{Dst: mask, Src: mask, Op: Dilate, Element: Square(p.Margin)}); err != nil {
			return err
		}
	}
	if p.Feather > 0 {
		soft := d.cls
		if soft == mask {
			var err error
			if soft, err = d.plane(U8); err != nil {
				return err
			}
		}
		if err := d.do(Gaussian{Dst: soft, Src: mask, Sigma: p.Feather}); err != nil {
			return err
		}
		mask = soft
	}
	if err := d.read(m, mask); err != nil {
		return err
	}
	if region != nil {
		clipMask(m, region)
	}
	return nil
}

// draw rasterizes the spans into a plane. It may use m, an empty mask, as a buffer.
func (d *detector) draw(plane Plane, m *Mask, spans []Span) error {
	if d.remote != nil {
		return d.remote.Draw(d.ctx, plane, spans)
	}
	fill(m, spans, false)
	return d.be.Upload(d.ctx, plane, Samples{U8: m.Pix})
}

// read copies the mask from a plane into m, which is empty or as draw left it.
func (d *detector) read(m *Mask, plane Plane) error {
	if d.remote == nil || d.p.Feather > 0 {
		host, err := d.be.Host(d.ctx, plane)
		if err == nil {
			parallel.Split(len(m.Pix), 1<<20, func(a, b int) { copy(m.Pix[a:b], host.U8[a:b]) })
		}
		return err
	}
	// The mask is binary and mostly empty: its spans take less time to download than its samples.
	marked, err := Evaluate(d.ctx, d.be, Label{Class: plane, Bits: 255})
	if err != nil {
		return err
	}
	defer marked.Release()
	spans, err := Evaluate(d.ctx, d.be, Spans{Components: marked})
	if err != nil {
		return err
	}
	fill(m, spans, false)
	return nil
}

// beginMask starts to allocate the mask, except for a frugal backend, which reuses a plane: see emptyMask.
func (d *detector) beginMask() {
	if d.frugal == nil && d.mask == nil {
		d.mask = freshMask(d.w, d.h)
	}
}

// freshMask makes a mask in the background. The system maps the pages of a large mask when they are first written,
// which takes longer than filling it; so they are touched while the backend is busy.
func freshMask(w, h int) <-chan *Mask {
	made := make(chan *Mask, 1)
	go func() {
		m := NewMask(w, h)
		const page = 4096
		parallel.Split(len(m.Pix), 1<<20, func(a, b int) {
			for i := a; i < b; i += page {
				m.Pix[i] = 0
			}
		})
		made <- m
	}()
	return made
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
