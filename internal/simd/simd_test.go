package simd

import (
	"math"
	"slices"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	plain, avx2 := []Level{Plain}, []Level{Plain, AVX2}
	desktop := append(avx2[:2:2], AVXVNNI)
	server, newer := append(avx2[:2:2], AVX512), append(desktop[:3:3], AVX512, VNNI)
	for _, c := range []struct {
		processor []Level
		forced    string
		want      Level
	}{
		{plain, "", Plain}, {avx2, "", AVX2}, {desktop, "", AVXVNNI}, {server, "", AVX512}, {newer, "", VNNI},
		{server, "plain", Plain}, {server, "avx2", AVX2}, {server, "avx512", AVX512}, {newer, "vnni", VNNI},
		{newer, "avx512", AVX512}, {newer, "avxvnni", AVXVNNI}, {desktop, "avx2", AVX2},
		// A level that the processor lacks cannot be forced; an unknown value forces the slowest.
		{avx2, "avx512", AVX2}, {plain, "avx512", Plain}, {server, "AVX2", Plain}, {server, "avxvnni", AVX2},
		{desktop, "avx512", AVXVNNI}, {server, "vnni", AVX512},
	} {
		got := choose(c.processor, c.forced)
		if got.level != c.want {
			t.Errorf("a processor with %v and %q: %v, want %v", c.processor, c.forced, got.level, c.want)
		}
		if empty := got.why().IsZero(); built && empty != (got.level == VNNI) {
			t.Errorf("a processor with %v and %q runs %v: %q", c.processor, c.forced, got.level, got.why())
		}
	}
}

func TestChosen(t *testing.T) {
	t.Parallel()
	got, levels := Chosen(), Levels()
	if got != Chosen() || got != levels[len(levels)-1] || levels[0] != Plain || !slices.IsSorted(levels) {
		t.Errorf("%v was chosen of %v", got, levels)
	}
}

func TestExp(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.Inf(-1), -800, -1, 0, 1e-300, 0.5, 1, 710, math.Inf(1)} {
		if got, want := Exp(x), math.Exp(x); got != want {
			t.Errorf("exp(%g) is %g, want %g", x, got, want)
		}
	}
	if got := Exp(math.NaN()); got == got {
		t.Errorf("exp of no number is %g", got)
	}
}

// BenchmarkExp shows what interruptions of a loop cost on this processor.
func BenchmarkExp(b *testing.B) {
	for name, exp := range map[string]func(float64) float64{"math": math.Exp, "simd": Exp} {
		b.Run(name, func(b *testing.B) {
			s := 0.0
			for i := range b.N {
				s += exp(float64(i & 7))
			}
			if s < 0 {
				b.Fatal(s)
			}
		})
	}
}
