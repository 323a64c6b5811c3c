// Package consent decides what a correction may change that nobody watches: on the command line, of many files, on a
// farm. It may not import a window.
package consent

import (
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Choose returns the part of a mask that may be corrected without anyone watching, and the findings that are left to a
// person: those in pieces of the mask with a finding that needs a check, unless the parameters permit all. It returns
// the mask itself if nothing is left. If more of the picture is marked than the parameters permit, the error says so.
func Choose(mask *processing.Mask, found []detect.Finding, p processing.Params) (
	chosen *processing.Mask, left []detect.Finding, err error,
) {
	marked := 100 * float64(mask.Area()) / float64(max(len(mask.Pix), 1))
	if marked > p.Coverage {
		return nil, nil, message.Errorf("%.1f %% of the picture is marked, more than the %g %% that may be corrected "+
			"without anyone watching; look at it, or permit more (Largest coverage, --coverage)", marked, p.Coverage)
	}
	if p.Consent == processing.ConsentAll {
		return mask, nil, nil
	}
	// The pieces of the mask, row by row.
	type piece struct {
		x0, x1, spot int
	}
	spots := processing.Spots(mask)
	rows := make([][]piece, mask.Height)
	for i, s := range spots {
		for _, r := range s.Runs {
			rows[r.Y] = append(rows[r.Y], piece{r.X0, r.X1, i})
		}
	}
	// spotsOf calls do for the pieces that hold a pixel of a finding.
	spotsOf := func(f *detect.Finding, do func(spot int)) {
		for _, r := range f.Runs {
			for _, k := range rows[r.Y] {
				if k.x0 < r.X1 && r.X0 < k.x1 {
					do(k.spot)
				}
			}
		}
	}
	alone := make([]bool, len(spots))
	for i := range found {
		if found[i].Check {
			spotsOf(&found[i], func(spot int) { alone[spot] = true })
		}
	}
	for i := range found {
		is := found[i].Check
		spotsOf(&found[i], func(spot int) { is = is || alone[spot] })
		if is {
			left = append(left, found[i])
		}
	}
	if len(left) == 0 {
		return mask, nil, nil
	}
	chosen = &processing.Mask{Width: mask.Width, Height: mask.Height, Pix: append([]uint8(nil), mask.Pix...)}
	for i, s := range spots {
		if !alone[i] {
			continue
		}
		for _, r := range s.Runs {
			clear(chosen.Pix[r.Y*mask.Width+r.X0 : r.Y*mask.Width+r.X1])
		}
	}
	return chosen, left, nil
}
