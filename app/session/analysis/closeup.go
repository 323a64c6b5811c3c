package analysis

import (
	"image"
	"image/draw"

	"blik/app/document"
	"blik/app/session"
	"blik/app/thumbnail"
	"blik/app/view"
	"blik/processing"
)

// closeupZoom is the largest zoom of close-ups.
const closeupZoom = 2

// Closeups returns pictures of a finding with its surroundings, upright and in screen colours, of at most side × side
// pixels: of the original, and of the corrected picture, which is nil if the finding is not corrected. The zoom is 200
// %, or less if the finding would not fit. Around the picture is the grey of the viewport.
func (a *Analysis) Closeups(f document.Spot, side int) (before, after image.Image) {
	area, of := around(f.Bounds(), max(side/closeupZoom, f.Width, f.Height)), a.s.Shown()
	before = closeup(of, of.Doc.Crop(area, false), area, side)
	if f.State != document.Uncorrected && f.Decision != document.Ignored {
		after = closeup(of, of.Doc.Crop(area, true), area, side)
	}
	return before, after
}

// closeup returns a close-up of an area, of which part is what lies within the picture; nil if nothing does.
func closeup(of session.Open, part *processing.Picture, area image.Rectangle, side int) image.Image {
	all := image.NewNRGBA(image.Rectangle{Max: area.Size()})
	draw.Draw(all, all.Rect, image.NewUniform(view.Surround()), image.Point{}, draw.Src)
	if part != nil {
		at := area.Intersect(image.Rectangle{Max: of.Doc.Size()}).Min.Sub(area.Min)
		for y := range part.Height {
			thumbnail.Row(all, at.Y+y, at.X, part, of.Screen, y, 0, part.Width)
		}
	}
	return thumbnail.Upright(thumbnail.Enlarge(all, closeupZoom, side), of.Original.Orientation)
}

// around returns the square with the given side around the centre of a rectangle.
func around(r image.Rectangle, side int) image.Rectangle {
	corner := image.Pt((r.Min.X+r.Max.X)/2-side/2, (r.Min.Y+r.Max.Y)/2-side/2)
	return image.Rectangle{corner, corner.Add(image.Pt(side, side))}
}
