package cpu

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
	"blik/processing"
)

// The sweeps for three channels, and those of Harmonic, give the same bits as those pixel by pixel.
func TestSweepsKeepTheirBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 6).Draw(t, "h")
		level := rapid.SampledFrom([]simd.Level{simd.Plain, simd.Chosen()}).Draw(t, "level")
		work := &worker{ctx: t.Context()}
		state := rapid.SliceOfN(rapid.SampledFrom([]uint8{processing.StateKnown, processing.StateUnclipped,
			processing.StateClipped}), w*h, w*h).Draw(t, "state")
		state[rapid.IntRange(0, w*h-1).Draw(t, "paint")] = processing.StateKnown
		o := holeOf(work, state, w, h)
		number := rapid.Float32Range(0, 2)
		if rapid.Bool().Draw(t, "extremes") {
			number = rapid.SampledFrom([]float32{0, 1e-30, 1e-3, 1, 1e15, 1e25})
		}
		draw := func(name string) []float32 { return rapid.SliceOfN(number, w*h, w*h).Draw(t, name) }
		m := processing.Separation{Noise: 3e-5, Mismatch: 0.5, Sweeps: 3}
		slow := veil{hole: o, n: 3, m: &m, light: draw("light"), expected: make([]float32, w*h)}
		slow.state = state
		fast := slow
		fast.light, fast.expected = slices.Clone(slow.light), make([]float32, w*h)
		for k := range 3 {
			slow.paint[k], slow.seen[k] = draw("paint"), draw("seen")
			fast.paint[k], fast.seen[k] = slices.Clone(slow.paint[k]), slow.seen[k]
			for i := range 3 {
				m.Axes[k][i] = rapid.Float32Range(-1, 1).Draw(t, "axis")
			}
			m.Light[k] = rapid.Float32Range(-1, 1).Draw(t, "colour")
			m.Variance[k] = rapid.Float32Range(2e-6, 1).Draw(t, "variance")
		}
		for i := range slow.expected {
			slow.expected[i] = rapid.SampledFrom([]float32{3e-4, 0.1, 1, 1e9}).Draw(t, "expected")
		}
		fast.expected = slow.expected
		for range 3 {
			for _, j := range slow.index {
				slow.update(int(j))
			}
		}
		if !fast.separate(work, level, processing.Tile{W: w, H: h}) {
			t.Fatal("the tile is not worked on")
		}
		same := func(what string, got, want []float32) {
			for i, x := range want {
				if y := got[i]; x != y && (x == x || y == y) {
					t.Fatalf("%s of pixel %d: %g, not %g", what, i, y, x)
				}
			}
		}
		for k := range 3 {
			same("paint", fast.paint[k], slow.paint[k])
		}
		same("light", fast.light, slow.light)

		p, omega := draw("plane"), rapid.Float32Range(1, 2).Draw(t, "omega")
		q, part := slices.Clone(p), reciprocals()
		for range 3 {
			for _, j := range o.index {
				sum, k := o.around(q, int(j))
				q[j] += float32(omega * (float32(sum*part[k]) - q[j]))
			}
		}
		work.grid.Reset(level, state, w, h, false)
		work.grid.Harmonic(p, omega, 3, work.stopped)
		same("harmonic", p, q)
	})
}
