package timing

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/lab/bench"
)

// cellTable shows rows of text under a header. Columns are as wide as their widest text; columns of figures are
// right-aligned.
type cellTable struct {
	widget.Table
	cells [][]string
	right []bool
}

// newCellTable returns an empty table.
func newCellTable() *cellTable {
	t := &cellTable{}
	// The toolkit's labels have too much padding for tables with many columns.
	label := func(bold bool) func() fyne.CanvasObject {
		return func() fyne.CanvasObject {
			text := canvas.NewText("", nil)
			text.TextSize = theme.Size(theme.SizeNameCaptionText)
			text.TextStyle.Bold = bold
			return container.New(layout.NewCustomPaddedLayout(cellGap, cellGap, cellGap, cellGap), text)
		}
	}
	t.Length = func() (int, int) {
		if len(t.cells) == 0 {
			return 0, 0
		}
		return len(t.cells) - 1, len(t.cells[0])
	}
	t.CreateCell = label(false)
	t.UpdateCell = func(id widget.TableCellID, o fyne.CanvasObject) { t.show(id.Row+1, id.Col, o) }
	t.CreateHeader = label(true)
	t.UpdateHeader = func(id widget.TableCellID, o fyne.CanvasObject) { t.show(0, id.Col, o) }
	t.ExtendBaseWidget(t)
	return t
}

// cellGap is the space between a cell's text and its borders.
const cellGap = 4

func (t *cellTable) show(row, column int, o fyne.CanvasObject) {
	l := o.(*fyne.Container).Objects[0].(*canvas.Text)
	text, align := "", fyne.TextAlignLeading
	if row < len(t.cells) && column >= 0 && column < len(t.cells[row]) {
		text = t.cells[row][column]
		if t.right[column] {
			align = fyne.TextAlignTrailing
		}
	}
	l.Text, l.Alignment = text, align
	l.Color = theme.Color(theme.ColorNameForeground)
	l.Refresh()
}

// Cells returns the rows, the header first.
func (t *cellTable) Cells() [][]string { return t.cells }

// SetCells replaces the rows. All must have the length of the header, which is the first.
func (t *cellTable) SetCells(cells [][]string) {
	t.cells, t.right = cells, nil
	t.ShowHeaderRow = len(cells) > 1
	if len(cells) > 0 {
		size := theme.Size(theme.SizeNameCaptionText)
		t.right = make([]bool, len(cells[0]))
		for c := range cells[0] {
			t.right[c] = true
			width := fyne.MeasureText(cells[0][c], size, fyne.TextStyle{Bold: true}).Width
			for _, row := range cells[1:] {
				width = max(width, fyne.MeasureText(row[c], size, fyne.TextStyle{}).Width)
				t.right[c] = t.right[c] && bench.IsFigures(row[c])
			}
			t.SetColumnWidth(c, width+2*cellGap+1)
		}
	}
	t.Refresh()
}
