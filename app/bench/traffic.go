package bench

import (
	"context"
	"unsafe"

	"blik/processing"
)

// The stages that backends put copies between host and device under.
const (
	stageUpload   = "upload"
	stageDownload = "download"
)

// traffic is a backend that counts, for each stage, the least that its operations have to move, whatever device they run
// on: a plane that is read counts once and a plane that is written counts once, in bytes; Morph, Gaussian and the like
// need not read any pixel twice, if what they read stays in caches. So the time of a stage at the rate of a plain copy is
// a bound that no implementation with the same operations is faster than.
//
// Where an operation is about a set of pixels, only these count: Gather those asked for, Tally those of the components,
// the operations on tiles those of the tiles. Grow, Keep and Spans touch only the pixels of the components and their
// surroundings, a small part of most pictures, and count nothing; so does what the detector does in host memory by itself.
//
// What a device with memory of its own must be sent and what it must send back (a picture, planes for Host, lists and
// results) counts as upload and as download, not for the stage that it happens in.
type traffic struct {
	inner processing.Backend
	// bytes are by the names of stages, "" outside of all.
	bytes map[string]int64
	open  []string
}

var _ processing.Backend = (*traffic)(nil)

// count adds to the stage that was started last and still runs.
func (t *traffic) count(n int64) {
	name := ""
	if k := len(t.open); k > 0 {
		name = t.open[k-1]
	}
	t.bytes[name] += n
}

func (t *traffic) up(n int64)   { t.bytes[stageUpload] += n }
func (t *traffic) down(n int64) { t.bytes[stageDownload] += n }

// planes counts whole planes; nil ones count nothing.
func (t *traffic) planes(list ...processing.Plane) {
	for _, p := range list {
		t.count(planeBytes(p))
	}
}

func planeBytes(p processing.Plane) int64 {
	if p == nil {
		return 0
	}
	w, h := p.Size()
	return int64(w) * int64(h) * sampleBytes(p)
}

func sampleBytes(p processing.Plane) int64 {
	switch p.Kind() {
	case processing.U8:
		return 1
	case processing.U16:
		return 2
	}
	return 4
}

// tiles counts the tiles of planes.
func (t *traffic) tiles(tiles []processing.Tile, list ...processing.Plane) {
	for _, v := range tiles {
		for _, p := range list {
			t.count(int64(v.W) * int64(v.H) * sampleBytes(p))
		}
	}
}

func (t *traffic) Name() string { return t.inner.Name() }

func (t *traffic) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	return t.inner.Alloc(kind, w, h)
}

func (t *traffic) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	t.up(planeBytes(dst))
	return t.inner.Upload(ctx, dst, src)
}

func (t *traffic) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	t.down(planeBytes(p))
	return t.inner.Host(ctx, p)
}

func (t *traffic) Gather(ctx context.Context, dst []uint32, src processing.Plane, index []uint32) error {
	n := int64(len(index))
	t.up(4 * n)
	t.count(n * (4 + sampleBytes(src) + 4))
	t.down(4 * n)
	return t.inner.Gather(ctx, dst, src, index)
}

func (t *traffic) Luma(ctx context.Context, y, v processing.Plane, pic *processing.Picture, tables *processing.LumaTables) error {
	n := int64(pic.Width) * int64(pic.Height) * int64(pic.Channels) * int64(pic.Depth()/8)
	t.up(n)
	t.count(n)
	t.planes(y, v)
	return t.inner.Luma(ctx, y, v, pic, tables)
}

func (t *traffic) Morph(ctx context.Context, dst, src processing.Plane, op processing.MorphOp, e processing.Element) error {
	t.planes(dst, src)
	return t.inner.Morph(ctx, dst, src, op, e)
}

func (t *traffic) BoxMean(ctx context.Context, dst, src processing.Plane, r int) error {
	t.planes(dst, src)
	return t.inner.BoxMean(ctx, dst, src, r)
}

func (t *traffic) MeanVariance(ctx context.Context, mean, variance, src processing.Plane, r int) error {
	t.planes(mean, variance, src)
	return t.inner.MeanVariance(ctx, mean, variance, src, r)
}

func (t *traffic) GuardRing(ctx context.Context, z, src processing.Plane, core, guard, outer int, noise float64) error {
	t.planes(z, src)
	return t.inner.GuardRing(ctx, z, src, core, guard, outer, noise)
}

func (t *traffic) Background(ctx context.Context, dst, y, exclude processing.Plane, radii []int) error {
	t.planes(dst, y, exclude)
	return t.inner.Background(ctx, dst, y, exclude, radii)
}

func (t *traffic) Deviation(ctx context.Context, dst, y, exclude processing.Plane, r int) error {
	t.planes(dst, y, exclude)
	return t.inner.Deviation(ctx, dst, y, exclude, r)
}

func (t *traffic) BoxCount(ctx context.Context, dst, cls processing.Plane, bits uint8, r int) error {
	t.planes(dst, cls)
	return t.inner.BoxCount(ctx, dst, cls, bits, r)
}

func (t *traffic) Contrast(ctx context.Context, cls, seed, y, b, v processing.Plane, rule processing.ContrastRule) error {
	t.planes(cls, seed, y, b, v)
	return t.inner.Contrast(ctx, cls, seed, y, b, v, rule)
}

// Cores reads the class plane and writes it.
func (t *traffic) Cores(ctx context.Context, cls, y, b, m processing.Plane, rule processing.CoreRule) error {
	t.planes(cls, cls, y, b, m)
	return t.inner.Cores(ctx, cls, y, b, m, rule)
}

func (t *traffic) Threshold(ctx context.Context, dst, src processing.Plane, level uint32) error {
	t.planes(dst, src)
	return t.inner.Threshold(ctx, dst, src, level)
}

func (t *traffic) Excess(ctx context.Context, dst, y, b, v processing.Plane, over uint16, level uint8) error {
	t.planes(dst, y, b, v)
	return t.inner.Excess(ctx, dst, y, b, v, over, level)
}

func (t *traffic) Gaussian(ctx context.Context, dst, src processing.Plane, sigma float64) error {
	t.planes(dst, src)
	return t.inner.Gaussian(ctx, dst, src, sigma)
}

func (t *traffic) Wavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	t.planes(dst, src)
	return t.inner.Wavelet(ctx, dst, src, wave)
}

func (t *traffic) InverseWavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	t.planes(dst, src)
	return t.inner.InverseWavelet(ctx, dst, src, wave)
}

func (t *traffic) Starlet(ctx context.Context, bands []processing.Plane, smooth, src processing.Plane) error {
	t.planes(bands...)
	t.planes(smooth, src)
	return t.inner.Starlet(ctx, bands, smooth, src)
}

func (t *traffic) StarletBand(ctx context.Context, dst, src processing.Plane, level int) error {
	t.planes(dst, src)
	return t.inner.StarletBand(ctx, dst, src, level)
}

func (t *traffic) NoiseTiles(ctx context.Context, src processing.Plane, tile int) ([]float64, error) {
	t.planes(src)
	out, err := t.inner.NoiseTiles(ctx, src, tile)
	t.down(8 * int64(len(out)))
	return out, err
}

func (t *traffic) Label(ctx context.Context, cls processing.Plane, bits uint8) (processing.Components, error) {
	t.planes(cls)
	return t.inner.Label(ctx, cls, bits)
}

func (t *traffic) Grow(ctx context.Context, cores processing.Components, cls processing.Plane, g processing.Growth) (processing.Components, error) {
	return t.inner.Grow(ctx, cores, cls, g)
}

func (t *traffic) Keep(ctx context.Context, c processing.Components, keep []bool) error {
	t.up(int64(len(keep)))
	return t.inner.Keep(ctx, c, keep)
}

func (t *traffic) FillHoles(ctx context.Context, dst processing.Plane) error {
	t.planes(dst, dst)
	return t.inner.FillHoles(ctx, dst)
}

func (t *traffic) Paint(ctx context.Context, dst processing.Plane, c processing.Components) error {
	t.planes(dst)
	return t.inner.Paint(ctx, dst, c)
}

// spanBytes is a Span, four integers of 32 bits.
const spanBytes = 16

func (t *traffic) Spans(ctx context.Context, c processing.Components) ([]processing.Span, error) {
	out, err := t.inner.Spans(ctx, c)
	t.down(spanBytes * int64(len(out)))
	return out, err
}

func (t *traffic) Tally(ctx context.Context, c processing.Components, p processing.TallyPlanes, tables *processing.LumaTables) ([]processing.Tally, error) {
	out, err := t.inner.Tally(ctx, c, p, tables)
	var a int64
	for _, q := range []processing.Plane{p.Class, p.Member, p.Y, p.B, p.V, p.Spread, p.Starlet} {
		a += sampleBytes(q)
	}
	for i := range out {
		t.count(out[i].All.N * a)
	}
	t.down(int64(unsafe.Sizeof(processing.Tally{})) * int64(len(out)))
	return out, err
}

func (t *traffic) Convolve(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sigmas []float64) error {
	t.tiles(tiles, dst, dst, state)
	return t.inner.Convolve(ctx, dst, state, tiles, sigmas)
}

func (t *traffic) Harmonic(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sweeps []int, omegas []float32) error {
	t.tiles(tiles, dst, dst, state)
	return t.inner.Harmonic(ctx, dst, state, tiles, sweeps, omegas)
}

func (t *traffic) Biharmonic(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sweeps []int, omega float32) error {
	t.tiles(tiles, dst, dst, state)
	return t.inner.Biharmonic(ctx, dst, state, tiles, sweeps, omega)
}

func (t *traffic) Detail(ctx context.Context, dst, src, state processing.Plane, tiles []processing.Tile) error {
	t.tiles(tiles, dst, src, state)
	return t.inner.Detail(ctx, dst, src, state, tiles)
}

// Separate reads and writes paint and light.
func (t *traffic) Separate(ctx context.Context, paint []processing.Plane, light processing.Plane, seen []processing.Plane, expected, state processing.Plane, tiles []processing.Tile, models []processing.Separation) error {
	t.tiles(tiles, paint...)
	t.tiles(tiles, paint...)
	t.tiles(tiles, seen...)
	t.tiles(tiles, light, light, expected, state)
	return t.inner.Separate(ctx, paint, light, seen, expected, state, tiles, models)
}

func (t *traffic) Histogram(ctx context.Context, src, exclude processing.Plane) ([]uint64, error) {
	t.planes(src, exclude)
	out, err := t.inner.Histogram(ctx, src, exclude)
	t.down(8 * int64(len(out)))
	return out, err
}

func (t *traffic) Moments(ctx context.Context, src processing.Plane) (processing.Moments, error) {
	t.planes(src)
	m, err := t.inner.Moments(ctx, src)
	t.down(int64(unsafe.Sizeof(m)))
	return m, err
}

// Stage counts what follows under the name until it ends.
func (t *traffic) Stage(name string) (end func()) {
	t.open = append(t.open, name)
	depth := len(t.open)
	inner := t.inner.Stage(name)
	return func() {
		inner()
		t.open = t.open[:min(len(t.open), depth-1)]
	}
}

func (t *traffic) Timings() []processing.StageTime { return t.inner.Timings() }

func (t *traffic) Close() error { return t.inner.Close() }
