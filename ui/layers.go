package ui

import (
	"context"
	"errors"
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"blik/app/colour"
	"blik/app/job"
	"blik/app/session"
	"blik/app/session/analysis"
	"blik/app/session/preview"
	"blik/processing"
	"blik/processing/detect"
	"blik/ui/aids"
	"blik/ui/xwidget"
)

// layers shows one of the layers of detection in false colours in place of the picture, with a legend. It is computed
// beside other work, for the visible part and its surroundings, or for the whole picture.
type layers struct {
	k        *kit
	session  *session.Session
	preview  *preview.Preview
	analysis *analysis.Analysis
	// spec is the chosen layer; on is false for none.
	spec detect.LayerSpec
	on   bool
	// look is the shown part of the layer, computed with params; asked is the part that is being computed.
	look   analysis.Look
	params processing.Params
	asked  image.Rectangle
	done   float64
	failed error
	// changed is called when the legend needs an update.
	changed func()
}

// choose shows a layer, or the picture if that layer is already shown.
func (l *layers) choose(spec detect.LayerSpec) {
	if l.on && l.spec.Layer == spec.Layer {
		l.leave()
		return
	}
	l.forget()
	l.spec, l.on = spec, true
	l.follow()
	l.k.display.viewChanged()
}

// leave shows the picture again.
func (l *layers) leave() {
	l.forget()
	l.on = false
	l.k.display.setLayer(nil)
	l.k.display.viewChanged()
}

// forget drops what was computed.
func (l *layers) forget() {
	if !l.asked.Empty() {
		l.analysis.StopInspecting()
	}
	l.look, l.asked, l.failed, l.done = analysis.Look{}, image.Rectangle{}, nil, 0
}

// shows reports whether a layer is chosen.
func (l *layers) shows(layer detect.Layer) bool { return l.on && l.spec.Layer == layer }

func (l *layers) update(c change) {
	if !l.on {
		return
	}
	if c.Document && !c.Remade {
		l.forget()
		l.k.display.setLayer(nil)
	}
	if c.Busy && l.blocked() {
		// The device does one thing at a time, and the user waits for the other work.
		l.analysis.StopInspecting()
		l.asked = image.Rectangle{}
	}
	if c.Document || c.Zoom || c.Busy || c.Params {
		l.follow()
	}
}

// blocked reports whether a job is running that the user waits for.
func (l *layers) blocked() bool { return l.session.Busy() && !l.preview.Previewing() }

// follow computes the visible part unless it is known.
func (l *layers) follow() {
	doc := l.session.Document()
	if !l.on || doc == nil || l.blocked() {
		return
	}
	seen := l.k.display.port.Shown()
	stale := l.look.Map == nil || l.differs(l.params)
	if seen.Empty() || !stale && seen.In(l.look.Map.Rect) || !stale && !l.asked.Empty() {
		return
	}
	if stale && seen.In(l.asked) && !l.differs(l.params) {
		return
	}
	part := partToInspect(seen, doc.Size(), l.spec.Whole)
	l.asked, l.params, l.failed, l.done = part, l.session.Settings().Params, nil, 0
	l.analysis.Inspect(l.spec.Layer, part, func(u job.Update) {
		l.done = u.Done
		l.changed()
	}, l.inspected)
	l.changed()
}

// differs reports whether the layer would differ with the current parameters.
func (l *layers) differs(from processing.Params) bool {
	return from.WithStage(processing.StageDetection, l.session.Settings().Params) != from ||
		from.Learned != l.session.Settings().Params.Learned
}

// inspected shows the computed part, and continues with what has come into view meanwhile.
func (l *layers) inspected(look analysis.Look, err error) {
	if !l.on {
		return
	}
	switch {
	case errors.Is(err, context.Canceled):
		return
	case err != nil:
		l.failed = err
	default:
		l.look = look
		l.k.display.setLayer(look.View)
	}
	l.asked = image.Rectangle{}
	l.changed()
	if err == nil {
		l.follow()
	}
}

// partToInspect returns the part of the picture to compute for a visible part: with a margin of half its size, so that
// small moves need no computation, or the whole picture if that is hardly more.
func partToInspect(seen image.Rectangle, size image.Point, whole bool) image.Rectangle {
	all := image.Rectangle{Max: size}
	part := image.Rect(seen.Min.X-seen.Dx()/2, seen.Min.Y-seen.Dy()/2, seen.Max.X+seen.Dx()/2, seen.Max.Y+seen.Dy()/2)
	part = part.Intersect(all)
	if whole || 4*part.Dx()*part.Dy() >= 3*size.X*size.Y {
		return all
	}
	return part
}

// legend explains the colours of a layer and shows the histogram of its values.
type legend struct {
	k      *kit
	layers *layers
	card   *aids.Card
	name   *fyne.Container
	graph  *aids.Graph
	// low, high and unit are shown under the colour scale; state is the progress, or the value under the pointer.
	low, high, unit, state *xwidget.FixedText
	shown                  detect.LayerSpec
	drawn                  *detect.LayerMap
}

func newLegend(c *common, l *layers) *legend {
	g := &legend{
		k: c.k, layers: l, name: container.NewStack(), graph: aids.NewGraph(), shown: detect.LayerSpec{ID: "-"},
	}
	text := func() *xwidget.FixedText {
		t := xwidget.NewFixedText("")
		t.Stretch, t.Muted, t.Tips = true, true, c.k.tips
		return t
	}
	g.low, g.high, g.unit, g.state = text(), text(), text(), text()
	g.state.Muted = false
	g.low.Stretch, g.high.Stretch = false, false
	g.low.Trailing, g.high.Trailing = true, true
	unit := container.New(layout.NewCustomPaddedLayout(0, 0, 8, 8), g.unit)
	axis := container.NewBorder(nil, nil, g.low, g.high, unit)
	content := container.New(layout.NewCustomPaddedVBoxLayout(2), g.graph.Object(), axis, g.state)
	g.card = aids.NewCard(g.name, content, c.k.button(layerNone, closeIcon()))
	l.changed = g.show
	return g
}

// show updates the legend.
func (g *legend) show() {
	l := g.layers
	if !l.on {
		return
	}
	if l.spec.ID != g.shown.ID {
		g.shown, g.drawn = l.spec, nil
		g.name.Objects = []fyne.CanvasObject{
			xwidget.NewHelpLabel(g.k.texts.Sprint(l.spec.Name), g.k.texts.Sprint(l.spec.Help), g.k.tips),
		}
		g.low.SetText(g.bound(l.spec.Low, "≤\u00a0"))
		g.high.SetText(g.bound(l.spec.High, "≥\u00a0"))
		g.unit.SetText(g.k.texts.Sprint(l.spec.Unit))
		g.graph.Set(nil, nil, nil, nil)
		g.card.Refresh()
	}
	if l.look.Map != nil && l.look.Map != g.drawn {
		g.drawn = l.look.Map
		g.drawGraph()
	}
	g.state.SetText(g.stateText())
}

// bound returns the text of an end of the scale, with a sign if values beyond it have the same colour.
func (g *legend) bound(v float64, beyond string) string {
	if v == 0 {
		beyond = ""
	}
	return beyond + g.k.texts.Number(v, 0)
}

// drawGraph draws the histogram of the computed values, with the thresholds.
func (g *legend) drawGraph() {
	spec := &g.layers.spec
	var marks []float64
	for _, t := range spec.Thresholds(g.layers.params) {
		marks = append(marks, (t.Value-spec.Low)/(spec.High-spec.Low))
	}
	g.graph.Set(g.drawn.Histogram(aids.GraphWidth), nil, marks, colour.ScaleOf(spec))
}

// stateText returns the progress, the error, or the thresholds of detection.
func (g *legend) stateText() string {
	l := g.layers
	switch {
	case l.failed != nil:
		return g.k.texts.Error(l.failed)
	case !l.asked.Empty():
		return g.k.t("computing… %s", g.k.words.Percent(l.done))
	case l.blocked() && l.look.Map == nil:
		return g.k.t("waiting for other work")
	}
	return g.k.words.Thresholds(&l.spec, l.session.Settings().Params)
}

// hovered shows the value under the pointer.
func (g *legend) hovered(at image.Point, inside bool) {
	l := g.layers
	if !l.on || l.look.Map == nil || !l.asked.Empty() || l.failed != nil {
		return
	}
	text := g.stateText()
	if inside {
		text = g.k.t("no candidate here")
		if v, ok := l.look.Map.At(at.X, at.Y); ok {
			text = g.k.t("here: %s", g.k.texts.Number(v, l.spec.Decimals))
		} else if !at.In(l.look.Map.Rect) {
			text = g.stateText()
		}
	}
	g.state.SetText(text)
}
