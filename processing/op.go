package processing

import (
	"context"
	"reflect"
	"strings"
	"unicode"
)

// Op is an operation of a Backend: a value whose fields are its arguments. It is described once, by describe and
// Footprint; argument checks, work in bands and the counting of bytes follow from that.
//
// Destination planes are allocated by the caller, have the size of the source and must not be the source unless the
// operation allows it. Windows are squares of side 2·Radius + 1 around the pixel, clipped at the picture's border;
// means divide by the number of pixels inside. Integer results are exact, so that two backends agree bit for bit.
// Operations with a result store it where their field Out points to (see Evaluate).
type Op interface {
	// Footprint returns the source rows that a row of the result depends on.
	Footprint() Footprint

	// describe passes the arguments to a, which checks, collects or replaces them, and returns the operation with the
	// replaced ones.
	describe(a *arguments) Op
	// run calls the executor's method for the operation and stores its result.
	run(ctx context.Context, e Executor) error
}

// NameOf returns the name of an operation for messages: its type in words, such as "box mean" for BoxMean.
func NameOf(op Op) string {
	var name strings.Builder
	for i, r := range reflect.TypeOf(op).Name() {
		if unicode.IsUpper(r) && i > 0 {
			name.WriteByte(' ')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}

// Query is an operation with a result of type R.
type Query[R any] interface {
	Op
	// Into returns the operation with out as the place of its result.
	Into(out *R) Op
}

// Evaluate carries out a query and returns its result.
func Evaluate[R any](ctx context.Context, b Backend, q Query[R]) (R, error) {
	var out R
	err := b.Do(ctx, q.Into(&out))
	return out, err
}

// answer carries out a query by a method of the executor and stores its result.
func answer[Q, R any](ctx context.Context, q Q, out *R, method func(context.Context, Q) (R, error)) (err error) {
	*out, err = method(ctx, q)
	return err
}

// Footprint is the part of its source planes that an operation needs for a row of its result.
type Footprint struct {
	// Rows is the number of rows above and below.
	Rows int
	// Align, if above 1, must divide the number of the first row of a band, because sums are computed in blocks of
	// rows.
	Align int
	// Whole: all rows; Rows and Align are unused.
	Whole bool
}

// perPixel is embedded by operations whose result at a pixel depends on that pixel of the sources only.
type perPixel struct{}

func (perPixel) Footprint() Footprint { return Footprint{} }

// wholePicture is embedded by operations that need whole planes.
type wholePicture struct{}

func (wholePicture) Footprint() Footprint { return Footprint{Whole: true} }

// PlaneUse describes the use of a plane by an operation.
type PlaneUse struct {
	Plane Plane
	// Role names the plane in error messages.
	Role string
	// Read: its content matters; Write: it gets new content.
	Read, Write bool
	// Kinds are the sample types that the operation takes.
	Kinds Kinds
}

// Uses lists what an operation works on.
type Uses struct {
	// Planes are in the order of the description; one that is used twice is listed twice.
	Planes []PlaneUse
	// Components is nil if the operation has none.
	Components Components
	// Picture is in host memory; nil if the operation has none.
	Picture *Picture
	// Tiled: only Tiles of the planes are read and written.
	Tiled bool
	Tiles []Tile
}

// UsesOf returns what an operation works on. Its arguments need not be valid.
func UsesOf(op Op) Uses {
	var a arguments
	op.describe(&a)
	return a.uses
}

// Bind returns op with its planes replaced by those of another backend, or by bands of them. It changes neither op nor
// what op's slices hold.
func Bind(op Op, plane func(Plane) Plane) Op { return op.describe(&arguments{bind: plane}) }

// Check returns an error for the first argument that is not valid. Every Backend calls it first in Do, so that all of
// them refuse the same calls in the same words.
func Check(b Backend, op Op) error {
	c := checker{b: b, op: op}
	op.describe(&arguments{check: &c})
	return c.err
}

// Executor carries out each operation on a device, after Execute has checked the arguments.
type Executor interface {
	Luminance(ctx context.Context, op Luminance) error
	BoxMean(ctx context.Context, op BoxMean) error
	Background(ctx context.Context, op Background) error

	Contrast(ctx context.Context, op Contrast) error
	Cores(ctx context.Context, op Cores) error
	DifferenceThreshold(ctx context.Context, op DifferenceThreshold) error
	Glints(ctx context.Context, op Glints) error
	GlintChannels(ctx context.Context, op GlintChannels) ([]uint8, error)
	MeasureGlints(ctx context.Context, op MeasureGlints) ([]GlintProps, error)

	Morph(ctx context.Context, op Morph) error
	FillHoles(ctx context.Context, op FillHoles) error

	Gaussian(ctx context.Context, op Gaussian) error
	StarletBand(ctx context.Context, op StarletBand) error

	Histogram(ctx context.Context, op Histogram) ([]uint64, error)
	NoiseTiles(ctx context.Context, op NoiseTiles) ([]float64, error)

	Label(ctx context.Context, op Label) (Components, error)
	Grow(ctx context.Context, op Grow) (Components, error)
	FilterComponents(ctx context.Context, op FilterComponents) error
	Rasterize(ctx context.Context, op Rasterize) error
	Spans(ctx context.Context, op Spans) ([]Span, error)

	Harmonic(ctx context.Context, op Harmonic) error
	Detail(ctx context.Context, op Detail) error
	Separate(ctx context.Context, op Separate) error
}

// Execute checks an operation and carries it out by e, the executor of b.
func Execute(ctx context.Context, b Backend, e Executor, op Op) error {
	if err := Check(b, op); err != nil {
		return err
	}
	return op.run(ctx, e)
}
