package correct

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
	"blik/processing/internal/relax"

	"blik/processing"
)

// The loops for three channels give the same bits as the general ones.
func TestStrokesOfThreeChannelsKeepTheirBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 12).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		number := rapid.Float32Range(0, 2)
		if rapid.Bool().Draw(t, "extremes") {
			number = rapid.SampledFrom([]float32{0, 1e-30, 1e-3, 1, 1e15, 1e25})
		}
		draw := func(name string) []float32 { return rapid.SliceOfN(number, w*h, w*h).Draw(t, name) }
		s := &site{box: box{0, 0, w, h}, group: &group{}, thick: rapid.IntRange(0, 3).Draw(t, "thick"),
			state: rapid.SliceOfN(rapid.SampledFrom([]uint8{processing.StateKnown, processing.StateUnclipped, processing.StateClipped}), w*h, w*h).
				Draw(t, "state")}
		for range 3 {
			s.pix = append(s.pix, draw("paint"))
		}
		tool := &tools{level: rapid.SampledFrom([]simd.Level{simd.Plain, simd.Chosen()}).Draw(t, "level")}
		v := newLightSite(s)
		for k := range v.guess {
			copy(v.guess[k], draw("guess"))
			for i := range 3 {
				v.m.Axes[k][i] = rapid.Float32Range(-1, 1).Draw(t, "axis")
			}
			v.m.Light[k] = rapid.Float32Range(-1, 1).Draw(t, "colour")
			v.m.Variance[k] = rapid.Float32Range(2e-6, 1).Draw(t, "variance")
		}
		v.m.Sweeps, v.m.Noise, v.m.Mismatch = 3, sensorNoise, mismatch
		copy(v.light, draw("light"))
		for i := range v.expected {
			v.expected[i] = rapid.SampledFrom([]float32{least, 0.1, 1, 1e9}).Draw(t, "expected")
		}
		v.along = make(strokes, w*h)
		v.strokes(tool, v.along)
		list := v.gaps()

		wanted := clonePlanes(v.guess)
		for range v.sweeps(20, 1) {
			for _, part := range list {
				for _, p := range wanted {
					next := make([]float32, len(part))
					for n := range part {
						g := &part[n]
						next[n] = p[g.i] + float32(relax.StrokeStep*(g.mean(p, &v.along[g.i])-p[g.i]))
					}
					for n := range part {
						p[part[n].i] = next[n]
					}
				}
			}
		}
		v.continueStrokes(tool)
		checkBits(t, "guess", v.guess, wanted)

		slow := *v
		own := *s
		own.pix, slow.site, slow.light = clonePlanes(s.pix), &own, slices.Clone(v.light)
		for range slow.m.Sweeps {
			for _, part := range list {
				next := make([][5]float32, len(part))
				for n := range part {
					slow.separatePixel(&part[n], &next[n])
				}
				for n := range part {
					i := part[n].i
					for k, p := range slow.pix {
						p[i] += float32(relax.StrokeStep * (next[n][k] - p[i]))
					}
					slow.light[i] += float32(relax.StrokeStep * (next[n][4] - slow.light[i]))
				}
			}
		}
		v.refine(tool)
		checkBits(t, "paint", v.pix, slow.pix)
		checkBits(t, "light", [][]float32{v.light}, [][]float32{slow.light})
	})
}

func clonePlanes(p [][]float32) [][]float32 {
	out := make([][]float32, len(p))
	for k := range p {
		out[k] = slices.Clone(p[k])
	}
	return out
}

// checkBits compares planes; NaN equals NaN.
func checkBits(t *rapid.T, what string, got, want [][]float32) {
	t.Helper()
	for k := range want {
		for i, x := range want[k] {
			if y := got[k][i]; x != y && (x == x || y == y) {
				t.Fatalf("%s, channel %d, pixel %d: %g, not %g", what, k, i, y, x)
			}
		}
	}
}
