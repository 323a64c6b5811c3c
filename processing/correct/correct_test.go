package correct_test

import (
	"blik/internal/test/cancelling"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/message"
	"blik/internal/test/fidelity"
	"blik/internal/test/paintings"
	"blik/internal/test/testpic"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// every calls f for each method, depth and number of channels; in short runs, each method meets each depth and each
// number of channels once.
func every(t *testing.T, f func(t *testing.T, m processing.Method, depth, channels int)) {
	for i, m := range processing.Methods() {
		for j, depth := range []int{8, 16, 32} {
			for k, channels := range []int{1, 3, 4} {
				if testing.Short() && (i+j+k)%3 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s, %d bits, %d channels", m.ID(), depth, channels),
					func(t *testing.T) { f(t, m, depth, channels) })
			}
		}
	}
}

// blank returns a picture of one value per channel: level, 0…1, plus a little more for each further channel.
func blank(w, h, channels, depth int, level float64) *processing.Picture {
	p := &processing.Picture{Width: w, Height: h, Channels: channels}
	n := w * h * channels
	for i := range n {
		v := level + 0.0317*float64(i%channels)
		switch depth {
		case 8:
			p.U8 = append(p.U8, uint8(v*255))
		case 16:
			p.U16 = append(p.U16, uint16(v*65535))
		default:
			p.F32 = append(p.F32, float32(v))
		}
	}
	return p
}

// measured compares a corrected picture with the clean one around the glare.
func measured(t *testing.T, got, clean *processing.Picture, truth *processing.Mask) fidelity.Fidelity {
	t.Helper()
	f, err := fidelity.Measure(got, clean, truth, 3)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func clonePicture(p *processing.Picture) *processing.Picture {
	q := *p
	q.U8, q.U16, q.F32 = slices.Clone(p.U8), slices.Clone(p.U16), slices.Clone(p.F32)
	return &q
}

// value returns a sample on the scale 0…1.
func value(p *processing.Picture, i int) float64 {
	switch {
	case p.U8 != nil:
		return float64(p.U8[i]) / 255
	case p.U16 != nil:
		return float64(p.U16[i]) / 65535
	default:
		return float64(p.F32[i])
	}
}

func setValue(p *processing.Picture, i int, v float64) {
	switch {
	case p.U8 != nil:
		p.U8[i] = uint8(math.Min(math.Max(v, 0), 1)*255 + 0.5)
	case p.U16 != nil:
		p.U16[i] = uint16(math.Min(math.Max(v, 0), 1)*65535 + 0.5)
	default:
		p.F32[i] = float32(v)
	}
}

// discs marks n discs of the given radius at random places.
func discs(w, h, n int, radius float64, seed uint64) *processing.Mask {
	rnd := rand.New(rand.NewPCG(seed, 1))
	m := processing.NewMask(w, h)
	for range n {
		cx, cy := rnd.Float64()*float64(w), rnd.Float64()*float64(h)
		for y := max(0, int(cy-radius)); y <= min(h-1, int(cy+radius)); y++ {
			for x := max(0, int(cx-radius)); x <= min(w-1, int(cx+radius)); x++ {
				if math.Hypot(float64(x)+0.5-cx, float64(y)+0.5-cy) <= radius {
					m.Pix[y*w+x] = 255
				}
			}
		}
	}
	return m
}

// texture returns a picture with structure at several scales, and light under the mask.
func texture(w, h, channels, depth int, m *processing.Mask, seed uint64) *processing.Picture {
	p := blank(w, h, channels, depth, 0)
	rnd := rand.New(rand.NewPCG(seed, 2))
	for y := range h {
		for x := range w {
			base := 0.35 + 0.15*math.Sin(float64(x)/9) + 0.1*math.Cos(float64(y)/13+1) + 0.03*rnd.Float64()
			for k := range channels {
				v := base + 0.05*float64(k) + 0.01*rnd.Float64()
				if m != nil && m.Pix[y*w+x] != 0 {
					v += 0.3 + 0.6*rnd.Float64()
				}
				if channels == 4 {
					v = 1 - v
				}
				setValue(p, (y*w+x)*channels+k, math.Min(math.Max(v, 0), 1))
			}
		}
	}
	return p
}

func correctOn(t rapid.TB, pic *processing.Picture, m *processing.Mask, p processing.Params,
	o correct.Options) (*processing.Picture, *correct.Correction) {
	t.Helper()
	be := cpu.New()
	c, err := correct.Correct(context.Background(), be, pic, m, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := be.Live(); n != 0 {
		t.Fatalf("%d planes were not released", n)
	}
	out := clonePicture(pic)
	for i := range c.Patches {
		c.Patches[i].Apply(out)
	}
	return out, c
}

func with(m processing.Method) processing.Params {
	p := processing.DefaultParams()
	p.Method = m
	return p
}

func TestCorrectConstant(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	every(t, func(t *testing.T, m processing.Method, depth, channels int) {
		const w, h = 61, 47
		mask := discs(w, h, 3, 7, 5)
		mask.Pix[0], mask.Pix[w*h-1], mask.Pix[20*w+30] = 255, 255, 255
		want := blank(w, h, channels, depth, 0.4)
		pic := clonePicture(want)
		for i, v := range mask.Pix {
			for k := range channels {
				if v != 0 {
					light := 0.2 + 0.7*float64(i%7)/6
					if channels == 4 {
						light = -light
					}
					setValue(pic, i*channels+k, math.Min(math.Max(value(want, i*channels+k)+light, 0), 1))
				}
			}
		}
		got, _ := correctOn(t, pic, mask, with(m), correct.Options{})
		// Separating light leaves its noise; a float sample comes back from linear light with the rounding of both
		// curves.
		limit := 0.0
		if m == processing.MethodAuto || m == processing.MethodSubtract || m == processing.MethodExemplar {
			limit = 0.012
		} else if depth == 32 {
			limit = 1e-6
		}
		for i := range w * h * channels {
			if d := math.Abs(value(got, i) - value(want, i)); d > limit {
				t.Fatalf("sample %d is %g, want %g", i, value(got, i), value(want, i))
			}
		}
	})
}

// Paint that is already right must stay as it is, whatever the method.
func TestCorrectFalseFindingOnConstant(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	every(t, func(t *testing.T, m processing.Method, depth, channels int) {
		want := blank(50, 40, channels, depth, 0.3)
		got, _ := correctOn(t, want, discs(50, 40, 3, 6, 8), with(m), correct.Options{})
		limit := 0.0
		if depth == 32 {
			limit = 1e-6
		}
		for i := range 50 * 40 * channels {
			if d := math.Abs(value(got, i) - value(want, i)); d > limit {
				t.Fatalf("sample %d is %g, want %g", i, value(got, i), value(want, i))
			}
		}
	})
}

func TestCorrectEmptyMask(t *testing.T) {
	t.Parallel()
	pic := texture(30, 20, 3, 16, nil, 1)
	_, c := correctOn(t, pic, processing.NewMask(30, 20), processing.DefaultParams(), correct.Options{})
	if len(c.Patches) != 0 {
		t.Fatalf("%d patches for an empty mask", len(c.Patches))
	}
}

// Patches must not overlap, must hold every pixel of their spots, and nothing else may change.
func TestCorrectTouchesOnlyItsPatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 70).Draw(t, "h")
		channels := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")
		depth := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "depth")
		mask := discs(w, h, rapid.IntRange(0, 12).Draw(t, "spots"), rapid.Float64Range(0.6, 9).Draw(t, "radius"),
			rapid.Uint64().Draw(t, "seed"))
		pic := texture(w, h, channels, depth, mask, 3)
		p := with(rapid.SampledFrom(processing.Methods()).Draw(t, "method"))
		p.Halo = rapid.IntRange(0, 6).Draw(t, "halo")
		before := clonePicture(pic)
		got, c := correctOn(t, pic, mask, p, correct.Options{})
		for i := range w * h * channels {
			if value(pic, i) != value(before, i) {
				t.Fatal("the source was written")
			}
		}
		owner := make([]int, w*h)
		for _, q := range c.Patches {
			n := 0
			for _, r := range q.Runs {
				n += r.X1 - r.X0
				for x := r.X0; x < r.X1; x++ {
					if owner[r.Y*w+x] != 0 {
						t.Fatalf("patches %d and %d overlap", owner[r.Y*w+x], q.Spot)
					}
					owner[r.Y*w+x] = q.Spot
				}
			}
			if len(q.U8)+len(q.U16)+len(q.F32) != n*channels {
				t.Fatalf("patch %d has %d pixels and %d samples", q.Spot, n, len(q.U8)+len(q.U16)+len(q.F32))
			}
		}
		for i := range w * h {
			if owner[i] == 0 && mask.Pix[i] != 0 {
				t.Fatalf("pixel %d of the mask is in no patch", i)
			}
			for k := range channels {
				if v := value(got, i*channels+k); owner[i] == 0 && v != value(pic, i*channels+k) {
					t.Fatalf("pixel %d outside the patches changed", i)
				} else if math.IsNaN(v) {
					t.Fatalf("pixel %d is NaN", i)
				}
			}
		}
		for _, s := range processing.Spots(mask) {
			for _, r := range s.Runs {
				for x := r.X0; x < r.X1; x++ {
					if owner[r.Y*w+x] != s.ID {
						t.Fatalf("pixel (%d, %d) of spot %d is in patch %d", x, r.Y, s.ID, owner[r.Y*w+x])
					}
				}
			}
		}
	})
}

// Small spots get no value outside the range of the paint around them.
func TestCorrectStaysInTheHull(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	every(t, func(t *testing.T, m processing.Method, depth, channels int) {
		const w, h = 40, 40
		for area := 1; area <= 4; area++ {
			mask := processing.NewMask(w, h)
			for i := range area {
				mask.Pix[(20+i/2)*w+20+i%2] = 255
			}
			pic := texture(w, h, channels, depth, mask, uint64(area))
			lo, hi := make([]float64, channels), make([]float64, channels)
			for k := range channels {
				lo[k], hi[k] = 2, -2
				for i, v := range mask.Pix {
					if v == 0 {
						lo[k], hi[k] = math.Min(lo[k], value(pic, i*channels+k)), math.Max(hi[k],
							value(pic, i*channels+k))
					}
				}
			}
			got, _ := correctOn(t, pic, mask, with(m), correct.Options{})
			for i := range w * h * channels {
				if v, k := value(got, i), i%channels; v < lo[k]-1e-6 || v > hi[k]+1e-6 {
					t.Fatalf("area %d: sample %d is %g, outside %g…%g", area, i, v, lo[k], hi[k])
				}
			}
		}
	})
}

func transposePicture(p *processing.Picture) *processing.Picture {
	q := blank(p.Height, p.Width, p.Channels, p.Depth(), 0)
	for y := range p.Height {
		for x := range p.Width {
			for k := range p.Channels {
				setValue(q, (x*p.Height+y)*p.Channels+k, value(p, (y*p.Width+x)*p.Channels+k))
			}
		}
	}
	return q
}

// Exchanging rows and columns does not change a bit of the result. Examples and grain are left out: they take the best
// match, and ties are broken by place.
func TestCorrectTransposed(t *testing.T) {
	t.Parallel()
	for _, m := range processing.Methods() {
		if m == processing.MethodExemplar {
			continue
		}
		t.Run(m.ID(), func(t *testing.T) {
			const w, h = 73, 52
			mask := processing.NewMask(w, h)
			for _, d := range []struct{ x, y, r int }{{14, 12, 3}, {30, 20, 1}, {34, 21, 2}, {60, 40, 3}, {72, 0, 2},
				{2, 51, 2}} {
				for y := max(0, d.y-d.r); y <= min(h-1, d.y+d.r); y++ {
					for x := max(0, d.x-d.r); x <= min(w-1, d.x+d.r); x++ {
						mask.Pix[y*w+x] = 255
					}
				}
			}
			for x := 45; x < 60; x += 3 {
				for y := 3; y < 19; y += 2 {
					mask.Pix[y*w+x] = 255
				}
			}
			pic := texture(w, h, 3, 16, mask, 4)
			turned := processing.NewMask(h, w)
			for i, v := range mask.Pix {
				turned.Pix[i%w*h+i/w] = v
			}
			p := with(m)
			p.Grain = 0
			a, _ := correctOn(t, pic, mask, p, correct.Options{})
			b, _ := correctOn(t, transposePicture(pic), turned, p, correct.Options{})
			b = transposePicture(b)
			for i := range a.U16 {
				if a.U16[i] != b.U16[i] {
					t.Fatalf("sample %d: %d, transposed %d", i, a.U16[i], b.U16[i])
				}
			}
		})
	}
}

func TestCorrectExtremes(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	full := func(w, h int) *processing.Mask {
		m := processing.NewMask(w, h)
		for i := range m.Pix {
			m.Pix[i] = 255
		}
		return m
	}
	every(t, func(t *testing.T, m processing.Method, depth, channels int) {
		// Nothing is known, so nothing changes.
		for _, s := range [][2]int{{1, 1}, {1, 9}, {33, 21}} {
			pic := texture(s[0], s[1], channels, depth, nil, 1)
			got, _ := correctOn(t, pic, full(s[0], s[1]), with(m), correct.Options{})
			for i := range s[0] * s[1] * channels {
				if value(got, i) != value(pic, i) {
					t.Fatalf("%v: sample %d changed from %g to %g without any paint", s, i, value(pic, i),
						value(got, i))
				}
			}
		}
		// One pixel of paint is left.
		mask := full(17, 13)
		mask.Pix[5*17+8] = 0
		pic := blank(17, 13, channels, depth, 0.2)
		p := with(m)
		p.Halo = 0
		correctOn(t, pic, mask, p, correct.Options{})
		// White everywhere.
		pic = blank(20, 20, channels, depth, 0)
		for i := range 20 * 20 * channels {
			setValue(pic, i, 1)
		}
		got, _ := correctOn(t, pic, discs(20, 20, 2, 4, 1), with(m), correct.Options{})
		for i := range 20 * 20 * channels {
			if math.Abs(value(got, i)-1) > 1e-6 {
				t.Fatalf("white became %g", value(got, i))
			}
		}
	})
}

func TestCorrectFloatsThatAreNoNumbers(t *testing.T) {
	t.Parallel()
	for _, m := range processing.Methods() {
		mask := discs(40, 40, 1, 4, 3)
		pic := texture(40, 40, 3, 32, mask, 1)
		nan := float32(math.NaN())
		for i, v := range mask.Pix {
			switch {
			case v != 0 && i%3 == 0:
				pic.F32[3*i] = float32(math.Inf(1))
			case v == 0 && i%17 == 0:
				pic.F32[3*i+1] = nan
			case v == 0 && i%19 == 0:
				pic.F32[3*i+2] = float32(math.Inf(-1))
			}
		}
		p := with(m)
		p.Halo, p.Blend = 0, 0
		got, c := correctOn(t, pic, mask, p, correct.Options{})
		for _, q := range c.Patches {
			for i, v := range q.F32 {
				if v != v || math.IsInf(float64(v), 0) {
					t.Fatalf("%s: sample %d of a patch is %g", m.ID(), i, v)
				}
			}
		}
		for i := range pic.F32 {
			if mask.Pix[i/3] == 0 && math.Float32bits(got.F32[i]) != math.Float32bits(pic.F32[i]) {
				t.Fatalf("%s: sample %d outside the mask changed", m.ID(), i)
			}
		}
	}
}

func TestCorrectOnlyDarkens(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	every(t, func(t *testing.T, m processing.Method, depth, channels int) {
		mask := discs(50, 50, 4, 5, 2)
		pic := texture(50, 50, channels, depth, nil, 6)
		p := with(m)
		p.OnlyDarken = true
		got, _ := correctOn(t, pic, mask, p, correct.Options{})
		for i := range 50 * 50 * channels {
			a, b := value(pic, i), value(got, i)
			if channels == 4 {
				a, b = -a, -b
			}
			if b > a {
				t.Fatalf("sample %d became brighter", i)
			}
		}
	})
}

func patchesEqual(a, b *processing.Patch) bool {
	return a.Spot == b.Spot && a.Method == b.Method && slices.Equal(a.Runs, b.Runs) &&
		slices.Equal(a.U8, b.U8) && slices.Equal(a.U16, b.U16) && slices.Equal(a.F32, b.F32)
}

func TestCorrectAloneAndTogether(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	const w, h = 160, 120
	mask := discs(w, h, 25, 4, 9)
	pic := texture(w, h, 3, 16, mask, 2)
	p := processing.DefaultParams()
	_, all := correctOn(t, pic, mask, p, correct.Options{})
	spots := processing.Spots(mask)
	for i := range spots {
		spots[i].Method = processing.Methods()[i%len(processing.Methods())]
	}
	_, mixed := correctOn(t, pic, mask, p, correct.Options{Spots: spots})
	for i, s := range spots {
		_, one := correctOn(t, pic, mask, p, correct.Options{Spots: spots[i : i+1]})
		if !patchesEqual(&one.Patches[0], &mixed.Patches[i]) {
			t.Fatalf("spot %d (%s) differs when it is corrected alone", s.ID, s.Method.ID())
		}
		if s.Method == processing.MethodAuto && !patchesEqual(&one.Patches[0], &all.Patches[i]) {
			t.Fatalf("spot %d differs when the others have methods of their own", s.ID)
		}
	}
	for _, n := range []int{1, 3} {
		c, err := correct.Correct(context.Background(), cpu.New(cpu.Workers(n)), pic, mask, p,
			correct.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Patches {
			if !patchesEqual(&c.Patches[i], &all.Patches[i]) {
				t.Fatalf("spot %d differs with %d workers", i+1, n)
			}
		}
	}
}

func TestCorrectRefuses(t *testing.T) {
	t.Parallel()
	pic, mask := texture(20, 20, 3, 8, nil, 1), discs(20, 20, 1, 3, 1)
	run := func(pic *processing.Picture, m *processing.Mask, p processing.Params, o correct.Options) error {
		_, err := correct.Correct(context.Background(), cpu.New(), pic, m, p, o)
		return err
	}
	bad := with(processing.MethodAuto)
	bad.Halo = 99
	for name, err := range map[string]error{
		"no samples": run(&processing.Picture{Width: 3, Height: 3, Channels: 3}, mask, with(0),
			correct.Options{}),
		"a small mask":    run(pic, processing.NewMask(19, 20), with(0), correct.Options{}),
		"a halo too wide": run(pic, mask, bad, correct.Options{}),
		"a spot elsewhere": run(pic, mask, with(0),
			correct.Options{Spots: []processing.Spot{{ID: 4,
				Runs: []processing.Run{{Y: 0, X0: 0, X1: 20}}}}}),
		"an empty spot": run(pic, mask, with(0), correct.Options{Spots: []processing.Spot{{ID: 4}}}),
		"no such method": run(pic, mask, with(0),
			correct.Options{Spots: []processing.Spot{{ID: 1, Method: 99,
				Runs: processing.Spots(mask)[0].Runs}}}),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestCorrectCancel(t *testing.T) {
	t.Parallel()
	w, h, radius := 300, 240, 12.
	if testing.Short() {
		w, h, radius = 120, 96, 5
	}
	mask := discs(w, h, 8, radius, 3)
	pic := texture(w, h, 3, 8, mask, 3)
	methods := []processing.Method{processing.MethodAuto, processing.MethodHarmonic}
	if testing.Short() {
		methods = methods[:1] // under the race detector each takes minutes
	}
	for _, m := range methods {
		t.Run(m.ID(), func(t *testing.T) {
			be := cpu.New(cpu.Workers(2))
			defer be.Close()
			cancelling.Everywhere(t, 30, func(ctx context.Context) error {
				_, err := correct.Correct(ctx, be, pic, mask, with(m), correct.Options{})
				return err
			})
		})
	}
}

func TestCorrectProgress(t *testing.T) {
	t.Parallel()
	mask := discs(200, 200, 20, 4, 3)
	last := -1.0
	correctOn(t, texture(200, 200, 3, 8, mask, 3), mask, processing.DefaultParams(), correct.Options{
		Progress: func(_ message.Message, done float64) {
			if done < last || done > 1 {
				t.Errorf("progress of %g after %g", done, last)
			}
			last = done
		},
	})
	if last != 1 {
		t.Errorf("the last progress was %g", last)
	}
}

// widen grows the mask by 2 pixels: a square of 5 × 5, or a disc.
func widen(m *processing.Mask, square bool) *processing.Mask {
	out := processing.NewMask(m.Width, m.Height)
	for i, v := range m.Pix {
		if v < processing.MaskLevel {
			continue
		}
		x, y := i%m.Width, i/m.Width
		for dy := max(-2, -y); dy <= min(2, m.Height-1-y); dy++ {
			for dx := max(-2, -x); dx <= min(2, m.Width-1-x); dx++ {
				if square || dx*dx+dy*dy <= 4 {
					out.Pix[i+dy*m.Width+dx] = 255
				}
			}
		}
	}
	return out
}

// found is the mask of adaptive detection.
func found(t *testing.T, pic *processing.Picture) *processing.Mask {
	t.Helper()
	be := cpu.New()
	defer be.Close()
	r, err := detect.Detect(t.Context(), be, pic, processing.DefaultParams(), detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Mask
}

// TestCorrectAccuracy holds what correction reaches on the development set. The floors lie somewhat below what was
// measured; docs/correction.md has the figures.
func TestCorrectAccuracy(t *testing.T) {
	t.Parallel()
	testpic.Slow(t)
	set := paintings.Development(t)
	for _, c := range []struct {
		name       string
		mask       func(p *paintings.Painting) *processing.Mask
		psnr, ssim float64
	}{
		{"truth + square", func(p *paintings.Painting) *processing.Mask { return widen(p.Truth, true) }, 32.5, 0.85},
		{"truth + disc", func(p *paintings.Painting) *processing.Mask { return widen(p.Truth, false) }, 32.3, 0.85},
		{"own mask", func(p *paintings.Painting) *processing.Mask { return found(t, p.Glare) }, 29, 0.78},
	} {
		var psnr, ssim float64
		for i := range set {
			p := &set[i]
			got, _ := correctOn(t, p.Glare, c.mask(p), processing.DefaultParams(), correct.Options{})
			f := measured(t, got, p.Clean, p.Truth)
			t.Logf("%-15s %-20s PSNR %.2f SSIM %.4f", c.name, p.Name, f.PSNR, f.SSIM)
			psnr += f.PSNR / float64(len(set))
			ssim += f.SSIM / float64(len(set))
		}
		t.Logf("%-15s %-20s PSNR %.2f SSIM %.4f", c.name, "mean", psnr, ssim)
		if psnr < c.psnr || ssim < c.ssim {
			t.Errorf("%s: PSNR %.2f, SSIM %.4f; at least %g and %g", c.name, psnr, ssim, c.psnr, c.ssim)
		}
	}
}

// worse counts the spots whose squared error against the clean picture grew, and how many there are.
func worse(before, after, clean *processing.Picture, patches []processing.Patch) (grew, all int) {
	ch := clean.Channels
	for _, p := range patches {
		var was, is float64
		for _, r := range p.Runs {
			for i := (r.Y*clean.Width + r.X0) * ch; i < (r.Y*clean.Width+r.X1)*ch; i++ {
				a, b, c := value(before, i), value(after, i), value(clean, i)
				was += (a - c) * (a - c)
				is += (b - c) * (b - c)
			}
		}
		if all++; is > was {
			grew++
		}
	}
	return grew, all
}

// TestCorrectOtherGlare holds correction to glare of the project's own renderer, which is soft, dim, coloured or large,
// on its own paintings; -v prints the table.
func TestCorrectOtherGlare(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	clean, err := synth.Paint(context.Background(), 700, 500, 8, synth.PaintOptions{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		preset string
		jpeg   int
		gain   float64 // least rise of PSNR, dB
		grew   float64 // largest share of spots that may become worse
	}{
		{"default", 0, 14, 0.02}, {"default", 90, 14, 0.02}, {"soft", 0, 8, 0.05}, {"unclipped", 0, 6, 0.1},
		{"tinted", 0, 6, 0.1}, {"large", 0, 8, 0.1}, {"mixed", 0, 8, 0.1},
	} {
		o, err := synth.Preset(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		o.Seed, o.JPEGQuality = 5, c.jpeg
		glare, truth, _, err := synth.RenderGlare(context.Background(), clean, o)
		if err != nil {
			t.Fatal(err)
		}
		got, r := correctOn(t, glare, truth, processing.DefaultParams(), correct.Options{})
		before := measured(t, glare, clean, truth)
		after := measured(t, got, clean, truth)
		grew, all := worse(glare, got, clean, r.Patches)
		t.Logf("%-10s JPEG %2d: PSNR %.2f → %.2f SSIM %.3f → %.3f, worse %d of %d", c.preset, c.jpeg,
			before.PSNR, after.PSNR, before.SSIM, after.SSIM, grew, all)
		if after.PSNR < before.PSNR+c.gain || float64(grew) > c.grew*float64(all) {
			t.Errorf("%s: PSNR %.2f → %.2f, %d of %d spots worse", c.preset, before.PSNR, after.PSNR, grew, all)
		}
	}
	// A mask on clean paint must do little harm.
	mask := discs(700, 500, 60, 3, 7)
	got, _ := correctOn(t, clean, mask, processing.DefaultParams(), correct.Options{})
	f := measured(t, got, clean, mask)
	t.Logf("false findings: PSNR %.2f SSIM %.3f", f.PSNR, f.SSIM)
	if f.PSNR < 32 {
		t.Errorf("false findings: PSNR %.2f", f.PSNR)
	}
}

// TestCorrectOtherPaintings renders glints of each kind on paintings other than those of the development set and
// corrects them with the truth grown by 5 × 5; -v prints the table. Constants of the correction were chosen on crops of
// five of these paintings.
func TestCorrectOtherPaintings(t *testing.T) {
	t.Parallel()
	testpic.Slow(t)
	files := testpic.SharedFiles(t, "paintings-more/*.jpg")
	for k, c := range []struct {
		preset     string
		jpeg       int
		psnr, ssim float64
	}{
		{"default", 0, 28, 0.79}, {"default", 90, 26.7, 0.755}, {"unclipped", 0, 28, 0.775}, {"tinted", 90, 27.2, 0.75},
		{"soft", 0, 25.3, 0.71},
	} {
		var psnr, ssim, before float64
		grew, all, n := 0, 0, 0
		for i := k % 2; i < len(files); i += 2 {
			clean := excerpt(testpic.RGB(t, files[i]), 700, 520)
			o, err := synth.Preset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			o.Seed, o.JPEGQuality = uint64(7000+100*k+i), c.jpeg
			glare, truth, _, err := synth.RenderGlare(context.Background(), clean, o)
			if err != nil {
				t.Fatal(err)
			}
			got, r := correctOn(t, glare, widen(truth, true), processing.DefaultParams(), correct.Options{})
			was := measured(t, glare, clean, truth)
			is := measured(t, got, clean, truth)
			more, spots := worse(glare, got, clean, r.Patches)
			grew, all, n = grew+more, all+spots, n+1
			psnr, ssim, before = psnr+is.PSNR, ssim+is.SSIM, before+was.PSNR
		}
		psnr, ssim, before = psnr/float64(n), ssim/float64(n), before/float64(n)
		t.Logf("%-10s JPEG %2d: PSNR %.2f → %.2f SSIM %.3f, worse %d of %d", c.preset, c.jpeg, before, psnr, ssim, grew,
			all)
		if psnr < c.psnr || ssim < c.ssim {
			t.Errorf("%s: PSNR %.2f, SSIM %.3f; at least %g and %g", c.preset, psnr, ssim, c.psnr, c.ssim)
		}
	}
}

// excerpt cuts w × h pixels out of the middle.
func excerpt(p *processing.Picture, w, h int) *processing.Picture {
	out := &processing.Picture{Width: w, Height: h, Channels: p.Channels, Transfer: p.Transfer}
	x, y := (p.Width-w)/2, (p.Height-h)/2
	for v := y; v < y+h; v++ {
		out.U8 = append(out.U8, p.U8[(v*p.Width+x)*p.Channels:(v*p.Width+x+w)*p.Channels]...)
	}
	return out
}

// A mask that takes in the skirts of the light needs no halo; a tight one keeps it.
func TestCorrectEstimatesTheHalo(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	clean := texture(300, 240, 3, 8, nil, 5)
	tight := discs(300, 240, 30, 2.5, 6)
	glare := clonePicture(clean)
	skirt := widen(tight, false)
	for i := range tight.Pix {
		add := 0.0
		switch {
		case tight.Pix[i] != 0:
			add = 0.35
		case skirt.Pix[i] != 0:
			add = 0.12
		}
		for k := range 3 {
			setValue(glare, 3*i+k, value(glare, 3*i+k)+add)
		}
	}
	outside := func(m *processing.Mask) int {
		_, c := correctOn(t, glare, m, processing.DefaultParams(), correct.Options{})
		n := -m.Area()
		for _, p := range c.Patches {
			for _, r := range p.Runs {
				n += r.X1 - r.X0
			}
		}
		return n
	}
	if n := outside(skirt); n != 0 {
		t.Errorf("%d pixels of halo around a mask that holds all light", n)
	}
	if n := outside(tight); n == 0 {
		t.Error("no halo around a mask without the skirts")
	}
}

// The table of methods in docs/correction.md has a row for each.
func TestMethodsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/correction.md")
	if err != nil {
		t.Fatal(err)
	}
	spec, known := processing.SpecByID("method")
	if !known || len(spec.Choices) < 2 {
		t.Fatal("there are no methods")
	}
	for _, m := range spec.Choices {
		if !strings.Contains(string(text), "\n| "+m.ID+" | ") {
			t.Errorf("docs/correction.md has no row for the method %s", m.ID)
		}
	}
}

func BenchmarkCorrect(b *testing.B) {
	const w, h = 5000, 3740
	rnd := rand.New(rand.NewPCG(1, 1))
	mask := processing.NewMask(w, h)
	for range 2000 {
		r := 0.8 + 5*math.Pow(rnd.Float64(), 4)
		cx, cy := 20+rnd.Float64()*(w-40), 20+rnd.Float64()*(h-40)
		for y := int(cy - r); y <= int(cy+r); y++ {
			for x := int(cx - r); x <= int(cx+r); x++ {
				if math.Hypot(float64(x)+0.5-cx, float64(y)+0.5-cy) <= r {
					mask.Pix[y*w+x] = 255
				}
			}
		}
	}
	pic := texture(w, h, 3, 8, mask, 7)
	be := cpu.New()
	b.SetBytes(int64(w * h))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := correct.Correct(context.Background(), be, pic, mask, processing.DefaultParams(),
			correct.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
