package xwidget

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// CellTable shows rows of text under a head. Columns are as wide as their widest text; those of figures are aligned to
// the right.
type CellTable struct {
	widget.Table
	cells [][]string
	right []bool
}

// NewCellTable returns an empty table.
func NewCellTable() *CellTable {
	t := &CellTable{}
	label := func(bold bool) func() fyne.CanvasObject {
		return func() fyne.CanvasObject {
			l := widget.NewLabel("")
			l.SizeName = theme.SizeNameCaptionText
			l.TextStyle.Bold = bold
			return l
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

func (t *CellTable) show(row, column int, o fyne.CanvasObject) {
	l := o.(*widget.Label)
	text, align := "", fyne.TextAlignLeading
	if row < len(t.cells) && column >= 0 && column < len(t.cells[row]) {
		text = t.cells[row][column]
		if t.right[column] {
			align = fyne.TextAlignTrailing
		}
	}
	l.Alignment = align
	l.SetText(text)
}

// Cells returns what is shown, the head first.
func (t *CellTable) Cells() [][]string { return t.cells }

// SetCells shows other rows, all as long as the head, which is the first of them.
func (t *CellTable) SetCells(cells [][]string) {
	t.cells, t.right = cells, nil
	t.ShowHeaderRow = len(cells) > 1
	if len(cells) > 0 {
		size := theme.Size(theme.SizeNameCaptionText)
		// A label keeps a space around its text.
		around := 2*theme.InnerPadding() + 1
		t.right = make([]bool, len(cells[0]))
		for c := range cells[0] {
			t.right[c] = true
			width := fyne.MeasureText(cells[0][c], size, fyne.TextStyle{Bold: true}).Width
			for _, row := range cells[1:] {
				width = max(width, fyne.MeasureText(row[c], size, fyne.TextStyle{}).Width)
				t.right[c] = t.right[c] && Figures(row[c])
			}
			t.SetColumnWidth(c, width+around)
		}
	}
	t.Refresh()
}

// Figures says whether a text is a number, a range of numbers or nothing.
func Figures(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.,e+-−…%", r) }) < 0
}
