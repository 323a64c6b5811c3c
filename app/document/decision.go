package document

import (
	"image"
	"maps"
	"slices"

	"blik/internal/message"
	"blik/processing"
)

// Decision is what the user decided about a finding.
type Decision uint8

// Keep makes a finding Kept. A finding of the last detection is Ignored if nothing of it is left in the mask, unless
// the whole mask was replaced since.
const (
	Undecided Decision = iota
	Kept
	Ignored
)

// Decisions holds the findings that were kept. It is immutable; nil means none.
type Decisions struct {
	// kept holds one pixel of each, in reading order. Pixels that are no longer in the mask have no effect.
	kept []image.Point
}

// bytes estimates the memory of the decisions.
func (k *Decisions) bytes() int64 {
	const pointBytes = 16
	if k == nil {
		return 0
	}
	return pointBytes * int64(len(k.kept))
}

// Decisions returns the present decisions, which can be compared by pointer; nil if nothing is kept.
func (d *Document) Decisions() *Decisions { return d.decisions }

// Keep marks findings as kept and adds those that were ignored to the mask again. It can be undone. dirty is what
// changed in the mask; ok is false if all were kept already.
func (d *Document) Keep(spots []Spot) (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	name := message.Of("Keep finding")
	if len(spots) > 1 {
		name = message.Of("Keep findings")
	}
	kept := map[image.Point]bool{}
	if d.decisions != nil {
		for _, p := range d.decisions.kept {
			kept[p] = true
		}
	}
	known := len(kept)
	var pieces []fragment
	for _, s := range spots {
		if s.Decision == Ignored {
			at := d.FirstPixel(s)
			if found, runs, ok := d.detection.at(at.X, at.Y); ok {
				pieces = append(pieces, d.detection.spot(found.Bounds(), runs))
			}
		}
		if s.Decision != Kept {
			kept[d.FirstPixel(s)] = true
		}
	}
	if len(kept) == known && len(pieces) == 0 {
		return image.Rectangle{}, false
	}
	d.begin(name)
	d.edit.decided = true
	for _, p := range pieces {
		d.overwrite(p.mask, p.at, func(now, next uint8) uint8 { return max(now, next) })
	}
	d.decisions = &Decisions{slices.SortedFunc(maps.Keys(kept), inOrder)}
	d.edit.step.held = d.decisions.bytes()
	noteKept(d, slices.DeleteFunc(slices.Clone(spots), func(s Spot) bool { return s.Decision != Undecided }))
	return d.commit(), true
}

// Ignore removes findings from the mask, with their soft edges. It can be undone. ok is false if all were ignored
// already.
func (d *Document) Ignore(spots []Spot) (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	name := message.Of("Remove finding")
	if len(spots) > 1 {
		name = message.Of("Remove findings")
	}
	type target struct {
		bounds image.Rectangle
		runs   []processing.Run
	}
	var targets []target
	for _, s := range spots {
		if s.Decision == Ignored {
			continue
		}
		at := d.FirstPixel(s)
		targets = append(targets, target{s.Bounds(), d.spots.runs(d.spots.at(at.X, at.Y), s.Bounds())})
	}
	if len(targets) == 0 {
		return image.Rectangle{}, false
	}
	d.begin(name)
	d.edit.decided = true
	for _, t := range targets {
		m, r := d.copyAround(t.bounds)
		peel(m, r.Min, t.runs)
		d.overwrite(m, r, func(_, next uint8) uint8 { return next })
	}
	return d.commit(), true
}

// Ignored returns the findings of the last detection of which no pixel is left in the mask, in the order of the
// detection. ID is 0, Number is the one that it had in the mask, and Runs are the pixels. The slice must not be
// changed.
func (d *Document) Ignored() []Spot { return d.current().ignored }

// findIgnored lists the findings that were removed from the mask since the last detection.
func (d *Document) findIgnored() (list []Spot) {
	if d.detection == nil || d.replaced {
		return nil
	}
	found := d.detection.index()
	touches := func(l *labels, runs []processing.Run) (at int32) {
		at = -1
		for _, r := range runs {
			l.each(r, func(root int32) { at = root })
			if at >= 0 {
				break
			}
		}
		return at
	}
	for _, f := range d.detection.findings {
		// The cleanup of the mask may have removed a finding, which was then never shown.
		was := touches(found, f.Runs)
		if was < 0 || touches(d.spots, f.Runs) >= 0 {
			continue
		}
		f.ID = 0
		list = append(list, Spot{Finding: f, Number: d.detection.list.spots[d.detection.list.of[was]].Number,
			Detected: true, Decision: Ignored})
	}
	return list
}

// decide sets the decision of the spots that are kept.
func (s *spotList) decide(l *labels, kept *Decisions) {
	if kept == nil {
		return
	}
	for _, p := range kept.kept {
		if root := l.at(p.X, p.Y); root >= 0 {
			s.spots[s.of[root]].Decision = Kept
		}
	}
}
