package banded

import (
	"context"

	"blik/processing"
)

// Upload copies host samples into dst.
func (b *Backend) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	if err := processing.CheckUpload(b, dst, src); err != nil {
		return err
	}
	p := dst.(*plane)
	return b.onHost(ctx, operation{writes: []*plane{p}, run: func(ctx context.Context, on *target) error {
		return on.Upload(ctx, on.planes[p], src)
	}})
}

// Host returns the samples of p themselves.
func (b *Backend) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	if err := processing.CheckHost(b, p); err != nil {
		return processing.Samples{}, err
	}
	return b.samples(ctx, p.(*plane))
}

// Do carries out an operation, or records it until its result is requested.
func (b *Backend) Do(ctx context.Context, op processing.Op) (err error) {
	if err := processing.Check(b, op); err != nil {
		return err
	}
	switch o := op.(type) {
	case processing.Label:
		*o.Out, err = b.label(ctx, o)
		return err
	case processing.Grow:
		*o.Out, err = b.grow(ctx, o)
		return err
	case processing.FilterComponents:
		return b.filterComponents(ctx, o)
	case processing.Spans:
		*o.Out, err = b.spans(ctx, o)
		return err
	case processing.Rasterize:
		return b.rasterize(ctx, o)
	case processing.MeasureGlints:
		return b.measureGlints(ctx, o)
	case processing.FillHoles:
		return b.onHost(ctx, newOperation(op))
	}
	o := newOperation(op)
	switch {
	case processing.UsesOf(op).Picture != nil:
		// The picture may change afterwards.
		return b.now(ctx, o)
	case !op.Footprint().Whole:
		return b.later(ctx, o)
	case len(o.writes) == 0:
		// Planes that are read once are read on the host: uploading them would cost as much.
		return b.onHost(ctx, o)
	default:
		// The tiles of correction are small, and so are the planes that hold them.
		return b.whole(ctx, o)
	}
}

// newOperation returns an operation on planes of a Backend, as its description lists them.
func newOperation(op processing.Op) operation {
	op = processing.Bind(op, processing.Binding{}) // a copy: the caller may change what its slices hold
	f, uses := op.Footprint(), processing.UsesOf(op)
	o := operation{reach: f.Rows, align: f.Align, run: func(ctx context.Context, on *target) error {
		return on.Do(ctx, processing.Bind(op, on.binding()))
	}}
	for _, u := range uses.Planes {
		p := u.Plane.(*plane)
		if u.Read || uses.Tiled {
			// Pixels outside the tiles keep their values.
			o.reads = append(o.reads, p)
		}
		if u.Write {
			o.writes = append(o.writes, p)
		}
	}
	return o
}

// rowsOf returns the part of a picture from row top to row base−1.
func rowsOf(pic *processing.Picture, top, base int) *processing.Picture {
	band := *pic
	band.Height = base - top
	s := pic.Samples().Part(top*pic.Width*pic.Channels, base*pic.Width*pic.Channels)
	band.U8, band.U16, band.F32 = s.U8, s.U16, s.F32
	return &band
}
