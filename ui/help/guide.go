// Package help shows the guide and the tour.
package help

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"blik/app/manual"
	"blik/ui/xwidget"
)

// NewGuide returns the guide, headings on the left and the text of the selected one on the right, and what gets the
// focus.
func NewGuide(sections []manual.Section, keys xwidget.Keys) (object fyne.CanvasObject, focus fyne.Focusable) {
	page := container.NewVBox()
	scroll := container.NewVScroll(page)
	titles := xwidget.NewList(func() int { return len(sections) },
		func() fyne.CanvasObject { return widget.NewLabel("") },
		func(i widget.ListItemID, o fyne.CanvasObject) {
			label := o.(*widget.Label)
			label.Truncation = fyne.TextTruncateEllipsis
			label.SetText(sections[i].Title)
		}, keys)
	at := 0
	titles.OnSelected = func(i widget.ListItemID) {
		at = i
		page.Objects = guidePage(sections[i])
		scroll.Refresh()
		scroll.ScrollToTop()
	}
	titles.Select(0)
	titles.OnKey = func(name fyne.KeyName) bool {
		switch name {
		case fyne.KeyUp, fyne.KeyDown:
			// The list's cursor follows the shown section.
			titles.List.TypedKey(&fyne.KeyEvent{Name: name})
			titles.Select(max(0, min(at+map[fyne.KeyName]int{fyne.KeyUp: -1, fyne.KeyDown: 1}[name], len(sections)-1)))
		case fyne.KeyPageDown:
			turnPage(scroll, 1)
		case fyne.KeyPageUp:
			turnPage(scroll, -1)
		default:
			return false
		}
		return true
	}
	body := container.NewHSplit(titles, scroll)
	body.Offset = guideOffset
	return body, titles
}

// turnPage scrolls by the visible height, less a line or two.
func turnPage(s *container.Scroll, by float32) {
	const kept = 40
	room := s.Content.MinSize().Height - s.Size().Height
	y := s.Offset.Y + by*(s.Size().Height-kept)
	s.ScrollToOffset(fyne.NewPos(0, max(0, min(y, room))))
}

// guideOffset is the share of the width that the headings of the guide take.
const guideOffset = 0.28

// guidePictureWidth and guidePictureHeight are the least sides of a picture in the guide, in Fyne units.
const guidePictureWidth, guidePictureHeight = 300, 330

// guidePage returns the objects of a section: its text, pictures and the text after each.
func guidePage(s manual.Section) (page []fyne.CanvasObject) {
	write := func(markdown string) {
		text := widget.NewRichTextFromMarkdown(markdown)
		text.Wrapping = fyne.TextWrapWord
		page = append(page, text)
	}
	write("## " + s.Title + "\n\n" + s.Text)
	for _, p := range s.Pictures {
		picture := canvas.NewImageFromResource(fyne.NewStaticResource(p.Name, p.JPEG))
		picture.FillMode = canvas.ImageFillContain
		picture.SetMinSize(fyne.NewSize(guidePictureWidth, guidePictureHeight))
		page = append(page, picture)
		if p.Text != "" {
			write(p.Text)
		}
	}
	return page
}
