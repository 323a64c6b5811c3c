package view

import (
	"context"
	"encoding/binary"
	"image"
	"math"

	"blik/internal/parallel"
	"blik/processing"
)

// MaskPyramid holds reduced copies of a mask for the overlay. A pixel of level l is the maximum of its 2^l × 2^l pixels
// of the mask, so that a glint of one pixel is visible at any zoom.
//
// Level l has sides max(1, ⌊w/2^l⌋) × max(1, ⌊h/2^l⌋); its last column and row include the remainder of the division. A
// pixel of a level is therefore never narrower than 2^l pixels of the mask, and none falls between the device pixels
// that sample it.
type MaskPyramid struct {
	mask *processing.Mask
	// levels[0] is level 1.
	levels []maskLevel
	// stale bounds the changes of the mask that the levels do not contain yet.
	stale image.Rectangle
}

type maskLevel struct {
	w, h int
	pix  []uint8
}

// NewMaskPyramid builds the levels of m. It keeps m itself as level 0; call Update after changing it.
func NewMaskPyramid(m *processing.Mask) *MaskPyramid {
	p := &MaskPyramid{mask: m}
	for w, h := m.Width, m.Height; w > 1 || h > 1; {
		w, h = max(1, w/2), max(1, h/2)
		p.levels = append(p.levels, maskLevel{w, h, make([]uint8, w*h)})
	}
	p.reduce(image.Rect(0, 0, m.Width, m.Height))
	return p
}

// Mask returns the mask itself, level 0.
func (p *MaskPyramid) Mask() *processing.Mask { return p.mask }

// Update must be called after pixels of the mask in dirty have changed. The levels are updated when they are next read,
// so that several pieces of a stroke between two frames are reduced only once.
func (p *MaskPyramid) Update(dirty image.Rectangle) {
	dirty = dirty.Intersect(image.Rect(0, 0, p.mask.Width, p.mask.Height))
	area := func(r image.Rectangle) int { return r.Dx() * r.Dy() }
	both := p.stale.Union(dirty)
	if area(both) > 2*(area(p.stale)+area(dirty)) {
		// Far apart: updating their union would take longer than both.
		p.refresh()
		both = dirty
	}
	p.stale = both
}

// refresh brings the levels up to date.
func (p *MaskPyramid) refresh() {
	if !p.stale.Empty() {
		p.reduce(p.stale)
		p.stale = image.Rectangle{}
	}
}

// reduce recomputes the pixels of the levels that depend on the mask within dirty, which is not empty. Its time is
// proportional to the area of dirty.
func (p *MaskPyramid) reduce(dirty image.Rectangle) {
	finer := p.level(0)
	// For fewer pixels, starting goroutines costs more than it saves.
	const worthParallel = 1 << 20
	for _, l := range p.levels {
		wide := dirty.Dx()*dirty.Dy() >= worthParallel
		dirty = coarser(dirty, 1, l.w, l.h)
		if wide {
			// Without a cancel there is no error.
			_ = parallel.Chunks(context.Background(), dirty.Dy(), chunkRows, func(y0, y1 int) {
				reduceMask(l, finer, image.Rect(dirty.Min.X, dirty.Min.Y+y0, dirty.Max.X, dirty.Min.Y+y1))
			})
		} else {
			reduceMask(l, finer, dirty)
		}
		finer = l
	}
}

// coarser returns the pixels of a level, w × h large, that depend on pixels r so many levels below. The last column and
// row of the level include the remainder of the division.
func coarser(r image.Rectangle, levels, w, h int) image.Rectangle {
	return image.Rect(
		min(r.Min.X>>levels, w-1), min(r.Min.Y>>levels, h-1),
		min((r.Max.X-1)>>levels, w-1)+1, min((r.Max.Y-1)>>levels, h-1)+1)
}

// level returns level i; level 0 is the mask.
func (p *MaskPyramid) level(i int) maskLevel {
	if i == 0 {
		return maskLevel{p.mask.Width, p.mask.Height, p.mask.Pix}
	}
	p.refresh()
	return p.levels[i-1]
}

// size returns width and height of level i.
func (p *MaskPyramid) size(i int) (w, h int) {
	if i == 0 {
		return p.mask.Width, p.mask.Height
	}
	return p.levels[i-1].w, p.levels[i-1].h
}

// reduceMask computes the pixels r of dst, the level that follows src.
func reduceMask(dst, src maskLevel, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		out := dst.pix[y*dst.w:][:dst.w]
		a := src.pix[2*y*src.w:][:src.w]
		b := a
		if 2*y+1 < src.h {
			b = src.pix[(2*y+1)*src.w:][:src.w]
		}
		reduceMaskRow(out, a, b, r.Min.X, r.Max.X)
		if 2*y+3 == src.h && y == dst.h-1 {
			// The last row of an odd height.
			c := src.pix[(2*y+2)*src.w:][:src.w]
			for x := r.Min.X; x < r.Max.X; x++ {
				out[x] = max(out[x], c[2*x], c[min(2*x+1, src.w-1)])
			}
			if src.w == 2*dst.w+1 && r.Max.X == dst.w {
				out[dst.w-1] = max(out[dst.w-1], c[src.w-1])
			}
		}
	}
}

// reduceMaskRow writes out[x0:x1], the maxima over pairs of columns of two rows. The last pixel includes the last
// column of an odd width.
func reduceMaskRow(out, a, b []uint8, x0, x1 int) {
	pairs := min(x1, len(a)/2)
	x := x0
	for ; x+4 <= pairs; x += 4 {
		// Most of a mask is 0 or 255: then one test gives four maxima.
		p, q := binary.LittleEndian.Uint64(a[2*x:]), binary.LittleEndian.Uint64(b[2*x:])
		switch {
		case p|q == 0:
			binary.LittleEndian.PutUint32(out[x:], 0)
		case p == math.MaxUint64 || q == math.MaxUint64:
			binary.LittleEndian.PutUint32(out[x:], math.MaxUint32)
		default:
			u, v, o := a[2*x:2*x+8:2*x+8], b[2*x:2*x+8:2*x+8], out[x:x+4:x+4]
			o[0] = max(u[0], u[1], v[0], v[1])
			o[1] = max(u[2], u[3], v[2], v[3])
			o[2] = max(u[4], u[5], v[4], v[5])
			o[3] = max(u[6], u[7], v[6], v[7])
		}
	}
	for ; x < pairs; x++ {
		out[x] = max(a[2*x], a[2*x+1], b[2*x], b[2*x+1])
	}
	if n := len(a); x1 == len(out) && n%2 == 1 {
		v := max(a[n-1], b[n-1])
		if n > 1 {
			v = max(v, out[x1-1])
		}
		out[x1-1] = v
	}
}
