package ui

import (
	"cmp"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/app/session"
	"blik/ui/look"
	"blik/ui/xwidget"
)

// interfaceScales are the available scales of the whole window; 0 is that of the system.
var interfaceScales = []float64{0, 0.8, 1, 1.25, 1.5, 2}

// preferences are the controls of the settings that a user chooses once. Each applies at once except the scale, which
// applies from the next start.
func (w *window) preferences() fyne.CanvasObject {
	form := container.New(layout.NewFormLayout())
	row := func(name string, control fyne.CanvasObject) {
		form.Add(widget.NewLabel(name))
		form.Add(control)
	}
	choose := func(names []string, at int, chosen func(i int)) *xwidget.Select {
		s := xwidget.NewSelect(names, w.k.keys, nil)
		s.SetSelectedIndex(at)
		s.OnChanged = func(string) { chosen(s.SelectedIndex()) }
		return s
	}
	codes := i18n.Languages()
	row(w.k.t("Language"), choose(each(codes, func(l i18n.Language) string { return l.Name }),
		slices.IndexFunc(codes, func(l i18n.Language) bool { return l.Code == w.k.texts.Code() }),
		func(i int) {
			w.setLanguage(codes[i].Code)
			// The list of the choice is still over the dialog.
			w.config.later(func() {
				if w.k.prompts.Key(fyne.KeyEscape) {
					w.showPreferences()
				}
			})
		}))
	looks := look.Appearances()
	row(w.k.t("Appearance"), choose(each(looks, func(a look.Appearance) string { return w.k.t(a.Name()) }),
		slices.Index(looks, w.appearance()), func(i int) { w.setAppearance(looks[i]) }))
	scales := each(interfaceScales, w.k.words.Percent)
	scales[0] = w.k.t("Follow system")
	row(w.k.t("Interface size"), choose(scales,
		max(slices.Index(interfaceScales, w.c.session.Settings().InterfaceScale), 0),
		func(i int) { w.c.session.Settings().InterfaceScale = interfaceScales[i] }))
	form.Add(layout.NewSpacer())
	form.Add(xwidget.NewWrapped(w.k.t("The size takes effect when Blik is restarted.")))
	zooms := reviewZooms()
	row(w.k.t("Zoom for findings"), choose(each(zooms, w.k.reviewZoom),
		max(slices.Index(zooms, w.c.session.Settings().ReviewZoom), 0),
		func(i int) { w.c.review.setReviewZoom(zooms[i]) }))
	reports := xwidget.NewCheck("", w.k.keys, nil)
	reports.SetChecked(w.c.session.Settings().WriteReport)
	reports.OnChanged = func(on bool) {
		w.c.session.Settings().WriteReport = on
		w.panel.correction.showReport()
	}
	row(w.k.t("Write a report beside the picture"), reports)
	row(w.k.t("Save corrected pictures"), w.outputChoice())
	return form
}

func each[T any](list []T, text func(T) string) (all []string) {
	for _, v := range list {
		all = append(all, text(v))
	}
	return all
}

// saveSettings writes the settings at once, so that a choice outlives a crash. That they cannot be written was said
// when the window appeared.
func saveSettings(s *session.Session) {
	if err := s.SaveSettings(); err != nil {
		fyne.LogError("settings not saved", err)
	}
}

// outputChoice is the choice of the folder for corrected pictures and their reports.
func (w *window) outputChoice() fyne.CanvasObject {
	s := w.c.session.Settings()
	beside, other := w.k.t("Beside the original"), w.k.t("Another folder…")
	box := xwidget.NewSelect(nil, w.k.keys, nil)
	var chosen func(name string)
	show := func() {
		box.OnChanged = nil
		if box.Options = []string{beside, other}; s.OutputFolder != "" {
			box.Options = []string{beside, s.OutputFolder, other}
		}
		box.SetSelected(cmp.Or(s.OutputFolder, beside))
		box.OnChanged = chosen
	}
	use := func(folder string) {
		s.OutputFolder = folder
		saveSettings(w.c.session)
		show()
	}
	chosen = func(name string) {
		switch name {
		case beside:
			use("")
		case other:
			show()
			w.files.ChooseFolderFor("Save corrected pictures", cmp.Or(s.OutputFolder, s.LastFolder), use)
		}
	}
	show()
	return box
}

// showPreferences shows the preferences dialog.
func (w *window) showPreferences() {
	w.k.prompts.ShowCustom(w.k.t("Preferences"), w.k.t("Close"), container.NewAppTabs(
		container.NewTabItem(w.k.t("General"), container.NewVScroll(w.preferences())),
		container.NewTabItem(w.k.t("Keys"), w.newKeySettings())), 600, 460)
}
