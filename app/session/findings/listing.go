package findings

import (
	"cmp"
	"image"
	"math"
	"slices"

	"blik/app/document"
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
// (see lesson). Ignored lists findings that were removed from the mask; all other choices are of the mask. AtEdge lists
// those at the edge of the picture, Similar those that are much like one, and near it (see Likeness).
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
	AtEdge
	Similar
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
	// Like describes the finding that others are similar to, for Similar.
	Like Likeness
}

// Likeness describes a finding by what makes others similar to it: of the same kind and origin, at most likeScore away
// in the score and by the factor likeArea in the area, and no farther away than a likeNear-th of the picture's longer
// side.
type Likeness struct {
	X, Y, Score float64
	Area        int
	Kind        detect.GlintKind
	Detected    bool
}

// The limits of what is similar; see Likeness.
const (
	likeScore = 1.0
	likeArea  = 2
	likeNear  = 8
)

// likeness returns the description of a finding.
func likeness(f document.Spot) Likeness {
	return Likeness{f.X, f.Y, f.Score, f.Area, f.Kind, f.Detected}
}

// describes reports whether a finding of a picture of the given size is similar to the described one.
func (k Likeness) describes(f document.Spot, size image.Point) bool {
	return f.Detected == k.Detected && f.Kind == k.Kind && math.Abs(f.Score-k.Score) <= likeScore &&
		f.Area <= likeArea*k.Area && k.Area <= likeArea*f.Area &&
		math.Hypot(f.X-k.X, f.Y-k.Y)*likeNear <= float64(max(size.X, size.Y))
}

// edge is how near to the border of the picture a finding at its edge comes, in pixels.
const edge = 4

// atEdge reports whether a finding is at the edge of a picture of the given size.
func atEdge(f document.Spot, size image.Point) bool {
	return !f.Bounds().In(image.Rectangle{Max: size}.Inset(edge))
}

// lesson returns how much a decision about a finding would teach: most for one at the threshold, which may as well be
// glare as paint.
func (l Listing) lesson(f document.Spot) float64 { return -math.Abs(f.Score + l.Sensitivity) }

// Of returns the listed findings of a document in the order of the list. Without another order they are listed by their
// numbers, those at the edge of the picture last: these are mostly frames and cut-off strokes.
func (l Listing) Of(doc *document.Document) []document.Spot {
	all, size := doc.Numbered(), doc.Size()
	if l.Choice == Ignored {
		all = doc.Ignored()
	}
	var list []document.Spot
	for _, s := range all {
		if l.lists(s, size) {
			list = append(list, s)
		}
	}
	compare := func(a, b document.Spot) int { return l.compare(a, b) }
	switch {
	case l.Choice == Instructive:
		compare = func(a, b document.Spot) int { return cmp.Compare(l.lesson(b), l.lesson(a)) }
	case l.Descending:
		compare = func(a, b document.Spot) int { return l.compare(b, a) }
	case l.By == ByNumber:
		compare = func(a, b document.Spot) int {
			return cmp.Or(order(atEdge(a, size), atEdge(b, size)), l.compare(a, b))
		}
	}
	// Findings that compare as equal stay in the order of their numbers.
	slices.SortStableFunc(list, compare)
	return list
}

// order compares two conditions: false is less.
func order(a, b bool) int {
	switch {
	case a && !b:
		return 1
	case b && !a:
		return -1
	}
	return 0
}

func (l Listing) lists(s document.Spot, size image.Point) bool {
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
	case AtEdge:
		return atEdge(s, size)
	case Similar:
		return l.Like.describes(s, size)
	}
	return true
}

// compare compares by the column. What was painted by hand has neither score nor contrast and sorts as the lowest.
func (l Listing) compare(a, b document.Spot) int {
	byDetected := order(a.Detected, b.Detected)
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
