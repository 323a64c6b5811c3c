package editor

import (
	"context"
	"errors"
	"image"
	"math"

	"blik/app/document"
	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// Editor changes the mask and the search region of the open picture, and undoes and redoes steps.
type Editor struct {
	s *session.Session
	// touched is what Touch marked last.
	touched touched
}

func New(s *session.Session) *Editor { return &Editor{s: s} }

// BeginStroke starts a brush stroke.
func (e *Editor) BeginStroke(b document.Brush, at processing.Point) {
	e.painted(e.s.Document().BeginStroke(b, at.X, at.Y))
}

// StrokeTo continues the stroke to a point of the picture.
func (e *Editor) StrokeTo(at processing.Point) { e.painted(e.s.Document().StrokeTo(at.X, at.Y)) }

// EndStroke adds the stroke to the history as one step.
func (e *Editor) EndStroke() {
	e.s.Document().EndStroke()
	e.s.Publish(session.Other, image.Rectangle{})
}

// CancelStroke removes what the stroke painted.
func (e *Editor) CancelStroke() { e.s.Publish(session.Other, e.s.Document().CancelStroke()) }

// painted reports a piece of a stroke. Everything else that changes is reported when the stroke ends.
func (e *Editor) painted(pixels image.Rectangle) {
	e.s.Notify(session.Change{Pixels: pixels.Union(e.s.Document().Dropped())})
}

// Region returns the search region, or nil for the whole picture.
func (e *Editor) Region() *processing.Region {
	if e.s.Document() == nil {
		return nil
	}
	return e.s.Document().Region()
}

// SetRegion sets the search region; nil is the whole picture. The error is processing.ErrRegionOutside if the region
// lies outside the picture.
func (e *Editor) SetRegion(r *processing.Region) error {
	err := e.s.Document().SetRegion(r)
	e.s.Publish(session.Other, image.Rectangle{})
	return err
}

// Steps reports whether there are steps to undo and to redo.
func (e *Editor) Steps() (undo, redo bool) {
	if e.s.Document() == nil {
		return false, false
	}
	_, undo = e.s.Document().UndoName()
	_, redo = e.s.Document().RedoName()
	return undo, redo
}

// Undo undoes the last step and returns its name; ok is false if there is none. Together with the mask of a detection,
// Undo, Redo and GoTo bring back the parameters that it was asked with.
func (e *Editor) Undo() (name message.Message, ok bool) {
	return e.stepped(e.s.Document().UndoName, e.s.Document().Undo)
}

// Redo repeats the step that was undone last and returns its name; ok is false if there is none.
func (e *Editor) Redo() (name message.Message, ok bool) {
	return e.stepped(e.s.Document().RedoName, e.s.Document().Redo)
}

// History returns the names of the steps, oldest first. The first done of them are in effect.
func (e *Editor) History() (names []message.Message, done int) {
	if e.s.Document() == nil {
		return nil, 0
	}
	return e.s.Document().Steps()
}

// GoTo undoes or redoes steps until the first done steps of the history are in effect.
func (e *Editor) GoTo(done int) {
	e.stepped(e.s.Document().UndoName, func() (image.Rectangle, bool) { return e.s.Document().GoTo(done), true })
}

// stepped takes a step of the history, whose name it returns, and sets the parameters that the detection then in effect
// was asked with, if that is another one than before.
func (e *Editor) stepped(name func() (message.Message, bool), step func() (image.Rectangle, bool)) (
	message.Message, bool,
) {
	e.s.Settle()
	text, _ := name()
	was := e.s.Document().Result()
	pixels, ok := step()
	if ok {
		if r := e.s.Document().Result(); r != nil && r != was {
			e.s.Settings().Params = session.AskedWith(e.s.Settings().Params, r)
		}
		e.s.Publish(session.Stepped, pixels)
	}
	return text, ok
}

func (e *Editor) change(do func(*document.Document) image.Rectangle) {
	e.s.Settle()
	e.s.Publish(session.Other, do(e.s.Document()))
}

// InvertMask inverts the mask, only inside the search region if one is set.
func (e *Editor) InvertMask() { e.change((*document.Document).InvertMask) }

// ClearMask empties the mask.
func (e *Editor) ClearMask() { e.change((*document.Document).ClearMask) }

// Forget takes back all that the user marked, erased and decided. ok is false if there is nothing to forget.
func (e *Editor) Forget() (ok bool) {
	e.s.Settle()
	pixels, ok := e.s.Document().Forget()
	e.s.Publish(session.Other, pixels)
	return ok
}

// FillShape combines the mask with a shape. The error is processing.ErrRegionOutside if the shape lies outside the
// picture.
func (e *Editor) FillShape(r *processing.Region, how document.Combine) error {
	e.s.Settle()
	pixels, err := e.s.Document().FillShape(r, how)
	e.s.Publish(session.Other, pixels)
	return err
}

// GrowMask grows the mask by one pixel, only inside the search region if one is set.
func (e *Editor) GrowMask() { e.change((*document.Document).GrowMask) }

// ShrinkMask shrinks the mask by one pixel, in the same way.
func (e *Editor) ShrinkMask() { e.change((*document.Document).ShrinkMask) }

// FillHoles marks the holes of the mask, only inside the search region if one is set.
func (e *Editor) FillHoles() { e.change((*document.Document).FillHoles) }

// Toggled is what Toggle did.
type Toggled uint8

// What Toggle and Touch can do. Only Touch returns Marked.
const (
	Unchanged Toggled = iota
	Removed
	Restored
	Marked
)

// Toggle removes the finding at a point from the mask, or restores one that the last detection found there. It also
// hits findings whose bounding boxes are at most slack pixels away.
func (e *Editor) Toggle(at processing.Point, slack float64) Toggled {
	pixel, inMask, ok := e.hit(at, slack)
	if !ok {
		return Unchanged
	}
	change, did := e.s.Document().RestoreSpot, Restored
	if inMask {
		change, did = e.s.Document().RemoveSpot, Removed
	}
	pixels, ok := change(pixel.X, pixel.Y)
	if !ok {
		return Unchanged
	}
	e.s.Publish(session.Other, pixels)
	return did
}

// touchSlack is the largest distance of a click from the glint that Touch marks, in pixels of the picture.
const touchSlack = 12

// touched holds the pixel that was last clicked with Touch, and a pixel of the glint that it marked.
type touched struct {
	doc        *document.Document
	at, marked image.Point
}

// Touch marks the glint at a point, or at most slack pixels away, by the rules of detection, and selects it. If a
// finding of the mask contains the point, Touch removes it instead. It also removes what the last call marked from the
// same pixel, because that glint may lie beside it. The error is detect.ErrNoGlint if there is neither.
func (e *Editor) Touch(at processing.Point, slack float64) (Toggled, error) {
	e.s.Settle()
	pixel := image.Pt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
	place, last := pixel, e.touched
	if e.touched = (touched{}); last.doc == e.s.Document() && last.at == pixel {
		place = last.marked
	}
	for _, p := range []image.Point{pixel, place} {
		if _, ok := e.s.Document().SpotAt(p.X, p.Y); ok {
			pixels, _ := e.s.Document().RemoveSpot(p.X, p.Y)
			e.s.Publish(session.Other, pixels)
			return Removed, nil
		}
	}
	o := detect.TouchOptions{X: at.X, Y: at.Y, Slack: min(slack, touchSlack), Taken: e.s.Document().Mask()}
	if e.s.Settings().Params.UsesNetwork() {
		o.Table = e.s.Table()
	}
	// Use the CPU: for a few thousand pixels, transfers to a GPU would take longer.
	be := cpu.New()
	glint, err := detect.Touch(context.Background(), be, e.s.Document().Picture().Visible(), e.s.Settings().Params, o)
	if err := errors.Join(err, be.Close()); err != nil {
		return Unchanged, err
	}
	pixels, err := e.s.Document().MarkGlint(glint)
	if err == nil {
		e.touched = touched{e.s.Document(), pixel, image.Pt(glint.Runs[0].X0, glint.Runs[0].Y)}
		e.s.Document().Select(e.touched.marked.X, e.touched.marked.Y)
	}
	e.s.Publish(session.Other, pixels)
	return Marked, err
}

// Hit reports whether Toggle would hit a finding.
func (e *Editor) Hit(at processing.Point, slack float64) bool {
	_, _, ok := e.hit(at, slack)
	return ok
}

// hit returns a pixel of the finding at a point, or of the nearest one at most slack pixels away. inMask says whether
// it is in the mask; otherwise it was removed.
func (e *Editor) hit(at processing.Point, slack float64) (pixel image.Point, inMask, ok bool) {
	if e.s.Document() == nil {
		return image.Point{}, false, false
	}
	pixel = image.Pt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
	if _, ok := e.s.Document().SpotAt(pixel.X, pixel.Y); ok {
		return pixel, true, true
	}
	if _, ok := e.s.Document().DetectedAt(pixel.X, pixel.Y); ok {
		return pixel, false, true
	}
	var boxes []image.Rectangle
	var pixels []image.Point
	inside := e.s.Document().Spots()
	for _, f := range inside {
		boxes, pixels = append(boxes, f.Bounds()), append(pixels, e.s.Document().FirstPixel(f))
	}
	for _, f := range e.s.Document().Findings() {
		if len(f.Runs) == 0 {
			continue
		}
		first := image.Pt(f.Runs[0].X0, f.Runs[0].Y)
		if _, ok := e.s.Document().SpotAt(first.X, first.Y); !ok {
			boxes = append(boxes, image.Rect(f.Left, f.Top, f.Left+f.Width, f.Top+f.Height))
			pixels = append(pixels, first)
		}
	}
	i := nearest(boxes, at, slack)
	if i < 0 {
		return image.Point{}, false, false
	}
	return pixels[i], i < len(inside), true
}

// nearest returns the index of the box nearest to a point, at most slack away, or −1. Of several at the same distance
// it returns the smallest, so that a large finding does not hide a small one in its box.
func nearest(boxes []image.Rectangle, at processing.Point, slack float64) int {
	best, bestDistance, bestArea := -1, slack, math.MaxInt
	for i, b := range boxes {
		dx := max(0, float64(b.Min.X)-at.X, at.X-float64(b.Max.X))
		dy := max(0, float64(b.Min.Y)-at.Y, at.Y-float64(b.Max.Y))
		d, area := math.Hypot(dx, dy), b.Dx()*b.Dy()
		if d < bestDistance || d == bestDistance && area < bestArea {
			best, bestDistance, bestArea = i, d, area
		}
	}
	return best
}
