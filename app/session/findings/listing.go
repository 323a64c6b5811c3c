package findings

import (
	"cmp"
	"math"
	"slices"

	"blik/app/document"
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
		return s.ToCheck()
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
