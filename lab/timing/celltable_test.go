package timing

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
)

func TestCellTable(t *testing.T) {
	test.NewTempApp(t)
	table := newCellTable()
	w := test.NewTempWindow(t, table)
	w.Resize(fyne.NewSize(600, 300))
	for _, cells := range [][][]string{
		nil,
		{{"variant", "ms"}},
		{{"variant", "ms", "quartiles"}, {"one", "1.5", "1.2…1.9"}, {"another", "", ""}},
		{{"variant", "ms"}, {"one", "fast"}},
	} {
		table.SetCells(cells)
		rows, columns := table.Length()
		if len(cells) > 0 && (rows != len(cells)-1 || columns != len(cells[0])) || len(cells) == 0 && rows+columns > 0 {
			t.Errorf("%v: %d rows of %d", cells, rows, columns)
		}
	}
	table.SetCells([][]string{{"variant", "ms"}, {"one", "1.5"}, {"two", "−3e-05"}})
	cell := table.CreateCell()
	l := cell.(*fyne.Container).Objects[0].(*canvas.Text)
	for _, c := range []struct {
		row, column int
		text        string
		align       fyne.TextAlign
	}{{0, 0, "variant", fyne.TextAlignLeading}, {0, 1, "ms", fyne.TextAlignTrailing}, {2, 1, "−3e-05",
		fyne.TextAlignTrailing}, {3, 1, "", fyne.TextAlignLeading}} {
		if table.show(c.row, c.column, cell); l.Text != c.text || l.Alignment != c.align {
			t.Errorf("cell %d, %d: %q, aligned %v", c.row, c.column, l.Text, l.Alignment)
		}
	}
}
