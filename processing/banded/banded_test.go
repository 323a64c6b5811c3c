package banded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/optest"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/network"
)

var background = context.Background()

var errFull = errors.New("the device has no more memory")

// device is a backend that counts its calls, and fails on request.
type device struct {
	*cpu.Backend
	t rapid.TB
	// limit is the memory of the device in bytes, 0 for any; failAt is the call that fails with err, 0 for none.
	limit  int64
	failAt int
	err    error
	calls  int
	// bands counts planes of fewer rows than tall.
	tall, bands int
	// low says that no plane of the picture's height fits.
	low bool
}

func (d *device) call() error {
	if d.calls++; d.calls == d.failAt {
		return d.err
	}
	return nil
}

func (d *device) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	if d.low && h == d.tall {
		return nil, errFull
	}
	_, used := d.Live()
	if need := int64(w) * int64(h) * int64(kind.Bytes()); d.limit > 0 && used+need > d.limit {
		return nil, errFull
	}
	if h < d.tall {
		d.bands++
	}
	return d.Backend.Alloc(kind, w, h)
}

func (d *device) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Backend.Upload(ctx, dst, src)
}

func (d *device) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	if err := d.call(); err != nil {
		return processing.Samples{}, err
	}
	return d.Backend.Host(ctx, p)
}

func (d *device) Do(ctx context.Context, op processing.Op) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Backend.Do(ctx, op)
}

func isFull(err error) bool { return errors.Is(err, errFull) }

// bench is a banded backend on a device, and the backend of the CPU that it is compared with.
type bench struct {
	t     rapid.TB
	inner *device
	host  *cpu.Backend
	*Backend
	plain *cpu.Backend
}

// newBench allows bands of the given number of rows of w pixels, for planes that take 10 bytes per pixel.
func newBench(t rapid.TB, w, h, rows int) *bench {
	inner := &device{Backend: cpu.New(), t: t, tall: h}
	host := cpu.New()
	return &bench{t, inner, host, New(inner, host, 32*int64(w)*int64(rows), isFull), cpu.New()}
}

// done checks that no memory is left in use.
func (b *bench) done() {
	b.t.Helper()
	if n, bytes := b.inner.Live(); n != 0 || bytes != 0 {
		b.t.Fatalf("%d planes of %d bytes are left on the device", n, bytes)
	}
	if n, bytes := b.host.Live(); n != 0 || bytes != 0 {
		b.t.Fatalf("%d planes of %d bytes are left on the host", n, bytes)
	}
}

// program is a sequence of operations on planes of one size, on both backends.
type program struct {
	*bench
	w, h, rows int
	// reach is the largest radius that fits.
	reach int
	// banded and plain are the planes: U8 from 0, U16 from 4, F32 from 8.
	banded, reference []processing.Plane
	components        [2]processing.Components
	// recent are the planes that were written, the last one last.
	recent []int
}

const (
	firstU8, firstU16, firstF32, planeCount = 0, 4, 8, 14
)

func kindOf(i int) processing.Kind {
	switch {
	case i < firstU16:
		return processing.U8
	case i < firstF32:
		return processing.U16
	}
	return processing.F32
}

// pick draws a plane of one of the kinds that is not in taken.
func (p *program) pick(t *rapid.T, what string, taken []int, kinds ...processing.Kind) int {
	var list []int
	for i := range planeCount {
		if slices.Contains(kinds, kindOf(i)) && !slices.Contains(taken, i) {
			list = append(list, i)
		}
	}
	// Often the one that changed last, so that operations build on each other.
	for _, i := range slices.Backward(p.recent) {
		if slices.Contains(list, i) && rapid.Bool().Draw(t, what+" anew") {
			return i
		}
	}
	return rapid.SampledFrom(list).Draw(t, what)
}

// written notes that a plane changed.
func (p *program) written(planes ...int) { p.recent = append(p.recent, planes...) }

// pixels draws samples: random ones, mostly zeros, or runs of both extremes.
func pixels(t *rapid.T, kind processing.Kind, n int) processing.Samples {
	content := rapid.SampledFrom([]string{"random", "sparse", "runs"}).Draw(t, "content")
	seed := rapid.Uint64().Draw(t, "seed") | 1
	next := func() uint64 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return seed * 2685821657736338717 >> 16
	}
	run, value := uint64(0), uint64(0)
	sample := func(most uint64) uint64 {
		switch content {
		case "random":
			return next() % (most + 1)
		case "sparse":
			if next()%16 == 0 {
				return most - next()%(most/2)
			}
			return 0
		}
		if run == 0 {
			run, value = next()%9+1, []uint64{0, most, next() % (most + 1)}[next()%3]
		}
		run--
		return value
	}
	var s processing.Samples
	for range n {
		switch kind {
		case processing.U8:
			s.U8 = append(s.U8, uint8(sample(math.MaxUint8)))
		case processing.U16:
			s.U16 = append(s.U16, uint16(sample(math.MaxUint16)))
		case processing.F32:
			// Very different magnitudes, often cancelling out, so that the order of additions matters.
			v := sample(math.MaxUint16)
			s.F32 = append(s.F32, float32(math.Ldexp(float64(int(v>>4)%8)-3.5, int(v%4)*25)))
		}
	}
	return s
}

// load replaces plane i by new ones with the same content.
func (p *program) load(t *rapid.T, i int) {
	s := pixels(t, kindOf(i), p.w*p.h)
	for _, on := range []struct {
		be   processing.Backend
		list []processing.Plane
	}{{p.Backend, p.banded}, {p.plain, p.reference}} {
		if on.list[i] == nil {
			q, err := on.be.Alloc(kindOf(i), p.w, p.h)
			p.must(err)
			on.list[i] = q
		}
		p.must(on.be.Upload(background, on.list[i], s))
	}
}

func (p *program) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// same runs an operation on both backends and compares the results.
func (p *program) same(what string, f func(be processing.Backend, at []processing.Plane, c processing.Components) (any,
	error)) {
	p.t.Helper()
	want, err := f(p.plain, p.reference, p.components[1])
	if err != nil {
		p.t.Fatalf("%s, plain: %v", what, err)
	}
	got, err := f(p.Backend, p.banded, p.components[0])
	if err != nil {
		p.t.Fatalf("%s, banded: %v", what, err)
	}
	if !reflect.DeepEqual(got, want) {
		p.t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// equal compares planes of index i.
func (p *program) equal(i int) {
	p.t.Helper()
	want, err := p.plain.Host(background, p.reference[i])
	p.must(err)
	got, err := p.Host(background, p.banded[i])
	p.must(err)
	what := fmt.Sprintf("plane %d", i)
	optest.Same(p.t, what, p.w, got.U8, want.U8)
	optest.Same(p.t, what, p.w, got.U16, want.U16)
	optest.Same(p.t, what, p.w, got.F32, want.F32)
}

func (p *program) release() {
	for i := range p.banded {
		p.banded[i].Release()
		p.reference[i].Release()
	}
	for _, c := range p.components {
		if c != nil {
			c.Release()
		}
	}
}

const u8, u16, f32 = processing.U8, processing.U16, processing.F32

type action func(t *rapid.T, p *program)

// on runs an operation that writes the given planes and returns only an error.
func on(what string, p *program, writes []int, f func(be processing.Backend, at []processing.Plane) error) {
	p.t.Helper()
	defer p.written(writes...)
	p.same(what, func(be processing.Backend, at []processing.Plane, _ processing.Components) (any, error) {
		return nil, f(be, at)
	})
}

// radius draws a window's radius that fits.
func (p *program) radius(t *rapid.T, most int) int {
	return rapid.IntRange(0, min(most, p.reach)).Draw(t, "r")
}

// operations returns all operations, on drawn planes with drawn arguments.
func operations() map[string]action {
	all := map[string]action{}
	for _, some := range []map[string]action{
		planeActions(), windowActions(), classActions(), wholeActions(), componentActions(), tileActions(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// drawElement draws a structuring element that reaches at most the given number of rows up and down.
func drawElement(t *rapid.T, reach int) processing.Element {
	odd := func(what string, most int) int { return 2*rapid.IntRange(0, most).Draw(t, what) + 1 }
	return processing.Element{Width: odd("width", 40), Height: odd("height", reach)}
}

// drawTiles draws tiles that do not overlap.
func drawTiles(t *rapid.T, p *program) []processing.Tile {
	var list []processing.Tile
	half := (p.w + 1) / 2
	for _, side := range [][2]int{{0, half}, {half, p.w}} {
		if side[0] == side[1] {
			continue
		}
		x, y := rapid.IntRange(side[0], side[1]-1).Draw(t, "x"), rapid.IntRange(0, p.h-1).Draw(t, "y")
		list = append(list, processing.Tile{X: x, Y: y,
			W: rapid.IntRange(1, side[1]-x).Draw(t, "w"), H: rapid.IntRange(1, p.h-y).Draw(t, "h")})
	}
	return list
}

// drawRule draws the thresholds of Contrast.
func drawRule(t *rapid.T) processing.ContrastRule {
	return processing.ContrastRule{Absolute: rapid.Uint16Max(9000).Draw(t, "absolute"),
		Relative:     rapid.Uint32Max(65536).Draw(t, "relative"),
		SeedAbsolute: rapid.Uint16Max(20000).Draw(t, "seed"), SeedRelative: rapid.Uint32Max(65536).Draw(t, "share"),
		SeedLevel: rapid.Uint8().Draw(t, "level")}
}

// onTilesOf runs an operation on drawn tiles of a plane of floats and a plane of states.
func onTilesOf(
	t *rapid.T, p *program, f func(be processing.Backend, dst, state processing.Plane, tiles []processing.Tile) error,
) {
	d, s := p.pick(t, "dst", nil, f32), p.pick(t, "state", nil, u8)
	list := drawTiles(t, p)
	on("tiles", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
		return f(be, at[d], at[s], list)
	})
}

// planeActions returns the operations that move samples to and from planes.
func planeActions() map[string]action {
	return map[string]action{
		"upload": func(t *rapid.T, p *program) { p.load(t, rapid.IntRange(0, planeCount-1).Draw(t, "plane")) },
		"alloc": func(t *rapid.T, p *program) {
			i := rapid.IntRange(0, planeCount-1).Draw(t, "plane")
			p.banded[i].Release()
			p.reference[i].Release()
			p.banded[i], p.reference[i] = nil, nil
			p.load(t, i)
		},
		"host": func(t *rapid.T, p *program) { p.equal(rapid.IntRange(0, planeCount-1).Draw(t, "plane")) },
		"luminance": func(t *rapid.T, p *program) {
			channels := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")
			pic := &processing.Picture{Width: p.w, Height: p.h, Channels: channels}
			s := pixels(t, rapid.SampledFrom([]processing.Kind{u8, u16, f32}).Draw(t, "kind"), p.w*p.h*channels)
			pic.U8, pic.U16, pic.F32 = s.U8, s.U16, s.F32
			y, v := p.pick(t, "y", nil, u16), p.pick(t, "v", nil, u8)
			on("luminance", p, []int{y, v}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.Luminance{
					Y: at[y], V: at[v], Picture: pic, Tables: tables(pic.Depth()),
				})
			})
		},
	}
}

// windowActions returns the operations that read the surroundings of each pixel.
func windowActions() map[string]action {
	return map[string]action{
		"morph": func(t *rapid.T, p *program) {
			s := p.pick(t, "src", nil, u8, u16)
			d := p.pick(t, "dst", nil, kindOf(s))
			op := processing.MorphOp(rapid.IntRange(0, 3).Draw(t, "op"))
			e := drawElement(t, p.reach/2)
			on("morph", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.Morph{Dst: at[d], Src: at[s], Op: op, Element: e})
			})
		},
		"box mean": func(t *rapid.T, p *program) {
			s := p.pick(t, "src", nil, u8, u16)
			d := p.pick(t, "dst", []int{s}, kindOf(s))
			r := p.radius(t, 40)
			on("box mean", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.BoxMean{Dst: at[d], Src: at[s], Radius: r})
			})
		},

		"background": func(t *rapid.T, p *program) {
			y, e := p.pick(t, "y", nil, u16), p.pick(t, "exclude", nil, u8)
			d := p.pick(t, "dst", []int{y}, u16)
			radii := rapid.SliceOfN(rapid.IntRange(0, p.reach), 1, 4).Draw(t, "radii")
			slices.Sort(radii)
			on("background", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				given := slices.Clone(radii)
				defer clear(given)
				return be.Do(background, processing.Background{Dst: at[d], Y: at[y], Exclude: at[e], Radii: given})
			})
		},
		"gaussian": func(t *rapid.T, p *program) {
			s := p.pick(t, "src", nil, u8)
			d := p.pick(t, "dst", []int{s}, u8)
			sigma := rapid.Float64Range(0, float64(min(p.reach, 20))/3).Draw(t, "sigma")
			on("gaussian", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.Gaussian{Dst: at[d], Src: at[s], Sigma: sigma})
			})
		},
		"starlet band": func(t *rapid.T, p *program) {
			if (processing.StarletBand{}).Footprint().Rows > p.reach {
				return
			}
			s, d := p.pick(t, "src", nil, u8), p.pick(t, "dst", nil, u16)
			on("starlet band", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.StarletBand{Dst: at[d], Src: at[s]})
			})
		},
	}
}

// classActions returns the operations that classify pixels.
func classActions() map[string]action {
	return map[string]action{
		"contrast": func(t *rapid.T, p *program) {
			c, s := p.pick(t, "cls", nil, u8), p.pick(t, "seed", nil, u16)
			y, v := p.pick(t, "y", []int{s}, u16), p.pick(t, "v", []int{c}, u8)
			b, rule := p.pick(t, "b", []int{s}, u16), drawRule(t)
			on("contrast", p, []int{c, s}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.Contrast{
					Class: at[c], Seed: at[s], Y: at[y], Background: at[b], V: at[v], Rule: rule,
				})
			})
		},
		"cores": func(t *rapid.T, p *program) {
			c, y := p.pick(t, "cls", nil, u8), p.pick(t, "y", nil, u16)
			b, m := p.pick(t, "b", nil, u16), p.pick(t, "m", nil, u16)
			rule := processing.CoreRule{Core: rapid.Uint32Max(65536).Draw(t, "core"),
				Grow: rapid.Uint32Max(65536).Draw(t, "grow")}
			on("cores", p, []int{c}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.Cores{
					Class: at[c], Y: at[y], Background: at[b], Peak: at[m], Rule: rule,
				})
			})
		},
		"difference threshold": func(t *rapid.T, p *program) {
			d, y := p.pick(t, "dst", nil, u8), p.pick(t, "y", nil, u16)
			b, v := p.pick(t, "b", nil, u16), p.pick(t, "v", []int{d}, u8)
			over, level := rapid.Uint16().Draw(t, "over"), rapid.Uint8().Draw(t, "level")
			on("difference threshold", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.DifferenceThreshold{
					Dst: at[d], Y: at[y], Background: at[b], V: at[v], Over: over, Level: level,
				})
			})
		},
	}
}

// wholeActions returns the operations that read whole planes.
func wholeActions() map[string]action {
	return map[string]action{

		"noise tiles": func(t *rapid.T, p *program) {
			s, tile := p.pick(t, "src", nil, u8), rapid.IntRange(2, 20).Draw(t, "tile")
			p.same("noise tiles", func(be processing.Backend, at []processing.Plane,
				_ processing.Components) (any, error) {
				return processing.Evaluate(background, be, processing.NoiseTiles{Src: at[s], Side: tile})
			})
		},
		"histogram": func(t *rapid.T, p *program) {
			s, e := p.pick(t, "src", nil, u8), p.pick(t, "exclude", nil, u8)
			all := rapid.Bool().Draw(t, "all")
			p.same("histogram", func(be processing.Backend, at []processing.Plane,
				_ processing.Components) (any, error) {
				var exclude processing.Plane
				if !all {
					exclude = at[e]
				}
				bins, err := processing.Evaluate(background, be, processing.Histogram{Src: at[s], Exclude: exclude})
				found := []uint64{uint64(len(bins))}
				for v, n := range bins {
					if n > 0 {
						found = append(found, uint64(v), n)
					}
				}
				return found, err
			})
		},
	}
}

// componentActions returns the operations that make or measure components.
func componentActions() map[string]action {
	return map[string]action{
		"label and grow": func(t *rapid.T, p *program) {
			c, d := p.pick(t, "cls", nil, u8), p.pick(t, "dst", nil, u8)
			bits := rapid.SampledFrom([]uint8{processing.ClassCore, 1, 255}).Draw(t, "bits")
			g := processing.Growth{Base: 1.5, Slope: 0.7, FarBase: 4, FarSlope: 2, Closed: 0.15, Limit: 30,
				MaxCore: 100}
			for k, be := range []processing.Backend{p.Backend, p.plain} {
				at := [][]processing.Plane{p.banded, p.reference}[k]
				if p.components[k] != nil {
					p.components[k].Release()
				}
				cores, err := processing.Evaluate(background, be, processing.Label{Class: at[c], Bits: bits})
				p.must(err)
				some := make([]bool, cores.Len())
				for i := range some {
					some[i] = i%3 > 0
				}
				p.must(be.Do(background, processing.FilterComponents{Components: cores, Keep: some}))
				p.components[k], err = processing.Evaluate(background, be, processing.Grow{
					Cores: cores, Class: at[c], Growth: g,
				})
				p.must(err)
				cores.Release()
			}
			keep := rapid.SliceOfN(rapid.Bool(), p.components[0].Len(), p.components[0].Len()).Draw(t, "keep")
			p.same("components", func(be processing.Backend, at []processing.Plane,
				c processing.Components) (any, error) {
				if err := be.Do(background, processing.FilterComponents{Components: c, Keep: keep}); err != nil {
					return nil, err
				}
				if err := be.Do(background, processing.Rasterize{Dst: at[d], Components: c}); err != nil {
					return nil, err
				}
				return processing.Evaluate(background, be, processing.Spans{Components: c})
			})
		},
		"fill holes": func(t *rapid.T, p *program) {
			d := p.pick(t, "dst", nil, u8)
			on("fill holes", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.FillHoles{Dst: at[d]})
			})
		},
		"measure glints": func(t *rapid.T, p *program) {
			if p.components[0] == nil {
				return
			}
			l, k := p.pick(t, "logits", nil, u8), p.pick(t, "kinds", nil, u8)
			r, g, b := p.pick(t, "red", nil, u8), p.pick(t, "green", nil, u8), p.pick(t, "blue", nil, u8)
			p.same("measure glints", func(be processing.Backend, at []processing.Plane,
				comps processing.Components) (any, error) {
				return processing.Evaluate(background, be, processing.MeasureGlints{
					Components: comps, Logits: at[l], Kinds: at[k], Red: at[r], Green: at[g], Blue: at[b],
				})
			})
		},
	}
}

// tileActions returns the operations that work on tiles.
func tileActions() map[string]action {
	return map[string]action{
		"harmonic": func(t *rapid.T, p *program) {
			onTilesOf(t, p, func(be processing.Backend, dst, state processing.Plane, tiles []processing.Tile) error {
				return be.Do(background, processing.Harmonic{
					Dst: dst, State: state, Tiles: tiles, Sweeps: slices.Repeat([]int{3}, len(tiles)),
					Omegas: slices.Repeat([]float32{1.5}, len(tiles)),
				})
			})
		},
		"detail": func(t *rapid.T, p *program) {
			s, list := p.pick(t, "src", nil, f32), drawTiles(t, p)
			d, e := p.pick(t, "dst", []int{s}, f32), p.pick(t, "state", nil, u8)
			on("detail", p, []int{d}, func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.Detail{Dst: at[d], Src: at[s], State: at[e], Tiles: list})
			})
		},
		"separate": func(t *rapid.T, p *program) {
			list, e := drawTiles(t, p), p.pick(t, "state", nil, u8)
			var q [4]int
			for i := range q {
				q[i] = p.pick(t, "plane", q[:i], f32)
			}
			models := make([]processing.Separation, len(list))
			for i := range models {
				models[i] = processing.Separation{Axes: [4][4]float32{{1}}, Variance: [4]float32{0.01},
					Light: [4]float32{1},
					Noise: 1e-4, Mismatch: 0.1, Sweeps: 2}
			}
			on("separate", p, q[:2], func(be processing.Backend, at []processing.Plane) error {
				return be.Do(background, processing.Separate{
					Paint: at[q[0] : q[0]+1], Light: at[q[1]], Seen: at[q[2] : q[2]+1], Expected: at[q[3]],
					State: at[e], Tiles: list, Models: models,
				})
			})
		},
	}
}

// luminanceTables are made once: they are larger than the pictures here.
var luminanceTables = sync.OnceValue(func() [2]*processing.LuminanceTables {
	return [2]*processing.LuminanceTables{processing.NewLuminanceTables(8, processing.TransferSRGB),
		processing.NewLuminanceTables(16, processing.TransferSRGB)}
})

func tables(depth int) *processing.LuminanceTables { return luminanceTables()[min(depth/16, 1)] }

// newProgram draws a picture, bands, and the content of all planes.
func newProgram(t *rapid.T) *program {
	w := rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(6, 30)).Draw(t, "w")
	h := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(13, 60)).Draw(t, "h")
	rows := rapid.OneOf(rapid.IntRange(1, 7), rapid.IntRange(1, h+1)).Draw(t, "rows")
	p := &program{bench: newBench(t, w, h, rows), w: w, h: h, rows: rows, reach: (rows - 1) / 2,
		banded: make([]processing.Plane, planeCount), reference: make([]processing.Plane, planeCount)}
	for i := range planeCount {
		p.load(t, i)
	}
	return p
}

// finish compares all planes and checks that nothing is left in use.
func (p *program) finish() {
	p.t.Helper()
	for i := range planeCount {
		p.equal(i)
	}
	p.release()
	p.done()
}

func names(all map[string]action) []string {
	return slices.Sorted(maps.Keys(all))
}

// Each operation on its own, by bands of a few rows.
func TestOperations(t *testing.T) {
	all := operations()
	for _, name := range names(all) {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			p := newProgram(t)
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				all[name](t, p)
			}
			p.finish()
		}))
	}
}

// Any operations in any order, some of them waiting for others, give the same result as on the CPU.
func TestOperationSequences(t *testing.T) {
	all := operations()
	bands := 0
	rapid.Check(t, func(t *rapid.T) {
		p := newProgram(t)
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names(all)), 1, 30).Draw(t, "operations") {
			all[name](t, p)
		}
		p.finish()
		bands += p.inner.bands
	})
	if bands == 0 {
		t.Error("no plane was ever cut into bands: the test says nothing")
	}
}

// load returns a plane of the samples.
func (b *bench) load(w, h int, s processing.Samples) processing.Plane {
	b.t.Helper()
	kind := processing.U8
	if s.U16 != nil {
		kind = processing.U16
	}
	p, err := b.Alloc(kind, w, h)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.Upload(background, p, s); err != nil {
		b.t.Fatal(err)
	}
	return p
}

// ramp is a picture whose samples depend on their place.
func ramp(w, h int) []uint8 {
	s := make([]uint8, w*h)
	for i := range s {
		s[i] = uint8(i * 7)
	}
	return s
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The network on bands gives the logits of the whole picture, wherever the bands begin.
func TestGlintsByBands(t *testing.T) {
	t.Parallel()
	m, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	const w, h = 21, 683
	s := make([]uint8, w*h)
	for i := range s {
		s[i] = uint8(90 + i*i%37)
		if i*7%103 == 0 {
			s[i] = 200
		}
	}
	for _, rows := range []int{2*m.Reach() + m.Grain(), 2*m.Reach() + 51, 2*m.Reach() + 130} {
		b := newBench(t, w, h, rows)
		run := func(be processing.Backend) []uint8 {
			op := processing.Glints{Model: m, Offset: 200}
			for _, p := range []*processing.Plane{&op.Red, &op.Green, &op.Blue, &op.Dst, &op.Kinds} {
				if *p, err = be.Alloc(processing.U8, w, h); err != nil {
					t.Fatal(err)
				}
				if p != &op.Dst && p != &op.Kinds {
					if err := be.Upload(background, *p, processing.Samples{U8: s}); err != nil {
						t.Fatal(err)
					}
				}
				defer (*p).Release()
			}
			if err := be.Do(background, op); err != nil {
				t.Fatal(err)
			}
			got, err := be.Host(background, op.Dst)
			if err != nil {
				t.Fatal(err)
			}
			kinds, err := be.Host(background, op.Kinds)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Concat(got.U8, kinds.U8)
		}
		before := b.inner.bands
		if got, want := run(b.Backend), run(b.plain); !slices.Equal(got, want) {
			t.Errorf("bands of %d rows: other logits", rows)
		}
		if b.inner.bands-before < 3 {
			t.Errorf("bands of %d rows: %d planes of bands", rows, b.inner.bands-before)
		}
	}
}
