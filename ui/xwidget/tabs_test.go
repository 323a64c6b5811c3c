package xwidget

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

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
