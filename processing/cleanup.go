package processing

import "blik/internal/parallel"

// cleanup makes the mask, which is empty, from the accepted spans: open, close, fill, widen, soften, and clip to the
// region. Without operations that look at neighbours, the spans alone are the mask.
func (d *detector) cleanup(m *Mask, spans []Span, region *Region) error {
	p, mask := d.p, d.exclude
	plain := p.Open == 0 && p.Close == 0 && p.Margin == 0 && p.Feather == 0
	fill(m, spans, plain && p.Fill)
	if plain {
		if region != nil {
			clipMask(m, region)
		}
		return nil
	}
	if err := d.be.Upload(d.ctx, mask, Samples{U8: m.Pix}); err != nil {
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
		if err := d.do(Gaussian{Dst: d.cls, Src: mask, Sigma: p.Feather}); err != nil {
			return err
		}
		mask = d.cls
	}
	host, err := d.be.Host(d.ctx, mask)
	if err != nil {
		return err
	}
	parallel.Split(len(m.Pix), 1<<20, func(a, b int) { copy(m.Pix[a:b], host.U8[a:b]) })
	if region != nil {
		clipMask(m, region)
	}
	return nil
}

// freshMask makes a mask in the background. The system gives memory page by page as it is first written, which for a
// large mask takes longer than filling it; so that is done while the backend is busy with other things.
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
