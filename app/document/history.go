package document

import (
	"image"

	"blik/internal/message"
	"blik/processing"
)

// DefaultHistoryBudget is the memory that the history may take unless SetHistoryBudget says otherwise: 512 MiB.
const DefaultHistoryBudget = 512 << 20

// stepBytes is what a step takes besides its tiles, and savedBytes what a tile takes besides its content.
const (
	stepBytes  = 256
	savedBytes = 32
)

// step is one change. It holds the other side of it: what was before while it can be undone, what came after while it
// can be redone. Swapping it with the document does both.
type step struct {
	name  message.Message
	tiles []savedTile
	// generation is that of the mask on the other side.
	generation uint64
	region     *processing.Region
	detection  *detection
	renewed    bool
	drawn      bool
	decisions  *Decisions
	// preview says what the step shows until the next one of the same takes its place.
	preview preview
	// held is the memory of the detection or the decisions that the step brought.
	held        int64
	corrections *Corrections
	// patches is the memory of the corrections that only one side of the step has.
	patches int64
}

// preview is what follows changes of the parameters; the zero value is a step that stays.
type preview struct {
	detection, correction bool
	// spot is the first pixel of the corrected finding.
	spot image.Point
}

// replace takes back the last step if it is a preview of the same, and makes the one that do pushes, if it pushes one,
// such a preview. It returns the pixels of the mask that may differ.
func (d *Document) replace(p preview, do func() (image.Rectangle, error)) (image.Rectangle, error) {
	d.EndStroke()
	var back image.Rectangle
	if h := &d.history; len(h.undone) == 0 && len(h.done) > 0 && h.done[len(h.done)-1].preview == p {
		back, _ = d.Undo()
	}
	steps := len(d.history.done)
	dirty, err := do()
	if len(d.history.done) > steps {
		d.history.done[steps].preview = p
	}
	return back.Union(dirty), err
}

type savedTile struct {
	index int
	data  tileData
}

func (s *step) bytes() int64 {
	n := stepBytes + s.held + s.patches
	for _, t := range s.tiles {
		n += savedBytes + int64(len(t.data))
	}
	return n
}

// history is the list of steps done, oldest first, and of those undone, the next to redo last.
type history struct {
	done, undone []*step
	bytes        int64
	budget       int64
	// version counts the changes of the list.
	version uint64
}

// push adds a step and forgets what was undone.
func (h *history) push(s *step) {
	h.version++
	for _, u := range h.undone {
		h.bytes -= u.bytes()
	}
	h.undone = nil
	h.done = append(h.done, s)
	h.bytes += s.bytes()
	h.trim()
}

// trim drops the oldest steps until the rest fits the budget; the last one always stays.
func (h *history) trim() {
	drop := 0
	for ; h.bytes > h.budget && drop < len(h.done)-1; drop++ {
		h.bytes -= h.done[drop].bytes()
	}
	if drop > 0 {
		h.version++
		// Copied, so that the dropped ones do not stay reachable under the slice.
		h.done = append([]*step(nil), h.done[drop:]...)
	}
}

// edit is a change in the making: tiles are saved before they are first written.
type edit struct {
	step    *step
	touched []bool
	// exact says that every tile saved is known to differ.
	exact bool
	// byHand says that it is a stroke of the user's.
	byHand bool
}

// begin opens an edit; an open stroke is ended first.
func (d *Document) begin(name message.Message) {
	d.EndStroke()
	d.DropPart()
	d.edit.step = &step{name: name, generation: d.generation, region: d.region, detection: d.detection,
		renewed: d.renewed, drawn: d.drawn, decisions: d.decisions, corrections: d.corrections}
	d.edit.exact, d.edit.byHand = false, false
}

// touch saves the tiles of r, which lies within the picture, before they are written.
func (d *Document) touch(r image.Rectangle) {
	d.tiles.each(r, func(i int) {
		if d.edit.touched[i] {
			return
		}
		d.edit.touched[i] = true
		d.edit.step.tiles = append(d.edit.step.tiles, savedTile{i, d.pack(i, &d.scratch)})
	})
}

// commit makes the edit a step of the history unless it changed nothing, and returns the tiles it changed.
func (d *Document) commit() image.Rectangle {
	s := d.edit.step
	defer func() { d.edit.step = nil }()
	var dirty image.Rectangle
	kept := s.tiles[:0]
	for _, t := range s.tiles {
		d.edit.touched[t.index] = false
		r := d.tiles.rect(t.index)
		if d.edit.exact || !d.holds(t.data, r) {
			kept = append(kept, t)
			dirty = dirty.Union(r)
		}
	}
	clear(s.tiles[len(kept):])
	s.tiles = kept
	if len(kept) == 0 {
		d.generation = s.generation
		if s.region == d.region && s.detection == d.detection && s.corrections == d.corrections &&
			s.decisions == d.decisions {
			d.renewed = s.renewed
			return dirty
		}
	} else {
		d.changed()
		d.uncover(dirty)
		d.drawn = d.drawn || d.edit.byHand
	}
	d.history.push(s)
	return dirty
}

// holds reports whether the pixels r of the mask are those of data.
func (d *Document) holds(data tileData, r image.Rectangle) bool {
	w := r.Dx()
	data.unpack(d.scratch[:], w, image.Rect(0, 0, w, r.Dy()))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		if string(d.mask.Pix[y*d.mask.Width+r.Min.X:][:w]) != string(d.scratch[(y-r.Min.Y)*w:][:w]) {
			return false
		}
	}
	return true
}

// changed gives the mask a generation it never had.
func (d *Document) changed() {
	d.lastGeneration++
	d.generation = d.lastGeneration
}

// swap exchanges the two sides of a step and returns the pixels of the mask that may differ.
func (d *Document) swap(s *step) image.Rectangle {
	d.history.version++
	var dirty image.Rectangle
	d.history.bytes -= s.bytes()
	spread(len(s.tiles), newBuffer, func(i int, scratch *tileBuffer) {
		t := &s.tiles[i]
		now := d.pack(t.index, scratch)
		t.data.unpack(d.mask.Pix, d.mask.Width, d.tiles.rect(t.index))
		d.packed[t.index].data = t.data
		t.data = now
	})
	s.generation, d.generation = d.generation, s.generation
	s.region, d.region = d.region, s.region
	s.detection, d.detection = d.detection, s.detection
	s.renewed, d.renewed = d.renewed, s.renewed
	s.drawn, d.drawn = d.drawn, s.drawn
	s.decisions, d.decisions = d.decisions, s.decisions
	s.corrections, d.corrections = d.corrections, s.corrections
	for _, t := range s.tiles {
		if d.asFound() {
			d.spots.adopt(t.index, d.detection.index())
		} else {
			d.spots.invalidate(t.index)
		}
		dirty = dirty.Union(d.tiles.rect(t.index))
	}
	d.history.bytes += s.bytes()
	return dirty
}

// Undo takes back the last step; ok is false where there is none. An open stroke is ended first. The rectangle is
// empty for a step that did not touch the mask.
func (d *Document) Undo() (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	d.DropPart()
	h := &d.history
	if len(h.done) == 0 {
		return image.Rectangle{}, false
	}
	s := h.done[len(h.done)-1]
	h.done[len(h.done)-1] = nil
	h.done = h.done[:len(h.done)-1]
	h.undone = append(h.undone, s)
	return d.swap(s), true
}

// Redo does the last step again that was undone.
func (d *Document) Redo() (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	d.DropPart()
	h := &d.history
	if len(h.undone) == 0 {
		return image.Rectangle{}, false
	}
	s := h.undone[len(h.undone)-1]
	h.undone[len(h.undone)-1] = nil
	h.undone = h.undone[:len(h.undone)-1]
	h.done = append(h.done, s)
	dirty = d.swap(s)
	h.trim()
	return dirty, true
}

// UndoName returns the name of the step that Undo takes back; ok is false where there is none.
func (d *Document) UndoName() (name message.Message, ok bool) { return lastName(d.history.done) }

// RedoName returns the name of the step that Redo does again; ok is false where there is none.
func (d *Document) RedoName() (name message.Message, ok bool) { return lastName(d.history.undone) }

// Steps returns the names of all steps that are kept, in the order in which they were made, and how many of them are
// done; the others were undone.
func (d *Document) Steps() (names []message.Message, done int) {
	h := &d.history
	for _, s := range h.done {
		names = append(names, s.name.Context("step"))
	}
	for i := len(h.undone) - 1; i >= 0; i-- {
		names = append(names, h.undone[i].name.Context("step"))
	}
	return names, len(h.done)
}

// GoTo undoes or redoes steps until so many of those that Steps names are done; the number is clamped. An open stroke
// is ended first.
func (d *Document) GoTo(done int) (dirty image.Rectangle) {
	d.EndStroke()
	step, n := d.Redo, done-len(d.history.done)
	if n < 0 {
		step, n = d.Undo, -n
	}
	for range n {
		pixels, ok := step()
		if !ok {
			break
		}
		dirty = dirty.Union(pixels)
	}
	return dirty
}

// HistoryVersion changes with what Steps returns.
func (d *Document) HistoryVersion() uint64 { return d.history.version }

// HistoryBytes returns the memory that the history takes, and the most that it may take.
func (d *Document) HistoryBytes() (used, budget int64) { return d.history.bytes, d.history.budget }

func lastName(steps []*step) (message.Message, bool) {
	if len(steps) == 0 {
		return message.Message{}, false
	}
	return steps[len(steps)-1].name.Context("step"), true
}

// SetHistoryBudget bounds the memory of the history, in bytes; the oldest steps are dropped, the last one always
// stays. The default is DefaultHistoryBudget.
func (d *Document) SetHistoryBudget(bytes int64) {
	d.history.budget = bytes
	d.history.trim()
}
