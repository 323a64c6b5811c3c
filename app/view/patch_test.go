package view

import (
	"bytes"
	"context"
	"errors"
	"image"
	"slices"
	"sync"
	"testing"

	"blik/app/colour"
	"blik/internal/test/testpic"
	"blik/processing"

	"pgregory.net/rapid"
)

// drawPatch generates a patch of random samples for some runs of pic.
func drawPatch(t *rapid.T, pic *processing.Picture) processing.Patch {
	p := processing.Patch{Spot: 1}
	n := 0
	for y := rapid.IntRange(0, pic.Height-1).Draw(t, "top"); y < pic.Height &&
		len(p.Runs) < 12; y += rapid.IntRange(1, 2).Draw(t, "down") {
		x0 := rapid.IntRange(0, pic.Width-1).Draw(t, "x0")
		x1 := rapid.IntRange(x0+1, min(x0+70, pic.Width)).Draw(t, "x1")
		p.Runs = append(p.Runs, processing.Run{Y: y, X0: x0, X1: x1})
		n += (x1 - x0) * pic.Channels
	}
	seed := rapid.Uint32().Draw(t, "samples")
	for range n {
		seed = seed*1664525 + 1013904223
		switch {
		case pic.U8 != nil:
			p.U8 = append(p.U8, uint8(seed>>24))
		case pic.U16 != nil:
			p.U16 = append(p.U16, uint16(seed>>16))
		default:
			p.F32 = append(p.F32, float32(seed>>8)/(1<<24))
		}
	}
	return p
}

// apply returns a copy of the picture with patches applied pixel by pixel.
func apply(pic *processing.Picture, patches ...processing.Patch) *processing.Picture {
	out := *pic
	out.U8, out.U16, out.F32 = slices.Clone(pic.U8), slices.Clone(pic.U16), slices.Clone(pic.F32)
	for _, p := range patches {
		i := 0
		for _, r := range p.Runs {
			for x := r.X0; x < r.X1; x++ {
				for k := range pic.Channels {
					at := (r.Y*pic.Width+x)*pic.Channels + k
					switch {
					case pic.U8 != nil:
						out.U8[at] = p.U8[i]
					case pic.U16 != nil:
						out.U16[at] = p.U16[i]
					default:
						out.F32[at] = p.F32[i]
					}
					i++
				}
			}
		}
	}
	return &out
}

// samePyramid fails if two pyramids differ in a pixel of any level.
func samePyramid(t interface{ Fatalf(string, ...any) }, what string, a, b *Pyramid) {
	for l := range len(a.levels) + 1 {
		w, h := a.levelSize(l)
		p, q := make([]packed, w), make([]packed, w)
		for y := range h {
			a.row(p, l, y, 0)
			b.row(q, l, y, 0)
			for x := range p {
				if p[x] != q[x] {
					t.Fatalf("%s: level %d pixel %d, %d is %08x, want %08x", what, l, x, y, p[x], q[x])
				}
			}
		}
	}
}

// TestWithIsThePyramidOfThePatchedPicture applies patches twice, and compares with newly built pyramids.
func TestWithIsThePyramidOfThePatchedPicture(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		pic := drawPicture(t, rapid.IntRange(1, 150).Draw(t, "w"), rapid.IntRange(1, 110).Draw(t, "h"))
		source, _ := pyramids(t, pic, processing.NewMask(pic.Width, pic.Height))
		first, second := drawPatch(t, pic), drawPatch(t, pic)
		third := drawPatch(t, pic)
		a, err := source.With(ctx, []processing.Patch{first, second})
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.With(ctx, []processing.Patch{third})
		if err != nil {
			t.Fatal(err)
		}
		rebuilt := func(patches ...processing.Patch) *Pyramid {
			p, _ := pyramids(t, apply(pic, patches...), processing.NewMask(pic.Width, pic.Height))
			return p
		}
		samePyramid(t, "patched", a, rebuilt(first, second))
		samePyramid(t, "patched again", b, rebuilt(first, second, third))
		samePyramid(t, "the source", source, rebuilt())

		changed := a.Changed(b)
		for _, run := range third.Runs {
			if !image.Rect(run.X0, run.Y, run.X1, run.Y+1).In(changed) {
				t.Fatalf("run %v is not in what changed, %v", run, changed)
			}
		}
		if !a.Changed(a).Empty() || source.Changed(rebuilt()) != image.Rect(0, 0, pic.Width, pic.Height) {
			t.Fatal("nothing changed, or all, and the rectangle does not say so")
		}
		// Drawn completely, and a part redrawn.
		v, o := drawView(t, pic.Width, pic.Height), drawOptions(t)
		viewport := image.Rect(0, 0, 67, 59)
		retained, whole, want := image.NewRGBA(viewport), image.NewRGBA(viewport), image.NewRGBA(viewport)
		r.SetPicture(a, nil)
		r.Render(retained, v, o)
		r.SetPicture(b, nil)
		r.RenderRect(retained, v, o, b.DirtyRect(v, changed))
		r.Render(whole, v, o)
		r.SetPicture(rebuilt(first, second, third), nil)
		r.Render(want, v, o)
		if !bytes.Equal(whole.Pix, want.Pix) || !bytes.Equal(retained.Pix, want.Pix) {
			t.Fatal("the patched pyramid is drawn otherwise than one of the patched picture")
		}
	})
}

// TestSplitIsTwoFrames compares the split view with the two whole views.
func TestSplitIsTwoFrames(t *testing.T) {
	t.Parallel()
	r, single := NewRenderer(), NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		pic := drawPicture(t, rapid.IntRange(1, 80).Draw(t, "w"), rapid.IntRange(1, 80).Draw(t, "h"))
		m := drawMask(t, pic.Width, pic.Height)
		source, err := NewPyramid(context.Background(), pic,
			WithOrientation(rapid.IntRange(1, 8).Draw(t, "orientation")))
		if err != nil {
			t.Fatal(err)
		}
		result, err := source.With(context.Background(), []processing.Patch{drawPatch(t, pic)})
		if err != nil {
			t.Fatal(err)
		}
		mp := NewMaskPyramid(m)
		v, o := drawView(t, pic.Width, pic.Height), drawOptions(t)
		v.Turn = source.Turn()
		viewport := image.Rect(3, 2, 66, 50)
		before, after, got := image.NewRGBA(viewport), image.NewRGBA(viewport), image.NewRGBA(viewport)
		single.SetPicture(source, mp)
		single.Render(before, v, o)
		single.SetPicture(result, mp)
		single.Render(after, v, o)

		r.SetPictures(source, result, mp)
		o.Compare = Compare(rapid.IntRange(0, 2).Draw(t, "compare"))
		o.Split = rapid.IntRange(-5, 70).Draw(t, "split")
		r.Render(got, v, o)
		for i := 0; i < len(got.Pix); i += 4 {
			want := after
			if o.Compare == CompareBefore || o.Compare == CompareSplit && i/4%viewport.Dx() < o.Split {
				want = before
			}
			if !bytes.Equal(got.Pix[i:i+4], want.Pix[i:i+4]) {
				t.Fatalf("compare %d, split %d: device pixel %d is %v, want %v", o.Compare, o.Split, i/4,
					got.Pix[i:i+4], want.Pix[i:i+4])
			}
		}
	})
}

func TestWithRefuses(t *testing.T) {
	t.Parallel()
	p, _ := pyramids(t, testpic.Noise(40, 30, 3, 8), processing.NewMask(40, 30))
	for name, patch := range map[string]processing.Patch{
		"past the right edge": {Runs: []processing.Run{{Y: 0, X0: 39, X1: 41}}, U8: make([]uint8, 6)},
		"below the picture":   {Runs: []processing.Run{{Y: 30, X0: 0, X1: 1}}, U8: make([]uint8, 3)},
		"left of the picture": {Runs: []processing.Run{{Y: 0, X0: -1, X1: 1}}, U8: make([]uint8, 6)},
		"an empty run":        {Runs: []processing.Run{{Y: 0, X0: 3, X1: 3}}},
		"too few samples":     {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U8: make([]uint8, 5)},
		"another depth":       {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U16: make([]uint16, 6)},
	} {
		if _, err := p.With(context.Background(), []processing.Patch{patch}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.With(ctx,
		[]processing.Patch{{Runs: []processing.Run{{Y: 0, X0: 0, X1: 1}},
			U8: make([]uint8, 3)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if q, err := p.With(context.Background(), nil); err != nil || !p.Changed(q).Empty() {
		t.Errorf("no patches: %v, changed %v", err, p.Changed(q))
	}
}

// TestPyramidsAreShared applies patches and draws on several goroutines at once.
func TestPyramidsAreShared(t *testing.T) {
	t.Parallel()
	pic := testpic.Noise(300, 200, 3, 16)
	source, _ := pyramids(t, pic, processing.NewMask(300, 200))
	patch := func(x, y int) []processing.Patch {
		return []processing.Patch{{Runs: []processing.Run{{Y: y, X0: x, X1: x + 9}}, U16: make([]uint16, 27)}}
	}
	shared, err := source.With(context.Background(), patch(30, 30))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			q, err := shared.With(context.Background(), patch(28+i, 31))
			if err != nil {
				t.Error(err)
				return
			}
			r := NewRenderer()
			r.SetPictures(shared, q, nil)
			dst := image.NewRGBA(image.Rect(0, 0, 120, 90))
			for c := CompareAfter; c <= CompareSplit; c++ {
				r.Render(dst, Transform{Zoom: 0.4}, Options{Compare: c, Split: 60})
			}
		})
	}
	wg.Wait()
}

// TestProfileIsFollowed shows a picture with a linear profile. It must look like the same picture with a linear
// transfer curve.
func TestProfileIsFollowed(t *testing.T) {
	t.Parallel()
	profile, err := colour.FromGamma(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	pic := testpic.Noise(61, 47, 3, 16)
	got, err := NewPyramid(context.Background(), pic, WithProfile(profile))
	if err != nil {
		t.Fatal(err)
	}
	linear := *pic
	linear.Transfer = processing.TransferLinear
	want, _ := pyramids(t, &linear, processing.NewMask(61, 47))
	samePyramid(t, "linear", got, want)
	// A profile for another number of channels is adapted to the picture.
	grey := testpic.Noise(20, 10, 1, 8)
	got, err = NewPyramid(context.Background(), grey, WithProfile(colour.FromPicture(&processing.Picture{Channels: 3})))
	if err != nil {
		t.Fatal(err)
	}
	want, _ = pyramids(t, grey, processing.NewMask(20, 10))
	samePyramid(t, "grey", got, want)
}
