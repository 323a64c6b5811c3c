package viewport_test

import (
	"context"
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"pgregory.net/rapid"

	"blik/app/view"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/ui/tool"
	"blik/ui/viewport"
)

// spy is a tool that records calls.
type spy struct {
	calls   []string
	last    tool.Event
	pressed bool
	fault   string
	ring    bool
}

func (s *spy) note(call string, e tool.Event) { s.calls, s.last = append(s.calls, call), e }

func (s *spy) Press(e tool.Event) {
	if s.pressed {
		s.fault = "pressed twice"
	}
	s.pressed = true
	s.note("press", e)
}

func (s *spy) Move(e tool.Event) {
	if !s.pressed {
		s.fault = "moved without a press"
	}
	s.note("move", e)
}

func (s *spy) Release() {
	if !s.pressed {
		s.fault = "released without a press"
	}
	s.pressed = false
	s.note("release", tool.Event{})
}

func (s *spy) Cancel() {
	if !s.pressed {
		s.fault = "cancelled without a press"
	}
	s.pressed = false
	s.note("cancel", tool.Event{})
}

func (s *spy) Hover(e tool.Event) {
	if s.pressed {
		s.fault = "hovered while pressed"
	}
	s.note("hover", e)
}

func (s *spy) Pointer(tool.Event) tool.Pointer {
	if s.ring {
		return tool.Ring
	}
	return tool.Cross
}

const pictureWidth, pictureHeight = 2000, 1000

// newViewport returns a viewport of 400 × 300 pixels with a grey picture and a spy for a tool.
func newViewport(t testing.TB) (*viewport.Viewport, *spy) {
	t.Helper()
	test.NewTempApp(t)
	v := viewport.New()
	w := test.NewTempWindow(t, v)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(400, 300))
	pic := &processing.Picture{Width: pictureWidth, Height: pictureHeight, Channels: 1,
		U8: make([]uint8, pictureWidth*pictureHeight)}
	for i := range pic.U8 {
		pic.U8[i] = uint8(i % 251)
	}
	p, err := view.NewPyramid(context.Background(), pic)
	if err != nil {
		t.Fatal(err)
	}
	v.SetPicture(p, view.NewMaskPyramid(processing.NewMask(pictureWidth, pictureHeight)))
	s := &spy{}
	v.SetTool(s)
	return v, s
}

func mouse(x, y float32, b desktop.MouseButton) *desktop.MouseEvent {
	return &desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, y)}, Button: b}
}

func dragged(x, y float32) *fyne.DragEvent {
	return &fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, y)}}
}

func wheel(x, y, notches float32) *fyne.ScrollEvent {
	return &fyne.ScrollEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, y)},
		Scrolled: fyne.NewDelta(0, 25*notches)}
}

func TestFit(t *testing.T) {
	v, _ := newViewport(t)
	if z := v.Transform().Zoom; math.Abs(z-0.2) > 1e-9 {
		t.Errorf("2000 × 1000 in 400 × 300 is fitted at %g", z)
	}
	if !v.Fitted() {
		t.Error("a new picture is not fitted")
	}
	v.Resize(fyne.NewSize(200, 300))
	if z := v.Transform().Zoom; math.Abs(z-0.1) > 1e-9 {
		t.Errorf("after narrowing the window the zoom is %g", z)
	}
	v.SetZoom(1)
	v.Resize(fyne.NewSize(300, 300))
	if z := v.Transform().Zoom; z != 1 {
		t.Errorf("after resizing the window 1:1 became %g", z)
	}
}

// The image point under the pointer stays there, up to whole device pixels and the limits of the picture.
func TestWheelZoomsAboutThePointer(t *testing.T) {
	v, _ := newViewport(t)
	v.SetZoom(1)
	rapid.Check(t, func(rt *rapid.T) {
		v.SetZoom(rapid.Float64Range(1, 8).Draw(rt, "zoom"))
		v.Reveal(image.Rect(999, 499, 1001, 501), 64)
		x, y := rapid.IntRange(0, 399).Draw(rt, "x"), rapid.IntRange(0, 299).Draw(rt, "y")
		before := v.Transform()
		at := processing.Point{X: float64(x), Y: float64(y)}
		p := before.ScreenToImage(at)
		v.Scrolled(wheel(float32(x), float32(y), float32(rapid.IntRange(1, 3).Draw(rt, "notches"))))
		q := v.Transform().ImageToScreen(p)
		if v.Transform().Zoom <= before.Zoom {
			rt.Fatalf("the wheel changed the zoom from %g to %g", before.Zoom, v.Transform().Zoom)
		}
		if math.Abs(q.X-at.X) > 0.51 || math.Abs(q.Y-at.Y) > 0.51 {
			rt.Fatalf("the point under (%d, %d) moved to (%.2f, %.2f)", x, y, q.X, q.Y)
		}
	})
}

func TestWheelStopsAtActualPixels(t *testing.T) {
	v, _ := newViewport(t)
	v.SetZoom(0.9)
	v.Scrolled(wheel(200, 150, 1))
	if z := v.Transform().Zoom; z != 1 {
		t.Errorf("one notch from 0.9 zooms to %g", z)
	}
	v.SetZoom(1.1)
	v.Scrolled(wheel(200, 150, -1))
	if z := v.Transform().Zoom; z != 1 {
		t.Errorf("one notch back from 1.1 zooms to %g", z)
	}
}

// At any zoom the picture's origin is on a whole device pixel; otherwise 1:1 would be blurred and panning would
// shimmer.
func TestOriginOnWholePixels(t *testing.T) {
	v, _ := newViewport(t)
	rapid.Check(t, func(rt *rapid.T) {
		v.SetZoom(rapid.Float64Range(0.05, 20).Draw(rt, "zoom"))
		v.Scroll(rapid.Float64Range(-1, 1).Draw(rt, "dx"), rapid.Float64Range(-1, 1).Draw(rt, "dy"))
		o := v.Transform().ImageToScreen(processing.Point{})
		if math.Abs(o.X-math.Round(o.X)) > 1e-6 || math.Abs(o.Y-math.Round(o.Y)) > 1e-6 {
			rt.Fatalf("origin at (%g, %g)", o.X, o.Y)
		}
	})
}

func TestStroke(t *testing.T) {
	v, s := newViewport(t)
	v.MouseMoved(mouse(100, 100, 0))
	v.MouseDown(mouse(100, 100, desktop.MouseButtonPrimary))
	v.MouseMoved(mouse(101, 100, desktop.MouseButtonPrimary))
	v.Dragged(dragged(120, 110))
	v.MouseUp(mouse(120, 110, desktop.MouseButtonPrimary))
	v.DragEnd()
	if want := []string{"hover", "press", "move", "move", "release"}; !slices.Equal(s.calls, want) {
		t.Errorf("%v, expected %v", s.calls, want)
	}
	if s.fault != "" {
		t.Error(s.fault)
	}
}

// Events that the driver is known to lose: each of these is a complete gesture.
func TestLostEvents(t *testing.T) {
	left, right := desktop.MouseButtonPrimary, desktop.MouseButtonSecondary
	for name, do := range map[string]func(v *viewport.Viewport){
		"left button released outside: DragEnd without MouseUp": func(v *viewport.Viewport) {
			v.MouseDown(mouse(10, 10, left))
			v.Dragged(dragged(500, 500))
			v.DragEnd()
			v.MouseOut()
		},
		"right button released outside: only MouseOut": func(v *viewport.Viewport) {
			v.MouseDown(mouse(10, 10, right))
			v.MouseMoved(mouse(20, 20, right))
			v.MouseOut()
		},
		"release not reported": func(v *viewport.Viewport) {
			v.MouseDown(mouse(10, 10, left))
			v.MouseMoved(mouse(30, 30, 0))
		},
		"release not reported, another press": func(v *viewport.Viewport) {
			v.MouseDown(mouse(10, 10, left))
			v.MouseMoved(mouse(30, 30, 0))
			v.MouseDown(mouse(10, 10, right))
			v.MouseUp(mouse(10, 10, right))
		},
		"another button pressed and released meanwhile": func(v *viewport.Viewport) {
			v.MouseDown(mouse(10, 10, left))
			v.MouseDown(mouse(10, 10, right))
			v.MouseUp(mouse(10, 10, right))
			v.MouseUp(mouse(10, 10, left))
		},
		"tool changed meanwhile": func(v *viewport.Viewport) {
			v.MouseDown(mouse(10, 10, left))
			v.SetTool(tool.Pan{})
			v.MouseUp(mouse(10, 10, left))
		},
		"window lost the focus": func(v *viewport.Viewport) {
			v.MouseDown(mouse(10, 10, left))
			v.End()
			v.End()
			v.Dragged(dragged(20, 20))
			v.MouseUp(mouse(10, 10, left))
			v.DragEnd()
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, s := newViewport(t)
			do(v)
			if s.pressed || s.fault != "" || s.calls[0] != "press" {
				t.Errorf("%v: pressed %v, %s", s.calls, s.pressed, s.fault)
			}
		})
	}
}

// Tools receive calls in the guaranteed order for any sequence of events.
func TestAnyOrderOfEvents(t *testing.T) {
	v, s := newViewport(t)
	buttons := []desktop.MouseButton{desktop.MouseButtonPrimary, desktop.MouseButtonSecondary,
		desktop.MouseButtonTertiary}
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 40).Draw(rt, "events") {
			x, y := float32(rapid.IntRange(-50, 450).Draw(rt, "x")), float32(rapid.IntRange(-50, 350).Draw(rt, "y"))
			b := rapid.SampledFrom(buttons).Draw(rt, "button")
			switch rapid.IntRange(0, 9).Draw(rt, "event") {
			case 0, 1:
				v.MouseDown(mouse(x, y, b))
			case 2:
				v.MouseUp(mouse(x, y, b))
			case 3:
				v.MouseMoved(mouse(x, y, desktop.MouseButton(rapid.IntRange(0, 7).Draw(rt, "held"))))
			case 4:
				v.Dragged(dragged(x, y))
			case 5:
				v.DragEnd()
			case 6:
				v.MouseOut()
			case 7:
				v.Scrolled(wheel(x, y, 1))
			case 8:
				v.SetPanKey(rapid.Bool().Draw(rt, "held"))
			case 9:
				v.Abandon()
			}
			if s.fault != "" {
				rt.Fatal(s.fault)
			}
		}
		v.SetPanKey(false)
		v.End()
		if s.pressed {
			rt.Fatal("a gesture is still open")
		}
	})
}

func TestPanWithAnyTool(t *testing.T) {
	for name, press := range map[string]func(v *viewport.Viewport){
		"middle button": func(v *viewport.Viewport) { v.MouseDown(mouse(100, 100, desktop.MouseButtonTertiary)) },
		"pan key": func(v *viewport.Viewport) {
			v.SetPanKey(true)
			v.MouseDown(mouse(100, 100, desktop.MouseButtonPrimary))
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, s := newViewport(t)
			v.SetZoom(2)
			v.Reveal(image.Rect(900, 500, 902, 502), 2)
			before := v.Transform()
			press(v)
			v.Dragged(dragged(130, 80))
			v.DragEnd()
			after := v.Transform()
			if dx, dy := (before.X-after.X)*2, (before.Y-after.Y)*2; dx != 30 || dy != -20 {
				t.Errorf("moved by (%g, %g), expected (30, -20)", dx, dy)
			}
			if len(s.calls) != 0 {
				t.Errorf("the tool received %v", s.calls)
			}
		})
	}
}

func TestToolEvent(t *testing.T) {
	v, s := newViewport(t)
	v.SetZoom(2)
	v.Reveal(image.Rect(900, 500, 902, 502), 2)
	e := mouse(200, 150, desktop.MouseButtonSecondary)
	e.Modifier = fyne.KeyModifierShift
	v.MouseDown(e)
	if want := (tool.Event{At: processing.Point{X: 901, Y: 501}, Slack: 3, Secondary: true,
		Shift: true}); s.last != want {
		t.Errorf("%+v, expected %+v", s.last, want)
	}
}

func TestCursor(t *testing.T) {
	v, _ := newViewport(t)
	v.MouseMoved(mouse(100, 100, 0))
	if v.Cursor() != desktop.CrosshairCursor {
		t.Errorf("cursor %v over the tool", v.Cursor())
	}
	v.SetPanKey(true)
	if v.Cursor() != desktop.PointerCursor {
		t.Errorf("cursor %v with the pan key", v.Cursor())
	}
}

// A change of the mask redraws only its place, exactly as a full redraw would.
func TestMaskChanged(t *testing.T) {
	v, _ := newViewport(t)
	c := test.NewTempWindow(t, v).Canvas()
	mask := processing.NewMask(pictureWidth, pictureHeight)
	pyramid := view.NewMaskPyramid(mask)
	p, err := view.NewPyramid(t.Context(), testpic.Flat(pictureWidth, pictureHeight, 1, 90))
	if err != nil {
		t.Fatal(err)
	}
	v.SetPicture(p, pyramid)
	v.SetZoom(1)
	before := c.Capture()
	dirty := image.Rect(980, 480, 1020, 520)
	for y := dirty.Min.Y; y < dirty.Max.Y; y++ {
		for x := dirty.Min.X; x < dirty.Max.X; x++ {
			mask.Pix[y*pictureWidth+x] = 255
		}
	}
	v.MaskChanged(dirty)
	after := c.Capture()
	v.SetOptions(v.Options())
	full := c.Capture()
	changed := 0
	b := after.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if !same(after.At(x, y), full.At(x, y)) {
				t.Fatalf("pixel (%d, %d) is %v, after a full redraw %v", x, y, after.At(x, y), full.At(x, y))
			}
			if !same(before.At(x, y), after.At(x, y)) {
				changed++
			}
		}
	}
	if changed != dirty.Dx()*dirty.Dy() {
		t.Errorf("%d pixels changed at 1:1, the mask has %d", changed, dirty.Dx()*dirty.Dy())
	}
}

func same(a, b color.Color) bool {
	r, g, bl, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	return r == r2 && g == g2 && bl == b2
}

// The raster covers the viewport to its last row and column.
func TestDrawnToTheEdge(t *testing.T) {
	v, _ := newViewport(t)
	img := test.NewTempWindow(t, v).Canvas().Capture()
	b := img.Bounds()
	// The fitted picture leaves bands above and below.
	inset := int(v.Position().X)
	for _, p := range []image.Point{
		{b.Min.X + inset, b.Min.Y + inset}, {b.Max.X - 1 - inset, b.Min.Y + inset},
		{b.Min.X + inset, b.Max.Y - 1 - inset}, {b.Max.X - 1 - inset, b.Max.Y - 1 - inset},
	} {
		if c := img.At(p.X, p.Y); !same(c, view.Surround()) {
			t.Errorf("pixel %v is %v, the surround is %v", p, c, view.Surround())
		}
	}
}

func TestWithoutPicture(t *testing.T) {
	test.NewTempApp(t)
	v := viewport.New()
	w := test.NewTempWindow(t, v)
	w.Resize(fyne.NewSize(300, 200))
	s := &spy{}
	v.SetTool(s)
	v.MouseDown(mouse(10, 10, desktop.MouseButtonPrimary))
	v.MouseMoved(mouse(20, 10, desktop.MouseButtonPrimary))
	v.MouseUp(mouse(20, 10, desktop.MouseButtonPrimary))
	v.Scrolled(wheel(10, 10, 1))
	v.Fit()
	v.SetZoom(3)
	v.Scroll(1, 1)
	v.MaskChanged(image.Rect(0, 0, 5, 5))
	if len(s.calls) != 0 {
		t.Errorf("the tool received %v without a picture", s.calls)
	}
	w.Canvas().Capture()
}

// turnedViewport is newViewport with a picture of the given orientation.
func turnedViewport(t *testing.T, orientation int) (*viewport.Viewport, *spy) {
	v, s := newViewport(t)
	pic := &processing.Picture{Width: pictureWidth, Height: pictureHeight, Channels: 1,
		U8: make([]uint8, pictureWidth*pictureHeight)}
	p, err := view.NewPyramid(context.Background(), pic, view.WithOrientation(orientation))
	if err != nil {
		t.Fatal(err)
	}
	v.SetPicture(p, view.NewMaskPyramid(processing.NewMask(pictureWidth, pictureHeight)))
	return v, s
}

// For a rotated picture, tools receive file coordinates, and the view fits the upright picture.
func TestTurnedPicture(t *testing.T) {
	v, s := turnedViewport(t, 6)
	if z := v.Transform().Zoom; math.Abs(z-0.15) > 1e-9 {
		t.Errorf("1000 × 2000 upright in 400 × 300 is fitted at %g", z)
	}
	v.SetZoom(1)
	v.Reveal(image.Rect(300, 700, 302, 702), 1)
	v.MouseDown(mouse(200, 150, desktop.MouseButtonPrimary))
	if s.last.At != (processing.Point{X: 301, Y: 701}) {
		t.Errorf("the tool received %v for the centre of the revealed rectangle", s.last.At)
	}
	// Ten pixels to the right on the screen are ten rows up in the file, ten down are ten columns to the right.
	v.Dragged(dragged(210, 160))
	if s.last.At != (processing.Point{X: 311, Y: 691}) {
		t.Errorf("after the drag %v", s.last.At)
	}
	v.DragEnd()
	before := v.Transform()
	v.MouseDown(mouse(200, 150, desktop.MouseButtonTertiary))
	v.Dragged(dragged(230, 130))
	v.DragEnd()
	at := processing.Point{X: 301, Y: 701}
	a, b := before.ImageToScreen(at), v.Transform().ImageToScreen(at)
	if b.X-a.X != 30 || b.Y-a.Y != -20 {
		t.Errorf("moved by (%g, %g), expected (30, -20)", b.X-a.X, b.Y-a.Y)
	}
}

// handle is a tool over the right side of a region.
type handle struct{ spy }

func (handle) Pointer(tool.Event) tool.Pointer { return tool.ResizeX }

func TestCursorOfATurnedPicture(t *testing.T) {
	for orientation, want := range map[int]desktop.Cursor{1: desktop.HResizeCursor, 3: desktop.HResizeCursor,
		6: desktop.VResizeCursor, 5: desktop.VResizeCursor} {
		v, _ := turnedViewport(t, orientation)
		v.SetTool(&handle{})
		v.MouseMoved(mouse(100, 100, 0))
		if got := v.Cursor(); got != want {
			t.Errorf("orientation %d: cursor %v over a side of the file, expected %v", orientation, got, want)
		}
	}
}

// whitened returns the pyramid with a white patch in the image rectangle.
func whitened(t *testing.T, p *view.Pyramid, r image.Rectangle) *view.Pyramid {
	t.Helper()
	patch := processing.Patch{Spot: 1}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		patch.Runs = append(patch.Runs, processing.Run{Y: y, X0: r.Min.X, X1: r.Max.X})
	}
	for range r.Dx() * r.Dy() {
		patch.U8 = append(patch.U8, 255)
	}
	q, err := p.With(context.Background(), []processing.Patch{patch})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// compared returns a viewport over a black picture with a white patch in its middle, in a window of its own, and a
// function that captures it.
func compared(t *testing.T, orientation int) (v *viewport.Viewport, source, result *view.Pyramid,
	capture func() image.Image) {
	t.Helper()
	v, _ = newViewport(t)
	pic := &processing.Picture{Width: pictureWidth, Height: pictureHeight, Channels: 1,
		U8: make([]uint8, pictureWidth*pictureHeight)}
	source, err := view.NewPyramid(context.Background(), pic, view.WithOrientation(orientation))
	if err != nil {
		t.Fatal(err)
	}
	v.SetPicture(source, nil)
	w := test.NewTempWindow(t, v)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(400, 300))
	v.SetZoom(1)
	v.Reveal(image.Rect(999, 499, 1001, 501), 1)
	return v, source, whitened(t, source, image.Rect(940, 440, 1060, 560)), w.Canvas().Capture
}

// whites counts white pixels left and right of a column.
func whites(img image.Image, column int) (left, right int) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if same(img.At(x, y), color.White) {
				if x < column {
					left++
				} else {
					right++
				}
			}
		}
	}
	return left, right
}

func TestCompare(t *testing.T) {
	for _, orientation := range []int{1, 6} {
		v, source, result, capture := compared(t, orientation)
		want := v.Transform()
		v.SetPyramids(source, result)
		if l, r := whites(capture(), 200); l+r != 120*120 {
			t.Errorf("orientation %d: the result shows %d white pixels, patched were %d", orientation, l+r, 120*120)
		}
		v.SetCompare(view.CompareBefore)
		if l, r := whites(capture(), 200); l+r != 0 {
			t.Errorf("orientation %d: the source shows %d white pixels", orientation, l+r)
		}
		v.SetCompare(view.CompareSplit)
		if l, r := whites(capture(), 195); l != 0 || r < 60*100 {
			t.Errorf("orientation %d: split, %d white pixels on the left and %d on the right", orientation, l, r)
		}
		v.SetCompare(view.CompareAfter)
		if l, r := whites(capture(), 200); l+r != 120*120 {
			t.Errorf("orientation %d: after comparing, the result shows %d white pixels", orientation, l+r)
		}
		v.SetPyramids(source, source)
		if l, r := whites(capture(), 200); l+r != 0 {
			t.Errorf("orientation %d: without its patch the result shows %d white pixels", orientation, l+r)
		}
		if got := v.Transform(); got != want {
			t.Errorf("orientation %d: the view changed from %v to %v", orientation, want, got)
		}
	}
}

// The line can be dragged with any tool, even past the edge, and comes back; what it uncovers is drawn.
func TestDragTheSplitLine(t *testing.T) {
	v, source, result, capture := compared(t, 1)
	s := &spy{}
	v.SetTool(s)
	v.SetPyramids(source, result)
	v.SetCompare(view.CompareSplit)
	v.MouseMoved(mouse(203, 80, 0))
	if v.Cursor() != desktop.HResizeCursor {
		t.Errorf("cursor %v over the line", v.Cursor())
	}
	v.MouseDown(mouse(201, 80, desktop.MouseButtonPrimary))
	v.Dragged(dragged(230, 80))
	v.MouseUp(mouse(230, 80, desktop.MouseButtonPrimary))
	v.DragEnd()
	if l, r := whites(capture(), 225); l != 0 || r == 0 || r > 30*120+400 {
		t.Errorf("dragged to the right: %d white pixels left of the line and %d right of it", l, r)
	}
	v.MouseMoved(mouse(230, 60, 0))
	v.MouseDown(mouse(230, 60, desktop.MouseButtonPrimary))
	v.Dragged(dragged(-500, 60))
	v.DragEnd()
	if _, r := whites(capture(), 30); r != 120*120 {
		t.Errorf("dragged out on the left: %d white pixels, patched were %d", r, 120*120)
	}
	for _, c := range s.calls {
		if c != "hover" {
			t.Errorf("the tool received %v", s.calls)
			break
		}
	}
	// A press beside the line goes to the tool again.
	v.MouseMoved(mouse(300, 60, 0))
	v.MouseDown(mouse(300, 60, desktop.MouseButtonPrimary))
	v.MouseUp(mouse(300, 60, desktop.MouseButtonPrimary))
	if !slices.Contains(s.calls, "press") || s.fault != "" {
		t.Errorf("beside the line the tool received %v, %s", s.calls, s.fault)
	}
}

// Patches redraw only their place, exactly as a full redraw would.
func TestPyramidsChanged(t *testing.T) {
	for _, zoom := range []float64{0.3, 1, 5} {
		v, source, _, capture := compared(t, 6)
		v.SetZoom(zoom)
		capture()
		v.SetPyramids(source, whitened(t, source, image.Rect(985, 495, 1003, 507)))
		got := capture()
		v.SetOptions(v.Options())
		full := capture()
		b := got.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				if !same(got.At(x, y), full.At(x, y)) {
					t.Fatalf("zoom %g: pixel (%d, %d) is %v, after a full redraw %v", zoom, x, y, got.At(x, y), full.At(x, y))
				}
			}
		}
		if l, r := whites(got, 200); l+r == 0 && zoom >= 1 {
			t.Errorf("zoom %g: the patch is not visible", zoom)
		}
	}
}

// A viewport that was laid out before its window knew the scale takes the scale with its first frame.
func TestScaleOfFirstFrame(t *testing.T) {
	v, _ := newViewport(t)
	c := fyne.CurrentApp().Driver().CanvasForObject(v).(software.WindowlessCanvas)
	c.SetScale(2)
	c.Capture()
	if z := v.Transform().Zoom; math.Abs(z-0.4) > 1e-9 {
		t.Errorf("2000 × 1000 in 800 × 600 device pixels is fitted at %g", z)
	}
	// The picture lies in the middle of the viewport, in Fyne units.
	at, size := v.Place(image.Rect(0, 0, pictureWidth, pictureHeight))
	if at != fyne.NewPos(0, 50) || size != fyne.NewSize(400, 200) {
		t.Errorf("the picture is at %v with size %v", at, size)
	}
}

// The overlay of a viewport that follows another one is laid out again when the viewport gets its size.
func TestOverlayOfFollower(t *testing.T) {
	v, _ := newViewport(t)
	twin := viewport.New()
	twin.SetFollower()
	w := test.NewTempWindow(t, twin)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(400, 300))
	twin.SetMarker(image.Rect(1000, 500, 1010, 510))
	twin.Follow(v.Transform())
	c := fyne.CurrentApp().Driver().CanvasForObject(twin).(software.WindowlessCanvas)
	before := places(twin)
	c.SetScale(2)
	c.Capture()
	moved := 0
	for i, at := range places(twin) {
		if at != before[i] {
			moved++
		}
	}
	if moved != 2 {
		t.Errorf("%d of the two frames of the mark moved: %v, before %v", moved, places(twin), before)
	}
}

// places returns the positions of the visible rectangles over a viewport.
func places(v *viewport.Viewport) (at []fyne.Position) {
	for _, o := range test.WidgetRenderer(v).Objects() {
		if r, ok := o.(*canvas.Rectangle); ok && r.Visible() {
			at = append(at, r.Position())
		}
	}
	return at
}

// The toolkit, which rounds both ends of the raster to device pixels, shows each row and column of it exactly once,
// wherever the viewport is and whatever its size.
func TestRasterOfWholePixels(t *testing.T) {
	v, _ := newViewport(t)
	c := fyne.CurrentApp().Driver().CanvasForObject(v).(software.WindowlessCanvas)
	c.SetContent(container.NewWithoutLayout(v))
	at, size := fyne.NewPos(42, 68.703), fyne.NewSize(301.4, 221.593)
	for _, scale := range []float32{1, 1.25, 1.5, 2} {
		c.SetScale(scale)
		round := func(x float32) int { return int(math.Round(float64(x * scale))) }
		for range 10 {
			at, size = at.AddXY(0.13, 0.29), size.AddWidthHeight(0.37, 0.11)
			v.Move(at)
			v.Resize(size)
			c.Capture()
			raster, device := test.WidgetRenderer(v).Objects()[0].(*canvas.Raster).Size(), v.Device()
			for _, axis := range []struct {
				from, length, room float32
				drawn              int
			}{{at.X, raster.Width, size.Width, device.X}, {at.Y, raster.Height, size.Height, device.Y}} {
				shown := round(axis.from+axis.length) - round(axis.from)
				if shown != axis.drawn || round(axis.length) != axis.drawn {
					t.Errorf("scale %v at %v: %d pixels are drawn and shown as %d", scale, at, axis.drawn, shown)
				}
				if room := axis.room * scale; math.Abs(float64(room)-float64(axis.drawn)-0.5) > 0.52 {
					t.Errorf("scale %v: %d pixels in %v", scale, axis.drawn, room)
				}
			}
		}
	}
}

// The point that is told to be under the pointer is right after a zoom, before the pointer moves again.
func TestHoverFollowsTheZoom(t *testing.T) {
	v, _ := newViewport(t)
	var told processing.Point
	v.OnHover = func(at processing.Point, inside bool) {
		if told = at; !inside {
			t.Error("the pointer is said to be outside")
		}
	}
	v.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(100, 120)}})
	for _, change := range []func(){func() { v.SetZoom(3) }, func() { v.Scroll(0.3, 0.1) }, v.Fit} {
		change()
		want := v.Transform().ScreenToImage(processing.Point{X: 100, Y: 120})
		if math.Hypot(told.X-want.X, told.Y-want.Y) > 1e-9 {
			t.Errorf("%v is told, %v is under the pointer", told, want)
		}
	}
}
