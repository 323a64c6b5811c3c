package analysis

import (
	"context"
	"errors"
	"image"

	"blik/app/document"
	"blik/processing"
	"blik/processing/correct"
)

// trial identifies what Try computes: equal trials give equal pictures.
type trial struct {
	doc    *document.Document
	mask   uint64
	spot   int
	params processing.Params
	side   int
	// beside are the methods of the other findings in the pictures.
	beside string
}

// errNoSpot is the error of a finding that is not in the mask.
var errNoSpot = errors.New("the finding is not in the mask")

// Try makes close-ups of a finding corrected by each method, in the order of the methods and with the current
// parameters, in parallel with other work; for side see Closeups. The findings around it are corrected by their own
// methods. The last close-ups are kept. It cancels an earlier Try; for done see Inspect.
func (a *Analysis) Try(f document.Spot, side int, done func([]image.Image, error)) {
	doc, params := a.s.Document(), a.s.Settings().Params
	area := around(f.Bounds(), max(side/closeupZoom, f.Width, f.Height))
	var beside []document.Spot
	var methods []byte
	for _, s := range doc.Spots() {
		if s.ID != f.ID && s.Bounds().Overlaps(area) {
			beside, methods = append(beside, s), append(methods, byte(s.Asked))
		}
	}
	of := trial{doc, doc.Generation(), f.ID, processing.Params{}.WithStage(processing.StageCorrection, params),
		side, string(methods)}
	if a.tried == of {
		done(a.trials, nil)
		return
	}
	shown, shot := a.s.Shown(), doc.Snapshot()
	runLatest(a.s, &a.trying, func(ctx context.Context, report processing.Progress) ([]image.Image, error) {
		mask := shot.Mask()
		// These have the same IDs as the findings of the document.
		all := processing.Spots(mask)
		if f.ID < 1 || f.ID > len(all) {
			return nil, errNoSpot
		}
		var wanted []processing.Spot
		for _, m := range processing.Methods() {
			spot := all[f.ID-1]
			spot.Method = m
			wanted = append(wanted, spot)
		}
		tries := len(wanted)
		for _, s := range beside {
			spot := all[s.ID-1]
			spot.Method = s.Asked
			wanted = append(wanted, spot)
		}
		r, _, err := a.engine.Correct(ctx, shot.Picture, mask, params, correct.Options{Spots: wanted, Progress: report})
		if err != nil {
			return nil, err
		}
		within := area.Intersect(image.Rectangle{Max: image.Pt(mask.Width, mask.Height)})
		made := make([]image.Image, tries)
		for i := range made {
			part := shot.Picture.Part(within.Min.X, within.Min.Y, within.Dx(), within.Dy())
			for j := range r.Patches {
				if j == i || j >= tries {
					r.Patches[j].ApplyWithin(part, within.Min.X, within.Min.Y)
				}
			}
			made[i] = closeup(shown, part, area, side)
		}
		return made, ctx.Err()
	}, nil, func(made []image.Image, err error) {
		if err == nil {
			a.tried, a.trials = of, made
		}
		done(made, err)
	})
}

// StopTrying cancels Try.
func (a *Analysis) StopTrying() { a.trying.cancel() }
