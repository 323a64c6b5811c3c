package ui

import (
	"image/color"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/session/analysis"
	"blik/app/view"
	"blik/ui/xwidget"
)

// comparison is a line above the picture that states how far the mask agrees with one from a file, and explains the
// colours. It is hidden if no mask is compared.
type comparison struct {
	k        *kit
	analysis *analysis.Analysis
	object   fyne.CanvasObject
	sum      *xwidget.FixedText
	// here and there show what only this mask or only the other one marks, both what both mark.
	here, there, both *xwidget.FixedText
}

func newComparison(c *common) *comparison {
	p := &comparison{k: c.k, analysis: c.analysis}
	line := func() *xwidget.FixedText {
		t := xwidget.NewFixedText("")
		t.Stretch, t.Tips = true, c.k.tips
		return t
	}
	p.sum, p.here, p.there, p.both = line(), line(), line(), line()
	p.sum.Bold = true
	swatch := func(of color.Color, text fyne.CanvasObject) fyne.CanvasObject {
		box := canvas.NewRectangle(of)
		box.SetMinSize(fyne.NewSquareSize(12))
		return container.NewBorder(nil, nil, container.NewHBox(container.NewCenter(box), xwidget.NewGap(2, 0)),
			nil, text)
	}
	first, second, shared := view.ComparedColours()
	end := c.k.button(fileEndCompare, theme.CancelIcon())
	p.object = container.NewVBox(container.New(layout.NewCustomPaddedLayout(3, 3, 8, 6),
		container.NewBorder(nil, nil, nil, end, container.New(layout.NewCustomPaddedVBoxLayout(2), p.sum,
			container.NewGridWithColumns(3, swatch(first, p.here), swatch(second, p.there), swatch(shared, p.both))))),
		widget.NewSeparator())
	p.object.Hide()
	return p
}

func (p *comparison) update(c change) {
	if !c.Compared && !c.Mask {
		return
	}
	k, on := p.analysis.Comparison()
	xwidget.SetVisible(p.object, on)
	if !on {
		return
	}
	name := filepath.Base(k.Path)
	p.sum.SetText(p.k.t("Agreement with %s: %s of what either marks", name, p.k.words.Percent(k.Agreement())))
	p.here.SetText(p.k.t("only here: %s (%s px)", p.k.words.Findings(k.SpotsHere), p.k.texts.Int(k.Here)))
	p.there.SetText(p.k.t("only there: %s (%s px)", p.k.words.Findings(k.SpotsThere), p.k.texts.Int(k.There)))
	p.both.SetText(p.k.t("in both: %s (%s px)", p.k.words.Findings(k.SpotsBoth), p.k.texts.Int(k.Both)))
}
