package correct_test

import (
	"math"
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
)

// veiledPainting is dark paint with 15 clipped discs, the light of a veil around each, and the mask, 2 px wider than
// the discs.
func veiledPainting(channels, depth int, veil float64) (clean, glare *processing.Picture, mask *processing.Mask) {
	return veiledDiscs(280, 190, 53, 60, channels, depth, veil)
}

// veiledDiscs is the same in five columns and three rows, across and down pixels apart.
func veiledDiscs(w, h, across, down, channels, depth int, veil float64) (clean, glare *processing.Picture,
	mask *processing.Mask) {
	clean = texture(w, h, channels, depth, nil, 7)
	light := make([]float64, w*h)
	core := processing.NewMask(w, h)
	for n := range 15 {
		cx, cy := float64(28+across*(n%5)+n*7%11), float64(28+down*(n/5)+n*5%9)
		r := 3.5 + float64(n%3)
		for i := range light {
			d := math.Hypot(float64(i%w)+0.5-cx, float64(i/w)+0.5-cy)
			if d < 7*r {
				light[i] += veil * math.Exp(-d*d/(2*4*r*r))
			}
			if d <= r {
				core.Pix[i] = 255
				light[i] = 2
			}
		}
	}
	for i := range w * h * channels {
		v := 0.1 + 0.1*value(clean, i)
		if channels == 4 {
			v = 0.8 + 0.1*value(clean, i)
		}
		setValue(clean, i, v)
	}
	glare = clonePicture(clean)
	for i, l := range light {
		if l == 0 {
			continue
		}
		for k := range channels {
			at := i*channels + k
			v := value(clean, at)
			if channels == 4 {
				v = 1 - v
			}
			v = math.Min(clean.Transfer.Encode(clean.Transfer.Linear(v)+l), 1)
			if channels == 4 {
				v = 1 - v
			}
			setValue(glare, at, v)
		}
	}
	return clean, glare, widen(core, true)
}

// errorAround is the root mean square error of the pixels outside the mask.
func errorAround(got, clean *processing.Picture, mask *processing.Mask) float64 {
	sum, n := 0.0, 0.0
	for i, m := range mask.Pix {
		for k := range got.Channels {
			if d := value(got, i*got.Channels+k) - value(clean, i*got.Channels+k); m == 0 {
				sum, n = sum+d*d, n+1
			}
		}
	}
	return math.Sqrt(sum / n)
}

// The veil that all large glints of a picture show is subtracted, outside the mask as well. Only their patches change,
// and these do not depend on which others are corrected.
func TestCorrectTakesVeilsAway(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	for _, kind := range []struct{ channels, depth int }{{3, 8}, {1, 16}, {4, 8}} {
		clean, glare, mask := veiledPainting(kind.channels, kind.depth, 0.006)
		got, all := correctOn(t, glare, mask, processing.DefaultParams(), correct.Options{})
		before, after := errorAround(glare, clean, mask), errorAround(got, clean, mask)
		t.Logf("%d channels of %d bits: around the glints %.4f, before %.4f", kind.channels, kind.depth, after, before)
		if after > 0.7*before {
			t.Errorf("%d channels of %d bits: the error around the glints is %.4f, before %.4f",
				kind.channels, kind.depth, after, before)
		}
		own := processing.NewMask(mask.Width, mask.Height)
		for _, p := range all.Patches {
			last := -1
			for _, r := range p.Runs {
				if from := r.Y*mask.Width + r.X0; from <= last {
					t.Fatal("the pixels of a patch are not in reading order")
				}
				for x := r.X0; x < r.X1; x++ {
					last = r.Y*mask.Width + x
					if own.Pix[last] != 0 {
						t.Fatal("patches overlap")
					}
					own.Pix[last] = 255
				}
			}
		}
		for i := range own.Pix {
			for k := range kind.channels {
				if at := i*kind.channels + k; own.Pix[i] == 0 && value(got, at) != value(glare, at) {
					t.Fatal("a pixel outside the patches changed")
				}
			}
		}
		spots := processing.Spots(mask)[7:9]
		_, some := correctOn(t, glare, mask, processing.DefaultParams(), correct.Options{Spots: spots})
		for i, p := range some.Patches {
			o := all.Patches[7+i]
			if !slices.Equal(p.Runs, o.Runs) || !slices.Equal(p.U8, o.U8) || !slices.Equal(p.U16, o.U16) ||
				!slices.Equal(p.F32, o.F32) {
				t.Errorf("patch %d differs when others are corrected, too", p.Spot)
			}
		}
	}
}

// Veils that overlap are found as well as single ones: each is measured without the others.
func TestCorrectSeparatesVeilsThatOverlap(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	clean, glare, mask := veiledDiscs(190, 130, 32, 34, 3, 8, 0.006)
	got, _ := correctOn(t, glare, mask, processing.DefaultParams(), correct.Options{})
	before, after := errorAround(glare, clean, mask), errorAround(got, clean, mask)
	t.Logf("around the glints %.4f, before %.4f", after, before)
	if after > 0.77*before {
		t.Errorf("the error around the glints is %.4f, before %.4f", after, before)
	}
}

// Without a veil, without a halo, and by a method that does not separate light, nothing around the mask changes.
func TestCorrectLeavesPaintWithoutVeils(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	for name, f := range map[string]struct {
		veil float64
		set  func(p *processing.Params)
	}{
		"no veil":  {0, func(*processing.Params) {}},
		"no halo":  {0.006, func(p *processing.Params) { p.Halo = 0 }},
		"harmonic": {0.006, func(p *processing.Params) { p.Method, p.Halo = processing.MethodHarmonic, 1 }},
	} {
		_, glare, mask := veiledPainting(3, 8, f.veil)
		p := processing.DefaultParams()
		f.set(&p)
		got, _ := correctOn(t, glare, mask, p, correct.Options{})
		near := widen(mask, true)
		for i, m := range near.Pix {
			for k := range 3 {
				if m == 0 && value(got, 3*i+k) != value(glare, 3*i+k) {
					t.Fatalf("%s: pixel %d changed", name, i)
				}
			}
		}
	}
}

// A glint with a stronger veil than the others loses more of it than it would if it were like them.
func TestCorrectTakesOwnVeilAway(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	_, weak, mask := veiledPainting(3, 8, 0.004)
	_, strong, _ := veiledPainting(3, 8, 0.012)
	// The middle glint of the fifteen gets the strong veil.
	one := clonePicture(weak)
	for y := 63; y < 128; y++ {
		from, to := 3*(y*mask.Width+108), 3*(y*mask.Width+158)
		copy(one.U8[from:to], strong.U8[from:to])
	}
	var taken [2]float64
	for n, glare := range []*processing.Picture{weak, one} {
		got, _ := correctOn(t, glare, mask, processing.DefaultParams(), correct.Options{})
		for i, m := range mask.Pix {
			if m == 0 && math.Hypot(float64(i%mask.Width)-133, float64(i/mask.Width)-95) < 14 {
				for k := range 3 {
					taken[n] += value(glare, 3*i+k) - value(got, 3*i+k)
				}
			}
		}
	}
	t.Logf("taken away: %.2f, and of the strong veil %.2f", taken[0], taken[1])
	if taken[0] <= 0 || taken[1] < 1.3*taken[0] {
		t.Errorf("of a strong veil %.2f is taken away, of one like the others %.2f", taken[1], taken[0])
	}
}

// Paint that is dark all over has no glint, even if the mask marks some.
func TestCorrectFindsNoVeilWithoutGlints(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	_, glare, mask := veiledPainting(3, 8, 0.006)
	for i, m := range mask.Pix {
		for k := range 3 {
			if m != 0 {
				glare.U8[3*i+k] = min(glare.U8[3*i+k], 130)
			}
		}
	}
	got, _ := correctOn(t, glare, mask, processing.DefaultParams(), correct.Options{})
	near := widen(mask, true)
	for i, m := range near.Pix {
		for k := range 3 {
			if m == 0 && got.U8[3*i+k] != glare.U8[3*i+k] {
				t.Fatalf("pixel %d changed", i)
			}
		}
	}
}
