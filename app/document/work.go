package document

import (
	"errors"
	"image"
	"slices"

	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// Work is everything that is needed to continue the work on a picture later.
type Work struct {
	// Mask has the size of the picture; Region may be nil.
	Mask   *processing.Mask
	Region *processing.Region
	// Found is the last detection with its mask and all findings, nil before the first. It lacks the times and the
	// values that adaptive mode chose.
	Found *detect.Found
	// Replaced and Painted say whether the user has since replaced the whole mask or painted on it.
	Replaced, Painted bool
	// Marked and Erased are what was marked and erased by hand, nil for nothing: the lowest value of the mask in each
	// pixel, and 255 minus the highest one.
	Marked, Erased *processing.Mask
	// Kept holds one pixel of each kept finding, in reading order.
	Kept []image.Point
	// Numbers are those of findings whose numbers follow neither from Found nor from the order of the mask.
	Numbers []Numbered
	// Spots, Patches and Origins describe the corrections and have equal lengths; see Corrections.
	Spots   []processing.Spot
	Patches []processing.Patch
	Origins []*Origin
}

// PackedMasks are the masks of a Work, Found that of the detection.
type PackedMasks struct{ Mask, Found, Marked, Erased Packed }

// Work returns the work on the picture. It writes every pixel of up to four masks; Packed does not.
func (s Snapshot) Work() Work {
	w, masks := s.Packed()
	w.Unpack(masks, s.tiles.w, s.tiles.h)
	return w
}

// Packed returns the work on the picture without its masks, and these compressed.
func (s Snapshot) Packed() (Work, PackedMasks) {
	w := Work{
		Region: s.Region, Replaced: s.replaced, Painted: s.painted, Numbers: s.numbers, Spots: s.Corrections.Spots(),
		Patches: s.Corrections.Patches(), Origins: s.Corrections.Origins(),
	}
	masks := PackedMasks{Mask: s.mask}
	if s.hand != nil {
		masks.Marked, masks.Erased = s.hand.marked, s.hand.erased
	}
	if s.decisions != nil {
		w.Kept = slices.Clone(s.decisions.kept)
	}
	if s.detection != nil {
		r := s.detection.result
		w.Found = &detect.Found{Findings: s.detection.findings, Params: r.Params, Device: r.Device}
		masks.Found = s.detection.mask
	}
	return w, masks
}

// Unpack sets the masks of a picture of the given size, which they must fit.
func (w *Work) Unpack(m PackedMasks, width, height int) {
	w.Mask, w.Marked, w.Erased = m.Mask.unpack(width, height), m.Marked.unpack(width, height),
		m.Erased.unpack(width, height)
	if w.Found != nil {
		w.Found.Mask = m.Found.unpack(width, height)
	}
}

// Restore replaces mask, region, detection, decisions and corrections by those of w. It can be undone, in several
// steps. If w does not fit the picture, it returns an error and changes nothing.
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
	restoreHand(d, w)
	d.numbers = &numbering{marked: slices.Clone(w.Numbers)}
	if !w.Replaced {
		d.numbers.found = d.detection
	}
	for _, n := range w.Numbers {
		d.numbers.last = max(d.numbers.last, n.Number)
	}
	dirty = d.commit()
	d.replaced, d.painted = w.Replaced, w.Painted
	for i, by := range w.Origins {
		if slices.Index(w.Origins, by) < i {
			continue
		}
		c := &correct.Correction{Device: by.Device}
		var spots []processing.Spot
		for k, other := range w.Origins {
			if other == by {
				c.Patches, spots = append(c.Patches, w.Patches[k]), append(spots, w.Spots[k])
			}
		}
		if err := d.ApplyCorrection(c, spots, by.Params); err != nil {
			return dirty, err
		}
	}
	return dirty, nil
}

// accepts returns an error if w does not fit the picture.
func (d *Document) accepts(w Work) error {
	if err := fits(d.pic, w.Mask); err != nil {
		return err
	}
	for _, m := range []*processing.Mask{w.Marked, w.Erased} {
		if m != nil {
			if err := fits(d.pic, m); err != nil {
				return err
			}
		}
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
	for _, n := range w.Numbers {
		for _, p := range n.Pixels {
			if n.Number < 1 || n.Number > maxNumber || !p.In(d.tiles.bounds()) {
				return errors.New("the numbers of the findings are damaged")
			}
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
	return fits(d.pic, w.Found.Mask)
}
