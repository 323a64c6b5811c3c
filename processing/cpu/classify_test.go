package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
	"blik/processing"
	"blik/processing/cpu/kernel"
)

// near draws a plane a little above another one, so that every threshold is met from both sides.
func near(t *rapid.T, y []uint16) []uint16 {
	s := noise[uint16](t, len(y), math.MaxUint16)
	if rapid.Bool().Draw(t, "near") {
		for i, v := range s {
			s[i] = uint16(max(0, int(y[i])-int(v%5)+1))
		}
	}
	return s
}

func TestContrast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		y := noise[uint16](t, w*h, math.MaxUint16)
		bg, v := near(t, y), noise[uint8](t, w*h, math.MaxUint8)
		small := rapid.OneOf(rapid.Uint16Range(0, 4), rapid.Uint16())
		rule := processing.ContrastRule{
			Absolute:     small.Draw(t, "absolute"),
			Relative:     rapid.OneOf(rapid.Uint32Range(0, 1<<17), rapid.Uint32()).Draw(t, "relative"),
			SeedAbsolute: small.Draw(t, "seed absolute"),
			SeedRelative: rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32Range(0, 1<<17),
				rapid.Uint32()).Draw(t, "seed relative"),
			SeedLevel: rapid.Uint8().Draw(t, "level"),
		}
		cls, seed := make([]uint8, w*h), make([]uint16, w*h)
		for i := range y {
			d := int64(y[i]) - int64(bg[i])
			if d > int64(rule.Absolute) && d*65536 > int64(rule.Relative)*int64(bg[i]) {
				cls[i] = processing.ClassWide
				strong := rule.SeedRelative == 0 || d*65536 > int64(rule.SeedRelative)*(65535-int64(bg[i]))
				if d > int64(rule.SeedAbsolute) && strong && v[i] >= rule.SeedLevel {
					cls[i] |= processing.ClassSeed
					seed[i] = uint16(d)
				}
			}
		}
		each(t, func(b *Backend) {
			l, g, e := up(t, b, w, h, y), up(t, b, w, h, bg), up(t, b, w, h, v)
			c, s := empty(t, b, processing.U8, w, h), empty(t, b, processing.U16, w, h)
			must(t, b.Do(context.Background(), processing.Contrast{
				Class: c, Seed: s, Y: l, Background: g, V: e, Rule: rule,
			}))
			wantEqual(t, "class", w, down[uint8](t, c), cls)
			wantEqual(t, "seed", w, down[uint16](t, s), seed)
			release(l, g, e, c, s)
		})
	})
}

// Every threshold, met exactly and exceeded by one.
func TestContrastEdges(t *testing.T) {
	const wide, seed = processing.ClassWide, processing.ClassWide | processing.ClassSeed
	for _, c := range []struct {
		y, b uint16
		v    uint8
		rule processing.ContrastRule
		want uint8
	}{
		{110, 100, 9, processing.ContrastRule{Absolute: 10, SeedAbsolute: 65535}, 0},
		{111, 100, 9, processing.ContrastRule{Absolute: 10, SeedAbsolute: 65535}, wide},
		{200, 100, 9, processing.ContrastRule{Relative: 65536, SeedAbsolute: 65535}, 0},
		{201, 100, 9, processing.ContrastRule{Relative: 65536, SeedAbsolute: 65535}, wide},
		{150, 100, 9, processing.ContrastRule{SeedAbsolute: 50}, wide},
		{151, 100, 9, processing.ContrastRule{SeedAbsolute: 50}, seed},
		{65435, 65335, 9, processing.ContrastRule{SeedRelative: 32768}, wide},
		{65436, 65335, 9, processing.ContrastRule{SeedRelative: 32768}, seed},
		{150, 100, 9, processing.ContrastRule{SeedLevel: 10}, wide},
		{150, 100, 10, processing.ContrastRule{SeedLevel: 10}, seed},
		{65535, 0, 255, processing.ContrastRule{Absolute: 65534, Relative: 1<<32 - 1, SeedAbsolute: 65534,
			SeedLevel: 255}, seed},
		{100, 101, 255, processing.ContrastRule{}, 0},
	} {
		cls, s := []uint8{9}, []uint16{9}
		plain := kernel.Of(simd.Plain)
		plain.Contrast(cls, s, []uint16{c.y}, []uint16{c.b}, []uint8{c.v}, c.rule)
		contrasts := uint16(0)
		if c.want == seed {
			contrasts = c.y - c.b
		}
		if cls[0] != c.want || s[0] != contrasts {
			t.Errorf("y %d, b %d, v %d, %+v: class %d and contrast %d, want %d and %d", c.y, c.b, c.v, c.rule, cls[0],
				s[0], c.want, contrasts)
		}
	}
}

func TestCores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		y := noise[uint16](t, w*h, math.MaxUint16)
		bg, m := near(t, y), noise[uint16](t, w*h, math.MaxUint16)
		cls := noise[uint8](t, w*h, math.MaxUint8)
		for i := range cls {
			// Seeds are wide; the other bits do not concern Cores and must stay.
			if cls[i] &= 0xf3; cls[i]&processing.ClassSeed != 0 {
				cls[i] |= processing.ClassWide
			}
		}
		if rapid.Bool().Draw(t, "peaks near") {
			for i := range m {
				m[i] = uint16(max(0, int(y[i])-int(bg[i])))
			}
		}
		share := rapid.OneOf(rapid.Uint32Range(0, 1<<16), rapid.Just(uint32(1<<16)), rapid.Uint32())
		rule := processing.CoreRule{Core: share.Draw(t, "core"), Grow: share.Draw(t, "grow")}
		want := make([]uint8, w*h)
		for i := range want {
			want[i] = cls[i]
			d := max(0, int64(y[i])-int64(bg[i])) * 65536
			if cls[i]&processing.ClassSeed != 0 && d >= int64(rule.Core)*int64(m[i]) {
				want[i] |= processing.ClassCore
			}
			if cls[i]&processing.ClassWide != 0 && d > int64(rule.Grow)*int64(m[i]) {
				want[i] |= processing.ClassGrow
			}
		}
		each(t, func(b *Backend) {
			c, l, g, p := up(t, b, w, h, cls), up(t, b, w, h, y), up(t, b, w, h, bg), up(t, b, w, h, m)
			must(t, b.Do(context.Background(), processing.Cores{Class: c, Y: l, Background: g, Peak: p, Rule: rule}))
			wantEqual(t, workersLabel(b), w, down[uint8](t, c), want)
			release(c, l, g, p)
		})
	})
}

func TestDifferenceThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		y := noise[uint16](t, w*h, math.MaxUint16)
		bg, v := near(t, y), noise[uint8](t, w*h, math.MaxUint8)
		over := rapid.OneOf(rapid.Uint16Range(0, 4), rapid.Uint16()).Draw(t, "over")
		level := rapid.Uint8().Draw(t, "level")
		want := make([]uint8, w*h)
		for i := range want {
			if int(y[i])-int(bg[i]) > int(over) && v[i] >= level {
				want[i] = 255
			}
		}
		each(t, func(b *Backend) {
			l, g, e := up(t, b, w, h, y), up(t, b, w, h, bg), up(t, b, w, h, v)
			d := empty(t, b, processing.U8, w, h)
			must(t, b.Do(context.Background(), processing.DifferenceThreshold{
				Dst: d, Y: l, Background: g, V: e, Over: over, Level: level,
			}))
			wantEqual(t, workersLabel(b), w, down[uint8](t, d), want)
			release(l, g, e, d)
		})
	})
}
