package document

import (
	"math"

	"blik/processing"
)

// The values of Changed, for pixels that were marked, and for those of the halo and the veil around them.
const (
	ChangedVeil   = 85
	ChangedHalo   = 170
	ChangedMarked = 255
)

// Changed returns a mask of the pixels in which the corrections differ from their picture. Its values say what these
// are; it is 0 elsewhere.
func (c *Corrections) Changed(pic *processing.Picture) *processing.Mask {
	m := processing.NewMask(pic.Width, pic.Height)
	for _, k := range c.all() {
		near, at := NewVicinity(k.spot), 0
		for _, r := range k.patch.Runs {
			for x := r.X0; x < r.X1; x++ {
				if differs(pic, &k.patch, r.Y*pic.Width+x, at) {
					m.Pix[r.Y*pic.Width+x] = near.kind(x, r.Y, k.by.Params.Halo)
				}
				at++
			}
		}
	}
	return m
}

// differs reports whether pixel at of a patch has other samples than pixel i of the picture.
func differs(pic *processing.Picture, p *processing.Patch, i, at int) bool {
	n := pic.Channels
	was, now := values(pic.U8, pic.U16, pic.F32, i*n, n), values(p.U8, p.U16, p.F32, at*n, n)
	for c := range n {
		if math.Float64bits(was[c]) != math.Float64bits(now[c]) {
			return true
		}
	}
	return false
}

// Vicinity tells how far pixels are from runs; it holds these by row.
type Vicinity map[int][]processing.Run

// NewVicinity returns the Vicinity of runs.
func NewVicinity(runs []processing.Run) Vicinity {
	v := Vicinity{}
	for _, r := range runs {
		v[r.Y] = append(v[r.Y], r)
	}
	return v
}

// Within reports whether a run is at most so far from a pixel, from centre to centre.
func (v Vicinity) Within(x, y, far int) bool {
	for dy := -far; dy <= far; dy++ {
		for _, r := range v[y+dy] {
			if dx := max(r.X0-x, x-r.X1+1, 0); dx*dx+dy*dy <= far*far {
				return true
			}
		}
	}
	return false
}

// kind returns the value of Changed for a pixel that changed.
func (v Vicinity) kind(x, y, halo int) uint8 {
	switch {
	case v.Within(x, y, 0):
		return ChangedMarked
	case v.Within(x, y, halo):
		return ChangedHalo
	}
	return ChangedVeil
}
