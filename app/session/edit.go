package session

import (
	"context"
	"errors"
	"image"
	"math"

	"blik/app/document"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// BeginStroke starts a brush stroke.
func (s *Session) BeginStroke(b document.Brush, at processing.Point) {
	s.painted(s.doc.BeginStroke(b, at.X, at.Y))
}

// StrokeTo continues the stroke to a point of the picture.
func (s *Session) StrokeTo(at processing.Point) { s.painted(s.doc.StrokeTo(at.X, at.Y)) }

// EndStroke adds the stroke to the history as one step.
func (s *Session) EndStroke() {
	s.doc.EndStroke()
	s.publish(Other, image.Rectangle{})
}

// CancelStroke removes what the stroke painted.
func (s *Session) CancelStroke() { s.publish(Other, s.doc.CancelStroke()) }

// painted reports a piece of a stroke. Everything else that changes is reported when the stroke ends.
func (s *Session) painted(pixels image.Rectangle) {
	s.notify(Change{Pixels: pixels.Union(s.doc.Dropped())})
}

// Region returns the search region, or nil for the whole picture.
func (s *Session) Region() *processing.Region {
	if s.doc == nil {
		return nil
	}
	return s.doc.Region()
}

// SetRegion sets the search region; nil is the whole picture. The error is processing.ErrRegionOutside if the region
// lies outside the picture.
func (s *Session) SetRegion(r *processing.Region) error {
	err := s.doc.SetRegion(r)
	s.publish(Other, image.Rectangle{})
	return err
}

// Steps reports whether there are steps to undo and to redo.
func (s *Session) Steps() (undo, redo bool) {
	if s.doc == nil {
		return false, false
	}
	_, undo = s.doc.UndoName()
	_, redo = s.doc.RedoName()
	return undo, redo
}

// Undo undoes the last step and returns its name; ok is false if there is none.
func (s *Session) Undo() (name message.Message, ok bool) {
	return s.stepped(s.doc.UndoName, s.doc.Undo)
}

// Redo repeats the step that was undone last and returns its name; ok is false if there is none.
func (s *Session) Redo() (name message.Message, ok bool) {
	return s.stepped(s.doc.RedoName, s.doc.Redo)
}

// History returns the names of the steps, oldest first. The first done of them are in effect.
func (s *Session) History() (names []message.Message, done int) {
	if s.doc == nil {
		return nil, 0
	}
	return s.doc.Steps()
}

// GoTo undoes or redoes steps until the first done steps of the history are in effect.
func (s *Session) GoTo(done int) {
	s.settle()
	s.publish(Stepped, s.doc.GoTo(done))
}

func (s *Session) stepped(name func() (message.Message, bool), step func() (image.Rectangle, bool)) (
	message.Message, bool,
) {
	s.settle()
	text, _ := name()
	pixels, ok := step()
	if ok {
		s.publish(Stepped, pixels)
	}
	return text, ok
}

// InvertMask inverts the mask, only inside the search region if one is set.
func (s *Session) InvertMask() {
	s.settle()
	s.publish(Other, s.doc.InvertMask())
}

// ClearMask empties the mask.
func (s *Session) ClearMask() {
	s.settle()
	s.publish(Other, s.doc.ClearMask())
}

// FillShape combines the mask with a shape. The error is processing.ErrRegionOutside if the shape lies outside the
// picture.
func (s *Session) FillShape(r *processing.Region, how document.Combine) error {
	s.settle()
	pixels, err := s.doc.FillShape(r, how)
	s.publish(Other, pixels)
	return err
}

// GrowMask grows the mask by one pixel, only inside the search region if one is set.
func (s *Session) GrowMask() {
	s.settle()
	s.publish(Other, s.doc.GrowMask())
}

// ShrinkMask shrinks the mask by one pixel, in the same way.
func (s *Session) ShrinkMask() {
	s.settle()
	s.publish(Other, s.doc.ShrinkMask())
}

// FillHoles marks the holes of the mask, only inside the search region if one is set.
func (s *Session) FillHoles() {
	s.settle()
	s.publish(Other, s.doc.FillHoles())
}

// Select selects a finding.
func (s *Session) Select(f document.Spot) {
	s.doc.SelectSpot(f)
	s.publish(Other, image.Rectangle{})
}

// Selected returns the selected finding.
func (s *Session) Selected() (f document.Spot, ok bool) {
	if s.doc == nil {
		return document.Spot{}, false
	}
	return s.doc.Selected()
}

// RemoveSelected removes the selected finding from the mask, so that it counts as ignored.
func (s *Session) RemoveSelected() (ok bool) { return s.decide(s.selectedOnly(), s.doc.Ignore) }

// RemoveCorrection restores the original at the selected finding.
func (s *Session) RemoveCorrection() (ok bool) {
	if at, selected := s.doc.SelectedPixel(); selected {
		ok = s.doc.RemoveCorrection(at.X, at.Y)
	}
	s.publish(Other, image.Rectangle{})
	return ok
}

// RemoveCorrections restores the original everywhere.
func (s *Session) RemoveCorrections() (ok bool) {
	ok = s.doc.ClearCorrections()
	s.publish(Other, image.Rectangle{})
	return ok
}

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
func (s *Session) Toggle(at processing.Point, slack float64) Toggled {
	pixel, inMask, ok := s.hit(at, slack)
	if !ok {
		return Unchanged
	}
	change, did := s.doc.RestoreSpot, Restored
	if inMask {
		change, did = s.doc.RemoveSpot, Removed
	}
	pixels, ok := change(pixel.X, pixel.Y)
	if !ok {
		return Unchanged
	}
	s.publish(Other, pixels)
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
func (s *Session) Touch(at processing.Point, slack float64) (Toggled, error) {
	s.settle()
	pixel := image.Pt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
	place, last := pixel, s.touched
	if s.touched = (touched{}); last.doc == s.doc && last.at == pixel {
		place = last.marked
	}
	for _, p := range []image.Point{pixel, place} {
		if _, ok := s.doc.SpotAt(p.X, p.Y); ok {
			pixels, _ := s.doc.RemoveSpot(p.X, p.Y)
			s.publish(Other, pixels)
			return Removed, nil
		}
	}
	o := detect.TouchOptions{X: at.X, Y: at.Y, Slack: min(slack, touchSlack), Taken: s.doc.Mask()}
	if s.settings.Params.UsesNetwork() {
		o.Table = s.table
	}
	// Use the CPU: for a few thousand pixels, transfers to a GPU would take longer.
	be := cpu.New()
	glint, err := detect.Touch(context.Background(), be, s.doc.Picture().Visible(), s.settings.Params, o)
	if err := errors.Join(err, be.Close()); err != nil {
		return Unchanged, err
	}
	pixels, err := s.doc.MarkGlint(glint)
	if err == nil {
		s.touched = touched{s.doc, pixel, image.Pt(glint.Runs[0].X0, glint.Runs[0].Y)}
		s.doc.Select(s.touched.marked.X, s.touched.marked.Y)
	}
	s.publish(Other, pixels)
	return Marked, err
}

// Hit reports whether Toggle would hit a finding.
func (s *Session) Hit(at processing.Point, slack float64) bool {
	_, _, ok := s.hit(at, slack)
	return ok
}

// hit returns a pixel of the finding at a point, or of the nearest one at most slack pixels away. inMask says whether
// it is in the mask; otherwise it was removed.
func (s *Session) hit(at processing.Point, slack float64) (pixel image.Point, inMask, ok bool) {
	if s.doc == nil {
		return image.Point{}, false, false
	}
	pixel = image.Pt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
	if _, ok := s.doc.SpotAt(pixel.X, pixel.Y); ok {
		return pixel, true, true
	}
	if _, ok := s.doc.DetectedAt(pixel.X, pixel.Y); ok {
		return pixel, false, true
	}
	var boxes []image.Rectangle
	var pixels []image.Point
	inside := s.doc.Spots()
	for _, f := range inside {
		boxes, pixels = append(boxes, f.Bounds()), append(pixels, s.doc.FirstPixel(f))
	}
	for _, f := range s.doc.Findings() {
		if len(f.Runs) == 0 {
			continue
		}
		first := image.Pt(f.Runs[0].X0, f.Runs[0].Y)
		if _, ok := s.doc.SpotAt(first.X, first.Y); !ok {
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
