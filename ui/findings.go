package ui

import (
	"fmt"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/internal/message"
	"blik/ui/xwidget"
)

// findingsPanel is the list of the findings in the mask.
type findingsPanel struct {
	*common
	object fyne.CanvasObject
	table  *widget.Table
	sum    *widget.Label
	// why says what spoke for the selected finding and against it.
	why   *widget.Label
	quiet quiet
}

// findingColumns are the columns of the list: heading, width, and text of a finding.
var findingColumns = []struct {
	name  message.Text
	width float32
	cell  func(c *common, f document.Spot) string
}{
	{"No.", 40, func(_ *common, f document.Spot) string { return fmt.Sprint(f.ID) }},
	{"x", 46, func(_ *common, f document.Spot) string { return fmt.Sprint(int(math.Floor(f.X))) }},
	{"y", 46, func(_ *common, f document.Spot) string { return fmt.Sprint(int(math.Floor(f.Y))) }},
	{"Area", 62, func(c *common, f document.Spot) string { return c.texts.Int(f.Area) }},
	{"Score", 54, (*common).scoreText},
	{"Method", 64, (*common).shortState},
}

// scoreText is the score of a finding, if it was detected.
func (c *common) scoreText(f document.Spot) string {
	if !f.Detected {
		return c.t("by hand")
	}
	return c.texts.Number(f.Score, 1)
}

func newFindingsPanel(c *common) *findingsPanel {
	p := &findingsPanel{common: c, sum: xwidget.NewWrapped(""), why: xwidget.NewWrapped("")}
	p.why.Hide()
	label := func(bold bool) func() fyne.CanvasObject {
		return func() fyne.CanvasObject {
			l := widget.NewLabel("")
			l.Alignment, l.SizeName, l.TextStyle.Bold = fyne.TextAlignTrailing, theme.SizeNameCaptionText, bold
			return l
		}
	}
	p.table = widget.NewTableWithHeaders(
		func() (int, int) { return len(p.spots()), len(findingColumns) },
		label(false),
		func(id widget.TableCellID, o fyne.CanvasObject) { o.(*widget.Label).SetText(p.cell(id.Row, id.Col)) },
	)
	p.table.ShowHeaderColumn = false
	p.table.CreateHeader = label(true)
	p.table.UpdateHeader = func(id widget.TableCellID, o fyne.CanvasObject) {
		o.(*widget.Label).SetText(c.t(findingColumns[id.Col].name))
	}
	for i, column := range findingColumns {
		p.table.SetColumnWidth(i, column.width)
	}
	p.table.OnSelected = byUser(&p.quiet, func(id widget.TableCellID) {
		if spots := p.spots(); id.Row >= 0 && id.Row < len(spots) {
			c.Select(spots[id.Row])
			c.reveal(spots[id.Row])
		}
	})
	p.object = container.NewBorder(p.sum, p.why, nil, nil, p.table)
	return p
}

func (p *findingsPanel) spots() []document.Spot {
	if p.Document() == nil {
		return nil
	}
	return p.Document().Spots()
}

// cell is the text of the list in a row and a column.
func (p *findingsPanel) cell(row, column int) string {
	spots := p.spots()
	if row < 0 || row >= len(spots) {
		return ""
	}
	return findingColumns[column].cell(p.common, spots[row])
}

func (p *findingsPanel) update(c change) {
	if c.Document || c.Mask || c.Corrections || c.Result {
		text := p.t("No picture is open.")
		if p.Document() != nil {
			text = p.foundText()
		}
		p.sum.SetText(text)
		p.table.Refresh()
	}
	if c.Selection || c.Mask {
		p.showSelected()
		p.explain()
	}
}

// explain shows what spoke for the selected finding and against it, strongest first.
func (p *findingsPanel) explain() {
	f, ok := p.Selected()
	if !ok || len(f.Reasons) == 0 {
		p.why.Hide()
		return
	}
	list := make([]message.Message, len(f.Reasons))
	for i, r := range f.Reasons {
		list[i] = r.Message()
	}
	p.why.SetText(p.texts.Sprintf("Finding %d: %s", f.ID, message.Join("; ", list...)))
	p.why.Show()
}

// showSelected marks the row of the selected finding and brings it into view.
func (p *findingsPanel) showSelected() {
	f, ok := p.Selected()
	if !ok {
		return
	}
	row := widget.TableCellID{Row: f.ID - 1}
	p.quiet.show(func() { p.table.Select(row) })
	// With a header, Fyne's table leaves the row it scrolls up to under it; the row above brings it out.
	if row.Row == 0 {
		p.table.ScrollToTop()
		return
	}
	p.table.ScrollTo(row)
	p.table.ScrollTo(widget.TableCellID{Row: row.Row - 1})
}

// revealZoom is the largest zoom at which a finding is brought to the middle: it is judged by what is around it.
const revealZoom = 4

// reveal brings a finding to the middle of the window.
func (c *common) reveal(f document.Spot) {
	c.display.port.Reveal(f.Bounds(), revealZoom)
	c.say(c.t("Finding %s, %s px", c.texts.Int(f.ID), c.texts.Int(f.Area)))
}
