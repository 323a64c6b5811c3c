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
)

// BeginStroke starts a stroke of the brush.
func (s *Session) BeginStroke(b document.Brush, at processing.Point) {
	s.painted(s.doc.BeginStroke(b, at.X, at.Y))
}

// StrokeTo paints on.
func (s *Session) StrokeTo(at processing.Point) { s.painted(s.doc.StrokeTo(at.X, at.Y)) }

// EndStroke makes the stroke one step of the history.
func (s *Session) EndStroke() {
	s.doc.EndStroke()
	s.publish(Other, image.Rectangle{})
}

// CancelStroke takes the stroke back.
func (s *Session) CancelStroke() { s.publish(Other, s.doc.CancelStroke()) }

// painted shows a piece of a stroke; what follows from it is found when the stroke ends.
func (s *Session) painted(pixels image.Rectangle) {
	s.notify(Change{Pixels: pixels.Union(s.doc.Dropped())})
}

// Region returns the search region, nil for the whole picture.
func (s *Session) Region() *processing.Region {
	if s.doc == nil {
		return nil
	}
	return s.doc.Region()
}

// SetRegion changes the search region; the error is processing.ErrRegionOutside where it lies beside the picture.
func (s *Session) SetRegion(r *processing.Region) error {
	err := s.doc.SetRegion(r)
	s.publish(Other, image.Rectangle{})
	return err
}

// Steps reports whether there is a step to undo, and one to redo.
func (s *Session) Steps() (undo, redo bool) {
	if s.doc == nil {
		return false, false
	}
	_, undo = s.doc.UndoName()
	_, redo = s.doc.RedoName()
	return undo, redo
}

// Undo takes back the last step and returns its name; ok is false where there is none.
func (s *Session) Undo() (name message.Message, ok bool) {
	return s.stepped(s.doc.UndoName, s.doc.Undo)
}

// Redo repeats the step undone last and returns its name; ok is false where there is none.
func (s *Session) Redo() (name message.Message, ok bool) {
	return s.stepped(s.doc.RedoName, s.doc.Redo)
}

// History returns the names of the steps that are kept, the oldest first, and how many of them are done.
func (s *Session) History() (names []message.Message, done int) {
	if s.doc == nil {
		return nil, 0
	}
	return s.doc.Steps()
}

// GoTo undoes or redoes steps until so many of the history are done.
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

// InvertMask makes glare of the background and the other way round, in the search region if there is one.
func (s *Session) InvertMask() {
	s.settle()
	s.publish(Other, s.doc.InvertMask())
}

// ClearMask empties the mask.
func (s *Session) ClearMask() {
	s.settle()
	s.publish(Other, s.doc.ClearMask())
}

// FillShape changes the mask by a shape; the error is processing.ErrRegionOutside where it lies beside the picture.
func (s *Session) FillShape(r *processing.Region, how document.Combine) error {
	s.settle()
	pixels, err := s.doc.FillShape(r, how)
	s.publish(Other, pixels)
	return err
}

// GrowMask widens the mask by a pixel, in the search region if there is one.
func (s *Session) GrowMask() {
	s.settle()
	s.publish(Other, s.doc.GrowMask())
}

// ShrinkMask narrows it by a pixel.
func (s *Session) ShrinkMask() {
	s.settle()
	s.publish(Other, s.doc.ShrinkMask())
}

// FillHoles marks the holes of the mask, in the search region if there is one.
func (s *Session) FillHoles() {
	s.settle()
	s.publish(Other, s.doc.FillHoles())
}

// Select selects a finding of the mask.
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

// RemoveSelected takes the selected finding out of the mask: it is ignored.
func (s *Session) RemoveSelected() (ok bool) { return s.decide(s.selectedOnly(), s.doc.Ignore) }

// RemoveCorrection brings back the original at the selected finding.
func (s *Session) RemoveCorrection() (ok bool) {
	if at, selected := s.doc.SelectedPixel(); selected {
		ok = s.doc.RemoveCorrection(at.X, at.Y)
	}
	s.publish(Other, image.Rectangle{})
	return ok
}

// RemoveCorrections brings back the original everywhere.
func (s *Session) RemoveCorrections() (ok bool) {
	ok = s.doc.ClearCorrections()
	s.publish(Other, image.Rectangle{})
	return ok
}

// Toggled is what Toggle did.
type Toggled uint8

// What Toggle and Touch can do; Marked is only done by Touch.
const (
	Unchanged Toggled = iota
	Removed
	Restored
	Marked
)

// Toggle takes the finding at a place out of the mask, or puts back one that the last detection found there. Findings
// within the slack around the place count as hit.
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

// touchSlack is the largest distance from which Touch finds a glint, in pixels of the picture.
const touchSlack = 12

// touched is what Touch marked last: the pixel that was clicked, and one of the glint that was found there.
type touched struct {
	doc        *document.Document
	at, marked image.Point
}

// Touch marks the glint at a place or within the slack, grown by the rule of detection, and selects it; a finding of
// the mask at the very place is removed instead, and so is what the last call marked from there, which may lie beside.
// The error is processing.ErrNoGlint where there is neither.
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
	o := processing.TouchOptions{X: at.X, Y: at.Y, Slack: min(slack, touchSlack), Taken: s.doc.Mask()}
	if s.memory.Serves(s.doc.Picture(), s.detectedWith, s.settings.Params) {
		o.Memory = s.memory
	}
	// It is a few thousand pixels: the way to another device would take longer.
	be := cpu.New()
	glint, err := processing.Touch(context.Background(), be, s.doc.Picture(), s.settings.Params, o)
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

// Hit reports whether Toggle would do something.
func (s *Session) Hit(at processing.Point, slack float64) bool {
	_, _, ok := s.hit(at, slack)
	return ok
}

// hit returns a pixel of the finding under a place, or of the nearest one within the slack. It is in the mask, or was
// taken out of it.
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

// nearest returns the index of the box nearest to a point and no further than slack, or −1. Of boxes that contain the
// point the smallest wins, so that the box of a large finding does not hide a small one.
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
