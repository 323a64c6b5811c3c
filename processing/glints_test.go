package processing

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"blik/processing/internal/span"
)

// slowGlints computes connectGlints pixel by pixel.
func slowGlints(plane []uint8, w, h int) (kept []uint8, glints []glint) {
	sure := make([]bool, len(plane))
	for {
		grew := false
		spread(plane, w, h, func(i, j int) {
			if plane[i] > 0 && plane[j] > 0 && !sure[i] && (plane[i] > glintOffset || sure[j]) {
				sure[i], grew = true, true
			}
		})
		if !grew {
			break
		}
	}
	kept = slices.Clone(plane)
	for i, v := range plane {
		if sure[i] && v <= glintInner {
			kept[i] = 0
		}
	}
	label := make([]int, len(plane))
	for i := range label {
		label[i] = i
	}
	for grew := true; grew; {
		grew = false
		spread(kept, w, h, func(i, j int) {
			if kept[i] > 0 && kept[j] > 0 && label[j] < label[i] {
				label[i], grew = label[j], true
			}
		})
	}
	number := map[int]int{}
	for i, v := range kept {
		if v == 0 {
			continue
		}
		if label[i] == i {
			number[i] = len(glints)
			glints = append(glints, glint{})
		}
		g := &glints[number[label[i]]]
		l := float64(v) / 16
		g.wide += l
		g.peak = max(g.peak, l)
		g.pixels++
		if l > glintFloor {
			g.strong += l - glintFloor
			g.sure++
		}
	}
	return kept, glints
}

// spread calls f for each pixel with itself and with each of its eight neighbours.
func spread(plane []uint8, w, h int, f func(i, j int)) {
	for i := range plane {
		for y := max(i/w-1, 0); y <= min(i/w+1, h-1); y++ {
			for x := max(i%w-1, 0); x <= min(i%w+1, w-1); x++ {
				f(i, y*w+x)
			}
		}
	}
}

func TestConnectGlints(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		g := rand.New(rand.NewPCG(seed, 7))
		w, h := 1+g.IntN(40), 1+g.IntN(20)
		plane := make([]uint8, w*h)
		for i := range plane {
			// Around the limits, and the extremes.
			plane[i] = []uint8{0, 0, 0, 1, glintInner, glintInner + 1, glintOffset, glintOffset + 1, 255}[g.IntN(5+int(seed%5))]
		}
		spans := span.Append(nil, plane, w, 0, h, 255)
		n := span.Connect(spans, span.Eight)
		got := connectGlints(spans, valuesOf(plane, w, spans), n)
		kept, glints := slowGlints(plane, w, h)
		if len(glints)+len(got.glints) > 0 && !reflect.DeepEqual(got.glints, glints) {
			t.Fatalf("seed %d: glints %v, want %v", seed, got.glints, glints)
		}
		want := span.Append(nil, kept, w, 0, h, 255)
		span.Connect(want, span.Eight)
		if len(want)+len(got.spans) > 0 && !reflect.DeepEqual(got.spans, want) {
			t.Fatalf("seed %d: spans %v, want %v", seed, got.spans, want)
		}
	}
}
