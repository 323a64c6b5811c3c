package processing

import (
	"context"
	"math"
	"slices"
)

// The operations on tiles work on F32 planes of one size; State is U8, one of the State values per pixel. A neighbour
// is one of the four nearest pixels of the same tile. Each arithmetic operation is rounded to float32 on its own, in
// the order in which the formulas are written, with sums over neighbours as (left + right) + (above + below) and 0 for
// missing ones. So results are equal on all backends and for any number of threads. A sweep first updates the pixels
// with even x + y (counted from the tile's corner), then the others. A tile without known pixels keeps its values.

// Tile is a rectangle of the planes of an operation, processed on its own: nothing outside it is read or written, so
// that a device may give each tile to one group of threads. Tiles of one call do not overlap.
type Tile struct{ X, Y, W, H int }

// within reports whether the tile is not empty and lies in planes of w × h pixels.
func (r Tile) within(w, h int) bool {
	return r.W >= 1 && r.H >= 1 && r.X >= 0 && r.Y >= 0 && r.X <= w-r.W && r.Y <= h-r.H
}

// CutTile copies a tile out of a plane whose rows are stride samples apart, into rows without padding.
func CutTile[T any](dst, src []T, stride int, r Tile) {
	for y := range r.H {
		copy(dst[y*r.W:(y+1)*r.W], src[(r.Y+y)*stride+r.X:])
	}
}

// PasteTile is the inverse of CutTile.
func PasteTile[T any](dst, src []T, stride int, r Tile) {
	for y := range r.H {
		copy(dst[(r.Y+y)*stride+r.X:][:r.W], src[y*r.W:(y+1)*r.W])
	}
}

// States of a pixel in the state plane (U8) of the operations on tiles.
const (
	// StateKnown: paint, never written.
	StateKnown uint8 = iota
	// StateUnclipped: paint under light that did not saturate the sensor.
	StateUnclipped
	// StateClipped: at least one channel is clipped, and nothing of the paint is left.
	StateClipped
)

// Harmonic solves Laplace's equation in the unknown pixels. It starts with pull-push (Gortler et al. 1996): a coarser
// level holds the means of the known pixels of 2 × 2 blocks, ((p00 + p11) + (p10 + p01)) / number, down to one pixel,
// and an unknown pixel takes the value of its block. Then follow Sweeps[i] sweeps of over-relaxation, p += ω·(sum·r −
// p), r = 1/number of neighbours, ω = Omegas[i].
type Harmonic struct {
	wholePicture

	Dst, State Plane
	Tiles      []Tile
	Sweeps     []int
	Omegas     []float32
}

func (o Harmonic) run(ctx context.Context, e Executor) error { return e.Harmonic(ctx, o) }

func (o Harmonic) describe(a *arguments) Op {
	a.updates("destination", &o.Dst, f32)
	a.reads("state", &o.State, u8)
	a.tiles(o.Tiles)
	a.perTile("numbers of sweeps", len(o.Sweeps), o.Tiles)
	a.perTile("factors of relaxation", len(o.Omegas), o.Tiles)
	for i, n := range o.Sweeps {
		a.sweeps(i, n)
	}
	return o
}

func (a *arguments) sweeps(tile, n int) {
	if n < 0 || n > math.MaxInt32 {
		a.failf("%d sweeps of tile %d: must be between 0 and %d", n, tile, math.MaxInt32)
	}
}

// Detail writes the sum of the two finest bands of the starlet transform over the known pixels: Src minus the result of
// two smoothings with [1 4 6 4 1] at gaps 1 and 2. A smoothing takes N = Σ t·v and D = Σ t over the known pixels of the
// row, then Σ t·N / Σ t·D over the column, from the first tap to the last. Unknown pixels become 0.
type Detail struct {
	wholePicture

	Dst, Src, State Plane
	Tiles           []Tile
}

func (o Detail) run(ctx context.Context, e Executor) error { return e.Detail(ctx, o) }

func (o Detail) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, f32)
	a.reads("source", &o.Src, f32)
	a.reads("state", &o.State, u8)
	a.apart()
	a.tiles(o.Tiles)
	return o
}

// Separation is the model of paint and light in one tile, for Separate. Only the first entries are used, one per
// channel.
type Separation struct {
	// Axes are the principal axes of the differences between neighbouring pixels of paint, one axis per row, and
	// Variance the mean squares of those differences along them, all above 0.
	Axes     [4][4]float32
	Variance [4]float32
	// Light is the colour of the light along those axes, of length 1.
	Light [4]float32
	// Noise is the variance of the sensor, at least 0; Mismatch is the share of the light that does not follow Light.
	Noise, Mismatch float32
	// Sweeps is the number of iterations.
	Sweeps int
}

// Separate splits the light that was seen, in linear light, into paint and light: seen = paint² + light·colour. Paint,
// one plane per channel, holds square roots of linear light: exact in known pixels, elsewhere a first guess, which is
// improved together with Light. Expected is the mean of the light that may lie on a pixel, above 0. For each pixel,
// with the mean a of the neighbours' paint (sum·r) per channel and its model:
//
//	clipped:    paint = a
//	unclipped:  b = 2·Σa/channels + 0.01,  f = b·b·r,  ν = Noise + (Mismatch·light)·(Mismatch·light)
//	            ρₖ = Σ Axes[k][c]·(seen_c − a_c·a_c),  gₖ = Variance[k]·f,  qₖ = 1/(gₖ + ν)
//	            A = Σ Light[k]·qₖ·ρₖ,  S = Σ Light[k]·qₖ·Light[k],  μ = (A − 1/expected)/S
//	            light = (μ + √(μ·μ + 2.5464791/S))/2
//	            paint_c = √max(0, a_c·a_c + Σ Axes[k][c]·((gₖ·qₖ)·(ρₖ − light·Light[k])))
//
// That is one step of Gauss-Seidel towards the most likely paint under a membrane prior, with the mean of the
// posterior of the light under an exponential prior in place of its mode (see docs/correction.md).
type Separate struct {
	wholePicture

	Paint           []Plane
	Light           Plane
	Seen            []Plane
	Expected, State Plane
	Tiles           []Tile
	Models          []Separation
}

// maxChannels is the number of channels of a Separation.
const maxChannels = 4

func (o Separate) run(ctx context.Context, e Executor) error { return e.Separate(ctx, o) }

func (o Separate) describe(a *arguments) Op {
	n := len(o.Seen)
	if n < 1 || n > maxChannels || len(o.Paint) != n {
		a.failf("%d planes of paint and %d seen: 1 to %d of each are needed", len(o.Paint), n, maxChannels)
		return o
	}
	if a.bind != nil {
		o.Paint, o.Seen = slices.Clone(o.Paint), slices.Clone(o.Seen)
	}
	for k := range o.Seen {
		a.updates("paint", &o.Paint[k], f32)
		a.reads("seen", &o.Seen[k], f32)
	}
	a.updates("light", &o.Light, f32)
	a.reads("expected light", &o.Expected, f32)
	a.reads("state", &o.State, u8)
	a.apart()
	a.tiles(o.Tiles)
	a.perTile("models", len(o.Models), o.Tiles)
	for i := range o.Models {
		a.sweeps(i, o.Models[i].Sweeps)
	}
	return o
}
