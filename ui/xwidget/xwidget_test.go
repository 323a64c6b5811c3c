package xwidget

import (
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
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

// Each frame does one piece, in order, until all are done or it is stopped.
func TestFrames(t *testing.T) {
	test.NewTempApp(t)
	var did []int
	do := func(i int) { did = append(did, i) }
	InFrames(3, do)
	if !slices.Equal(did, []int{0, 1, 2}) {
		t.Errorf("without frames: %v", did)
	}
	did = nil
	// The test driver ends an animation at once, so the frames of a window are called here.
	f := InFrames(0, do)
	f.all = 4
	for want := range 2 {
		f.tick(0)
		if len(did) != want+1 || did[want] != want {
			t.Fatalf("after %d frames: %v", want+1, did)
		}
	}
	f.Stop()
	f.tick(0)
	f.tick(1)
	if len(did) != 2 {
		t.Errorf("after a stop: %v", did)
	}
	var none *Frames
	none.Stop()
}

// The end of a long name is kept, because scans differ in it.
func TestShortName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "a.tif": "a.tif", "scan_000123.ti": "scan_000123.ti", "painting_scan_0001.tif": "…scan_0001.tif",
		"Картина_с_длинным_именем_07.tif": "…именем_07.tif",
	} {
		if got := ShortName(name); got != want {
			t.Errorf("%q is shortened to %q, want %q", name, got, want)
		}
	}
}

func TestHoldButton(t *testing.T) {
	test.NewTempApp(t)
	var reported []bool
	b := NewHoldButton("hold", "help", NewTooltips(), func(held bool) { reported = append(reported, held) })
	test.NewTempWindow(t, b)
	b.SetEnabled(false)
	b.MouseDown(nil)
	b.MouseUp(nil)
	b.MouseOut()
	if len(reported) != 0 {
		t.Errorf("a disabled button reported %v", reported)
	}
	b.SetEnabled(true)
	b.MouseDown(nil)
	b.MouseDown(nil)
	b.MouseOut()
	b.MouseUp(nil)
	b.MouseDown(nil)
	b.MouseUp(nil)
	if want := []bool{true, false, true, false}; !slices.Equal(reported, want) {
		t.Errorf("reported %v, want %v", reported, want)
	}
}

// Two objects share the room evenly and have captions; one alone has all of it and none.
func TestPair(t *testing.T) {
	test.NewTempApp(t)
	left, right := canvas.NewRectangle(nil), canvas.NewRectangle(nil)
	box := container.New(PairLayout{}, left, right, NewCaption("a"), NewCaption("b"))
	box.Resize(fyne.NewSize(205, 50))
	if left.Size() != right.Size() || left.Size() != fyne.NewSize(101, 50) || right.Position() != fyne.NewPos(104, 0) {
		t.Errorf("%v and %v at %v", left.Size(), right.Size(), right.Position())
	}
	for i, o := range box.Objects[2:] {
		if at := o.Position(); !o.Visible() || at.X < box.Objects[i].Position().X || at.X > box.Objects[i].Position().X+20 {
			t.Errorf("caption %d at %v, visible %v", i, at, o.Visible())
		}
	}
	left.Hide()
	box.Refresh()
	if right.Size() != box.Size() || box.Objects[2].Visible() || box.Objects[3].Visible() {
		t.Errorf("alone it has %v, captions %v, %v", right.Size(), box.Objects[2].Visible(), box.Objects[3].Visible())
	}
}

// Only the selected tab holds its content, which shows changes made meanwhile, and the tabs have the size that each
// needs.
func TestTabs(t *testing.T) {
	test.NewTempApp(t)
	first, second := widget.NewLabel("a"), widget.NewLabel("b")
	tabs := NewTabs(container.NewTabItem("1", first), container.NewTabItem("2", second))
	w := test.NewTempWindow(t, tabs)
	w.Resize(fyne.NewSize(300, 200))
	need := tabs.MinSize()
	for _, step := range []struct {
		tab         int
		shows, left *widget.Label
	}{{1, second, first}, {0, first, second}, {0, first, second}, {1, second, first}} {
		tabs.SelectIndex(step.tab)
		for i, item := range tabs.Items {
			objects := item.Content.(*fyne.Container).Objects
			if shown := len(objects) == 1; shown != (i == step.tab) {
				t.Fatalf("tab %d of %d selected holds %v", i, step.tab, objects)
			}
		}
		if size := tabs.Items[step.tab].Content.Size(); step.shows.Size() != size || size.Width < 200 {
			t.Errorf("the content has the size %v in %v", step.shows.Size(), size)
		}
		step.left.SetText(step.left.Text + "!")
		if got := tabs.MinSize(); got.Width < need.Width || got.Height < need.Height {
			t.Errorf("the tabs need %v, less than %v", got, need)
		}
	}
	if second.Text != "b!!" || !second.Visible() {
		t.Errorf("the tab says %q, visible %v", second.Text, second.Visible())
	}
}
