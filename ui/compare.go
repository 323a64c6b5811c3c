package ui

import (
	"blik/app/view"
)

// Comparing shows the source in place of the corrected picture: as long as a key or a button is held, or switched on; or
// both at once beside a line.

// canCompare says whether there is anything to compare.
func (w *window) canCompare() bool { return w.doc != nil && w.doc.Corrections() != nil }

// holding says whether a key or the button is held that shows the source.
func (w *window) holding() bool { return w.heldKey != 0 || w.heldButton }

// compareMode is what the viewport shows.
func (w *window) compareMode() view.Compare {
	switch {
	case w.holding() || w.source:
		return view.CompareBefore
	case w.split:
		return view.CompareSplit
	}
	return view.CompareAfter
}

// toggleSource switches between the source and the corrected picture.
func (w *window) toggleSource() {
	w.source, w.split = !w.source, false
	w.refreshCompare()
}

// toggleSplit shows both beside a line, or the corrected picture alone.
func (w *window) toggleSplit() {
	w.split, w.source = !w.split, false
	w.refreshCompare()
}

// stopComparing shows the corrected picture.
func (w *window) stopComparing() {
	w.split, w.source, w.heldKey, w.heldButton = false, false, 0, false
	w.refreshCompare()
}

// holdKey shows the source until the key with the given scan code is released; 0 is no key.
func (w *window) holdKey(code int) {
	if w.heldKey == code || code != 0 && !w.canCompare() {
		return
	}
	w.heldKey = code
	w.refreshCompare()
}

// holdButton shows the source while the button is held.
func (w *window) holdButton(held bool) {
	if w.heldButton == held || held && !w.canCompare() {
		return
	}
	w.heldButton = held
	w.refreshCompare()
}

// refreshCompare shows the source, the corrected picture or both, and says which.
func (w *window) refreshCompare() {
	mode := w.compareMode()
	changed := w.port.Compare() != mode
	w.port.SetCompare(mode)
	w.refreshView()
	c := w.panel.correction
	c.hold.SetEnabled(w.canCompare())
	c.hold.SetSelected(mode == view.CompareBefore)
	c.quiet = true
	c.split.SetChecked(w.split)
	c.quiet = false
	if w.canCompare() {
		c.split.Enable()
	} else {
		c.split.Disable()
	}
	text := ""
	if w.canCompare() {
		text = w.t(map[view.Compare]string{
			view.CompareAfter: "compare.after", view.CompareBefore: "compare.before", view.CompareSplit: "compare.split",
		}[mode])
	}
	w.status.compare.SetText(text)
	if changed {
		if !w.holding() {
			w.refreshMenu()
		}
		w.log.line("compare %d", mode)
	}
}
