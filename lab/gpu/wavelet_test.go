//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"blik/lab/experiment"
)

// analysed is one level of a wavelet along a line of even length, by definition.
func analysed(wave *experiment.Wavelet, x []float64) []float64 {
	n := len(x)
	out := make([]float64, n)
	for i := range n / 2 {
		for k := range wave.Low {
			out[i] += wave.Low[k] * x[(2*i+k)%n]
			out[n/2+i] += wave.High[k] * x[(2*i+k)%n]
		}
	}
	return out
}

// analysedPicture does the rows and then the columns.
func analysedPicture(wave *experiment.Wavelet, x []float64, w, h int) []float64 {
	out := make([]float64, len(x))
	for y := range h {
		copy(out[y*w:], analysed(wave, x[y*w:(y+1)*w]))
	}
	column := make([]float64, h)
	for i := range w {
		for y := range h {
			column[y] = out[y*w+i]
		}
		for y, v := range analysed(wave, column) {
			out[y*w+i] = v
		}
	}
	return out
}

func nearly(t rapid.TB, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= tolerance) {
			t.Fatalf("%s: value %d is %v, want %v within %g", what, i, got[i], v, tolerance)
		}
	}
}

func TestWaveletTrials(t *testing.T) {
	x := experimentsOnGPU(t)
	variants := x.Variants("wavelet")
	if len(variants) != 6 {
		t.Fatalf("%d variants", len(variants))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := experiment.Line(rapid.OneOf(rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 7, 8, 256, 1024}),
			rapid.IntRange(1, 1200)).Draw(t, "length"))
		if rapid.Bool().Draw(t, "picture") {
			side := rapid.OneOf(rapid.SampledFrom([]int{1, 2, 3, 8, 64}), rapid.IntRange(1, 60))
			s = experiment.Size{W: side.Draw(t, "w"), H: side.Draw(t, "h")}
		}
		in := &experiment.Input{Size: s, F32: make([]float32, s.Samples())}
		for i, v := range noise[uint16](t, "points", s.Samples(), math.MaxUint16) {
			in.F32[i] = float32(v)/257 - 50
		}
		c := experiment.Case{Size: s, Values: map[string]string{
			"wavelet": rapid.SampledFrom([]string{"haar", "d4", "d8"}).Draw(t, "wavelet"),
			"threads": rapid.SampledFrom([]string{"32", "33", "64", "128", "512"}).Draw(t, "threads"),
			"results": rapid.SampledFrom([]string{"1", "2", "3", "5"}).Draw(t, "results"),
		}}
		size := experiment.Coefficients(s)
		there := make([]float64, size.Samples())
		for i, v := range experiment.Extended(in) {
			there[i] = float64(v)
		}
		wave, want := experiment.NewWavelet(c.Values["wavelet"]), []float64(nil)
		if s.H == 0 {
			want = analysed(wave, there)
		} else {
			want = analysedPicture(wave, there, size.W, size.H)
		}
		for _, index := range []string{"shift", "division"} {
			c.Values["index"] = index
			for _, v := range variants {
				c.Values["direction"] = "forward"
				nearly(t, v.ID+" "+index, trialOutput(t, x, v, in, c).F32, want, 255e-5)
				c.Values["direction"] = "inverse"
				nearly(t, v.ID+" "+index+" and back", trialOutput(t, x, v, in, c).F32, there, 255e-5)
			}
		}
	})
}

// Two variants prepared at the same time must not use each other's constants.
func TestWaveletTrialsTakeTurns(t *testing.T) {
	x := experimentsOnGPU(t)
	s := experiment.Line(100)
	in := &experiment.Input{Size: s, F32: make([]float32, 100)}
	line := make([]float64, 100)
	for i := range line {
		line[i] = float64(i * i % 37)
		in.F32[i] = float32(line[i])
	}
	v := x.Variants("wavelet")[5]
	wavelets := []string{"haar", "d8"}
	var runs []experiment.Runner
	for _, wavelet := range wavelets {
		c := experiment.Case{Size: s, Values: map[string]string{"wavelet": wavelet, "threads": "32", "results": "1",
			"index": "shift", "direction": "forward"}}
		// Prepared again, as by another Run of the experiment.
		run, err := x.Variants("wavelet")[5].Method.Prepare(background, in, c)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		runs = append(runs, run)
	}
	for i, run := range runs {
		if err := run.Run(background); err != nil {
			t.Fatal(err)
		}
		out, err := run.Output(background)
		if err != nil {
			t.Fatal(err)
		}
		nearly(t, v.ID+" "+wavelets[i], out.F32, analysed(experiment.NewWavelet(wavelets[i]), line), 1e-4)
	}
}

func TestWaveletMeasured(t *testing.T) {
	x := experimentsOnGPU(t)
	sizes := []experiment.Size{experiment.Line(1), experiment.Line(4099), {W: 121, H: 77}}
	values := map[string][]string{"wavelet": {"d8"}, "direction": {"forward", "inverse"}}
	measuredByFrame(t, x, "wavelet", experiment.Options{Sizes: sizes, Values: values}, 6*2*len(sizes))
}

// A block that would need more shared memory than exists leaves its row out, as does a device without memory.
func TestWaveletLeftOut(t *testing.T) {
	x := experimentsOnGPU(t)
	for _, s := range []experiment.Size{experiment.Line(100), {W: 10, H: 10}} {
		in := &experiment.Input{Size: s, F32: make([]float32, 100)}
		c := experiment.Case{Size: s, Values: map[string]string{"wavelet": "d4", "direction": "inverse",
			"index": "shift", "threads": "512", "results": "16"}}
		refused(t, x, x.Variants("wavelet")[1:], in, c)
		c.Values["results"] = "1"
		x.b.LimitMemory(1000)
		refused(t, x, x.Variants("wavelet"), in, c)
		x.b.LimitMemory(0)
	}
}

// The parts of a line follow each other without a gap, each a power of two if indices are shifted.
func TestWaveletParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 2 * rapid.IntRange(1, 1<<29).Draw(t, "half")
		y := &waveletWay{threads: 32, results: 1, count: 8}
		for _, inverse := range []bool{false, true} {
			at := uint32(0)
			parts := y.cut(n, false, inverse)
			for _, p := range parts {
				if p.first != at || bits.OnesCount32(p.tiles) != 1 || p.tiles != 1<<p.shift {
					t.Fatalf("part %+v after tile %d", p, at)
				}
				at += p.tiles
			}
			if tiles := (n/2 + 31) / 32; int(at) != tiles || len(parts) > waveletMaxParts/2 {
				t.Fatalf("%d tiles of %d, %d parts", at, tiles, len(parts))
			}
			if all := y.cut(n, true, inverse); len(all) != 1 || all[0].tiles != at {
				t.Fatalf("%+v", all)
			}
			if from := int(parts[0].from); inverse && (from+6)%n != 0 || !inverse && from != 0 {
				t.Fatalf("points begin at %d of %d", from, n)
			}
		}
	})
}
