package viewport

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/ui/xwidget"
)

// keyPointer lets the keyboard do what the pointer does in a viewport. While it has the focus, a cross marks the
// pointer, the arrow keys move it, and the space bar is the left button. It passes on all other keys.
//
// It has no size: the toolkit leaves the focus on a text field if the pointer clicks anything that can have the focus.
type keyPointer struct {
	widget.BaseWidget
	v    *Viewport
	keys xwidget.Keys
	// changed is called when the pointer gets or loses the focus.
	changed func(focused bool)
	// focused is set while the keyboard moves the pointer.
	focused bool
	cross   [8]*canvas.Line
	frame   [4]*canvas.Rectangle
}

var _ desktop.Keyable = (*keyPointer)(nil)

// The pointer moves by keyStep Fyne units, or by a device pixel with Shift. If it comes closer to an edge than
// keyMargin, the picture moves instead.
const keyStep, keyMargin = 10, 30

func newKeyPointer(v *Viewport) *keyPointer {
	k := &keyPointer{v: v}
	for i := range k.cross {
		k.cross[i] = canvas.NewLine(color.NRGBA{A: 170})
		k.cross[i].StrokeWidth = 3
		if i >= 4 {
			k.cross[i].StrokeColor, k.cross[i].StrokeWidth = color.NRGBA{255, 210, 0, 255}, 1
		}
		k.cross[i].Hidden = true
	}
	for i := range k.frame {
		k.frame[i] = canvas.NewRectangle(color.Transparent)
		k.frame[i].Hidden = true
	}
	k.Hidden = true
	k.ExtendBaseWidget(k)
	return k
}

// SetKeys lets the keyboard move the pointer over the picture. changed is called when this begins and ends; keys
// receives those keys that are not needed for it.
func (v *Viewport) SetKeys(keys xwidget.Keys, changed func(on bool)) {
	v.keyPointer.keys, v.keyPointer.changed = keys, changed
	v.offerKeys()
}

// offerKeys lets the Tab key reach the picture, if there is one.
func (v *Viewport) offerKeys() {
	xwidget.SetVisible(v.keyPointer, v.keyPointer.keys != nil && v.picture != nil)
}

// ToggleKeys gives the keyboard control of the pointer, or takes it away.
func (v *Viewport) ToggleKeys() {
	switch c := fyne.CurrentApp().Driver().CanvasForObject(v); {
	case c == nil || !v.keyPointer.Visible():
	case v.keyPointer.focused:
		c.Unfocus()
	default:
		c.Focus(v.keyPointer)
	}
}

// objects returns the cross and the frame that shows the focus.
func (k *keyPointer) objects() (all []fyne.CanvasObject) {
	for _, r := range k.frame {
		all = append(all, r)
	}
	for _, l := range k.cross {
		all = append(all, l)
	}
	return append(all, k)
}

// update shows or hides cross and frame.
func (k *keyPointer) update() {
	const near, far, width = 4, 14, 2
	at, size := k.v.hover, k.v.Size()
	for i, l := range k.cross {
		dx, dy := [4]float32{1, -1, 0, 0}[i%4], [4]float32{0, 0, 1, -1}[i%4]
		l.Hidden = !k.focused || !k.v.hovering
		l.Position1, l.Position2 = at.AddXY(near*dx, near*dy), at.AddXY(far*dx, far*dy)
	}
	for i, r := range k.frame {
		r.Hidden, r.FillColor = !k.focused, theme.Color(theme.ColorNamePrimary)
		r.Move(fyne.NewPos([4]float32{0, 0, 0, size.Width - width}[i], [4]float32{0, size.Height - width, 0, 0}[i]))
		r.Resize([4]fyne.Size{{Width: size.Width, Height: width}, {Width: size.Width, Height: width},
			{Width: width, Height: size.Height}, {Width: width, Height: size.Height}}[i])
	}
}

// FocusGained shows the pointer in the middle, where findings are shown.
func (k *keyPointer) FocusGained() {
	k.focused = true
	k.centre()
	k.changed(true)
}

// centre moves the pointer to the middle if the keyboard moves it.
func (k *keyPointer) centre() {
	if k.focused {
		size := k.v.Size()
		k.point(fyne.NewPos(size.Width/2, size.Height/2))
	}
}

// FocusLost ends the gesture, if any, and hides the pointer.
func (k *keyPointer) FocusLost() {
	k.focused = false
	k.v.End()
	k.v.hovering = false
	k.v.Hovered()
	k.changed(false)
}

// point moves the pointer to a position.
func (k *keyPointer) point(p fyne.Position) {
	k.v.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: p}, Button: k.v.gesture.button})
}

// move moves the pointer by a number of steps, and the picture if the pointer is at the edge.
func (k *keyPointer) move(dx, dy float32) {
	step := float32(keyStep)
	if modifiers()&fyne.KeyModifierShift != 0 {
		step = float32(1 / k.v.scale)
	}
	v := k.v
	to, size := v.hover.AddXY(dx*step, dy*step), v.Size()
	inside := fyne.NewPos(min(max(to.X, keyMargin), size.Width-keyMargin),
		min(max(to.Y, keyMargin), size.Height-keyMargin))
	if over := to.Subtract(inside); !over.IsZero() && v.picture != nil && v.gesture.kind != gesturePan {
		v.Take(v.transform.Pan(-float64(over.X)*v.scale, -float64(over.Y)*v.scale))
		if v.gesture.kind == gestureTool {
			v.tool.Move(v.event(inside))
		}
	}
	k.point(inside)
}

// press presses or releases the left button at the pointer.
func (k *keyPointer) press(down bool) {
	e := &desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: k.v.hover}, Button: desktop.MouseButtonPrimary,
		Modifier: modifiers()}
	if down {
		k.v.MouseDown(e)
		return
	}
	k.v.MouseUp(e)
}

// TypedKey moves the pointer with the arrow keys and passes on other keys.
func (k *keyPointer) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		k.move(-1, 0)
	case fyne.KeyRight:
		k.move(1, 0)
	case fyne.KeyUp:
		k.move(0, -1)
	case fyne.KeyDown:
		k.move(0, 1)
	case fyne.KeySpace:
	default:
		k.keys.Key(e)
	}
}

// TypedRune passes on all characters but the space.
func (k *keyPointer) TypedRune(r rune) {
	if r != ' ' {
		k.keys.Rune(r)
	}
}

// KeyDown presses the button with the space bar and passes on other keys.
func (k *keyPointer) KeyDown(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		k.press(true)
		return
	}
	k.keys.Down(e)
}

// KeyUp releases the button with the space bar and passes on other keys.
func (k *keyPointer) KeyUp(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		k.press(false)
		return
	}
	k.keys.Up(e)
}

// MinSize is empty, so that clicks never meet the widget.
func (*keyPointer) MinSize() fyne.Size { return fyne.Size{} }

func (*keyPointer) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewRectangle(color.Transparent))
}
