package detect

import (
	"context"

	"blik/internal/parallel"
	"blik/processing"
)

// scale is the side of a cell, in halves of a pixel, in which the network sees a picture; 0 is not known.
type scale int

// In a soft picture even the sharpest edges are spread over several pixels: it was enlarged, scanned more finely than
// the lens draws, or is out of focus. The network knows glints as sharp pictures show them, and takes round painted
// lights of a soft one for glare. So it sees that at two thirds of its size.
const (
	sharp scale = 2
	soft  scale = 3
)

// cell returns the column, or row, of the cell of a pixel, pixel the first pixel of a cell, and cells how many cells a
// side of n ≥ 1 pixels has.
func (s scale) cell(pixel int) int { return (2*pixel + int(s-sharp)) / int(s) }
func (s scale) pixel(cell int) int { return cell * int(s) / 2 }
func (s scale) cells(n int) int    { return s.cell(n-1) + 1 }

// area returns an area in pixels in cells.
func (s scale) area(pixels int) float64 { return float64(4*pixels) / float64(s*s) }

const (
	// edgeSpan is the number of pixels over which an edge is measured, its steepest step in the middle; leastEdge is
	// the least difference there that counts as one, in levels, and strongEdges are per cent of the edges, the largest.
	edgeSpan    = 6
	leastEdge   = 12
	strongEdges = 3
	// A picture is soft if at most steepShare per cent of its strong edges rise by more than steepRise per cent of
	// their difference in one step. A sharp edge rises by all.
	steepRise  = 52
	steepShare = 15
	// fewEdges are so few strong edges that they say nothing about a picture.
	fewEdges = 30
	// edgePlaces are the pixels whose edges are looked at, in whole bands of rows that are evenly spread, at least
	// edgeBands of them.
	edgePlaces = 128 << 10
	edgeBands  = 16
)

// edges counts edges by their difference: all, and those that are steep.
type edges struct{ all, steep [256]int }

// add counts the edge in the middle of levels, which lie stride apart from each other, if there is one.
func (e *edges) add(v []uint8, stride int) {
	b, c, d, f := v[stride], v[2*stride], v[3*stride], v[4*stride]
	middle := max(c, d) - min(c, d)
	if middle < max(b, c)-min(b, c) || middle <= max(d, f)-min(d, f) {
		return
	}
	a, g := v[0], v[5*stride]
	whole := max(a, b, c, d, f, g) - min(a, b, c, d, f, g)
	e.all[whole]++
	if int(middle)*100 > int(whole)*steepRise {
		e.steep[whole]++
	}
}

// scaleOf returns the scale at which the network sees a picture.
func scaleOf(pic *processing.Picture) scale {
	w := pic.Width
	bands := min(max(edgePlaces/w, edgeBands), pic.Height/edgeSpan)
	if w < edgeSpan || bands == 0 {
		return sharp
	}
	first, counts := newLevels(pic), make([]edges, bands)
	parallel.Split(bands, 1, func(from, to int) {
		l, v := first.another(), []uint8(nil)
		for i := from; i < to; i++ {
			y := i * (pic.Height - edgeSpan) / max(bands-1, 1)
			v = l.window(v, 0, y, w, y+edgeSpan)
			for x := range w {
				counts[i].add(v[x:], w)
				if x+edgeSpan <= w {
					counts[i].add(v[x:], 1)
				}
			}
		}
	})
	all, sum := 0, edges{}
	for i := range counts {
		for k := leastEdge; k < len(sum.all); k++ {
			all += counts[i].all[k]
			sum.all[k] += counts[i].all[k]
			sum.steep[k] += counts[i].steep[k]
		}
	}
	strong, steep := 0, 0
	for k := len(sum.all) - 1; k >= leastEdge && strong*100 < all*strongEdges; k-- {
		strong, steep = strong+sum.all[k], steep+sum.steep[k]
	}
	if strong > fewEdges && steep*100 <= strong*steepShare {
		return soft
	}
	return sharp
}

// seen returns a picture in sRGB, and as the network sees it: at which scale.
func (o *Options) seen(ctx context.Context, pic *processing.Picture) (whole, seen *processing.Picture, s scale,
	err error) {
	if s = o.scale; s == 0 {
		s = scaleOf(pic)
	}
	if whole, err = pic.InSRGB(ctx); err != nil || s == sharp {
		return whole, whole, s, err
	}
	seen, err = reduced(ctx, whole)
	return whole, seen, s, err
}

// reduced returns the cells of a soft picture, each the mean of the area that it covers: a pixel and half of the next
// or previous one, in both directions. What lies beyond the last row or column repeats it.
func reduced(ctx context.Context, pic *processing.Picture) (*processing.Picture, error) {
	small := *pic
	small.Width, small.Height, small.Hidden = soft.cells(pic.Width), soft.cells(pic.Height), nil
	s := processing.NewSamples(pic.Depth(), small.Width*small.Height*small.Channels)
	small.U8, small.U16, small.F32 = s.U8, s.U16, s.F32
	return &small, parallel.Each(ctx, small.Height, func(y int) {
		switch {
		case pic.U8 != nil:
			reduceRow(&small, pic, small.U8, pic.U8, y, func(v uint32) uint8 { return uint8((v + 4) / 9) })
		case pic.U16 != nil:
			reduceRow(&small, pic, small.U16, pic.U16, y, func(v uint32) uint16 { return uint16((v + 4) / 9) })
		default:
			reduceRow(&small, pic, small.F32, pic.F32, y, func(v float32) float32 { return v / 9 })
		}
	})
}

// reduceRow writes row y of a reduced picture; mean makes a sample of nine times its value.
func reduceRow[S uint8 | uint16 | float32, Sum uint32 | float32](
	small, pic *processing.Picture, dst, src []S, y int, mean func(Sum) S,
) {
	// Of each pair of cells, the first covers the first pixel of three, the second the third; both half of the other.
	covered := func(cell, n int) (whole, half int) {
		first := cell / 2 * 3
		return min(first+cell%2*2, n-1), min(first+1, n-1)
	}
	c, row := pic.Channels, pic.Width*pic.Channels
	y0, y1 := covered(y, pic.Height)
	near, far := src[y0*row:][:row], src[y1*row:][:row]
	for x := range small.Width {
		x0, x1 := covered(x, pic.Width)
		for k := range c {
			a, b := x0*c+k, x1*c+k
			dst[(y*small.Width+x)*c+k] = mean(4*Sum(near[a]) + 2*Sum(near[b]) + 2*Sum(far[a]) + Sum(far[b]))
		}
	}
}

// enlarged returns spans of cells, in reading order, as those of a picture of w × h pixels.
func (s scale) enlarged(spans []processing.Span, w, h int) []processing.Span {
	if s == sharp {
		return spans
	}
	var out []processing.Span
	for len(spans) > 0 {
		y, n := spans[0].Y, 1
		for n < len(spans) && spans[n].Y == y {
			n++
		}
		for row := s.pixel(int(y)); row < min(s.pixel(int(y)+1), h); row++ {
			for _, r := range spans[:n] {
				r.Y, r.X0, r.X1 = int32(row), int32(s.pixel(int(r.X0))), int32(min(s.pixel(int(r.X1)), w))
				out = append(out, r)
			}
		}
		spans = spans[n:]
	}
	return out
}
