package document

import "blik/processing"

// Other is a mask for comparison with that of the document. It has the size of the picture.
type Other struct{ labels *labels }

// NewOther prepares a mask for comparison; m must not be changed afterwards. The error says that it has not the size of
// the picture.
func (d *Document) NewOther(m *processing.Mask) (*Other, error) {
	if err := fits(d.pic, m); err != nil {
		return nil, err
	}
	o := &Other{labelsOf(d.tiles, m)}
	o.labels.refresh()
	return o, nil
}

// Overlap says how far two masks agree.
type Overlap struct {
	// Here, There and Both are numbers of pixels that count as glare: only in the document's mask, only in the other
	// mask, and in both.
	Here, There, Both int
	// SpotsHere and SpotsThere are the numbers of findings in each mask that share no pixel with the other mask.
	// SpotsBoth is the number of findings in the document's mask that do.
	SpotsHere, SpotsThere, SpotsBoth int
}

// Agreement is the Jaccard index (Jaccard 1912): the pixels in both masks divided by those in either, 0…1; 1 for two
// empty masks.
func (o Overlap) Agreement() float64 {
	all := o.Here + o.There + o.Both
	if all == 0 {
		return 1
	}
	return float64(o.Both) / float64(all)
}

// Overlap compares the mask with another one. It labels the tiles that changed and reads the mask where the other one
// is marked.
func (d *Document) Overlap(o *Other) Overlap {
	d.spots.refresh()
	met := map[int32]bool{}
	theirs := make([]bool, len(o.labels.parent))
	var sum Overlap
	for i := range o.labels.tile {
		for _, r := range o.labels.tile[i].runs {
			run := processing.Run{Y: int(r.Y), X0: int(r.X0), X1: int(r.X1)}
			row := d.mask.Pix[run.Y*d.mask.Width:][run.X0:run.X1]
			both := 0
			for _, v := range row {
				both += int(v / processing.MaskLevel)
			}
			if both == 0 {
				continue
			}
			sum.Both += both
			theirs[o.labels.root(i, r.Label)] = true
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
