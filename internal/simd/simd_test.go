package simd

import "testing"

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		processor Level
		forced    string
		want      Level
	}{
		{Plain, "", Plain}, {AVX2, "", AVX2}, {AVX512, "", AVX512},
		{AVX512, "plain", Plain}, {AVX512, "avx2", AVX2}, {AVX512, "avx512", AVX512},
		// What the processor lacks cannot be forced; a value that is not known forces the slowest.
		{AVX2, "avx512", AVX2}, {Plain, "avx512", Plain}, {AVX512, "AVX2", Plain},
	} {
		got := choose(c.processor, c.forced)
		if got.level != c.want {
			t.Errorf("a processor with %v and %q: %v, want %v", c.processor, c.forced, got.level, c.want)
		}
		if empty := got.why().IsZero(); built && empty != (got.level == AVX512) {
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
