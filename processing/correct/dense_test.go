package correct_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
)

// counting counts the pixels of the tiles that operations work on.
type counting struct {
	processing.Backend
	pixels int
}

func (b *counting) Do(ctx context.Context, op processing.Op) error {
	var tiles []processing.Tile
	switch o := op.(type) {
	case processing.Harmonic:
		tiles = o.Tiles
	case processing.Separate:
		tiles = o.Tiles
	case processing.Detail:
		tiles = o.Tiles
	}
	for _, t := range tiles {
		b.pixels += t.W * t.H
	}
	return b.Backend.Do(ctx, op)
}

// marked returns a mask of the pixels for which f holds.
func marked(w, h int, f func(x, y int) bool) *processing.Mask {
	m := processing.NewMask(w, h)
	for i := range m.Pix {
		if f(i%w, i/w) {
			m.Pix[i] = 255
		}
	}
	return m
}

// denseMasks are masks of every density: single pixels, noise, lines, blocks.
func denseMasks(w, h int) map[string]*processing.Mask {
	masks := map[string]*processing.Mask{
		"checkerboard": marked(w, h, func(x, y int) bool { return (x+y)%2 == 0 }),
		"lines":        marked(w, h, func(_, y int) bool { return y%2 == 0 }),
		"thin lines":   marked(w, h, func(x, _ int) bool { return x%6 == 0 }),
		"squares":      marked(w, h, func(x, y int) bool { return x%16 < 13 && y%16 < 13 }),
		"block":        marked(w, h, func(x, y int) bool { return x > w/8 && x < w*7/8 && y > h/8 && y < h*7/8 }),
	}
	for _, step := range []int{2, 3, 5} {
		masks[fmt.Sprintf("every %d", step)] = marked(w, h, func(x, y int) bool { return x%step == 0 && y%step == 0 })
	}
	for _, percent := range []int{1, 5, 20, 40, 60} {
		rnd := rand.New(rand.NewPCG(uint64(percent), 1))
		masks[fmt.Sprintf("noise of %d %%", percent)] = marked(w, h, func(int, int) bool {
			return rnd.IntN(100) < percent
		})
	}
	return masks
}

// The work grows with the mask, however dense it is: four times the pixels take four times the pixels of windows, and
// no pixel of the mask takes more than those of its own window.
func TestCrowdedSpotsTakeLinearTime(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	small, large := denseMasks(128, 96), denseMasks(256, 192)
	for name, m := range small {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := func(m *processing.Mask) int {
				be := &counting{Backend: cpu.New()}
				pic := texture(m.Width, m.Height, 1, 8, m, 3)
				if _, err := correct.Correct(context.Background(), be, pic, m, with(processing.MethodHarmonic),
					correct.Options{}); err != nil {
					t.Fatal(err)
				}
				return be.pixels
			}
			one, four := work(m), work(large[name])
			each := float64(four) / float64(large[name].Area())
			t.Logf("%d pixels of windows for %d of the mask, %d for %d: %.1f each", one, m.Area(), four,
				large[name].Area(), each)
			if float64(four) > 5*float64(one) {
				t.Errorf("four times the mask takes %.1f times the work", float64(four)/float64(one))
			}
			// Two operations on windows of 19 × 19 pixels.
			if each > 2*19*19 {
				t.Errorf("%.0f pixels of windows for each pixel of the mask", each)
			}
		})
	}
}

// Crowded spots are corrected as well as the paint between them allows. Like all spots, each is corrected the same
// whichever others are corrected with it.
func TestCrowdedSpots(t *testing.T) {
	t.Parallel()
	const w, h = 150, 130
	clean := texture(w, h, 3, 16, nil, 4)
	masks := denseMasks(w, h)
	names := []string{"every 3", "checkerboard", "lines", "every 2", "noise of 5 %", "noise of 40 %"}
	if testpic.Race {
		names = names[:1] // the goroutines are the same
	}
	for _, name := range names {
		mask := masks[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			glare := clonePicture(clean)
			for i, v := range mask.Pix {
				for k := range 3 {
					if v != 0 {
						setValue(glare, 3*i+k, min(1, value(clean, 3*i+k)+0.3+0.3*float64(i%5)/4))
					}
				}
			}
			p := processing.DefaultParams()
			got, all := correctOn(t, glare, mask, p, correct.Options{})
			before := measured(t, glare, clean, mask)
			after := measured(t, got, clean, mask)
			t.Logf("PSNR %.1f → %.1f", before.PSNR, after.PSNR)
			if after.PSNR < before.PSNR+12 {
				t.Errorf("PSNR %.1f → %.1f", before.PSNR, after.PSNR)
			}
			spots := processing.Spots(mask)
			step := max(1, len(spots)/3)
			for i := 0; i < len(spots); i += step {
				_, one := correctOn(t, glare, mask, p, correct.Options{Spots: spots[i : i+1]})
				if !patchesEqual(&one.Patches[0], &all.Patches[i]) {
					t.Errorf("spot %d differs when it is corrected alone", i+1)
				}
			}
		})
	}
}

func TestCrowdedSpotsOfSeveralMethods(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	mask := denseMasks(90, 80)["every 3"]
	pic := texture(90, 80, 3, 8, mask, 5)
	spots := processing.Spots(mask)
	for i := range spots {
		spots[i].Method = processing.Methods()[i%len(processing.Methods())]
	}
	// The same spot twice gives two patches.
	spots = append(spots, spots[7])
	_, mixed := correctOn(t, pic, mask, processing.DefaultParams(), correct.Options{Spots: spots})
	if !patchesEqual(&mixed.Patches[7], &mixed.Patches[len(spots)-1]) {
		t.Error("the same spot, asked for twice, comes out in two ways")
	}
	for i := range 8 {
		_, one := correctOn(t, pic, mask, processing.DefaultParams(), correct.Options{Spots: spots[i : i+1]})
		if !patchesEqual(&one.Patches[0], &mixed.Patches[i]) {
			t.Errorf("%s: the spot differs when it is corrected alone", spots[i].Method.ID())
		}
	}
}

func TestCorrectAccountsForMemory(t *testing.T) {
	t.Parallel()
	mask := denseMasks(90, 80)["every 3"]
	pic := texture(90, 80, 3, 8, mask, 5)
	_, err := correct.Correct(context.Background(), cpu.New(), pic, mask, processing.DefaultParams(),
		correct.Options{Memory: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "GiB of memory") {
		t.Errorf("correction within 1 MiB: %v", err)
	}
}

// BenchmarkCrowdedSpots prints the time per pixel of the mask (µs/px) for masks of every density and every method on
// 256 × 192 pixels, by the clock and with all processors. -benchtime 3x is enough.
func BenchmarkCrowdedSpots(b *testing.B) {
	const w, h = 256, 192
	masks := denseMasks(w, h)
	for _, name := range slices.Sorted(maps.Keys(masks)) {
		mask := masks[name]
		pic := texture(w, h, 3, 8, mask, 5)
		for _, m := range processing.Methods() {
			b.Run(name+"/"+m.ID(), func(b *testing.B) {
				be := cpu.New()
				for b.Loop() {
					if _, err := correct.Correct(b.Context(), be, pic, mask, with(m),
						correct.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(mask.Area()), "µs/px")
			})
		}
	}
}
