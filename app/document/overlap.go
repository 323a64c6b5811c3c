package document

import "blik/processing"

// Other is a mask of the picture's size that the document's own is compared with.
type Other struct {
	mask   *processing.Mask
	labels *labels
}

// NewOther prepares a mask for comparison; it must have the size of the picture and not be changed any more.
func (d *Document) NewOther(m *processing.Mask) (*Other, error) {
	if err := d.fits(m); err != nil {
		return nil, err
	}
	o := &Other{m, newLabels(d.tiles, func(i int, _ *tileBuffer) ([]uint8, int) {
		r := d.tiles.rect(i)
		return m.Pix[r.Min.Y*m.Width+r.Min.X:], m.Width
	})}
	o.labels.refresh()
	return o, nil
}

// Mask returns the mask itself.
func (o *Other) Mask() *processing.Mask { return o.mask }

// Overlap sums up how two masks agree.
type Overlap struct {
	// Here and There are the pixels that count as glare in the document's mask only and in the other one only, Both
	// those in both.
	Here, There, Both int
	// SpotsHere and SpotsThere are the findings of each mask that share no pixel with one of the other; SpotsBoth are
	// those of the document's mask that do.
	SpotsHere, SpotsThere, SpotsBoth int
}

// Agreement is the share of the pixels of either mask that are in both (Jaccard 1912), 1 for two empty masks.
func (o Overlap) Agreement() float64 {
	all := o.Here + o.There + o.Both
	if all == 0 {
		return 1
	}
	return float64(o.Both) / float64(all)
}

// Overlap compares the mask with another one. It costs labelling what changed of the mask and a look at the pixels of
// the other one that count as glare.
func (d *Document) Overlap(o *Other) Overlap {
	d.spots.refresh()
	met := map[int32]bool{}
	theirs := make([]bool, len(o.labels.parent))
	var sum Overlap
	for i := range o.labels.tile {
		corner := d.tiles.rect(i).Min
		for _, r := range o.labels.tile[i].runs {
			run := processing.Run{Y: corner.Y + int(r.y), X0: corner.X + int(r.x0), X1: corner.X + int(r.x1)}
			row := d.mask.Pix[run.Y*d.mask.Width:][run.X0:run.X1]
			both := 0
			for _, v := range row {
				both += int(v / processing.MaskLevel)
			}
			if both == 0 {
				continue
			}
			sum.Both += both
			theirs[root(o.labels.parent, o.labels.base[i]+int32(r.part))] = true
			d.spots.each(run, func(root int32) { met[root] = true })
		}
	}
	sum.Here, sum.There = d.spots.area-sum.Both, o.labels.area-sum.Both
	sum.SpotsBoth = len(met)
	sum.SpotsHere, sum.SpotsThere = d.spots.spots-len(met), o.labels.spots
	for _, is := range theirs {
		if is {
			sum.SpotsThere--
		}
	}
	return sum
}
