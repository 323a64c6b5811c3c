package ui

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/session"
	"blik/app/session/editor"
	"blik/app/session/preview"
	"blik/app/session/store"
	"blik/processing"
	"blik/processing/detect"
	"blik/ui/form"
	"blik/ui/icons"
	"blik/ui/progress"
	"blik/ui/steps"
	"blik/ui/xwidget"
)

// panel follows the order of the work: the next step, or the progress of the running job; the search region; and the
// tabs of detection, findings, correction and history.
type panel struct {
	k       *kit
	session *session.Session
	editor  *editor.Editor
	preview *preview.Preview
	store   *store.Store
	object  fyne.CanvasObject

	run      *xwidget.Button
	correct  *xwidget.Button
	steps    *fyne.Container
	next     *xwidget.FixedText
	progress *progress.View
	region   *xwidget.FixedText
	clear    *xwidget.ToolButton
	tabs     *container.AppTabs
	// content holds the head and the tabs.
	content *fyne.Container

	detection  *detectionPanel
	findings   *findingsPanel
	correction *correctionPanel
	history    *steps.Panel
}

func newPanel(c *common, later func(func())) *panel {
	p := &panel{k: c.k, session: c.session, editor: c.editor, preview: c.preview, store: c.store}
	p.run = xwidget.NewButtonWithIcon(c.k.t("Find glare"), theme.SearchIcon(), c.k.keys,
		func() { c.k.actions.do(findRun) })
	p.correct = xwidget.NewButtonWithIcon(c.k.t("Correct all"), icons.Get("correct"), c.k.keys,
		func() { c.k.actions.do(correctAll) })
	p.steps = container.NewGridWithColumns(2, p.run, p.correct)
	p.next = xwidget.NewFixedText("")
	p.next.Stretch, p.next.Muted, p.next.Tips = true, true, c.k.tips
	p.progress = progress.New(progress.Options{
		Texts: c.k.texts, Words: c.k.words, Tips: c.k.tips, Keys: c.k.keys, Session: c.session,
		Buttons: []fyne.CanvasObject{c.k.button(findRun, theme.SearchIcon()),
			c.k.button(correctAll, icons.Get("correct"))},
		Cancel: func() { c.k.actions.do(findCancel) },
	})

	p.region = xwidget.NewFixedText("")
	p.region.Stretch = true
	p.clear = c.k.button(editClearRegion, theme.CancelIcon())
	searchIn := xwidget.NewHelpLabel(c.k.t("Search in"),
		c.k.t("Only this region is searched; pixels around it still help "+
			"estimate the background. Draw it with the region tools on the left."), c.k.tips)
	region := xwidget.Inset(0, 0, container.NewBorder(nil, nil, searchIn, p.clear, xwidget.Inset(0, 0, p.region)))

	p.detection, p.findings, p.correction = newDetectionPanel(c), newFindingsPanel(c),
		newCorrectionPanel(c, func() bool { return p.tabs.SelectedIndex() == correctionTab })
	p.history = steps.New(steps.Options{
		Texts: c.k.texts, Tips: c.k.tips, Keys: c.k.keys, Session: c.session, Editor: c.editor, Preview: c.preview,
		Say: c.k.message,
	})
	p.tabs = xwidget.NewTabs(
		container.NewTabItem(c.k.t("Detection"), p.detection.object),
		container.NewTabItem(c.k.t("Findings"), p.findings.object),
		container.NewTabItem(c.k.t("Correction"), p.correction.object),
		container.NewTabItem(c.k.t("History"), p.history.Object))
	// A table scrolls to its selection only if it is on the screen. The tab is on the screen only after this call.
	show := p.tabs.OnSelected
	p.tabs.OnSelected = func(t *container.TabItem) {
		show(t)
		later(p.findings.showSelected)
		later(func() { p.correction.showMethods(false) })
	}
	head := container.New(layout.NewCustomPaddedLayout(6, 2, 8, 8),
		// The larger height is reserved, so that nothing moves when a job begins or ends.
		container.NewVBox(container.NewStack(p.steps, p.progress.Row,
			xwidget.NewGap(0, max(p.steps.MinSize().Height, p.progress.Row.MinSize().Height))),
			xwidget.Inset(0, 0, container.NewStack(p.next, p.progress.Times)),
			container.New(layout.NewCustomPaddedVBoxLayout(0), p.progress.List, region)))
	// The Tab key visits objects in their order: the head comes first.
	p.content = container.New(layout.NewBorderLayout(head, nil, nil, nil), head, p.tabs)
	p.object = container.NewBorder(nil, nil, widget.NewSeparator(), nil, p.content)
	return p
}

func (p *panel) update(c change) {
	p.progress.Update(c.Progress, c.Queue)
	if c.Queue {
		// The toolkit forgets that the head has another height if something in a tab changes its size as well.
		p.content.Layout.Layout(p.content.Objects, p.content.Size())
	}
	if c.Busy {
		busy := p.session.Busy() && !p.preview.Previewing()
		xwidget.SetVisible(p.progress.Row, busy)
		xwidget.SetVisible(p.progress.Times, busy)
		xwidget.SetVisible(p.steps, !busy)
		xwidget.SetVisible(p.next, !busy)
	}
	if c.Document {
		xwidget.SetEnabled(p.run, p.session.Document() != nil)
		xwidget.SetEnabled(p.correct, p.session.Document() != nil)
	}
	if c.Region || c.Document {
		p.clear.SetEnabled(p.editor.Region() != nil)
		size := image.Point{}
		if doc := p.session.Document(); doc != nil {
			size = doc.Size()
		}
		p.region.SetText(p.k.words.Region(p.editor.Region(), size))
	}
	if c.Document || c.Mask || c.Corrections || c.Saved || c.Result {
		step, _ := p.store.Next()
		p.next.SetText(p.k.stepText(p.store.Next()))
		emphasize(p.run, step == store.StepDetect || step == store.StepClear)
		emphasize(p.correct, step == store.StepCorrect)
	}
	p.detection.update(c)
	p.findings.update(c)
	p.correction.update(c)
	if c.History || c.Document {
		p.history.Update()
	}
}

// showFindings shows the findings tab, in a step from one to the next unless the correction tab is shown, which follows
// the selected one. A hidden panel stays hidden, because the picture is then wanted whole.
func (w *window) showFindings(step bool) {
	at := w.panel.tabs.SelectedIndex()
	if w.panelShown && at != findingsTab && !(step && at == correctionTab) {
		w.panel.tabs.SelectIndex(findingsTab)
	}
}

// showCorrection shows the correction tab, unless the findings tab is shown.
func (p *panel) showCorrection() {
	if p.tabs.SelectedIndex() == 0 {
		p.tabs.SelectIndex(correctionTab)
	}
}

func emphasize(b *xwidget.Button, on bool) {
	importance := widget.MediumImportance
	if on {
		importance = widget.HighImportance
	}
	if b.Importance != importance {
		b.Importance = importance
		b.Refresh()
	}
}

// detectionPanel is the detection tab: its parameters, and the values that adaptive mode chose in the last detection.
type detectionPanel struct {
	c         *common
	object    fyne.CanvasObject
	form      *form.Form
	chosen    *fyne.Container
	chosenBox *fyne.Container
	// of is the result whose values are in chosen, filling the job that adds the rows.
	of      *detect.Found
	filling *xwidget.Frames
	// learned says that detection is adapted to the user's decisions.
	learned fyne.CanvasObject
}

func newDetectionPanel(c *common) *detectionPanel {
	p := &detectionPanel{c: c, chosen: container.New(layout.NewCustomPaddedVBoxLayout(0))}
	p.form = newForm(c, processing.StageDetection)
	p.chosenBox = container.NewVBox(xwidget.NewHeading(c.k.t("Chosen for this picture")), p.chosen,
		xwidget.NewButton(c.k.t("Copy values to manual mode"), c.k.keys, func() { c.k.actions.do(findTakeOver) }))
	forget := xwidget.NewButton(c.k.t("Forget"), c.k.keys, func() { c.k.actions.do(findForget) })
	adapted := xwidget.NewHelpLabel(c.k.t("Adapted to your decisions"),
		c.k.t("Detection is adapted to your decisions. "+
			"“Save preset” stores this for other pictures and for the command line."), c.k.tips)
	adapted.Explain(forget)
	p.learned = xwidget.Inset(4, 4, container.NewBorder(nil, nil, nil, forget, container.NewCenter(adapted)))
	p.object = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 8, 0, 12),
		container.NewVBox(p.learned, p.form.Object, p.chosenBox)))
	return p
}

// newForm makes a form of the parameters of a stage.
func newForm(c *common, stage processing.Stage) *form.Form {
	f := form.New(c.k.texts, c.k.tips, c.k.keys, processing.SpecsOf(stage))
	f.OnChanged = func(s processing.Spec, v float64) {
		if err := c.preview.SetParam(s, v); err != nil {
			c.k.prompts.ShowError("Value not accepted", err)
			return
		}
		if doc := c.session.Document(); stage == processing.StageDetection && doc != nil && doc.Result() != nil &&
			!c.preview.Previewing() {
			c.k.say(c.k.t("Find glare (%s) to search with these values", c.k.press(findRun)))
		}
	}
	return f
}

func (p *detectionPanel) update(change change) {
	if change.Params {
		if p.form.Params() != p.c.session.Settings().Params {
			p.form.SetParams(p.c.session.Settings().Params)
		}
		xwidget.SetVisible(p.learned, p.c.session.Settings().Params.Learned != nil)
	}
	if change.Document || change.Result || change.Params || change.Region {
		p.form.SetCounts("sensitivity", p.c.found.CountAt(processing.StopValues()))
		p.showChosen()
	}
}

// showChosen shows the values that adaptive mode chose, and why. It adds one row a frame, because the first layout of
// all the text takes longer than an event may take.
func (p *detectionPanel) showChosen() {
	var result *detect.Found
	if p.c.session.Document() != nil {
		result = p.c.session.Document().Result()
	}
	if result == nil || len(result.Chosen) == 0 || p.c.session.Settings().Params.Mode != processing.Adaptive {
		p.chosenBox.Hide()
		return
	}
	p.chosenBox.Show()
	if result == p.of {
		return
	}
	p.of = result
	p.filling.Stop()
	p.chosen.RemoveAll()
	p.filling = xwidget.InFrames(len(result.Chosen), func(i int) { p.chosen.Add(p.chosenRow(result.Chosen[i])) })
}

// chosenRow shows one value and the reason for it.
func (p *detectionPanel) chosenRow(c detect.Chosen) fyne.CanvasObject {
	value := p.c.k.texts.Number(c.Value, 3)
	if unit := p.c.k.texts.Sprint(c.Unit); unit != "" {
		value += "\u00a0" + unit
	}
	why := widget.NewRichText(&widget.TextSegment{Text: p.c.k.texts.Sprint(c.Why), Style: widget.RichTextStyle{
		ColorName: theme.ColorNamePlaceHolder, SizeName: theme.SizeNameCaptionText,
	}})
	why.Wrapping = fyne.TextWrapWord
	return container.New(layout.NewCustomPaddedVBoxLayout(-6),
		container.NewBorder(nil, nil, widget.NewLabel(p.c.k.texts.Sprint(c.Name)), widget.NewLabel(value)), why)
}

// turnPanel returns a function that shows the next or previous tab of the panel.
func (w *window) turnPanel(by int) func() {
	return func() {
		if !w.panelShown {
			w.togglePanel()
		}
		n := len(w.panel.tabs.Items)
		w.panel.tabs.SelectIndex((w.panel.tabs.SelectedIndex() + by + n) % n)
	}
}

// The indices of tabs in the panel.
const (
	findingsTab   = 1
	correctionTab = 2
	historyTab    = 3
)

// showHistory shows the history tab.
func (w *window) showHistory() {
	w.panelShown = true
	w.update(change{Layout: true})
	w.panel.tabs.SelectIndex(historyTab)
}
