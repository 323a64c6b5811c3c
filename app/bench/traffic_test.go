package bench

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"blik/processing"
	"blik/processing/cpu"
)

// Every method of Backend is called once, on planes of 6 × 4 pixels, and counts the bytes that are expected here, which are
// worked out from the planes' kinds by hand.
func TestTrafficCountsEveryOperation(t *testing.T) {
	const w, h, n = 6, 4, 24
	ctx := t.Context()
	inner := cpu.New()
	b := &traffic{inner: inner, bytes: map[string]int64{}}
	plane := func(kind processing.Kind) processing.Plane {
		p, err := b.Alloc(kind, w, h)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Release)
		s := map[processing.Kind]processing.Samples{
			processing.U8: {U8: make([]uint8, n)}, processing.U16: {U16: make([]uint16, n)}, processing.U32: {U32: make([]uint32, n)}, processing.F32: {F32: make([]float32, n)},
		}[kind]
		if err := inner.Upload(ctx, p, s); err != nil {
			t.Fatal(err)
		}
		return p
	}
	const u8, u16, u32, f32 = processing.U8, processing.U16, processing.U32, processing.F32
	// A core of three pixels.
	cls := plane(u8)
	samples := make([]uint8, n)
	for _, i := range []int{7, 8, 13} {
		samples[i] = processing.ClassCore | processing.ClassWide
	}
	if err := inner.Upload(ctx, cls, processing.Samples{U8: samples}); err != nil {
		t.Fatal(err)
	}
	cores, err := inner.Label(ctx, cls, processing.ClassCore)
	if err != nil || cores.Len() != 1 {
		t.Fatal(cores.Len(), err)
	}
	defer cores.Release()
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U16: make([]uint16, 3*n)}
	tables := pic.Tables()
	tiles := []processing.Tile{{X: 1, Y: 1, W: 3, H: 2}, {X: 4, Y: 0, W: 1, H: 1}}
	model := processing.Separation{Variance: [4]float32{1, 1, 1, 1}, Light: [4]float32{1}, Sweeps: 1}
	model.Axes[0][0] = 1
	expected := plane(f32)
	if err := inner.Upload(ctx, expected, processing.Samples{F32: slices.Repeat([]float32{1}, n)}); err != nil {
		t.Fatal(err)
	}

	type moved struct{ stage, up, down int64 }
	calls := map[string]struct {
		call func() error
		want moved
	}{
		"Name":   {func() error { b.Name(); return nil }, moved{}},
		"Alloc":  {func() error { _, err := b.Alloc(u8, 1, 1); return err }, moved{}},
		"Upload": {func() error { return b.Upload(ctx, plane(u32), processing.Samples{U32: make([]uint32, n)}) }, moved{up: 4 * n}},
		"Host":   {func() error { _, err := b.Host(ctx, plane(u16)); return err }, moved{down: 2 * n}},
		"Gather": {func() error { return b.Gather(ctx, make([]uint32, 5), plane(u16), make([]uint32, 5)) }, moved{5 * (4 + 2 + 4), 20, 20}},
		"Luma":   {func() error { return b.Luma(ctx, plane(u16), plane(u8), pic, tables) }, moved{6*n + 3*n, 6 * n, 0}},
		"Morph": {func() error {
			return b.Morph(ctx, plane(u16), plane(u16), processing.Close, processing.Square(1))
		}, moved{stage: 4 * n}},
		"BoxMean":      {func() error { return b.BoxMean(ctx, plane(u8), plane(u8), 1) }, moved{stage: 2 * n}},
		"MeanVariance": {func() error { return b.MeanVariance(ctx, plane(f32), plane(f32), plane(u8), 1) }, moved{stage: 9 * n}},
		"GuardRing":    {func() error { return b.GuardRing(ctx, plane(f32), plane(u16), 0, 1, 2, 1) }, moved{stage: 6 * n}},
		"Background":   {func() error { return b.Background(ctx, plane(u16), plane(u16), plane(u8), []int{1, 2}) }, moved{stage: 5 * n}},
		"Deviation":    {func() error { return b.Deviation(ctx, plane(u16), plane(u16), plane(u8), 1) }, moved{stage: 5 * n}},
		"BoxCount":     {func() error { return b.BoxCount(ctx, plane(u16), plane(u8), 1, 1) }, moved{stage: 3 * n}},
		"Contrast": {func() error {
			return b.Contrast(ctx, plane(u8), plane(u16), plane(u16), plane(u16), plane(u8), processing.ContrastRule{})
		}, moved{stage: (1 + 2 + 2 + 2 + 1) * n}},
		"Cores": {func() error {
			return b.Cores(ctx, plane(u8), plane(u16), plane(u16), plane(u16), processing.CoreRule{})
		}, moved{stage: (1 + 1 + 2 + 2 + 2) * n}},
		"Threshold":      {func() error { return b.Threshold(ctx, plane(u8), plane(u16), 9) }, moved{stage: 3 * n}},
		"Excess":         {func() error { return b.Excess(ctx, plane(u8), plane(u16), plane(u16), plane(u8), 1, 1) }, moved{stage: (1 + 2 + 2 + 1) * n}},
		"Gaussian":       {func() error { return b.Gaussian(ctx, plane(f32), plane(f32), 1) }, moved{stage: 8 * n}},
		"Wavelet":        {func() error { return b.Wavelet(ctx, plane(f32), plane(u8), processing.Haar) }, moved{stage: 5 * n}},
		"InverseWavelet": {func() error { return b.InverseWavelet(ctx, plane(f32), plane(f32), processing.Haar) }, moved{stage: 8 * n}},
		"Starlet": {func() error {
			return b.Starlet(ctx, []processing.Plane{plane(f32), plane(f32)}, plane(f32), plane(u8))
		}, moved{stage: (4 + 4 + 4 + 1) * n}},
		"StarletBand": {func() error { return b.StarletBand(ctx, plane(u16), plane(u8), 2) }, moved{stage: 3 * n}},
		"NoiseTiles":  {func() error { _, err := b.NoiseTiles(ctx, plane(u8), 3); return err }, moved{stage: n, down: 8 * 2}},
		"Label":       {func() error { c, err := b.Label(ctx, cls, processing.ClassCore); c.Release(); return err }, moved{stage: n}},
		"Grow": {func() error {
			c, err := b.Grow(ctx, cores, cls, processing.Growth{Limit: 2, MaxCore: 9})
			c.Release()
			return err
		}, moved{}},
		"Keep":      {func() error { return b.Keep(ctx, cores, []bool{true}) }, moved{up: 1}},
		"FillHoles": {func() error { return b.FillHoles(ctx, plane(u8)) }, moved{stage: 2 * n}},
		"Paint":     {func() error { return b.Paint(ctx, plane(u8), cores) }, moved{stage: n}},
		"Spans":     {func() error { _, err := b.Spans(ctx, cores); return err }, moved{down: 2 * spanBytes}},
		"Tally": {func() error {
			_, err := b.Tally(ctx, cores, processing.TallyPlanes{Class: cls, Member: cls, Y: plane(u16), B: plane(u16), V: plane(u8), Spread: plane(u16), Starlet: plane(u16)}, tables)
			return err
		}, moved{stage: 3 * 11, down: int64(reflect.TypeFor[processing.Tally]().Size())}},
		"Convolve":   {func() error { return b.Convolve(ctx, plane(f32), plane(u8), tiles, []float64{1, 1}) }, moved{stage: 7 * 9}},
		"Harmonic":   {func() error { return b.Harmonic(ctx, plane(f32), plane(u8), tiles, []int{1, 1}, []float32{1, 1}) }, moved{stage: 7 * 9}},
		"Biharmonic": {func() error { return b.Biharmonic(ctx, plane(f32), plane(u8), tiles, []int{1, 1}, 1) }, moved{stage: 7 * 9}},
		"Detail":     {func() error { return b.Detail(ctx, plane(f32), plane(f32), plane(u8), tiles) }, moved{stage: 7 * 9}},
		"Separate": {func() error {
			return b.Separate(ctx, []processing.Plane{plane(f32)}, plane(f32), []processing.Plane{plane(f32)}, expected, plane(u8), tiles, []processing.Separation{model, model})
		}, moved{stage: 7 * (8 + 4 + 8 + 4 + 1)}},
		"Histogram": {func() error { _, err := b.Histogram(ctx, plane(u8), nil); return err }, moved{stage: n, down: 8 * 256}},
		"Moments":   {func() error { _, err := b.Moments(ctx, plane(u16)); return err }, moved{stage: 2 * n, down: int64(reflect.TypeFor[processing.Moments]().Size())}},
		"Stage":     {func() error { b.Stage("inner")(); return nil }, moved{}},
		"Timings":   {func() error { b.Timings(); return nil }, moved{}},
		"Close":     {func() error { return nil }, moved{}},
	}
	methods := reflect.TypeFor[processing.Backend]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		c, ok := calls[name]
		if !ok {
			t.Errorf("%s is not tested", name)
			continue
		}
		clear(b.bytes)
		end := b.Stage("stage")
		err := c.call()
		end()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := (moved{b.bytes["stage"], b.bytes[stageUpload], b.bytes[stageDownload]}); got != c.want {
			t.Errorf("%s counts %+v, want %+v", name, got, c.want)
		}
		delete(calls, name)
	}
	for name := range calls {
		t.Errorf("Backend has no %s", name)
	}
}

// What runs outside of all stages, and in one that lies within another, is not counted for the outer one.
func TestTrafficByStage(t *testing.T) {
	b := &traffic{inner: cpu.New(), bytes: map[string]int64{}}
	p, err := b.Alloc(processing.U8, 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	move := func() {
		if err := b.Threshold(context.Background(), p, p, 1); err != nil {
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
	p.Margin, p.Feather = 2, 1.5
	want, err := processing.Detect(t.Context(), cpu.New(), pic, p, processing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counted := &traffic{inner: cpu.New(), bytes: map[string]int64{}}
	got, err := processing.Detect(t.Context(), counted, pic, p, processing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := differ("counted", got, &outcome{"plain", want}); d != nil || want.Mask.Area() == 0 {
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
