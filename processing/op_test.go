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
	"slices"
	"testing"

	"blik/internal/test/optest"
	"blik/processing"
	"blik/processing/cpu"
)

const (
	w = optest.W
	h = optest.H
	n = w * h
)

// refusals are the arguments of calls that a backend must refuse.
type refusals struct {
	ctx context.Context
	b   processing.Backend
	// content is that of the planes below, which have the size w × h.
	content                        processing.Samples
	byte1, byte2, word1, word2     processing.Plane
	float1, float2, float3, float4 processing.Plane
	// turned has the size h × w, foreign belongs to another backend, gone is released, none is a nil pointer.
	turned, foreign, gone, none processing.Plane
	// sets are components of byte1; the others differ from them as the planes of these names do.
	sets, turnedSets, foreignSets, goneSets, noSets processing.Components
	pic, deep                                       *processing.Picture
	tables, deepTables                              *processing.LuminanceTables
}

// refusal is the error of a call, and the error that is wanted, without the name of the backend.
type refusal struct {
	got  error
	want string
}

func newRefusals(t *testing.T) *refusals {
	t.Helper()
	f := &refusals{ctx: context.Background(), b: cpu.New(), content: processing.Samples{
		U8: make([]uint8, n), U16: make([]uint16, n), F32: make([]float32, n),
	}}
	for i := range n {
		f.content.U8[i], f.content.U16[i] = uint8(i), uint16(i)
		f.content.F32[i] = float32(i)
	}
	plane := func(b processing.Backend, kind processing.Kind, w, h int) processing.Plane {
		p, err := b.Alloc(kind, w, h)
		if err == nil {
			t.Cleanup(p.Release)
			err = b.Upload(f.ctx, p, of(f.content, kind))
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, p := range []struct {
		to   *processing.Plane
		kind processing.Kind
	}{
		{&f.byte1, processing.U8}, {&f.byte2, processing.U8}, {&f.word1, processing.U16}, {&f.word2, processing.U16},
		{&f.float1, processing.F32}, {&f.float2, processing.F32},
		{&f.float3, processing.F32}, {&f.float4, processing.F32}, {&f.gone, processing.U8},
	} {
		*p.to = plane(f.b, p.kind, w, h)
	}
	other := processing.Backend(cpu.New())
	f.turned, f.foreign = plane(f.b, processing.U8, h, w), plane(other, processing.U8, w, h)
	f.gone.Release()
	f.none = reflect.Zero(reflect.TypeOf(f.byte1)).Interface().(processing.Plane)

	label := func(b processing.Backend, p processing.Plane) processing.Components {
		c, err := processing.Evaluate(f.ctx, b, processing.Label{Class: p, Bits: 255})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Release)
		return c
	}
	f.sets, f.turnedSets, f.foreignSets = label(f.b, f.byte1), label(f.b, f.turned), label(other, f.foreign)
	f.goneSets = label(f.b, f.byte1)
	f.goneSets.Release()
	f.noSets = reflect.Zero(reflect.TypeOf(f.sets)).Interface().(processing.Components)

	f.pic = &processing.Picture{Width: w, Height: h, Channels: 1, U8: f.content.U8}
	f.deep = &processing.Picture{Width: w, Height: h, Channels: 1, U16: f.content.U16}
	f.tables = processing.NewLuminanceTables(8, processing.TransferSRGB)
	f.deepTables = processing.NewLuminanceTables(16, processing.TransferSRGB)
	return f
}

// do carries out an operation.
func (f *refusals) do(op processing.Op) error { return f.b.Do(f.ctx, op) }

// failure returns the error of a call with two results.
func failure(_ any, err error) error { return err }

// Every kind of bad call is refused, and planes stay as they were. Bad planes are tested in TestEveryPlaneIsChecked.
func TestBadArguments(t *testing.T) {
	f := newRefusals(t)
	for _, c := range slices.Concat(f.planes(), f.luminance(), f.morphology(), f.windows(), f.classes(), f.filters(),
		f.components(), f.tiles(), f.reductions()) {
		if want := f.b.Name() + ": " + c.want; c.got == nil || c.got.Error() != want {
			t.Errorf("%v, want %s", c.got, want)
		}
	}
	for _, p := range []processing.Plane{
		f.byte1, f.byte2, f.word1, f.word2, f.float1, f.float2, f.float3, f.float4,
	} {
		got, err := f.b.Host(f.ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if want := of(f.content, p.Kind()); !reflect.DeepEqual(got, want) {
			t.Errorf("a refused call has changed a plane of %v: %v", p.Kind(), got)
		}
	}
}

func (f *refusals) planes() []refusal {
	return []refusal{
		{failure(f.b.Alloc(9, w, h)), "alloc: plane of unknown kind 9"},
		{failure(f.b.Alloc(processing.U8, 0, 1)), "alloc: plane of 0 × 1 pixels: both sides must be at least 1"},
		{failure(f.b.Alloc(processing.U8, 1, -1)), "alloc: plane of 1 × -1 pixels: both sides must be at least 1"},
		{failure(f.b.Alloc(processing.U8, 1<<16, 1<<16)),
			"alloc: plane of 65536 × 65536 pixels: more than 4294967295 pixels"},
		{failure(f.b.Alloc(processing.F32, 1<<62, 1<<62)),
			"alloc: plane of 4611686018427387904 × 4611686018427387904 pixels: more than 4294967295 pixels"},

		{f.b.Upload(f.ctx, nil, f.content), "upload: no destination plane given"},
		{f.b.Upload(f.ctx, f.byte1, processing.Samples{U8: f.content.U8[1:]}),
			"upload: 47 samples of the plane's kind given, 48 needed"},
		{f.b.Upload(f.ctx, f.byte1, processing.Samples{U16: f.content.U16}),
			"upload: 0 samples of the plane's kind given, 48 needed"},
		{failure(f.b.Host(f.ctx, f.none)), "host: no source plane given"},
		{failure(f.b.Host(f.ctx, f.foreign)), "host: the source plane belongs to another backend"},
		{failure(f.b.Host(f.ctx, f.gone)), "host: the source plane was released"},
	}
}

func (f *refusals) luminance() []refusal {
	return []refusal{
		{f.do(processing.Luminance{
			Y: f.byte1, V: f.byte2, Picture: f.pic, Tables: f.tables,
		}), "luminance: the luminance plane is U8, must be U16"},
		{f.do(processing.Luminance{
			Y: f.word1, V: f.word2, Picture: f.pic, Tables: f.tables,
		}), "luminance: the level plane is U16, must be U8"},
		{f.do(processing.Luminance{Y: f.word1, V: f.byte1, Tables: f.tables}),
			"luminance: no picture or no tables given"},
		{f.do(processing.Luminance{Y: f.word1, V: f.byte1, Picture: f.pic}), "luminance: no picture or no tables given"},
		{f.do(processing.Luminance{
			Y: f.word1, V: f.byte1, Picture: &processing.Picture{Width: w, Height: h, Channels: 1}, Tables: f.tables,
		}),
			"luminance: picture of 8 × 6 pixels and 1 channels needs 48 samples of one type, has 0 of 0 types"},
		{f.do(processing.Luminance{
			Y: f.word1, V: f.byte1, Picture: &processing.Picture{Width: w, Height: h, Channels: 1, U8: []uint8{},
				U16: f.content.U16}, Tables: f.tables,
		}),
			"luminance: picture of 8 × 6 pixels and 1 channels needs 48 samples of one type, has 48 of 2 types"},
		{f.do(processing.Luminance{
			Y: f.word1, V: f.byte1, Picture: &processing.Picture{Width: h, Height: w, Channels: 1, U8: f.content.U8},
			Tables: f.tables,
		}),
			"luminance: the picture is 6 × 8 pixels, the planes are 8 × 6"},
		{f.do(processing.Luminance{
			Y: f.word1, V: f.byte1, Picture: f.pic, Tables: &processing.LuminanceTables{Linear8: f.tables.Linear8},
		}), "luminance: the encoding table has 0 entries, must have 65536"},
		{f.do(processing.Luminance{
			Y: f.word1, V: f.byte1, Picture: f.pic, Tables: f.deepTables,
		}), "luminance: the 8-bit linear table has 0 entries, must have 256"},
		{f.do(processing.Luminance{
			Y: f.word1, V: f.byte1, Picture: f.deep, Tables: f.tables,
		}), "luminance: the 16-bit linear table has 0 entries, must have 65536"},
	}
}

func (f *refusals) morphology() []refusal {
	square := processing.Square(1)
	morph := func(dst, src processing.Plane) error {
		return f.do(processing.Morph{Dst: dst, Src: src, Op: processing.Dilate, Element: square})
	}
	element := func(op processing.MorphOp, e processing.Element) error {
		return f.do(processing.Morph{Dst: f.byte2, Src: f.byte1, Op: op, Element: e})
	}
	return []refusal{
		{morph(nil, f.byte1), "morph: no destination plane given"},
		{morph(f.byte1, f.none), "morph: no source plane given"},
		{morph(f.byte1, f.foreign), "morph: the source plane belongs to another backend"},
		{morph(f.gone, f.byte1), "morph: the destination plane was released"},
		{morph(f.turned, f.byte1), "morph: the source plane is 8 × 6 pixels, the others are 6 × 8"},
		{morph(f.word1, f.byte1), "morph: the destination plane is U16, the source U8; both must be of one kind"},
		{morph(f.float1, f.float2), "morph: the destination plane is F32, must be U8 or U16"},
		{element(processing.Open, processing.Element{Width: 2, Height: 1}),
			"morph: element of 2 × 1 pixels: sides must be odd and at least 1"},
		{element(processing.Open, processing.Element{Width: 1, Height: 4}),
			"morph: element of 1 × 4 pixels: sides must be odd and at least 1"},
		{element(processing.Open, processing.Element{Width: 1, Height: -1}),
			"morph: element of 1 × -1 pixels: sides must be odd and at least 1"},
		{element(77, square), "morph: unknown operation 77"},
	}
}

func (f *refusals) windows() []refusal {
	return []refusal{
		{f.do(processing.BoxMean{
			Dst: f.byte1, Src: f.word1, Radius: 1,
		}), "box mean: the destination plane is U8, the source U16; both must be of one kind"},
		{f.do(processing.BoxMean{
			Dst: f.byte2, Src: f.byte1, Radius: -1,
		}), "box mean: radius -1: must be between 0 and 2147483647"},
		{f.do(processing.BoxMean{
			Dst: f.byte1, Src: f.byte1, Radius: 1,
		}), "box mean: a plane that is written is given twice"},
		{f.do(processing.Background{
			Dst: f.word2, Y: f.word1, Radii: []int{1},
		}), "background: no exclusion plane given"},
		{f.do(processing.Background{
			Dst: f.word1, Y: f.word1, Exclude: f.byte1, Radii: []int{1},
		}), "background: a plane that is written is given twice"},
		{f.do(processing.Background{Dst: f.word2, Y: f.word1, Exclude: f.byte1}), "background: no radius given"},
		{f.do(processing.Background{
			Dst: f.word2, Y: f.word1, Exclude: f.byte1, Radii: []int{5, 3},
		}), "background: radius 3 after 5: must ascend"},
		{f.do(processing.Background{
			Dst: f.word2, Y: f.word1, Exclude: f.byte1, Radii: []int{3, 2048},
		}), "background: radius 2048: must be between 0 and 2047"},
	}
}

func (f *refusals) classes() []refusal {
	return []refusal{
		{f.do(processing.Contrast{
			Class: f.byte2, Seed: f.word1, Y: f.word2, Background: f.word1, V: f.byte1, Rule: processing.ContrastRule{},
		}), "contrast: a plane that is written is given twice"},
		{f.do(processing.Contrast{
			Class: f.byte1, Seed: f.word1, Y: f.word2, Background: f.word2, V: f.byte1, Rule: processing.ContrastRule{},
		}), "contrast: a plane that is written is given twice"},
		{f.do(processing.Contrast{
			Class: f.byte2, Seed: f.byte1, Y: f.word2, Background: f.word2, V: f.byte1, Rule: processing.ContrastRule{},
		}), "contrast: the seed plane is U8, must be U16"},
		{f.do(processing.Cores{
			Class: f.word1, Y: f.word1, Background: f.word2, Peak: f.word1, Rule: processing.CoreRule{},
		}), "cores: the class plane is U16, must be U8"},
		{f.do(processing.DifferenceThreshold{
			Dst: f.byte1, Y: f.word1, Background: f.word2, V: f.word1, Over: 1, Level: 1,
		}), "difference threshold: the level plane is U16, must be U8"},
		{f.do(processing.DifferenceThreshold{
			Dst: f.byte1, Y: f.word1, Background: f.word2, V: f.byte1, Over: 1, Level: 1,
		}), "difference threshold: a plane that is written is given twice"},
	}
}

func (f *refusals) filters() []refusal {
	return []refusal{
		{f.do(processing.Gaussian{
			Dst: f.byte2, Src: f.byte1, Sigma: -1,
		}), "gaussian: standard deviation -1: must be between 0 and 1000"},
		{f.do(processing.Gaussian{
			Dst: f.byte2, Src: f.byte1, Sigma: math.NaN(),
		}), "gaussian: standard deviation NaN: must be between 0 and 1000"},
		{f.do(processing.Gaussian{
			Dst: f.byte2, Src: f.word1, Sigma: 1,
		}), "gaussian: the source plane is U16, must be U8"},
		{f.do(processing.Gaussian{
			Dst: f.byte1, Src: f.byte1, Sigma: 1,
		}), "gaussian: a plane that is written is given twice"},
		{f.do(processing.StarletBand{
			Dst: f.byte2, Src: f.byte1,
		}), "starlet band: the destination plane is U8, must be U16"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.NoiseTiles{
			Src: f.byte1, Side: 1,
		})), "noise tiles: tiles of 1 pixels: at least 2"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.NoiseTiles{
			Src: f.float1, Side: 8,
		})), "noise tiles: the source plane is F32, must be U8"},
	}
}

func (f *refusals) components() []refusal {
	return []refusal{
		{failure(processing.Evaluate(f.ctx, f.b, processing.Label{
			Class: f.word1, Bits: 1,
		})), "label: the class plane is U16, must be U8"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Grow{
			Class: f.byte1, Growth: processing.Growth{},
		})), "grow: no components given"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Grow{
			Cores: f.sets, Class: f.turned, Growth: processing.Growth{},
		})), "grow: the components are of 8 × 6 pixels, the planes are 6 × 8"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Grow{
			Cores: f.sets, Class: f.byte1, Growth: processing.Growth{Limit: -1},
		})), "grow: growth of up to -1 pixels: must be between 0 and 127"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Grow{
			Cores: f.sets, Class: f.byte1, Growth: processing.Growth{Limit: 128},
		})), "grow: growth of up to 128 pixels: must be between 0 and 127"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Grow{
			Cores: f.sets, Class: f.byte1, Growth: processing.Growth{Limit: math.NaN()},
		})), "grow: growth of up to NaN pixels: must be between 0 and 127"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Grow{
			Cores: f.sets, Class: f.byte1, Growth: processing.Growth{FarSlope: math.NaN()},
		})),
			"grow: growth {Base:0 Slope:0 FarBase:0 FarSlope:NaN Limit:0 Closed:0 MaxCore:0}: no value may be negative"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Grow{
			Cores: f.sets, Class: f.byte1, Growth: processing.Growth{MaxCore: -1},
		})),
			"grow: growth {Base:0 Slope:0 FarBase:0 FarSlope:0 Limit:0 Closed:0 MaxCore:-1}: no value may be negative"},
		{f.do(processing.FilterComponents{
			Components: f.sets, Keep: make([]bool, f.sets.Len()+1),
		}), "filter components: 2 flags to keep given for 1 components"},
		{f.do(processing.FilterComponents{Components: f.noSets}), "filter components: no components given"},
		{f.do(processing.Rasterize{
			Dst: f.byte2, Components: f.foreignSets,
		}), "rasterize: the components belong to another backend"},
		{f.do(processing.Rasterize{Dst: f.byte2, Components: f.goneSets}), "rasterize: the components were released"},
		{f.do(processing.Rasterize{
			Dst: f.byte2, Components: f.turnedSets,
		}), "rasterize: the components are of 6 × 8 pixels, the planes are 8 × 6"},
		{f.do(processing.Rasterize{
			Dst: f.word1, Components: f.sets,
		}), "rasterize: the destination plane is U16, must be U8"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Spans{})), "spans: no components given"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Spans{
			Components: f.goneSets,
		})), "spans: the components were released"},
		{f.do(processing.FillHoles{Dst: f.word1}), "fill holes: the destination plane is U16, must be U8"},
	}
}

func (f *refusals) tiles() []refusal {
	tile, outside := []processing.Tile{{W: 4, H: 4}}, []processing.Tile{{X: 8, W: 1, H: 1}}
	model := []processing.Separation{{Sweeps: 1}}
	planes := func(p ...processing.Plane) []processing.Plane { return p }
	bands := func(n int) []processing.Plane { return slices.Repeat(planes(f.float1), n) }
	harmonic := func(tiles ...processing.Tile) error {
		return f.do(processing.Harmonic{
			Dst: f.float1, State: f.byte1, Tiles: tiles, Sweeps: make([]int, len(tiles)),
			Omegas: make([]float32, len(tiles)),
		})
	}
	separate := func(paint, seen []processing.Plane, light processing.Plane) error {
		return f.do(processing.Separate{
			Paint: paint, Light: light, Seen: seen, Expected: f.float4, State: f.byte1, Tiles: tile, Models: model,
		})
	}
	return []refusal{
		{harmonic(processing.Tile{X: 5, W: 4, H: 4}),
			"harmonic: tile 0 (4 × 4 at 5, 0) does not lie in planes of 8 × 6 pixels"},
		{harmonic(tile[0], processing.Tile{Y: -1, W: 4, H: 4}),
			"harmonic: tile 1 (4 × 4 at 0, -1) does not lie in planes of 8 × 6 pixels"},
		{harmonic(processing.Tile{H: 4}), "harmonic: tile 0 (0 × 4 at 0, 0) does not lie in planes of 8 × 6 pixels"},
		{harmonic(processing.Tile{X: 1, W: math.MaxInt, H: 4}),
			"harmonic: tile 0 (9223372036854775807 × 4 at 1, 0) does not lie in planes of 8 × 6 pixels"},
		{f.do(processing.Harmonic{
			Dst: f.float1, State: f.byte1, Tiles: tile, Omegas: []float32{1},
		}), "harmonic: 0 numbers of sweeps given for 1 tiles"},
		{f.do(processing.Harmonic{
			Dst: f.float1, State: f.byte1, Tiles: tile, Sweeps: []int{1},
		}), "harmonic: 0 factors of relaxation given for 1 tiles"},
		{f.do(processing.Harmonic{
			Dst: f.float1, State: f.byte1, Tiles: tile, Sweeps: []int{-1}, Omegas: []float32{1},
		}), "harmonic: -1 sweeps of tile 0: must be between 0 and 2147483647"},
		{f.do(processing.Detail{
			Dst: f.float1, Src: f.float1, State: f.byte1, Tiles: tile,
		}), "detail: a plane that is written is given twice"},
		{f.do(processing.Separate{
			Paint: planes(f.float1), Light: f.float3, Seen: planes(f.float2), Expected: f.float4, State: f.byte1,
			Tiles:  outside,
			Models: model,
		}),
			"separate: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{f.do(processing.Detail{
			Dst: f.float1, Src: f.float2, State: f.byte1, Tiles: outside,
		}), "detail: tile 0 (1 × 1 at 8, 0) does not lie in planes of 8 × 6 pixels"},
		{separate(nil, nil, f.float3), "separate: 0 planes of paint and 0 seen: 1 to 4 of each are needed"},
		{separate(planes(f.float1), planes(f.float2, f.float2), f.float3),
			"separate: 1 planes of paint and 2 seen: 1 to 4 of each are needed"},
		{separate(bands(5), bands(5), f.float3), "separate: 5 planes of paint and 5 seen: 1 to 4 of each are needed"},
		{separate(planes(f.float1, f.float1), planes(f.float2, f.float2), f.float3),
			"separate: a plane that is written is given twice"},
		{separate(planes(f.float1), planes(f.float2), f.float2), "separate: a plane that is written is given twice"},
		{separate(planes(f.float1), planes(f.float2), f.float4), "separate: a plane that is written is given twice"},
		{f.do(processing.Separate{
			Paint: planes(f.float1), Light: f.float3, Seen: planes(f.float2), Expected: f.float4, State: f.byte1,
			Tiles: tile,
		}), "separate: 0 models given for 1 tiles"},
		{f.do(processing.Separate{
			Paint: planes(f.float1), Light: f.float3, Seen: planes(f.float2), Expected: f.float4, State: f.byte1,
			Tiles:  tile,
			Models: []processing.Separation{{Sweeps: -1}},
		}),
			"separate: -1 sweeps of tile 0: must be between 0 and 2147483647"},
	}
}

func (f *refusals) reductions() []refusal {
	return []refusal{
		{failure(processing.Evaluate(f.ctx, f.b, processing.Histogram{
			Src: f.float1,
		})), "histogram: the source plane is F32, must be U8"},
		{failure(processing.Evaluate(f.ctx, f.b, processing.Histogram{
			Src: f.byte1, Exclude: f.turned,
		})), "histogram: the exclusion plane is 6 × 8 pixels, the others are 8 × 6"},
	}
}

// of returns only the slice of the given kind.
func of(s processing.Samples, kind processing.Kind) (one processing.Samples) {
	switch kind {
	case processing.U8:
		one.U8 = s.U8
	case processing.U16:
		one.U16 = s.U16
	case processing.F32:
		one.F32 = s.F32
	}
	return one
}

// Each plane of each operation is refused if it is missing, foreign, released, of another size or kind or, if it is
// written, the same as another one.
func TestEveryPlaneIsChecked(t *testing.T) {
	b, other := cpu.New(), cpu.New()
	kinds := []processing.Kind{processing.U8, processing.U16, processing.F32}
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
				bad := processing.Bind(op, func(q processing.Plane) processing.Plane {
					if n++; n-1 == i {
						return p
					}
					return q
				})
				want = "cpu: " + processing.NameOf(op) + ": " + want
				if err := b.Do(t.Context(), bad); err == nil || err.Error() != want {
					t.Errorf("%v, want %s", err, want)
				}
			}
			optional := false
			switch op.(type) {
			case processing.Histogram:
				optional = use.Role == "exclusion"
			case processing.Glints:
				optional = use.Role == "kinds"
			}
			if !optional {
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
		bound := processing.Bind(op, func(processing.Plane) processing.Plane { return nil })
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
