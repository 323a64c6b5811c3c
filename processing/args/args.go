// Package args checks what the operations of processing.Backend are given, so that all backends refuse the same calls in the same
// words, before anything is done. Each function is the check of the method of its name, whose documentation says what is
// allowed; the error names the backend and the operation. A call that is not refused costs no memory.
package args

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"blik/processing"
)

// Plane is what every backend's planes tell about themselves.
type Plane interface {
	processing.Plane
	// Owner is the backend that made the plane; nil for a nil pointer.
	Owner() processing.Backend
	Released() bool
}

// Components is what every backend's components tell about themselves.
type Components interface {
	processing.Components
	// Owner is the backend that made the components; nil for a nil pointer.
	Owner() processing.Backend
	Released() bool
	// Size is that of the planes that they were found in.
	Size() (w, h int)
}

// call checks the arguments of one operation; the first mistake stays in err.
type call struct {
	b  processing.Backend
	op string
	// w and h are the size of what was given so far, 0 before anything was.
	w, h int
	err  error
}

func (c *call) fail(format string, v ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %s: "+format, append([]any{c.b.Name(), c.op}, v...)...)
	}
}

// kinds is a set of sample types.
type kinds uint8

const (
	u8       = kinds(1) << processing.U8
	u16      = kinds(1) << processing.U16
	u32      = kinds(1) << processing.U32
	f32      = kinds(1) << processing.F32
	integers = u8 | u16
	samples  = integers | f32
	all      = samples | u32
)

func (k kinds) String() string {
	var names []string
	for ; k != 0; k &= k - 1 {
		names = append(names, processing.Kind(bits.TrailingZeros8(uint8(k))).String())
	}
	return strings.Join(names, " or ")
}

// plane wants a living plane of the backend, of one of the kinds, and of the size of what was given before.
func (c *call) plane(role string, p processing.Plane, allowed kinds) {
	q, ok := p.(Plane)
	switch {
	case p == nil || ok && q.Owner() == nil:
		c.fail("no %s plane given", role)
	case !ok || q.Owner() != c.b:
		c.fail("the %s plane belongs to another backend", role)
	case q.Released():
		c.fail("the %s plane was released", role)
	case allowed>>q.Kind()&1 == 0:
		c.fail("the %s plane is %v, must be %v", role, q.Kind(), allowed)
	default:
		if w, h := q.Size(); !c.fits(w, h) {
			c.fail("the %s plane is %d × %d pixels, the others are %d × %d", role, w, h, c.w, c.h)
		}
	}
}

// components wants living components of the backend, found in planes of the size of what was given before.
func (c *call) components(list processing.Components) {
	q, ok := list.(Components)
	switch {
	case list == nil || ok && q.Owner() == nil:
		c.fail("no components given")
	case !ok || q.Owner() != c.b:
		c.fail("the components belong to another backend")
	case q.Released():
		c.fail("the components were released")
	default:
		if w, h := q.Size(); !c.fits(w, h) {
			c.fail("the components are of %d × %d pixels, the planes are %d × %d", w, h, c.w, c.h)
		}
	}
}

func (c *call) fits(w, h int) bool {
	if c.w == 0 {
		c.w, c.h = w, h
	}
	return w == c.w && h == c.h
}

// apart wants the first n planes, which are written, to be given once.
func (c *call) apart(n int, planes ...processing.Plane) {
	for i := range n {
		if c.err == nil && slices.Contains(planes[i+1:], planes[i]) {
			c.fail("a plane that is written is given twice")
		}
	}
}

// same wants planes of one kind.
func (c *call) same(dst, src processing.Plane) {
	if c.err == nil && dst.Kind() != src.Kind() {
		c.fail("the destination plane is %v, the source %v; both must be of one kind", dst.Kind(), src.Kind())
	}
}

// maxRadius is the largest radius where sums of squares are taken, or pixels counted, in few bits.
const maxRadius = 127

func (c *call) radius(r, most int) {
	if r < 0 || r > most {
		c.fail("radius %d: must be between 0 and %d", r, most)
	}
}

func (c *call) wavelet(wave processing.Wavelet) {
	if wave > processing.Daubechies4 {
		c.fail("unknown wavelet %d", wave)
	}
}

func (c *call) encoding(t *processing.LumaTables) {
	if len(t.Encode8) != 1<<16 {
		c.fail("the encoding table has %d entries, must have %d", len(t.Encode8), 1<<16)
	}
}

// perTile wants a list to hold one value for each tile.
func (c *call) perTile(what string, n int, list []processing.Tile) {
	if n != len(list) {
		c.fail("%d %s given for %d tiles", n, what, len(list))
	}
}

// tiles wants every tile to lie in the planes.
func (c *call) tiles(list []processing.Tile) {
	for i, r := range list {
		if r.W < 1 || r.H < 1 || r.X < 0 || r.Y < 0 || r.X > c.w-r.W || r.Y > c.h-r.H {
			c.fail("tile %d (%d × %d at %d, %d) does not lie in planes of %d × %d pixels", i, r.W, r.H, r.X, r.Y, c.w, c.h)
		}
	}
}

func (c *call) sweeps(tile, n int) {
	if n < 0 || n > math.MaxInt32 {
		c.fail("%d sweeps of tile %d: must be between 0 and %d", n, tile, math.MaxInt32)
	}
}

// maxPixels keeps pixel indices within the 32 bits that Gather takes.
const maxPixels uint64 = 1<<32 - 1

// Alloc checks the arguments of that method.
func Alloc(b processing.Backend, kind processing.Kind, w, h int) error {
	c := call{b: b, op: "alloc"}
	switch {
	case kind > processing.F32:
		c.fail("plane of unknown kind %d", kind)
	case w < 1 || h < 1:
		c.fail("plane of %d × %d pixels: both sides must be at least 1", w, h)
	case uint64(w) > maxPixels/uint64(h):
		c.fail("plane of %d × %d pixels: more than %d pixels", w, h, maxPixels)
	}
	return c.err
}

// Upload checks the arguments of that method.
func Upload(b processing.Backend, dst processing.Plane, src processing.Samples) error {
	c := call{b: b, op: "upload"}
	if c.plane("destination", dst, all); c.err != nil {
		return c.err
	}
	if n := [...]int{len(src.U8), len(src.U16), len(src.U32), len(src.F32)}[dst.Kind()]; n != c.w*c.h {
		c.fail("%d samples of the plane's kind given, %d needed", n, c.w*c.h)
	}
	return c.err
}

// Host checks the argument of that method.
func Host(b processing.Backend, p processing.Plane) error {
	c := call{b: b, op: "host"}
	c.plane("source", p, all)
	return c.err
}

// Gather checks the arguments of that method.
func Gather(b processing.Backend, dst []uint32, src processing.Plane, index []uint32) error {
	c := call{b: b, op: "gather"}
	c.plane("source", src, integers|u32)
	if len(dst) != len(index) {
		c.fail("room for %d values given, %d asked for", len(dst), len(index))
	}
	if len(index) == 0 || c.err != nil {
		return c.err
	}
	if i := slices.Max(index); uint64(i) >= uint64(c.w)*uint64(c.h) {
		c.fail("index %d lies outside a plane of %d × %d pixels", i, c.w, c.h)
	}
	return c.err
}

// Luma checks the arguments of that method.
func Luma(b processing.Backend, y, v processing.Plane, pic *processing.Picture, t *processing.LumaTables) error {
	c := call{b: b, op: "luma"}
	c.plane("luminance", y, u16)
	c.plane("level", v, u8)
	if pic == nil || t == nil {
		c.fail("no picture or no tables given")
	}
	if c.err != nil {
		return c.err
	}
	if err := pic.Validate(); err != nil {
		c.fail("%w", err)
	}
	if pic.Width != c.w || pic.Height != c.h {
		c.fail("the picture is %d × %d pixels, the planes are %d × %d", pic.Width, pic.Height, c.w, c.h)
	}
	c.encoding(t)
	switch eight := pic.Depth() == 8; {
	case eight && len(t.Linear8) != 1<<8:
		c.fail("the 8-bit linear table has %d entries, must have %d", len(t.Linear8), 1<<8)
	case !eight && len(t.Linear16) != 1<<16:
		c.fail("the 16-bit linear table has %d entries, must have %d", len(t.Linear16), 1<<16)
	}
	return c.err
}

// Morph checks the arguments of that method.
func Morph(b processing.Backend, dst, src processing.Plane, op processing.MorphOp, e processing.Element) error {
	c := call{b: b, op: "morph"}
	c.plane("destination", dst, samples)
	c.plane("source", src, samples)
	c.same(dst, src)
	if e.Direction > processing.Falling {
		c.fail("unknown direction %d", e.Direction)
	}
	if e.Size < 1 || e.Size%2 == 0 {
		c.fail("element of size %d: must be odd and at least 1", e.Size)
	}
	if e.Direction == processing.Rectangle && (e.Size2 < 1 || e.Size2%2 == 0) {
		c.fail("rectangle of height %d: must be odd and at least 1", e.Size2)
	}
	if op > processing.TopHat {
		c.fail("unknown operation %d", op)
	}
	return c.err
}

// BoxMean checks the arguments of that method.
func BoxMean(b processing.Backend, dst, src processing.Plane, r int) error {
	c := call{b: b, op: "box mean"}
	c.plane("destination", dst, samples)
	c.plane("source", src, samples)
	c.same(dst, src)
	c.apart(1, dst, src)
	c.radius(r, math.MaxInt32)
	return c.err
}

// MeanVariance checks the arguments of that method.
func MeanVariance(b processing.Backend, mean, variance, src processing.Plane, r int) error {
	c := call{b: b, op: "mean and variance"}
	c.plane("mean", mean, f32)
	c.plane("variance", variance, f32)
	c.plane("source", src, integers)
	c.apart(1, mean, variance)
	c.radius(r, maxRadius)
	return c.err
}

// GuardRing checks the arguments of that method.
func GuardRing(b processing.Backend, z, src processing.Plane, core, guard, outer int, noise float64) error {
	c := call{b: b, op: "guard ring"}
	c.plane("destination", z, f32)
	c.plane("source", src, integers)
	if core < 0 || core > guard || guard >= outer || outer > maxRadius {
		c.fail("radii %d, %d and %d: must be 0 ≤ core ≤ guard < outer ≤ %d", core, guard, outer, maxRadius)
	}
	if !(noise >= 0) || math.IsInf(noise, 1) {
		c.fail("noise %v: must be at least 0 and finite", noise)
	}
	return c.err
}

// maxOpenRadius is the largest radius at which the samples of a window and their number fit one word of 64 bits.
const maxOpenRadius = 2047

// Background checks the arguments of that method.
func Background(b processing.Backend, dst, y, exclude processing.Plane, radii []int) error {
	c := call{b: b, op: "background"}
	c.plane("destination", dst, u16)
	c.plane("luminance", y, u16)
	c.plane("exclusion", exclude, u8)
	c.apart(1, dst, y)
	if len(radii) == 0 {
		c.fail("no radius given")
	}
	for i, r := range radii {
		c.radius(r, maxOpenRadius)
		if i > 0 && r < radii[i-1] {
			c.fail("radius %d after %d: must ascend", r, radii[i-1])
		}
	}
	return c.err
}

// Deviation checks the arguments of that method.
func Deviation(b processing.Backend, dst, y, exclude processing.Plane, r int) error {
	c := call{b: b, op: "deviation"}
	c.plane("destination", dst, u16)
	c.plane("luminance", y, u16)
	c.plane("exclusion", exclude, u8)
	c.apart(1, dst, y)
	c.radius(r, maxRadius)
	return c.err
}

// BoxCount checks the arguments of that method.
func BoxCount(b processing.Backend, dst, cls processing.Plane, r int) error {
	c := call{b: b, op: "box count"}
	c.plane("destination", dst, u16)
	c.plane("class", cls, u8)
	c.radius(r, maxRadius)
	return c.err
}

// Contrast checks the arguments of that method.
func Contrast(b processing.Backend, cls, seed, y, bg, v processing.Plane) error {
	c := call{b: b, op: "contrast"}
	c.plane("class", cls, u8)
	c.plane("seed", seed, u16)
	c.plane("luminance", y, u16)
	c.plane("background", bg, u16)
	c.plane("level", v, u8)
	c.apart(2, cls, seed, y, bg, v)
	return c.err
}

// Cores checks the arguments of that method.
func Cores(b processing.Backend, cls, y, bg, m processing.Plane) error {
	c := call{b: b, op: "cores"}
	c.plane("class", cls, u8)
	c.plane("luminance", y, u16)
	c.plane("background", bg, u16)
	c.plane("peak", m, u16)
	return c.err
}

// Threshold checks the arguments of that method.
func Threshold(b processing.Backend, dst, src processing.Plane) error {
	c := call{b: b, op: "threshold"}
	c.plane("destination", dst, u8)
	c.plane("source", src, integers)
	return c.err
}

// Excess checks the arguments of that method.
func Excess(b processing.Backend, dst, y, bg, v processing.Plane) error {
	c := call{b: b, op: "excess"}
	c.plane("destination", dst, u8)
	c.plane("luminance", y, u16)
	c.plane("background", bg, u16)
	c.plane("level", v, u8)
	c.apart(1, dst, v)
	return c.err
}

// maxSigma bounds the kernel, whose cost grows with sigma.
const maxSigma = 1000

// Gaussian checks the arguments of that method.
func Gaussian(b processing.Backend, dst, src processing.Plane, sigma float64) error {
	c := call{b: b, op: "gaussian"}
	c.plane("destination", dst, samples)
	c.plane("source", src, samples)
	c.same(dst, src)
	c.apart(1, dst, src)
	if !(sigma >= 0 && sigma <= maxSigma) {
		c.fail("standard deviation %v: must be between 0 and %d", sigma, maxSigma)
	}
	return c.err
}

// Wavelet checks the arguments of that method.
func Wavelet(b processing.Backend, dst, src processing.Plane, wave processing.Wavelet) error {
	c := call{b: b, op: "wavelet"}
	c.plane("destination", dst, f32)
	c.plane("source", src, samples)
	c.apart(1, dst, src)
	c.wavelet(wave)
	return c.err
}

// InverseWavelet checks the arguments of that method.
func InverseWavelet(b processing.Backend, dst, src processing.Plane, wave processing.Wavelet) error {
	c := call{b: b, op: "inverse wavelet"}
	c.plane("destination", dst, f32)
	c.plane("source", src, f32)
	c.apart(1, dst, src)
	c.wavelet(wave)
	return c.err
}

// maxBands bounds the bands of a starlet transform; the filter of the last one is wider than any picture.
const maxBands = 24

// Starlet checks the arguments of that method.
func Starlet(b processing.Backend, bands []processing.Plane, smooth, src processing.Plane) error {
	c := call{b: b, op: "starlet"}
	if len(bands) > maxBands {
		c.fail("%d bands: at most %d", len(bands), maxBands)
		return c.err
	}
	for _, p := range bands {
		c.plane("band", p, f32)
	}
	c.plane("smooth", smooth, f32)
	c.plane("source", src, samples)
	list := append(make([]processing.Plane, 0, maxBands+2), bands...)
	c.apart(len(bands)+1, append(list, smooth, src)...)
	return c.err
}

// StarletBand checks the arguments of that method.
func StarletBand(b processing.Backend, dst, src processing.Plane, level int) error {
	c := call{b: b, op: "starlet band"}
	c.plane("destination", dst, u16)
	c.plane("source", src, u8)
	if level < 1 || level > 3 {
		c.fail("level %d: must be 1, 2 or 3", level)
	}
	return c.err
}

// NoiseTiles checks the arguments of that method.
func NoiseTiles(b processing.Backend, src processing.Plane, tile int) error {
	c := call{b: b, op: "noise tiles"}
	c.plane("source", src, integers)
	if tile < 2 {
		c.fail("tiles of %d pixels: at least 2", tile)
	}
	return c.err
}

// Label checks the argument of that method.
func Label(b processing.Backend, cls processing.Plane) error {
	c := call{b: b, op: "label"}
	c.plane("class", cls, u8)
	return c.err
}

// Grow checks the arguments of that method.
func Grow(b processing.Backend, cores processing.Components, cls processing.Plane, g processing.Growth) error {
	c := call{b: b, op: "grow"}
	c.plane("class", cls, u8)
	c.components(cores)
	if err := g.Validate(); err != nil {
		c.fail("%w", err)
	}
	return c.err
}

// Keep checks the arguments of that method.
func Keep(b processing.Backend, list processing.Components, keep []bool) error {
	c := call{b: b, op: "keep"}
	c.components(list)
	if c.err == nil && len(keep) != list.Len() {
		c.fail("%d labels told, there are %d", len(keep), list.Len())
	}
	return c.err
}

// Paint checks the arguments of that method.
func Paint(b processing.Backend, dst processing.Plane, list processing.Components) error {
	c := call{b: b, op: "paint"}
	c.plane("destination", dst, u8)
	c.components(list)
	return c.err
}

// Spans checks the argument of that method.
func Spans(b processing.Backend, list processing.Components) error {
	c := call{b: b, op: "spans"}
	c.components(list)
	return c.err
}

// FillHoles checks the argument of that method.
func FillHoles(b processing.Backend, dst processing.Plane) error {
	c := call{b: b, op: "fill holes"}
	c.plane("destination", dst, u8)
	return c.err
}

// Tally checks the arguments of that method.
func Tally(b processing.Backend, list processing.Components, p processing.TallyPlanes, t *processing.LumaTables) error {
	c := call{b: b, op: "tally"}
	c.plane("class", p.Class, u8)
	c.plane("member", p.Member, u8)
	c.plane("luminance", p.Y, u16)
	c.plane("background", p.B, u16)
	c.plane("level", p.V, u8)
	c.plane("deviation", p.Spread, u16)
	c.plane("starlet", p.Starlet, u16)
	c.components(list)
	if t == nil {
		c.fail("no tables given")
		return c.err
	}
	c.encoding(t)
	return c.err
}

// Convolve checks the arguments of that method.
func Convolve(b processing.Backend, dst, state processing.Plane, tiles []processing.Tile, sigmas []float64) error {
	c := call{b: b, op: "convolve"}
	c.plane("destination", dst, f32)
	c.plane("state", state, u8)
	c.tiles(tiles)
	c.perTile("sigmas", len(sigmas), tiles)
	for i, v := range sigmas {
		if !(v > 0 && v <= 1e6) {
			c.fail("sigma %g of tile %d: must lie between 0 and a million", v, i)
		}
	}
	return c.err
}

// Harmonic checks the arguments of that method.
func Harmonic(b processing.Backend, dst, state processing.Plane, tiles []processing.Tile, sweeps []int, omegas []float32) error {
	c := call{b: b, op: "harmonic"}
	c.plane("destination", dst, f32)
	c.plane("state", state, u8)
	c.tiles(tiles)
	c.perTile("numbers of sweeps", len(sweeps), tiles)
	c.perTile("factors of relaxation", len(omegas), tiles)
	for i, n := range sweeps {
		c.sweeps(i, n)
	}
	return c.err
}

// Biharmonic checks the arguments of that method.
func Biharmonic(b processing.Backend, dst, state processing.Plane, tiles []processing.Tile, sweeps []int) error {
	c := call{b: b, op: "biharmonic"}
	c.plane("destination", dst, f32)
	c.plane("state", state, u8)
	c.tiles(tiles)
	c.perTile("numbers of sweeps", len(sweeps), tiles)
	for i, n := range sweeps {
		c.sweeps(i, n)
	}
	return c.err
}

// Detail checks the arguments of that method.
func Detail(b processing.Backend, dst, src, state processing.Plane, tiles []processing.Tile) error {
	c := call{b: b, op: "detail"}
	c.plane("destination", dst, f32)
	c.plane("source", src, f32)
	c.plane("state", state, u8)
	c.apart(1, dst, src)
	c.tiles(tiles)
	return c.err
}

// maxChannels is how many a Separation has room for.
const maxChannels = 4

// Separate checks the arguments of that method.
func Separate(b processing.Backend, paint []processing.Plane, light processing.Plane, seen []processing.Plane,
	expected, state processing.Plane, tiles []processing.Tile, models []processing.Separation) error {
	c := call{b: b, op: "separate"}
	n := len(seen)
	if n < 1 || n > maxChannels || len(paint) != n {
		c.fail("%d planes of paint and %d seen: 1 to %d of each are needed", len(paint), n, maxChannels)
		return c.err
	}
	for k := range seen {
		c.plane("paint", paint[k], f32)
		c.plane("seen", seen[k], f32)
	}
	c.plane("light", light, f32)
	c.plane("expected light", expected, f32)
	c.plane("state", state, u8)
	list := append(make([]processing.Plane, 0, 2*maxChannels+2), paint...)
	list = append(append(list, light, expected), seen...)
	c.apart(n+1, list...)
	c.tiles(tiles)
	c.perTile("models", len(models), tiles)
	for i := range models {
		c.sweeps(i, models[i].Sweeps)
	}
	return c.err
}

// Histogram checks the arguments of that method.
func Histogram(b processing.Backend, src, exclude processing.Plane) error {
	c := call{b: b, op: "histogram"}
	c.plane("source", src, integers)
	if exclude != nil {
		c.plane("exclusion", exclude, u8)
	}
	return c.err
}

// Moments checks the argument of that method.
func Moments(b processing.Backend, src processing.Plane) error {
	c := call{b: b, op: "moments"}
	c.plane("source", src, all)
	return c.err
}
