package simd

import (
	"math"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		processor Level
		forced    string
		want      Level
	}{
		{Plain, "", Plain}, {AVX2, "", AVX2}, {AVX512, "", AVX512},
		{AVX512, "plain", Plain}, {AVX512, "avx2", AVX2}, {AVX512, "avx512", AVX512},
		{VNNI, "", VNNI}, {VNNI, "vnni", VNNI}, {VNNI, "avx512", AVX512}, {AVX512, "vnni", AVX512},
		// A level that the processor lacks cannot be forced; an unknown value forces the slowest.
		{AVX2, "avx512", AVX2}, {Plain, "avx512", Plain}, {AVX512, "AVX2", Plain},
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
	if got := Chosen(); got > processor() || got != Chosen() {
		t.Errorf("%v was chosen on a processor with %v", got, processor())
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
