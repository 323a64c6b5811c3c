package processing

import "context"

// Local is a Backend in host memory that can also work on slices of one tile, so that a thread takes a site through all
// steps while its pixels are in the cache. The results equal those of the operations.
type Local interface {
	Backend

	// EachTile calls f for 0 … n−1 on the threads of the backend. The Solver belongs to that call. No call starts after
	// ctx is cancelled; EachTile then returns the context's error.
	EachTile(ctx context.Context, n int, f func(by Solver, i int)) error
}

// Solver carries out operations on one tile of w × h pixels, in rows without padding. Its output is undefined after a
// cancel.
type Solver interface {
	// Harmonic is the operation Harmonic on each of the planes.
	Harmonic(planes [][]float32, state []uint8, w, h, sweeps int, omega float32)
	// Separate is the operation Separate.
	Separate(paint, seen [][]float32, light, expected []float32, state []uint8, w, h int, m *Separation)
	// Detail is the operation Detail, from p to p.
	Detail(p []float32, state []uint8, w, h int)
}
