package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/app/session"
	"blik/app/session/editor"
	"blik/ui/icons"
	"blik/ui/tool"
	"blik/ui/xwidget"
)

// toolbar holds the most used commands and the settings of brush, overlay and zoom.
type toolbar struct {
	k       *kit
	session *session.Session
	editor  *editor.Editor
	object  fyne.CanvasObject

	save, undo, redo *xwidget.ToolButton
	// row holds everything; tool is the name of the tool, brush and soft are shown for tools that paint.
	row         *xwidget.Bar
	tool        *xwidget.FixedText
	brush, soft *fyne.Container
	size        *xwidget.Slider
	sizeEntry   *xwidget.NumberEntry
	hardness    *xwidget.Slider
	eye         *xwidget.ToolButton
	opacity     *xwidget.Slider
	opacityText *xwidget.FixedText
	zoom        *xwidget.ZoomBox
	whenOpen    []*xwidget.ToolButton
	quiet       xwidget.Quiet
}

func newToolbar(c *common) *toolbar {
	b := &toolbar{k: c.k, session: c.session, editor: c.editor}
	open := c.k.button(fileOpen, theme.FolderOpenIcon())
	b.save = c.k.button(fileSavePicture, theme.DocumentSaveIcon())
	b.undo = c.k.button(editUndo, theme.ContentUndoIcon())
	b.redo = c.k.button(editRedo, theme.ContentRedoIcon())

	b.tool = xwidget.NewFixedText("")
	b.tool.Bold = true
	b.size = xwidget.NewSlider(0, tool.BrushSteps, 1, c.k.keys)
	b.size.OnChanged = xwidget.ByUser(&b.quiet, func(v float64) { c.k.toolbox.setBrushRadius(tool.BrushRadius(v)) })
	b.sizeEntry = xwidget.NewNumberEntry(48, func(text string) {
		v, err := i18n.ParseNumber(text)
		if err != nil || v <= 0 {
			v = c.session.Settings().BrushRadius * 2
		}
		c.k.toolbox.setBrushRadius(v / 2)
	})
	b.hardness = xwidget.NewSlider(0, 1, 0.1, c.k.keys)
	b.hardness.OnChanged = xwidget.ByUser(&b.quiet, c.k.toolbox.setBrushHardness)
	diameter := xwidget.NewHelpLabel(c.k.t("Diameter, px"), c.k.t("In pixels of the picture. Keys %s and %s, or "+
		"Ctrl and wheel.", c.k.press(brushSmaller), c.k.press(brushLarger)), c.k.tips)
	diameter.Explain(b.size, b.sizeEntry)
	b.brush = container.NewHBox(diameter, xwidget.NewMinWidth(90, b.size), container.NewCenter(b.sizeEntry))
	full := xwidget.NewHelpLabel(c.k.t("Hardness"),
		c.k.t("Share of the brush with full strength; the rest fades towards the edge."), c.k.tips)
	full.Explain(b.hardness)
	b.soft = container.NewHBox(full, xwidget.NewMinWidth(64, b.hardness))

	b.eye = c.k.button(viewMask, theme.VisibilityIcon())
	b.opacity = xwidget.NewSlider(0, 1, 0.05, c.k.keys)
	b.opacity.OnChanged = xwidget.ByUser(&b.quiet, c.k.display.setOpacity)
	b.opacityText = xwidget.NewFixedText("100 %")

	b.zoom = xwidget.NewZoomBox(xwidget.ZoomOptions{
		FitName: c.k.t("Fit"), Percent: c.k.words.Percent, Parse: i18n.ParseNumber, Fit: c.k.display.port.Fit,
		Set: c.k.display.port.SetZoom, Canvas: c.k.win.Canvas(),
	})
	out := c.k.button(viewOut, theme.ZoomOutIcon())
	in := c.k.button(viewIn, theme.ZoomInIcon())
	fit := c.k.button(viewFit, icons.Get("fit"))
	actual := c.k.button(viewActual, icons.Get("actual"))
	previous := c.k.button(findPrevious, theme.NavigateBackIcon())
	next := c.k.button(findNext, theme.NavigateNextIcon())
	b.whenOpen = []*xwidget.ToolButton{out, in, fit, actual, previous, next}

	more := xwidget.NewToolButton(theme.MoreHorizontalIcon(), c.k.t("More tools"), c.k.tips, nil)
	more.Keys = c.k.keys
	group := func(rank int, trailing bool, objects ...fyne.CanvasObject) xwidget.BarItem {
		return xwidget.BarItem{Object: container.NewHBox(objects...), Rank: rank, Trailing: trailing}
	}
	b.row = xwidget.NewBar(more,
		group(0, false, open, b.save), group(1, false, b.undo, b.redo),
		group(9, false, xwidget.NewGap(4, 0), container.NewCenter(b.tool), xwidget.NewGap(4, 0)),
		xwidget.BarItem{Object: b.brush, Rank: 2}, xwidget.BarItem{Object: b.soft, Rank: 6},
		group(3, true, b.eye), group(7, true, xwidget.NewMinWidth(72, b.opacity), b.opacityText),
		group(4, true, previous, next), group(8, true, out, container.NewCenter(b.zoom), in),
		group(5, true, fit, actual))
	b.row.OnRows = func() { c.k.changed(change{Layout: true}) }
	b.object = container.NewVBox(container.New(layout.NewCustomPaddedLayout(3, 3, 4, 6), b.row.Row),
		widget.NewSeparator())
	return b
}

func (b *toolbar) update(c change) {
	if c.Document {
		for _, button := range b.whenOpen {
			button.SetEnabled(b.session.Document() != nil)
		}
	}
	if c.Document || c.Corrections || c.Busy {
		b.save.SetEnabled(b.k.actions.can(fileSavePicture) && b.session.Corrected())
	}
	if c.Document || c.History {
		undo, redo := b.editor.Steps()
		b.undo.SetEnabled(undo)
		b.redo.SetEnabled(redo)
	}
	if c.Tool || c.Document {
		name := ""
		if b.session.Document() != nil {
			name = b.k.name(b.k.toolbox.current.ID)
		}
		b.tool.SetText(name)
		b.tool.SetWidest(name)
		xwidget.SetVisible(b.brush, b.k.toolbox.current.Brush)
		xwidget.SetVisible(b.soft, b.k.toolbox.current.Brush)
		b.row.Update()
	}
	if c.Brush {
		// The size of the brush is shown as a diameter.
		r := b.session.Settings().BrushRadius
		b.quiet.Show(func() {
			b.size.SetValue(tool.BrushStep(r))
			b.sizeEntry.ShowText(b.k.texts.Number(2*r, 1))
			b.hardness.SetValue(1 - b.session.Settings().BrushSoftness)
		})
	}
	if c.View || c.Document {
		b.eye.SetSelected(b.k.display.maskShown)
		b.quiet.Show(func() { b.opacity.SetValue(b.k.display.look.Opacity) })
		b.opacityText.SetText(b.k.words.Percent(b.k.display.look.Opacity))
	}
	if c.Zoom || c.Document {
		b.zoom.ShowZoom(b.k.display.port.Transform().Zoom, b.session.Document() != nil)
	}
}
