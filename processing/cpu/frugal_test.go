package cpu

import (
	"context"
	"slices"
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
		b, w, h, y, v, _ := frugal(t)
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
		tables := processing.NewLuminanceTables(8, processing.TransferSRGB)
		r := rapid.IntRange(1, 70).Draw(t, "radius")
		bits := rapid.SampledFrom([]uint8{0, 1, 0x50, 255}).Draw(t, "bits")
		planes := func(marked processing.Plane) (all [][]uint16, props []processing.RegionProps) {
			deviation, background, count := alloc(t, b, processing.U16, w, h), alloc(t, b, processing.U16, w, h),
				alloc(t, b, processing.U16, w, h)
			some, err := b.AllocAt(w, h, where)
			must(t, err)
			for _, op := range []processing.Op{
				processing.Background{Dst: background, Y: y, Exclude: marked, Radii: []int{r, 2 * r}},
				processing.Deviation{Dst: deviation, Y: y, Exclude: marked, Radius: r},
				processing.BoxCount{Dst: some, Class: marked, Bits: bits, Radius: r, Where: where},
				processing.BoxCount{Dst: count, Class: marked, Bits: bits, Radius: r},
			} {
				must(t, b.Do(ctx, op))
			}
			props, err = processing.Evaluate(ctx, b, processing.MeasureRegions{
				Components: c, Class: class, Member: marked, Y: y, Background: background, V: v, Deviation: deviation,
				Starlet: count, Tables: tables,
			})
			must(t, err)
			all = append(all, down[uint16](t, background), down[uint16](t, deviation), down[uint16](t, count),
				some.(*plane).selection.samples)
			return all, props
		}
		got, gotProps := planes(marks)
		want, wantProps := planes(bytes)
		for i := range want {
			wantEqual(t, []string{"background", "deviation", "count", "count of some"}[i], w, got[i], want[i])
		}
		if !slices.Equal(gotProps, wantProps) {
			t.Fatalf("measured %+v, want %+v", gotProps, wantProps)
		}
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

// TestSelectionEqualsWhole computes on planes of selected pixels and on whole ones.
func TestSelectionEqualsWhole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		b, w, h, y, v, exclude := frugal(t)
		b.tiling.tile, b.tiling.rows = rapid.IntRange(1, 30).Draw(t, "tile"), rapid.IntRange(1, 30).Draw(t, "rows")
		b.tiling.whole = rapid.IntRange(0, 90).Draw(t, "whole")
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

// TestBorrow computes the colours in the memory of other planes, and then those planes.
func TestBorrow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := New()
	defer b.Close()
	const w, h = 301, 211
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U16: make([]uint16, 3*w*h)}
	for i := range pic.U16 {
		pic.U16[i] = uint16(i * 40503)
	}
	tables := pic.Tables()
	y, v := alloc(t, b, processing.U16, w, h), alloc(t, b, processing.U8, w, h)
	var rgb []processing.Plane
	for range 3 {
		rgb = append(rgb, alloc(t, b, processing.U8, w, h))
	}
	want := processing.Luminance{Y: y, V: v, Red: rgb[0], Green: rgb[1], Blue: rgb[2], Picture: pic, Tables: tables}
	must(t, b.Do(ctx, want))
	light, level := alloc(t, b, processing.U16, w, h), alloc(t, b, processing.U8, w, h)
	var got []processing.Plane
	for _, p := range []processing.Plane{light, level} {
		parts, err := b.Borrow(p)
		must(t, err)
		got = append(got, parts...)
	}
	if len(got) != 3 {
		t.Fatalf("%d planes, want 3", len(got))
	}
	planes, bytes := b.Live()
	must(t, b.Colours(ctx, processing.Luminance{
		Red: got[0], Green: got[1], Blue: got[2], Picture: pic, Tables: tables,
	}))
	for i := range got {
		wantEqual(t, "colour", w, down[uint8](t, got[i]), down[uint8](t, rgb[i]))
		got[i].Release()
		got[i].Release()
	}
	if p, n := b.Live(); p != planes || n != bytes {
		t.Errorf("%d planes of %d bytes once the borrowed ones are released, want %d of %d", p, n, planes, bytes)
	}
	b.Trim()
	must(t, b.Do(ctx, processing.Luminance{Y: light, V: level, Picture: pic, Tables: tables}))
	wantEqual(t, "luminance", w, down[uint16](t, light), down[uint16](t, y))
	wantEqual(t, "level", w, down[uint8](t, level), down[uint8](t, v))
	if _, err := b.Borrow(got[0]); err == nil {
		t.Error("a released plane was borrowed from")
	}
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
	if _, err := b.Classify(ctx, processing.Classify{
		Class: cls, Y: y, V: v, Exclude: out, Radii: []int{2}, PeakRadius: 1,
	}); err != context.Canceled {
		t.Errorf("classes: %v", err)
	}
}
