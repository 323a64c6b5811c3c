package document

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"

	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
)

// Corrections holds the patches that lie over the picture. They never overlap. It is immutable, so any goroutine may
// use it and pointers can be compared; nil means that nothing is corrected.
type Corrections struct {
	tiles tiling
	// list is sorted by the first pixels of the spots, in reading order.
	list []*correction
	// generation identifies the content, as Document.Generation does for the mask.
	generation uint64

	index sync.Once
	// byTile holds, for each tile, the corrections that reach into it. index guards its construction.
	byTile map[int][]*correction
}

// correction is the correction of one spot. It is immutable.
type correction struct {
	// spot holds the corrected spot's pixels that are still in the mask, core is their bounding box, area their number.
	spot []processing.Run
	core image.Rectangle
	area int
	// asked is the method that was chosen for this spot, or MethodAuto for the one that was chosen for all spots.
	asked processing.Method
	patch processing.Patch
	by    *Origin
	// reach is the bounding box of spot and patch.
	reach image.Rectangle
}

func newCorrection(spot []processing.Run, asked processing.Method, p processing.Patch, by *Origin) *correction {
	core := boundsOf(spot)
	return &correction{spot: spot, core: core, area: processing.Pixels(spot), asked: asked, patch: p, by: by,
		reach: core.Union(boundsOf(p.Runs))}
}

// Origin says how a correction was made.
type Origin struct {
	Params processing.Params
	// Device is the name of the backend that ran it.
	Device string
}

// newCorrections returns the given corrections as a set, nil if there are none. It sorts list and keeps it.
func newCorrections(t tiling, list []*correction) *Corrections {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *correction) int { return inOrder(firstOf(a.spot), firstOf(b.spot)) })
	return &Corrections{tiles: t, list: list}
}

// Len returns the number of corrected spots.
func (c *Corrections) Len() int {
	if c == nil {
		return 0
	}
	return len(c.list)
}

// Pixels returns the number of pixels that the patches cover. Only these may differ from the original.
func (c *Corrections) Pixels() int {
	n := 0
	for _, k := range c.all() {
		n += processing.Pixels(k.patch.Runs)
	}
	return n
}

// Patches returns the patches in reading order of the spots. Patch.Spot numbers them from 1. The samples are shared and
// must not be changed.
func (c *Corrections) Patches() []processing.Patch {
	out := make([]processing.Patch, c.Len())
	for i, k := range c.all() {
		out[i] = k.patch
		out[i].Spot = i + 1
	}
	return out
}

// Spots returns the spots of Patches, with the same numbers and with the methods that were chosen for them. The runs
// are shared and must not be changed.
func (c *Corrections) Spots() []processing.Spot {
	out := make([]processing.Spot, c.Len())
	for i, k := range c.all() {
		out[i] = processing.Spot{ID: i + 1, Runs: k.spot, Method: k.asked}
	}
	return out
}

// Origins returns the origin of each of Patches. Those of one ApplyCorrection share one pointer.
func (c *Corrections) Origins() []*Origin {
	out := make([]*Origin, c.Len())
	for i, k := range c.all() {
		out[i] = k.by
	}
	return out
}

// Generation identifies the content: 0 if nothing is corrected.
func (c *Corrections) Generation() uint64 {
	if c == nil {
		return 0
	}
	return c.generation
}

func (c *Corrections) all() []*correction {
	if c == nil {
		return nil
	}
	return c.list
}

// near calls do once for every correction whose reach overlaps r, in no particular order.
func (c *Corrections) near(r image.Rectangle, do func(*correction)) {
	if c == nil {
		return
	}
	c.index.Do(func() {
		c.byTile = map[int][]*correction{}
		for _, k := range c.list {
			c.tiles.each(k.reach, func(i int) { c.byTile[i] = append(c.byTile[i], k) })
		}
	})
	r = r.Intersect(c.tiles.bounds())
	c.tiles.each(r, func(i int) {
		for _, k := range c.byTile[i] {
			// A correction may lie in several tiles: report it only in the first one that it shares with r.
			if both := k.reach.Intersect(r); !both.Empty() && c.tiles.at(both.Min.X, both.Min.Y) == i {
				do(k)
			}
		}
	})
}

// at returns the correction whose patch covers pixel (x, y), nil if none does, and the index of the pixel in that
// patch.
func (c *Corrections) at(x, y int) (found *correction, pixel int) {
	c.near(image.Rect(x, y, x+1, y+1), func(k *correction) {
		n := 0
		for _, r := range k.patch.Runs {
			if r.Y == y && r.X0 <= x && x < r.X1 {
				found, pixel = k, n+x-r.X0
			}
			n += r.X1 - r.X0
		}
	})
	return found, pixel
}

// bytes estimates the memory of one correction.
func (k *correction) bytes() int64 {
	const correctionBytes, runBytes = 256, 24
	return correctionBytes + runBytes*int64(len(k.spot)+len(k.patch.Runs)) +
		int64(len(k.patch.U8)) + 2*int64(len(k.patch.U16)) + 4*int64(len(k.patch.F32))
}

// difference returns the corrections that are only in old, and those that are only in c.
func (c *Corrections) difference(old *Corrections) (removed, added []*correction) {
	if c == old {
		return nil, nil
	}
	kept := make(map[*correction]bool, c.Len())
	for _, k := range c.all() {
		kept[k] = true
	}
	for _, k := range old.all() {
		if kept[k] {
			delete(kept, k)
		} else {
			removed = append(removed, k)
		}
	}
	for _, k := range c.all() {
		if kept[k] {
			added = append(added, k)
		}
	}
	return removed, added
}

// Corrections returns the present corrections, nil if nothing is corrected.
func (d *Document) Corrections() *Corrections { return d.corrections }

// PatchesSince returns the patches that update the picture with the corrections before to the present corrections, in
// the order in which to apply them. Patches of the original replace corrections that no longer exist.
func (d *Document) PatchesSince(before *Corrections) []processing.Patch {
	removed, added := d.corrections.difference(before)
	patches := make([]processing.Patch, 0, len(removed)+len(added))
	for _, k := range removed {
		patches = append(patches, d.source(k.patch.Runs))
	}
	for _, k := range added {
		patches = append(patches, k.patch)
	}
	return patches
}

// source returns a patch of the original for the pixels of runs.
func (d *Document) source(runs []processing.Run) processing.Patch {
	p := processing.Patch{Runs: runs}
	for _, r := range runs {
		at := r.Y * d.pic.Width
		p.Append(d.pic.Samples(), (at+r.X0)*d.pic.Channels, (at+r.X1)*d.pic.Channels)
	}
	return p
}

// PictureDirty reports whether corrections exist that are not on disk.
func (d *Document) PictureDirty() bool {
	return d.corrections != nil && d.corrections.generation != d.savedPicture
}

// MarkPictureSaved records that the picture with the corrections of the given generation is on disk.
func (d *Document) MarkPictureSaved(generation uint64) { d.savedPicture = generation }

// ApplyCorrection lays the patches of c over the picture. spots are the spots that were corrected, each with the method
// that was chosen for it; params are the parameters that were used. It can be undone.
//
// A correction belongs to its spot in the form that it had when it was corrected. It replaces older corrections whose
// spots share a pixel with this one. From other patches that it overlaps it removes the common pixels: there both are
// halo, and only the newer one was computed with both spots known. A correction is dropped if its spot is no longer
// completely in the mask.
func (d *Document) ApplyCorrection(c *correct.Correction, spots []processing.Spot, params processing.Params) error {
	if c == nil {
		return errors.New("there is no result of a correction")
	}
	d.EndStroke()
	fresh, err := d.checked(c, spots, &Origin{params, c.Device})
	if err != nil {
		return err
	}
	d.begin(message.Of("Correction"))
	d.setCorrections(d.corrections.over(fresh, d.tiles))
	d.commit()
	return nil
}

// PreviewCorrection is ApplyCorrection for a correction of one finding that follows a change of the parameters. If the
// last step is such a preview of the same finding, the new one replaces it, so that one undo takes back a whole series.
func (d *Document) PreviewCorrection(c *correct.Correction, spots []processing.Spot,
	params processing.Params) error {
	if len(spots) != 1 {
		return errors.New("a preview is of one finding")
	}
	_, err := d.replace(preview{correction: true, spot: firstOf(spots[0].Runs)}, func() (image.Rectangle, error) {
		return image.Rectangle{}, d.ApplyCorrection(c, spots, params)
	})
	return err
}

// checked returns the corrections of those patches of c whose spots are still in the mask. The error says which patch
// does not fit the picture or overlaps another.
func (d *Document) checked(c *correct.Correction, spots []processing.Spot, by *Origin) (*Corrections, error) {
	pic := d.pic
	if err := processing.CheckPatches(pic.Width, pic.Height, pic.Channels, pic.Depth(), c.Patches); err != nil {
		return nil, err
	}
	byID := make(map[int]processing.Spot, len(spots))
	for _, s := range spots {
		byID[s.ID] = s
	}
	var list []*correction
	for _, p := range c.Patches {
		s, ok := byID[p.Spot]
		if !ok {
			return nil, fmt.Errorf("the correction holds a patch of spot %d, which was not to be corrected", p.Spot)
		}
		if err := d.checkRuns(s.Runs); err != nil {
			return nil, fmt.Errorf("spot %d: %w", s.ID, err)
		}
		if err := d.checkRuns(p.Runs); err != nil {
			return nil, fmt.Errorf("patch of spot %d: %w", s.ID, err)
		}
		if d.covers(s.Runs) {
			list = append(list, newCorrection(s.Runs, s.Method, p, by))
		}
	}
	set := newCorrections(d.tiles, list)
	for _, k := range set.all() {
		var err error
		set.near(k.reach, func(o *correction) {
			if o != k && (overlap(o.patch.Runs, k.patch.Runs) || overlap(o.spot, k.spot)) {
				err = fmt.Errorf("the corrections of spots %d and %d overlap", o.patch.Spot, k.patch.Spot)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return set, nil
}

// checkRuns returns an error unless runs are pixels of the picture in reading order, at least one.
func (d *Document) checkRuns(runs []processing.Run) error {
	if len(runs) == 0 {
		return errors.New("it has no pixels")
	}
	for i, r := range runs {
		if r.Y < 0 || r.Y >= d.pic.Height || r.X0 < 0 || r.X0 >= r.X1 || r.X1 > d.pic.Width {
			return fmt.Errorf("run %v lies outside the picture of %d × %d pixels", r, d.pic.Width, d.pic.Height)
		}
		if i > 0 && (runs[i-1].Y > r.Y || runs[i-1].Y == r.Y && runs[i-1].X1 > r.X0) {
			return fmt.Errorf("run %v comes before its place", r)
		}
	}
	return nil
}

// covers reports whether the mask holds all pixels of runs.
func (d *Document) covers(runs []processing.Run) bool {
	for _, r := range runs {
		for _, v := range d.mask.Pix[r.Y*d.mask.Width+r.X0 : r.Y*d.mask.Width+r.X1] {
			if v < processing.MaskLevel {
				return false
			}
		}
	}
	return true
}

// over returns c with the newer corrections laid over it; c itself if nothing would change.
func (c *Corrections) over(fresh *Corrections, t tiling) *Corrections {
	same := map[*correction]bool{}
	var list []*correction
	for _, old := range c.all() {
		k := old
		fresh.near(old.reach, func(f *correction) {
			switch {
			case k == nil:
			case overlap(old.spot, f.spot):
				if f.equal(old) {
					same[f] = true
					list = append(list, old)
				}
				k = nil
			case overlap(k.patch.Runs, f.patch.Runs):
				k = k.without(f.patch.Runs)
			}
		})
		if k != nil && len(k.patch.Runs) > 0 {
			list = append(list, k)
		}
	}
	for _, f := range fresh.all() {
		if !same[f] {
			list = append(list, f)
		}
	}
	next := newCorrections(t, list)
	if removed, added := next.difference(c); len(removed)+len(added) == 0 {
		return c
	}
	return next
}

func (k *correction) equal(o *correction) bool {
	return k.asked == o.asked && k.patch.Method == o.patch.Method && slices.Equal(k.spot, o.spot) &&
		slices.Equal(k.patch.Runs, o.patch.Runs) && slices.Equal(k.patch.U8, o.patch.U8) &&
		slices.Equal(k.patch.U16, o.patch.U16) && slices.Equal(k.patch.F32, o.patch.F32)
}

// without returns the correction with the pixels of runs taken out of its patch.
func (k *correction) without(runs []processing.Run) *correction {
	left := k.piece()
	n := 0
	for _, r := range k.patch.Runs {
		x := r.X0
		for len(runs) > 0 && (runs[0].Y < r.Y || runs[0].Y == r.Y && runs[0].X1 <= r.X0) {
			runs = runs[1:]
		}
		// A run of the other patch may span several of this one, so only the loop above skips it.
		for _, o := range runs {
			if o.Y != r.Y || o.X0 >= r.X1 {
				break
			}
			if x < o.X0 {
				left.add(processing.Run{Y: r.Y, X0: x, X1: o.X0}, n+x-r.X0)
			}
			x = max(x, o.X1)
		}
		if x < r.X1 {
			left.add(processing.Run{Y: r.Y, X0: x, X1: r.X1}, n+x-r.X0)
		}
		n += r.X1 - r.X0
	}
	return newCorrection(k.spot, k.asked, left.patch, k.by)
}

// piece collects a part of a patch.
type piece struct {
	of       *processing.Patch
	channels int
	patch    processing.Patch
}

// piece returns an empty part of the correction's patch.
func (k *correction) piece() *piece {
	p := &k.patch
	return &piece{of: p, channels: (len(p.U8) + len(p.U16) + len(p.F32)) / processing.Pixels(p.Runs),
		patch: processing.Patch{Spot: p.Spot, Method: p.Method}}
}

// add appends the pixels of run, which start at index first of the patch.
func (p *piece) add(run processing.Run, first int) {
	p.patch.Runs = append(p.patch.Runs, run)
	p.patch.Append(p.of.Samples(), first*p.channels, (first+run.X1-run.X0)*p.channels)
}

// RemoveCorrection restores the original where the spot at pixel (x, y) was corrected; the mask stays. It can be
// undone. ok is false if there is no spot or nothing of it is corrected.
func (d *Document) RemoveCorrection(x, y int) (ok bool) {
	d.EndStroke()
	s, found := d.SpotAt(x, y)
	if !found || s.State == Uncorrected {
		return false
	}
	root := d.spots.at(x, y)
	d.filterCorrections(message.Of("Remove correction"), func(k *correction) bool {
		return !k.core.In(s.Bounds()) || d.spots.at(k.spot[0].X0, k.spot[0].Y) != root
	})
	return true
}

// ClearCorrections restores the original everywhere; the mask stays. It can be undone. ok is false if nothing is
// corrected.
func (d *Document) ClearCorrections() (ok bool) {
	d.EndStroke()
	if d.corrections == nil {
		return false
	}
	d.filterCorrections(message.Of("Remove all corrections"), func(*correction) bool { return false })
	return true
}

// filterCorrections drops all corrections for which keep returns false.
func (d *Document) filterCorrections(name message.Message, keep func(*correction) bool) {
	d.begin(name)
	d.setCorrections(d.corrections.only(keep))
	d.commit()
}

// only returns the corrections for which keep returns true; c itself if these are all.
func (c *Corrections) only(keep func(*correction) bool) *Corrections {
	var list []*correction
	for _, k := range c.all() {
		if keep(k) {
			list = append(list, k)
		}
	}
	if len(list) == c.Len() {
		return c
	}
	return newCorrections(c.tiles, list)
}

// setCorrections replaces the corrections of the document. c must be new or the present set.
func (d *Document) setCorrections(c *Corrections) {
	if c == d.corrections {
		return
	}
	if c != nil {
		d.lastPicture++
		c.generation = d.lastPicture
	}
	removed, added := c.difference(d.edit.step.corrections)
	d.corrections = c
	const pointerBytes = 8
	d.edit.step.patches = pointerBytes * int64(c.Len())
	for _, k := range slices.Concat(removed, added) {
		d.edit.step.patches += k.bytes()
	}
}

// dropUncovered removes the corrections of spots that lost a pixel of the mask within r, because nothing outside the
// mask and its halo may differ from the original. What a local change by hand has left of such a spot stays corrected.
// If the mask was replaced, the whole correction goes: it was computed for another spot.
func (d *Document) dropUncovered(r image.Rectangle) {
	var list []*correction
	whole := true
	for _, k := range d.corrections.all() {
		if !k.core.Overlaps(r) || d.covers(k.spot) {
			list = append(list, k)
			continue
		}
		whole = false
		if d.edit.byHand {
			list = append(list, d.remaining(k)...)
		}
	}
	if !whole {
		d.setCorrections(newCorrections(d.tiles, list))
	}
}

// remaining returns what remains of a correction after pixels of its spot were erased: one correction for each spot of
// the mask that still contains some of them. Pixels of the halo, the part of the patch outside the spot, belong to the
// nearest pixel of the spot. If that pixel was erased, or an erased one is equally near, the original is restored.
func (d *Document) remaining(k *correction) []*correction {
	spots := d.splitBySpots(k.spot)
	near := nearest(k.reach, spots)
	pieces := make([]*piece, len(spots))
	for i := range pieces {
		pieces[i] = k.piece()
	}
	n := 0
	for _, r := range k.patch.Runs {
		row := near[(r.Y-k.reach.Min.Y)*k.reach.Dx():][:k.reach.Dx()]
		for x := r.X0; x < r.X1; {
			of, end := row[x-k.reach.Min.X], x+1
			for end < r.X1 && row[end-k.reach.Min.X] == of {
				end++
			}
			pieces[of].add(processing.Run{Y: r.Y, X0: x, X1: end}, n+x-r.X0)
			x = end
		}
		n += r.X1 - r.X0
	}
	var list []*correction
	for i, p := range pieces {
		if i != erased && len(p.patch.Runs) > 0 {
			list = append(list, newCorrection(spots[i], k.asked, p.patch, k.by))
		}
	}
	return list
}

// erased is the index, in the result of splitBySpots, of the pixels that are no longer in the mask.
const erased = 0

// splitBySpots divides runs by the spots of the mask that they lie in. Element erased holds the pixels that lie in
// none.
func (d *Document) splitBySpots(runs []processing.Run) [][]processing.Run {
	spots := make([][]processing.Run, erased+1)
	place := map[int32]int{}
	for _, r := range runs {
		row := d.mask.Pix[r.Y*d.mask.Width:][:d.mask.Width]
		for x := r.X0; x < r.X1; {
			in, end := row[x] >= processing.MaskLevel, x+1
			for end < r.X1 && (row[end] >= processing.MaskLevel) == in {
				end++
			}
			i := erased
			if in {
				root := d.spots.at(x, r.Y)
				if place[root] == erased {
					place[root] = len(spots)
					spots = append(spots, nil)
				}
				i = place[root]
			}
			spots[i] = append(spots[i], processing.Run{Y: r.Y, X0: x, X1: end})
			x = end
		}
	}
	return spots
}

// nearest returns, for each pixel of r, the index of the nearest set, the lowest one of several. The sets lie in r; at
// least one must not be empty. Distances are chessboard distances.
func nearest(r image.Rectangle, sets [][]processing.Run) []int32 {
	const none = -1
	w, h := r.Dx(), r.Dy()
	of := make([]int32, w*h)
	for i := range of {
		of[i] = none
	}
	// A breadth-first search: pixels enter the queue in order of distance, and at equal distance in order of their
	// sets.
	queue := make([]int32, 0, w*h)
	for i, set := range sets {
		for _, run := range set {
			for x := run.X0; x < run.X1; x++ {
				p := (run.Y-r.Min.Y)*w + x - r.Min.X
				of[p] = int32(i)
				queue = append(queue, int32(p))
			}
		}
	}
	for len(queue) > 0 {
		p := int(queue[0])
		queue = queue[1:]
		for y := max(p/w-1, 0); y <= min(p/w+1, h-1); y++ {
			for x := max(p%w-1, 0); x <= min(p%w+1, w-1); x++ {
				if q := y*w + x; of[q] == none {
					of[q] = of[p]
					queue = append(queue, int32(q))
				}
			}
		}
	}
	return of
}

func firstOf(runs []processing.Run) image.Point { return image.Pt(runs[0].X0, runs[0].Y) }

func boundsOf(runs []processing.Run) image.Rectangle {
	var b image.Rectangle
	for _, r := range runs {
		b = b.Union(image.Rect(r.X0, r.Y, r.X1, r.Y+1))
	}
	return b
}

// overlap reports whether two lists of runs, each in reading order, share a pixel.
func overlap(a, b []processing.Run) bool {
	for len(a) > 0 && len(b) > 0 {
		switch p, q := a[0], b[0]; {
		case p.Y < q.Y || p.Y == q.Y && p.X1 <= q.X0:
			a = a[1:]
		case q.Y < p.Y || q.Y == p.Y && q.X1 <= p.X0:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}
