package ui

import (
	"image"
	"math"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/document"
	"blik/app/imagefile/container"
	"blik/app/view"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
	"blik/ui/aids"
	"blik/ui/look"
	"blik/ui/viewport"
)

// looked runs callbacks until everything shown has been computed.
func (h *harness) looked() {
	h.tb.Helper()
	timeout := time.After(time.Minute)
	for !h.layers.asked.Empty() {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			h.tb.Fatal("the layer is not computed")
		}
	}
}

// openOther opens another picture, of 50 × 60 pixels, and discards unsaved work.
func (h *harness) openOther(t *testing.T) {
	t.Helper()
	h.settle() // a change of parameters may have begun a search
	h.c.store.Open("/art/b.tif", func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	h.settle()
}

// The computed part of a layer contains the visible part and lies inside the picture.
func TestPartToInspect(t *testing.T) {
	t.Parallel()
	size := image.Pt(1000, 800)
	for _, c := range []struct {
		seen, want image.Rectangle
		whole      bool
	}{
		{image.Rect(400, 300, 500, 400), image.Rect(350, 250, 550, 450), false},
		{image.Rect(400, 300, 500, 400), image.Rect(0, 0, 1000, 800), true},
		{image.Rect(0, 0, 100, 100), image.Rect(0, 0, 150, 150), false},
		{image.Rect(100, 100, 900, 700), image.Rect(0, 0, 1000, 800), false},
	} {
		if got := partToInspect(c.seen, size, c.whole); got != c.want {
			t.Errorf("visible part %v: %v, want %v", c.seen, got, c.want)
		}
	}
}

// A layer is chosen by its key, follows the view and the parameters, and is hidden by 0; the legend names it.
func TestLayerIsShown(t *testing.T) {
	h := found(t, "en")
	h.k.keys.(*keyboard).Rune('4')
	if h.aids.legend.state.Text() != "computing… 0\u00a0%" {
		t.Errorf("while computing: %q", h.aids.legend.state.Text())
	}
	h.looked()
	if h.k.display.layer == nil || h.layers.look.Map.Spec.ID != "contrast" || !h.aids.legend.card.Visible() {
		t.Fatal("the layer is not shown")
	}
	if o := h.k.display.port.Options(); o.Mode != view.Outlines {
		t.Error("the mask hides the layer")
	}
	if got := h.aids.legend.state.Text(); got != "Visible contrast 8; Seed contrast 50" {
		t.Errorf("the legend says %q", got)
	}
	h.k.display.onHover(processing.Point{X: 7.5, Y: 8.5}, true)
	if got := h.aids.legend.state.Text(); got != "here: 0" {
		t.Errorf("under the pointer: %q", got)
	}
	// The original is shown while the key is held, even though nothing is corrected.
	h.k.actions.do(holdAction)
	if h.k.display.mode() != view.CompareBefore {
		t.Error("the original is not shown")
	}
	h.k.actions.do(holdAction)

	// Correction parameters change nothing; detection parameters do.
	was := h.layers.look.Map
	p := h.c.session.Settings().Params
	p.Blend++
	h.c.preview.SetParams(p)
	if !h.layers.asked.Empty() {
		t.Error("correction parameters made the layer stale")
	}
	p.Mode, p.Window = processing.Manual, 31
	h.c.preview.SetParams(p)
	h.looked()
	if h.layers.look.Map == was {
		t.Error("detection parameters did not make the layer stale")
	}
	h.k.keys.(*keyboard).Rune('7')
	h.looked()
	h.k.display.onHover(processing.Point{X: 7.5, Y: 8.5}, true)
	if got := h.aids.legend.state.Text(); got != "no candidate here" {
		t.Errorf("legend of the score: %q", got)
	}
	h.openOther(t)
	h.looked()
	if m := h.layers.look.Map; m == nil || m.Rect != image.Rect(0, 0, 50, 60) {
		t.Error("the next picture shows the layer of the previous one")
	}
	h.k.keys.(*keyboard).Rune('0')
	if h.k.display.layer != nil || h.aids.legend.card.Visible() || h.k.display.port.Options().Mode == view.Outlines {
		t.Error("the layer is still shown")
	}
}

// The original beside the result shows the same part, follows it and moves it.
func TestSideBySide(t *testing.T) {
	h := fixed(t, "en")
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF2})
	d := h.k.display
	if !d.twin.Visible() || d.twin.Device() != d.port.Device() || !h.c.session.Settings().SideBySide {
		t.Fatalf("devices %v and %v", d.twin.Device(), d.port.Device())
	}
	same := func(what string) {
		t.Helper()
		if d.twin.Transform() != d.port.Transform() {
			t.Errorf("after %s: %+v and %+v", what, d.twin.Transform(), d.port.Transform())
		}
	}
	same("the start")
	d.port.SetZoom(3)
	same("a zoom")
	d.twin.Scrolled(&fyne.ScrollEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(50, 40)},
		Scrolled: fyne.NewDelta(0, 25)})
	if d.port.Transform().Zoom == 3 {
		t.Error("the wheel over the original has no effect")
	}
	same("the wheel over the original")
	for _, v := range []*viewport.Viewport{d.port, d.twin} {
		v.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary,
			PointEvent: fyne.PointEvent{Position: fyne.NewPos(100, 100)}})
		v.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(60, 80)}})
		v.MouseUp(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary,
			PointEvent: fyne.PointEvent{Position: fyne.NewPos(60, 80)}})
		same("a drag")
	}
	h.win.Resize(fyne.NewSize(1101, 703))
	same("another size of the window")
	h.k.actions.do("view.fit")
	same("fit")
	h.k.actions.do("find.next")
	same("the next finding")
	h.openOther(t)
	same("another picture")
	if original, _ := h.c.session.Pictures(); !d.twin.Shows(original) {
		t.Error("the previous picture is still shown")
	}
	h.k.actions.do("view.beside")
	if d.twin.Visible() || h.c.session.Settings().SideBySide || d.port.Size().Width < 600 {
		t.Error("the original is still shown")
	}
}

// Cards leave the captions of the two pictures free.
func TestCardsLeaveCaptionsFree(t *testing.T) {
	h := fixed(t, "ru")
	h.win.Resize(fyne.NewSize(1024, 700))
	for _, id := range []string{viewHistogram, viewLoupe, viewBeside} {
		h.k.actions.do(id)
	}
	captions := h.k.display.pair.Objects[2:]
	for _, card := range []*aids.Card{h.aids.levels.card, h.aids.loupe.card} {
		for _, c := range captions {
			if !card.Visible() || card.Position().Y < c.Position().Y+c.Size().Height {
				t.Errorf("a card, visible %v, is at %v, a caption of %v at %v", card.Visible(), card.Position(), c.Size(),
					c.Position())
			}
		}
	}
	h.k.actions.do(viewBeside)
	if at := h.aids.levels.card.Position(); at.Y > 10 {
		t.Errorf("with one picture the histogram is at %v", at)
	}
}

// Pressing in the navigator moves the view.
func TestNavigatorMovesTheView(t *testing.T) {
	h := found(t, "en")
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF4})
	n := h.aids.navigator.overview
	if !h.aids.navigator.card.Visible() || !h.c.session.Settings().Navigator {
		t.Fatal("the navigator is not visible")
	}
	h.k.display.port.SetZoom(20)
	press := func(x, y float32) processing.Point {
		n.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, y)}})
		device := h.k.display.port.Device()
		return h.k.display.port.Transform().ScreenToImage(
			processing.Point{X: float64(device.X) / 2, Y: float64(device.Y) / 2})
	}
	// The picture of 200 × 100 pixels fills the width of 200 units, with 25 free above.
	if p := press(150, 75); math.Abs(p.X-150) > 0.1 || math.Abs(p.Y-50) > 0.1 {
		t.Errorf("the centre is at %v", p)
	}
	if at := n.Frame().Position(); math.Abs(float64(at.X+n.Frame().Size().Width/2)-150) > 1 {
		t.Errorf("the frame is at %v of %v", at, n.Frame().Size())
	}
	n.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(-999, 999)}})
	if p := press(-999, 999); p.X > 0.1 || p.Y < 99.9 {
		t.Errorf("after a press beside the picture, the centre is at %v", p)
	}
}

// While the pointer rests on a finding, its reasons are shown, unless that is switched off or something is being drawn.
func TestReasonsAtThePointer(t *testing.T) {
	h := found(t, "en")
	f := h.c.session.Document().Spots()[0]
	text := h.k.words.Finding(f)
	if !strings.HasPrefix(text, "Finding 1, 4 px; score 3.5, contrast 0.0\u00a0%, brightest level 255") {
		t.Errorf("the text is %q", text)
	}
	f.Evidence = detect.Evidence{Strength: 4.25, Rise: 80, Shares: [4]float64{0.4, 0.6}, Kind: processing.KindPaint,
		Check: true}
	if text := h.k.words.Finding(f); !strings.HasSuffix(text, "\nlook at it: probably not glare") {
		t.Errorf("the text is %q", text)
	}
	want := "looks like: painted light (60 %)\nrises above its surroundings: 80 levels\nstrength: 4.2 (score +3.5)\n" +
		"size: 4 px\nlook at it: probably not glare"
	if text := h.k.words.Why(f); text != want {
		t.Errorf("the reasons are %q, want %q", text, want)
	}
	h.k.display.onHover(processing.Point{X: 21.5, Y: 10.5}, true)
	if !h.aids.reasons.on {
		t.Error("no tooltip for the finding under the pointer")
	}
	h.k.display.onHover(processing.Point{X: 60.5, Y: 10.5}, true)
	if h.aids.reasons.on {
		t.Error("a tooltip where there is no finding")
	}
	h.k.actions.do("view.reasons")
	h.k.display.onHover(processing.Point{X: 21.5, Y: 10.5}, true)
	if h.aids.reasons.on || !h.c.session.Settings().HideReasons {
		t.Error("a tooltip although switched off")
	}
}

// The ruler shows lengths in pixels, and in millimetres if the file states a resolution.
func TestRulerShowsLengths(t *testing.T) {
	h := found(t, "en")
	h.k.actions.do("tool.ruler")
	h.k.toolbox.measure(processing.Point{X: 10, Y: 10}, processing.Point{X: 40, Y: 50}, true)
	if got := h.status.message.Text(); got != "50 px (Δx 30, Δy 40)" {
		t.Errorf("the text is %q", got)
	}
	m := &h.c.session.Shown().Original.Info.Meta
	m.Unit, m.XResolution, m.YResolution = container.UnitInch, 254, 254
	h.k.toolbox.measure(processing.Point{X: 10, Y: 10}, processing.Point{X: 40, Y: 50}, true)
	if got := h.status.message.Text(); got != "50 px, 5 mm (Δx 30, Δy 40)" {
		t.Errorf("the text is %q", got)
	}
}

// The loupe magnifies more than the viewport, but never beyond the largest zoom.
func TestLoupeZoom(t *testing.T) {
	t.Parallel()
	for zoom, want := range map[float64]float64{0.05: 2, 0.5: 2, 1: 4, 1.5: 8, 8: 32, 40: 64, 64: 64} {
		if got := loupeZoom(zoom); got != want {
			t.Errorf("at %v: %v, want %v", zoom, got, want)
		}
	}
}

// While the pointer is not over the picture, the loupe shows the middle of what is visible, also of the next picture.
func TestLoupeWithoutPointer(t *testing.T) {
	h := found(t, "en")
	h.k.actions.do("view.loupe")
	check := func() {
		t.Helper()
		size := h.c.session.Document().Size()
		if at := h.aids.loupe.glass.At(); math.Abs(at.X-float64(size.X)/2) > 1 || math.Abs(at.Y-float64(size.Y)/2) > 1 {
			t.Errorf("the loupe shows %v of a picture of %v", at, size)
		}
	}
	check()
	h.openOther(t)
	check()

	// Turned on under the pointer, it shows what is there.
	h.k.actions.do("view.loupe")
	h.aids.hovered(processing.Point{X: 7.2, Y: 8.9}, true)
	h.k.actions.do("view.loupe")
	if at := h.aids.loupe.glass.At(); at != (processing.Point{X: 7.5, Y: 8.5}) {
		t.Errorf("the loupe shows %v", at)
	}
	h.aids.hovered(processing.Point{}, false)
	check()
	h.k.display.port.Centre(image.Rect(10, 10, 12, 12), 64)
	if at := h.aids.loupe.glass.At(); math.Abs(at.X-11) > 1 || math.Abs(at.Y-11) > 1 {
		t.Errorf("the loupe shows %v after a step to a finding at (11, 11)", at)
	}
}

// Another picture of the same size under a pointer that rests has other values, also in the loupe.
func TestPointerRestsOverTheNextPicture(t *testing.T) {
	h := found(t, "en")
	h.k.actions.do("view.loupe")
	h.pictures["/art/b.tif"] = testpic.Flat(200, 100, 3, 33)
	port := h.k.display.port
	port.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{
		Position: fyne.NewPos(port.Size().Width/4, port.Size().Height/2)}})
	was, at := h.status.values.Text(), h.aids.loupe.glass.At()
	h.openOther(t)
	if got := h.status.values.Text(); got != "R 33  G 33  B 33" || got == was {
		t.Errorf("the values are %q, before %q", got, was)
	}
	if got := h.aids.loupe.glass.At(); got != at || at.X > 60 {
		t.Errorf("the loupe shows %v, the pointer is at %v", got, at)
	}
	h.c.editor.BeginStroke(document.Brush{Radius: 3}, at)
	h.c.editor.EndStroke()
	h.k.actions.do("correct.all")
	h.settle()
	if got := h.status.values.Text(); !strings.Contains(got, "←") {
		t.Errorf("after the correction the values are %q", got)
	}
}

// The cards have the expected layout and texts, in both languages and all appearances.
func TestMarkupOfCards(t *testing.T) {
	testpic.NoRace(t)
	for _, lang := range languages() {
		t.Run(lang, func(t *testing.T) {
			h := found(t, lang)
			for _, id := range []string{"view.navigator", "view.loupe", "view.histogram", "layer.contrast"} {
				h.k.actions.do(id)
			}
			h.looked()
			for h.aids.levels.counted.All == nil {
				(<-h.queue)()
			}
			for name, c := range map[string]*aids.Card{
				"legend": h.aids.legend.card, "navigator": h.aids.navigator.card, "loupe": h.aids.loupe.card,
				"histogram": h.aids.levels.card,
			} {
				checkMarkup(t, lang+"/card-"+name+".xml", c)
			}
			for _, look := range []look.Appearance{look.Light, look.Neutral} {
				h.setAppearance(look)
				checkMarkup(t, lang+"/card-legend-"+string(look)+".xml", h.aids.legend.card)
			}
		})
	}
}
