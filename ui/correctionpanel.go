package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/processing"
	"blik/ui/form"
	"blik/ui/xwidget"
)

// correctionPanel holds comparing, the selected spot, the parameters of correction and saving.
type correctionPanel struct {
	tab *container.TabItem

	hold  *xwidget.HoldButton
	split *xwidget.Check

	spot           *xwidget.FixedText
	method         *xwidget.Select
	correct, unset *widget.Button

	form   *form.Form
	save   *widget.Button
	report *xwidget.Check
	result *widget.Label
	// quiet is set while controls show values that the user did not change.
	quiet bool
}

func newCorrectionPanel(w *window) *correctionPanel {
	c := &correctionPanel{}
	c.hold = xwidget.NewHoldButton(w.t("compare.hold"), w.t("compare.help", "Key", w.keyText("view.source")), w.tips, w.holdButton)
	c.split = xwidget.NewCheck(w.t("action.view.split"), w.keys, func(bool) {
		if !c.quiet {
			w.do("view.split")
		}
	})

	c.spot = xwidget.NewFixedText("")
	c.spot.Stretch = true
	c.method = xwidget.NewSelect(w.spotMethods(), w.keys, func(chosen string) {
		if c.quiet {
			return
		}
		for i, name := range w.spotMethods() {
			if name == chosen {
				w.redoSelected(processing.Method(i))
			}
		}
	})
	c.correct = widget.NewButton(w.t("spot.correct"), func() { w.do("correct.selected") })
	c.unset = widget.NewButton(w.t("spot.remove"), func() { w.do("correct.remove") })

	c.form = form.New(w.texts, w.tips, w.keys, processing.SpecsOf(processing.StageCorrection))
	c.form.OnChanged = w.paramChanged

	c.save = widget.NewButtonWithIcon(w.t("action.file.savePicture"), theme.DocumentSaveIcon(), func() { w.do("file.savePicture") })
	c.report = xwidget.NewCheck(w.t("report.check"), w.keys, func(on bool) {
		if !c.quiet {
			w.settings.WriteReport = on
		}
	})
	c.result = widget.NewLabel("")
	c.result.Wrapping = fyne.TextWrapWord
	c.result.SizeName = theme.SizeNameCaptionText

	heading := func(key string) fyne.CanvasObject {
		return widget.NewLabelWithStyle(w.t(key), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	}
	inset := func(o fyne.CanvasObject) fyne.CanvasObject {
		return container.New(layout.NewCustomPaddedLayout(0, 4, 8, 4), o)
	}
	body := container.New(layout.NewCustomPaddedVBoxLayout(2),
		heading("compare.title"),
		inset(container.NewGridWithColumns(2, c.hold, c.split)),
		heading("spot.title"),
		inset(c.spot),
		inset(container.NewBorder(nil, nil, container.NewCenter(xwidget.NewHelpLabel(w.t("spot.method"), w.t("spot.help"), w.tips)), nil,
			container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0), c.method))),
		inset(container.NewGridWithColumns(2, c.correct, c.unset)),
		c.form.Object,
	)
	// Saving stays in sight however far the rest is scrolled.
	saving := container.NewVBox(widget.NewSeparator(),
		container.New(layout.NewCustomPaddedLayout(0, 4, 8, 16), container.New(layout.NewCustomPaddedVBoxLayout(2), c.save, c.report, c.result)))
	c.tab = container.NewTabItem(w.t("tab.correction"), container.NewBorder(nil, saving, nil, nil,
		container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 8, 0, 12), body))))
	return c
}

// spotMethods are the methods of one spot in the user's language, in their order; the first is that of all spots.
func (w *window) spotMethods() []string {
	s, _ := processing.SpecByID("method")
	names := make([]string, len(s.Choices))
	for i, c := range s.Choices {
		names[i] = c.Name.In(w.texts.Lang())
	}
	names[0] = w.t("spot.asAll")
	return names
}

// refreshSteps shows what is to be done next: in words, and as the button that stands out.
func (w *window) refreshSteps() {
	p, c := w.panel, w.panel.correction
	step, words := w.next()
	p.next.SetText(words)
	emphasize(p.run, step == nextMask)
	emphasize(p.correct, step == nextCorrect)
	emphasize(c.save, step == nextSave)
	c.result.Hide()
	if w.result.saved != nil {
		c.result.SetText(w.savedText(w.result) + w.reportText())
		c.result.Show()
	}
	w.refreshSpot()
	w.enableSaving()
}

// reportText names the report that was written, if any.
func (w *window) reportText() string {
	if w.result.report == "" {
		return ""
	}
	return "\n" + w.t("saved.report", "Name", baseName(w.result.report))
}

func emphasize(b *widget.Button, on bool) {
	importance := widget.MediumImportance
	if on {
		importance = widget.HighImportance
	}
	if b.Importance != importance {
		b.Importance = importance
		b.Refresh()
	}
}

// methodMenu is what the menu of methods shows: whether a spot is selected, and the method chosen for it alone.
type methodMenu struct {
	selected bool
	asked    processing.Method
}

// refreshSpot shows the selected spot and how it is corrected.
func (w *window) refreshSpot() {
	c := w.panel.correction
	var s document.Spot
	ok := false
	if w.doc != nil {
		s, ok = w.doc.Selected()
	}
	c.quiet = true
	c.method.SetSelected(w.spotMethods()[s.Asked])
	c.report.SetChecked(w.settings.WriteReport)
	c.quiet = false
	if menu := (methodMenu{ok, s.Asked}); menu != w.methods {
		w.methods = menu
		w.refreshMenu()
	}
	enable(c.correct, ok && !w.jobs.Busy())
	enable(c.method, ok && !w.jobs.Busy())
	enable(c.unset, ok && s.State != document.Uncorrected)
	if !ok {
		c.spot.SetText(w.t("spot.none"))
		return
	}
	c.spot.SetText(w.t("spot.selected", "ID", w.texts.Int(s.ID), "Area", w.texts.Int(s.Area), "State", w.stateText(s)))
}

// stateText says how a spot is corrected.
func (w *window) stateText(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return s.Method.Name().In(w.texts.Lang())
	case document.Partly:
		return w.t("spot.partly")
	default:
		return w.t("spot.uncorrected")
	}
}

// shortState says in a word how a spot is corrected, for the list.
func (w *window) shortState(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return w.t("method." + s.Method.ID())
	case document.Partly:
		return w.t("state.partly")
	default:
		return w.t("state.uncorrected")
	}
}

// enableSaving greys what would save a picture that is not corrected.
func (w *window) enableSaving() {
	enable(w.panel.correction.save, w.can("file.savePicture") && w.canCompare())
	w.bar.save.SetEnabled(w.can("file.savePicture") && w.canCompare())
}

func enable(o fyne.Disableable, on bool) {
	if on == o.Disabled() {
		if on {
			o.Enable()
		} else {
			o.Disable()
		}
	}
}
