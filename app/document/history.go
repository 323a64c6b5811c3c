package document

import (
	"image"

	"blik/internal/message"
)

// defaultHistoryBudget is the most memory that the history takes by default, in bytes: 512 MiB. See setHistoryBudget.
const defaultHistoryBudget = 512 << 20

// stepBytes estimates the memory of a step without its tiles, savedBytes that of a tile without its content.
const (
	stepBytes  = 256
	savedBytes = 32
)

// step is one change of the document. While it can be undone it holds the state before the change, while it can be
// redone the state after it. Undo and redo both swap it with the state of the document.
type step struct {
	name  message.Message
	tiles []savedTile
	undoable
	// preview is not zero if the next preview of the same kind replaces the step.
	preview preview
	// held is the memory of the detection or the decisions that the step added, in bytes.
	held int64
	// patches is the memory of the corrections that the step added or removed, in bytes.
	patches int64
}

// preview marks a step that followed a change of the parameters. The zero value is an ordinary step.
type preview struct {
	detection, correction bool
	// spot is the first pixel of the finding that was corrected.
	spot image.Point
}

// replace calls do, and marks the step that do adds, if any, as the preview p. If the last step is such a preview too,
// replace undoes it first. It returns the rectangle of the mask to redraw.
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

// history is the list of steps done, oldest first, and of steps undone, the next one to redo last.
type history struct {
	done, undone []*step
	bytes        int64
	budget       int64
	// version counts the changes of the list.
	version uint64
}

// push adds a step and drops those that were undone.
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
		// A copy, so that the dropped steps become garbage.
		h.done = append([]*step(nil), h.done[drop:]...)
	}
}

// edit is a change that has begun. Each tile is saved in step before it is first written.
type edit struct {
	step    *step
	touched []bool
	// exact is set if every saved tile is known to differ from the mask.
	exact bool
	// byHand is set if the user changed the mask locally, by a stroke or a tool, decided if by a decision about
	// findings.
	byHand, decided bool
	// forgets is set if the edit forgets what was done by hand, which may leave the mask as it is.
	forgets bool
	// kept holds, by their tiles, the pixels of findings that the edit keeps.
	kept map[int]*tileBuffer
}

// begin starts an edit. It first ends an open stroke.
func (d *Document) begin(name message.Message) {
	d.EndStroke()
	d.DropPart()
	d.edit.step = &step{name: name, undoable: d.undoable}
	d.edit.exact, d.edit.byHand, d.edit.decided, d.edit.forgets, d.edit.kept = false, false, false, false, nil
}

// prepareWrite must be called before the pixels of r are written, each time. It saves the tiles that r overlaps in the
// edit, unless they are saved already, and marks them as changed. r lies within the picture.
func (d *Document) prepareWrite(r image.Rectangle) {
	d.tiles.each(r, func(i int) {
		if !d.edit.touched[i] {
			d.edit.touched[i] = true
			d.edit.step.tiles = append(d.edit.step.tiles, savedTile{i, d.pack(i, &d.scratch)})
		}
		d.changedTile(i)
	})
}

// commit adds the edit to the history unless it changed nothing, and returns the bounding box of the tiles that
// changed.
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
	if d.edit.byHand || d.edit.decided {
		noteHand(d, s)
	}
	if len(kept) == 0 {
		d.generation = s.generation
		if s.region == d.region && s.detection == d.detection && s.corrections == d.corrections &&
			s.decisions == d.decisions && (s.hand == d.hand || !d.edit.forgets) {
			d.replaced, d.numbers, d.hand = s.replaced, s.numbers, s.hand
			return dirty
		}
	} else {
		d.changed()
		d.dropUncovered(dirty)
		d.painted = d.painted || d.edit.byHand
	}
	d.history.push(s)
	return dirty
}

// holds reports whether the pixels r of the mask equal data.
func (d *Document) holds(data tileData, r image.Rectangle) bool {
	w := r.Dx()
	data.load(&d.scratch, r)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		if string(d.mask.Pix[y*d.mask.Width+r.Min.X:][:w]) != string(d.scratch[(y-r.Min.Y)*w:][:w]) {
			return false
		}
	}
	return true
}

// changed gives the mask a new generation.
func (d *Document) changed() {
	d.lastGeneration++
	d.generation = d.lastGeneration
}

// swap exchanges the state of the document with that of a step. It returns the rectangle of the mask to redraw.
func (d *Document) swap(s *step) image.Rectangle {
	d.history.version++
	var dirty image.Rectangle
	d.history.bytes -= s.bytes()
	forEach(len(s.tiles), func(i int, scratch *tileBuffer) {
		t := &s.tiles[i]
		now := d.pack(t.index, scratch)
		t.data.unpack(d.mask.Pix, d.mask.Width, d.tiles.rect(t.index))
		d.packed[t.index].data = t.data
		t.data = now
	})
	s.undoable, d.undoable = d.undoable, s.undoable
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

// Undo undoes the last step; ok is false if there is none. It first ends an open stroke. dirty is empty if the step did
// not touch the mask.
func (d *Document) Undo() (dirty image.Rectangle, ok bool) {
	return d.moveLast(&d.history.done, &d.history.undone)
}

// Redo repeats the step that was undone last; ok is false if there is none. dirty is empty if the step did not touch
// the mask.
func (d *Document) Redo() (dirty image.Rectangle, ok bool) {
	dirty, ok = d.moveLast(&d.history.undone, &d.history.done)
	d.history.trim()
	return dirty, ok
}

// moveLast swaps the last step of one list and moves it to the end of another; ok is false if there is none.
func (d *Document) moveLast(from, to *[]*step) (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	d.DropPart()
	last := len(*from) - 1
	if last < 0 {
		return image.Rectangle{}, false
	}
	s := (*from)[last]
	(*from)[last] = nil
	*from = (*from)[:last]
	*to = append(*to, s)
	return d.swap(s), true
}

// UndoName returns the name of the step that Undo would undo; ok is false if there is none.
func (d *Document) UndoName() (name message.Message, ok bool) { return lastName(d.history.done) }

// RedoName returns the name of the step that Redo would repeat; ok is false if there is none.
func (d *Document) RedoName() (name message.Message, ok bool) { return lastName(d.history.undone) }

// Steps returns the names of all steps in the history, oldest first. The first done of them are in effect; the others
// were undone.
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

// GoTo undoes or redoes steps until the first done steps of those that Steps lists are in effect; done is clamped. It
// first ends an open stroke.
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

// HistoryVersion changes whenever the result of Steps does.
func (d *Document) HistoryVersion() uint64 { return d.history.version }

// HistoryBytes returns the memory that the history takes, an estimate, and the most that it may take, in bytes.
func (d *Document) HistoryBytes() (used, budget int64) { return d.history.bytes, d.history.budget }

func lastName(steps []*step) (message.Message, bool) {
	if len(steps) == 0 {
		return message.Message{}, false
	}
	return steps[len(steps)-1].name.Context("step"), true
}
