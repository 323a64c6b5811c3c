package document

import (
	"cmp"
	"image"
	"slices"

	"blik/processing"
	"blik/processing/detect"
)

// Spot is a finding in its present form: an 8-connected component of the mask. Position and area are measured on the
// mask. ID numbers the spots of the current mask from 1 in reading order and changes with the mask, unlike Number.
// Peak, Contrast, Elongation, Score and Evidence are taken from the detected finding that it contains; from the one
// with the highest score if it contains several. If it contains none, Elongation is measured on the mask and the others
// are zero. Runs is nil, except for ignored findings; see Document.SpotRuns.
type Spot struct {
	detect.Finding
	// Number is the number that the user sees. It stays the same until the next detection or until the whole mask is
	// replaced.
	Number int
	// Detected is set if the spot contains a finding of the last detection; otherwise it was painted or loaded.
	Detected bool
	// State says whether the spot is corrected. If it is, Method is the method that was used, and Asked the one that
	// was chosen for this spot (MethodAuto: the one for all spots). If the spot has several corrections, both describe
	// the largest.
	State         State
	Method, Asked processing.Method
	// Decision is what the user decided about the spot.
	Decision Decision
}

// ToCheck reports whether a person should look at the spot and has not decided about it.
func (s *Spot) ToCheck() bool { return s.Check && s.Decision == Undecided }

// State says how far a spot is corrected.
type State uint8

// The states of a spot.
const (
	Uncorrected State = iota
	// PartlyCorrected: the spot has gained pixels since it was corrected.
	PartlyCorrected
	Corrected
)

// Bounds returns the bounding box of the spot.
func (s Spot) Bounds() image.Rectangle {
	return image.Rect(s.Left, s.Top, s.Left+s.Width, s.Top+s.Height)
}

// spotList are the spots of a mask in reading order.
type spotList struct {
	spots []Spot
	// first[i] is the first pixel of spots[i]; of[r] is the index in spots of the component with root r.
	first []image.Point
	of    []int32
	// ignored holds the findings of the last detection that the user removed from the mask.
	ignored []Spot
}

// list returns the spots of the mask, with the measures of the findings that they contain.
func (l *labels) list(findings []detect.Finding) spotList {
	parts, of := l.components()
	s := spotList{spots: make([]Spot, len(parts)), first: make([]image.Point, len(parts)), of: of}
	for i, c := range parts {
		n := float64(c.N)
		s.first[i] = c.first
		s.spots[i].Finding = detect.Finding{
			ID: i + 1, X: float64(c.SX)/n + 0.5, Y: float64(c.SY)/n + 0.5,
			Left: int(c.Left), Top: int(c.Top), Width: int(c.Right - c.Left), Height: int(c.Base - c.Top),
			Area: int(c.N), Elongation: c.Elongation(),
		}
		s.spots[i].Number = i + 1
	}
	for _, f := range findings {
		for _, run := range f.Runs {
			l.each(run, func(root int32) {
				t := &s.spots[of[root]]
				if t.Detected && t.Score >= f.Score {
					return
				}
				t.Detected = true
				t.Peak, t.Contrast, t.Elongation = f.Peak, f.Contrast, f.Elongation
				t.Score, t.Evidence = f.Score, f.Evidence
			})
		}
	}
	return s
}

// correct sets the state of each spot. Corrections lie within the mask and share no pixel of it, so their areas add up.
func (s *spotList) correct(l *labels, done *Corrections) {
	covered, largest := map[int32]int{}, map[int32]int{}
	for _, k := range done.all() {
		root := l.at(k.spot[0].X0, k.spot[0].Y)
		if root < 0 {
			// An open stroke has erased it; the correction is removed when the stroke ends.
			continue
		}
		i := s.of[root]
		t := &s.spots[i]
		if k.area > largest[i] {
			largest[i] = k.area
			t.Method, t.Asked = k.patch.Method, k.asked
		}
		covered[i] += k.area
		t.State = PartlyCorrected
		if covered[i] == t.Area {
			t.State = Corrected
		}
	}
}

// contents identifies all that the list of spots depends on.
type contents struct {
	generation  uint64
	detection   *detection
	corrections *Corrections
	decisions   *Decisions
	numbers     *numbering
}

// current returns the spots of the current mask.
func (d *Document) current() *spotList {
	now := contents{d.generation, d.detection, d.corrections, d.decisions, d.numbers}
	if d.list.of != nil && d.listed == now {
		return &d.list
	}
	if d.asFound() {
		// Equal masks have equal labels, so the list that was made beside other work can be used.
		d.spots.refresh()
		d.detection.index()
		d.list = d.detection.list
		d.list.spots = slices.Clone(d.list.spots)
	} else {
		d.list = d.spots.list(d.Findings())
		// The pieces of an open stroke are nothing to remember.
		d.numbers.assign(d.spots, &d.list, d.stroke == nil)
	}
	d.list.correct(d.spots, d.corrections)
	d.list.decide(d.spots, d.decisions)
	d.list.ignored = d.findIgnored()
	d.listed = now
	return &d.list
}

// Stats returns number and area of the findings in the mask. After a change it labels the tiles that changed.
func (d *Document) Stats() Stats {
	d.spots.refresh()
	return Stats{Spots: d.spots.spots, Area: d.spots.area}
}

// Blank reports whether the mask is empty: no pixel is marked, not even softly.
func (d *Document) Blank() bool {
	if d.Stats().Area > 0 {
		return false
	}
	for i := range d.packed {
		if len(d.pack(i, &d.scratch)) > 0 {
			return false
		}
	}
	return true
}

// Spots returns the findings in the mask in reading order of their first pixels. The slice must not be changed.
func (d *Document) Spots() []Spot { return d.current().spots }

// SpotAt returns the finding at pixel (x, y), and whether one is there.
func (d *Document) SpotAt(x, y int) (Spot, bool) {
	r := d.spots.at(x, y)
	if r < 0 {
		return Spot{}, false
	}
	l := d.current()
	return l.spots[l.of[r]], true
}

// SpotRuns returns the pixels of the finding at pixel (x, y) in reading order, nil where there is none.
func (d *Document) SpotRuns(x, y int) []processing.Run {
	s, ok := d.SpotAt(x, y)
	if !ok {
		return nil
	}
	return d.spots.runs(d.spots.at(x, y), s.Bounds())
}

// Select selects the finding at pixel (x, y), or clears the selection if none is there.
func (d *Document) Select(x, y int) (Spot, bool) {
	s, ok := d.SpotAt(x, y)
	d.chosen = ok
	if ok {
		d.selected = d.current().first[s.ID-1]
	}
	return s, ok
}

// SelectSpot selects a finding of the current mask or an ignored one.
func (d *Document) SelectSpot(s Spot) {
	d.selected, d.chosen = d.FirstPixel(s), true
}

// FirstPixel returns the first pixel, in reading order, of a finding of the current mask. Of an ignored one it returns
// the first pixel in the mask of the last detection.
func (d *Document) FirstPixel(s Spot) image.Point {
	if s.Decision != Ignored {
		return d.current().first[s.ID-1]
	}
	for _, r := range s.Runs {
		for x := r.X0; x < r.X1; x++ {
			if d.detection.index().at(x, r.Y) >= 0 {
				return image.Pt(x, r.Y)
			}
		}
	}
	return firstOf(s.Runs)
}

// SelectedPixel returns the first pixel of the selected finding.
func (d *Document) SelectedPixel() (image.Point, bool) {
	s, ok := d.Selected()
	if !ok {
		return image.Point{}, false
	}
	return d.FirstPixel(s), true
}

// Selected returns the selected finding, which may be an ignored one.
func (d *Document) Selected() (Spot, bool) {
	if !d.chosen {
		return Spot{}, false
	}
	if s, ok := d.SpotAt(d.selected.X, d.selected.Y); ok {
		return s, true
	}
	for _, s := range d.Ignored() {
		if contains(s.Runs, d.selected) {
			return s, true
		}
	}
	return Spot{}, false
}

func contains(runs []processing.Run, p image.Point) bool {
	return slices.ContainsFunc(runs, func(r processing.Run) bool { return r.Y == p.Y && r.X0 <= p.X && p.X < r.X1 })
}

// Numbered returns the findings in the mask in the order of their numbers. The slice must not be changed.
func (d *Document) Numbered() []Spot {
	spots := d.Spots()
	byNumber := func(a, b Spot) int { return cmp.Compare(a.Number, b.Number) }
	if !slices.IsSortedFunc(spots, byNumber) {
		spots = slices.Clone(spots)
		slices.SortFunc(spots, byNumber)
	}
	return spots
}
