//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"

	"gorgonia.org/cu"

	"blik/processing"
)

// Morph applies op with element e to U8 and U16 planes; dst may be src.
func (b executor) Morph(ctx context.Context, op processing.Morph) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		if op.Op == processing.Erode || op.Op == processing.Dilate {
			return q.morph(d, s, op.Op == processing.Dilate, op.Element)
		}
		if err := q.morph(d, s, op.Op == processing.Close, op.Element); err != nil {
			return err
		}
		return q.morph(d, d, op.Op == processing.Open, op.Element)
	})
}

// Pass is an erosion or dilation over 2R + 1 samples of a row, or of a column if Down.
type Pass struct {
	Down bool
	R    int
}

// Passes returns the one-dimensional passes of an element on a picture of w × h, without those that change nothing.
func Passes(e processing.Element, w, h int) (list []Pass) {
	if r := min(e.Width/2, w-1); r > 0 {
		list = append(list, Pass{false, r})
	}
	if r := min(e.Height/2, h-1); r > 0 {
		list = append(list, Pass{true, r})
	}
	return list
}

// morph applies one erosion or dilation as a chain of passes, each from one plane to another.
func (q *queue) morph(d, s *plane, dilate bool, e processing.Element) error {
	list := Passes(e, d.w, d.h)
	if len(list) == 0 {
		return q.duplicate(d, s)
	}
	var spare *plane
	if len(list) > 1 || d == s {
		var err error
		if spare, err = q.plane(d.kind, d.w, d.h); err != nil {
			return err
		}
	}
	if len(list) == 1 {
		to := d
		if d == s {
			to = spare
		}
		if err := q.pass(to, s, dilate, list[0]); err != nil || to == d {
			return err
		}
		return q.duplicate(d, to)
	}
	if err := q.pass(spare, s, dilate, list[0]); err != nil {
		return err
	}
	return q.pass(d, spare, dilate, list[1])
}

// pass filters s into d, another plane.
func (q *queue) pass(d, s *plane, dilate bool, p Pass) error {
	name := "erode"
	if dilate {
		name = "dilate"
	}
	w, h, k := d.w, d.h, 2*p.R+1
	kind, size := d.kind.String(), d.kind.Bytes()
	// Kernels for short elements read less far ahead.
	reach := "Many"
	if k <= 7 {
		reach = "Few"
	}
	if p.Down {
		words, segments := (w*size+3)/4, (h+k-1)/k
		return q.Launch(name+kind+"Columns"+reach, dim{(words + 31) / 32, (segments + 3) / 4}, dim{32, 4}, d, s, p.R,
			words, h)
	}
	m, span := rowSegments(k)
	if groups := min(4, MaxShared/rowMemory(k, span)); groups > 0 {
		rows := groups * 4 / size
		return q.LaunchShared(name+kind+"Rows", dim{(w + span - 1) / span, (h + rows - 1) / rows}, dim{x: 128},
			groups*rowMemory(k, span), d, s, p.R, m, span, groups, w, h)
	}
	turned, err := q.plane(d.kind, h, w)
	if err != nil {
		return err
	}
	filtered, err := q.plane(d.kind, h, w)
	if err != nil {
		return err
	}
	if err := q.transpose(turned, s); err != nil {
		return err
	}
	segments := (w + k - 1) / k
	if err := q.Launch(name+"Line"+kind+reach, dim{(h + 31) / 32, (segments + 3) / 4}, dim{32, 4}, filtered, turned,
		p.R, h, w); err != nil {
		return err
	}
	return q.transpose(d, filtered)
}

// MaxShared is the shared memory that every GPU gives a block without opt-in.
const MaxShared = 48 << 10

// rowSegments returns the segment length of the kernels for rows, and the number of columns per block: whole segments
// and whole words. A window longer than a segment is the union of two that begin a whole number of words apart.
func rowSegments(k int) (m, span int) {
	m = k
	if k > 64 {
		m = (k+1)/2 + (k/2)%4
	}
	return m, max(1, 512/(4*m))*4*m - (k - m)
}

// rowMemory is the maximum shared memory that they need for a row of words.
func rowMemory(k, span int) int {
	length := 3 + span + k - 1 + 3
	return 3 * 4 * ((length+3)/4*4 + 4)
}

func (q *queue) transpose(d, s *plane) error {
	return q.Launch("transpose"+s.kind.String(), dim{(s.w + 31) / 32, (s.h + 31) / 32}, dim{32, 8}, d, s, s.w, s.h)
}

// duplicate copies s to d unless they are the same; both have one pitch.
func (q *queue) duplicate(d, s *plane) error {
	if d == s {
		return nil
	}
	return q.d.fault(cu.MemcpyDtoDAsync(d.memory.ptr, s.memory.ptr, d.pitch*int64(d.h), q.d.stream), "copy a plane")
}
