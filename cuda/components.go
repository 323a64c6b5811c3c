//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"math/bits"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"blik/processing"
)

// Components are stored on the device as lists of spans; the host knows their number, and downloads the spans only on
// request. Results go into buffers of a guessed size, and their number is downloaded. If the buffer was too small, the
// work is repeated with a larger one, so that most operations wait for the device only once.

// components are spans in device memory, laid out as in spans.cu, in reading order. Spans dropped by FilterComponents
// have the label noLabel.
type components struct {
	processing.Handle
	backend *Backend
	w, h    int
	// labels is the number of components, runs the number of spans.
	labels, runs int
	spans        buffer
	// first is the index of the first span of each chunk of 1024 columns; see spans.cu.
	first buffer
}

const noLabel = 1<<32 - 1

func (c *components) Len() int { return c.labels }

func (c *components) Release() {
	if c.MarkReleased() {
		c.backend.pool.put(c.spans)
		c.backend.pool.put(c.first)
	}
}

const spanBytes = int64(unsafe.Sizeof(processing.Span{}))

// sizeClass rounds up to a power of two: the pool keeps each size separately, so sizes that vary from picture to
// picture would accumulate there.
func sizeClass(n int64) int64 { return 1 << bits.Len64(uint64(max(n, 4096)-1)) }

// room returns memory for about n bytes of lists, with undefined content.
func (q *queue) room(n int64) (buffer, error) { return q.bytes(sizeClass(n)) }

// keep removes memory from the buffers that the queue releases.
func (q *queue) keep(list ...buffer) {
	q.buffers = slices.DeleteFunc(q.buffers, func(b buffer) bool { return slices.Contains(list, b) })
}

// at returns the part of a buffer that begins at byte n.
func (b buffer) at(n int64) buffer { return buffer{b.ptr + cu.DevicePtr(n), 0} }

// fetchList is fetch with the size rounded to a size class.
func (q *queue) fetchList(m buffer, n int) ([]byte, error) {
	host, err := q.Fetch(m, int(min(sizeClass(int64(n)), m.bytes)))
	if err != nil {
		return nil, err
	}
	return host[:n], nil
}

// chunks returns the number of chunks of columns in a row in spans.cu.
func chunks(w int) int { return w/1024 + 1 }

// firstGuess is the initial capacity for runs of a picture.
func firstGuess(w, h int) int { return w*h/64 + 1024 }

// perWarp returns a grid of blocks of 256 threads with one warp for each of n items.
func perWarp(n int) (grid, block dim) { return dim{x: (n + 7) / 8}, dim{x: 256} }

// strided returns a grid of blocks of 256 threads for grid-stride loops over a number of items that the host does not
// know.
func (q *queue) strided(n int) (grid, block dim) {
	return dim{x: min((n+255)/256, 8*q.d.info.Multiprocessors)}, dim{x: 256}
}

// scan queues the prefix sums of counts; the last one is also written to total.
func (q *queue) scan(counts buffer, n int, total buffer) error {
	return q.Launch("scan", dim{x: 1}, dim{x: 1024}, counts, n, total)
}

// connected holds the runs of pixels of a plane, and the sets of touching runs.
type connected struct {
	spans, first buffer
	// parent of each run is the first run of its set. roots counts those before each group of 256 runs.
	parent, roots buffer
	// total holds the number of runs on the device, followed by the number of sets.
	total      buffer
	room       int
	runs, sets int
}

// connect finds the runs of pixels of src that have one of the given bits, or if inverted none of them, joins those
// that touch (also diagonally if reach is 1), lets use queue kernels on them, and waits. It repeats this if the buffers
// were too small, so use must not change its inputs if *total > room.
func (q *queue) connect(src *plane, bits uint8, inverted, reach int,
	use func(c *connected) error) (c *connected, err error) {
	n := chunks(src.w)
	c = &connected{room: firstGuess(src.w, src.h)}
	if c.first, err = q.room(4 * int64(n*src.h+1)); err != nil {
		return nil, err
	}
	if c.total, err = q.bytes(8); err != nil {
		return nil, err
	}
	if err := q.d.zero(c.total, 8); err != nil {
		return nil, err
	}
	grid, block := perWarp(n * src.h)
	if err := q.Launch("countRuns", grid, block, c.first, src, int(bits), inverted, n, src.w, src.h); err != nil {
		return nil, err
	}
	if err := q.scan(c.first, n*src.h, c.total); err != nil {
		return nil, err
	}
	for {
		if err := q.connectIn(c, src, bits, inverted, reach); err != nil {
			return nil, err
		}
		if err := use(c); err != nil {
			return nil, err
		}
		host, err := q.Fetch(c.total, 8)
		if err != nil {
			return nil, err
		}
		counts := SamplesOf[uint32](host)
		if c.runs, c.sets = int(counts[0]), int(counts[1]); c.runs <= c.room {
			return c, nil
		}
		c.room = c.runs
	}
}

// connectIn queues the work of connect with the current buffer sizes.
func (q *queue) connectIn(c *connected, src *plane, bits uint8, inverted, reach int) (err error) {
	if c.spans, err = q.room(spanBytes * int64(c.room)); err != nil {
		return err
	}
	c.room = int(c.spans.bytes / spanBytes)
	if c.parent, err = q.room(4 * int64(c.room)); err != nil {
		return err
	}
	groups := (c.room + 255) / 256
	if c.roots, err = q.room(4 * int64(groups+1)); err != nil {
		return err
	}
	n := chunks(src.w)
	grid, block := perWarp(n * src.h)
	err = q.Launch("writeRuns", grid, block, c.spans, c.parent, c.first, c.room, src, int(bits), inverted, n, src.w,
		src.h)
	if err != nil {
		return err
	}
	grid, block = q.strided(c.room)
	if err := q.Launch("joinRuns", grid, block, c.spans, c.parent, c.first, c.total, c.room, reach, n,
		src.h); err != nil {
		return err
	}
	grid, block = perWarp(groups)
	if err := q.Launch("findRoots", grid, block, c.parent, c.roots, c.total, c.room); err != nil {
		return err
	}
	return q.scan(c.roots, groups, c.total.at(4))
}

// label queues the numbering of the sets.
func (q *queue) label(c *connected) error {
	grid, block := perWarp((c.room + 255) / 256)
	if err := q.Launch("numberRoots", grid, block, c.spans, c.parent, c.roots, c.total, c.room); err != nil {
		return err
	}
	grid, block = q.strided(c.room)
	return q.Launch("spreadLabels", grid, block, c.spans, c.parent, c.total, c.room)
}

// Label returns the 8-connected components of the pixels of cls that have one of the given bits.
func (b executor) Label(ctx context.Context, op processing.Label) (processing.Components, error) {
	p := op.Class.(*plane)
	var out *components
	err := b.run(ctx, func(q *queue) error {
		c, err := q.connect(p, op.Bits, 0, 1, q.label)
		if err != nil {
			return err
		}
		out = &components{Handle: processing.NewHandle(b.Backend, p.w, p.h), backend: b.Backend, w: p.w, h: p.h,
			labels: c.sets,
			runs:   c.runs, spans: c.spans, first: c.first}
		q.keep(c.spans, c.first)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// FillHoles writes 255 into the pixels of dst that are 0 and do not reach the border.
func (b executor) FillHoles(ctx context.Context, op processing.FillHoles) error {
	d := op.Dst.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		_, err := q.connect(d, 255, 1, 0, func(c *connected) error {
			open, err := q.room(int64(c.room))
			if err != nil {
				return err
			}
			if err := q.d.zero(open, int64(c.room)); err != nil {
				return err
			}
			grid, block := q.strided(c.room)
			if err := q.Launch("markOpen", grid, block, open, c.spans, c.parent, c.total, c.room, d.w,
				d.h); err != nil {
				return err
			}
			return q.Launch("paintClosed", grid, block, d, open, c.spans, c.parent, c.total, c.room)
		})
		return err
	})
}

// growHead is head of grow.cu.
type growHead struct {
	active, runs uint32
	todo         [3]uint32
	dropped      uint32
}

// growRounds is the number of rounds of growth queued before the host checks whether more are needed.
const growRounds = 8

// Grow extends cores over pixels of cls with ClassGrow; see grow.cu.
func (b executor) Grow(ctx context.Context, op processing.Grow) (processing.Components, error) {
	p, k := op.Class.(*plane), op.Cores.(*components)
	out := &components{Handle: processing.NewHandle(b.Backend, p.w, p.h), backend: b.Backend, w: p.w, h: p.h,
		labels: k.labels}
	if k.runs == 0 {
		return out, ctx.Err()
	}
	err := b.run(ctx, func(q *queue) error {
		v := &growing{queue: q, cores: k, cls: p, rule: op.Growth}
		if err := v.grow(out); err != nil {
			return err
		}
		q.keep(out.spans, out.first)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// growing is one call of Grow.
type growing struct {
	*queue
	cores *components
	cls   *plane
	rule  processing.Growth

	across, down int
	// values of the pixels, tile by tile.
	values buffer
	// For each tile: the round for which it was last listed, and whether it has values; and lists of tiles.
	stamp, touched, active buffer
	todo                   [2]buffer
	// For each label: area of the core, numbers of pixels in its rings, and how far it is kept.
	size, rings, kept buffer
	stride            int
	head              buffer
}

func (v *growing) grow(out *components) (err error) {
	if err := v.begin(); err != nil {
		return err
	}
	if out.first, err = v.room(4 * int64(chunks(v.cls.w)*v.cls.h+1)); err != nil {
		return err
	}
	if out.spans, err = v.room(spanBytes * int64(max(firstGuess(v.cls.w, v.cls.h), 2*v.cores.runs))); err != nil {
		return err
	}
	for round := 1; ; {
		for last := round + growRounds; round < last; round++ {
			if err := v.round(round); err != nil {
				return err
			}
		}
		// The kernels change nothing if the next round still has work.
		unsettled := v.listed(round)
		if err := v.settle(unsettled); err != nil {
			return err
		}
		if err := v.count(unsettled, out); err != nil {
			return err
		}
		if err := v.write(unsettled, out); err != nil {
			return err
		}
		head, err := v.fetchHead()
		if err != nil {
			return err
		}
		if head.todo[round%3] != 0 {
			if err := v.dropAll(round, head.dropped); err != nil {
				return err
			}
			continue
		}
		out.runs = int(head.runs)
		if need := spanBytes * int64(out.runs); need > out.spans.bytes {
			if out.spans, err = v.room(need); err != nil {
				return err
			}
			return v.write(unsettled, out)
		}
		return nil
	}
}

// begin allocates the memory and sets the values of the cores.
func (v *growing) begin() (err error) {
	const side = 32
	v.across, v.down = (v.cls.w+side-1)/side, (v.cls.h+side-1)/side
	tiles, labels := int64(v.across)*int64(v.down), int64(v.cores.labels)
	v.stride = int(v.rule.Limit) + 2
	if v.values, err = v.bytes(tiles * side * side * 8); err != nil {
		return err
	}
	for _, m := range []*buffer{&v.active, &v.todo[0], &v.todo[1]} {
		if *m, err = v.bytes(4 * tiles); err != nil {
			return err
		}
	}
	if v.kept, err = v.room(4 * labels); err != nil {
		return err
	}
	// Everything initialised to zero is one allocation.
	at := int64(0)
	zeroed := []struct {
		part  *buffer
		bytes int64
	}{{&v.head, int64(unsafe.Sizeof(growHead{}))}, {&v.stamp, 4 * tiles}, {&v.touched, tiles}, {&v.size,
		4 * labels}, {&v.rings, 4 * labels * int64(v.stride)}}
	for _, z := range zeroed {
		at += roundUp(z.bytes, 16)
	}
	all, err := v.room(at)
	if err != nil {
		return err
	}
	if err := v.d.zero(all, at); err != nil {
		return err
	}
	at = 0
	for _, z := range zeroed {
		*z.part = all.at(at)
		at += roundUp(z.bytes, 16)
	}
	grid, block := Along(v.cores.runs)
	err = v.Launch("seedTiles", grid, block, v.head, v.size, v.stamp, v.active, v.cores.spans, v.cores.runs, v.across)
	if err != nil {
		return err
	}
	if err := v.Launch("clearTiles", v.blocks(), block, v.head, v.values, v.touched, v.active); err != nil {
		return err
	}
	grid, block = perWarp(v.cores.runs)
	return v.Launch("seedCores", grid, block, v.values, v.size, v.cores.spans, v.cores.runs, v.across,
		v.rule.Base, v.rule.Slope, v.rule.FarBase, v.rule.FarSlope, v.rule.Limit, min(v.rule.MaxCore, 1<<32-1))
}

// blocks returns a grid of as many blocks as the device runs concurrently, but at most one per tile.
func (v *growing) blocks() dim { return dim{x: min(v.across*v.down, 16*v.d.info.Multiprocessors)} }

// listed returns the device counter of the tiles listed for a round.
func (v *growing) listed(round int) buffer { return v.head.at(8 + 4*int64(round%3)) }

func (v *growing) fetchHead() (growHead, error) {
	host, err := v.Fetch(v.head, int(unsafe.Sizeof(growHead{})))
	if err != nil {
		return growHead{}, err
	}
	return *(*growHead)(unsafe.Pointer(unsafe.SliceData(host))), nil
}

// round queues the work on the tiles listed for a round; the first round is that of the cores.
func (v *growing) round(n int) error {
	if n == 1 {
		return v.tiles(v.active, v.head, n, 0)
	}
	return v.tiles(v.todo[n%2], v.listed(n), n, 0)
}

// tiles queues the work on the tiles of a list; tiles next to a change are listed for the round after n.
func (v *growing) tiles(list, count buffer, n, dropping int) error {
	return v.Launch("growTiles", v.blocks(), dim{x: 128}, v.head, v.values, v.touched, v.stamp, v.active, list, count,
		v.todo[(n+1)%2], n,
		dropping, v.cls, v.across, v.down, v.cls.w, v.cls.h)
}

// dropAll drops the values that cannot be accepted in all tiles and also lists these tiles for round n; before is the
// number of tiles in which values have been dropped so far.
func (v *growing) dropAll(n int, before uint32) error {
	for {
		for range 4 {
			if err := v.tiles(v.active, v.head, n-1, 1); err != nil {
				return err
			}
		}
		head, err := v.fetchHead()
		if err != nil {
			return err
		}
		if head.dropped == before {
			return nil
		}
		before = head.dropped
	}
}

// settle queues the kernels that determine how far each component is kept.
func (v *growing) settle(unsettled buffer) error {
	err := v.Launch("countRings", v.blocks(), dim{x: 256}, v.head, unsettled, v.values, v.active, v.rings, v.stride,
		v.cores.spans,
		v.cores.first, chunks(v.cls.w), v.across)
	if err != nil {
		return err
	}
	grid, block := Along(v.cores.labels)
	return v.Launch("keepRings", grid, block, unsettled, v.kept, v.size, v.rings, v.stride, v.cores.labels,
		v.rule.Base, v.rule.Slope, v.rule.FarBase, v.rule.FarSlope, v.rule.Limit, v.rule.Closed, min(v.rule.MaxCore,
			1<<32-1))
}

// count queues counting the runs of the grown components.
func (v *growing) count(unsettled buffer, out *components) error {
	n := chunks(v.cls.w)
	grid, block := perWarp(n * v.cls.h)
	err := v.Launch("countGrown", grid, block, unsettled, out.first, v.values, v.touched, v.kept, v.across, n, v.cls.h)
	if err != nil {
		return err
	}
	return v.scan(out.first, n*v.cls.h, v.head.at(4))
}

// write queues writing the runs, up to the size of the buffer.
func (v *growing) write(unsettled buffer, out *components) error {
	n := chunks(v.cls.w)
	grid, block := perWarp(n * v.cls.h)
	return v.Launch("writeGrown", grid, block, unsettled, out.spans, out.first, int(out.spans.bytes/spanBytes),
		v.values, v.touched,
		v.kept, v.across, n, v.cls.h)
}

// FilterComponents drops the spans of components that are not kept.
func (b executor) FilterComponents(ctx context.Context, op processing.FilterComponents) error {
	k := op.Components.(*components)
	if k.runs == 0 {
		return ctx.Err()
	}
	return b.run(ctx, func(q *queue) error {
		flags, err := q.room(int64(len(op.Keep)))
		if err != nil {
			return err
		}
		host := make([]byte, len(op.Keep))
		for i, kept := range op.Keep {
			if kept {
				host[i] = 1
			}
		}
		if err := q.copying(stageUpload, func() error {
			return q.d.upload(flags.ptr, int64(len(host)), host, len(host))
		}); err != nil {
			return err
		}
		grid, block := Along(k.runs)
		return q.Launch("drop", grid, block, k.spans, k.runs, flags)
	})
}

// Rasterize writes 255 into the pixels of dst that belong to a component, 0 elsewhere.
func (b executor) Rasterize(ctx context.Context, op processing.Rasterize) error {
	d, k := op.Dst.(*plane), op.Components.(*components)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		if err := q.d.zero(d.memory, d.pitch*int64(d.h)); err != nil || k.runs == 0 {
			return err
		}
		grid, block := perWarp(k.runs)
		return q.Launch("paint", grid, block, d, k.spans, k.runs)
	})
}

// Spans returns the runs of pixels of equal label.
func (b executor) Spans(ctx context.Context, op processing.Spans) ([]processing.Span, error) {
	k := op.Components.(*components)
	if k.runs == 0 {
		return nil, ctx.Err()
	}
	var list []processing.Span
	err := b.run(ctx, func(q *queue) error {
		all, err := q.fetchSpans(k.spans, k.runs)
		if err != nil {
			return err
		}
		list = make([]processing.Span, 0, k.runs)
		for _, s := range all {
			if s.Label != noLabel {
				list = append(list, s)
			}
		}
		return nil
	})
	return list, err
}

// fetchSpans waits for n spans, which are valid until the operation ends.
func (q *queue) fetchSpans(spans buffer, n int) ([]processing.Span, error) {
	host, err := q.fetchList(spans, n*int(spanBytes))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*processing.Span)(unsafe.Pointer(unsafe.SliceData(host))), n), nil
}

// glintMeasures are what MeasureGlints needs on the device.
type glintMeasures struct {
	props, peaks                    buffer
	logits, kinds, red, green, blue *plane
}

// glintMeasures returns memory for the measures of up to n components.
func (q *queue) glintMeasures(op processing.MeasureGlints, n int) (v *glintMeasures, err error) {
	v = &glintMeasures{logits: op.Logits.(*plane), kinds: op.Kinds.(*plane), red: op.Red.(*plane),
		green: op.Green.(*plane), blue: op.Blue.(*plane)}
	bytes := int64(n) * propsBytes
	all, err := q.room(bytes + 8*int64(n))
	if err != nil {
		return nil, err
	}
	v.props, v.peaks = all, all.at(bytes)
	return v, q.d.zero(all, bytes+8*int64(n))
}

const propsBytes = int64(unsafe.Sizeof(processing.GlintProps{}))

// measure queues the measures of the components of spans; total holds the number of spans, of which there are at most
// room, followed by that of components.
func (q *queue) measure(v *glintMeasures, spans, total buffer, room int) error {
	grid, block := q.strided(8 * room)
	if err := q.Launch("glintSums", grid, block, v.props, v.peaks, spans, total, room, v.logits, v.kinds, v.red,
		v.green, v.blue, v.logits.w); err != nil {
		return err
	}
	return q.Launch("glintGround", grid, block, v.props, v.peaks, total, room, v.logits, v.red, v.green, v.blue,
		v.logits.w, v.logits.h)
}

// fetch waits for the measures of n components.
func (v *glintMeasures) fetch(q *queue, n int) ([]processing.GlintProps, error) {
	host, err := q.fetchList(v.props, n*int(propsBytes))
	if err != nil {
		return nil, err
	}
	return slices.Clone(unsafe.Slice((*processing.GlintProps)(unsafe.Pointer(unsafe.SliceData(host))), n)), nil
}

// MeasureGlints measures each component.
func (b executor) MeasureGlints(ctx context.Context, op processing.MeasureGlints) (out []processing.GlintProps,
	err error) {
	k := op.Components.(*components)
	if k.runs == 0 {
		return make([]processing.GlintProps, k.labels), ctx.Err()
	}
	err = b.run(ctx, func(q *queue) error {
		v, err := q.glintMeasures(op, k.labels)
		if err != nil {
			return err
		}
		total, err := q.constants(BytesOf([]uint32{uint32(k.runs), uint32(k.labels)}))
		if err != nil {
			return err
		}
		if err := q.measure(v, k.spans, total, k.runs); err != nil {
			return err
		}
		out, err = v.fetch(q, k.labels)
		return err
	})
	return out, err
}
