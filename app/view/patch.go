package view

import (
	"context"
	"fmt"
	"image"
	"slices"

	"blik/processing"
)

// tileSide is the side of the tiles in which pyramids share what they have in common: small, because corrected glints
// are, and most of a tile is copied only to be shared no more.
const tileSide = 32

// tiles is a raster cut into squares, the last column and row of which may be narrower. at is nil where nothing differs
// from the raster, else it has an entry for each tile, nil for those that do not differ.
type tiles[T any] struct {
	columns int
	at      []*T
}

// run returns the tile over pixel (x, y), and the column up to which the same is true, at most x1: the end of the tile,
// or of a row of tiles that do not differ.
func (t *tiles[T]) run(x, y, x1 int) (*T, int) {
	row := t.at[y/tileSide*t.columns:][:t.columns]
	i := x / tileSide
	tile := row[i]
	for i++; tile == nil && i < t.columns && i*tileSide < x1 && row[i] == nil; i++ {
	}
	return tile, min(i*tileSide, x1)
}

// copied returns tiles of a raster of w × h pixels that can be changed without t noticing.
func (t tiles[T]) copied(w, h int) tiles[T] {
	if t.at != nil {
		return tiles[T]{t.columns, slices.Clone(t.at)}
	}
	columns := (w + tileSide - 1) / tileSide
	return tiles[T]{columns, make([]*T, columns*((h+tileSide-1)/tileSide))}
}

// With returns the pyramid of the picture with the patches applied over those that p already has. It shares with p all
// but the tiles that they touch; its time and memory are in proportion to these. The error is ctx.Err(), or says which
// patch does not fit the picture.
func (p *Pyramid) With(ctx context.Context, patches []processing.Patch) (*Pyramid, error) {
	q := *p
	q.levels = slices.Clone(p.levels)
	q.patched = p.patched.copied(p.pic.Width, p.pic.Height)
	for i := range q.levels {
		l := &q.levels[i]
		l.patched = l.patched.copied(l.w, l.h)
	}
	boxes := make([]image.Rectangle, 0, len(patches))
	for i := range patches {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		box, err := q.apply(p, &patches[i])
		if err != nil {
			return nil, err
		}
		if !box.Empty() {
			boxes = append(boxes, box)
		}
	}
	for i := range q.levels {
		if err := q.reduceBoxes(ctx, p, i, boxes); err != nil {
			return nil, err
		}
	}
	return &q, nil
}

// apply writes the samples of a patch into level 0 and returns the box of its pixels. Tiles that q still shares with old
// are copied first.
func (p *Pyramid) apply(old *Pyramid, patch *processing.Patch) (image.Rectangle, error) {
	pic := p.pic
	pixels := 0
	box := image.Rectangle{}
	for _, r := range patch.Runs {
		if r.X0 < 0 || r.X0 >= r.X1 || r.X1 > pic.Width || r.Y < 0 || r.Y >= pic.Height {
			return box, fmt.Errorf("patch of spot %d: columns %d to %d of row %d are no part of a picture of %d × %d pixels",
				patch.Spot, r.X0, r.X1, r.Y, pic.Width, pic.Height)
		}
		pixels += r.X1 - r.X0
		box = box.Union(image.Rect(r.X0, r.Y, r.X1, r.Y+1))
	}
	have, want := 0, pixels*pic.Channels
	switch {
	case pic.U8 != nil:
		have = len(patch.U8)
	case pic.U16 != nil:
		have = len(patch.U16)
	default:
		have = len(patch.F32)
	}
	if have != want {
		return box, fmt.Errorf("patch of spot %d: %d samples of the picture's type, %d expected", patch.Spot, have, want)
	}
	at := 0
	for _, r := range patch.Runs {
		for x := r.X0; x < r.X1; {
			end := min((x/tileSide+1)*tileSide, r.X1)
			t := p.ownSamples(old, x, r.Y)
			to, n := (r.Y%tileSide*t.Width+x%tileSide)*pic.Channels, (end-x)*pic.Channels
			switch {
			case pic.U8 != nil:
				copy(t.U8[to:], patch.U8[at:][:n])
			case pic.U16 != nil:
				copy(t.U16[to:], patch.U16[at:][:n])
			default:
				copy(t.F32[to:], patch.F32[at:][:n])
			}
			at += n
			x = end
		}
	}
	return box, nil
}

// ownSamples returns the tile of level 0 over pixel (x, y), which no other pyramid has.
func (p *Pyramid) ownSamples(old *Pyramid, x, y int) *processing.Picture {
	i := y/tileSide*p.patched.columns + x/tileSide
	before := (*processing.Picture)(nil)
	if old.patched.at != nil {
		before = old.patched.at[i]
	}
	if t := p.patched.at[i]; t != before {
		return t
	}
	x, y = x/tileSide*tileSide, y/tileSide*tileSide
	t := p.samples(image.Rect(x, y, min(x+tileSide, p.pic.Width), min(y+tileSide, p.pic.Height)))
	p.patched.at[i] = t
	return t
}

// samples returns a copy of a part of level 0.
func (p *Pyramid) samples(r image.Rectangle) *processing.Picture {
	pic := p.pic
	part := &processing.Picture{Width: r.Dx(), Height: r.Dy(), Channels: pic.Channels}
	n := r.Dx() * r.Dy() * pic.Channels
	switch {
	case pic.U8 != nil:
		part.U8 = make([]uint8, n)
	case pic.U16 != nil:
		part.U16 = make([]uint16, n)
	default:
		part.F32 = make([]float32, n)
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
			switch {
			case pic.U8 != nil:
				copy(part.U8[to:], from.U8[at:][:n])
			case pic.U16 != nil:
				copy(part.U16[to:], from.U16[at:][:n])
			default:
				copy(part.F32[to:], from.F32[at:][:n])
			}
			x = end
		}
	}
	return part
}

// reduceBoxes brings level i+1 up to date where level i changed within the boxes, and halves the boxes.
func (p *Pyramid) reduceBoxes(ctx context.Context, old *Pyramid, i int, boxes []image.Rectangle) error {
	l := &p.levels[i]
	finerW, finerH := p.levelSize(i)
	out, a, b := make([]packed, l.w), make([]packed, finerW), make([]packed, finerW)
	for k, box := range boxes {
		box = image.Rect(box.Min.X/2, box.Min.Y/2, (box.Max.X+1)/2, (box.Max.Y+1)/2)
		boxes[k] = box
		x0, x1 := 2*box.Min.X, min(2*box.Max.X, finerW)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := out[:box.Dx()]
			if i == 0 {
				// Means of the samples themselves.
				p.screen.HalfRow(row, p.samples(image.Rect(x0, 2*y, x1, min(2*y+2, finerH))), 0)
			} else {
				above, below := a[:x1-x0], b[:x1-x0]
				p.row(above, i, 2*y, x0)
				p.row(below, i, min(2*y+1, finerH-1), x0)
				p.screen.HalfPixels(row, above, below)
			}
			l.write(&old.levels[i], row, box.Min.X, y)
		}
	}
	return nil
}

// write puts pixels into row y from column x on, into tiles that old does not have.
func (l *level) write(old *level, row []packed, x, y int) {
	for len(row) > 0 {
		i := y/tileSide*l.patched.columns + x/tileSide
		t := l.patched.at[i]
		if t == nil || old.patched.at != nil && t == old.patched.at[i] {
			t = l.tile(x, y)
			l.patched.at[i] = t
		}
		n := copy(t[y%tileSide*tileSide+x%tileSide:][:tileSide-x%tileSide], row)
		row, x = row[n:], x+n
	}
}

// tile returns a copy of the tile over pixel (x, y).
func (l *level) tile(x, y int) *[tileSide * tileSide]packed {
	if t := l.patched.at[y/tileSide*l.patched.columns+x/tileSide]; t != nil {
		t := *t
		return &t
	}
	t := new([tileSide * tileSide]packed)
	x, y = x/tileSide*tileSide, y/tileSide*tileSide
	for j := range min(tileSide, l.h-y) {
		copy(t[j*tileSide:][:min(tileSide, l.w-x)], l.pix[(y+j)*l.w+x:])
	}
	return t
}

// Changed returns the part of the picture, in file coordinates, in which q may differ from p. It is as coarse as the
// tiles, and the whole picture where the two do not come from one another by With.
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
