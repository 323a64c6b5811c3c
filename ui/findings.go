package ui

import (
	"fmt"
	"image"
	"math"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/app/i18n"
	"blik/app/session"
	"blik/app/session/findings"
	"blik/app/settings"
	"blik/internal/message"
	"blik/ui/arrange"
	"blik/ui/words"
	"blik/ui/xwidget"
)

// findingsPanel is the list of findings, with the controls that limit it.
type findingsPanel struct {
	k       *kit
	session *session.Session
	found   *findings.Findings
	review  *review
	object  fyne.CanvasObject
	table   *xwidget.SortTable
	sum     *widget.Label
	choice  *xwidget.Select
	bounds  []*xwidget.NumberEntry
	// thumbs shows the findings as close-ups; views holds it and the table, only one of which is visible.
	thumbs *xwidget.Grid
	views  *fyne.Container
	thumb  *xwidget.ToolButton
	// why states the reasons for and against the selected finding.
	why          *widget.Label
	whyBox       *fyne.Container
	keep, ignore *xwidget.ToolButton
	quiet        xwidget.Quiet
}

// findingColumn is a column of the list: heading, width, sort key, and text of a finding.
type findingColumn struct {
	name  message.Text
	width float32
	by    findings.Column
	cell  func(w *words.Words, f document.Spot) string
}

// findingColumns are the columns of the list.
var findingColumns = []findingColumn{
	{"No.", 46, findings.ByNumber, (*words.Words).Number},
	{"x", 42, findings.ByX, func(_ *words.Words, f document.Spot) string { return fmt.Sprint(int(math.Floor(f.X))) }},
	{"y", 42, findings.ByY, func(_ *words.Words, f document.Spot) string { return fmt.Sprint(int(math.Floor(f.Y))) }},
	{"Area", 68, findings.ByArea, (*words.Words).Area},
	{"Score", 64, findings.ByScore, (*words.Words).Score},
	{"Kind", 70, findings.ByKind, (*words.Words).Kind},
	{"Method", 60, findings.ByMethod, (*words.Words).ShortState},
}

// findingChoices are the groups of findings that the list can be limited to.
var findingChoices = []struct {
	name message.Text
	is   findings.Choice
}{
	{"All in the mask", findings.InMask}, {"Undecided", findings.Open}, {"Kept", findings.Kept},
	{"Ignored", findings.Ignored}, {"Not corrected", findings.NotCorrected}, {"Corrected", findings.Corrected},
	{"Painted by hand", findings.Painted}, {"To look at", findings.ToCheck},
	{"Undecided, instructive first", findings.Instructive}, {"At the edge of the picture", findings.AtEdge},
	{"Similar to the selected one, nearby", findings.Similar},
}

// findingBounds are the minimum values that the list can be limited to.
var findingBounds = []struct {
	name message.Text
	of   func(l *findings.Listing) *findings.Bound
	// scale converts the typed number into the value.
	scale float64
}{
	{"Area ≥", func(l *findings.Listing) *findings.Bound { return &l.Area }, 1},
	{"Score ≥", func(l *findings.Listing) *findings.Bound { return &l.Score }, 1},
	{"Contrast ≥", func(l *findings.Listing) *findings.Bound { return &l.Contrast }, 0.01},
}

func newFindingsPanel(c *common) *findingsPanel {
	p := &findingsPanel{k: c.k, session: c.session, found: c.found, review: c.review,
		sum: xwidget.NewWrapped(""), why: xwidget.NewWrapped("")}
	var names []string
	for _, choice := range findingChoices {
		names = append(names, c.k.t(choice.name))
	}
	p.choice = xwidget.NewSelect(names, c.k.keys, xwidget.ByUser(&p.quiet, func(string) {
		c.found.Choose(findingChoices[p.choice.SelectedIndex()].is)
	}))
	p.keep = c.k.button(findKeep, theme.ConfirmIcon())
	p.ignore = c.k.button(findIgnore, theme.CancelIcon())
	p.thumb = c.k.button(findThumbnails, theme.GridIcon())
	choose := container.NewBorder(nil, nil, nil, container.NewHBox(p.keep, p.ignore,
		p.thumb, c.k.button(findSave, theme.DownloadIcon())), p.choice)

	p.why.SizeName = theme.SizeNameCaptionText
	p.whyBox = container.NewStack(container.NewVScroll(p.why))
	p.whyBox.Hide()

	widths := make([]float32, len(findingColumns))
	for i, column := range findingColumns {
		widths[i] = column.width - 4
	}
	p.table = xwidget.NewSortTable(widths, c.k.keys)
	p.table.Rows = func() int { return len(c.found.Listed()) }
	p.table.Cell = p.cell
	p.table.Head = p.head
	p.table.OnHead = p.sort
	p.table.OnRow = func(row int) {
		c.review.show(c.found.Listed()[row])
	}
	p.table.OnStep = func(direction int) {
		id := map[int]string{1: findNext, -1: findPrevious}[direction]
		c.k.actions.do(id)
	}
	p.thumbs = newThumbs(c)
	p.views = container.NewStack(p.table, p.thumbs)
	p.object = container.New(arrange.Findings{}, p.sum, xwidget.Inset(2, 8, choose), xwidget.Inset(4, 8, p.newBounds()),
		p.views, p.whyBox)
	return p
}

// newBounds makes the fields for minimum values, side by side.
func (p *findingsPanel) newBounds() fyne.CanvasObject {
	row := container.NewHBox()
	for _, b := range findingBounds {
		entry := xwidget.NewNumberEntry(46, func(text string) { p.setBound(b.name, b.of, b.scale, text) })
		entry.Tips = p.k.tips
		p.bounds = append(p.bounds, entry)
		name := xwidget.NewFixedText(p.k.t(b.name))
		name.SetText(p.k.t(b.name))
		row.Add(container.NewCenter(name))
		row.Add(entry)
	}
	return row
}

// review shows findings one after the other.
type review struct {
	k       *kit
	session *session.Session
	found   *findings.Findings
	// tab shows the list of findings, or in a step what else follows the selected one.
	tab func(step bool)
}

// check lists the findings that a person should look at, and shows the first. It empties the queue, which was meant for
// what comes after the correction: to save this picture, or to open another one.
func (r *review) check() {
	withdrawn := r.session.Queue().Clear()
	r.found.Check()
	if list := r.found.Listed(); len(list) > 0 {
		r.tab(false)
		r.show(list[0])
	}
	if withdrawn {
		r.k.say(r.k.t("Check these findings first: the waiting tasks were removed from the queue"))
	}
}

// list changes which findings are listed.
func (r *review) list(change func(l *findings.Listing)) {
	l := r.found.Listing()
	change(&l)
	r.found.SetListing(l)
}

// setBound sets a minimum value from typed text. Text that is not a number removes it, with a message unless the field
// is empty.
func (p *findingsPanel) setBound(name message.Text, of func(l *findings.Listing) *findings.Bound, scale float64,
	text string) {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	v, err := i18n.ParseNumber(text)
	bound := findings.Bound{Set: err == nil, Least: v * scale}
	if err != nil {
		bound = findings.Bound{}
		if text != "" {
			p.k.say(p.k.t("%s: enter a number.", strings.TrimSuffix(p.k.t(name), " ≥")))
		}
	}
	p.review.list(func(l *findings.Listing) { *of(l) = bound })
	p.showBounds()
}

// showBounds shows the current minimum values.
func (p *findingsPanel) showBounds() {
	l := p.found.Listing()
	for i, b := range findingBounds {
		text := ""
		if bound := b.of(&l); bound.Set {
			text = p.k.texts.Number(bound.Least/b.scale, 2)
		}
		p.bounds[i].ShowText(text)
	}
}

// sort sorts by a column, or reverses the order if the list is already sorted by it. Numbers start with the largest.
func (p *findingsPanel) sort(column int) {
	by := findingColumns[column].by
	p.review.list(func(l *findings.Listing) {
		if l.By == by {
			l.Descending = !l.Descending
			return
		}
		l.By, l.Descending = by, by == findings.ByArea || by == findings.ByScore
	})
}

// head returns the heading of a column, with an arrow if the list is sorted by it.
func (p *findingsPanel) head(column int) string {
	text, l := p.k.t(findingColumns[column].name), p.found.Listing()
	switch {
	case l.By != findingColumns[column].by:
		return text
	case l.Descending:
		return text + " ↓"
	}
	return text + " ↑"
}

// cell returns the text of a cell of the list.
func (p *findingsPanel) cell(row, column int) string {
	list := p.found.Listed()
	if row < 0 || row >= len(list) {
		return ""
	}
	return findingColumns[column].cell(p.k.words, list[row])
}

func (p *findingsPanel) update(c change) {
	list := c.Document || c.Mask || c.Corrections || c.Result || c.Decisions || c.Listing
	if c.Listing || c.Document {
		p.table.ShowTop()
		p.quiet.Show(func() { p.choice.SetSelectedIndex(int(p.found.Listing().Choice)) })
		p.showBounds()
	}
	if list {
		p.sum.SetText(p.sumText())
		p.object.Refresh() // also moves what is below if the summary takes more lines now
	}
	if c.View || c.Listing || c.Document {
		on := p.session.Settings().FindingThumbnails
		p.thumb.SetSelected(on)
		xwidget.SetVisible(p.table, !on)
		xwidget.SetVisible(p.thumbs, on)
	}
	if (list || c.Selection) && p.thumbs.Visible() {
		p.thumbs.Refresh()
	}
	if list || c.Selection {
		p.showSelected()
		p.explain()
		_, selected := p.found.Selected()
		p.keep.SetEnabled(selected)
		p.ignore.SetEnabled(selected)
	}
}

// sumText counts the findings, the decided ones, and the listed ones if not all are listed.
func (p *findingsPanel) sumText() string {
	if p.session.Document() == nil {
		return p.k.t("No picture is open.")
	}
	parts := []string{p.k.words.Found(p.session.Document())}
	if wrong, ok := p.found.ExpectedWrong(); ok && wrong >= 0.5 {
		n := int(math.Round(wrong))
		parts = append(parts, p.k.texts.Plural(n, "about %s is expected to be wrong",
			"about %s are expected to be wrong", p.k.texts.Int(n)))
	}
	kept, all, ignored := p.found.Decided()
	if kept+ignored > 0 {
		parts = append(parts, p.k.t("%s kept, %s ignored", p.k.texts.Int(kept), p.k.texts.Int(ignored)))
	}
	if n := len(p.found.Listed()); n != all || p.found.Listing().Choice == findings.Ignored {
		parts = append(parts, p.k.t("%s listed", p.k.texts.Int(n)))
	}
	return strings.Join(parts, "; ")
}

// explain shows what the selected finding was judged by.
func (p *findingsPanel) explain() {
	f, ok := p.found.Selected()
	if ok {
		p.why.SetText(p.k.words.Why(f))
	}
	if ok != p.whyBox.Visible() {
		xwidget.SetVisible(p.whyBox, ok)
		p.object.Refresh() // the list takes or leaves the room
	}
}

// showSelected selects the row of the selected finding and scrolls it into view.
func (p *findingsPanel) showSelected() {
	row := p.found.SelectedRow()
	p.table.Mark(row)
	if p.thumbs.Visible() && row >= 0 {
		p.thumbs.ScrollTo(row)
	}
}

const (
	// revealZoom limits the zoom at which a finding is centred, because it is judged by its surroundings.
	revealZoom = 4
	// reviewedWidth is the width of a finding that is reviewed, in screen pixels, and fittingZoom the largest zoom for
	// that.
	reviewedWidth, fittingZoom = 40, 16
)

// show selects a finding and reveals it.
func (r *review) show(f document.Spot) {
	r.found.Select(f)
	r.reveal(f)
}

// reveal centres a finding in the window, at the zoom chosen for that, and outlines the mask instead of covering it.
func (r *review) reveal(f document.Spot) {
	r.k.display.review()
	switch zoom := r.session.Settings().ReviewZoom; zoom {
	case settings.ReviewFitting:
		r.k.display.port.Centre(f.Bounds(), fitting(f.Bounds()))
	case 0:
		r.k.display.port.Reveal(f.Bounds(), revealZoom)
	default:
		r.k.display.port.Centre(f.Bounds(), zoom)
	}
	if f.Decision == document.Ignored {
		r.k.say(r.k.t("Ignored finding %s, %s px", fmt.Sprint(f.Number), r.k.texts.Int(f.Area)))
		return
	}
	r.k.say(r.k.t("Finding %s, %s px", fmt.Sprint(f.Number), r.k.texts.Int(f.Area)))
}

// fitting returns the power of two at which a finding is nearest to reviewedWidth, so that the zoom seldom changes from
// one to the next.
func fitting(r image.Rectangle) float64 {
	zoom := reviewedWidth / float64(max(r.Dx(), r.Dy(), 1))
	return min(max(math.Exp2(math.Round(math.Log2(zoom))), 1), fittingZoom)
}

// keep marks the selected finding as kept and continues with the next one of the list. A hidden mask stays hidden, as
// while the user looks through corrections, unless it changes.
func (r *review) keep() {
	if f, ok := r.found.Selected(); ok && f.Decision == document.Ignored {
		r.k.display.showMask()
	}
	r.decide(r.found.KeepSelected)
}

// ignore removes the selected finding from the mask and continues with the next one of the list.
func (r *review) ignore() {
	r.k.display.showMask()
	r.decide(r.found.RemoveSelected)
}

// decide decides about the selected finding and continues with the next. If none is selected, it only selects the first
// one.
func (r *review) decide(how func() bool) {
	checking := r.found.Checking()
	if _, ok := r.found.Selected(); ok {
		how()
	}
	if checking && !r.found.Checking() {
		r.k.say(r.k.t("All are checked: correct the findings (%s)", r.k.press(correctAll)))
		return
	}
	r.step(1)
	if kept, _, ignored := r.found.Decided(); kept+ignored > 0 && (kept+ignored)%findings.EnoughDecisions == 0 {
		r.k.say(r.k.t("You have decided about %s findings: see what can be learned from them (%s)",
			r.k.texts.Int(kept+ignored), r.k.press(findLearn)))
	}
}

// keepListed and ignoreListed decide about all listed findings.
func (r *review) keepListed() {
	r.k.display.showMask()
	n := r.found.KeepListed()
	r.k.say(r.k.texts.Plural(n, "%s finding kept", "%s findings kept", r.k.texts.Int(n)))
}

func (r *review) ignoreListed() {
	r.k.display.showMask()
	n := r.found.IgnoreListed()
	r.k.say(r.k.texts.Plural(n, "%s finding ignored", "%s findings ignored", r.k.texts.Int(n)))
}
