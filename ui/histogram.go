package ui

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"blik/app/session"
	"blik/app/session/analysis"
	"blik/processing/detect"
	"blik/ui/aids"
	"blik/ui/xwidget"
)

// levels shows the histogram of the picture and of the search region, with the level threshold.
type levels struct {
	k        *kit
	session  *session.Session
	analysis *analysis.Analysis
	card     *aids.Card
	graph    *aids.Graph
	state    *xwidget.FixedText
	// counted are the current levels; known is false while they are being counted.
	counted analysis.Levels
	known   bool
}

func newLevels(c *common) *levels {
	h := &levels{k: c.k, session: c.session, analysis: c.analysis, graph: aids.NewGraph(),
		state: xwidget.NewFixedText("")}
	h.state.Stretch, h.state.Muted, h.state.Tips = true, true, c.k.tips
	spec := h.spec()
	title := xwidget.NewHelpLabel(c.k.t("Histogram"),
		c.k.texts.Sprint(spec.Help)+" "+c.k.t("The columns are the whole picture, the line is the search region; "+
			"heights are logarithmic. Dashed: the least level of a finding in the classical search."), c.k.tips)
	text := func(s string) fyne.CanvasObject {
		t := xwidget.NewFixedText(s)
		t.Muted = true
		t.SetText(s)
		return t
	}
	axis := container.NewHBox(text(c.k.texts.Number(spec.Low, 0)), layout.NewSpacer(),
		text(c.k.texts.Number(spec.High, 0)))
	h.card = aids.NewCard(title, container.New(layout.NewCustomPaddedVBoxLayout(2), h.graph.Object(), axis, h.state),
		c.k.button(viewHistogram, closeIcon()))
	return h
}

func (h *levels) spec() detect.LayerSpec { return detect.Layers()[detect.LayerLevel] }

func (h *levels) update(c change) {
	if c.Document || c.Region {
		h.known = false
		h.analysis.StopCounting()
	}
	h.card.Want(h.session.Settings().Histogram && h.session.Document() != nil)
	if !h.card.Wanted() {
		return
	}
	if !h.known {
		h.known = true
		h.state.SetText(h.k.t("counting…"))
		h.analysis.CountLevels(h.received)
		return
	}
	if c.Params {
		h.show()
	}
}

func (h *levels) received(l analysis.Levels, err error) {
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		h.state.SetText(h.k.texts.Error(err))
	default:
		h.counted = l
		h.show()
	}
}

func (h *levels) show() {
	spec := h.spec()
	var marks []float64
	for _, t := range spec.Thresholds(h.session.Settings().Params) {
		marks = append(marks, (t.Value+0.5)/256)
	}
	h.graph.Set(h.counted.All, h.counted.Inside, marks, nil)
	h.state.SetText(h.k.words.Thresholds(&spec, h.session.Settings().Params))
}
