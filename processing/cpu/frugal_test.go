package cpu

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// frugal returns a backend whose bands are low, and the planes of a picture: luminance, level and what is excluded.
func frugal(t *rapid.T) (b *Backend, w, h int, y, v, exclude processing.Plane) {
	b = New(Workers(rapid.SampledFrom(workerCounts).Draw(t, "workers")))
	t.Cleanup(func() { b.Close() })
	b.tiling.band = rapid.IntRange(1, 40).Draw(t, "band")
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

func TestFirstEstimateEqualsSteps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		b, w, h, y, v, _ := frugal(t)
		op := processing.FirstEstimate{
			Exclude: alloc(t, b, processing.U8, w, h), Y: y, V: v, Radius: rapid.IntRange(1, 70).Draw(t, "radius"),
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
		wantEqual(t, "exclusion", w, down[uint8](t, op.Exclude), down[uint8](t, want))
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
		got, err := b.Classify(ctx, op)
		must(t, err)
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
		classes := down[uint8](t, class)
		wantEqual(t, "class", w, down[uint8](t, op.Class), classes)
		var index []uint32
		for i, c := range classes {
			if c&(processing.ClassCore|processing.ClassGrow) != 0 {
				index = append(index, uint32(i))
			}
		}
		kept, want := make([]uint32, len(index)), make([]uint32, len(index))
		must(t, b.Do(ctx, processing.Gather{Values: kept, Src: got, Index: index}))
		must(t, b.Do(ctx, processing.Gather{Values: want, Src: background, Index: index}))
		if !slices.Equal(kept, want) {
			t.Fatalf("background of the classed pixels is %d, want %d", kept, want)
		}
	})
}

// TestFewEqualsWhole computes on planes for some pixels and on whole ones.
func TestFewEqualsWhole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		b, w, h, y, v, exclude := frugal(t)
		b.tiling.tile, b.tiling.rows = rapid.IntRange(1, 30).Draw(t, "tile"), rapid.IntRange(1, 30).Draw(t, "rows")
		class := up(t, b, w, h, classes(t, w*h))
		c, err := processing.Evaluate(ctx, b, processing.Label{
			Class: class, Bits: processing.ClassCore | processing.ClassGrow,
		})
		must(t, err)
		where, err := processing.Evaluate(ctx, b, processing.Spans{Components: c})
		must(t, err)
		member := alloc(t, b, processing.U8, w, h)
		must(t, b.Do(ctx, processing.Rasterize{Dst: member, Components: c}))
		var index []uint32
		for _, s := range where {
			for x := s.X0; x < s.X1; x++ {
				index = append(index, uint32(int(s.Y)*w+int(x)))
			}
		}
		tables := processing.NewLuminanceTables(8, processing.TransferSRGB)
		r := rapid.IntRange(1, 9).Draw(t, "radius")
		measure := func(at func() processing.Plane) ([]uint32, []processing.RegionProps) {
			deviation, starlet, count := at(), at(), at()
			for _, op := range []processing.Op{
				processing.Deviation{Dst: deviation, Y: y, Exclude: exclude, Radius: r, Where: where},
				processing.StarletBand{Dst: starlet, Src: v, Level: 2, Where: where},
				processing.BoxCount{Dst: count, Class: class, Bits: processing.ClassWide, Radius: r, Where: where},
			} {
				must(t, b.Do(ctx, op))
			}
			values := make([]uint32, len(index))
			must(t, b.Do(ctx, processing.Gather{Values: values, Src: count, Index: index}))
			props, err := processing.Evaluate(ctx, b, processing.MeasureRegions{
				Components: c, Class: class, Member: member, Y: y, Background: count, V: v, Deviation: deviation,
				Starlet: starlet, Tables: tables,
			})
			must(t, err)
			return values, props
		}
		got, props := measure(func() processing.Plane {
			p, err := b.AllocAt(w, h, where)
			must(t, err)
			return p
		})
		want, wantProps := measure(func() processing.Plane { return alloc(t, b, processing.U16, w, h) })
		if !slices.Equal(got, want) || !slices.Equal(props, wantProps) {
			t.Fatalf("%d and %+v, want %d and %+v", got, props, want, wantProps)
		}
	})
}

func TestTakeBytes(t *testing.T) {
	t.Parallel()
	b := New()
	defer b.Close()
	p := alloc(t, b, processing.U8, 3, 2)
	pix, err := b.TakeBytes(p)
	if err != nil || len(pix) != 6 {
		t.Fatalf("%d bytes, %v", len(pix), err)
	}
	p.Release()
	if planes, bytes := b.Live(); planes != 0 || bytes != 0 {
		t.Errorf("%d planes of %d bytes are left", planes, bytes)
	}
	if q := alloc(t, b, processing.U8, 3, 2); &down[uint8](t, q)[0] == &pix[0] {
		t.Error("the memory went to another plane")
	}
	if _, err := b.TakeBytes(p); err == nil {
		t.Error("a released plane was taken")
	}
}

func TestFrugalCancelled(t *testing.T) {
	t.Parallel()
	b := New()
	defer b.Close()
	y, v := alloc(t, b, processing.U16, 5, 5), alloc(t, b, processing.U8, 5, 5)
	cls, out := alloc(t, b, processing.U8, 5, 5), alloc(t, b, processing.U8, 5, 5)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.FirstEstimate(ctx, processing.FirstEstimate{
		Exclude: out, Y: y, V: v, Radius: 2, Margin: 1,
	}); err != context.Canceled {
		t.Errorf("first estimate: %v", err)
	}
	if _, err := b.Classify(ctx, processing.Classify{
		Class: cls, Y: y, V: v, Exclude: out, Radii: []int{2}, PeakRadius: 1,
	}); err != context.Canceled {
		t.Errorf("classes: %v", err)
	}
}
