package ui

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"blik/app/document"
	"blik/app/session"
	"blik/app/session/store"
	"blik/app/view"
	"blik/processing"
	"blik/ui/shader"
	"blik/ui/viewport"
	"blik/ui/xwidget"
)

// display is the picture in the middle of the window: the viewport, the mask over the picture, and the comparison with
// the original, which is shown instead of the corrected picture, next to it, or on the other side of a split line.
type display struct {
	s *session.Session
	// selected returns the selected finding, other the mask to compare with.
	selected func() (document.Spot, bool)
	other    func() *view.MaskPyramid
	port     *viewport.Viewport
	changed  func(change)

	// twin shows the original on the left of port while beside is set; pair holds both.
	twin   *viewport.Viewport
	beside bool
	pair   *fyne.Container
	// layer is the visible part of a layer of detection, shown in place of the picture; nil for none.
	layer *view.Pyramid
	// onHover receives the image point under the pointer; inside is false when the pointer has left.
	onHover func(at processing.Point, inside bool)
	// zooms are the views of the pictures that were open before, by path; path is that of the open picture.
	zooms map[string]view.Transform
	path  string

	look      view.Options
	maskShown bool
	// reviewing shows the mask as outlines, see review.
	reviewing bool
	// hid is set if a correction has hidden the mask.
	hid bool

	// original and split are toggles; heldKey is the scan code of the key that shows the original while it is held, 0
	// for none.
	original, split, heldButton bool
	heldKey                     int
	// endBlink stops the pictures from being shown in turn; nil while they are not. swapped is set while it is the turn
	// of the original.
	endBlink func()
	swapped  bool
}

func newDisplay(s *session.Session, selected func() (document.Spot, bool), other func() *view.MaskPyramid,
	card *shader.Card, changed func(change),
) *display {
	d := &display{s: s, selected: selected, other: other, port: viewport.New(viewport.Shaded("result", card)),
		changed: changed, zooms: map[string]view.Transform{},
		look: view.DefaultOptions(), maskShown: true}
	d.look.Opacity = s.Settings().OverlayOpacity
	d.look.Colour = view.OverlayColourByID(s.Settings().OverlayColour).Colour
	d.look.Grid = !s.Settings().HideGrid
	d.port.OnView = func(view.Transform) { changed(change{Zoom: true}) }
	d.twin = d.newTwin(card)
	d.port.OnHover, d.twin.OnHover = d.hovered(d.twin), d.hovered(d.port)
	d.pair = container.New(xwidget.PairLayout{}, d.twin, d.port)
	if s.Settings().SideBySide {
		d.beside = true
		d.twin.Show()
	}
	return d
}

// review shows the mask as outlines from now on, because a fill hides what must be judged, until no finding is selected
// or the mask changes.
func (d *display) review() {
	if !d.reviewing && d.look.Mode == view.PictureAndMask {
		d.reviewing = true
		d.changed(change{View: true})
	}
}

// follow handles a change of the session before the other parts do, and reports whether the view changed with it.
func (d *display) follow(c change) (viewChanged bool) {
	before, shown := d.mode(), d.maskShown
	reviewed := d.reviewing
	if _, ok := d.selected(); !ok || c.Document || !c.Pixels.Empty() {
		d.reviewing = false
	}
	switch c.Cause {
	case session.Detected:
		d.stopComparing()
		d.maskShown = true
	case session.CorrectedSpots:
		d.stopComparing()
		// The mask would cover exactly what was corrected; outlines do not, among them those of a review that goes on.
		if d.maskShown && d.look.Mode != view.Outlines && d.look.Mode != view.Changed &&
			(!d.reviewing || d.allCorrected()) {
			d.maskShown, d.hid = false, true
		}
	}
	if c.Document || !d.comparable() {
		d.stopComparing()
	}
	if c.Document || c.Corrections && c.Cause != session.CorrectedSpots {
		d.hideCorrected(c)
	}
	return d.mode() != before || d.maskShown != shown || d.reviewing != reviewed
}

// hideCorrected hides the mask of a picture that was opened or restored with all findings corrected, or whose
// correction is redone, as their correction did. It shows the mask again for another picture and when not all is
// corrected any more.
func (d *display) hideCorrected(c change) {
	all := d.look.Mode == view.PictureAndMask && d.allCorrected()
	switch {
	case all && d.maskShown && (c.Document || c.Cause == session.Restored || c.Cause == session.Stepped && !c.Mask):
		d.hid, d.maskShown = true, false
	case !all && d.hid:
		d.hid, d.maskShown = false, true
	}
}

// allCorrected reports whether there are corrections and no finding is left without.
func (d *display) allCorrected() bool {
	if !d.s.Corrected() {
		return false
	}
	findings, corrected := store.CountFindings(d.s.Document())
	return findings == corrected
}

func (d *display) update(c change) {
	original, corrected := d.s.Pictures()
	if c.Document && original != nil && !d.port.Shows(original) {
		d.keepZoom()
		d.port.SetPicture(original, d.s.Shown().Mask)
		if t, ok := d.zooms[d.path]; ok {
			d.port.Restore(t)
		}
	}
	if c.Corrections {
		d.port.SetPyramids(original, corrected)
	}
	if c.Document && d.beside {
		d.showTwin()
	}
	if (c.Zoom || c.Document) && d.beside {
		d.twin.Follow(d.port.Transform())
	}
	d.port.MaskChanged(c.Pixels)
	if c.View || c.Document || c.Corrections || c.Compared {
		d.port.SetCompare(d.mode())
		look := d.look
		if look.Other = d.other(); look.Mode == view.Changed {
			look.Other = d.s.ChangedView()
		}
		if !d.maskShown || d.mode() == view.CompareBefore || d.blinking() {
			look.Mode = view.PictureOnly
		} else if d.layer != nil || d.reviewing {
			// A mask over the layer, or over a finding that is reviewed, would hide what must be seen.
			look.Mode = view.Outlines
		}
		d.port.SetLayer(d.layer)
		d.port.SetOptions(look)
		look.Mode = view.PictureOnly
		d.twin.SetOptions(look)
	}
	if c.Selection {
		bounds := image.Rectangle{}
		if f, ok := d.selected(); ok {
			bounds = f.Bounds()
		}
		d.each(func(v *viewport.Viewport) { v.SetMarker(bounds) })
	}
	if c.Brush {
		d.each(func(v *viewport.Viewport) { v.SetBrushRadius(d.s.Settings().BrushRadius) })
	}
}

// keepZoom stores the view of the picture that was shown before.
func (d *display) keepZoom() {
	if d.path != "" {
		if d.port.Fitted() {
			delete(d.zooms, d.path)
		} else {
			d.zooms[d.path] = d.port.Transform()
		}
	}
	d.path = d.s.Document().Path()
}

func (d *display) viewChanged() { d.changed(change{View: true}) }

func (d *display) setOpacity(v float64) {
	d.look.Opacity, d.s.Settings().OverlayOpacity = v, v
	d.maskShown = true
	d.viewChanged()
}

func (d *display) setColour(c view.OverlayColour) {
	d.look.Colour, d.s.Settings().OverlayColour = c.Colour, c.ID
	d.viewChanged()
}

func (d *display) setMode(m view.Mode) {
	d.look.Mode, d.maskShown = m, true
	d.viewChanged()
}

func (d *display) toggleMask() {
	d.maskShown, d.hid = !d.maskShown, false
	d.viewChanged()
}

// showMask shows the mask if it is hidden, so that a change of it is visible.
func (d *display) showMask() {
	if !d.maskShown {
		d.toggleMask()
	}
}

// holding reports whether a key or button that shows the original is held.
func (d *display) holding() bool { return d.heldKey != 0 || d.heldButton }

// mode returns what the viewport shows.
func (d *display) mode() view.Compare {
	switch {
	case d.holding() || d.original || d.swapped:
		return view.CompareBefore
	case d.split:
		return view.CompareSplit
	}
	return view.CompareAfter
}

// toggleOriginal switches between the original and the corrected picture.
func (d *display) toggleOriginal() {
	d.stopBlinking()
	d.original, d.split = !d.original, false
	d.viewChanged()
}

// toggleSplit switches between both pictures with a split line and the corrected picture only.
func (d *display) toggleSplit() {
	d.stopBlinking()
	d.split, d.original = !d.split, false
	d.viewChanged()
}

// stopComparing shows the corrected picture; its callers announce the change.
func (d *display) stopComparing() {
	d.stopBlinking()
	d.split, d.original, d.heldKey, d.heldButton = false, false, 0, false
}

// holdKey shows the original until the key with the given scan code is released; 0 releases it.
func (d *display) holdKey(code int) {
	if d.heldKey != code && (code == 0 || d.comparable()) {
		d.heldKey = code
		d.viewChanged()
	}
}

// setPanKey sets whether the key is held that turns any tool into the hand.
func (d *display) setPanKey(held bool) { d.each(func(v *viewport.Viewport) { v.SetPanKey(held) }) }

// comparable reports whether there is anything to compare with the original.
func (d *display) comparable() bool { return d.s.Corrected() || d.layer != nil }

// toggleGrid toggles the pixel grid, which is visible from view.GridZoom; the choice is remembered.
func (d *display) toggleGrid() {
	d.look.Grid = !d.look.Grid
	d.s.Settings().HideGrid = !d.look.Grid
	d.viewChanged()
}

// setLayer shows a layer of detection in place of the picture; nil shows the picture.
func (d *display) setLayer(layer *view.Pyramid) {
	if d.layer == layer {
		return
	}
	d.layer = layer
	if !d.comparable() {
		d.stopComparing()
	}
	d.viewChanged()
}

// holdButton shows the original while the button is held.
func (d *display) holdButton(held bool) {
	if d.heldButton != held && (!held || d.comparable()) {
		d.heldButton = held
		d.viewChanged()
	}
}

// release ends everything that waits for a release, which would go to another window.
func (d *display) release() {
	d.setPanKey(false)
	d.end()
	d.holdKey(0)
	d.holdButton(false)
}
