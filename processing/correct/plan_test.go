package correct_test

import (
	"context"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
)

// Sites that one thread corrects from beginning to end give the same result and the same stages as in batches on
// planes, whichever methods are mixed.
func TestPlansAgree(t *testing.T) {
	t.Parallel()
	check := func(name string, pic *processing.Picture, mask *processing.Mask, p processing.Params) {
		t.Helper()
		spots := processing.Spots(mask)
		for i := range spots {
			spots[i].Method = p.Method
			if i%5 == 3 {
				spots[i].Method = processing.MethodHarmonic
			}
		}
		for _, o := range []correct.Options{{}, {Spots: spots}} {
			got, err := correct.Correct(context.Background(), cpu.New(cpu.Workers(3)), pic, mask, p, o)
			if err != nil {
				t.Fatal(err)
			}
			want, err := correct.Correct(context.Background(), &counting{Backend: cpu.New()}, pic, mask, p, o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want.Patches {
				if !patchesEqual(&got.Patches[i], &want.Patches[i]) {
					t.Errorf("%s: patch %d differs", name, want.Patches[i].Spot)
				}
			}
			stages := map[string]bool{}
			for _, s := range got.Timings {
				stages[s.Name] = true
			}
			for _, s := range want.Timings {
				if !stages[s.Name] {
					t.Errorf("%s: no time for the stage %q", name, s.Name)
				}
			}
		}
	}
	kinds := []struct{ channels, depth int }{{3, 8}, {1, 16}, {4, 8}, {3, 32}}
	methods := []processing.Method{processing.MethodExemplar, processing.MethodHarmonic}
	if testpic.Race {
		kinds, methods = kinds[:1], methods[:1] // the goroutines are the same
	}
	for _, kind := range kinds {
		mask := discs(90, 70, 12, 4, 9)
		check("discs", texture(90, 70, kind.channels, kind.depth, mask, 3), mask, processing.DefaultParams())
	}
	_, glare, mask := veiledPainting(3, 8, 0.006)
	check("veils", glare, mask, processing.DefaultParams())
	crowd := denseMasks(64, 48)["squares"]
	for _, m := range methods {
		check("crowd", texture(64, 48, 3, 8, crowd, 5), crowd, with(m))
	}
}
