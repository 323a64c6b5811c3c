package xwidget_test

import (
	"slices"
	"strconv"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"blik/internal/test/uitest"
	"blik/ui/xwidget"
)

// The arrow keys choose a column head, which then shows the ring; Enter and the space bar click it, and so nothing is
// clicked before one is chosen.
func TestHeadsByKeyboard(t *testing.T) {
	test.NewTempApp(t)
	keys := &passed{}
	table := xwidget.NewSortTable([]float32{40, 40, 40}, keys)
	var clicked, stepped []int
	table.Rows = func() int { return 2 }
	table.Head = func(column int) string { return string(rune('a' + column)) }
	table.OnHead = func(column int) { clicked = append(clicked, column) }
	table.OnStep = func(direction int) { stepped = append(stepped, direction) }
	w := test.NewTempWindow(t, table)
	w.Resize(fyne.NewSize(200, 150))
	w.Canvas().Focus(table)
	key := func(names ...fyne.KeyName) {
		for _, name := range names {
			table.TypedKey(&fyne.KeyEvent{Name: name})
		}
	}
	// rings counts the rings around heads: that of the table is as wide as the table.
	rings := func() (n int) {
		for _, r := range uitest.Find[*canvas.Rectangle](table) {
			if r.StrokeWidth > 0 && r.StrokeColor == theme.Color(theme.ColorNamePrimary) && r.Size().Width < 100 {
				n++
			}
		}
		return n
	}
	key(fyne.KeyReturn)
	if len(clicked) > 0 || !slices.Contains(keys.names, fyne.KeyReturn) || rings() > 0 {
		t.Errorf("without a chosen head, Enter clicked %v, was passed on as %v; %d rings", clicked, keys.names, rings())
	}
	key(fyne.KeyRight, fyne.KeyRight, fyne.KeyReturn)
	if n := rings(); n != 1 {
		t.Errorf("%d rings around heads", n)
	}
	key(fyne.KeyRight, fyne.KeyRight, fyne.KeyEnter, fyne.KeyLeft)
	table.TypedRune(' ')
	if !slices.Equal(clicked, []int{1, 2, 1}) {
		t.Errorf("clicked %v", clicked)
	}
	key(fyne.KeyDown)
	if n := rings(); n != 0 || !slices.Equal(stepped, []int{1}) {
		t.Errorf("after a step %v, %d rings", stepped, n)
	}
}

// The row that is selected lies below the head after scrolling up, and so does the first row if that is the next.
func TestMarkShowsRows(t *testing.T) {
	test.NewTempApp(t)
	table := xwidget.NewSortTable([]float32{40}, &passed{})
	table.Rows = func() int { return 60 }
	table.Head = func(int) string { return "head" }
	table.Cell = func(row, _ int) string { return strconv.Itoa(row) }
	w := test.NewTempWindow(t, table)
	w.Resize(fyne.NewSize(200, 150))
	top := func(text string) float32 {
		for _, shown := range uitest.Find[*canvas.Text](table) {
			if shown.Text == text {
				return fyne.CurrentApp().Driver().AbsolutePositionForObject(shown).Y
			}
		}
		return -1
	}
	for _, row := range []int{5, 2, 1, 0} {
		table.Mark(40)
		table.Mark(row)
		shown := row
		if row == 1 {
			shown = 0
		}
		if at, head := top(strconv.Itoa(shown)), top("head"); at <= head {
			t.Errorf("row %d is selected: row %d lies at %g, the head at %g", row, shown, at, head)
		}
	}
}

// passed notes the keys that a control passes on.
type passed struct{ names []fyne.KeyName }

func (p *passed) Rune(rune)            {}
func (p *passed) Key(e *fyne.KeyEvent) { p.names = append(p.names, e.Name) }
func (p *passed) Down(*fyne.KeyEvent)  {}
func (p *passed) Up(*fyne.KeyEvent)    {}
