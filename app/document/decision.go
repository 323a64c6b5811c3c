package document

import (
	"image"
	"slices"

	"blik/internal/message"
	"blik/processing"
)

// Decision is what a person decided about a finding.
type Decision uint8

// The decisions. Kept is said by Keep. A finding of the last detection of which nothing is left in the mask is Ignored,
// unless the whole mask was made anew since.
const (
	Undecided Decision = iota
	Kept
	Ignored
)

// Decisions are the findings that were kept. A value never changes; nil is none.
type Decisions struct {
	// kept holds a pixel of each, in reading order. One that is no longer in the mask counts for nothing.
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

// Decisions returns what is kept now, for comparison; nil where nothing is.
func (d *Document) Decisions() *Decisions { return d.decisions }

// Keep makes findings kept: those of the current mask are marked, ignored ones come back into it. It can be undone and
// reports what it changed in the mask, and whether anything was to be done.
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
	var pieces []piecewise
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
	for _, p := range pieces {
		d.overwrite(p.mask, p.at, func(now, next uint8) uint8 { return max(now, next) })
	}
	list := make([]image.Point, 0, len(kept))
	for p := range kept {
		list = append(list, p)
	}
	slices.SortFunc(list, inOrder)
	d.decisions = &Decisions{list}
	d.edit.step.held = d.decisions.bytes()
	return d.commit(), true
}

// Ignore takes findings out of the mask, with their soft edges. It can be undone. ok is false where there is nothing to
// be done.
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
	for _, t := range targets {
		m, r := d.cut(t.bounds)
		peel(m, r.Min, t.runs)
		d.overwrite(m, r, func(_, next uint8) uint8 { return next })
	}
	return d.commit(), true
}

// Ignored returns what the last detection found and nothing of which is in the mask any more, in the order in which it
// was found: ID is 0, and Runs are its pixels. The slice must not be changed.
func (d *Document) Ignored() []Spot { return d.current().ignored }

// findIgnored lists what was taken out of the mask since the last detection.
func (d *Document) findIgnored() (list []Spot) {
	if d.detection == nil || d.renewed {
		return nil
	}
	found := d.detection.index()
	touches := func(l *labels, runs []processing.Run) (any bool) {
		for _, r := range runs {
			l.each(r, func(int32) { any = true })
			if any {
				break
			}
		}
		return any
	}
	for _, f := range d.detection.findings {
		// What the cleanup of the mask took away was never shown.
		if touches(d.spots, f.Runs) || !touches(found, f.Runs) {
			continue
		}
		s := Spot{Finding: f, Detected: true, Decision: Ignored}
		s.ID = 0
		list = append(list, s)
	}
	return list
}

// decide marks the spots that are kept.
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
