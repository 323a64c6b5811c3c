package cpu

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// frugal returns a backend with low bands, and the planes of a picture: luminance, level and exclusion.
func frugal(t *rapid.T) (b *Backend, w, h int, y, v, exclude processing.Plane) {
	b = New(Workers(rapid.SampledFrom(workerCounts).Draw(t, "workers")))
	t.Cleanup(func() { b.Close() })
	b.tiling.band, b.tiling.columns = rapid.IntRange(1, 40).Draw(t, "band"), rapid.IntRange(1, 150).Draw(t, "columns")
	w, h = size(t)
	n := w * h
	light, level, out := noise[uint16](t, n, 65535), noise[uint8](t, n, 255), noise[uint8](t, n, 255)
	share := rapid.IntRange(0, 255).Draw(t, "excluded")
	for i := range out {
		if int(out[i]) >= share {
			out[i] = 0
		}
	}
	return b, w, h, up(t, b, w, h, light), up(t, b, w, h, level), up(t, b, w, h, out)
}

func alloc(t rapid.TB, b *Backend, kind processing.Kind, w, h int) processing.Plane {
	p, err := b.Alloc(kind, w, h)
	must(t, err)
	return p
}

func allocMarks(t rapid.TB, b *Backend, w, h int) processing.Plane {
	p, err := b.AllocMarks(w, h)
	must(t, err)
	return p
}

// unpacked returns the samples of a plane of marks.
func unpacked(p processing.Plane) []uint8 {
	w, h := p.Size()
	pix := make([]uint8, w*h)
	for y := range h {
		p.(*plane).marks.Unpack(pix[y*w:(y+1)*w], 0, y)
	}
	return pix
}

// TestMarksEqualBytes runs all operations that accept marks on marks and on the same samples as bytes.
func TestMarksEqualBytes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		b, w, h, y, _, _ := frugal(t)
		b.tiling.tile, b.tiling.rows = rapid.IntRange(1, 90).Draw(t, "tile"), rapid.IntRange(1, 30).Draw(t, "rows")
		b.tiling.whole = rapid.IntRange(0, 90).Draw(t, "whole")
		class := up(t, b, w, h, classes(t, w*h))
		c, err := processing.Evaluate(ctx, b, processing.Label{Class: class, Bits: processing.ClassCore})
		must(t, err)
		where, err := processing.Evaluate(ctx, b, processing.Spans{Components: c})
		must(t, err)
		margin := rapid.IntRange(0, 3).Draw(t, "margin")
		marks, bytes := allocMarks(t, b, w, h), alloc(t, b, processing.U8, w, h)
		for range 2 {
			must(t, b.Mark(ctx, marks, where, margin))
		}
		must(t, b.Do(ctx, processing.Rasterize{Dst: bytes, Components: c}))
		must(t, b.Do(ctx, processing.Morph{
			Dst: bytes, Src: bytes, Op: processing.Dilate, Element: processing.Square(margin),
		}))
		wantEqual(t, "marks", w, unpacked(marks), down[uint8](t, bytes))
		r := rapid.IntRange(1, 70).Draw(t, "radius")
		background := func(marked processing.Plane) []uint16 {
			dst := alloc(t, b, processing.U16, w, h)
			must(t, b.Do(ctx, processing.Background{Dst: dst, Y: y, Exclude: marked, Radii: []int{r, 2 * r}}))
			return down[uint16](t, dst)
		}
		wantEqual(t, "background", w, background(marks), background(bytes))
		marks.Release()
		marks.Release()
	})
}

func TestFirstEstimateEqualsSteps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		b, w, h, y, v, _ := frugal(t)
		op := processing.FirstEstimate{
			Exclude: allocMarks(t, b, w, h), Y: y, V: v, Radius: rapid.IntRange(1, 70).Draw(t, "radius"),
			Over: rapid.Uint16Range(0, 20000).Draw(t, "over"), Level: rapid.Uint8().Draw(t, "level"),
			Margin: rapid.IntRange(0, 4).Draw(t, "margin"),
		}
		must(t, b.FirstEstimate(ctx, op))
		opened, mean := alloc(t, b, processing.U16, w, h), alloc(t, b, processing.U16, w, h)
		want := alloc(t, b, processing.U8, w, h)
		for _, step := range []processing.Op{
			processing.Morph{Dst: opened, Src: y, Op: processing.Open, Element: processing.Square(op.Radius)},
			processing.BoxMean{Dst: mean, Src: opened, Radius: op.Radius},
			processing.DifferenceThreshold{Dst: want, Y: y, Background: mean, V: v, Over: op.Over, Level: op.Level},
			processing.Morph{Dst: want, Src: want, Op: processing.Dilate, Element: processing.Square(op.Margin)},
		} {
			must(t, b.Do(ctx, step))
		}
		wantEqual(t, "exclusion", w, unpacked(op.Exclude), down[uint8](t, want))
	})
}

func TestClassifyEqualsSteps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		b, w, h, y, v, exclude := frugal(t)
		r := rapid.IntRange(1, 12).Draw(t, "radius")
		op := processing.Classify{
			Class: alloc(t, b, processing.U8, w, h), Y: y, V: v, Exclude: exclude, Radii: []int{r, 2 * r, 5 * r},
			Contrast: processing.ContrastRule{
				Absolute: rapid.Uint16Range(0, 30000).Draw(t, "absolute"), Relative: 6000,
				SeedAbsolute: rapid.Uint16Range(0, 40000).Draw(t, "seed"), SeedLevel: rapid.Uint8().Draw(t, "level"),
			},
			PeakRadius: rapid.IntRange(1, 9).Draw(t, "peak"), Cores: processing.CoreRule{Core: 30000, Grow: 3000},
		}
		must(t, b.Classify(ctx, op))
		class, seed := alloc(t, b, processing.U8, w, h), alloc(t, b, processing.U16, w, h)
		background := alloc(t, b, processing.U16, w, h)
		for _, step := range []processing.Op{
			processing.Background{Dst: background, Y: y, Exclude: exclude, Radii: op.Radii},
			processing.Contrast{Class: class, Seed: seed, Y: y, Background: background, V: v, Rule: op.Contrast},
			processing.Morph{
				Dst: seed, Src: seed, Op: processing.Dilate, Element: processing.Square(op.PeakRadius),
			},
			processing.Cores{Class: class, Y: y, Background: background, Peak: seed, Rule: op.Cores},
		} {
			must(t, b.Do(ctx, step))
		}
		wantEqual(t, "class", w, down[uint8](t, op.Class), down[uint8](t, class))
	})
}

func TestFrugalCancelled(t *testing.T) {
	t.Parallel()
	b := New()
	defer b.Close()
	y, v := alloc(t, b, processing.U16, 5, 5), alloc(t, b, processing.U8, 5, 5)
	cls, out := alloc(t, b, processing.U8, 5, 5), allocMarks(t, b, 5, 5)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.FirstEstimate(ctx, processing.FirstEstimate{
		Exclude: out, Y: y, V: v, Radius: 2, Margin: 1,
	}); err != context.Canceled {
		t.Errorf("first estimate: %v", err)
	}
	if err := b.Mark(ctx, out, nil, 1); err != context.Canceled {
		t.Errorf("marks: %v", err)
	}
	if err := b.Classify(ctx, processing.Classify{
		Class: cls, Y: y, V: v, Exclude: out, Radii: []int{2}, PeakRadius: 1,
	}); err != context.Canceled {
		t.Errorf("classes: %v", err)
	}
}
