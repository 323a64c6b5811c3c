// Package argstest holds the calls that every processing.Backend must refuse, for the tests of the backends.
package argstest

import (
	"context"
	"math"
	"reflect"
	"testing"

	"blik/processing"
)

const (
	w = 8
	h = 6
	n = w * h
)

// Refusals makes every kind of bad call of b and wants the same words from any backend, and planes left as they were. other is
// another backend.
func Refusals(t *testing.T, b, other processing.Backend) {
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var made []processing.Plane
	alloc := func(b processing.Backend, kind processing.Kind, w, h int) processing.Plane {
		t.Helper()
		p, err := b.Alloc(kind, w, h)
		must(err)
		made = append(made, p)
		return p
	}
	content := processing.Samples{U8: make([]uint8, n), U16: make([]uint16, n), U32: make([]uint32, n), F32: make([]float32, n)}
	for i := range n {
		content.U8[i], content.U16[i], content.U32[i], content.F32[i] = uint8(i), uint16(i), uint32(i), float32(i)
	}
	filled := func(kind processing.Kind) processing.Plane {
		t.Helper()
		p := alloc(b, kind, w, h)
		must(b.Upload(ctx, p, of(content, kind)))
		return p
	}
	byte1, byte2 := filled(processing.U8), filled(processing.U8)
	word1, word2 := filled(processing.U16), filled(processing.U16)
	long := filled(processing.U32)
	float1, float2, float3, float4 := filled(processing.F32), filled(processing.F32), filled(processing.F32), filled(processing.F32)
	kept := len(made)
	turned, foreign, gone := alloc(b, processing.U8, h, w), alloc(other, processing.U8, w, h), alloc(b, processing.U8, w, h)
	must(b.Upload(ctx, turned, of(content, processing.U8)))
	must(other.Upload(ctx, foreign, of(content, processing.U8)))
	gone.Release()
	none := reflect.Zero(reflect.TypeOf(byte1)).Interface().(processing.Plane)

	label := func(b processing.Backend, p processing.Plane) processing.Components {
		t.Helper()
		c, err := b.Label(ctx, p, 255)
		must(err)
		return c
	}
	sets, turnedSets, foreignSets, goneSets := label(b, byte1), label(b, turned), label(other, foreign), label(b, byte1)
	goneSets.Release()
	noSets := reflect.Zero(reflect.TypeOf(sets)).Interface().(processing.Components)

	pic := &processing.Picture{Width: w, Height: h, Channels: 1, U8: content.U8}
	deep := &processing.Picture{Width: w, Height: h, Channels: 1, U16: content.U16}
	tables, deepTables := processing.NewLumaTables(8, processing.TransferSRGB), processing.NewLumaTables(16, processing.TransferSRGB)
	square := processing.Square(1)
	tile, outside := []processing.Tile{{W: 4, H: 4}}, []processing.Tile{{X: 8, W: 1, H: 1}}
	model := []processing.Separation{{Sweeps: 1}}
	planes := func(p ...processing.Plane) []processing.Plane { return p }
	bands := func(n int) []processing.Plane {
		list := make([]processing.Plane, n)
		for i := range list {
			list[i] = float1
		}
		return list
	}
	err := func(_ any, err error) error { return err }
	morph := func(dst, src processing.Plane) error { return b.Morph(ctx, dst, src, processing.Dilate, square) }
	element := func(op processing.MorphOp, e processing.Element) error { return b.Morph(ctx, byte2, byte1, op, e) }
	harmonic := func(tiles ...processing.Tile) error {
		return b.Harmonic(ctx, float1, byte1, tiles, make([]int, len(tiles)), make([]float32, len(tiles)))
	}
	separate := func(paint, seen []processing.Plane, light processing.Plane) error {
		return b.Separate(ctx, paint, light, seen, float4, byte1, tile, model)
	}
	tally := func(c processing.Components, cls processing.Plane, t *processing.LumaTables) error {
		p := processing.TallyPlanes{Class: cls, Member: byte1, Y: word1, B: word1, V: byte1, Spread: word1, Starlet: word1}
		return err(b.Tally(ctx, c, p, t))
	}

	for _, c := range []struct {
		got  error
		want string
	}{
		{err(b.Alloc(9, w, h)), "alloc: plane of unknown kind 9"},
		{err(b.Alloc(processing.U8, 0, 1)), "alloc: plane of 0 × 1 pixels: both sides must be at least 1"},
		{err(b.Alloc(processing.U8, 1, -1)), "alloc: plane of 1 × -1 pixels: both sides must be at least 1"},
		{err(b.Alloc(processing.U8, 1<<16, 1<<16)), "alloc: plane of 65536 × 65536 pixels: more than 4294967295 pixels"},
		{err(b.Alloc(processing.F32, 1<<62, 1<<62)), "alloc: plane of 4611686018427387904 × 4611686018427387904 pixels: more than 4294967295 pixels"},

		{b.Upload(ctx, nil, content), "upload: no destination plane given"},
		{b.Upload(ctx, byte1, processing.Samples{U8: content.U8[1:]}), "upload: 47 samples of the plane's kind given, 48 needed"},
		{b.Upload(ctx, byte1, processing.Samples{U16: content.U16}), "upload: 0 samples of the plane's kind given, 48 needed"},
		{err(b.Host(ctx, none)), "host: no source plane given"},
		{err(b.Host(ctx, foreign)), "host: the source plane belongs to another backend"},
		{err(b.Host(ctx, gone)), "host: the source plane was released"},
		{b.Gather(ctx, make([]uint32, 1), float1, []uint32{1}), "gather: the source plane is F32, must be U8 or U16 or U32"},
		{b.Gather(ctx, make([]uint32, 1), byte1, []uint32{1, 2}), "gather: room for 1 values given, 2 asked for"},
		{b.Gather(ctx, make([]uint32, 2), byte1, []uint32{n, 0}), "gather: index 48 lies outside a plane of 8 × 6 pixels"},

		{b.Luma(ctx, byte1, byte2, pic, tables), "luma: the luminance plane is U8, must be U16"},
		{b.Luma(ctx, word1, word2, pic, tables), "luma: the level plane is U16, must be U8"},
		{b.Luma(ctx, word1, byte1, nil, tables), "luma: no picture or no tables given"},
		{b.Luma(ctx, word1, byte1, pic, nil), "luma: no picture or no tables given"},
		{b.Luma(ctx, word1, byte1, &processing.Picture{Width: w, Height: h, Channels: 1}, tables),
			"luma: picture of 8 × 6 pixels and 1 channels needs 48 samples of one type, has 0 of 0 types"},
		{b.Luma(ctx, word1, byte1, &processing.Picture{Width: w, Height: h, Channels: 1, U8: []uint8{}, U16: content.U16}, tables),
			"luma: picture of 8 × 6 pixels and 1 channels needs 48 samples of one type, has 48 of 2 types"},
		{b.Luma(ctx, word1, byte1, &processing.Picture{Width: h, Height: w, Channels: 1, U8: content.U8}, tables),
			"luma: the picture is 6 × 8 pixels, the planes are 8 × 6"},
		{b.Luma(ctx, word1, byte1, pic, &processing.LumaTables{Linear8: tables.Linear8}), "luma: the encoding table has 0 entries, must have 65536"},
		{b.Luma(ctx, word1, byte1, pic, deepTables), "luma: the 8-bit linear table has 0 entries, must have 256"},
		{b.Luma(ctx, word1, byte1, deep, tables), "luma: the 16-bit linear table has 0 entries, must have 65536"},

		{morph(nil, byte1), "morph: no destination plane given"},
		{morph(byte1, none), "morph: no source plane given"},
		{morph(byte1, foreign), "morph: the source plane belongs to another backend"},
		{morph(gone, byte1), "morph: the destination plane was released"},
		{morph(turned, byte1), "morph: the source plane is 8 × 6 pixels, the others are 6 × 8"},
		{morph(word1, byte1), "morph: the destination plane is U16, the source U8; both must be of one kind"},
		{morph(long, long), "morph: the destination plane is U32, must be U8 or U16 or F32"},
		{element(processing.Open, processing.Element{Size: 2, Size2: 1}), "morph: element of size 2: must be odd and at least 1"},
		{element(processing.Open, processing.Element{Size: 1, Size2: 4}), "morph: rectangle of height 4: must be odd and at least 1"},
		{element(processing.Open, processing.Element{Direction: processing.Rising, Size: -1}), "morph: element of size -1: must be odd and at least 1"},
		{element(processing.Open, processing.Element{Direction: 9, Size: 3}), "morph: unknown direction 9"},
		{element(77, square), "morph: unknown operation 77"},

		{b.BoxMean(ctx, byte1, word1, 1), "box mean: the destination plane is U8, the source U16; both must be of one kind"},
		{b.BoxMean(ctx, byte2, byte1, -1), "box mean: radius -1: must be between 0 and 2147483647"},
		{b.BoxMean(ctx, byte1, byte1, 1), "box mean: a plane that is written is given twice"},
		{b.MeanVariance(ctx, float1, float1, byte1, 2), "mean and variance: a plane that is written is given twice"},
		{b.MeanVariance(ctx, float1, float2, byte1, 128), "mean and variance: radius 128: must be between 0 and 127"},
		{b.MeanVariance(ctx, float1, float2, long, 2), "mean and variance: the source plane is U32, must be U8 or U16"},
		{b.GuardRing(ctx, float1, byte1, 3, 2, 5, 0), "guard ring: radii 3, 2 and 5: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.GuardRing(ctx, float1, byte1, -1, 2, 5, 0), "guard ring: radii -1, 2 and 5: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.GuardRing(ctx, float1, byte1, 1, 5, 5, 0), "guard ring: radii 1, 5 and 5: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.GuardRing(ctx, float1, byte1, 1, 2, 128, 0), "guard ring: radii 1, 2 and 128: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.GuardRing(ctx, float1, byte1, 1, 2, 5, -1), "guard ring: noise -1: must be at least 0 and finite"},
		{b.GuardRing(ctx, float1, byte1, 1, 2, 5, math.NaN()), "guard ring: noise NaN: must be at least 0 and finite"},
		{b.Background(ctx, word2, word1, nil, []int{1}), "background: no exclusion plane given"},
		{b.Background(ctx, word1, word1, byte1, []int{1}), "background: a plane that is written is given twice"},
		{b.Background(ctx, word2, word1, byte1, nil), "background: no radius given"},
		{b.Background(ctx, word2, word1, byte1, []int{5, 3}), "background: radius 3 after 5: must ascend"},
		{b.Background(ctx, word2, word1, byte1, []int{3, 2048}), "background: radius 2048: must be between 0 and 2047"},
		{b.Deviation(ctx, word1, word1, byte1, 1), "deviation: a plane that is written is given twice"},
		{b.Deviation(ctx, word2, word1, byte1, 128), "deviation: radius 128: must be between 0 and 127"},
		{b.BoxCount(ctx, byte2, byte1, 1, 1), "box count: the destination plane is U8, must be U16"},
		{b.BoxCount(ctx, word1, byte1, 1, 128), "box count: radius 128: must be between 0 and 127"},

		{b.Contrast(ctx, byte2, word1, word2, word1, byte1, processing.ContrastRule{}), "contrast: a plane that is written is given twice"},
		{b.Contrast(ctx, byte1, word1, word2, word2, byte1, processing.ContrastRule{}), "contrast: a plane that is written is given twice"},
		{b.Contrast(ctx, byte2, byte1, word2, word2, byte1, processing.ContrastRule{}), "contrast: the seed plane is U8, must be U16"},
		{b.Cores(ctx, word1, word1, word2, word1, processing.CoreRule{}), "cores: the class plane is U16, must be U8"},
		{b.Threshold(ctx, byte1, float1, 1), "threshold: the source plane is F32, must be U8 or U16"},
		{b.Excess(ctx, byte1, word1, word2, word1, 1, 1), "excess: the level plane is U16, must be U8"},
		{b.Excess(ctx, byte1, word1, word2, byte1, 1, 1), "excess: a plane that is written is given twice"},

		{b.Gaussian(ctx, byte2, byte1, -1), "gaussian: standard deviation -1: must be between 0 and 1000"},
		{b.Gaussian(ctx, byte2, byte1, math.NaN()), "gaussian: standard deviation NaN: must be between 0 and 1000"},
		{b.Gaussian(ctx, byte2, word1, 1), "gaussian: the destination plane is U8, the source U16; both must be of one kind"},
		{b.Gaussian(ctx, byte1, byte1, 1), "gaussian: a plane that is written is given twice"},
		{b.Wavelet(ctx, byte2, byte1, processing.Haar), "wavelet: the destination plane is U8, must be F32"},
		{b.Wavelet(ctx, float1, byte1, 7), "wavelet: unknown wavelet 7"},
		{b.Wavelet(ctx, float1, float1, processing.Haar), "wavelet: a plane that is written is given twice"},
		{b.InverseWavelet(ctx, float1, byte1, processing.Haar), "inverse wavelet: the source plane is U8, must be F32"},
		{b.InverseWavelet(ctx, float1, float2, 7), "inverse wavelet: unknown wavelet 7"},
		{b.InverseWavelet(ctx, float1, float1, processing.Haar), "inverse wavelet: a plane that is written is given twice"},
		{b.Starlet(ctx, planes(float1), float1, byte1), "starlet: a plane that is written is given twice"},
		{b.Starlet(ctx, planes(float1), float2, float1), "starlet: a plane that is written is given twice"},
		{b.Starlet(ctx, planes(float1, float1), float2, byte1), "starlet: a plane that is written is given twice"},
		{b.Starlet(ctx, planes(float1), nil, byte1), "starlet: no smooth plane given"},
		{b.Starlet(ctx, planes(nil), float1, byte1), "starlet: no band plane given"},
		{b.Starlet(ctx, bands(25), float2, byte1), "starlet: 25 bands: at most 24"},
		{b.StarletBand(ctx, word1, byte1, 4), "starlet band: level 4: must be 1, 2 or 3"},
		{b.StarletBand(ctx, byte2, byte1, 1), "starlet band: the destination plane is U8, must be U16"},
		{err(b.NoiseTiles(ctx, byte1, 1)), "noise tiles: tiles of 1 pixels: at least 2"},
		{err(b.NoiseTiles(ctx, float1, 8)), "noise tiles: the source plane is F32, must be U8 or U16"},

		{err(b.Label(ctx, word1, 1)), "label: the class plane is U16, must be U8"},
		{err(b.Grow(ctx, nil, byte1, processing.Growth{})), "grow: no components given"},
		{err(b.Grow(ctx, sets, turned, processing.Growth{})), "grow: the components are of 8 × 6 pixels, the planes are 6 × 8"},
		{err(b.Grow(ctx, sets, byte1, processing.Growth{Limit: -1})), "grow: growth of up to -1 pixels: must be between 0 and 127"},
		{err(b.Grow(ctx, sets, byte1, processing.Growth{Limit: 128})), "grow: growth of up to 128 pixels: must be between 0 and 127"},
		{err(b.Grow(ctx, sets, byte1, processing.Growth{Limit: math.NaN()})), "grow: growth of up to NaN pixels: must be between 0 and 127"},
		{err(b.Grow(ctx, sets, byte1, processing.Growth{FarSlope: math.NaN()})),
			"grow: growth {Base:0 Slope:0 FarBase:0 FarSlope:NaN Limit:0 Closed:0 MaxCore:0}: no value may be negative"},
		{err(b.Grow(ctx, sets, byte1, processing.Growth{MaxCore: -1})),
			"grow: growth {Base:0 Slope:0 FarBase:0 FarSlope:0 Limit:0 Closed:0 MaxCore:-1}: no value may be negative"},
		{b.Keep(ctx, sets, make([]bool, sets.Len()+1)), "keep: 2 labels told, there are 1"},
		{b.Keep(ctx, noSets, nil), "keep: no components given"},
		{b.Paint(ctx, byte2, foreignSets), "paint: the components belong to another backend"},
		{b.Paint(ctx, byte2, goneSets), "paint: the components were released"},
		{b.Paint(ctx, byte2, turnedSets), "paint: the components are of 6 × 8 pixels, the planes are 8 × 6"},
		{b.Paint(ctx, word1, sets), "paint: the destination plane is U16, must be U8"},
		{err(b.Spans(ctx, nil)), "spans: no components given"},
		{err(b.Spans(ctx, goneSets)), "spans: the components were released"},
		{b.FillHoles(ctx, word1), "fill holes: the destination plane is U16, must be U8"},
		{tally(nil, byte1, tables), "tally: no components given"},
		{tally(sets, nil, tables), "tally: no class plane given"},
		{tally(sets, byte1, nil), "tally: no tables given"},
		{tally(sets, byte1, &processing.LumaTables{}), "tally: the encoding table has 0 entries, must have 65536"},

		{b.Convolve(ctx, float1, byte1, tile, []float64{0}), "convolve: sigma 0 of tile 0: must lie between 0 and a million"},
		{b.Convolve(ctx, float1, byte1, tile, []float64{math.NaN()}), "convolve: sigma NaN of tile 0: must lie between 0 and a million"},
		{b.Convolve(ctx, float1, byte1, tile, nil), "convolve: 0 sigmas given for 1 tiles"},
		{harmonic(processing.Tile{X: 5, W: 4, H: 4}), "harmonic: tile 0 (4 × 4 at 5, 0) does not lie in planes of 8 × 6 pixels"},
		{harmonic(tile[0], processing.Tile{Y: -1, W: 4, H: 4}), "harmonic: tile 1 (4 × 4 at 0, -1) does not lie in planes of 8 × 6 pixels"},
		{harmonic(processing.Tile{H: 4}), "harmonic: tile 0 (0 × 4 at 0, 0) does not lie in planes of 8 × 6 pixels"},
		{harmonic(processing.Tile{X: 1, W: math.MaxInt, H: 4}),
			"harmonic: tile 0 (9223372036854775807 × 4 at 1, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Harmonic(ctx, float1, byte1, tile, nil, []float32{1}), "harmonic: 0 numbers of sweeps given for 1 tiles"},
		{b.Harmonic(ctx, float1, byte1, tile, []int{1}, nil), "harmonic: 0 factors of relaxation given for 1 tiles"},
		{b.Harmonic(ctx, float1, byte1, tile, []int{-1}, []float32{1}), "harmonic: -1 sweeps of tile 0: must be between 0 and 2147483647"},
		{b.Biharmonic(ctx, float1, float2, tile, []int{1}, 1), "biharmonic: the state plane is F32, must be U8"},
		{b.Biharmonic(ctx, float1, byte1, tile, []int{1 << 31}, 1), "biharmonic: 2147483648 sweeps of tile 0: must be between 0 and 2147483647"},
		{b.Detail(ctx, float1, float1, byte1, tile), "detail: a plane that is written is given twice"},
		{b.Convolve(ctx, float1, byte1, outside, []float64{1}), "convolve: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Biharmonic(ctx, float1, byte1, outside, []int{1}, 1), "biharmonic: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Biharmonic(ctx, float1, byte1, tile, nil, 1), "biharmonic: 0 numbers of sweeps given for 1 tiles"},
		{b.Separate(ctx, planes(float1), float3, planes(float2), float4, byte1, outside, model),
			"separate: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Detail(ctx, float1, float2, byte1, outside), "detail: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{separate(nil, nil, float3), "separate: 0 planes of paint and 0 seen: 1 to 4 of each are needed"},
		{separate(planes(float1), planes(float2, float2), float3), "separate: 1 planes of paint and 2 seen: 1 to 4 of each are needed"},
		{separate(bands(5), bands(5), float3), "separate: 5 planes of paint and 5 seen: 1 to 4 of each are needed"},
		{separate(planes(float1, float1), planes(float2, float2), float3), "separate: a plane that is written is given twice"},
		{separate(planes(float1), planes(float2), float2), "separate: a plane that is written is given twice"},
		{separate(planes(float1), planes(float2), float4), "separate: a plane that is written is given twice"},
		{b.Separate(ctx, planes(float1), float3, planes(float2), float4, byte1, tile, nil), "separate: 0 models given for 1 tiles"},
		{b.Separate(ctx, planes(float1), float3, planes(float2), float4, byte1, tile, []processing.Separation{{Sweeps: -1}}),
			"separate: -1 sweeps of tile 0: must be between 0 and 2147483647"},

		{err(b.Histogram(ctx, float1, nil)), "histogram: the source plane is F32, must be U8 or U16"},
		{err(b.Histogram(ctx, byte1, turned)), "histogram: the exclusion plane is 6 × 8 pixels, the others are 8 × 6"},
		{err(b.Moments(ctx, nil)), "moments: no source plane given"},
	} {
		if want := b.Name() + ": " + c.want; c.got == nil || c.got.Error() != want {
			t.Errorf("%v, want %s", c.got, want)
		}
	}

	// Each plane of each operation: none in its place, and where not every kind will do, one of 32-bit integers.
	type role struct {
		name, kinds string
		p           processing.Plane
	}
	const every, u8, u16, f32, integers, samples = "", "U8", "U16", "F32", "U8 or U16", "U8 or U16 or F32"
	for _, o := range []struct {
		op    string
		roles []role
		call  func(p []processing.Plane) error
	}{
		{"upload", []role{{"destination", every, byte1}}, func(p []processing.Plane) error { return b.Upload(ctx, p[0], content) }},
		{"host", []role{{"source", every, byte1}}, func(p []processing.Plane) error { return err(b.Host(ctx, p[0])) }},
		{"gather", []role{{"source", every, byte1}}, func(p []processing.Plane) error { return b.Gather(ctx, nil, p[0], nil) }},
		{"luma", []role{{"luminance", u16, word1}, {"level", u8, byte1}},
			func(p []processing.Plane) error { return b.Luma(ctx, p[0], p[1], pic, tables) }},
		{"morph", []role{{"destination", samples, byte2}, {"source", samples, byte1}},
			func(p []processing.Plane) error { return b.Morph(ctx, p[0], p[1], processing.Open, square) }},
		{"box mean", []role{{"destination", samples, byte2}, {"source", samples, byte1}},
			func(p []processing.Plane) error { return b.BoxMean(ctx, p[0], p[1], 1) }},
		{"mean and variance", []role{{"mean", f32, float1}, {"variance", f32, float2}, {"source", integers, byte1}},
			func(p []processing.Plane) error { return b.MeanVariance(ctx, p[0], p[1], p[2], 1) }},
		{"guard ring", []role{{"destination", f32, float1}, {"source", integers, byte1}},
			func(p []processing.Plane) error { return b.GuardRing(ctx, p[0], p[1], 1, 2, 5, 0) }},
		{"background", []role{{"destination", u16, word2}, {"luminance", u16, word1}, {"exclusion", u8, byte1}},
			func(p []processing.Plane) error { return b.Background(ctx, p[0], p[1], p[2], []int{1}) }},
		{"deviation", []role{{"destination", u16, word2}, {"luminance", u16, word1}, {"exclusion", u8, byte1}},
			func(p []processing.Plane) error { return b.Deviation(ctx, p[0], p[1], p[2], 1) }},
		{"box count", []role{{"destination", u16, word1}, {"class", u8, byte1}},
			func(p []processing.Plane) error { return b.BoxCount(ctx, p[0], p[1], 1, 1) }},
		{"contrast", []role{{"class", u8, byte2}, {"seed", u16, word2}, {"luminance", u16, word1}, {"background", u16, word1}, {"level", u8, byte1}},
			func(p []processing.Plane) error {
				return b.Contrast(ctx, p[0], p[1], p[2], p[3], p[4], processing.ContrastRule{})
			}},
		{"cores", []role{{"class", u8, byte1}, {"luminance", u16, word1}, {"background", u16, word1}, {"peak", u16, word1}},
			func(p []processing.Plane) error { return b.Cores(ctx, p[0], p[1], p[2], p[3], processing.CoreRule{}) }},
		{"threshold", []role{{"destination", u8, byte2}, {"source", integers, byte1}},
			func(p []processing.Plane) error { return b.Threshold(ctx, p[0], p[1], 1) }},
		{"excess", []role{{"destination", u8, byte2}, {"luminance", u16, word1}, {"background", u16, word1}, {"level", u8, byte1}},
			func(p []processing.Plane) error { return b.Excess(ctx, p[0], p[1], p[2], p[3], 1, 1) }},
		{"gaussian", []role{{"destination", samples, byte2}, {"source", samples, byte1}},
			func(p []processing.Plane) error { return b.Gaussian(ctx, p[0], p[1], 1) }},
		{"wavelet", []role{{"destination", f32, float1}, {"source", samples, byte1}},
			func(p []processing.Plane) error { return b.Wavelet(ctx, p[0], p[1], processing.Haar) }},
		{"inverse wavelet", []role{{"destination", f32, float1}, {"source", f32, float2}},
			func(p []processing.Plane) error { return b.InverseWavelet(ctx, p[0], p[1], processing.Haar) }},
		{"starlet", []role{{"band", f32, float1}, {"smooth", f32, float2}, {"source", samples, byte1}},
			func(p []processing.Plane) error { return b.Starlet(ctx, p[:1], p[1], p[2]) }},
		{"starlet band", []role{{"destination", u16, word1}, {"source", u8, byte1}},
			func(p []processing.Plane) error { return b.StarletBand(ctx, p[0], p[1], 1) }},
		{"noise tiles", []role{{"source", integers, byte1}}, func(p []processing.Plane) error { return err(b.NoiseTiles(ctx, p[0], 2)) }},
		{"label", []role{{"class", u8, byte1}}, func(p []processing.Plane) error { return err(b.Label(ctx, p[0], 1)) }},
		{"grow", []role{{"class", u8, byte1}}, func(p []processing.Plane) error { return err(b.Grow(ctx, sets, p[0], processing.Growth{})) }},
		{"paint", []role{{"destination", u8, byte1}}, func(p []processing.Plane) error { return b.Paint(ctx, p[0], sets) }},
		{"fill holes", []role{{"destination", u8, byte1}}, func(p []processing.Plane) error { return b.FillHoles(ctx, p[0]) }},
		{"tally", []role{{"class", u8, byte1}, {"member", u8, byte1}, {"luminance", u16, word1}, {"background", u16, word1}, {"level", u8, byte1},
			{"deviation", u16, word1}, {"starlet", u16, word1}},
			func(p []processing.Plane) error {
				given := processing.TallyPlanes{Class: p[0], Member: p[1], Y: p[2], B: p[3], V: p[4], Spread: p[5], Starlet: p[6]}
				return err(b.Tally(ctx, sets, given, tables))
			}},
		{"convolve", []role{{"destination", f32, float1}, {"state", u8, byte1}},
			func(p []processing.Plane) error { return b.Convolve(ctx, p[0], p[1], tile, []float64{1}) }},
		{"harmonic", []role{{"destination", f32, float1}, {"state", u8, byte1}},
			func(p []processing.Plane) error {
				return b.Harmonic(ctx, p[0], p[1], tile, []int{1}, []float32{1})
			}},
		{"biharmonic", []role{{"destination", f32, float1}, {"state", u8, byte1}},
			func(p []processing.Plane) error { return b.Biharmonic(ctx, p[0], p[1], tile, []int{1}, 1) }},
		{"detail", []role{{"destination", f32, float1}, {"source", f32, float2}, {"state", u8, byte1}},
			func(p []processing.Plane) error { return b.Detail(ctx, p[0], p[1], p[2], tile) }},
		{"separate", []role{{"paint", f32, float1}, {"seen", f32, float2}, {"light", f32, float3}, {"expected light", f32, float4}, {"state", u8, byte1}},
			func(p []processing.Plane) error {
				return b.Separate(ctx, p[:1], p[2], p[1:2], p[3], p[4], tile, model)
			}},
		{"histogram", []role{{"source", integers, byte1}, {"exclusion", u8, byte2}},
			func(p []processing.Plane) error { return err(b.Histogram(ctx, p[0], p[1])) }},
		{"moments", []role{{"source", every, byte1}}, func(p []processing.Plane) error { return err(b.Moments(ctx, p[0])) }},
	} {
		for i, r := range o.roles {
			try := func(p processing.Plane, want string) {
				t.Helper()
				list := make([]processing.Plane, len(o.roles))
				for k := range list {
					list[k] = o.roles[k].p
				}
				list[i] = p
				if got := o.call(list); got == nil || got.Error() != b.Name()+": "+o.op+": "+want {
					t.Errorf("%v, want %s: %s", got, o.op, want)
				}
			}
			try(none, "no "+r.name+" plane given")
			if r.kinds != every {
				try(long, "the "+r.name+" plane is U32, must be "+r.kinds)
			}
		}
	}

	for _, p := range made[:kept] {
		got, err := b.Host(ctx, p)
		must(err)
		if want := of(content, p.Kind()); !reflect.DeepEqual(got, want) {
			t.Errorf("a refused call has changed a plane of %v: %v", p.Kind(), got)
		}
	}
	for _, p := range made {
		p.Release()
	}
	for _, c := range []processing.Components{sets, turnedSets, foreignSets} {
		c.Release()
	}
}

// of is the slice of the given kind alone.
func of(s processing.Samples, kind processing.Kind) (one processing.Samples) {
	switch kind {
	case processing.U8:
		one.U8 = s.U8
	case processing.U16:
		one.U16 = s.U16
	case processing.U32:
		one.U32 = s.U32
	case processing.F32:
		one.F32 = s.F32
	}
	return one
}
