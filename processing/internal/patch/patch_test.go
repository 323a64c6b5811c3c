package patch

import (
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
)

// Costs below the limit equal those of a loop over the pixels, for places of any step.
func TestCostsAreThoseOfALoop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const reach = 2
		w, h := rapid.IntRange(2*reach+1, 40).Draw(t, "w"), rapid.IntRange(2*reach+1, 9).Draw(t, "h")
		step, ch := rapid.IntRange(1, 5).Draw(t, "step"), rapid.IntRange(1, 4).Draw(t, "channels")
		number := rapid.Float32Range(0, 1)
		pix := make([][]float32, ch)
		for k := range pix {
			pix[k] = rapid.SliceOfN(number, w*h, w*h).Draw(t, "pix")
		}
		var list []int32
		for y := reach; y < h-reach; y++ {
			for x := reach; x < w-reach; x++ {
				if x%step == 0 && rapid.Bool().Draw(t, "place") {
					list = append(list, int32(y*w+x))
				}
			}
		}
		type pixel struct {
			dx, dy int
			value  [4]float32
			weight float32
		}
		var pixels []pixel
		var patch Patch
		patch.Reset(ch)
		for dy := -reach; dy <= reach; dy++ {
			for dx := -reach; dx <= reach; dx++ {
				p := pixel{dx: dx, dy: dy, weight: number.Draw(t, "weight")}
				for k := range ch {
					p.value[k] = number.Draw(t, "value")
				}
				pixels = append(pixels, p)
				patch.Add(dx, dy, &p.value, p.weight)
			}
		}
		limit := rapid.Float32Range(0, 10).Draw(t, "limit")
		for _, level := range []simd.Level{simd.Plain, min(simd.AVX2, simd.Chosen()), simd.Chosen()} {
			places, compare := NewPlaces(pix, w, h, step, list), NewComparer(level)
			offsets := patch.Offsets(places, h, nil)
			var seen []int32
			for _, g := range places.Groups() {
				var got [Lanes]float32
				compare.Costs(&got, &patch, places, g, offsets, limit)
				for k, v := range got {
					if g.Mask>>k&1 == 0 {
						continue
					}
					at := places.Place(g, k)
					seen = append(seen, at)
					var want float32
					for _, p := range pixels {
						var square float32
						for c := range ch {
							d := pix[c][int(at)+p.dy*w+p.dx] - p.value[c]
							square += float32(d * d)
						}
						want += float32(p.weight * square)
					}
					if v != want && (v < limit || want < limit) {
						t.Fatalf("%v: place %d costs %g, not %g; the limit is %g", level, at, v, want, limit)
					}
				}
			}
			if len(seen) != len(list) {
				t.Fatalf("%d places, not %d", len(seen), len(list))
			}
			for i, at := range seen {
				if at != list[i] {
					t.Fatalf("place %d is %d, not %d", i, at, list[i])
				}
			}
		}
	})
}
