package processing

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// whiteRules returns the rules of the classical detector and of the others.
func whiteRules(t *testing.T) (rules []whiteRule) {
	t.Helper()
	for _, id := range []string{RuleClassic, RuleJoined} {
		rule, ok := (&detector{ruleID: id, p: Params{Mode: Adaptive}}).whiteRule()
		if !ok {
			t.Fatalf("%s has no rule", id)
		}
		rules = append(rules, rule)
	}
	return rules
}

// slowlyExposed computes exposed pixel by pixel from its definition, for a picture of 8 bits and 3 channels.
func slowlyExposed(p *Picture, rule whiteRule) []uint8 {
	t := p.Tables()
	light := func(x, y, c int) int { return int(t.Linear8[p.U8[(y*p.Width+x)*3+c]]) }
	w, h := (p.Width+whiteSide-1)/whiteSide, (p.Height+whiteSide-1)/whiteSide
	// factor returns the factor of a square.
	factor := func(sx, sy int) int {
		highest, squares := 0, 0
		for ty := max(sy-rule.reach, 0); ty <= min(sy+rule.reach, h-1); ty++ {
			for tx := max(sx-rule.reach, 0); tx <= min(sx+rule.reach, w-1); tx++ {
				squares++
				for y := ty * whiteSide; y < min((ty+1)*whiteSide, p.Height); y++ {
					for x := tx * whiteSide; x < min((tx+1)*whiteSide, p.Width); x++ {
						highest = max(highest, light(x, y, 0), light(x, y, 1), light(x, y, 2))
					}
				}
			}
		}
		switch {
		case highest >= int(rule.enough) || squares < rule.least:
			return 4096
		case highest < white/5:
			highest = white / 5
		}
		return int(rule.target) * 4096 / highest
	}
	factors := make([]int, w*h)
	for i := range factors {
		factors[i] = factor(i%w, i/w)
	}
	out := make([]uint8, len(p.U8))
	for i := range out {
		x, y := i/3%p.Width, i/3/p.Width
		// The distance to the middle of a square in half pixels, weights in 1/64.
		k := 0
		for sy := -1; sy <= h; sy++ {
			for sx := -1; sx <= w; sx++ {
				dx, dy := 2*x+1-(2*sx+1)*whiteSide, 2*y+1-(2*sy+1)*whiteSide
				weight := max(2*whiteSide-max(dx, -dx), 0) * max(2*whiteSide-max(dy, -dy), 0)
				k += weight * factors[min(max(sy, 0), h-1)*w+min(max(sx, 0), w-1)]
			}
		}
		out[i] = t.Encode8[min((light(x, y, i%3)*k+1<<23)>>24, white)]
	}
	return out
}

func TestHighestOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint16(), 1, 60).Draw(t, "values")
		n := rapid.IntRange(1, len(values)).Draw(t, "n")
		var want []uint16
		for i := range len(values) - n + 1 {
			want = append(want, slices.Max(values[i:i+n]))
		}
		if got := highestOf(slices.Clone(values), n); !slices.Equal(got, want) {
			t.Fatalf("the maxima of %d of %v are %v, want %v", n, values, got, want)
		}
	})
}

func TestExposed(t *testing.T) {
	t.Parallel()
	r, rules := rand.New(rand.NewPCG(9, 10)), whiteRules(t)
	// A rule that small pictures satisfy.
	rules = append(rules, whiteRule{reach: 3, least: 5, enough: rules[1].enough, target: rules[1].target})
	for i, size := range [][2]int{{1, 1}, {2, 3}, {31, 33}, {97, 64}, {700, 40}, {20, 640}} {
		w, h := size[0], size[1]
		p := &Picture{Width: w, Height: h, Channels: 3, U8: make([]uint8, 3*w*h)}
		for k := range p.U8 {
			// Darker towards the end, with a few bright pixels.
			p.U8[k] = uint8(r.IntN(20 + 120*(len(p.U8)-k)/len(p.U8)))
			if r.IntN(3000) == 0 {
				p.U8[k] = uint8(100 + r.IntN(95))
			}
		}
		before := slices.Clone(p.U8)
		for _, rule := range rules {
			got, e, err := p.exposed(context.Background(), p.Tables(), rule, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Validate(); err != nil {
				t.Fatal(err)
			}
			want := slowlyExposed(p, rule)
			for k := range want {
				if got.U8[k] != want[k] {
					t.Fatalf("%d × %d: sample %d of %d became %d, want %d", w, h, k, p.U8[k], got.U8[k], want[k])
				}
			}
			again, _, err := p.exposed(context.Background(), p.Tables(), rule, e)
			if err != nil || !slices.Equal(again.U8, want) {
				t.Errorf("size %d: with known gains it becomes another picture; %v", i, err)
			}
			if !slices.Equal(before, p.U8) {
				t.Errorf("size %d: the picture itself was changed", i)
			}
		}
	}
}

// TestExposedAlike: samples of all kinds get the same light, and grey pictures that of grey colours.
func TestExposedAlike(t *testing.T) {
	t.Parallel()
	const w, h = 90, 70
	r := rand.New(rand.NewPCG(11, 12))
	deep := &Picture{Width: w, Height: h, Channels: 3, Transfer: TransferLinear}
	floats, inks := *deep, Picture{Width: w, Height: h, Channels: 4, Transfer: TransferLinear}
	grey := &Picture{Width: w, Height: h, Channels: 1, Transfer: TransferLinear}
	greys := *deep
	for range w * h {
		v := uint16(r.IntN(30000))
		grey.U16 = append(grey.U16, v)
		for range 3 {
			v := uint16(r.IntN(30000))
			deep.U16, floats.F32 = append(deep.U16, v), append(floats.F32, float32(float64(v)/65535))
			inks.U16 = append(inks.U16, 65535-v)
		}
		greys.U16, inks.U16 = append(greys.U16, v, v, v), append(inks.U16, 0)
	}
	expose := func(p *Picture) []uint16 {
		got, _, err := p.exposed(context.Background(), p.Tables(), whiteRules(t)[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Validate(); err != nil || got.U16 == nil {
			t.Fatalf("%+v: %v", got.Channels, err)
		}
		return got.U16
	}
	want := expose(deep)
	if slices.Equal(want, deep.U16) {
		t.Fatal("nothing was changed")
	}
	if !slices.Equal(expose(&floats), want) {
		t.Error("floats become something else than 16 bits")
	}
	if !slices.Equal(expose(&inks), want) {
		t.Error("inks become something else than colours")
	}
	single := expose(grey)
	for i, v := range expose(&greys) {
		if v != single[i/3] {
			t.Fatalf("sample %d: %d of a grey colour, %d of grey", i, v, single[i/3])
		}
	}
}

// TestExposedAsItIs: a picture with white everywhere nearby is left alone, so is a small one by most detectors, and a
// cancel is obeyed.
func TestExposedAsItIs(t *testing.T) {
	t.Parallel()
	dim := func(w, h int) *Picture {
		return &Picture{Width: w, Height: h, Channels: 3, U8: slices.Repeat([]uint8{40}, 3*w*h)}
	}
	changed := func(p *Picture, rule whiteRule) bool {
		got, e, err := p.exposed(context.Background(), p.Tables(), rule, nil)
		if err != nil || (got == p) != (e.gain == nil) {
			t.Fatalf("%p of %p, gains %v, %v", got, p, e.gain, err)
		}
		return got != p
	}
	rules := whiteRules(t)
	// Linear light: 195 is 0.546, 196 is 0.552; 189 is 0.509, 190 is 0.515.
	for i, c := range []struct {
		p      *Picture
		enough uint8
	}{{dim(300, 200), 196}, {dim(1056, 1024), 190}} {
		for _, sample := range []uint8{40, c.enough - 1, c.enough, 255} {
			c.p.U8[3*(100*c.p.Width+150)] = sample
			if got, want := changed(c.p, rules[i]), sample < c.enough; got != want {
				t.Errorf("rule %d: a picture whose white is %d is changed: %t", i, sample, got)
			}
		}
	}
	if changed(dim(992, 1024), rules[1]) {
		t.Error("less than a megapixel is changed")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := dim(300, 200).exposed(ctx, dim(300, 200).Tables(), rules[0], nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}
