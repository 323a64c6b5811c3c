package ui

import (
	"fyne.io/fyne/v2"

	"blik/app/manual"
	"blik/ui/help"
)

func (p *pages) showGuide() {
	sections, err := manual.Guide(p.k.texts.Code())
	if err != nil {
		p.k.prompts.ShowError("Could not open the guide", err)
		return
	}
	body, focus := help.NewGuide(sections, p.k.keys)
	p.k.prompts.ShowCustom(p.k.t("Guide"), p.k.t("Close"), body, 1000, 640)
	p.k.win.Canvas().Focus(focus)
}

// tour returns the steps of the work on a picture, with the keys that are in force.
func (k *kit) tour() fyne.CanvasObject {
	return help.NewTour(k.texts, help.Press{
		Find: k.press(findRun), Next: k.press(findNext), Keep: k.press(findKeep), Ignore: k.press(findIgnore),
		Brush: k.press("tool.brush"), Correct: k.press(correctAll), Original: k.press(holdAction),
		Save: k.press(fileSavePicture),
	})
}
