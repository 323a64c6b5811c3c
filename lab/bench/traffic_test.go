package bench

import (
	"context"
	"reflect"
	"testing"

	"blik/internal/test/optest"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// Each operation counts the expected bytes, computed by hand from the kinds of its planes.
func TestTrafficCountsEveryOperation(t *testing.T) {
	const n, tiles = optest.W * optest.H, 7
	type moved struct{ stage, up, down int64 }
	ctx := t.Context()
	b := &traffic{Backend: cpu.New(), bytes: map[string]int64{}}
	ops := optest.All(t, b)
	sizeOf := func(list any) int64 {
		return int64(reflect.TypeOf(list).Elem().Size()) * int64(reflect.ValueOf(list).Len())
	}
	for _, op := range ops {
		clear(b.bytes)
		end := b.Stage("stage")
		err := b.Do(ctx, op)
		end()
		if err != nil {
			t.Error(err)
			continue
		}
		var want moved
		switch o := op.(type) {
		case processing.Luminance:
			want = moved{stage: 6*n + 3*n + 3*n, up: 6 * n}
		case processing.Glints:
			want.stage = 5 * n
		case processing.GlintChannels:
			want.stage = 3 * n
		case processing.MeasureGlints:
			want.down = sizeOf(*o.Out)
			for _, p := range *o.Out {
				want.stage += 5 * int64(p.Area)
			}
		case processing.Morph:
			want.stage = 4 * n
		case processing.BoxMean:
			want.stage = 2 * n
		case processing.Background:
			want.stage = 5 * n
		case processing.StarletBand:
			want.stage = 3 * n
		case processing.Contrast:
			want.stage = (1 + 2 + 2 + 2 + 1) * n
		case processing.Cores:
			want.stage = (1 + 1 + 2 + 2 + 2) * n
		case processing.DifferenceThreshold:
			want.stage = (1 + 2 + 2 + 1) * n
		case processing.Gaussian:
			want.stage = 2 * n
		case processing.FillHoles:
			want.stage = 2 * n
		case processing.Histogram:
			want = moved{stage: 2 * n, down: 8 * 256}
		case processing.NoiseTiles:
			want = moved{stage: n, down: sizeOf(*o.Out)}
		case processing.Label, processing.Rasterize:
			want.stage = n
		case processing.Grow:
		case processing.FilterComponents:
			want.up = int64(len(o.Keep))
		case processing.Spans:
			want.down = 16 * int64(len(*o.Out))
		case processing.Harmonic, processing.Detail:
			want.stage = tiles * 9
		case processing.Separate:
			want.stage = tiles * (8 + 4 + 8 + 4 + 1)
		default:
			t.Errorf("%T is not tested", op)
		}
		if got := (moved{b.bytes["stage"], b.bytes[stageUpload], b.bytes[stageDownload]}); got != want {
			t.Errorf("%s counts %+v, want %+v", processing.NameOf(op), got, want)
		}
	}
	clear(b.bytes)
	p := optest.Plane(t, b, processing.F32)
	if _, err := b.Host(ctx, p); err != nil || b.bytes[stageUpload] != 4*n || b.bytes[stageDownload] != 4*n {
		t.Errorf("a plane sent and fetched counts %v, error %v", b.bytes, err)
	}
}

// Operations outside all stages, and those in a nested stage, do not count for the outer stage.
func TestTrafficByStage(t *testing.T) {
	b := &traffic{Backend: cpu.New(), bytes: map[string]int64{}}
	p, err := b.Alloc(processing.U8, 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	move := func() {
		if err := b.Do(context.Background(), processing.FillHoles{Dst: p}); err != nil {
			t.Fatal(err)
		}
	}
	move()
	outer := b.Stage("outer")
	move()
	inner := b.Stage("inner")
	move()
	move()
	inner()
	inner()
	move()
	outer()
	move()
	if b.bytes[""] != 40 || b.bytes["outer"] != 40 || b.bytes["inner"] != 40 {
		t.Errorf("%v", b.bytes)
	}
}

func TestTrafficChangesNothing(t *testing.T) {
	pic := painting(t, 257, 131, 16)
	p := processing.DefaultParams()
	p.Margin, p.Feather, p.Detector = 2, 1.5, processing.DetectorClassic
	want, err := detect.Detect(t.Context(), cpu.New(), pic, p, detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counted := &traffic{Backend: cpu.New(), bytes: map[string]int64{}}
	got, err := detect.Detect(t.Context(), counted, pic, p, detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := differ("counted", &got.Found, &outcome{"plain", &want.Found}); d != nil || want.Mask.Area() == 0 {
		t.Errorf("%+v, %d pixels", d, want.Mask.Area())
	}
	// Luminance: 16-bit RGB read, Y and v written. Cleanup: at least the mask dilated in place, and blurred.
	n := int64(257 * 131)
	if b := counted.bytes; b["luminance"] != 9*n || b["cleanup"] < 4*n || b[stageUpload] < 6*n || b[stageDownload] < n {
		t.Errorf("%v", b)
	}
	if counted.Close() != nil {
		t.Error("closing fails")
	}
}
