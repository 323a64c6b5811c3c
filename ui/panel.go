package ui

import (
	"fmt"
	"math"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/job"
	"blik/processing"
	"blik/ui/form"
	"blik/ui/icons"
	"blik/ui/xwidget"
)

// panelWidth is the width of the panel at the right, in Fyne units.
const panelWidth = 344

// panel holds the work in its order: detection with the search region, its parameters and what adaptive mode chose, the
// findings, and correction; above them what to do next, or the progress of what runs.
type panel struct {
	object fyne.CanvasObject

	run       *widget.Button
	correct   *widget.Button
	steps     *fyne.Container
	next      *xwidget.FixedText
	busy      *fyne.Container
	progress  *widget.ProgressBar
	stage     string
	region    *xwidget.FixedText
	clear     *xwidget.ToolButton
	form      *form.Form
	chosen    *fyne.Container
	chosenBox *fyne.Container
	takeOver  *widget.Button
	tabs      *container.AppTabs
	// detection is a tab; the other two are those of findings and correction.
	detection  *container.TabItem
	findings   *findings
	correction *correctionPanel
}

func newPanel(w *window) *panel {
	p := &panel{}
	p.run = widget.NewButtonWithIcon(w.t("action.find.run"), theme.SearchIcon(), func() { w.do("find.run") })
	p.correct = widget.NewButtonWithIcon(w.t("action.correct.all"), icons.Get("correct"), func() { w.do("correct.all") })
	p.steps = container.NewGridWithColumns(2, p.run, p.correct)
	p.next = xwidget.NewFixedText("")
	p.next.Stretch, p.next.Muted, p.next.Tips = true, true, w.tips
	p.progress = widget.NewProgressBar()
	p.progress.TextFormatter = func() string {
		return strings.TrimSpace(p.stage + "  " + w.percent(p.progress.Value))
	}
	cancel := widget.NewButton(w.t("button.cancel"), func() { w.do("find.cancel") })
	p.busy = container.NewBorder(nil, nil, nil, cancel, p.progress)
	p.busy.Hide()

	p.region = xwidget.NewFixedText("")
	p.region.Stretch = true
	p.clear = w.button("edit.clearRegion", theme.CancelIcon())
	region := container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0),
		container.NewBorder(nil, nil, xwidget.NewHelpLabel(w.t("region.title"), w.t("region.help"), w.tips), p.clear,
			container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0), p.region)))

	p.form = form.New(w.texts, w.tips, w.keys, processing.SpecsOf(processing.StageDetection))
	p.form.OnChanged = w.paramChanged

	p.chosen = container.New(layout.NewCustomPaddedVBoxLayout(0))
	p.takeOver = widget.NewButton(w.t("action.find.takeOver"), func() { w.do("find.takeOver") })
	p.chosenBox = container.NewVBox(
		widget.NewLabelWithStyle(w.t("chosen.title"), fyne.TextAlignLeading, fyne.TextStyle{Bold: true}),
		p.chosen, p.takeOver,
	)
	p.chosenBox.Hide()

	p.findings = newFindings(w)
	detection := container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 8, 0, 12),
		container.NewVBox(p.form.Object, p.chosenBox)))
	p.detection = container.NewTabItem(w.t("tab.detection"), detection)
	p.correction = newCorrectionPanel(w)
	p.tabs = container.NewAppTabs(p.detection, container.NewTabItem(w.t("tab.findings"), p.findings.object), p.correction.tab)
	// A table scrolls to its selection only when it is on the screen, which the tab is a moment after this call.
	p.tabs.OnSelected = func(*container.TabItem) {
		w.dispatch(func() {
			if w.doc != nil {
				w.showSelected(false)
			}
		})
	}
	head := container.New(layout.NewCustomPaddedLayout(6, 2, 8, 8),
		container.NewVBox(container.NewStack(p.steps, p.busy), container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0), p.next), region))
	p.object = xwidget.NewMinWidth(panelWidth,
		container.NewBorder(nil, nil, widget.NewSeparator(), nil, container.NewBorder(head, nil, nil, nil, p.tabs)))
	return p
}

// refreshBusy shows whether a job runs.
func (w *window) refreshBusy() {
	if w.jobs.Busy() {
		w.panel.steps.Hide()
		w.panel.busy.Show()
	} else {
		w.panel.busy.Hide()
		w.panel.steps.Show()
		enable(w.panel.run, w.doc != nil)
		enable(w.panel.correct, w.doc != nil)
	}
	w.enableSaving()
	w.refreshSpot()
	if w.timing != nil {
		w.timing.Refresh()
	}
	for _, b := range w.bar.whenOpen {
		b.SetEnabled(w.doc != nil)
	}
	w.refreshMenu()
}

// refreshProgress shows how far the job is.
func (w *window) refreshProgress(u job.Update) {
	w.panel.stage = u.Stage.In(w.texts.Lang())
	w.panel.progress.SetValue(u.Done)
}

// refreshRegion shows the search region, in the panel and over the picture.
func (w *window) refreshRegion() {
	w.DraftChanged()
	var r *processing.Region
	if w.doc != nil {
		r = w.doc.Region()
	}
	w.panel.clear.SetEnabled(r != nil)
	w.panel.region.SetText(w.regionText(r))
}

func (w *window) regionText(r *processing.Region) string {
	if r == nil {
		return w.t("region.whole")
	}
	size := w.doc.Size()
	x0, y0, x1, y1 := r.Bounds(size.X, size.Y)
	key := map[processing.Shape]string{
		processing.RectangleShape: "region.rectangle",
		processing.EllipseShape:   "region.ellipse",
		processing.PolygonShape:   "region.polygon",
	}[r.Shape]
	return w.t(key, "W", w.texts.Int(x1-x0), "H", w.texts.Int(y1-y0))
}

// refreshResult shows what adaptive mode chose in the last detection, and why.
func (w *window) refreshResult() {
	p := w.panel
	p.chosen.RemoveAll()
	var result *processing.Result
	if w.doc != nil {
		result = w.doc.Result()
	}
	if result == nil || len(result.Chosen) == 0 || w.settings.Params.Mode != processing.Adaptive {
		p.chosenBox.Hide()
		return
	}
	lang := w.texts.Lang()
	for _, c := range result.Chosen {
		value := widget.NewLabel(w.texts.Number(c.Value, 3) + withUnit(c.Unit.In(lang)))
		why := widget.NewRichText(&widget.TextSegment{Text: c.Why.In(lang), Style: widget.RichTextStyle{
			ColorName: theme.ColorNamePlaceHolder, SizeName: theme.SizeNameCaptionText,
		}})
		why.Wrapping = fyne.TextWrapWord
		p.chosen.Add(container.New(layout.NewCustomPaddedVBoxLayout(-6),
			container.NewBorder(nil, nil, widget.NewLabel(c.Name.In(lang)), value), why))
	}
	p.chosenBox.Show()
}

func withUnit(unit string) string {
	if unit == "" {
		return ""
	}
	return "\u00a0" + unit
}

// paramChanged takes a parameter that the user changed in a form.
func (w *window) paramChanged(s processing.Spec, v float64) {
	mode := w.settings.Params.Mode
	if err := s.Set(&w.settings.Params, v); err != nil {
		w.showError(err)
		return
	}
	if w.settings.Params.Mode != mode {
		w.refreshResult()
		w.refreshMenu()
	}
}

// showParams shows the parameters in both forms.
func (w *window) showParams() {
	w.panel.form.SetParams(w.settings.Params)
	w.panel.correction.form.SetParams(w.settings.Params)
}

func (w *window) setMode(m processing.Mode) {
	p := w.settings.Params
	p.Mode = m
	w.setParams(p)
}

// setParams shows other parameters.
func (w *window) setParams(p processing.Params) {
	w.settings.Params = p
	w.showParams()
	w.refreshResult()
	w.refreshMenu()
}

// takeOver makes the values that the last detection used the ones of manual mode; those of correction stay.
func (w *window) takeOver() {
	p := withStage(w.settings.Params, w.doc.Result().Params, processing.StageDetection)
	p.Mode = processing.Manual
	w.setParams(p)
	w.say(w.t("status.takenOver"))
}

// withStage returns p with the parameters of one stage taken from others, which must be valid.
func withStage(p, others processing.Params, stage processing.Stage) processing.Params {
	for _, s := range processing.SpecsOf(stage) {
		// A value of valid parameters is valid.
		_ = s.Set(&p, s.Get(others))
	}
	return p
}

// findings is the list of findings in the mask.
type findings struct {
	object fyne.CanvasObject
	table  *widget.Table
	sum    *widget.Label
	// quiet is set while the table follows the selection, which would otherwise move the picture again.
	quiet bool
}

// findingColumns are the keys of the table's headings and the widths of its columns.
var findingColumns = []struct {
	key   string
	width float32
}{{"column.id", 40}, {"column.x", 46}, {"column.y", 46}, {"column.area", 62}, {"column.score", 54}, {"column.state", 64}}

func newFindings(w *window) *findings {
	f := &findings{sum: widget.NewLabel("")}
	f.sum.Wrapping = fyne.TextWrapWord
	f.table = widget.NewTableWithHeaders(
		func() (int, int) {
			if w.doc == nil {
				return 0, len(findingColumns)
			}
			return len(w.doc.Spots()), len(findingColumns)
		},
		func() fyne.CanvasObject {
			l := widget.NewLabel("")
			l.Alignment = fyne.TextAlignTrailing
			l.SizeName = theme.SizeNameCaptionText
			return l
		},
		func(id widget.TableCellID, o fyne.CanvasObject) {
			o.(*widget.Label).SetText(w.cell(id.Row, id.Col))
		},
	)
	f.table.ShowHeaderColumn = false
	f.table.CreateHeader = func() fyne.CanvasObject {
		l := widget.NewLabel("")
		l.Alignment = fyne.TextAlignTrailing
		l.SizeName = theme.SizeNameCaptionText
		l.TextStyle.Bold = true
		return l
	}
	f.table.UpdateHeader = func(id widget.TableCellID, o fyne.CanvasObject) {
		o.(*widget.Label).SetText(w.t(findingColumns[id.Col].key))
	}
	for i, c := range findingColumns {
		f.table.SetColumnWidth(i, c.width)
	}
	f.table.OnSelected = func(id widget.TableCellID) {
		if f.quiet || w.doc == nil || id.Row < 0 || id.Row >= len(w.doc.Spots()) {
			return
		}
		s := w.doc.Spots()[id.Row]
		if x, y, ok := w.pixelOf(s); ok {
			w.doc.Select(x, y)
		}
		w.showSelected(true)
	}
	f.object = container.NewBorder(f.sum, nil, nil, nil, f.table)
	return f
}

// cell is the text of the table in a row and a column.
func (w *window) cell(row, column int) string {
	spots := w.doc.Spots()
	if row < 0 || row >= len(spots) {
		return ""
	}
	s := spots[row]
	switch column {
	case 0:
		return fmt.Sprint(s.ID)
	case 1:
		return fmt.Sprint(int(math.Floor(s.X)))
	case 2:
		return fmt.Sprint(int(math.Floor(s.Y)))
	case 3:
		return w.texts.Int(s.Area)
	case 4:
		if !s.Detected {
			return w.t("findings.byHand")
		}
		return w.texts.Number(s.Score, 1)
	default:
		return w.shortState(s)
	}
}
