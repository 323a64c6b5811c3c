package banded

import (
	"context"

	"blik/processing"
	"blik/processing/args"
)

// The tiles of correction are small, and so are the planes that hold them; they go to the device in one piece, and those that do
// not fit stay on the host.

// Convolve fills the pixels that are not known by normalised convolution.
func (b *Backend) Convolve(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sigmas []float64) error {
	if err := args.Convolve(b, dst, state, tiles, sigmas); err != nil {
		return err
	}
	return b.fill(ctx, dst, state, func(ctx context.Context, on *site, dst, state processing.Plane) error {
		return on.Convolve(ctx, dst, state, tiles, sigmas)
	})
}

// Harmonic solves Laplace's equation where state is not known.
func (b *Backend) Harmonic(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sweeps []int, omegas []float32) error {
	if err := args.Harmonic(b, dst, state, tiles, sweeps, omegas); err != nil {
		return err
	}
	return b.fill(ctx, dst, state, func(ctx context.Context, on *site, dst, state processing.Plane) error {
		return on.Harmonic(ctx, dst, state, tiles, sweeps, omegas)
	})
}

// Biharmonic relaxes the pixels that are not known towards the least sum of (Δu)².
func (b *Backend) Biharmonic(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sweeps []int, omega float32) error {
	if err := args.Biharmonic(b, dst, state, tiles, sweeps); err != nil {
		return err
	}
	return b.fill(ctx, dst, state, func(ctx context.Context, on *site, dst, state processing.Plane) error {
		return on.Biharmonic(ctx, dst, state, tiles, sweeps, omega)
	})
}

// fill does an operation that changes dst in place.
func (b *Backend) fill(ctx context.Context, dst, state processing.Plane,
	run func(ctx context.Context, on *site, dst, state processing.Plane) error) error {
	p := planes(dst, state)
	return b.whole(ctx, operation{reads: p, writes: p[:1], run: func(ctx context.Context, on *site) error {
		return run(ctx, on, on.of(p[0]), on.of(p[1]))
	}})
}

// Detail writes the two finest bands of the starlet transform, taken over the known pixels alone.
func (b *Backend) Detail(ctx context.Context, dst, src, state processing.Plane, tiles []processing.Tile) error {
	if err := args.Detail(b, dst, src, state, tiles); err != nil {
		return err
	}
	p := planes(dst, src, state)
	// What lies outside the tiles stays.
	return b.whole(ctx, operation{reads: p, writes: p[:1], run: func(ctx context.Context, on *site) error {
		return on.Detail(ctx, on.of(p[0]), on.of(p[1]), on.of(p[2]), tiles)
	}})
}

// Separate splits what was seen into paint and light.
func (b *Backend) Separate(ctx context.Context, paint []processing.Plane, light processing.Plane, seen []processing.Plane,
	expected, state processing.Plane, tiles []processing.Tile, models []processing.Separation) error {
	if err := args.Separate(b, paint, light, seen, expected, state, tiles, models); err != nil {
		return err
	}
	n, m := len(paint), len(seen)
	list := append([]processing.Plane{light}, paint...)
	p := planes(append(append(list, seen...), expected, state)...)
	return b.whole(ctx, operation{reads: p, writes: p[:1+n], run: func(ctx context.Context, on *site) error {
		return on.Separate(ctx, on.all(p[1:1+n]), on.of(p[0]), on.all(p[1+n:1+n+m]), on.of(p[1+n+m]), on.of(p[2+n+m]), tiles, models)
	}})
}
