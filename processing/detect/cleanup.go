package detect

import (
	"context"
	"math"
	"sync"

	"blik/internal/parallel"
	"blik/internal/span"

	"blik/processing"
)

// CleanUp draws spans, which are in reading order, into an empty mask, opens, closes, fills holes, dilates by the
// margin and feathers it as the parameters say, and clips it to the region, if there is one. If nothing depends on
// neighbouring pixels, the backend is not used.
func CleanUp(
	ctx context.Context, be processing.Backend, m *processing.Mask, spans []processing.Span, p processing.Params,
	region *processing.Region,
) error {
	if len(spans) == 0 {
		return ctx.Err()
	}
	if cleanupReach(p) == 0 {
		fill(m, spans, p.Fill)
	} else {
		fill(m, spans, false)
		if err := cleanUp(ctx, be, m, p); err != nil {
			return err
		}
	}
	if region != nil {
		clipMask(m, region)
	}
	return ctx.Err()
}

// cleanupReach returns how far cleanup looks around a pixel, in pixels, except for filling holes.
func cleanupReach(p processing.Params) int {
	return 2*p.Open + 2*p.Close + p.Margin + int(math.Ceil(4*p.Feather))
}

// cleanUp opens, closes, fills, dilates and feathers a mask.
func cleanUp(ctx context.Context, be processing.Backend, m *processing.Mask, p processing.Params) error {
	mask, err := be.Alloc(processing.U8, m.Width, m.Height)
	if err != nil {
		return err
	}
	defer mask.Release()
	if err := be.Upload(ctx, mask, processing.Samples{U8: m.Pix}); err != nil {
		return err
	}
	morph := func(op processing.MorphOp, r int) error {
		if r == 0 {
			return nil
		}
		return be.Do(ctx, processing.Morph{Dst: mask, Src: mask, Op: op, Element: processing.Square(r)})
	}
	if err := morph(processing.Open, p.Open); err != nil {
		return err
	}
	if err := morph(processing.Close, p.Close); err != nil {
		return err
	}
	if p.Fill {
		if err := be.Do(ctx, processing.FillHoles{Dst: mask}); err != nil {
			return err
		}
	}
	if err := morph(processing.Dilate, p.Margin); err != nil {
		return err
	}
	if p.Feather > 0 {
		soft, err := be.Alloc(processing.U8, m.Width, m.Height)
		if err != nil {
			return err
		}
		defer soft.Release()
		if err := be.Do(ctx, processing.Gaussian{Dst: soft, Src: mask, Sigma: p.Feather}); err != nil {
			return err
		}
		mask = soft
	}
	host, err := be.Host(ctx, mask)
	if err == nil {
		parallel.Copy(m.Pix, host.U8)
	}
	return err
}

// fill marks the spans, which are in reading order, and, if holes is true, the holes in them, in a mask of zeros.
func fill(m *processing.Mask, spans []processing.Span, holes bool) {
	var inner []processing.Span
	var wait sync.WaitGroup
	if holes {
		wait.Go(func() { inner = span.Holes(spans, m.Width, m.Height) })
	}
	parallel.Split(len(spans), 2048, func(from, to int) { span.Fill(m.Pix, m.Width, spans[from:to], 255) })
	wait.Wait()
	span.Fill(m.Pix, m.Width, inner, 255)
}

// clipMask clears what lies outside the region.
func clipMask(m *processing.Mask, r *processing.Region) {
	for y := range m.Height {
		row := m.Pix[y*m.Width : (y+1)*m.Width]
		x := 0
		for _, in := range r.Spans(y, m.Width) {
			clear(row[x:in.X0])
			x = in.X1
		}
		clear(row[x:])
	}
}
