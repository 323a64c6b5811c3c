package ui

import (
	"fmt"
	"math"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/app/view"
	"blik/processing"
	"blik/ui/icons"
	"blik/ui/texts"
	"blik/ui/tool"
	"blik/ui/xwidget"
)

// toolIDs lists the tools in the order of the strip.
func toolIDs() []string {
	return []string{
		"tool.pan", "tool.pick", "tool.brush", "tool.eraser", "tool.rectangle", "tool.ellipse", "tool.polygon",
	}
}

func toolIcon(id string) fyne.Resource {
	return icons.Get(strings.TrimPrefix(id, "tool."))
}

// button makes the tool button of an action; its tip names the action and its key.
func (w *window) button(id string, icon fyne.Resource) *xwidget.ToolButton {
	return xwidget.NewToolButton(icon, w.tip(id), w.tips, func() { w.do(id) })
}

// name is what an action is called outside the menu.
func (w *window) name(id string) string { return strings.TrimSuffix(w.t("action."+id), "…") }

// tip is an action's name with its key.
func (w *window) tip(id string) string {
	if k := w.keyText(id); k != "" {
		return w.name(id) + "  (" + k + ")"
	}
	return w.name(id)
}

// newStrip is the column of tools at the left.
func (w *window) newStrip() fyne.CanvasObject {
	w.strip = map[string]*xwidget.ToolButton{}
	box := container.New(layout.NewCustomPaddedVBoxLayout(2))
	for _, id := range toolIDs() {
		b := w.button(id, toolIcon(id))
		w.strip[id] = b
		box.Add(b)
		if id == "tool.pan" || id == "tool.pick" || id == "tool.eraser" {
			box.Add(xwidget.NewGap(0, 6))
		}
	}
	return container.New(layout.NewCustomPaddedLayout(4, 4, 4, 4), box)
}

// topBar holds the commands used most, the brush's settings, the overlay and the zoom.
type topBar struct {
	object fyne.CanvasObject

	save, undo, redo *xwidget.ToolButton
	brush            *fyne.Container
	size             *xwidget.Slider
	sizeEntry        *xwidget.NumberEntry
	soft             *xwidget.Check
	eye              *xwidget.ToolButton
	opacity          *xwidget.Slider
	opacityText      *xwidget.FixedText
	zoom             *zoomBox
	whenOpen         []*xwidget.ToolButton
	// quiet is set while controls show values that the user did not change.
	quiet bool
}

// change returns a handler that f gets the user's changes from.
func change[T any](b *topBar, f func(T)) func(T) {
	return func(v T) {
		if !b.quiet {
			f(v)
		}
	}
}

// brushSteps is the number of positions of the brush's slider, which is logarithmic from the smallest to sliderRadius.
const (
	brushSteps   = 100
	sliderRadius = 300
	minRadius    = 0.5
)

func newTopBar(w *window) *topBar {
	b := &topBar{}
	open := w.button("file.open", theme.FolderOpenIcon())
	b.save = w.button("file.savePicture", theme.DocumentSaveIcon())
	b.undo = w.button("edit.undo", theme.ContentUndoIcon())
	b.redo = w.button("edit.redo", theme.ContentRedoIcon())

	b.size = xwidget.NewSlider(0, brushSteps, 1, w.keys)
	b.size.OnChanged = change(b, func(v float64) { w.setBrushRadius(sliderToRadius(v)) })
	b.sizeEntry = xwidget.NewNumberEntry(48, func(text string) {
		v, err := texts.ParseNumber(text)
		if err != nil || v <= 0 {
			v = w.settings.BrushRadius * 2
		}
		w.setBrushRadius(v / 2)
	})
	b.soft = xwidget.NewCheck(w.t("brush.soft"), w.keys, change(b, func(on bool) { w.settings.BrushSoft = on }))
	b.brush = container.NewHBox(
		xwidget.NewHelpLabel(w.t("brush.size"), w.t("brush.help"), w.tips),
		xwidget.NewMinWidth(90, b.size), container.NewCenter(b.sizeEntry), b.soft,
	)

	b.eye = w.button("view.mask", theme.VisibilityIcon())
	b.opacity = xwidget.NewSlider(0, 1, 0.05, w.keys)
	b.opacity.OnChanged = change(b, w.setOpacity)
	b.opacityText = xwidget.NewFixedText("100 %")

	b.zoom = newZoomBox(w)
	out := w.button("view.out", theme.ZoomOutIcon())
	in := w.button("view.in", theme.ZoomInIcon())
	fit := w.button("view.fit", icons.Get("fit"))
	actual := w.button("view.actual", icons.Get("actual"))
	previous := w.button("find.previous", theme.NavigateBackIcon())
	next := w.button("find.next", theme.NavigateNextIcon())
	b.whenOpen = []*xwidget.ToolButton{out, in, fit, actual, previous, next}

	row := container.NewHBox(
		open, b.save, xwidget.NewGap(2, 0), b.undo, b.redo, xwidget.NewGap(4, 0), b.brush,
		layout.NewSpacer(),
		b.eye, xwidget.NewMinWidth(72, b.opacity), b.opacityText, xwidget.NewGap(2, 0),
		previous, next, xwidget.NewGap(2, 0), out, container.NewCenter(b.zoom), in, fit, actual,
	)
	b.object = container.NewVBox(container.New(layout.NewCustomPaddedLayout(3, 3, 4, 6), row), widget.NewSeparator())
	return b
}

func sliderToRadius(v float64) float64 {
	return math.Round(minRadius*math.Pow(sliderRadius/minRadius, v/brushSteps)*2) / 2
}

func radiusToSlider(r float64) float64 {
	return brushSteps * math.Log(r/minRadius) / math.Log(sliderRadius/minRadius)
}

// zoomBox shows the zoom in percent; it can be typed, or chosen from a menu.
type zoomBox struct {
	widget.SelectEntry
	w     *window
	shown string
}

func newZoomBox(w *window) *zoomBox {
	z := &zoomBox{w: w}
	z.ExtendBaseWidget(z)
	options := []string{w.t("zoom.fit")}
	for _, s := range []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32} {
		options = append(options, w.percent(s))
	}
	z.SetOptions(options)
	z.OnChanged = func(text string) {
		// Choosing from the menu changes the text without the focus; typing has it.
		if w.win.Canvas().Focused() != fyne.Focusable(z) && text != z.shown {
			z.take()
		}
	}
	z.OnSubmitted = func(string) {
		z.take()
		w.win.Canvas().Unfocus()
	}
	return z
}

// FocusLost takes what was typed.
func (z *zoomBox) FocusLost() {
	z.SelectEntry.FocusLost()
	if z.Text != z.shown {
		z.take()
	}
}

// MinSize keeps the box narrow.
func (z *zoomBox) MinSize() fyne.Size { return fyne.NewSize(92, z.SelectEntry.MinSize().Height) }

func (z *zoomBox) take() {
	text := z.Text
	z.shown = text
	if text == z.w.t("zoom.fit") {
		z.w.port.Fit()
	} else if v, err := texts.ParseNumber(strings.TrimSuffix(strings.TrimSpace(text), "%")); err == nil && v > 0 {
		if z.w.doc != nil {
			z.w.port.SetZoom(v / 100)
		}
	}
	z.show()
}

// show writes the current zoom.
func (z *zoomBox) show() {
	text := ""
	if z.w.doc != nil {
		text = z.w.percent(z.w.port.Transform().Zoom)
	}
	z.shown = text
	if z.Text != text {
		z.SetText(text)
	}
}

// percent writes a share of one.
func (w *window) percent(v float64) string {
	decimals := 0
	if v < 0.1 {
		decimals = 1
	}
	return w.texts.Number(v*100, decimals) + "\u00a0%"
}

// statusBar tells what is under the pointer and what was found. Its fields have fixed widths, so that nothing jumps.
type statusBar struct {
	object fyne.CanvasObject

	place, values, message, compare, found *xwidget.FixedText
	// colours says that the colours on the screen are approximate; it is hidden where they are not. device says what the
	// work runs on.
	colours, device *fyne.Container
}

func newStatusBar(w *window) *statusBar {
	s := &statusBar{
		place:   xwidget.NewFixedText("x 00000  y 00000"),
		values:  xwidget.NewFixedText(w.widestPixel()),
		message: xwidget.NewFixedText(""),
		compare: xwidget.NewFixedText(""),
		found:   xwidget.NewFixedText(""),
		colours: container.NewHBox(),
		device:  container.NewHBox(),
	}
	s.message.Stretch, s.message.Tips = true, w.tips
	s.found.Trailing, s.compare.Trailing, s.compare.Bold = true, true, true
	s.message.Muted = true
	left := container.NewHBox(s.place, xwidget.NewGap(8, 0), s.values, xwidget.NewGap(8, 0))
	right := container.NewHBox(s.colours, s.compare, xwidget.NewGap(8, 0), s.found, xwidget.NewGap(8, 0), s.device)
	s.object = container.NewVBox(widget.NewSeparator(),
		container.New(layout.NewCustomPaddedLayout(3, 4, 10, 10), container.NewBorder(nil, nil, left, right, s.message)))
	return s
}

// hovered shows the pixel under the pointer.
func (w *window) hovered(at processing.Point, inside bool) {
	if w.doc == nil {
		return
	}
	p, ok := w.doc.PixelAt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
	if !inside || !ok {
		w.status.place.SetText("")
		w.status.values.SetText("")
		return
	}
	w.status.place.SetText(fmt.Sprintf("x %d  y %d", p.X, p.Y))
	w.status.values.SetText(w.pixelText(p))
}

func (w *window) pixelText(p document.Pixel) string {
	value := func(v float64) string {
		if p.Depth == 32 {
			return w.texts.Number(v, 4)
		}
		return fmt.Sprintf("%.0f", v)
	}
	names := map[int][]string{1: {""}, 3: {"R", "G", "B"}, 4: {"C", "M", "Y", "K"}}[p.Channels]
	text, source := "", ""
	for i, name := range names {
		if i > 0 {
			text += "  "
		}
		text += strings.TrimSpace(name + " " + value(p.Samples[i]))
		source += " " + value(p.Source[i])
	}
	if p.Channels == 1 {
		text = w.t("status.grey", "V", text)
	}
	if p.Corrected {
		text += "  ←" + source
	}
	return text
}

// widestPixel is the longest text of a pixel of the picture.
func (w *window) widestPixel() string {
	p := document.Pixel{Channels: 3, Depth: 8, Corrected: true}
	if w.doc != nil {
		p.Channels, p.Depth = w.doc.Picture().Channels, w.doc.Picture().Depth()
	}
	for i := range p.Samples {
		p.Samples[i] = map[int]float64{8: 255, 16: 65535, 32: 0.8888}[p.Depth]
	}
	p.Source = p.Samples
	return w.pixelText(p)
}

// say shows a passing message in the status bar.
func (w *window) say(text string) { w.status.message.SetText(text) }

func (w *window) viewChanged() {
	w.log.frameEnded()
	w.bar.zoom.show()
	w.log.view(w.port)
}

// refreshTools shows which tool is at work and what can be done.
func (w *window) refreshTools() {
	for id, b := range w.strip {
		b.SetSelected(id == w.toolID)
	}
	if w.toolID == "tool.brush" || w.toolID == "tool.eraser" {
		w.bar.brush.Show()
	} else {
		w.bar.brush.Hide()
	}
	w.showBrush()
	if w.doc == nil {
		w.say(w.t("hint.open"))
	} else {
		w.say(w.t("hint." + w.toolID))
	}
}

// refreshView shows how the mask is laid over the picture.
func (w *window) refreshView() {
	look := w.look
	if !w.maskShown || w.compareMode() == view.CompareBefore {
		look.Mode = view.PictureOnly
	}
	w.port.SetOptions(look)
	w.bar.eye.SetSelected(w.maskShown)
	w.bar.quiet = true
	w.bar.opacity.SetValue(w.look.Opacity)
	w.bar.quiet = false
	w.bar.opacityText.SetText(w.percent(w.look.Opacity))
	w.bar.zoom.show()
}

func (w *window) setOpacity(v float64) {
	w.look.Opacity = v
	w.settings.OverlayOpacity = v
	if !w.maskShown {
		w.toggleMask()
		return
	}
	w.refreshView()
}

func (w *window) setColour(c view.OverlayColour) {
	w.look.Colour = c.Colour
	w.settings.OverlayColour = c.ID
	w.refreshView()
	w.refreshMenu()
}

func (w *window) toggleMask() {
	w.maskShown = !w.maskShown
	w.refreshView()
	w.refreshMenu()
}

func (w *window) setViewMode(m view.Mode) {
	w.look.Mode = m
	w.maskShown = true
	w.refreshView()
	w.refreshMenu()
}

func (w *window) makeTools() {
	size := func() document.Brush {
		return document.Brush{Radius: w.settings.BrushRadius, Soft: w.settings.BrushSoft}
	}
	w.tools = map[string]tool.Tool{
		"tool.pan":       tool.Pan{},
		"tool.pick":      &tool.Picker{Toggle: w.toggleSpot, Hit: w.spotHit},
		"tool.brush":     tool.NewBrush(w, false, size),
		"tool.eraser":    tool.NewBrush(w, true, size),
		"tool.rectangle": tool.NewRegion(processing.RectangleShape, w),
		"tool.ellipse":   tool.NewRegion(processing.EllipseShape, w),
		"tool.polygon":   tool.NewRegion(processing.PolygonShape, w),
	}
	w.toolID = "tool.pan"
}

// setTool takes another tool; a polygon that was being drawn is dropped.
func (w *window) setTool(id string) {
	if r, ok := w.regionTool(); ok && w.toolID != id {
		r.Abandon()
	}
	w.toolID = id
	w.port.SetTool(w.tools[id])
	w.refreshTools()
	w.refreshRegion()
	w.refreshMenu()
}

func (w *window) regionTool() (*tool.Region, bool) {
	r, ok := w.tools[w.toolID].(*tool.Region)
	return r, ok
}

func (w *window) setBrushRadius(r float64) {
	w.settings.BrushRadius = min(max(r, minRadius), document.MaxRadius)
	w.showBrush()
}

// scaleBrush makes the brush larger or smaller by a tenth, at least by half a pixel.
func (w *window) scaleBrush(steps float64) {
	r := w.settings.BrushRadius
	next := r * math.Pow(1.15, steps)
	next = math.Round(next*2) / 2
	if next == r {
		next += math.Copysign(0.5, steps)
	}
	w.setBrushRadius(next)
}

func (w *window) wheelBrush(notches float64) { w.scaleBrush(notches) }

// showBrush shows the size of the brush; it is given as a diameter.
func (w *window) showBrush() {
	r := w.settings.BrushRadius
	w.bar.quiet = true
	w.bar.size.SetValue(math.Round(radiusToSlider(min(r, sliderRadius))))
	w.bar.sizeEntry.ShowText(w.texts.Number(2*r, 1))
	w.bar.soft.SetChecked(w.settings.BrushSoft)
	w.bar.quiet = false
	w.port.SetBrushRadius(r)
}
