package xwidget

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// Items that do not fit are left out in the order of their rank, for any width, without overlap or loss.
func TestDivide(t *testing.T) {
	t.Parallel()
	items := []BarItem{{Rank: 0}, {Rank: 3}, {Rank: 1}, {Rank: 4, Trailing: true}, {Rank: 2, Trailing: true}}
	widths := []float32{50, 100, 0, 30, 70}
	for room := float32(0); room < 400; room++ {
		first, rest := divide(items, widths, room, 34)
		all := append(slices.Clone(first), rest...)
		slices.Sort(all)
		if !slices.Equal(all, []int{0, 1, 3, 4}) {
			t.Fatalf("room %v: %v and %v", room, first, rest)
		}
		used := float32(0)
		for _, i := range first {
			used += widths[i] + barGap
			for _, j := range rest {
				if items[j].Rank < items[i].Rank {
					t.Fatalf("room %v: %d is left out before %d", room, j, i)
				}
			}
		}
		if len(rest) > 0 {
			used += 34
		} else {
			used -= barGap
		}
		if len(first) > 0 && used > room {
			t.Fatalf("room %v: %v take %v", room, first, used)
		}
	}
	if _, rest := divide(items, widths, 50+100+30+70+3*barGap, 34); len(rest) > 0 {
		t.Errorf("%v are left out although all fit", rest)
	}
}

// A narrow bar shows the rest in further rows, within its width, when the button is pressed.
func TestBar(t *testing.T) {
	test.NewTempApp(t)
	var items []BarItem
	for i := range 6 {
		items = append(items, BarItem{Object: NewGap(60, 20), Rank: i, Trailing: i%2 == 1})
	}
	more := NewToolButton(theme.MoreHorizontalIcon(), "", NewTooltips(), nil)
	b := NewBar(more, items...)
	heights := 0
	b.OnRows = func() { heights++ }
	b.Row.Resize(fyne.NewSize(6*60+5*barGap, 40))
	if more.Visible() || heights > 0 {
		t.Error("a button is shown although everything fits")
	}
	b.Row.Resize(fyne.NewSize(200, 40))
	one := b.Row.MinSize().Height
	if shown := visible(b); shown != 2 || !more.Visible() {
		t.Errorf("%d of the items are shown", shown)
	}
	test.Tap(more)
	if shown := visible(b); shown != len(items) || heights != 1 || b.Row.MinSize().Height <= 2*one {
		t.Errorf("%d of the items are shown in a height of %v", shown, b.Row.MinSize().Height)
	}
	var at []fyne.Position
	for i, cell := range b.cells {
		if p := cell.Position(); p.X < 0 || p.X+60 > 200 || slices.Contains(at, p) {
			t.Errorf("item %d is at %v", i, p)
		}
		at = append(at, cell.Position())
	}
	items[0].Object.Hide()
	b.Update()
	if visible(b) != len(items)-1 {
		t.Error("a hidden item is visible")
	}
	test.Tap(more)
	if b.Row.MinSize().Height != one {
		t.Error("the second row is still shown")
	}
}

// visible counts the visible items.
func visible(b *Bar) (n int) {
	for _, cell := range b.cells {
		if cell.Visible() {
			n++
		}
	}
	return n
}
