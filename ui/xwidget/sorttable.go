package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// SortTable shows rows of figures under a header that can be clicked. At most one whole row is selected. The up and
// down keys step through the rows, left and right through the column heads, around one of which a ring then shows;
// Enter and the space bar click it. The table passes on the keys that it does not use, so that the shortcuts of the
// tools work while it has the focus.
type SortTable struct {
	widget.Table
	ringed
	// Rows returns the number of rows, Cell the text of a cell.
	Rows func() int
	Cell func(row, column int) string
	// Head returns the text of a column's head, OnHead is called when it is clicked.
	Head   func(column int) string
	OnHead func(column int)
	// OnRow is called when a row is clicked, OnStep when an arrow key asks for the next or previous row.
	OnRow  func(row int)
	OnStep func(direction int)

	widths   []float32
	selected int
	// head is the column whose head has the ring; −1 for none.
	head int
}

var _ desktop.Keyable = (*SortTable)(nil)

// NewSortTable returns an empty table with columns of the given widths.
func NewSortTable(widths []float32, keys Keys) *SortTable {
	t := &SortTable{
		Rows: func() int { return 0 }, Cell: func(int, int) string { return "" }, Head: func(int) string { return "" },
		OnHead: func(int) {}, OnRow: func(int) {}, OnStep: func(int) {}, ringed: ringed{keys: keys}, widths: widths,
		selected: -1, head: -1,
	}
	t.Length = func() (int, int) { return t.Rows(), len(widths) }
	t.CreateCell = func() fyne.CanvasObject {
		return container.NewStack(canvas.NewRectangle(color.Transparent), newCellText(false))
	}
	t.UpdateCell = func(id widget.TableCellID, o fyne.CanvasObject) { t.fill(id, o.(*fyne.Container)) }
	t.ShowHeaderRow = true
	t.CreateHeader = func() fyne.CanvasObject { return newTableHead(t) }
	t.UpdateHeader = func(id widget.TableCellID, o fyne.CanvasObject) { o.(*tableHead).show(id.Col) }
	t.OnSelected = func(id widget.TableCellID) {
		// The toolkit would select a single cell.
		t.UnselectAll()
		if id.Row >= 0 && id.Row < t.Rows() {
			t.OnRow(id.Row)
		}
	}
	t.ExtendBaseWidget(t)
	for i, w := range widths {
		t.SetColumnWidth(i, w)
	}
	return t
}

// cellGap is the space between a cell's text and its borders.
const cellGap = 4

// newCellText makes the text of a cell, right-aligned.
func newCellText(bold bool) *fyne.Container {
	text := canvas.NewText("", nil)
	text.TextSize = theme.Size(theme.SizeNameCaptionText)
	text.TextStyle.Bold, text.Alignment = bold, fyne.TextAlignTrailing
	return container.New(layout.NewCustomPaddedLayout(cellGap, cellGap, cellGap, cellGap), text)
}

func (t *SortTable) fill(id widget.TableCellID, o *fyne.Container) {
	back, text := o.Objects[0].(*canvas.Rectangle), o.Objects[1].(*fyne.Container).Objects[0].(*canvas.Text)
	fill := color.Color(color.Transparent)
	if id.Row == t.selected {
		fill = theme.Color(theme.ColorNameSelection)
	}
	if back.FillColor != fill {
		back.FillColor = fill
		back.Refresh()
	}
	was, hue, size := text.Text, text.Color, text.TextSize
	text.Text, text.Color = "", theme.Color(theme.ColorNameForeground)
	if id.Row >= 0 && id.Row < t.Rows() {
		text.Text = t.Cell(id.Row, id.Col)
		t.fit(text, id.Col)
	}
	// The table fills all its cells whenever it scrolls or another row is selected, and to redraw a text takes long.
	if text.Text != was || text.Color != hue || text.TextSize != size {
		text.Refresh()
	}
}

// fit makes the text smaller if it is too long for its column: a head with its arrow, or a position in a wide picture.
func (t *SortTable) fit(text *canvas.Text, column int) {
	text.TextSize = theme.Size(theme.SizeNameCaptionText)
	room := t.widths[column] - 2*cellGap
	if width := text.MinSize().Width; width > room {
		text.TextSize *= room / width
	}
}

// Selected returns the selected row, −1 for none.
func (t *SortTable) Selected() int { return t.selected }

// Mark selects a row and scrolls it into view; −1 selects none.
func (t *SortTable) Mark(row int) {
	if row != t.selected {
		t.selected = row
		t.Refresh()
	}
	switch {
	case row < 0:
	case row <= 1:
		t.ShowTop()
	default:
		// After scrolling up, Fyne's table leaves the row hidden under the header; scrolling to the row above shows it.
		t.ScrollTo(widget.TableCellID{Row: row})
		t.ScrollTo(widget.TableCellID{Row: row - 1})
	}
}

// ShowTop scrolls to the first row.
func (t *SortTable) ShowTop() {
	// Fyne's ScrollToTop leaves the rows where they are until the next repainting.
	t.ScrollToOffset(fyne.Position{})
}

// FocusGained shows the ring around the table, but not the toolkit's cursor.
func (t *SortTable) FocusGained() { t.show(t, true) }

func (t *SortTable) FocusLost() {
	t.show(t, false)
	t.markHead(-1)
}

// markHead shows the ring around the head of a column; −1 for none.
func (t *SortTable) markHead(column int) {
	if t.head != column {
		t.head = column
		t.Refresh()
	}
}

// TypedKey steps with the arrow keys, clicks the head with the ring on Enter, and passes on other keys.
func (t *SortTable) TypedKey(e *fyne.KeyEvent) {
	marked := t.head >= 0
	switch {
	case e.Name == fyne.KeyUp:
		t.markHead(-1)
		t.OnStep(-1)
	case e.Name == fyne.KeyDown:
		t.markHead(-1)
		t.OnStep(1)
	case e.Name == fyne.KeyLeft:
		t.markHead(max(0, t.head-1))
	case e.Name == fyne.KeyRight:
		t.markHead(min(t.head+1, len(t.widths)-1))
	case marked && e.Name == fyne.KeySpace:
	case marked && (e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter):
		t.OnHead(t.head)
	default:
		t.keys.Key(e)
	}
}

// TypedRune clicks the head with the ring on the space bar and passes on other characters.
func (t *SortTable) TypedRune(r rune) {
	if r == ' ' && t.head >= 0 {
		t.OnHead(t.head)
		return
	}
	t.keys.Rune(r)
}

func (t *SortTable) KeyDown(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace || t.head < 0 {
		t.keys.Down(e)
	}
}

func (t *SortTable) CreateRenderer() fyne.WidgetRenderer { return t.around(t.Table.CreateRenderer()) }

// tableHead is the head of a column.
type tableHead struct {
	widget.BaseWidget
	table  *SortTable
	column int
	text   *fyne.Container
	ring   *canvas.Rectangle
}

var (
	_ fyne.Tappable      = (*tableHead)(nil)
	_ desktop.Cursorable = (*tableHead)(nil)
)

func newTableHead(t *SortTable) *tableHead {
	h := &tableHead{table: t, text: newCellText(true), ring: canvas.NewRectangle(color.Transparent)}
	h.ring.CornerRadius = 4
	h.ExtendBaseWidget(h)
	return h
}

func (h *tableHead) show(column int) {
	h.column = column
	text := h.text.Objects[0].(*canvas.Text)
	text.Text, text.Color = h.table.Head(column), theme.Color(theme.ColorNameForeground)
	if column >= 0 && column < len(h.table.widths) {
		h.table.fit(text, column)
	}
	text.Refresh()
	ShowRing(h.ring, h.table.head == column)
	h.ring.Refresh()
}

func (h *tableHead) Tapped(*fyne.PointEvent) { h.table.OnHead(h.column) }

// Cursor shows that the head can be clicked.
func (h *tableHead) Cursor() desktop.Cursor { return desktop.PointerCursor }

func (h *tableHead) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewStack(h.text, h.ring))
}
