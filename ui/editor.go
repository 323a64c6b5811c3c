package ui

import (
	"errors"
	"image"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/processing"
	"blik/ui/tool"
)

// The window is what the tools work on: it passes their doings to the document and shows what they changed.
var (
	_ tool.Painter    = (*window)(nil)
	_ tool.RegionHost = (*window)(nil)
)

// BeginStroke starts a stroke of the brush.
func (w *window) BeginStroke(b document.Brush, at processing.Point) {
	w.showMask()
	w.port.MaskChanged(w.doc.BeginStroke(b, at.X, at.Y))
}

// StrokeTo paints on.
func (w *window) StrokeTo(at processing.Point) { w.port.MaskChanged(w.doc.StrokeTo(at.X, at.Y)) }

// EndStroke makes the stroke one step of the history.
func (w *window) EndStroke() {
	w.doc.EndStroke()
	w.refreshMask()
}

// CancelStroke takes the stroke back.
func (w *window) CancelStroke() {
	w.port.MaskChanged(w.doc.CancelStroke())
	w.refreshMask()
}

// Region returns the search region.
func (w *window) Region() *processing.Region {
	if w.doc == nil {
		return nil
	}
	return w.doc.Region()
}

// SetRegion changes the search region, if it touches the picture.
func (w *window) SetRegion(r *processing.Region) {
	if r != nil {
		size := w.doc.Size()
		if err := r.Validate(size.X, size.Y); err != nil {
			if errors.Is(err, processing.ErrRegionOutside) {
				w.say(w.t("region.outside"))
			} else {
				w.showError(err)
			}
			w.refreshRegion()
			return
		}
	}
	if err := w.doc.SetRegion(r); err != nil {
		w.showError(err)
		return
	}
	w.refreshRegion()
	w.refreshHistory()
	w.refreshMenu()
}

// DraftChanged shows the region as it is being drawn; its handles only while a tool can drag them.
func (w *window) DraftChanged() {
	t, ok := w.regionTool()
	if !ok {
		w.port.SetOutline(tool.Outline(w.Region()), nil, false)
		return
	}
	r := t.Current()
	w.port.SetOutline(tool.Outline(r), tool.Handles(r), t.Open())
}

func (w *window) finishRegion() {
	if t, ok := w.regionTool(); ok {
		t.Finish()
	}
}

func (w *window) backRegion() {
	if t, ok := w.regionTool(); ok {
		t.Back()
	}
}

// escape takes back what is going on: a stroke or a drag, a polygon, a job, the focus of a field.
func (w *window) escape() {
	if t, ok := w.regionTool(); ok && t.Open() {
		t.Abandon()
		return
	}
	w.port.Abandon()
	w.do("find.cancel")
	w.win.Canvas().Unfocus()
}

// undo takes back the last step, or the last typing where a field has the focus.
func (w *window) undo() {
	if w.forward(&fyne.ShortcutUndo{}) || w.doc == nil || w.jobs.Busy() || w.dialogOpen() {
		return
	}
	w.port.End()
	name, _ := w.doc.UndoName()
	if dirty, ok := w.doc.Undo(); ok {
		w.stepped(dirty, w.t("status.undone", "Name", name.In(w.texts.Lang())))
	}
}

// redo does again what undo took back.
func (w *window) redo() {
	if w.forward(&fyne.ShortcutRedo{}) || w.doc == nil || w.jobs.Busy() || w.dialogOpen() {
		return
	}
	w.port.End()
	name, _ := w.doc.RedoName()
	if dirty, ok := w.doc.Redo(); ok {
		w.stepped(dirty, w.t("status.redone", "Name", name.In(w.texts.Lang())))
	}
}

// forward gives a shortcut to the field that has the focus: the driver asks the menu first.
func (w *window) forward(s fyne.Shortcut) bool {
	field, ok := w.win.Canvas().Focused().(fyne.Shortcutable)
	if ok {
		field.TypedShortcut(s)
	}
	return ok
}

// stepped shows a step through the history.
func (w *window) stepped(dirty image.Rectangle, text string) {
	w.port.MaskChanged(dirty)
	w.refreshRegion()
	w.refreshResult()
	w.refreshMask()
	w.refreshMenu()
	w.say(text)
	w.log.line("step %d %d", w.doc.Corrections().Len(), w.doc.Corrections().Pixels())
}

func (w *window) invertMask() {
	w.showMask()
	w.port.MaskChanged(w.doc.InvertMask())
	w.refreshMask()
}

func (w *window) clearMask() {
	w.port.MaskChanged(w.doc.ClearMask())
	w.refreshMask()
}

// showMask makes sure that a change of the mask is seen.
func (w *window) showMask() {
	if !w.maskShown {
		w.toggleMask()
	}
}

// refreshMask shows what the document holds now: the corrected picture, count and area of the spots, their list, and that
// something is not saved.
func (w *window) refreshMask() {
	w.refreshTitle()
	w.refreshHistory()
	if w.doc == nil {
		w.status.found.SetText("")
		w.panel.findings.sum.SetText(w.t("findings.none"))
		w.panel.findings.table.Refresh()
		w.refreshSteps()
		return
	}
	w.refreshPicture()
	stats, size := w.doc.Stats(), w.doc.Size()
	text := w.t("status.empty")
	if stats.Area > 0 {
		share := float64(stats.Area) / float64(size.X) / float64(size.Y)
		text = w.texts.N("status.found", stats.Spots, "Area", w.texts.Int(stats.Area), "Share", w.texts.Number(share*100, 3))
	}
	w.status.found.SetText(text)
	w.status.object.Refresh()
	w.panel.findings.sum.SetText(text)
	w.panel.findings.table.Refresh()
	w.showSelected(false)
	w.refreshSteps()
}

func (w *window) refreshHistory() {
	undo, redo := false, false
	if w.doc != nil {
		_, undo = w.doc.UndoName()
		_, redo = w.doc.RedoName()
	}
	w.bar.undo.SetEnabled(undo)
	w.bar.redo.SetEnabled(redo)
}

// toggleSpot takes the finding at a place out of the mask, or puts one back that the last detection found there.
func (w *window) toggleSpot(at processing.Point, slack float64) {
	w.showMask()
	hit, ok := w.hit(at, slack)
	if !ok {
		return
	}
	change := w.doc.RestoreSpot
	text := "status.restored"
	if hit.inMask {
		change, text = w.doc.RemoveSpot, "status.removed"
	}
	if dirty, ok := change(hit.x, hit.y); ok {
		w.port.MaskChanged(dirty)
		w.refreshMask()
		w.say(w.t(text))
	}
}

func (w *window) spotHit(at processing.Point, slack float64) bool {
	_, ok := w.hit(at, slack)
	return ok
}

// hitSpot is a pixel of a finding that is in the mask, or of one that was taken out of it.
type hitSpot struct {
	x, y   int
	inMask bool
}

// hit looks for a finding under the pointer, then within the slack around it.
func (w *window) hit(at processing.Point, slack float64) (hitSpot, bool) {
	if w.doc == nil {
		return hitSpot{}, false
	}
	x, y := int(math.Floor(at.X)), int(math.Floor(at.Y))
	if _, ok := w.doc.SpotAt(x, y); ok {
		return hitSpot{x, y, true}, true
	}
	if _, ok := w.doc.DetectedAt(x, y); ok {
		return hitSpot{x, y, false}, true
	}
	var boxes []image.Rectangle
	spots := w.doc.Spots()
	for _, s := range spots {
		boxes = append(boxes, s.Bounds())
	}
	var gone []processing.Finding
	for _, f := range w.doc.Findings() {
		if len(f.Runs) == 0 {
			continue
		}
		if _, ok := w.doc.SpotAt(f.Runs[0].X0, f.Runs[0].Y); !ok {
			gone = append(gone, f)
			boxes = append(boxes, image.Rect(f.Left, f.Top, f.Left+f.Width, f.Top+f.Height))
		}
	}
	i := tool.Nearest(boxes, at, slack)
	switch {
	case i < 0:
		return hitSpot{}, false
	case i < len(spots):
		x, y, ok := w.pixelOf(spots[i])
		return hitSpot{x, y, true}, ok
	default:
		run := gone[i-len(spots)].Runs[0]
		return hitSpot{run.X0, run.Y, false}, true
	}
}

// pixelOf returns a pixel of a finding in the mask: one of the topmost row of its box.
func (w *window) pixelOf(s document.Spot) (x, y int, ok bool) {
	for x := s.Left; x < s.Left+s.Width; x++ {
		if found, ok := w.doc.SpotAt(x, s.Top); ok && found.ID == s.ID {
			return x, s.Top, true
		}
	}
	return 0, 0, false
}

// step selects the next or the previous finding and brings it to the middle.
func (w *window) step(direction int) {
	move := w.doc.Next
	if direction < 0 {
		move = w.doc.Previous
	}
	if _, ok := move(); !ok {
		w.say(w.t("status.empty"))
		return
	}
	w.showSelected(true)
}

// revealZoom is the largest zoom that a finding is brought to the middle at: it is judged by what is around it.
const revealZoom = 4

// showSelected marks the selected finding, and brings it to the middle where reveal is set.
func (w *window) showSelected(reveal bool) {
	s, ok := w.doc.Selected()
	w.refreshSpot()
	if !ok {
		w.port.SetMarker(image.Rectangle{})
		return
	}
	w.port.SetMarker(s.Bounds())
	if reveal {
		w.port.Reveal(s.Bounds(), revealZoom)
		w.say(w.t("status.selected", "ID", w.texts.Int(s.ID), "Area", w.texts.Int(s.Area)))
	}
	table := w.panel.findings
	row := widget.TableCellID{Row: s.ID - 1}
	table.quiet = true
	table.table.Select(row)
	table.quiet = false
	// With a header, Fyne's table leaves the row it scrolls up to under it; the row above brings it out.
	if row.Row == 0 {
		table.table.ScrollToTop()
		return
	}
	table.table.ScrollTo(row)
	table.table.ScrollTo(widget.TableCellID{Row: row.Row - 1})
}

func (w *window) removeSelected() {
	s, ok := w.doc.Selected()
	if !ok {
		return
	}
	if x, y, ok := w.pixelOf(s); ok {
		if dirty, ok := w.doc.RemoveSpot(x, y); ok {
			w.port.MaskChanged(dirty)
			w.refreshMask()
			w.say(w.t("status.removed"))
		}
	}
}

// localized is an error that can say itself in the user's language.
type localized interface{ In(lang string) string }

// errorText says an error in one sentence, in the user's language where it can.
func (w *window) errorText(err error) string {
	var l localized
	if errors.As(err, &l) {
		return l.In(w.texts.Lang())
	}
	if errors.Is(err, processing.ErrRegionOutside) {
		return w.t("region.outside")
	}
	return err.Error()
}

// showError shows what went wrong, once.
func (w *window) showError(err error) { w.showSentence(w.errorText(err)) }

// showSentence shows what went wrong.
func (w *window) showSentence(sentence string) {
	text := widget.NewLabel(sentence)
	text.Wrapping = fyne.TextWrapWord
	d := dialog.NewCustom(w.t("error.title"), w.t("button.ok"), text, w.win)
	d.Resize(fyne.NewSize(460, 160))
	w.showDialog(d, nil)
}
