package processing_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/optest"
)

const (
	w = optest.W
	h = optest.H
	n = w * h
)

// Every kind of bad call is refused, and planes stay as they were. Bad planes are tested in TestEveryPlaneIsChecked.
func TestBadArguments(t *testing.T) {
	b, other := processing.Backend(cpu.New()), processing.Backend(cpu.New())
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
	content := processing.Samples{U8: make([]uint8, n), U16: make([]uint16, n), U32: make([]uint32, n),
		F32: make([]float32, n)}
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
	float1, float2 := filled(processing.F32), filled(processing.F32)
	float3, float4 := filled(processing.F32), filled(processing.F32)
	kept := len(made)
	turned, foreign, gone := alloc(b, processing.U8, h, w), alloc(other, processing.U8, w, h), alloc(b, processing.U8,
		w, h)
	must(b.Upload(ctx, turned, of(content, processing.U8)))
	must(other.Upload(ctx, foreign, of(content, processing.U8)))
	gone.Release()
	none := reflect.Zero(reflect.TypeOf(byte1)).Interface().(processing.Plane)

	label := func(b processing.Backend, p processing.Plane) processing.Components {
		t.Helper()
		c, err := processing.Evaluate(ctx, b, processing.Label{Class: p, Bits: 255})
		must(err)
		return c
	}
	sets, turnedSets, foreignSets, goneSets := label(b, byte1), label(b, turned), label(other, foreign), label(b, byte1)
	goneSets.Release()
	noSets := reflect.Zero(reflect.TypeOf(sets)).Interface().(processing.Components)

	pic := &processing.Picture{Width: w, Height: h, Channels: 1, U8: content.U8}
	deep := &processing.Picture{Width: w, Height: h, Channels: 1, U16: content.U16}
	tables, deepTables := processing.NewLuminanceTables(8, processing.TransferSRGB), processing.NewLuminanceTables(16,
		processing.TransferSRGB)
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
	morph := func(dst, src processing.Plane) error {
		return b.Do(ctx, processing.Morph{Dst: dst, Src: src, Op: processing.Dilate, Element: square})
	}
	element := func(op processing.MorphOp, e processing.Element) error {
		return b.Do(ctx, processing.Morph{Dst: byte2, Src: byte1, Op: op, Element: e})
	}
	harmonic := func(tiles ...processing.Tile) error {
		return b.Do(ctx, processing.Harmonic{
			Dst: float1, State: byte1, Tiles: tiles, Sweeps: make([]int, len(tiles)),
			Omegas: make([]float32, len(tiles)),
		})
	}
	separate := func(paint, seen []processing.Plane, light processing.Plane) error {
		return b.Do(ctx, processing.Separate{
			Paint: paint, Light: light, Seen: seen, Expected: float4, State: byte1, Tiles: tile, Models: model,
		})
	}
	measure := func(c processing.Components, cls processing.Plane, t *processing.LuminanceTables) error {
		return err(processing.Evaluate(ctx, b, processing.MeasureRegions{
			Components: c, Class: cls, Member: byte1, Y: word1, Background: word1, V: byte1, Deviation: word1,
			Starlet: word1, Tables: t,
		}))
	}

	for _, c := range []struct {
		got  error
		want string
	}{
		{err(b.Alloc(9, w, h)), "alloc: plane of unknown kind 9"},
		{err(b.Alloc(processing.U8, 0, 1)), "alloc: plane of 0 × 1 pixels: both sides must be at least 1"},
		{err(b.Alloc(processing.U8, 1, -1)), "alloc: plane of 1 × -1 pixels: both sides must be at least 1"},
		{err(b.Alloc(processing.U8, 1<<16, 1<<16)),
			"alloc: plane of 65536 × 65536 pixels: more than 4294967295 pixels"},
		{err(b.Alloc(processing.F32, 1<<62, 1<<62)),
			"alloc: plane of 4611686018427387904 × 4611686018427387904 pixels: more than 4294967295 pixels"},

		{b.Upload(ctx, nil, content), "upload: no destination plane given"},
		{b.Upload(ctx, byte1, processing.Samples{U8: content.U8[1:]}),
			"upload: 47 samples of the plane's kind given, 48 needed"},
		{b.Upload(ctx, byte1, processing.Samples{U16: content.U16}),
			"upload: 0 samples of the plane's kind given, 48 needed"},
		{err(b.Host(ctx, none)), "host: no source plane given"},
		{err(b.Host(ctx, foreign)), "host: the source plane belongs to another backend"},
		{err(b.Host(ctx, gone)), "host: the source plane was released"},
		{b.Do(ctx, processing.Gather{
			Values: make([]uint32, 1), Src: float1, Index: []uint32{1},
		}), "gather: the source plane is F32, must be U8 or U16 or U32"},
		{b.Do(ctx, processing.Gather{
			Values: make([]uint32, 1), Src: byte1, Index: []uint32{1, 2},
		}), "gather: room for 1 values given, 2 asked for"},
		{b.Do(ctx, processing.Gather{
			Values: make([]uint32, 2), Src: byte1, Index: []uint32{n, 0},
		}), "gather: index 48 lies outside a plane of 8 × 6 pixels"},

		{b.Do(ctx, processing.Luminance{
			Y: byte1, V: byte2, Picture: pic, Tables: tables,
		}), "luminance: the luminance plane is U8, must be U16"},
		{b.Do(ctx, processing.Luminance{
			Y: word1, V: word2, Picture: pic, Tables: tables,
		}), "luminance: the level plane is U16, must be U8"},
		{b.Do(ctx, processing.Luminance{Y: word1, V: byte1, Tables: tables}),
			"luminance: no picture or no tables given"},
		{b.Do(ctx, processing.Luminance{Y: word1, V: byte1, Picture: pic}), "luminance: no picture or no tables given"},
		{b.Do(ctx, processing.Luminance{
			Y: word1, V: byte1, Picture: &processing.Picture{Width: w, Height: h, Channels: 1}, Tables: tables,
		}),
			"luminance: picture of 8 × 6 pixels and 1 channels needs 48 samples of one type, has 0 of 0 types"},
		{b.Do(ctx, processing.Luminance{
			Y: word1, V: byte1, Picture: &processing.Picture{Width: w, Height: h, Channels: 1, U8: []uint8{},
				U16: content.U16}, Tables: tables,
		}),
			"luminance: picture of 8 × 6 pixels and 1 channels needs 48 samples of one type, has 48 of 2 types"},
		{b.Do(ctx, processing.Luminance{
			Y: word1, V: byte1, Picture: &processing.Picture{Width: h, Height: w, Channels: 1, U8: content.U8},
			Tables: tables,
		}),
			"luminance: the picture is 6 × 8 pixels, the planes are 8 × 6"},
		{b.Do(ctx, processing.Luminance{
			Y: word1, V: byte1, Picture: pic, Tables: &processing.LuminanceTables{Linear8: tables.Linear8},
		}), "luminance: the encoding table has 0 entries, must have 65536"},
		{b.Do(ctx, processing.Luminance{
			Y: word1, V: byte1, Picture: pic, Tables: deepTables,
		}), "luminance: the 8-bit linear table has 0 entries, must have 256"},
		{b.Do(ctx, processing.Luminance{
			Y: word1, V: byte1, Picture: deep, Tables: tables,
		}), "luminance: the 16-bit linear table has 0 entries, must have 65536"},

		{morph(nil, byte1), "morph: no destination plane given"},
		{morph(byte1, none), "morph: no source plane given"},
		{morph(byte1, foreign), "morph: the source plane belongs to another backend"},
		{morph(gone, byte1), "morph: the destination plane was released"},
		{morph(turned, byte1), "morph: the source plane is 8 × 6 pixels, the others are 6 × 8"},
		{morph(word1, byte1), "morph: the destination plane is U16, the source U8; both must be of one kind"},
		{morph(long, long), "morph: the destination plane is U32, must be U8 or U16 or F32"},
		{element(processing.Open, processing.Element{Size: 2, Size2: 1}),
			"morph: element of size 2: must be odd and at least 1"},
		{element(processing.Open, processing.Element{Size: 1, Size2: 4}),
			"morph: rectangle of height 4: must be odd and at least 1"},
		{element(processing.Open, processing.Element{Direction: processing.Rising, Size: -1}),
			"morph: element of size -1: must be odd and at least 1"},
		{element(processing.Open, processing.Element{Direction: 9, Size: 3}), "morph: unknown direction 9"},
		{element(77, square), "morph: unknown operation 77"},

		{b.Do(ctx, processing.BoxMean{
			Dst: byte1, Src: word1, Radius: 1,
		}), "box mean: the destination plane is U8, the source U16; both must be of one kind"},
		{b.Do(ctx, processing.BoxMean{
			Dst: byte2, Src: byte1, Radius: -1,
		}), "box mean: radius -1: must be between 0 and 2147483647"},
		{b.Do(ctx, processing.BoxMean{
			Dst: byte1, Src: byte1, Radius: 1,
		}), "box mean: a plane that is written is given twice"},
		{b.Do(ctx, processing.MeanVariance{
			Mean: float1, Variance: float1, Src: byte1, Radius: 2,
		}), "mean variance: a plane that is written is given twice"},
		{b.Do(ctx, processing.MeanVariance{
			Mean: float1, Variance: float2, Src: byte1, Radius: 128,
		}), "mean variance: radius 128: must be between 0 and 127"},
		{b.Do(ctx, processing.MeanVariance{
			Mean: float1, Variance: float2, Src: long, Radius: 2,
		}), "mean variance: the source plane is U32, must be U8 or U16 or F32"},
		{b.Do(ctx, processing.GuardRing{
			Dst: float1, Src: byte1, Core: 3, Guard: 2, Outer: 5, Noise: 0,
		}), "guard ring: radii 3, 2 and 5: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.Do(ctx, processing.GuardRing{
			Dst: float1, Src: byte1, Core: -1, Guard: 2, Outer: 5, Noise: 0,
		}), "guard ring: radii -1, 2 and 5: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.Do(ctx, processing.GuardRing{
			Dst: float1, Src: byte1, Core: 1, Guard: 5, Outer: 5, Noise: 0,
		}), "guard ring: radii 1, 5 and 5: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.Do(ctx, processing.GuardRing{
			Dst: float1, Src: byte1, Core: 1, Guard: 2, Outer: 128, Noise: 0,
		}), "guard ring: radii 1, 2 and 128: must be 0 ≤ core ≤ guard < outer ≤ 127"},
		{b.Do(ctx, processing.GuardRing{
			Dst: float1, Src: byte1, Core: 1, Guard: 2, Outer: 5, Noise: -1,
		}), "guard ring: noise -1: must be at least 0 and finite"},
		{b.Do(ctx, processing.GuardRing{
			Dst: float1, Src: byte1, Core: 1, Guard: 2, Outer: 5, Noise: math.NaN(),
		}), "guard ring: noise NaN: must be at least 0 and finite"},
		{b.Do(ctx, processing.Background{
			Dst: word2, Y: word1, Radii: []int{1},
		}), "background: no exclusion plane given"},
		{b.Do(ctx, processing.Background{
			Dst: word1, Y: word1, Exclude: byte1, Radii: []int{1},
		}), "background: a plane that is written is given twice"},
		{b.Do(ctx, processing.Background{Dst: word2, Y: word1, Exclude: byte1}), "background: no radius given"},
		{b.Do(ctx, processing.Background{
			Dst: word2, Y: word1, Exclude: byte1, Radii: []int{5, 3},
		}), "background: radius 3 after 5: must ascend"},
		{b.Do(ctx, processing.Background{
			Dst: word2, Y: word1, Exclude: byte1, Radii: []int{3, 2048},
		}), "background: radius 2048: must be between 0 and 2047"},
		{b.Do(ctx, processing.Deviation{
			Dst: word1, Y: word1, Exclude: byte1, Radius: 1,
		}), "deviation: a plane that is written is given twice"},
		{b.Do(ctx, processing.Deviation{
			Dst: word2, Y: word1, Exclude: byte1, Radius: 128,
		}), "deviation: radius 128: must be between 0 and 127"},
		{b.Do(ctx, processing.BoxCount{
			Dst: byte2, Class: byte1, Bits: 1, Radius: 1,
		}), "box count: the destination plane is U8, must be U16"},
		{b.Do(ctx, processing.BoxCount{
			Dst: word1, Class: byte1, Bits: 1, Radius: 128,
		}), "box count: radius 128: must be between 0 and 127"},

		{b.Do(ctx, processing.Contrast{
			Class: byte2, Seed: word1, Y: word2, Background: word1, V: byte1, Rule: processing.ContrastRule{},
		}), "contrast: a plane that is written is given twice"},
		{b.Do(ctx, processing.Contrast{
			Class: byte1, Seed: word1, Y: word2, Background: word2, V: byte1, Rule: processing.ContrastRule{},
		}), "contrast: a plane that is written is given twice"},
		{b.Do(ctx, processing.Contrast{
			Class: byte2, Seed: byte1, Y: word2, Background: word2, V: byte1, Rule: processing.ContrastRule{},
		}), "contrast: the seed plane is U8, must be U16"},
		{b.Do(ctx, processing.Cores{
			Class: word1, Y: word1, Background: word2, Peak: word1, Rule: processing.CoreRule{},
		}), "cores: the class plane is U16, must be U8"},
		{b.Do(ctx, processing.DifferenceThreshold{
			Dst: byte1, Y: word1, Background: word2, V: word1, Over: 1, Level: 1,
		}), "difference threshold: the level plane is U16, must be U8"},
		{b.Do(ctx, processing.DifferenceThreshold{
			Dst: byte1, Y: word1, Background: word2, V: byte1, Over: 1, Level: 1,
		}), "difference threshold: a plane that is written is given twice"},

		{b.Do(ctx, processing.Gaussian{
			Dst: byte2, Src: byte1, Sigma: -1,
		}), "gaussian: standard deviation -1: must be between 0 and 1000"},
		{b.Do(ctx, processing.Gaussian{
			Dst: byte2, Src: byte1, Sigma: math.NaN(),
		}), "gaussian: standard deviation NaN: must be between 0 and 1000"},
		{b.Do(ctx, processing.Gaussian{
			Dst: byte2, Src: word1, Sigma: 1,
		}), "gaussian: the destination plane is U8, the source U16; both must be of one kind"},
		{b.Do(ctx, processing.Gaussian{
			Dst: byte1, Src: byte1, Sigma: 1,
		}), "gaussian: a plane that is written is given twice"},
		{b.Do(ctx, processing.WaveletTransform{
			Dst: byte2, Src: byte1, Wavelet: processing.Haar,
		}), "wavelet transform: the destination plane is U8, must be F32"},
		{b.Do(ctx, processing.WaveletTransform{Dst: float1, Src: byte1, Wavelet: 7}),
			"wavelet transform: unknown wavelet 7"},
		{b.Do(ctx, processing.WaveletTransform{
			Dst: float1, Src: float1, Wavelet: processing.Haar,
		}), "wavelet transform: a plane that is written is given twice"},
		{b.Do(ctx, processing.InverseWavelet{
			Dst: float1, Src: byte1, Wavelet: processing.Haar,
		}), "inverse wavelet: the source plane is U8, must be F32"},
		{b.Do(ctx, processing.InverseWavelet{
			Dst: float1, Src: float2, Wavelet: 7,
		}), "inverse wavelet: unknown wavelet 7"},
		{b.Do(ctx, processing.InverseWavelet{
			Dst: float1, Src: float1, Wavelet: processing.Haar,
		}), "inverse wavelet: a plane that is written is given twice"},
		{b.Do(ctx, processing.StarletBand{
			Dst: word1, Src: byte1, Level: 4,
		}), "starlet band: level 4: must be 1, 2 or 3"},
		{b.Do(ctx, processing.StarletBand{
			Dst: byte2, Src: byte1, Level: 1,
		}), "starlet band: the destination plane is U8, must be U16"},
		{err(processing.Evaluate(ctx, b, processing.NoiseTiles{
			Src: byte1, Side: 1,
		})), "noise tiles: tiles of 1 pixels: at least 2"},
		{err(processing.Evaluate(ctx, b, processing.NoiseTiles{
			Src: float1, Side: 8,
		})), "noise tiles: the source plane is F32, must be U8 or U16"},

		{err(processing.Evaluate(ctx, b, processing.Label{
			Class: word1, Bits: 1,
		})), "label: the class plane is U16, must be U8"},
		{err(processing.Evaluate(ctx, b, processing.Grow{
			Class: byte1, Growth: processing.Growth{},
		})), "grow: no components given"},
		{err(processing.Evaluate(ctx, b, processing.Grow{
			Cores: sets, Class: turned, Growth: processing.Growth{},
		})), "grow: the components are of 8 × 6 pixels, the planes are 6 × 8"},
		{err(processing.Evaluate(ctx, b, processing.Grow{
			Cores: sets, Class: byte1, Growth: processing.Growth{Limit: -1},
		})), "grow: growth of up to -1 pixels: must be between 0 and 127"},
		{err(processing.Evaluate(ctx, b, processing.Grow{
			Cores: sets, Class: byte1, Growth: processing.Growth{Limit: 128},
		})), "grow: growth of up to 128 pixels: must be between 0 and 127"},
		{err(processing.Evaluate(ctx, b, processing.Grow{
			Cores: sets, Class: byte1, Growth: processing.Growth{Limit: math.NaN()},
		})), "grow: growth of up to NaN pixels: must be between 0 and 127"},
		{err(processing.Evaluate(ctx, b, processing.Grow{
			Cores: sets, Class: byte1, Growth: processing.Growth{FarSlope: math.NaN()},
		})),
			"grow: growth {Base:0 Slope:0 FarBase:0 FarSlope:NaN Limit:0 Closed:0 MaxCore:0}: no value may be negative"},
		{err(processing.Evaluate(ctx, b, processing.Grow{
			Cores: sets, Class: byte1, Growth: processing.Growth{MaxCore: -1},
		})),
			"grow: growth {Base:0 Slope:0 FarBase:0 FarSlope:0 Limit:0 Closed:0 MaxCore:-1}: no value may be negative"},
		{b.Do(ctx, processing.FilterComponents{
			Components: sets, Keep: make([]bool, sets.Len()+1),
		}), "filter components: 2 flags to keep given for 1 components"},
		{b.Do(ctx, processing.FilterComponents{Components: noSets}), "filter components: no components given"},
		{b.Do(ctx, processing.Rasterize{
			Dst: byte2, Components: foreignSets,
		}), "rasterize: the components belong to another backend"},
		{b.Do(ctx, processing.Rasterize{Dst: byte2, Components: goneSets}), "rasterize: the components were released"},
		{b.Do(ctx, processing.Rasterize{
			Dst: byte2, Components: turnedSets,
		}), "rasterize: the components are of 6 × 8 pixels, the planes are 8 × 6"},
		{b.Do(ctx, processing.Rasterize{
			Dst: word1, Components: sets,
		}), "rasterize: the destination plane is U16, must be U8"},
		{err(processing.Evaluate(ctx, b, processing.Spans{})), "spans: no components given"},
		{err(processing.Evaluate(ctx, b, processing.Spans{
			Components: goneSets,
		})), "spans: the components were released"},
		{b.Do(ctx, processing.FillHoles{Dst: word1}), "fill holes: the destination plane is U16, must be U8"},
		{measure(nil, byte1, tables), "measure regions: no components given"},
		{measure(sets, nil, tables), "measure regions: no class plane given"},
		{measure(sets, byte1, nil), "measure regions: no tables given"},
		{measure(sets, byte1, &processing.LuminanceTables{}),
			"measure regions: the encoding table has 0 entries, must have 65536"},

		{b.Do(ctx, processing.Convolve{
			Dst: float1, State: byte1, Tiles: tile, Sigmas: []float64{0},
		}), "convolve: sigma 0 of tile 0: must lie between 0 and a million"},
		{b.Do(ctx, processing.Convolve{
			Dst: float1, State: byte1, Tiles: tile, Sigmas: []float64{math.NaN()},
		}), "convolve: sigma NaN of tile 0: must lie between 0 and a million"},
		{b.Do(ctx, processing.Convolve{
			Dst: float1, State: byte1, Tiles: tile,
		}), "convolve: 0 sigmas given for 1 tiles"},
		{harmonic(processing.Tile{X: 5, W: 4, H: 4}),
			"harmonic: tile 0 (4 × 4 at 5, 0) does not lie in planes of 8 × 6 pixels"},
		{harmonic(tile[0], processing.Tile{Y: -1, W: 4, H: 4}),
			"harmonic: tile 1 (4 × 4 at 0, -1) does not lie in planes of 8 × 6 pixels"},
		{harmonic(processing.Tile{H: 4}), "harmonic: tile 0 (0 × 4 at 0, 0) does not lie in planes of 8 × 6 pixels"},
		{harmonic(processing.Tile{X: 1, W: math.MaxInt, H: 4}),
			"harmonic: tile 0 (9223372036854775807 × 4 at 1, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Do(ctx, processing.Harmonic{
			Dst: float1, State: byte1, Tiles: tile, Omegas: []float32{1},
		}), "harmonic: 0 numbers of sweeps given for 1 tiles"},
		{b.Do(ctx, processing.Harmonic{
			Dst: float1, State: byte1, Tiles: tile, Sweeps: []int{1},
		}), "harmonic: 0 factors of relaxation given for 1 tiles"},
		{b.Do(ctx, processing.Harmonic{
			Dst: float1, State: byte1, Tiles: tile, Sweeps: []int{-1}, Omegas: []float32{1},
		}), "harmonic: -1 sweeps of tile 0: must be between 0 and 2147483647"},
		{b.Do(ctx, processing.Biharmonic{
			Dst: float1, State: float2, Tiles: tile, Sweeps: []int{1}, Omega: 1,
		}), "biharmonic: the state plane is F32, must be U8"},
		{b.Do(ctx, processing.Biharmonic{
			Dst: float1, State: byte1, Tiles: tile, Sweeps: []int{1 << 31}, Omega: 1,
		}), "biharmonic: 2147483648 sweeps of tile 0: must be between 0 and 2147483647"},
		{b.Do(ctx, processing.Detail{
			Dst: float1, Src: float1, State: byte1, Tiles: tile,
		}), "detail: a plane that is written is given twice"},
		{b.Do(ctx, processing.Convolve{
			Dst: float1, State: byte1, Tiles: outside, Sigmas: []float64{1},
		}), "convolve: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Do(ctx, processing.Biharmonic{
			Dst: float1, State: byte1, Tiles: outside, Sweeps: []int{1}, Omega: 1,
		}), "biharmonic: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Do(ctx, processing.Biharmonic{
			Dst: float1, State: byte1, Tiles: tile, Omega: 1,
		}), "biharmonic: 0 numbers of sweeps given for 1 tiles"},
		{b.Do(ctx, processing.Separate{
			Paint: planes(float1), Light: float3, Seen: planes(float2), Expected: float4, State: byte1, Tiles: outside,
			Models: model,
		}),
			"separate: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{b.Do(ctx, processing.Detail{
			Dst: float1, Src: float2, State: byte1, Tiles: outside,
		}), "detail: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{separate(nil, nil, float3), "separate: 0 planes of paint and 0 seen: 1 to 4 of each are needed"},
		{separate(planes(float1), planes(float2, float2), float3),
			"separate: 1 planes of paint and 2 seen: 1 to 4 of each are needed"},
		{separate(bands(5), bands(5), float3), "separate: 5 planes of paint and 5 seen: 1 to 4 of each are needed"},
		{separate(planes(float1, float1), planes(float2, float2), float3),
			"separate: a plane that is written is given twice"},
		{separate(planes(float1), planes(float2), float2), "separate: a plane that is written is given twice"},
		{separate(planes(float1), planes(float2), float4), "separate: a plane that is written is given twice"},
		{b.Do(ctx, processing.Separate{
			Paint: planes(float1), Light: float3, Seen: planes(float2), Expected: float4, State: byte1, Tiles: tile,
		}), "separate: 0 models given for 1 tiles"},
		{b.Do(ctx, processing.Separate{
			Paint: planes(float1), Light: float3, Seen: planes(float2), Expected: float4, State: byte1, Tiles: tile,
			Models: []processing.Separation{{Sweeps: -1}},
		}),
			"separate: -1 sweeps of tile 0: must be between 0 and 2147483647"},

		{err(processing.Evaluate(ctx, b, processing.Histogram{
			Src: float1,
		})), "histogram: the source plane is F32, must be U8 or U16"},
		{err(processing.Evaluate(ctx, b, processing.Histogram{
			Src: byte1, Exclude: turned,
		})), "histogram: the exclusion plane is 6 × 8 pixels, the others are 8 × 6"},
		{err(processing.Evaluate(ctx, b, processing.SumMoments{})), "sum moments: no source plane given"},
	} {
		if want := b.Name() + ": " + c.want; c.got == nil || c.got.Error() != want {
			t.Errorf("%v, want %s", c.got, want)
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

// of returns only the slice of the given kind.
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

// Each plane of each operation is refused if it is missing, foreign, released, of another size or kind or, if it is
// written, the same as another one.
func TestEveryPlaneIsChecked(t *testing.T) {
	b, other := cpu.New(), cpu.New()
	kinds := []processing.Kind{processing.U8, processing.U16, processing.U32, processing.F32}
	gone, err := b.Alloc(processing.U8, w, h)
	if err != nil {
		t.Fatal(err)
	}
	gone.Release()
	for _, op := range optest.All(t, b) {
		planes := processing.UsesOf(op).Planes
		for i, use := range planes {
			refused := func(p processing.Plane, want string) {
				t.Helper()
				n := 0
				bad := processing.Bind(op, processing.Binding{Plane: func(q processing.Plane) processing.Plane {
					if n++; n-1 == i {
						return p
					}
					return q
				}})
				want = "cpu: " + processing.NameOf(op) + ": " + want
				if err := b.Do(t.Context(), bad); err == nil || err.Error() != want {
					t.Errorf("%v, want %s", err, want)
				}
			}
			if _, optional := op.(processing.Histogram); !optional || i == 0 {
				refused(nil, "no "+use.Role+" plane given")
			}
			refused(optest.Plane(t, other, use.Plane.Kind()), "the "+use.Role+" plane belongs to another backend")
			refused(gone, "the "+use.Role+" plane was released")
			for _, kind := range kinds {
				if !use.Kinds.Has(kind) {
					refused(optest.Plane(t, b, kind), fmt.Sprintf("the %s plane is %v, must be %v", use.Role, kind,
						use.Kinds))
				}
			}
			if i > 0 {
				large, err := b.Alloc(use.Plane.Kind(), h, w)
				if err != nil {
					t.Fatal(err)
				}
				refused(large, fmt.Sprintf("the %s plane is %d × %d pixels, the others are %d × %d", use.Role, h, w, w,
					h))
				large.Release()
			}
			if _, ok := op.(processing.Morph); ok {
				continue
			}
			for j, q := range planes {
				if i != j && (use.Write || q.Write) && use.Plane.Kind() == q.Plane.Kind() {
					refused(q.Plane, "a plane that is written is given twice")
				}
			}
		}
	}
}

// All operations that the package describes are in optest.All, so that every backend is tested with them.
func TestAllOperationsAreListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "describe" {
				if receiver, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
					described[receiver.Name] = true
				}
			}
		}
	}
	for _, op := range optest.All(t, cpu.New()) {
		name := reflect.TypeOf(op).Name()
		if !described[name] {
			t.Errorf("%s is listed twice or not described", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is not in optest.All", name)
	}
}

// An operation is bound anew for each band, so Bind must change neither it nor what its slices hold.
func TestBindLeavesTheOperation(t *testing.T) {
	b := cpu.New()
	for _, op := range optest.All(t, b) {
		before := fmt.Sprint(processing.UsesOf(op))
		bound := processing.Bind(op, processing.Binding{Plane: func(processing.Plane) processing.Plane { return nil }})
		if after := fmt.Sprint(processing.UsesOf(op)); after != before {
			t.Errorf("%s: %s, was %s", processing.NameOf(op), after, before)
		}
		for _, use := range processing.UsesOf(bound).Planes {
			if use.Plane != nil {
				t.Errorf("%s: the %s plane is still bound", processing.NameOf(op), use.Role)
			}
		}
	}
}

// A check costs little compared with the smallest operation.
func TestChecksTakeLittleMemory(t *testing.T) {
	b := cpu.New()
	for _, op := range optest.All(t, b) {
		if n := testing.AllocsPerRun(10, func() {
			if err := processing.Check(b, op); err != nil {
				t.Error(err)
			}
		}); n > 6 {
			t.Errorf("the check of %s allocates %v times", processing.NameOf(op), n)
		}
	}
}
