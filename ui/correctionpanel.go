package ui

import (
	"fmt"
	"image"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/app/session"
	"blik/app/session/analysis"
	"blik/app/session/findings"
	"blik/app/session/store"
	"blik/app/view"
	"blik/processing"
	"blik/ui/form"
	"blik/ui/methods"
	"blik/ui/xwidget"
)

// correctionPanel is the correction tab: comparison, the selected finding, the parameters, and saving.
type correctionPanel struct {
	k       *kit
	session *session.Session
	found   *findings.Findings
	trial   *analysis.Analysis
	store   *store.Store
	object  fyne.CanvasObject

	hold  *xwidget.HoldButton
	split *xwidget.Check

	spot   *xwidget.FixedText
	method *xwidget.Select
	// methods shows the finding corrected by each method, while front reports that the tab is in front.
	methods        *methods.Strip
	front          func() bool
	correct, unset *xwidget.Button

	form   *form.Form
	save   *xwidget.Button
	report *xwidget.Check
	result *widget.Label
	quiet  xwidget.Quiet
}

func newCorrectionPanel(c *common, front func() bool) *correctionPanel {
	p := &correctionPanel{k: c.k, session: c.session, found: c.found, trial: c.analysis, store: c.store, front: front}
	p.hold = xwidget.NewHoldButton(c.k.t("Hold to see original"),
		c.k.t("Shows the original picture while the button or the key %s is held.", c.k.keyText(holdAction)), c.k.tips,
		c.k.display.holdButton)
	p.hold.Keys = c.k.keys
	p.split = xwidget.NewCheck(c.k.t("Split line"), c.k.keys, xwidget.ByUser(&p.quiet,
		func(bool) { c.k.actions.do(viewSplit) }))

	p.spot = xwidget.NewFixedText("")
	p.spot.Stretch = true
	p.method = xwidget.NewSelect(c.k.words.Methods(), c.k.keys, xwidget.ByUser(&p.quiet, func(chosen string) {
		if i := slices.Index(c.k.words.Methods(), chosen); i >= 0 {
			c.treatment.correctBy(processing.Method(i))
		}
	}))
	p.methods = methods.New(c.k.texts, c.k.tips, c.k.keys, c.treatment.correctBy)
	p.correct = xwidget.NewButton(c.k.t("Correct"), c.k.keys, func() { c.k.actions.do(correctSelected) })
	p.unset = xwidget.NewButton(c.k.t("Remove correction"), c.k.keys, func() { c.k.actions.do(correctRemove) })
	p.form = newForm(c, processing.StageCorrection)

	p.save = xwidget.NewButtonWithIcon(c.k.t("Save picture"), theme.DocumentSaveIcon(), c.k.keys,
		func() { c.k.actions.do(fileSavePicture) })
	p.report = xwidget.NewCheck(c.k.t("Write a report beside the picture"), c.k.keys,
		xwidget.ByUser(&p.quiet, func(on bool) { c.session.Settings().WriteReport = on }))
	p.showReport()
	p.result = xwidget.NewWrapped("")
	p.result.SizeName = theme.SizeNameCaptionText

	method := xwidget.NewHelpLabel(c.k.t("Method"), c.k.t("Corrects this finding immediately with another method. The "+
		"finding keeps its method when all are corrected again."), c.k.tips)
	method.Explain(p.method)
	body := container.New(layout.NewCustomPaddedVBoxLayout(2),
		xwidget.NewHeading(c.k.t("Compare")),
		xwidget.Inset(4, 4, container.NewGridWithColumns(2, p.hold, p.split)),
		xwidget.NewHeading(c.k.t("Selected finding")),
		xwidget.Inset(4, 4, p.spot),
		xwidget.Inset(4, 4, container.NewBorder(nil, nil, container.NewCenter(method), nil, xwidget.Inset(0, 0,
			p.method))),
		xwidget.Inset(4, 4, p.methods.Object),
		xwidget.Inset(4, 4, container.NewGridWithColumns(2, p.correct, p.unset)),
		p.form.Object,
	)
	// Saving stays visible while the rest is scrolled.
	saving := container.NewVBox(widget.NewSeparator(),
		xwidget.Inset(4, 16, container.New(layout.NewCustomPaddedVBoxLayout(2), p.save, p.report, p.result)))
	p.object = container.NewBorder(nil, saving, nil, nil,
		container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 8, 0, 12), body)))
	return p
}

// showReport updates the choice of the report.
func (p *correctionPanel) showReport() {
	p.quiet.Show(func() { p.report.SetChecked(p.session.Settings().WriteReport) })
}

func (p *correctionPanel) update(c change) {
	if c.Params && p.form.Params() != p.session.Settings().Params {
		p.form.SetParams(p.session.Settings().Params)
	}
	if c.View || c.Document || c.Corrections {
		p.hold.SetEnabled(p.session.Corrected())
		p.hold.SetSelected(p.k.display.mode() == view.CompareBefore)
		p.quiet.Show(func() { p.split.SetChecked(p.k.display.split) })
		xwidget.SetEnabled(p.split, p.session.Corrected())
	}
	if c.Document || c.Selection || c.Busy {
		p.showSpot()
	}
	if c.Document || c.Selection || c.Mask || c.Params || c.Busy {
		p.showMethods(c.Document || c.Selection || c.Mask)
	}
	if c.Document || c.Corrections || c.Busy {
		xwidget.SetEnabled(p.save, p.k.actions.can(fileSavePicture) && p.session.Corrected())
	}
	if c.Document || c.Mask || c.Corrections || c.Saved || c.Extent {
		step, _ := p.store.Next()
		emphasize(p.save, step == store.StepSave)
		p.showResult()
	}
}

// showSpot shows the selected finding and how it is corrected.
func (p *correctionPanel) showSpot() {
	f, ok := p.found.Selected()
	ok = ok && f.Decision != document.Ignored
	p.quiet.Show(func() { p.method.SetSelected(p.k.words.Methods()[f.Asked]) })
	xwidget.SetEnabled(p.correct, ok && !p.session.Busy())
	xwidget.SetEnabled(p.method, ok && !p.session.Busy())
	xwidget.SetEnabled(p.unset, ok && f.State != document.Uncorrected)
	if !ok {
		p.spot.SetText(p.k.noneSelected())
		return
	}
	p.spot.SetText(p.k.t("No. %s, %s px: %s", fmt.Sprint(f.Number), p.k.texts.Int(f.Area), p.k.words.State(f)))
}

// showMethods shows the selected finding corrected by each method. While the user waits for other work, nothing is
// computed. another is set if the finding may be another one.
func (p *correctionPanel) showMethods(another bool) {
	f, ok := p.found.Selected()
	ok = ok && f.Decision != document.Ignored
	p.methods.Choose(f.Asked, ok && !p.session.Busy())
	if another {
		p.methods.Show(nil)
	}
	if !ok || !p.front() || p.session.Busy() {
		p.trial.StopTrying()
		return
	}
	p.trial.Try(f, methods.Side, func(made []image.Image, err error) {
		if err == nil {
			p.methods.Show(made)
		}
	})
}

// showResult shows what a save would be free to change, or the file saved last and the name of its report if one was
// written.
func (p *correctionPanel) showResult() {
	text := ""
	if w := p.store.Written(); w.Saved != nil {
		if text = p.k.words.Saved(w); !w.Saved.Lossy {
			text += p.k.words.Extent(w.Extent)
		}
		if w.Report != "" {
			text += "\n" + p.k.t("Report: %s", filepath.Base(w.Report))
		}
	}
	if doc := p.session.Document(); doc != nil && doc.PictureDirty() {
		if e, counted := p.store.Extent(); counted {
			text = p.k.t("Not saved yet: %s", p.k.words.Changed(int(e.Changed))) + p.k.words.Extent(e)
		}
	}
	xwidget.SetVisible(p.result, text != "")
	p.result.SetText(text)
}
