//go:build cuda && linux && amd64

package cuda

import (
	"context"

	"blik/processing"
	"blik/processing/cpu"
)

// Glints runs the network on the processor and uploads what it says.
func (b executor) Glints(ctx context.Context, op processing.Glints) error {
	return b.onHost(ctx, []processing.Plane{op.Red, op.Green, op.Blue}, []processing.Plane{op.Dst}, op)
}

// colours writes the planes of Luminance that the network takes: the processor computes them.
func (b executor) colours(ctx context.Context, op processing.Luminance) error {
	return b.onHost(ctx, nil, []processing.Plane{op.Y, op.V, op.Red, op.Green, op.Blue}, op)
}

// onHost carries out an operation on the processor, with copies of the planes that it reads, and uploads what it
// writes.
func (b executor) onHost(ctx context.Context, reads, writes []processing.Plane, op processing.Op) error {
	host := cpu.New()
	defer host.Close()
	copies := map[processing.Plane]processing.Plane{}
	for _, list := range [][]processing.Plane{reads, writes} {
		for _, p := range list {
			w, h := p.Size()
			q, err := host.Alloc(p.Kind(), w, h)
			if err != nil {
				return err
			}
			copies[p] = q
		}
	}
	for _, p := range reads {
		s, err := b.Host(ctx, p)
		if err != nil {
			return err
		}
		if err := host.Upload(ctx, copies[p], s); err != nil {
			return err
		}
	}
	bound := processing.Bind(op, processing.Binding{
		Plane: func(p processing.Plane) processing.Plane { return copies[p] },
	})
	if err := host.Do(ctx, bound); err != nil {
		return err
	}
	for _, p := range writes {
		s, err := host.Host(ctx, copies[p])
		if err != nil {
			return err
		}
		if err := b.Upload(ctx, p, s); err != nil {
			return err
		}
	}
	return nil
}
