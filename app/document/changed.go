package document

import (
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
	m, n := processing.NewMask(pic.Width, pic.Height), pic.Channels
	for _, k := range c.all() {
		near, at := NewVicinity(k.spot), 0
		for _, r := range k.patch.Runs {
			for x := r.X0; x < r.X1; x++ {
				if !pic.Samples().Equal((r.Y*pic.Width+x)*n, k.patch.Samples(), at*n, n) {
					m.Pix[r.Y*pic.Width+x] = near.kind(x, r.Y, k.by.Params.Halo)
				}
				at++
			}
		}
	}
	return m
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
