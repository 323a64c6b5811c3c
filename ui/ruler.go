package ui

import (
	"math"

	"blik/app/imagefile/container"
	"blik/processing"
	"blik/ui/viewport"
)

// measure shows the line of the ruler with its length beside it.
func (t *toolbox) measure(from, to processing.Point, measured bool) {
	text := ""
	if measured {
		text = t.about.lengthText(from, to)
		t.k.say(text)
		t.outline([]processing.Point{from, to}, []processing.Point{from, to}, true)
	} else {
		t.DraftChanged()
	}
	t.k.display.each(func(v *viewport.Viewport) { v.SetLabel(to, text) })
}

// lengthText returns the length of a line: in pixels and, if the file states a resolution, in millimetres.
func (a *about) lengthText(from, to processing.Point) string {
	dx, dy := to.X-from.X, to.Y-from.Y
	text := a.k.t("%s px", a.k.texts.Number(math.Hypot(dx, dy), 1))
	m := a.session.Shown().Original.Info.Meta
	if w, h, ok := millimetres(m.Unit, m.XResolution, m.YResolution); ok {
		text += ", " + a.k.t("%s mm", a.k.texts.Number(math.Hypot(dx*w, dy*h), 2))
	}
	return text + a.k.t(" (Δx %s, Δy %s)", a.k.texts.Number(math.Abs(dx), 1), a.k.texts.Number(math.Abs(dy), 1))
}

// millimetres returns the sides of a pixel; ok is false if the resolution is unknown.
func millimetres(unit container.Unit, x, y float64) (w, h float64, ok bool) {
	inUnit, ok := map[container.Unit]float64{container.UnitInch: 25.4, container.UnitCentimetre: 10}[unit]
	if !ok || !(x > 0) || !(y > 0) || math.IsInf(x, 1) || math.IsInf(y, 1) {
		return 0, 0, false
	}
	return inUnit / x, inUnit / y, true
}
