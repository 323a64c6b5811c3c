package processing

import "slices"

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
	part := &Hidden{Pixels: make([]bool, 0, w*height)}
	for y := top; y < top+height; y++ {
		part.Pixels = append(part.Pixels, h.Pixels[y*width+left:][:w]...)
	}
	if !slices.Contains(part.Pixels, true) {
		return nil
	}
	return part
}
