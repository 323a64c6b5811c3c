package ui

import (
	"blik/processing"
	"blik/ui/viewport"
)

// measure shows the line of the ruler with its length beside it.
func (t *toolbox) measure(from, to processing.Point, measured bool) {
	text := ""
	if measured {
		text = t.k.words.Length(t.session.Shown().Original.Info.Meta, from, to)
		t.k.say(text)
		t.outline([]processing.Point{from, to}, []processing.Point{from, to}, true)
	} else {
		t.DraftChanged()
	}
	t.k.display.each(func(v *viewport.Viewport) { v.SetLabel(to, text) })
}
