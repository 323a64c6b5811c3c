package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// HelpLabel is a name with an information mark. Its help shows as a tooltip, and when the Tab key moves the focus to a
// control that it explains.
type HelpLabel struct {
	widget.BaseWidget
	text, help string
	tips       *Tooltips
}

var (
	_ desktop.Hoverable = (*HelpLabel)(nil)
	_ fyne.Tappable     = (*HelpLabel)(nil)
)

// NewHelpLabel returns a label whose help shows in the given layer.
func NewHelpLabel(text, help string, tips *Tooltips) *HelpLabel {
	l := &HelpLabel{text: text, help: help, tips: tips}
	l.ExtendBaseWidget(l)
	return l
}

func (l *HelpLabel) Text() string { return l.text }

// Help returns the help's text.
func (l *HelpLabel) Help() string { return l.help }

// explained is a control that a label can explain.
type explained interface{ explainBy(l *HelpLabel) }

// Explain makes the label explain controls.
func (l *HelpLabel) Explain(controls ...explained) {
	for _, c := range controls {
		c.explainBy(l)
	}
}

// focused shows the help of a control that gained the focus with the Tab key, and hides it when the focus is lost. A
// click shows none, because the help would cover the working area.
func (l *HelpLabel) focused(on bool) {
	switch {
	case l == nil:
	case !on:
		l.tips.Hide()
	case l.tips != nil && l.tips.tab:
		l.tips.showAside(l, l.help)
	}
}

// moved hides help that would cover the change.
func (l *HelpLabel) moved() {
	if l != nil {
		l.tips.Hide()
	}
}

func (l *HelpLabel) MouseIn(*desktop.MouseEvent)    { l.tips.ShowLater(l, l.help) }
func (l *HelpLabel) MouseMoved(*desktop.MouseEvent) {}
func (l *HelpLabel) MouseOut()                      { l.tips.Hide() }

// Tapped shows the help immediately.
func (l *HelpLabel) Tapped(*fyne.PointEvent) {
	l.tips.Hide()
	l.tips.show(l, fyne.Position{}, l.Size(), l.help)
}

func (l *HelpLabel) CreateRenderer() fyne.WidgetRenderer {
	r := &helpLabelRenderer{
		text: canvas.NewText(l.text, theme.Color(theme.ColorNameForeground)),
		mark: canvas.NewImageFromResource(theme.NewDisabledResource(theme.InfoIcon())),
	}
	r.drawn = drawn{r.text, r.mark}
	r.text.TextSize = theme.TextSize()
	r.mark.FillMode = canvas.ImageFillContain
	return r
}

type helpLabelRenderer struct {
	drawn
	text *canvas.Text
	mark *canvas.Image
}

const helpMarkSide = 13

func (r *helpLabelRenderer) Layout(size fyne.Size) {
	text := r.text.MinSize()
	r.text.Resize(text)
	r.text.Move(fyne.NewPos(0, (size.Height-text.Height)/2))
	r.mark.Resize(fyne.NewSquareSize(helpMarkSide))
	r.mark.Move(fyne.NewPos(text.Width+5, (size.Height-helpMarkSide)/2))
}

func (r *helpLabelRenderer) MinSize() fyne.Size {
	text := r.text.MinSize()
	return fyne.NewSize(text.Width+5+helpMarkSide, max(text.Height, helpMarkSide))
}

func (r *helpLabelRenderer) Refresh() {
	r.text.Color = theme.Color(theme.ColorNameForeground)
	r.text.Refresh()
	r.mark.Refresh()
}
