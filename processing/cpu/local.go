package cpu

import (
	"context"

	"blik/processing"
)

var _ processing.Local = (*Backend)(nil)

// EachTile implements processing.Local.
func (b *Backend) EachTile(ctx context.Context, n int, f func(by processing.Solver, i int)) error {
	return b.each(ctx, n, func(t *worker, i int) { f(solver{b, t}, i) })
}

// solver is a processing.Solver with the scratch of a worker.
type solver struct {
	b *Backend
	t *worker
}

func (s solver) Harmonic(planes [][]float32, state []uint8, w, h, sweeps int, omega float32) {
	s.t.arena.Reset()
	s.b.harmonic(s.t, planes, state, w, h, sweeps, omega)
}

func (s solver) Separate(paint, seen [][]float32, light, expected []float32, state []uint8, w, h int,
	m *processing.Separation) {
	s.t.arena.Reset()
	v := veil{n: len(paint), m: m, light: light, expected: expected, state: state}
	copy(v.paint[:], paint)
	copy(v.seen[:], seen)
	v.separate(s.t, s.b.level, processing.Tile{W: w, H: h})
}

func (s solver) Detail(p []float32, state []uint8, w, h int) {
	s.t.arena.Reset()
	s.b.detail(s.t, p, state, w, h)
}
