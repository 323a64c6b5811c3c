package session

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"math"
	"path/filepath"
	"slices"

	"blik/app/document"
	"blik/app/report"
	"blik/internal/atomicfile"
	"blik/processing"
	"blik/processing/detect"
)

// Column is a column of the list of findings, by which the list can be sorted.
type Column uint8

// The columns.
const (
	ByNumber Column = iota
	ByX
	ByY
	ByArea
	ByScore
	ByKind
	ByMethod
)

// Choice says which findings are listed.
type Choice uint8

// InMask lists all findings of the mask, Painted those that no detection found. Open are undecided, ToCheck those that
// a person should look at. Instructive lists the undecided ones, those first about which a decision would teach most
// (see lesson). Ignored lists findings that were removed from the mask; all other choices are of the mask.
const (
	InMask Choice = iota
	Open
	Kept
	Ignored
	NotCorrected
	Corrected
	Painted
	ToCheck
	Instructive
)

// Bound is an optional lower bound.
type Bound struct {
	Set   bool
	Least float64
}

func (b Bound) passes(v float64) bool { return !b.Set || v >= b.Least }

// Listing says which findings are listed, and in which order. The zero value lists those of the mask by their numbers.
type Listing struct {
	Choice Choice
	// Area is in pixels, Contrast a share of white. Bounds of score and contrast exclude what was painted by hand,
	// which has neither.
	Area, Score, Contrast Bound
	By                    Column
	Descending            bool
	// Sensitivity is that of the detection, for Instructive.
	Sensitivity float64
}

// lesson returns how much a decision about a finding would teach: most for one at the threshold, which may as well be
// glare as paint.
func (l Listing) lesson(f document.Spot) float64 { return -math.Abs(f.Score + l.Sensitivity) }

// Of returns the listed findings of a document in the order of the list. The slice must not be changed.
func (l Listing) Of(doc *document.Document) []document.Spot {
	if l == (Listing{}) {
		return doc.Numbered()
	}
	all := doc.Numbered()
	if l.Choice == Ignored {
		all = doc.Ignored()
	}
	var list []document.Spot
	for _, s := range all {
		if l.lists(s) {
			list = append(list, s)
		}
	}
	compare := func(a, b document.Spot) int { return l.compare(a, b) }
	switch {
	case l.Choice == Instructive:
		compare = func(a, b document.Spot) int { return cmp.Compare(l.lesson(b), l.lesson(a)) }
	case l.Descending:
		compare = func(a, b document.Spot) int { return l.compare(b, a) }
	}
	// Findings that compare as equal stay in the order of their numbers.
	slices.SortStableFunc(list, compare)
	return list
}

func (l Listing) lists(s document.Spot) bool {
	if !l.Area.passes(float64(s.Area)) || (l.Score.Set || l.Contrast.Set) && !s.Detected || !l.Score.passes(s.Score) ||
		!l.Contrast.passes(s.Contrast) {
		return false
	}
	switch l.Choice {
	case Instructive:
		return s.Detected && s.Decision == document.Undecided
	case Open:
		return s.Decision == document.Undecided
	case Kept:
		return s.Decision == document.Kept
	case NotCorrected:
		return s.State != document.Corrected
	case Corrected:
		return s.State == document.Corrected
	case Painted:
		return !s.Detected
	case ToCheck:
		return s.Check && s.Decision != document.Kept
	}
	return true
}

// compare compares by the column. What was painted by hand has neither score nor contrast and sorts as the lowest.
func (l Listing) compare(a, b document.Spot) int {
	byDetected := 0
	switch {
	case a.Detected && !b.Detected:
		byDetected = 1
	case b.Detected && !a.Detected:
		byDetected = -1
	}
	switch l.By {
	case ByX:
		return cmp.Compare(a.X, b.X)
	case ByY:
		return cmp.Compare(a.Y, b.Y)
	case ByArea:
		return cmp.Compare(a.Area, b.Area)
	case ByScore:
		return cmp.Or(byDetected, cmp.Compare(a.Score, b.Score))
	case ByKind:
		return cmp.Or(byDetected, cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Shares[a.Kind], a.Shares[a.Kind]))
	case ByMethod:
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Method, b.Method))
	}
	return cmp.Compare(a.Number, b.Number)
}

// listed caches the list of findings.
type listed struct {
	spots []document.Spot
	// of is what the list was made from.
	of listKey
	// place is the last index of the selected finding in the list.
	place int
}

// listKey identifies all that the list of findings depends on.
type listKey struct {
	doc         *document.Document
	mask        uint64
	corrections *document.Corrections
	result      *processing.Result
	decisions   *document.Decisions
	listing     Listing
}

// Listing returns the present listing.
func (s *Session) Listing() Listing { return s.listing }

// SetListing sets which findings are listed, and in which order.
func (s *Session) SetListing(l Listing) {
	s.listing = l
	s.publish(Other, image.Rectangle{})
}

// Listed returns the listed findings. The slice must not be changed.
func (s *Session) Listed() []document.Spot {
	if s.doc == nil {
		return nil
	}
	by := s.listing
	if by.Choice == Instructive {
		by.Sensitivity = s.settings.Params.Sensitivity
	}
	now := listKey{s.doc, s.doc.Generation(), s.doc.Corrections(), s.doc.Result(), s.doc.Decisions(), by}
	if s.listed.of != now {
		s.listed.spots, s.listed.of = by.Of(s.doc), now
	}
	return s.listed.spots
}

// SelectedRow returns the index of the selected finding in the list, −1 if it is not listed.
func (s *Session) SelectedRow() int {
	f, ok := s.Selected()
	if !ok {
		return -1
	}
	return slices.IndexFunc(s.Listed(), func(o document.Spot) bool {
		if f.Decision == document.Ignored {
			return o.Decision == document.Ignored && slices.Equal(o.Runs, f.Runs)
		}
		return o.Decision != document.Ignored && o.ID == f.ID
	})
}

// SelectNext selects the next finding of the list for direction 1, the previous one for −1, and wraps around at the
// ends. If the selected finding is no longer listed, it continues from its last index. ok is false if the list is
// empty.
func (s *Session) SelectNext(direction int) (f document.Spot, ok bool) {
	if s.listing == (Listing{}) {
		move := s.doc.Next
		if direction < 0 {
			move = s.doc.Previous
		}
		f, ok = move()
		s.publish(Other, image.Rectangle{})
		return f, ok
	}
	list := s.Listed()
	if len(list) == 0 {
		return document.Spot{}, false
	}
	row := s.SelectedRow()
	switch {
	case row >= 0:
		row += direction
	case direction > 0:
		row = s.listed.place
	default:
		row = s.listed.place - 1
	}
	row = (row + len(list)) % len(list)
	s.Select(list[row])
	return list[row], true
}

// KeepSelected marks the selected finding as kept. An ignored one is added to the mask again.
func (s *Session) KeepSelected() (ok bool) { return s.decide(s.selectedOnly(), s.doc.Keep) }

// KeepListed marks all listed findings as kept and returns their number.
func (s *Session) KeepListed() int { return s.decideListed(s.doc.Keep) }

// IgnoreListed removes all listed findings from the mask and returns their number.
func (s *Session) IgnoreListed() int { return s.decideListed(s.doc.Ignore) }

func (s *Session) selectedOnly() []document.Spot {
	if f, ok := s.Selected(); ok {
		return []document.Spot{f}
	}
	return nil
}

func (s *Session) decideListed(how func([]document.Spot) (image.Rectangle, bool)) int {
	s.settle()
	list := slices.Clone(s.Listed())
	if !s.decide(list, how) {
		return 0
	}
	return len(list)
}

func (s *Session) decide(list []document.Spot, how func([]document.Spot) (image.Rectangle, bool)) (ok bool) {
	s.settle()
	pixels, ok := how(list)
	s.publish(Other, pixels)
	return ok
}

// Decided returns the numbers of kept findings, of all findings in the mask, and of ignored findings.
func (s *Session) Decided() (kept, all, ignored int) {
	if s.doc == nil {
		return 0, 0, 0
	}
	for _, f := range s.doc.Spots() {
		if f.Decision == document.Kept {
			kept++
		}
	}
	return kept, len(s.doc.Spots()), len(s.doc.Ignored())
}

// EnoughDecisions is the number of decisions from which on it is worthwhile to look at what they would teach.
const EnoughDecisions = 20

// ExpectedWrong returns how many of the findings of the last detection are expected to be wrong; ok is false if that is
// not known.
func (s *Session) ExpectedWrong() (wrong float64, ok bool) {
	d, err := processing.DefaultDecision()
	if s.doc == nil || err != nil || !s.settings.Params.UsesNetwork() {
		return 0, false
	}
	return detect.Wrong(s.doc.Findings(), d)
}

// SaveFindings writes the listed findings to a CSV file, in the order of the list.
func (s *Session) SaveFindings(ctx context.Context, path string) error {
	var rows []report.ListedFinding
	for _, f := range s.Listed() {
		row := report.ListedFinding{
			Finding: f.Finding, Number: f.Number, Detected: f.Detected,
			Decision: [...]string{"", "kept", "ignored"}[f.Decision],
			State:    [...]string{"not corrected", "partly", "corrected"}[f.State],
		}
		if f.State != document.Uncorrected {
			row.Method = methodID(f.Method)
		}
		rows = append(rows, row)
	}
	var b bytes.Buffer
	if err := report.WriteList(&b, filepath.Base(s.doc.Path()), rows); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, b.Bytes(), 0o666)
}

// methodID returns the name of a method in tables.
func methodID(m processing.Method) string {
	spec, _ := processing.SpecByID("method")
	return spec.Choices[m].ID
}
