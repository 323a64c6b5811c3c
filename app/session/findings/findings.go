package findings

import (
	"bytes"
	"context"
	"image"
	"path/filepath"
	"slices"

	"blik/app/document"
	"blik/app/report"
	"blik/app/session"
	"blik/internal/atomicfile"
	"blik/processing"
	"blik/processing/detect"
)

// Findings lists the findings of the open picture, selects among them and decides about them.
type Findings struct {
	s *session.Session
	// listing says which findings are listed, and in which order; told is the listing of the last Change.
	listing, told Listing
	// before is the listing before Check, while checking is set.
	before   Listing
	checking bool
	listed   listed
	counted  counted
}

// counted is how many findings some sensitivities would give, and what of.
type counted struct {
	table         *detect.Table
	region        *processing.Region
	learned       *processing.Learned
	sensitivities []float64
	counts        []int
}

func New(s *session.Session) *Findings {
	l := &Findings{s: s}
	s.AddModule(session.Module{Changed: l.changed})
	return l
}

func (l *Findings) changed(c *session.Change) {
	if l.checking && (c.Document || c.Cause == session.Detected ||
		(c.Mask || c.Corrections || c.Decisions) && l.Unchecked() == 0) {
		l.listing, l.checking = l.before, false
	}
	c.Listing = l.listing != l.told
	l.told = l.listing
	if row := l.SelectedRow(); row >= 0 {
		l.listed.place = row
	} else if c.Document || c.Cause == session.Detected {
		l.listed.place = 0
	}
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
	session.Revision
	listing Listing
}

// Listing returns the present listing.
func (l *Findings) Listing() Listing { return l.listing }

// SetListing sets which findings are listed, and in which order.
func (l *Findings) SetListing(by Listing) {
	l.listing, l.checking = by, l.checking && by.Choice == ToCheck
	l.s.Publish(session.Other, image.Rectangle{})
}

// Check lists the findings that a person should look at, the largest first, until all of them are checked, or until
// another search or picture. Then the listing is as before.
func (l *Findings) Check() {
	if !l.checking {
		l.before, l.checking = l.listing, true
	}
	l.SetListing(Listing{Choice: ToCheck, By: ByArea, Descending: true})
}

// Checking reports whether the listing is that of Check.
func (l *Findings) Checking() bool { return l.checking }

// Choose lists the findings of a choice, in the same order as before; Similar lists those like the selected one.
func (l *Findings) Choose(c Choice) {
	by := l.listing
	by.Choice, by.Like = c, Likeness{}
	if f, ok := l.Selected(); ok && c == Similar {
		by.Like = likeness(f)
	}
	l.SetListing(by)
}

// Listed returns the listed findings. The slice must not be changed.
func (l *Findings) Listed() []document.Spot {
	doc := l.s.Document()
	if doc == nil {
		return nil
	}
	by := l.listing
	if by.Choice == Instructive {
		by.Sensitivity = l.s.Settings().Params.Sensitivity
	}
	now := listKey{session.RevisionOf(doc), by}
	if l.listed.of != now {
		l.listed.spots, l.listed.of = by.Of(doc), now
	}
	return l.listed.spots
}

// Unchecked returns the number of findings that a person should look at and that are neither kept nor corrected.
func (l *Findings) Unchecked() (n int) {
	for _, s := range l.s.Document().Spots() {
		if s.ToCheck() && s.State != document.Corrected {
			n++
		}
	}
	return n
}

// SelectedRow returns the index of the selected finding in the list, −1 if it is not listed.
func (l *Findings) SelectedRow() int {
	f, ok := l.Selected()
	if !ok {
		return -1
	}
	return slices.IndexFunc(l.Listed(), func(o document.Spot) bool {
		if f.Decision == document.Ignored {
			return o.Decision == document.Ignored && slices.Equal(o.Runs, f.Runs)
		}
		return o.Decision != document.Ignored && o.ID == f.ID
	})
}

// SelectNext selects the next finding of the list for direction 1, the previous one for −1, and wraps around at the
// ends. If the selected finding is no longer listed, it continues from its last index. ok is false if the list is
// empty.
func (l *Findings) SelectNext(direction int) (f document.Spot, ok bool) {
	list := l.Listed()
	if len(list) == 0 {
		return document.Spot{}, false
	}
	row := l.SelectedRow()
	switch {
	case row >= 0:
		row += direction
	case direction > 0:
		row = l.listed.place
	default:
		row = l.listed.place - 1
	}
	row = (row + len(list)) % len(list)
	l.Select(list[row])
	return list[row], true
}

// KeepSelected marks the selected finding as kept. An ignored one is added to the mask again.
func (l *Findings) KeepSelected() (ok bool) { return l.decide(l.selectedOnly(), l.s.Document().Keep) }

// KeepListed marks all listed findings as kept and returns their number.
func (l *Findings) KeepListed() int { return l.decideListed(l.s.Document().Keep) }

// IgnoreListed removes all listed findings from the mask and returns their number.
func (l *Findings) IgnoreListed() int { return l.decideListed(l.s.Document().Ignore) }

func (l *Findings) selectedOnly() []document.Spot {
	if f, ok := l.Selected(); ok {
		return []document.Spot{f}
	}
	return nil
}

func (l *Findings) decideListed(how func([]document.Spot) (image.Rectangle, bool)) int {
	l.s.Settle()
	list := slices.Clone(l.Listed())
	if !l.decide(list, how) {
		return 0
	}
	return len(list)
}

func (l *Findings) decide(list []document.Spot, how func([]document.Spot) (image.Rectangle, bool)) (ok bool) {
	l.s.Settle()
	pixels, ok := how(list)
	l.s.Publish(session.Other, pixels)
	return ok
}

// Decided returns the numbers of kept findings, of all findings in the mask, and of ignored findings.
func (l *Findings) Decided() (kept, all, ignored int) {
	if l.s.Document() == nil {
		return 0, 0, 0
	}
	for _, f := range l.s.Document().Spots() {
		if f.Decision == document.Kept {
			kept++
		}
	}
	return kept, len(l.s.Document().Spots()), len(l.s.Document().Ignored())
}

// EnoughDecisions is the number of decisions from which on it is worthwhile to look at what they would teach.
const EnoughDecisions = 20

// ExpectedWrong returns how many findings of the mask that the user has not decided about are expected to be wrong; ok
// is false if that is not known.
func (l *Findings) ExpectedWrong() (wrong float64, ok bool) {
	d, err := processing.DefaultDecision()
	if l.s.Document() == nil || err != nil || len(d.Wrong) == 0 {
		return 0, false
	}
	for _, f := range l.s.Document().Spots() {
		if f.Strength > 0 && f.Decision != document.Kept {
			wrong += 1 - f.Certainty
		}
	}
	return wrong, true
}

// CountAt returns how many findings of the last detection each of some sensitivities would give; nil if a search would
// have to be made to know. With 20,000 components it takes some five milliseconds the first time.
func (l *Findings) CountAt(sensitivities []float64) []int {
	p, table := l.s.Settings().Params, l.s.Table()
	d, err := processing.DefaultDecision()
	if l.s.Document() == nil || err != nil || !table.Serves(p) {
		return nil
	}
	c, region := &l.counted, l.s.Document().Region()
	if c.table != table || c.region != region || c.learned != p.Learned ||
		!slices.Equal(c.sensitivities, sensitivities) {
		counts := detect.Counts(table, d, p, region, sensitivities)
		*c = counted{table, region, p.Learned, slices.Clone(sensitivities), counts}
	}
	return c.counts
}

// Save writes the listed findings to a CSV file, in the order of the list.
func (l *Findings) Save(ctx context.Context, path string) error {
	var rows []report.ListedFinding
	for _, f := range l.Listed() {
		row := report.ListedFinding{
			Finding: f.Finding, Number: f.Number, Detected: f.Detected,
			Decision: [...]string{"", "kept", "ignored"}[f.Decision],
			State:    [...]string{"not corrected", "partly", "corrected"}[f.State],
		}
		if f.State != document.Uncorrected {
			row.Method = f.Method.ID()
		}
		rows = append(rows, row)
	}
	var b bytes.Buffer
	if err := report.WriteList(&b, filepath.Base(l.s.Document().Path()), rows); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, b.Bytes(), 0o666)
}

// Select selects a finding.
func (l *Findings) Select(f document.Spot) {
	l.s.Document().SelectSpot(f)
	l.s.Publish(session.Other, image.Rectangle{})
}

// Selected returns the selected finding.
func (l *Findings) Selected() (f document.Spot, ok bool) {
	if l.s.Document() == nil {
		return document.Spot{}, false
	}
	return l.s.Document().Selected()
}

// RemoveSelected removes the selected finding from the mask, so that it counts as ignored.
func (l *Findings) RemoveSelected() (ok bool) {
	return l.decide(l.selectedOnly(), l.s.Document().Ignore)
}
