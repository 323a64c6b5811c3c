package processing

import "context"

// Label finds the 8-connected components of the pixels of Class (U8) that have any of Bits, numbered in reading order
// of their first pixels.
type Label struct {
	wholePicture

	Class Plane
	Bits  uint8
	Out   *Components
}

func (o Label) Into(out *Components) Op                   { o.Out = out; return o }
func (o Label) run(ctx context.Context, e Executor) error { return answer(ctx, o, o.Out, e.Label) }

func (o Label) describe(a *arguments) Op {
	a.reads("class", &o.Class, u8)
	a.result(o.Out != nil)
	return o
}

// Grow extends Cores over neighbouring pixels of Class (U8) with ClassGrow, nearest to a core first, as far as the
// valid Growth allows; labels stay. (Distances that propagate from neighbour to neighbour: Danielsson 1980.)
//
// A core pixel has the value (0, c), where c is its index, row·width + column. The other pixels are settled in
// ascending order of their values, as in Dijkstra's algorithm: the value of pixel p is the least (max(d, |p − c|²), c)
// over those of its 8 neighbours that are settled with a value (d, c). Its distance must not exceed ⌊Far²⌋ of the core
// of c, to which p then belongs. Pixels of equal values belong to one core, so that their order does not matter. The
// maximum makes distances ascend along every path from a core, so that a component cut off at a distance, as by
// Growth.Keep, stays connected.
type Grow struct {
	wholePicture

	Cores  Components
	Class  Plane
	Growth Growth
	Out    *Components
}

func (o Grow) Into(out *Components) Op                   { o.Out = out; return o }
func (o Grow) run(ctx context.Context, e Executor) error { return answer(ctx, o, o.Out, e.Grow) }

func (o Grow) describe(a *arguments) Op {
	a.reads("class", &o.Class, u8)
	a.components(o.Cores)
	if err := o.Growth.Validate(); err != nil {
		a.failf("%w", err)
	}
	a.result(o.Out != nil)
	return o
}

// FilterComponents empties the components whose entry in Keep is false; labels stay.
type FilterComponents struct {
	wholePicture

	Components Components
	Keep       []bool
}

func (o FilterComponents) run(ctx context.Context, e Executor) error {
	return e.FilterComponents(ctx, o)
}

func (o FilterComponents) describe(a *arguments) Op {
	a.components(o.Components)
	if a.valid() && len(o.Keep) != o.Components.Len() {
		a.failf("%d flags to keep given for %d components", len(o.Keep), o.Components.Len())
	}
	return o
}

// Rasterize writes 255 into Dst (U8) where a component is, 0 elsewhere.
type Rasterize struct {
	wholePicture

	Dst        Plane
	Components Components
}

func (o Rasterize) run(ctx context.Context, e Executor) error { return e.Rasterize(ctx, o) }

func (o Rasterize) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u8)
	a.components(o.Components)
	return o
}

// Spans returns the runs of pixels of equal label in reading order, in host memory.
type Spans struct {
	wholePicture

	Components Components
	Out        *[]Span
}

func (o Spans) Into(out *[]Span) Op                       { o.Out = out; return o }
func (o Spans) run(ctx context.Context, e Executor) error { return answer(ctx, o, o.Out, e.Spans) }

func (o Spans) describe(a *arguments) Op {
	a.components(o.Components)
	a.result(o.Out != nil)
	return o
}
