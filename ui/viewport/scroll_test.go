package viewport

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"pgregory.net/rapid"

	"blik/app/view"
	"blik/internal/test/testpic"
	"blik/processing"
)

// After any moves, zooms and changes of the mask, the pixels are those that a new renderer draws.
func TestMovedFrames(t *testing.T) {
	test.NewTempApp(t)
	const w, h = 93, 71
	pic := testpic.Noise(150, 120, 3, 8)
	original, err := view.NewPyramid(t.Context(), pic)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := original.With(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := view.NewPyramid(t.Context(), pic, view.WithOrientation(6))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		v := New()
		v.Resize(fyne.NewSize(w, h))
		mask := view.NewMaskPyramid(testpic.Specks(150, 120))
		v.SetPicture(rapid.SampledFrom([]*view.Pyramid{original, turned}).Draw(t, "picture"), mask)
		o := view.DefaultOptions()
		o.Mode = view.Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
		v.SetOptions(o)
		v.SetCompare(view.Compare(rapid.IntRange(0, 2).Draw(t, "compare")))
		v.SetZoom(rapid.SampledFrom([]float64{0.3, 0.37, 0.5, 0.9, 1, 1.2, 1.5, 2.3, 8, 9.7}).Draw(t, "zoom"))
		for i := range rapid.IntRange(1, 12).Draw(t, "frames") {
			for range rng.IntN(4) {
				switch rng.IntN(7) {
				case 0:
					v.ZoomStep(rng.IntN(2)*2 - 1)
				case 1:
					v.SetPyramids(original, []*view.Pyramid{original, flat}[rng.IntN(2)])
				case 2:
					x, y := rng.IntN(150), rng.IntN(120)
					mask.Mask().Pix[y*150+x] ^= 255
					v.MaskChanged(image.Rect(x, y, x+1, y+1))
				default:
					v.Take(v.transform.Pan(float64(rng.IntN(41)-20)*rng.Float64(), float64(rng.IntN(41)-20)))
				}
			}
			if !drawsAsNew(v, w, h) {
				t.Fatalf("frame %d at %+v differs", i, v.transform)
			}
		}
	})
}

// drawsAsNew reports whether the next frame of w × h pixels is that of a new renderer.
func drawsAsNew(v *Viewport, w, h int) bool {
	got := v.draw(w, h).(*image.RGBA)
	r := view.NewRenderer()
	r.SetPictures(v.before, v.picture, v.mask)
	want := image.NewRGBA(got.Rect)
	options := v.options
	options.Compare, options.Split = v.compare, v.splitColumn()
	r.Render(want, v.transform, options)
	return bytes.Equal(got.Pix, want.Pix)
}

// What changes while it is out of sight is drawn when the view moves back before the next frame.
func TestChangedOutOfSight(t *testing.T) {
	test.NewTempApp(t)
	pic := testpic.Noise(150, 120, 3, 8)
	before, err := view.NewPyramid(t.Context(), pic)
	if err != nil {
		t.Fatal(err)
	}
	patch := processing.Patch{Runs: []processing.Run{{Y: 60, X0: 40, X1: 41}}, U8: []uint8{255, 0, 0}}
	after, err := before.With(t.Context(), []processing.Patch{patch})
	if err != nil {
		t.Fatal(err)
	}
	const w, h = 93, 71
	changes := map[string]func(*Viewport){
		"mask": func(v *Viewport) {
			v.mask.Mask().Pix[60*150+40] ^= 255
			v.MaskChanged(image.Rect(40, 60, 41, 61))
		},
		"picture": func(v *Viewport) { v.SetPyramids(before, after) },
	}
	for name, change := range changes {
		v := New()
		v.Resize(fyne.NewSize(w, h))
		v.SetPicture(before, view.NewMaskPyramid(testpic.Specks(150, 120)))
		v.SetZoom(1)
		v.Take(view.Transform{Zoom: 1, X: 30, Y: 40})
		v.draw(w, h)
		v.Take(view.Transform{Zoom: 1, X: 55, Y: 40})
		change(v)
		v.Take(view.Transform{Zoom: 1, X: 30, Y: 40})
		if !drawsAsNew(v, w, h) {
			t.Errorf("%s: the old pixel is still shown", name)
		}
	}
}

// Each pixel moves to its place, and every place without one is in exactly one of the returned parts.
func TestScroll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 7))
	for range 300 {
		size := image.Pt(1+rng.IntN(9), 1+rng.IntN(9))
		by := image.Pt(rng.IntN(23)-11, rng.IntN(23)-11)
		m := image.NewRGBA(image.Rectangle{Max: size})
		for y := range size.Y {
			for x := range size.X {
				m.SetRGBA(x, y, color.RGBA{uint8(x), uint8(y), 7, 255})
			}
		}
		bare := scroll(m, by)
		for y := range size.Y {
			for x := range size.X {
				from, in := image.Pt(x, y).Sub(by), 0
				for _, r := range bare {
					if (image.Point{x, y}).In(r) {
						in++
					}
				}
				kept := from.In(m.Rect)
				if kept && (in != 0 || m.RGBAAt(x, y) != (color.RGBA{uint8(from.X), uint8(from.Y), 7, 255})) ||
					!kept && in != 1 {
					t.Fatalf("%v by %v: (%d, %d) is %v and in %d parts", size, by, x, y, m.RGBAAt(x, y), in)
				}
			}
		}
	}
}

// BenchmarkPan draws frames of 1150 × 894 device pixels while the picture is panned, at 40 % and 1:1, with reuse of the
// last frame's pixels and without.
func BenchmarkPan(b *testing.B) {
	test.NewTempApp(b)
	pic := testpic.Noise(5300, 3533, 3, 8)
	p, err := view.NewPyramid(b.Context(), pic)
	if err != nil {
		b.Fatal(err)
	}
	const w, h = 1150, 894
	for _, zoom := range []float64{0.4, 1} {
		for _, anew := range []bool{false, true} {
			b.Run(fmt.Sprintf("%g/anew=%v", zoom, anew), func(b *testing.B) {
				v := New()
				v.Resize(fyne.NewSize(w, h))
				v.SetPicture(p, view.NewMaskPyramid(testpic.Specks(pic.Width, pic.Height)))
				v.SetZoom(zoom)
				v.draw(w, h)
				step := 1.0
				for b.Loop() {
					v.Take(v.transform.Pan(15*step, 9*step))
					step = -step
					if anew {
						v.Redraw()
					}
					v.draw(w, h)
				}
			})
		}
	}
}
