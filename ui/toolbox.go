package ui

import (
	"errors"
	"fmt"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/app/session"
	"blik/app/session/editor"
	"blik/app/session/findings"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
	"blik/ui/icons"
	"blik/ui/tool"
	"blik/ui/viewport"
	"blik/ui/xwidget"
)

// toolSpec describes a tool of the window: its menu item, button, key and hint.
type toolSpec struct {
	// ID is that of the action that selects the tool.
	ID string
	// Icon is the name of its icon, Key the letter that selects it.
	Icon string
	Key  rune
	// Name is its menu item, Hint its description in the status bar.
	Name, Hint message.Text
	// Brush is set if the brush size matters to the tool, Last if it is the last of those for looking, for the mask or
	// for the region.
	Brush, Last bool
	New         func(t *toolbox) tool.Tool
}

// toolSpecs lists the tools in the order of the strip.
func toolSpecs() []toolSpec {
	brush := func(erase bool) func(*toolbox) tool.Tool {
		return func(t *toolbox) tool.Tool { return tool.NewBrush(t, erase, t.brush) }
	}
	region := func(shape processing.Shape) func(*toolbox) tool.Tool {
		return func(t *toolbox) tool.Tool { return tool.NewRegion(shape, t) }
	}
	area := func(shape tool.AreaShape) func(*toolbox) tool.Tool {
		return func(t *toolbox) tool.Tool { return tool.NewArea(shape, t) }
	}
	return []toolSpec{
		{ID: toolPan, Icon: "pan", Key: 'h', Name: "Move picture",
			Hint: "Drag to move the picture, wheel to zoom",
			New:  func(*toolbox) tool.Tool { return tool.Pan{} }},
		{ID: toolRuler, Icon: "ruler", Key: ';', Name: "Ruler",
			Hint: "Drag a line to measure it; hold Shift for a horizontal or vertical line", Last: true,
			New: func(t *toolbox) tool.Tool { return &tool.Ruler{Changed: t.measure} }},
		{ID: toolPick, Icon: "pick", Key: 'v', Name: "Remove or restore a finding",
			Hint: "Click a finding to remove it, click again to restore it",
			New: func(t *toolbox) tool.Tool {
				return &tool.Picker{Toggle: t.toggle, Hit: t.editor.Hit}
			}},
		{ID: toolWand, Icon: "wand", Key: 'w', Name: "Spot wand",
			Hint: "Click a glint that was missed to mark it; click a marked one to remove it",
			New:  func(t *toolbox) tool.Tool { return &tool.Wand{Touch: t.touch} }},
		{ID: toolBrush, Icon: "brush", Key: 'b', Name: "Brush",
			Hint: "Paint glare; the right button erases, Ctrl and wheel change the size", Brush: true,
			New: brush(false)},
		{ID: toolEraser, Icon: "eraser", Key: 'e', Name: "Eraser",
			Hint: "Erase; the right button paints, Ctrl and wheel change the size", Brush: true,
			New: brush(true)},
		{ID: toolLasso, Icon: "lasso", Key: 'q', Name: "Lasso",
			Hint: "Draw around glare; the right button removes, Shift keeps only the inside",
			New:  area(tool.Freehand)},
		{ID: toolAreaPolygon, Icon: "area-polygon", Key: 'u', Name: "Polygon in the mask",
			Hint: "Click the corners; start with the right button to remove, with Shift to keep only the inside",
			New:  area(tool.Polygon)},
		{ID: toolAreaRectangle, Icon: "area-rectangle", Key: 'd', Name: "Rectangle in the mask",
			Hint: "Drag to mark; the right button removes, Shift keeps only the inside",
			New:  area(tool.Rectangle)},
		{ID: toolAreaEllipse, Icon: "area-ellipse", Key: 'g', Name: "Ellipse in the mask", Last: true,
			Hint: "Drag to mark; the right button removes, Shift keeps only the inside",
			New:  area(tool.Ellipse)},
		{ID: toolRectangle, Icon: "rectangle", Key: 'r', Name: "Rectangular search region",
			Hint: "Drag a rectangle to search in", New: region(processing.RectangleShape)},
		{ID: toolEllipse, Icon: "ellipse", Key: 'o', Name: "Elliptical search region",
			Hint: "Drag an ellipse to search in", New: region(processing.EllipseShape)},
		{ID: toolPolygon, Icon: "polygon", Key: 'l', Name: "Polygonal search region",
			Hint: "Click the corners; Enter or the first corner closes, Backspace goes back",
			New:  region(processing.PolygonShape)},
	}
}

// toolbox holds the tools and their shared state, and passes their changes to the session.
type toolbox struct {
	k       *kit
	session *session.Session
	editor  *editor.Editor
	found   *findings.Findings
	specs   []toolSpec
	tools   map[string]tool.Tool
	current toolSpec
}

var (
	_ tool.Painter    = (*toolbox)(nil)
	_ tool.RegionHost = (*toolbox)(nil)
	_ tool.AreaHost   = (*toolbox)(nil)
)

func newToolbox(c *common) *toolbox {
	t := &toolbox{k: c.k, session: c.session, editor: c.editor, found: c.found, specs: toolSpecs(),
		tools: map[string]tool.Tool{}}
	for _, s := range t.specs {
		t.tools[s.ID] = s.New(t)
	}
	t.current = t.specs[0]
	return t
}

// take selects another tool and drops an unfinished polygon.
func (t *toolbox) take(s toolSpec) {
	if t.current.ID != s.ID {
		t.abandon()
	}
	t.current = s
	t.k.display.each(func(v *viewport.Viewport) { v.SetTool(t.tools[s.ID]) })
	t.k.changed(change{Tool: true})
}

// region returns the current tool if it draws search regions.
func (t *toolbox) region() (*tool.Region, bool) {
	r, ok := t.tools[t.current.ID].(*tool.Region)
	return r, ok
}

func (t *toolbox) update(c change) {
	if c.Document {
		for _, known := range t.tools {
			if b, ok := known.(*tool.Brush); ok {
				b.Forget()
			}
		}
	}
	if c.Tool || c.Document {
		t.k.display.each(func(v *viewport.Viewport) { v.SetLabel(processing.Point{}, "") })
	}
	if c.Region || c.Tool || c.Document {
		t.DraftChanged()
	}
}

// BeginStroke starts a stroke of the brush and shows the mask.
func (t *toolbox) BeginStroke(b document.Brush, at processing.Point) {
	t.k.display.showMask()
	t.editor.BeginStroke(b, at)
}

// StrokeTo continues the stroke.
func (t *toolbox) StrokeTo(at processing.Point) { t.editor.StrokeTo(at) }

func (t *toolbox) EndStroke() { t.editor.EndStroke() }

// CancelStroke removes what the stroke painted.
func (t *toolbox) CancelStroke() { t.editor.CancelStroke() }

// Region returns the search region.
func (t *toolbox) Region() *processing.Region { return t.editor.Region() }

// toggle removes a finding from the mask, or restores it.
func (t *toolbox) toggle(at processing.Point, slack float64) {
	t.k.display.showMask()
	switch t.editor.Toggle(at, slack) {
	case editor.Removed:
		t.k.say(t.k.t("Finding removed; click it again to restore it"))
	case editor.Restored:
		t.k.say(t.k.t("Finding restored"))
	}
}

// touch marks the glint at a point, or removes it if it is marked.
func (t *toolbox) touch(at processing.Point, slack float64) {
	t.k.display.showMask()
	switch did, err := t.editor.Touch(at, slack); {
	case errors.Is(err, detect.ErrNoGlint):
		t.k.say(t.k.t("Nothing is brighter than its surroundings here"))
	case err != nil:
		t.k.prompts.ShowError("Could not change the mask", err)
	case did == editor.Removed:
		t.k.say(t.k.t("Finding removed; undo (%s) restores it", t.k.press(editUndo)))
	default:
		if f, ok := t.found.Selected(); ok {
			t.k.say(t.k.t("Marked: finding %s, %s px", fmt.Sprint(f.Number), t.k.texts.Int(f.Area)))
		}
	}
}

// SetRegion changes the search region if the new one overlaps the picture.
func (t *toolbox) SetRegion(r *processing.Region) {
	switch err := t.editor.SetRegion(r); {
	case errors.Is(err, processing.ErrRegionOutside):
		t.k.say(t.k.t("The region lies outside the picture."))
		t.DraftChanged()
	case err != nil:
		t.k.prompts.ShowError("Could not limit the search", err)
		t.DraftChanged()
	}
}

// FillShape changes the mask by a shape and shows the mask.
func (t *toolbox) FillShape(r *processing.Region, how document.Combine) {
	t.k.display.showMask()
	switch err := t.editor.FillShape(r, how); {
	case errors.Is(err, processing.ErrRegionOutside):
		t.k.say(t.k.t("The area lies outside the picture."))
	case err != nil:
		t.k.prompts.ShowError("Could not change the mask", err)
	}
}

// fillRegion returns a function that changes the mask by the search region.
func (t *toolbox) fillRegion(how document.Combine) func() {
	return func() { t.FillShape(t.editor.Region(), how) }
}

// DraftChanged shows the shape being drawn, or else the region, with handles only while a tool can drag them.
func (t *toolbox) DraftChanged() {
	if a, ok := t.tools[t.current.ID].(*tool.Area); ok && a.Draft() != nil {
		t.outline(tool.Outline(a.Draft()), nil, !a.Closed())
		return
	}
	r, ok := t.region()
	if !ok {
		t.outline(tool.Outline(t.editor.Region()), nil, false)
		return
	}
	shown := r.Current()
	t.outline(tool.Outline(shown), tool.Handles(shown), r.Open())
}

// clicker is a tool that draws polygons corner by corner.
type clicker interface {
	Open() bool
	Finish()
	Back()
	Abandon()
}

// outline shows a line in both viewports.
func (t *toolbox) outline(points, handles []processing.Point, open bool) {
	t.k.display.each(func(v *viewport.Viewport) { v.SetOutline(points, handles, open) })
}

// finish ends a polygon.
func (t *toolbox) finish() {
	if c, ok := t.tools[t.current.ID].(clicker); ok {
		c.Finish()
	}
}

func (t *toolbox) back() {
	if c, ok := t.tools[t.current.ID].(clicker); ok {
		c.Back()
	}
}

// abandon drops an unfinished polygon and reports whether there was one.
func (t *toolbox) abandon() bool {
	c, ok := t.tools[t.current.ID].(clicker)
	if !ok || !c.Open() {
		return false
	}
	c.Abandon()
	return true
}

func (t *toolbox) brush() document.Brush {
	return document.Brush{Radius: t.session.Settings().BrushRadius, Soft: t.session.Settings().BrushSoftness}
}

func (t *toolbox) setBrushRadius(r float64) {
	t.session.Settings().BrushRadius = min(max(r, tool.MinRadius), document.MaxRadius)
	t.k.changed(change{Brush: true})
}

// setBrushHardness sets the share of the brush's radius at full strength, 0…1.
func (t *toolbox) setBrushHardness(v float64) {
	t.session.Settings().BrushSoftness = math.Round((1-v)*10) / 10
	t.k.changed(change{Brush: true})
}

// scaleBrush changes the brush radius by 15 % for each step, at least by half a pixel.
func (t *toolbox) scaleBrush(steps float64) {
	r := t.session.Settings().BrushRadius
	next := math.Round(r*math.Pow(1.15, steps)*2) / 2
	if next == r {
		next += math.Copysign(0.5, steps)
	}
	t.setBrushRadius(next)
}

// strip is the column of tools on the left.
type strip struct {
	k       *kit
	object  fyne.CanvasObject
	buttons map[string]*xwidget.ToolButton
}

func newStrip(c *common) *strip {
	s := &strip{k: c.k, buttons: map[string]*xwidget.ToolButton{}}
	box := container.New(layout.NewCustomPaddedVBoxLayout(2))
	for _, spec := range c.k.toolbox.specs {
		b := c.k.button(spec.ID, icons.Get(spec.Icon))
		s.buttons[spec.ID] = b
		box.Add(b)
		if spec.Last {
			box.Add(xwidget.NewGap(0, 3))
			box.Add(widget.NewSeparator())
			box.Add(xwidget.NewGap(0, 3))
		}
	}
	// A low window shows some of the tools and scrolls to the others.
	s.object = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(4, 4, 4, 4), box))
	return s
}

func (s *strip) update(c change) {
	if c.Document {
		for _, b := range s.buttons {
			b.SetEnabled(s.k.toolbox.session.Document() != nil)
		}
	}
	if c.Tool {
		for id, b := range s.buttons {
			b.SetSelected(id == s.k.toolbox.current.ID)
		}
	}
}

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
