package xwidget

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// stopClock stops the clock of tooltips. The function returned runs what would have run, also what was stopped, because
// a stopped timer may still fire.
func stopClock(tips *Tooltips) (settle func()) {
	var due []func()
	tips.after = func(_ time.Duration, f func()) func() {
		due = append(due, f)
		return func() {}
	}
	return func() {
		for _, f := range due {
			f()
		}
		due = nil
	}
}

func TestTooltip(t *testing.T) {
	test.NewTempApp(t)
	tips := NewTooltips()
	settle := stopClock(tips)
	tapped := 0
	b := NewToolButton(theme.HomeIcon(), "Go home", tips, func() { tapped++ })
	w := test.NewTempWindow(t, container.NewStack(container.NewVBox(container.NewHBox(b)), tips.Layer))
	w.Resize(fyne.NewSize(400, 300))

	b.MouseIn(nil)
	settle()
	if !tips.box.Visible() || tips.label.Text != "Go home" {
		t.Fatalf("the tooltip shows %q, visible %v", tips.label.Text, tips.box.Visible())
	}
	if s := tips.box.Size(); s.Width < 20 || s.Height < 10 {
		t.Errorf("the tooltip has the size %v", s)
	}
	b.MouseOut()
	if tips.box.Visible() {
		t.Error("the tooltip is still shown after the pointer has left")
	}
	b.MouseIn(nil)
	b.MouseOut()
	settle()
	if tips.box.Visible() {
		t.Error("the tooltip is shown after the pointer has left")
	}
	// The layer handles no events.
	test.TapCanvas(w.Canvas(), fyne.NewPos(15, 15))
	if tapped != 1 {
		t.Errorf("%d taps reached the button under the layer", tapped)
	}
	b.Disable()
	test.Tap(b)
	if tapped != 1 {
		t.Error("a disabled button works")
	}
}

func TestPlaceStaysInside(t *testing.T) {
	area := fyne.NewSize(400, 300)
	for _, c := range []struct {
		at          fyne.Position
		widget, tip fyne.Size
	}{
		{fyne.NewPos(4, 100), fyne.NewSize(34, 34), fyne.NewSize(200, 30)},
		{fyne.NewPos(4, 280), fyne.NewSize(34, 34), fyne.NewSize(200, 60)},
		{fyne.NewPos(360, 4), fyne.NewSize(34, 34), fyne.NewSize(200, 30)},
		{fyne.NewPos(200, 280), fyne.NewSize(100, 20), fyne.NewSize(300, 90)},
	} {
		p := place(c.at, c.widget, c.tip, area)
		if p.X < 0 || p.Y < 0 || p.X+c.tip.Width > area.Width || p.Y+c.tip.Height > area.Height {
			t.Errorf("tip of %v at %v", c.tip, p)
		}
		overX := p.X < c.at.X+c.widget.Width && c.at.X < p.X+c.tip.Width
		overY := p.Y < c.at.Y+c.widget.Height && c.at.Y < p.Y+c.tip.Height
		if overX && overY {
			t.Errorf("tip of %v at %v covers its widget at %v", c.tip, p, c.at)
		}
	}
}

func TestNumberEntry(t *testing.T) {
	test.NewTempApp(t)
	var got []string
	e := NewNumberEntry(60, func(text string) { got = append(got, text) })
	w := test.NewTempWindow(t, e)
	e.ShowText("1")
	w.Canvas().Focus(e)
	test.Type(e, "2")
	if len(got) != 0 {
		t.Errorf("committed %v while typing", got)
	}
	w.Canvas().Unfocus()
	w.Canvas().Focus(e)
	w.Canvas().Unfocus()
	if len(got) != 1 {
		t.Errorf("committed %v, expected once", got)
	}
	e.ShowText("5")
	w.Canvas().Focus(e)
	test.Type(e, "9")
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if e.Text != "5" || len(got) != 1 {
		t.Errorf("Escape leaves %q and commits %v", e.Text, got)
	}
}

func TestFixedText(t *testing.T) {
	test.NewTempApp(t)
	f := NewFixedText("x 00000")
	width := f.MinSize().Width
	f.SetText("x 1")
	if f.MinSize().Width != width {
		t.Error("the width depends on the text")
	}
	s := NewFixedText("")
	s.Stretch = true
	test.NewTempWindow(t, s)
	s.SetText("a text that is much too long for this")
	s.Resize(fyne.NewSize(80, 20))
	r := test.WidgetRenderer(s).(*fixedTextRenderer)
	if r.text.MinSize().Width > 80 {
		t.Errorf("%q is wider than the field", r.text.Text)
	}
	// A field that is left out, as in a narrow status bar, must not draw over its neighbour.
	for _, width := range []float32{0, 2} {
		s.Resize(fyne.NewSize(width, 20))
		if r.text.Text != "" {
			t.Errorf("%q in a field %v wide", r.text.Text, width)
		}
	}
}

// A truncated text shows whole in a tooltip; a text that fits does not.
func TestTruncatedTextHasTooltip(t *testing.T) {
	test.NewTempApp(t)
	tips := NewTooltips()
	text := NewFixedText("")
	text.Stretch, text.Tips = true, tips
	text.SetText("a sentence of some length")
	w := test.NewTempWindow(t, container.NewStack(text, tips.Layer))
	for width, want := range map[float32]bool{400: false, 60: true} {
		w.Resize(fyne.NewSize(width, 100))
		text.MouseIn(nil)
		if got := tips.stop != nil; got != want {
			t.Errorf("width %v: tooltip pending: %v", width, got)
		}
		text.MouseOut()
	}
}
