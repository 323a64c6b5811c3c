package cpu

import (
	"context"
	"iter"

	"blik/internal/parallel"
	"blik/processing"
	"blik/processing/internal/arena"
	"blik/processing/internal/relax"
	"blik/processing/network"
)

// worker is the state of one goroutine of an operation: its context, and scratch memory that is reused by later
// operations.
type worker struct {
	ctx   context.Context
	arena arena.Arena
	// network is the scratch of the network.
	network network.Scratch
	grid    relax.Grid

	// bands are rows between fused operations, marks those of bytes.
	bands [3][]uint16
	marks []uint8
	spans []processing.Span

	// same and queue are the queues of the growth of an island: see front.
	same  []claim
	queue [][]claim
}

// scratch returns n values of scratch with undefined content, valid until the task ends.
func scratch[T arena.Number](t *worker, n int) []T { return arena.Take[T](&t.arena, n) }

// zeroScratch is scratch filled with zeros.
func zeroScratch[T arena.Number](t *worker, n int) []T { return arena.Zero[T](&t.arena, n) }

// stopped reports whether the operation was cancelled. Tasks check at least once in every few spanPixels pixels.
func (t *worker) stopped() bool { return t.ctx.Err() != nil }

// spanPixels is how many pixels a task processes between two checks of its context: at most about 0.2 ms.
const spanPixels = 1 << 15

// tiling holds the sizes of the pieces that pictures are divided into. They affect only speed, never a result.
type tiling struct {
	// span is the number of pixels of a task where neighbours do not matter.
	span int
	// tile and rows are the least sides of a tile, strip the least length of a part of a row. Tiles of rows up to whole
	// pixels wide take them whole.
	tile, rows, strip, whole int
	// ring is the memory of the ring of rows of a tile of columns, in bytes.
	ring int
	// band is the largest height of a band of Classify, in rows; columns is roughly the width of a tile of
	// FirstEstimate.
	band, columns int
	// narrow and wide are the smallest side and the largest width of a tile of the network.
	narrow, wide int
}

// defaultTiling keeps column sums and rings in half of a second-level cache of 512 KiB; the rows that the network keeps
// of a tile take up to 2 MiB.
func defaultTiling() tiling {
	return tiling{
		span: spanPixels, tile: 2048, rows: 32, strip: 4096, ring: 1 << 18, band: classRows, columns: 1024,
		narrow: 256, wide: 2688, whole: 8192,
	}
}

// maxArena is the most scratch that a worker keeps after an operation, in words.
const maxArena = 1 << 19

// maxClaims is the largest island, in pixels, whose queues a worker keeps.
const maxClaims = 1 << 16

// each runs task 0 … n−1 on the workers, in any order, and returns the context's error.
func (b *Backend) each(ctx context.Context, n int, task func(t *worker, i int)) error {
	return parallel.Workers(ctx, b.workers, n, func(tasks iter.Seq[int]) {
		t := b.get(ctx)
		defer b.put(t)
		for i := range tasks {
			t.arena.Reset()
			task(t, i)
		}
	})
}

func (b *Backend) get(ctx context.Context) *worker {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.idle); n > 0 {
		t := b.idle[n-1]
		b.idle = b.idle[:n-1]
		t.ctx = ctx
		return t
	}
	return &worker{ctx: ctx}
}

func (b *Backend) put(t *worker) {
	t.ctx = nil
	t.arena.Drop(maxArena)
	t.grid.Drop(maxArena)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = append(b.idle, t)
}

// chunks divides 0 … n−1 into runs of about spanPixels and calls f on each.
func (b *Backend) chunks(ctx context.Context, n int, f func(t *worker, i, j int)) error {
	span := b.tiling.span
	return b.each(ctx, (n+span-1)/span, func(t *worker, s int) {
		f(t, s*span, min(n, (s+1)*span))
	})
}

// rect is a part of the picture, x1 and y1 excluded.
type rect struct{ x0, y0, x1, y1 int }

// tiles divides a picture into rectangles for an operation that reads a border of rx and ry pixels around each, and
// calls f on each. The sides are large compared with the border, and small enough that column sums stay in the
// second-level cache and every worker gets several tiles. Tiles of whole rows are contiguous in memory, so that the
// processor prefetches the next row; but tiles should not become low for that.
func (b *Backend) tiles(ctx context.Context, w, h, rx, ry int, f func(t *worker, r rect)) error {
	tw := max(b.tiling.tile, 8*rx)
	if h >= b.workers*max(4*b.tiling.rows, 16*ry) {
		tw = max(tw, b.tiling.whole)
	}
	tw = min(w, tw)
	nx := (w + tw - 1) / tw
	tw = (w + nx - 1) / nx
	// A tile reads 2·ry rows more than it has, which matters little if it is high. But every worker should get a tile,
	// so tiles are lower if there are several workers.
	share := (h*nx + b.workers - 1) / b.workers
	low, high := min(max(b.tiling.rows, 8*ry), max(b.tiling.rows, share)), max(4*b.tiling.rows, 16*ry)
	th := (share + 3) / 4
	if b.workers == 1 {
		th, high = h, h
	}
	th = min(h, max(low, min(high, th)))
	ny := (h + th - 1) / th
	th = (h + ny - 1) / ny
	return b.each(ctx, nx*ny, func(t *worker, i int) {
		x, y := i%nx*tw, i/nx*th
		if x < w && y < h {
			f(t, rect{x, y, min(w, x+tw), min(h, y+th)})
		}
	})
}

// cancelCheck checks the context once for every spanPixels pixels of rows.
type cancelCheck struct {
	t     *worker
	step  int
	since int
}

func newCancelCheck(t *worker, width int) cancelCheck { return cancelCheck{t: t, step: width + 64} }

// stop is called for each row and reports whether the task should end.
func (p *cancelCheck) stop() bool {
	p.since += p.step
	if p.since < spanPixels {
		return false
	}
	p.since = 0
	return p.t.stopped()
}
