//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"fmt"
	"slices"

	"blik/processing"
)

var _ processing.GlintFinder = (*Backend)(nil)

// leastOverlap and mostOverlap bound the size in bytes of pictures that are processed while they are uploaded, whole.
const (
	leastOverlap = 8 << 20
	mostOverlap  = 256 << 20
)

// overlapParts is the number of parts of such a picture.
const overlapParts = 5

// FindGlints performs all operations without waiting for the device in between. It processes the first strips of the
// picture while the others are being uploaded: only the time that the device waits counts as upload.
func (b *Backend) FindGlints(ctx context.Context, l processing.Luminance, g processing.Glints,
	stage string) (spans []processing.Span, props []processing.GlintProps, err error) {
	if err := processing.Check(b, l); err != nil {
		return nil, nil, err
	}
	if err := processing.Check(b, g); err != nil {
		return nil, nil, err
	}
	if g.Kinds == nil {
		return nil, nil, fmt.Errorf("%s: find glints: no kinds plane given", b.Name())
	}
	measure := processing.MeasureGlints{Logits: g.Dst, Kinds: g.Kinds, Red: g.Red, Green: g.Green, Blue: g.Blue}
	err = b.run(ctx, func(q *queue) error {
		if err := q.overlapped(l, g, stage); err != nil {
			return err
		}
		var v *glintMeasures
		c, err := q.connect(g.Dst.(*plane), 255, 0, 1, func(c *connected) (err error) {
			if err := q.label(c); err != nil {
				return err
			}
			if v, err = q.glintMeasures(measure, c.room); err != nil {
				return err
			}
			return q.measure(v, c.spans, c.total, c.room)
		})
		if err != nil || c.runs == 0 {
			return err
		}
		if props, err = v.fetch(q, c.sets); err != nil {
			return err
		}
		list, err := q.fetchSpans(c.spans, c.runs)
		spans = slices.Clone(list)
		return err
	})
	return spans, props, err
}

// overlapped queues l and g, strip by strip; the network's work is timed as the stage of the given name.
func (q *queue) overlapped(l processing.Luminance, g processing.Glints, stage string) error {
	v, err := q.lights(l)
	if err != nil {
		return err
	}
	network, err := q.glints(g)
	if err != nil {
		return err
	}
	all := v.samples[:v.h*v.row]
	parts := 1
	if n := int64(len(all)); n >= q.b.overlap && n <= mostOverlap && network.strip >= v.h {
		parts = min(overlapParts, v.h)
	}
	memory, err := q.bytes(int64(len(all)))
	if err != nil {
		return err
	}
	// The previous user of the memory must have finished.
	if err := q.d.follow(q.d.copies, q.d.stream); err != nil {
		return err
	}
	network.begin(v.h, network.dst, network.kindsFrom(0))
	for i := range parts {
		top, end := v.h*i/parts, v.h*(i+1)/parts
		part := memory.at(int64(top) * int64(v.row))
		err := q.copying(stageUpload, func() error {
			if err := q.d.uploadIn(q.d.copies, part.ptr, all[top*v.row:end*v.row]); err != nil {
				return err
			}
			return q.d.follow(q.d.stream, q.d.copies)
		})
		if err != nil {
			return err
		}
		if err := v.rows(part, top, end-top); err != nil {
			return err
		}
		if err := q.copying(stage, func() error {
			if parts == 1 {
				return network.rows(0, v.h)
			}
			return network.advance(network.in, end)
		}); err != nil {
			return err
		}
	}
	return nil
}
