package processing

// Hidden says which pixels of a picture are wholly transparent. Their samples are stored but show nothing.
type Hidden struct {
	// Pixels are those of the picture, in rows.
	Pixels []bool
	// Seen is the picture in which visible paint continues into the hidden pixels, so that their samples influence
	// nothing. Its own Hidden is this one.
	Seen *Picture
}

// Visible returns the picture for detection and correction: p itself unless pixels of it are hidden.
func (p *Picture) Visible() *Picture {
	if p.Hidden == nil {
		return p
	}
	return p.Hidden.Seen
}

// part returns the hidden pixels of a part of a picture of the given width; nil if there are none.
func (h *Hidden) part(left, top, w, height, width int) *Hidden {
	if h == nil {
		return nil
	}
	part, any := &Hidden{Pixels: make([]bool, 0, w*height)}, false
	for y := top; y < top+height; y++ {
		row := h.Pixels[y*width+left:][:w]
		part.Pixels = append(part.Pixels, row...)
		for _, is := range row {
			any = any || is
		}
	}
	if !any {
		return nil
	}
	return part
}

// Hide takes hidden pixels out of the result: out of the mask and of the findings, which are numbered again.
func (r *Result) Hide(h *Hidden) {
	if h == nil {
		return
	}
	for i, is := range h.Pixels {
		if is {
			r.Mask.Pix[i] = 0
		}
	}
	w := r.Mask.Width
	kept := r.Findings[:0:0]
	for _, f := range r.Findings {
		if runs := h.visible(f.Runs, w); len(runs) > 0 {
			f.cut(runs)
			f.ID = len(kept) + 1
			kept = append(kept, f)
		}
	}
	r.Findings = kept
}

// visible returns the parts of runs that are not hidden, in a picture of width w.
func (h *Hidden) visible(runs []Run, w int) []Run {
	var out []Run
	for _, r := range runs {
		for x := r.X0; x < r.X1; x++ {
			if h.Pixels[r.Y*w+x] {
				continue
			}
			if k := len(out) - 1; k >= 0 && out[k].Y == r.Y && out[k].X1 == x {
				out[k].X1++
			} else {
				out = append(out, Run{r.Y, x, x + 1})
			}
		}
	}
	return out
}

// cut reduces a finding to some of its pixels.
func (f *Finding) cut(runs []Run) {
	s := NewSums()
	for _, r := range runs {
		s.Add(Span{Y: int32(r.Y), X0: int32(r.X0), X1: int32(r.X1)})
	}
	if int(s.N) == f.Area {
		return
	}
	f.Runs, f.Area = runs, int(s.N)
	f.X, f.Y = float64(s.SX)/float64(s.N)+0.5, float64(s.SY)/float64(s.N)+0.5
	f.Left, f.Top, f.Width, f.Height = int(s.Left), int(s.Top), int(s.Right-s.Left), int(s.Base-s.Top)
	f.Elongation = s.Elongation()
}
