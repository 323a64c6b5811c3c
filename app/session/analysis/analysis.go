package analysis

import (
	"context"
	"errors"
	"image"
	"image/draw"

	"blik/app/document"
	"blik/app/session"
	"blik/app/thumbnail"
	"blik/app/view"
	"blik/processing"
)

// Masks reads masks; store.Files implements it.
type Masks interface {
	ReadMask(ctx context.Context, path string, w, h int, anyPicture bool) (*processing.Mask, error)
}

// Analysis computes layers of detection, histograms and close-ups of the open picture, and compares its mask with
// another one.
type Analysis struct {
	s      *session.Session
	engine session.Engine
	masks  Masks
	// inspecting computes layers and counting histograms, in parallel with the session's job.
	inspecting, counting latest
	// trying computes trials, of which the last ones are kept.
	trying latest
	tried  trial
	trials []image.Image
	// compared is the mask to compare with, nil for none; told is that of the last Change.
	compared, told *compared
}

func New(s *session.Session, e session.Engine, masks Masks) *Analysis {
	a := &Analysis{s: s, engine: e, masks: masks}
	a.inspecting.jobs, a.counting.jobs, a.trying.jobs = s.Beside(), s.Beside(), s.Beside()
	s.AddModule(session.Module{Changed: a.changed, Close: func(ctx context.Context) error {
		return errors.Join(a.inspecting.jobs.Close(ctx), a.counting.jobs.Close(ctx), a.trying.jobs.Close(ctx))
	}})
	return a
}

func (a *Analysis) changed(c *session.Change) {
	if c.Document {
		a.compared, a.tried, a.trials = nil, trial{}, nil
	}
	c.Compared = a.compared != a.told
	a.told = a.compared
}

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
