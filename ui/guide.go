package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"blik/app/manual"
)

// showGuide shows the guide: its headings at the left, the text of the chosen one at the right.
func (p *prompts) showGuide() {
	sections, err := manual.Guide(p.texts.Code())
	if err != nil {
		p.showError(err)
		return
	}
	text := widget.NewRichTextFromMarkdown("")
	text.Wrapping = fyne.TextWrapWord
	scroll := container.NewVScroll(text)
	titles := widget.NewList(func() int { return len(sections) },
		func() fyne.CanvasObject { return widget.NewLabel("") },
		func(i widget.ListItemID, o fyne.CanvasObject) {
			label := o.(*widget.Label)
			label.Truncation = fyne.TextTruncateEllipsis
			label.SetText(sections[i].Title)
		})
	titles.OnSelected = func(i widget.ListItemID) {
		text.ParseMarkdown("## " + sections[i].Title + "\n\n" + sections[i].Text)
		scroll.ScrollToTop()
	}
	titles.Select(0)
	body := container.NewHSplit(titles, scroll)
	body.Offset = guideOffset
	p.showCustom(p.t("Guide"), p.t("Close"), body, 1000, 640)
}

// guideOffset is the share of the headings of the guide.
const guideOffset = 0.28
