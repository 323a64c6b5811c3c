package processing_test

import (
	"testing"

	"blik/internal/testpic"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/score"
	"blik/processing/synth"
)

// enlarged returns an 8-bit picture at n times its size, interpolated linearly, and its truth.
func enlarged(pic *processing.Picture, truth *processing.Mask, n int) (*processing.Picture, *processing.Mask) {
	out := &processing.Picture{Width: n * pic.Width, Height: n * pic.Height, Channels: pic.Channels}
	large := processing.NewMask(out.Width, out.Height)
	// between returns the two samples between which a place lies, and how far it is from the first, in 1/(2n).
	between := func(at, size int) (a, b, share int) {
		at = 2*at + 1 - n
		return max(at, 0) / (2 * n), min((at+2*n)/(2*n), size-1), max(at, 0) % (2 * n)
	}
	unit := 2 * n
	for y := range out.Height {
		y0, y1, v := between(y, pic.Height)
		for x := range out.Width {
			x0, x1, u := between(x, pic.Width)
			large.Pix[y*out.Width+x] = truth.Pix[y/n*truth.Width+x/n]
			for c := range pic.Channels {
				at := func(x, y int) int { return int(pic.U8[(y*pic.Width+x)*pic.Channels+c]) }
				sum := (unit-v)*((unit-u)*at(x0, y0)+u*at(x1, y0)) + v*((unit-u)*at(x0, y1)+u*at(x1, y1))
				out.U8 = append(out.U8, uint8((sum+unit*unit/2)/(unit*unit)))
			}
		}
	}
	return out, large
}

// TestFindsEnlargedGlare enlarges a picture four times, as a scan of higher resolution would: the glints are found in
// the reduced pictures.
func TestFindsEnlargedGlare(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	glare.Density *= 4
	pic, _, truth, _, err := generate(480, 360, 8, 6, glare)
	if err != nil {
		t.Fatal(err)
	}
	pic, truth = enlarged(pic, truth, 4)
	res := detect(t, pic, processing.DefaultParams(), processing.Options{})
	be := cpu.New()
	defer be.Close()
	cands, err := processing.Candidates(t.Context(), be, pic, processing.DefaultParams(), processing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	alone := processing.NewMask(pic.Width, pic.Height)
	largest := processing.DefaultParams().MaxArea
	for _, c := range cands {
		area := 0
		for _, r := range c.Runs {
			area += r.X1 - r.X0
		}
		if c.Reduced || c.Score < 0 || area > largest {
			continue
		}
		for _, r := range c.Runs {
			for x := r.X0; x < r.X1; x++ {
				alone.Pix[r.Y*pic.Width+x] = 255
			}
		}
	}
	with, without := score.Compare(res.Mask, truth, 1), score.Compare(alone, truth, 1)
	t.Logf("at every size %.3f of the glints, F1 %.3f; at full size alone %.3f, %.3f", with.ObjR, with.F1, without.ObjR,
		without.F1)
	if with.ObjR < 0.9 || with.F1 < 0.8 || with.F1 < without.F1+0.1 {
		t.Errorf("reduced pictures help too little")
	}
	reduced := 0
	for _, f := range res.Findings {
		for _, r := range f.Reasons {
			if r.Aspect == processing.AspectReduced {
				reduced++
			}
		}
	}
	if reduced == 0 {
		t.Error("no finding says that it was found at a reduced size")
	}
}

// TestCardIsNotGlare lays a white card and a white label on black cloth over a part of a painting with glare. Both are
// too large for the search at full size, and look like glints at a quarter of it. Glints beside them are found.
func TestCardIsNotGlare(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	glare.Density *= 4
	pic, _, truth, _, err := generate(720, 480, 8, 6, glare)
	if err != nil {
		t.Fatal(err)
	}
	draw := func(x0, y0, w, h int, level uint8) {
		for y := y0; y < y0+h; y++ {
			for x := x0; x < x0+w; x++ {
				truth.Pix[y*pic.Width+x] = 0
				copy(pic.U8[3*(y*pic.Width+x):], []uint8{level, level, level})
			}
		}
	}
	const cloth = 480
	draw(cloth, 0, 240, 480, 20)
	draw(520, 60, 150, 110, 255)
	draw(540, 260, 50, 180, 235)
	mask := detect(t, pic, processing.DefaultParams(), processing.Options{}).Mask
	wrong := 0
	for y := range pic.Height {
		for x := cloth + 16; x < pic.Width; x++ {
			if mask.Pix[y*pic.Width+x] != 0 {
				wrong++
				mask.Pix[y*pic.Width+x] = 0
			}
		}
	}
	got := score.Compare(mask, truth, 1)
	t.Logf("%d pixels on the cloth; %.3f of the glints beside it", wrong, got.ObjR)
	if wrong > 50 {
		t.Errorf("%d pixels of card, label and cloth count as glare", wrong)
	}
	if got.ObjR < 0.9 {
		t.Errorf("%.3f of the glints were found", got.ObjR)
	}
}
