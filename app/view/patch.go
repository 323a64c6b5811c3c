package view

import (
	"cmp"
	"context"
	"image"
	"slices"

	"blik/internal/parallel"
	"blik/processing"
)

// tileSide is the side of the tiles that pyramids share. It is small because corrected glints are, and changing one
// pixel copies a whole tile.
const tileSide = 32

// tiles divides a raster into squares; those of the last column and row may be narrower. at has an element for each
// tile, nil if the tile does not differ from the raster. If no tile differs, at itself is nil.
type tiles[T any] struct {
	columns int
	at      []*T
}

// run returns the tile at pixel (x, y), nil if it does not differ from the raster, and the end of the run of columns,
// at most x1, for which the result is the same. A run of tiles that do not differ is joined. at must not be nil.
func (t *tiles[T]) run(x, y, x1 int) (*T, int) {
	row := t.at[y/tileSide*t.columns:][:t.columns]
	i := x / tileSide
	tile := row[i]
	for i++; tile == nil && i < t.columns && i*tileSide < x1 && row[i] == nil; i++ {
	}
	return tile, min(i*tileSide, x1)
}

// clone returns a copy of t, for a raster of w × h pixels, that can be changed independently.
func (t tiles[T]) clone(w, h int) tiles[T] {
	if t.at != nil {
		return tiles[T]{t.columns, slices.Clone(t.at)}
	}
	columns := (w + tileSide - 1) / tileSide
	return tiles[T]{columns, make([]*T, columns*((h+tileSide-1)/tileSide))}
}

// With returns a pyramid with the patches applied, in addition to those that p already has. It shares all tiles with p
// except those that the patches touch; time and memory are proportional to these. The error is ctx.Err(), or says which
// patch does not fit the picture.
func (p *Pyramid) With(ctx context.Context, patches []processing.Patch) (*Pyramid, error) {
	pic := p.pic
	if err := processing.CheckPatches(pic.Width, pic.Height, pic.Channels, pic.Depth(), patches); err != nil {
		return nil, err
	}
	q := *p
	q.levels = slices.Clone(p.levels)
	if q.unpatched == nil {
		q.unpatched = p
	}
	q.patched = p.patched.clone(pic.Width, pic.Height)
	boxes := q.boxes(patches)
	if err := eachTile(ctx, boxes, func(of []box) { q.patched.at[of[0].tile] = q.copyTile(of[0].r) }); err != nil {
		return nil, err
	}
	for i := range patches {
		q.apply(&patches[i])
	}
	for i := range q.levels {
		l := &q.levels[i]
		l.patched = l.patched.clone(l.w, l.h)
		boxes = l.halved(boxes)
		if err := eachTile(ctx, boxes, func(of []box) {
			t := l.ownTile(of[0])
			q.reduce(t, i, of)
			l.patched.at[of[0].tile] = t
		}); err != nil {
			return nil, err
		}
	}
	return &q, nil
}

// box is a rectangle of changed pixels within a tile.
type box struct {
	tile int
	r    image.Rectangle
}

// boxes returns the parts of level 0 that the patches touch, in the order of the tiles.
func (p *Pyramid) boxes(patches []processing.Patch) []box {
	var boxes []box
	// found[tile] is 1 + the index of the tile's last box. It belongs to the current patch only if it is greater than
	// first.
	found := make([]int, len(p.patched.at))
	for i := range patches {
		first := len(boxes)
		for _, r := range patches[i].Runs {
			for x := r.X0; x < r.X1; {
				end := min((x/tileSide+1)*tileSide, r.X1)
				tile, part := r.Y/tileSide*p.patched.columns+x/tileSide, image.Rect(x, r.Y, end, r.Y+1)
				if k := found[tile]; k > first {
					boxes[k-1].r = boxes[k-1].r.Union(part)
				} else {
					boxes = append(boxes, box{tile, part})
					found[tile] = len(boxes)
				}
				x = end
			}
		}
	}
	return sortBoxes(boxes)
}

// halved returns the boxes of l that correspond to those of the next finer level. Because tiles have even sides, each
// result still lies within one tile.
func (l *level) halved(finer []box) []box {
	boxes := make([]box, len(finer))
	for i, b := range finer {
		r := image.Rect(b.r.Min.X/2, b.r.Min.Y/2, (b.r.Max.X+1)/2, (b.r.Max.Y+1)/2)
		boxes[i] = box{r.Min.Y/tileSide*l.patched.columns + r.Min.X/tileSide, r}
	}
	return sortBoxes(boxes)
}

// sortBoxes sorts boxes by tile and removes duplicates.
func sortBoxes(boxes []box) []box {
	slices.SortFunc(boxes, func(a, b box) int {
		return cmp.Or(a.tile-b.tile, a.r.Min.Y-b.r.Min.Y, a.r.Min.X-b.r.Min.X)
	})
	return slices.Compact(boxes)
}

// eachTile calls do with all boxes of each tile, for several tiles in parallel. boxes are sorted.
func eachTile(ctx context.Context, boxes []box, do func(of []box)) error {
	var starts []int
	for i, b := range boxes {
		if i == 0 || b.tile != boxes[i-1].tile {
			starts = append(starts, i)
		}
	}
	starts = append(starts, len(boxes))
	return parallel.Chunks(ctx, len(starts)-1, chunkRows, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			do(boxes[starts[i]:starts[i+1]])
		}
	})
}

// copyTile returns a copy of the tile of level 0 that contains r.
func (p *Pyramid) copyTile(r image.Rectangle) *processing.Picture {
	x, y := r.Min.X/tileSide*tileSide, r.Min.Y/tileSide*tileSide
	t := &processing.Picture{}
	p.samples(t, image.Rect(x, y, min(x+tileSide, p.pic.Width), min(y+tileSide, p.pic.Height)))
	return t
}

// apply writes the samples of a patch into tiles of level 0.
func (p *Pyramid) apply(patch *processing.Patch) {
	c, at := p.pic.Channels, 0
	for _, r := range patch.Runs {
		for x := r.X0; x < r.X1; {
			end := min((x/tileSide+1)*tileSide, r.X1)
			t := p.patched.at[r.Y/tileSide*p.patched.columns+x/tileSide]
			to, n := (r.Y%tileSide*t.Width+x%tileSide)*c, (end-x)*c
			t.Samples().Copy(to, patch.Samples(), at, n)
			at += n
			x = end
		}
	}
}

// samples copies the pixels r of level 0 to part, whose memory it reuses if it is large enough.
func (p *Pyramid) samples(part *processing.Picture, r image.Rectangle) {
	pic := p.pic
	part.Width, part.Height, part.Channels = r.Dx(), r.Dy(), pic.Channels
	n := r.Dx() * r.Dy() * pic.Channels
	switch {
	case pic.U8 != nil:
		part.U8 = grow(part.U8, n)
	case pic.U16 != nil:
		part.U16 = grow(part.U16, n)
	default:
		part.F32 = grow(part.F32, n)
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; {
			t, end := p.patched.run(x, y, r.Max.X)
			from, fromX, fromY := pic, x, y
			if t != nil {
				from, fromX, fromY = t, x%tileSide, y%tileSide
			}
			c := pic.Channels
			to, at, n := ((y-r.Min.Y)*part.Width+x-r.Min.X)*c, (fromY*from.Width+fromX)*c, (end-x)*c
			part.Samples().Copy(to, from.Samples(), at, n)
			x = end
		}
	}
}

// ownTile returns a copy of the tile of a box.
func (l *level) ownTile(b box) *[tileSide * tileSide]packed {
	if t := l.patched.at[b.tile]; t != nil {
		own := *t
		return &own
	}
	t := new([tileSide * tileSide]packed)
	x, y := b.r.Min.X/tileSide*tileSide, b.r.Min.Y/tileSide*tileSide
	for j := range min(tileSide, l.h-y) {
		copy(t[j*tileSide:][:min(tileSide, l.w-x)], l.pix[(y+j)*l.w+x:])
	}
	return t
}

// reduce writes the boxes of a tile of level i+1 from level i, as NewPyramid does.
func (p *Pyramid) reduce(t *[tileSide * tileSide]packed, i int, boxes []box) {
	w, h := p.levelSize(i)
	var pair processing.Picture
	var above, below [2 * tileSide]packed
	for _, b := range boxes {
		x0, x1 := 2*b.r.Min.X, min(2*b.r.Max.X, w)
		for y := b.r.Min.Y; y < b.r.Max.Y; y++ {
			out := t[y%tileSide*tileSide+b.r.Min.X%tileSide:][:b.r.Dx()]
			if i == 0 {
				// Level 1 is computed from the samples, not from converted pixels.
				p.samples(&pair, image.Rect(x0, 2*y, x1, min(2*y+2, h)))
				p.screen.HalfRow(out, &pair, 0)
				continue
			}
			p.row(above[:x1-x0], i, 2*y, x0)
			p.row(below[:x1-x0], i, min(2*y+1, h-1), x0)
			p.screen.HalfPixels(out, above[:x1-x0], below[:x1-x0])
		}
	}
}

// Changed returns a bounding box, in coordinates of the file, of the tiles in which q may differ from p. It is the
// whole picture if q and p were built separately.
func (p *Pyramid) Changed(q *Pyramid) image.Rectangle {
	if p == q {
		return image.Rectangle{}
	}
	whole := image.Rect(0, 0, p.pic.Width, p.pic.Height)
	if p.pic != q.pic || p.screen != q.screen || p.turn != q.turn {
		return whole
	}
	var r image.Rectangle
	a, b := p.patched, q.patched
	columns := max(a.columns, b.columns)
	for i := range max(len(a.at), len(b.at)) {
		if tileAt(a, i) != tileAt(b, i) {
			x, y := i%columns*tileSide, i/columns*tileSide
			r = r.Union(image.Rect(x, y, x+tileSide, y+tileSide))
		}
	}
	return r.Intersect(whole)
}

func tileAt[T any](t tiles[T], i int) *T {
	if t.at == nil {
		return nil
	}
	return t.at[i]
}
