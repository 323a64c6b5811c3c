package document

import (
	"errors"
	"image"
	"slices"

	"blik/internal/message"
	"blik/processing"
)

// Work is what was made of a picture: everything that is needed to go on with it later.
type Work struct {
	// Mask has the size of the picture; Region may be nil.
	Mask   *processing.Mask
	Region *processing.Region
	// Found is the last detection with its mask and all findings, nil before the first. Of what adaptive mode chose and
	// of the times it holds nothing.
	Found *processing.Result
	// Renewed and Drawn say what was done to the mask since: replaced as a whole, painted by hand.
	Renewed, Drawn bool
	// Kept holds a pixel of each finding that was kept, in reading order.
	Kept []image.Point
	// Spots and Patches are the corrections, Origins how each was made; see Corrections.
	Spots   []processing.Spot
	Patches []processing.Patch
	Origins []*Origin
}

// Work returns what was made of the picture. It takes the time of writing two masks, which Snapshot itself does not.
func (s Snapshot) Work() Work {
	w := Work{
		Mask: s.Mask(), Region: s.Region, Renewed: s.renewed, Drawn: s.drawn,
		Spots: s.Corrections.Spots(), Patches: s.Corrections.Patches(), Origins: s.Corrections.Origins(),
	}
	if s.decisions != nil {
		w.Kept = slices.Clone(s.decisions.kept)
	}
	if s.detection != nil {
		r := s.detection.result
		w.Found = &processing.Result{
			Mask: unpackAll(s.tiles, s.detection.mask), Findings: s.detection.findings, Params: r.Params,
			Device: r.Device,
		}
	}
	return w
}

// Restore goes on with work on the same picture: mask, region, detection, decisions and corrections become those of w.
// It can be undone, in several steps. Of work that does not fit nothing is taken over.
func (d *Document) Restore(w Work) (dirty image.Rectangle, err error) {
	if err := d.accepts(w); err != nil {
		return image.Rectangle{}, err
	}
	if err := d.SetRegion(w.Region); err != nil {
		return image.Rectangle{}, err
	}
	d.begin(message.Of("Earlier work"))
	d.rewrite(func(row []uint8, y, x0 int) { copy(row, w.Mask.Pix[y*w.Mask.Width+x0:]) })
	d.detection = nil
	if w.Found != nil {
		d.detection = (*detection)(nil).merge(w.Found, rows{}, d.tiles)
		d.edit.step.held = d.detection.bytes()
	}
	d.decisions = nil
	if len(w.Kept) > 0 {
		d.decisions = &Decisions{slices.Clone(w.Kept)}
		d.edit.step.held += d.decisions.bytes()
	}
	dirty = d.commit()
	d.renewed, d.drawn = w.Renewed, w.Drawn
	for i, by := range w.Origins {
		if slices.Index(w.Origins, by) < i {
			continue
		}
		c := &processing.Correction{Device: by.Device}
		var spots []processing.Spot
		for k, other := range w.Origins {
			if other == by {
				c.Patches, spots = append(c.Patches, w.Patches[k]), append(spots, w.Spots[k])
			}
		}
		if _, err := d.ApplyCorrection(c, spots, by.Params); err != nil {
			return dirty, err
		}
	}
	return dirty, nil
}

// accepts reports why work is none on this picture.
func (d *Document) accepts(w Work) error {
	if err := d.fits(w.Mask); err != nil {
		return err
	}
	if w.Region != nil {
		if err := w.Region.Validate(d.pic.Width, d.pic.Height); err != nil {
			return err
		}
	}
	if len(w.Spots) != len(w.Patches) || len(w.Spots) != len(w.Origins) {
		return errors.New("the corrections are not complete")
	}
	for _, by := range w.Origins {
		if by == nil {
			return errors.New("a correction does not say how it was made")
		}
		if err := by.Params.Validate(); err != nil {
			return err
		}
	}
	for _, p := range w.Kept {
		if !p.In(d.tiles.bounds()) {
			return errors.New("what was kept lies outside the picture")
		}
	}
	if w.Found == nil {
		return nil
	}
	for _, f := range w.Found.Findings {
		if err := d.checkRuns(f.Runs); err != nil {
			return err
		}
	}
	return d.fits(w.Found.Mask)
}

// unpackAll returns the mask that tiles hold.
func unpackAll(t tiling, tiles []tileData) *processing.Mask {
	m := processing.NewMask(t.w, t.h)
	for i, data := range tiles {
		if len(data) > 0 {
			data.unpack(m.Pix, m.Width, t.rect(i))
		}
	}
	return m
}
