package processing

import (
	"context"
	"fmt"
	"time"
)

// Kind is the sample type of a plane.
type Kind uint8

// The sample types.
const (
	U8 Kind = iota
	U16
	U32
	F32
)

// String returns the name of the kind.
func (k Kind) String() string {
	if k > F32 {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return [...]string{"U8", "U16", "U32", "F32"}[k]
}

// Bytes is the size of a sample.
func (k Kind) Bytes() int { return [...]int{1, 2, 4, 4}[k] }

// Plane is a raster of one sample type in the memory of the Backend that made it.
type Plane interface {
	// Size returns width and height in pixels.
	Size() (w, h int)
	Kind() Kind
	// Release gives the memory back to its Backend; the plane may not be used afterwards. Releasing twice is harmless.
	Release()
}

// Samples is host memory for a plane, rows without padding; the slice of the plane's kind is set.
type Samples struct {
	U8  []uint8
	U16 []uint16
	U32 []uint32
	F32 []float32
}

// Element is a flat structuring element with its origin in the middle.
type Element struct {
	// Direction says what Size and Size2 mean.
	Direction Direction
	// Size is the length of a line in pixels, or the width of a rectangle; odd, at least 1.
	Size int
	// Size2 is the height of a rectangle; odd, at least 1; unused for lines.
	Size2 int
}

// Direction of a structuring element.
type Direction uint8

// Lines have length Size in pixels along their direction; the diagonals step one pixel in x and one in y.
const (
	Rectangle Direction = iota
	Horizontal
	Vertical
	// Rising is the diagonal from bottom left to top right.
	Rising
	// Falling is the diagonal from top left to bottom right.
	Falling
)

// Square returns the (2r+1) × (2r+1) rectangle.
func Square(r int) Element { return Element{Direction: Rectangle, Size: 2*r + 1, Size2: 2*r + 1} }

// MorphOp is a grey-scale morphological operation with a flat structuring element.
type MorphOp uint8

// Pixels outside the picture never win: they count as the highest value for Erode and as the lowest for Dilate, in
// every step of the composed operations.
const (
	Erode MorphOp = iota
	Dilate
	Open
	Close
	// TopHat is the white top-hat: the source minus its opening.
	TopHat
)

// Wavelet is an orthogonal wavelet with periodic or symmetric border as Backend.Wavelet says.
type Wavelet uint8

// The wavelets.
const (
	Haar Wavelet = iota
	// Daubechies4 has four taps and two vanishing moments (Daubechies 1988).
	Daubechies4
)

// Class bits of a pixel in the plane that Backend.Contrast and Backend.Cores write.
const (
	// ClassWide: visibly brighter than the background.
	ClassWide uint8 = 1 << iota
	// ClassSeed: wide, and strong and bright enough to start a glint.
	ClassSeed
	// ClassCore: seed within a share of the strongest contrast around it.
	ClassCore
	// ClassGrow: wide and not drowned by a much stronger neighbour.
	ClassGrow
)

// ContrastRule holds the thresholds of Backend.Contrast. Luminances are in 1/65535 of white, linear light.
type ContrastRule struct {
	// Absolute: a wide pixel has d = Y − B > Absolute.
	Absolute uint16
	// Relative: and d·65536 > Relative·B.
	Relative uint32
	// SeedAbsolute: a seed has d > SeedAbsolute,
	SeedAbsolute uint16
	// SeedRelative: d·65536 > SeedRelative·(65535 − B) (0: off),
	SeedRelative uint32
	// SeedLevel: and v ≥ SeedLevel.
	SeedLevel uint8
}

// CoreRule holds the shares of Backend.Cores in 1/65536.
type CoreRule struct {
	// Core: a core is a seed with d·65536 ≥ Core·M.
	Core uint32
	// Grow: growth is wide with d·65536 > Grow·M.
	Grow uint32
}

// Moments are the exact sums over a plane of integers, or the compensated ones over floats.
type Moments struct {
	N          uint64
	Sum, Sum2  float64
	Min, Max   float64
	Mean, Stdd float64
}

// StageTime is the time that a named stage took on the backend that ran it, summed over its repetitions.
type StageTime struct {
	Name string        `json:"name"`
	Time time.Duration `json:"ns"`
}

// Tile is a rectangle of the planes of an operation, solved by itself: nothing outside it is read or written, so that a
// device may give each tile to one group of threads. Tiles of one call do not overlap.
type Tile struct{ X, Y, W, H int }

// States of a pixel in the state plane (U8) of the operations on tiles.
const (
	// StateKnown: paint, never written.
	StateKnown uint8 = iota
	// StateVeiled: paint under light that did not saturate the sensor.
	StateVeiled
	// StateLost: at least one channel is clipped, nothing of the paint is left.
	StateLost
)

// Separation is the model of paint and light in one tile, for Backend.Separate. Only the first entries are used, one for
// each channel.
type Separation struct {
	// Axes are the principal axes of the differences between neighbouring pixels of paint, one axis a row, and
	// Variance those differences' mean squares along them, all above 0.
	Axes     [4][4]float32
	Variance [4]float32
	// Light is the colour of the light along those axes, of length 1.
	Light [4]float32
	// Noise is the variance of the sensor, at least 0; Mismatch is the share of the light that does not follow Light.
	Noise, Mismatch float32
	// Sweeps is the number of iterations.
	Sweeps int
}

// Backend is the set of primitive operations that detection and correction are written on. Destination planes are allocated by the
// caller, have the size of the source and may not be the source unless a method says so. Every method may be
// cancelled through its context and then returns the context's error; the destination is undefined after an error.
// Arguments that a method does not allow are refused before anything is done, by all backends in the same words
// (package args).
//
// Windows are squares of side 2r+1 about the pixel, clipped at the picture's border; means divide by the number of
// pixels really inside. Integer results are exact, so that two backends agree bit for bit.
//
// A Backend is used by one job at a time.
type Backend interface {
	// Name is a short name of the device: "cpu", "cuda:0".
	Name() string
	// Alloc returns a plane with undefined content, of at most 2³² − 1 pixels.
	Alloc(kind Kind, w, h int) (Plane, error)
	// Upload copies host samples into dst.
	Upload(ctx context.Context, dst Plane, src Samples) error
	// Host returns the samples of p in host memory, to be read only, and only until p is written or released.
	// It copies on devices with memory of their own.
	Host(ctx context.Context, p Plane) (Samples, error)
	// Gather returns src at the given pixel indices (row·width + column), as 32-bit integers; U8, U16 and U32 planes.
	Gather(ctx context.Context, dst []uint32, src Plane, index []uint32) error

	// Luma writes y (U16), the linear-light luminance in 1/65535 of white, and v (U8) = (Y re-encoded to 8-bit sRGB +
	// smallest channel re-encoded to 8-bit sRGB) / 2, rounded down. See LumaTables for the arithmetic.
	Luma(ctx context.Context, y, v Plane, pic *Picture, t *LumaTables) error

	// Morph applies op with element e; U8, U16 and F32 planes. dst may be src. O(1) a pixel for any size
	// (van Herk 1992; Gil & Werman 1993).
	Morph(ctx context.Context, dst, src Plane, op MorphOp, e Element) error
	// BoxMean writes the mean over the window of radius r ≥ 0, rounded to nearest ((S + n/2)/n); U8→U8, U16→U16, F32→F32.
	BoxMean(ctx context.Context, dst, src Plane, r int) error
	// MeanVariance writes mean and population variance (F32) of the window of radius r, 0 ≤ r ≤ 127, of a U8 or U16
	// plane, from exact integer sums: n²σ² = n·ΣX² − (ΣX)².
	MeanVariance(ctx context.Context, mean, variance, src Plane, r int) error
	// GuardRing writes z (F32) of a U8 or U16 plane: (m − μ)/√(σ² + noise²) where m is the mean over the window of
	// radius core, μ and σ² are mean and variance over the window of radius outer less the one of radius guard;
	// 0 ≤ core ≤ guard < outer ≤ 127, noise at least 0 and finite. Where the ring is empty z is 0.
	// (Cell-averaging CFAR: Finn & Johnson 1968.)
	GuardRing(ctx context.Context, z, src Plane, core, guard, outer int, noise float64) error
	// Background writes B (U16): the mean of y (U16) over the pixels of a window where exclude (U8) is 0, rounded to
	// nearest ((S + n/2)/n). The window is the first of radii (ascending, 0…2047) with 4·n ≥ (2r+1)², else the last one;
	// where even that holds no pixel, B = y.
	Background(ctx context.Context, dst, y, exclude Plane, radii []int) error
	// Deviation writes the standard deviation (U16, rounded down) of y (U16) over the pixels of the window of radius r,
	// 0 ≤ r ≤ 127, where exclude (U8) is 0; 0 where there is none.
	Deviation(ctx context.Context, dst, y, exclude Plane, r int) error
	// BoxCount writes (U16) how many pixels of the window of radius r, 0 ≤ r ≤ 127, have one of the given bits in
	// cls (U8).
	BoxCount(ctx context.Context, dst, cls Plane, bits uint8, r int) error
	// Contrast writes the class bits Wide and Seed into cls (U8), all others 0, and into seed (U16) the contrast
	// d = max(Y − B, 0) of seeds, 0 elsewhere. y and b are U16, v is U8.
	Contrast(ctx context.Context, cls, seed, y, b, v Plane, rule ContrastRule) error
	// Cores adds the class bits Core and Grow to cls, given the dilated seed contrast m (U16).
	Cores(ctx context.Context, cls, y, b, m Plane, rule CoreRule) error
	// Threshold writes 255 where src (U8, U16) ≥ level and 0 elsewhere into dst (U8), which may be src.
	Threshold(ctx context.Context, dst, src Plane, level uint32) error
	// Excess writes 255 into dst (U8) where y − b > over (all U16) and v (U8) ≥ level, else 0.
	Excess(ctx context.Context, dst, y, b, v Plane, over uint16, level uint8) error

	// Gaussian blurs with standard deviation sigma, 0…1000 pixels, and kernel radius ⌈3σ⌉, separable, mirrored at the
	// border without repeating the edge; U8, U16 and F32. Integer planes are rounded to nearest.
	Gaussian(ctx context.Context, dst, src Plane, sigma float64) error
	// Wavelet writes one level of the separable 2-D transform of src (U8, U16 or F32) as float32 into dst, whose
	// quarters hold LL, HL, LH, HH; sides are ⌈w/2⌉ for the low and ⌊w/2⌋ for the high band. The border is periodic; an
	// odd side is extended by its last sample once.
	Wavelet(ctx context.Context, dst, src Plane, wave Wavelet) error
	// InverseWavelet undoes Wavelet; src and dst are F32.
	InverseWavelet(ctx context.Context, dst, src Plane, wave Wavelet) error
	// Starlet writes the first len(bands) ≤ 24 bands and the remaining smooth plane of the undecimated B3-spline transform
	// (holes 2^(j−1), h = [1 4 6 4 1]/16) of src (U8, U16 or F32); all outputs F32. Mirrored at the border.
	Starlet(ctx context.Context, bands []Plane, smooth, src Plane) error
	// StarletBand writes the positive part of band level (1…3) of src (U8) in 1/256 grey levels, rounded down, into dst
	// (U16).
	StarletBand(ctx context.Context, dst, src Plane, level int) error
	// NoiseTiles returns, for each tile of tile × tile pixels, tile ≥ 2 (those of less than a quarter of the area left out) of
	// src (U8, U16), median |HH1| / 0.6745 of the Haar transform, in grey levels (Donoho & Johnstone 1994).
	NoiseTiles(ctx context.Context, src Plane, tile int) ([]float64, error)

	// Label returns the 8-connected components of the pixels of cls (U8) that have one of the given bits, numbered in
	// reading order of their first pixels.
	Label(ctx context.Context, cls Plane, bits uint8) (Components, error)
	// Grow extends cores over pixels of cls (U8) with ClassGrow, from pixel to pixel, nearest to a core first, as far
	// as g, which must be valid, allows. Labels stay. A core pixel c has the value (0, c), c counting as row·width + column. Pixels are settled in
	// the order of their values, as in Dijkstra's method: of all that are not, the next is the pixel with the least
	// (max(d, |p − c|²), c) over its 8 neighbours settled with a value (d, c); it must not exceed ⌊Far²⌋ of the core that c
	// belongs to, and then belongs to it. Pixels of equal values have one core, so their order does not matter.
	// (Distances that propagate from neighbour to neighbour: Danielsson 1980.) The maximum makes distances rise along
	// every way from a core, so that a component cut off at a distance, as Growth.Keep says, stays connected.
	Grow(ctx context.Context, cores Components, cls Plane, g Growth) (Components, error)
	// Keep empties the components whose label is not kept; labels stay.
	Keep(ctx context.Context, c Components, keep []bool) error
	// Paint writes 255 into dst (U8) where a component is, 0 elsewhere.
	Paint(ctx context.Context, dst Plane, c Components) error
	// Spans returns the runs of pixels of equal label in reading order, in host memory.
	Spans(ctx context.Context, c Components) ([]Span, error)
	// FillHoles writes 255 into the pixels of dst (U8) that are 0 and do not reach the picture's border by pixels that are 0,
	// each beside, above or below the last.
	FillHoles(ctx context.Context, dst Plane) error
	// Tally sums up each component, in the order of labels; that of an empty one is undefined.
	Tally(ctx context.Context, c Components, p TallyPlanes, t *LumaTables) ([]Tally, error)

	// The operations on tiles work on F32 planes of one size; state is U8, one of the State values a pixel. A neighbour
	// is one of the four nearest pixels of the same tile. Every arithmetic operation is rounded to float32 by itself,
	// in the order in which the formulas are written, sums over neighbours as (left + right) + (above + below) with 0
	// for those that are missing; so results are equal on all backends, whatever the number of threads. A sweep updates
	// first the pixels with even x + y (counted from the tile's corner), then the others. A tile without a known
	// pixel keeps its values.

	// Convolve fills the pixels that are not known by normalised convolution (Knutsson & Westin 1993) with the weights
	// g(d) = exp(−d²/2σ²), computed in float64 and rounded, 0 beyond ⌈6σ⌉: N = Σ g·v and D = Σ g over the known pixels
	// of each row, then p = Σ g·N / Σ g·D over each column, both from the first pixel to the last. sigmas are those of
	// the tiles, above 0 and up to a million. A pixel whose weights add up to 0 keeps its value.
	Convolve(ctx context.Context, dst, state Plane, tiles []Tile, sigmas []float64) error
	// Harmonic solves Laplace's equation where state is not known. It starts with pull-push (Gortler et al. 1996): a
	// coarser level holds the means of the known pixels of 2 × 2 blocks, ((p00 + p11) + (p10 + p01)) / number, and an
	// unknown pixel takes the value of its block, down to one pixel. Then follow sweeps[i] sweeps of over-relaxation,
	// p += ω·(sum·r − p), r = 1/number of neighbours, ω = omegas[i].
	Harmonic(ctx context.Context, dst, state Plane, tiles []Tile, sweeps []int, omegas []float32) error
	// Biharmonic relaxes, from what dst holds, the pixels that are not known towards the least sum of (Δu)² over the
	// tile, Δu = sum of the n neighbours − n·u. A step is p += s, s = ω·((n·Δu − sum of the neighbours' Δu) / (n·n + n)),
	// after which Δu of the pixel falls by n·s and that of its neighbours rises by s. A sweep goes over the pixels in
	// nine classes, class 3·(y mod 3) + x mod 3 ascending. The result is the mean of two such runs, the second with x
	// and y exchanged in the order of the classes, so that a transposed picture gives the transposed result.
	Biharmonic(ctx context.Context, dst, state Plane, tiles []Tile, sweeps []int, omega float32) error
	// Detail writes the two finest bands of the starlet transform, taken over the known pixels alone: src less what two
	// smoothings with [1 4 6 4 1] at gaps 1 and 2 leave, each N = Σ t·v and D = Σ t over the known pixels of the row, then
	// Σ t·N / Σ t·D over the column, from the first tap to the last. It writes 0 where state is not known.
	Detail(ctx context.Context, dst, src, state Plane, tiles []Tile) error
	// Separate splits what was seen, in linear light, into paint and light: seen = paint² + light·colour. paint, one
	// plane a channel, holds square roots of linear light; it is known where state is, and elsewhere a first guess that
	// is improved, as is light. expected is the mean of the light that may lie on a pixel, above 0. For each pixel, with
	// the mean a of the neighbours' paint (sum·r) a channel and its model:
	//
	//   lost:    paint = a
	//   veiled:  b = 2·Σa/channels + 0.01,  f = b·b·r,  ν = Noise + (Mismatch·light)·(Mismatch·light)
	//            ρₖ = Σ Axes[k][c]·(seen_c − a_c·a_c),  gₖ = Variance[k]·f,  qₖ = 1/(gₖ + ν)
	//            A = Σ Light[k]·qₖ·ρₖ,  S = Σ Light[k]·qₖ·Light[k],  μ = (A − 1/expected)/S
	//            light = (μ + √(μ·μ + 2.5464791/S))/2
	//            paint_c = √max(0, a_c·a_c + Σ Axes[k][c]·((gₖ·qₖ)·(ρₖ − light·Light[k])))
	//
	// That is one step of Gauss-Seidel towards the most likely paint under a membrane prior, with the mean of the
	// posterior of the light under an exponential prior in place of its mode (see docs/correction.md).
	Separate(ctx context.Context, paint []Plane, light Plane, seen []Plane, expected, state Plane, tiles []Tile, models []Separation) error

	// Histogram counts the values of src (U8: 256 bins, U16: 65,536 bins) where exclude (U8) is 0; exclude may be nil.
	Histogram(ctx context.Context, src, exclude Plane) ([]uint64, error)
	// Moments sums over src: exactly for integers, in a fixed tree order for F32.
	Moments(ctx context.Context, src Plane) (Moments, error)

	// Stage starts a named stage; calling the result ends it. Times of stages with the same name add up.
	Stage(name string) (end func())
	// Timings returns the stages since the last call, in the order of their first start.
	Timings() []StageTime
	// Close releases everything the backend holds.
	Close() error
}
