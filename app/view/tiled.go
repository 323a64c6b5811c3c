package view

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"slices"

	"blik/internal/parallel"
)

// MaxTileSide is the largest side of tiles, which the texels of a Table can address.
const MaxTileSide = 1024

// Tiled is a frame as parts that a shader can draw, in this order, with the pixels that a Renderer would draw. What no
// tile covers has the colour of Surround.
type Tiled struct {
	Tiles []Tile
	// Blend says how the shader combines the textures; it is the same for all tiles.
	Blend Blend

	// pictures and masks are those of the renderer.
	pictures [4]*Pyramid
	masks    [2]*MaskPyramid
}

// Tile is a part of a frame that samples one part of a level of a picture. Device pixel (x, y) of the part, counted
// from its corner, is computed in integers, which float32 represents exactly, from the texels of Table:
//
//	row 0, column x + 1   the column of the texture of Source, or its row if Swap is set
//	row 1, column y + 1   the other one
//
// A texel has four bytes: G is the weight of the next column or row, of 256. R and the bits 0 to 2 of A, the high ones,
// are the position in the texture of Source; B and the bits 3 to 5 of A that in the part of the mask of Overlay,
// outsideMask if there is none; bit 6 of A is set if a line of the grid begins here. Positions x and x + 2 belong to
// the neighbours, which decide where an outline runs.
//
// The two rows are mixed first, then the two columns, each as (a·(256 − w) + b·w + 128) / 256, rounded down.
type Tile struct {
	// Device is the part of the viewport in device pixels.
	Device  image.Rectangle
	Source  Source
	Overlay Overlay
	Table   *image.RGBA
	Swap    bool
}

// outsideMask is the position in a Table of what lies outside the mask.
const outsideMask = 1<<11 - 1

// Blend says how a shader combines the textures of a Tile.
type Blend struct {
	// Black replaces the picture with black.
	Black bool
	// Outlines draws only the pixels of the overlay that have a neighbour outside the mask, opaque.
	Outlines bool
	// Inks is set if the pixels of an overlay are numbers of colours, those of Inks(Changed); otherwise they are
	// weights of Ink.
	Inks, Changed bool
	Ink           color.RGBA
	// Opacity is 0…1.
	Opacity float64
}

// Source identifies a part of a level of a picture. Equal sources have equal pixels.
type Source struct {
	pyramid *Pyramid
	level   int
	area    image.Rectangle
}

// Overlay identifies a part of a level of a mask, or of two; the zero value has no pixels. Equal overlays have equal
// pixels unless the masks have changed.
type Overlay struct {
	mask, other *MaskPyramid
	level       int
	area        image.Rectangle
	// changed is set if other holds the values of document.Corrections.Changed.
	changed bool
}

// Tiles divides the frame that Render would draw into tiles of at most side × side pixels of a level.
func (r *Renderer) Tiles(viewport image.Point, t Transform, o Options, side int) Tiled {
	out := Tiled{Blend: Blend{
		Black: o.Mode == MaskOnly, Outlines: o.Mode == Outlines && o.Other == nil, Ink: o.Colour,
		Inks: o.Other != nil, Changed: o.Mode == Changed,
	}}
	if o.Opacity > 0 {
		out.Blend.Opacity = min(o.Opacity, 1)
	}
	if o.Mode == MaskOnly {
		out.Blend.Ink, out.Blend.Opacity = color.RGBA{255, 255, 255, 255}, 1
	}
	out.pictures, out.masks = [4]*Pyramid{r.before, r.after, r.layer}, [2]*MaskPyramid{r.mask, o.Other}
	if r.after != nil {
		out.pictures[3] = r.after.unpatched
	}
	whole := image.Rectangle{Max: viewport}
	for _, p := range r.passes(whole, t, o, whole) {
		if p.picture == nil || p.rect.Empty() {
			continue
		}
		size, file, turn := viewport, t, Turn{}
		if t.Turn != (Turn{}) {
			size, file, turn = t.turned(viewport)
		}
		r.frame.bare, r.picture = p.bare, p.picture
		r.prepare(&image.RGBA{Rect: image.Rectangle{Max: size}}, file, o, turn.inverse().rectangle(p.rect))
		if !r.frame.inside.Empty() {
			out.Tiles = r.frame.tiles(out.Tiles, p.picture, r.mask, turn, min(side, MaxTileSide))
		}
	}
	r.frame.dst, r.picture = nil, nil
	return out
}

// Has reports whether the pictures of the frame include that of a source, which another frame of them may show.
func (t *Tiled) Has(s Source) bool { return slices.Contains(t.pictures[:], s.pyramid) }

// HasMasks reports whether the masks of the frame include those of an overlay.
func (t *Tiled) HasMasks(o Overlay) bool {
	return o.mask == t.masks[0] && (o.other == nil || o.other == t.masks[1])
}

// place is what a device column or row shows: a column or row of the level with the weight of the next one, that of the
// mask, −1 outside, and whether a line of the grid begins there.
type place struct {
	pixel  int
	weight lanes
	mask   int
	line   bool
}

// places returns those of device columns or rows i0…i1−1, with one more on both sides. level and picture are their
// axes, mask returns the column or row of the mask; the level has n of them.
func (f *frame) places(i0, i1 int, level, picture axis, mask func(i int) int, n int) []place {
	all := make([]place, i1-i0+2)
	for k := range all {
		p, i := &all[k], i0+k-1
		if i0 <= i && i < i1 {
			p.pixel, p.weight = f.sample(level, i, n)
		}
		if f.masked {
			p.mask = mask(i)
		}
		p.line = f.lines && picture.pixel(i) != picture.pixel(i-1)
	}
	return all
}

// tiles appends the tiles of a picture to all.
func (f *frame) tiles(all []Tile, p *Pyramid, m *MaskPyramid, turn Turn, side int) []Tile {
	w, h := p.levelSize(f.level)
	in := f.inside.Sub(f.origin)
	columns := f.places(in.Min.X, in.Max.X, f.columns, f.pictureX, f.maskColumn, w)
	rows := f.places(in.Min.Y, in.Max.Y, f.rows, f.pictureY, f.maskRow, h)
	for y0, y1 := 1, 0; y0 < len(rows)-1; y0 = y1 {
		y1 = runEnd(rows, y0, side)
		for x0, x1 := 1, 0; x0 < len(columns)-1; x0 = x1 {
			x1 = runEnd(columns, x0, side)
			from := image.Pt(columns[x0].pixel/side*side, rows[y0].pixel/side*side)
			tile := Tile{
				Device: image.Rect(x0-1, y0-1, x1-1, y1-1).Add(in.Min),
				Source: Source{p, f.level, image.Rect(from.X, from.Y, min(from.X+side+1, w), min(from.Y+side+1, h))},
			}
			if !p.patchedIn(f.level, tile.Source.area) {
				tile.Source.pyramid = p.unpatched
			}
			if f.masked && (f.o.Mode != Changed || f.o.Other != nil) {
				tile.Overlay = f.overlayOf(tile.Source, p.origin, m)
			}
			across, down := columns[x0-1:x1+1], rows[y0-1:y1+1]
			tile.Table = table(across, down, tile.Source.area.Min, tile.Overlay.area.Min, turn)
			if turn != (Turn{}) {
				tile.Device, tile.Swap = turn.rectangle(tile.Device), turn.swap
			}
			all = append(all, tile)
		}
	}
	return all
}

// runEnd returns the end of the places from i on that sample the same tile.
func runEnd(p []place, i, side int) int {
	tile := p[i].pixel / side
	for i++; i < len(p)-1 && p[i].pixel/side == tile; i++ {
	}
	return i
}

// overlayOf returns the part of the mask that the device pixels of a tile, and their neighbours, can show, whichever
// of them are visible.
func (f *frame) overlayOf(s Source, origin image.Point, m *MaskPyramid) Overlay {
	const neighbours = 2
	shown := image.Rectangle{s.area.Min.Mul(1 << s.level), s.area.Max.Mul(1 << s.level)}.Add(origin)
	w, h := f.overlay.w, f.overlay.h
	a := coarser(shown.Intersect(image.Rectangle{Max: f.maskSize}), f.overlayLevel, w, h).Inset(-neighbours)
	return Overlay{m, f.o.Other, f.overlayLevel, a.Intersect(image.Rect(0, 0, w, h)), f.o.Mode == Changed}
}

// table returns the Table of a tile whose textures begin at the given corners. columns and rows are in the orientation
// of the file.
func table(columns, rows []place, source, overlay image.Point, turn Turn) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, max(len(columns), len(rows)), 2))
	write := func(places []place, row, source, overlay int, flip bool) {
		for i, p := range places {
			if p.weight == 256 {
				p.pixel, p.weight = p.pixel+1, 0
			}
			pixel, mask := max(p.pixel-source, 0), outsideMask
			if p.mask >= 0 {
				mask = p.mask - overlay
			}
			high := pixel>>8 | mask>>8<<3
			if p.line {
				high |= 1 << 6
			}
			if flip {
				i = len(places) - 1 - i
			}
			copy(out.Pix[out.PixOffset(i, row):], []uint8{uint8(pixel), uint8(p.weight), uint8(mask), uint8(high)})
		}
	}
	across, down := 0, 1
	flipAcross, flipDown := turn.flipX, turn.flipY
	if turn.swap {
		across, down = down, across
		flipAcross, flipDown = flipDown, flipAcross
	}
	write(columns, across, source.X, overlay.X, flipAcross)
	write(rows, down, source.Y, overlay.Y, flipDown)
	return out
}

// patchedIn reports whether With has changed pixels in an area of a level, or may have.
func (p *Pyramid) patchedIn(level int, area image.Rectangle) bool {
	if p.unpatched == nil {
		return true
	}
	if level == 0 {
		return p.patched.anyIn(area)
	}
	return p.levels[level-1].patched.anyIn(area)
}

// anyIn reports whether a tile of an area differs from the raster.
func (t *tiles[T]) anyIn(area image.Rectangle) bool {
	if t.at == nil {
		return false
	}
	for y := area.Min.Y / tileSide; y*tileSide < area.Max.Y; y++ {
		for x := area.Min.X / tileSide; x*tileSide < area.Max.X; x++ {
			if t.at[y*t.columns+x] != nil {
				return true
			}
		}
	}
	return false
}

// Size returns the size of the texture.
func (s Source) Size() image.Point { return s.area.Size() }

// Draw writes the pixels into a texture of that size, on all processors.
func (s Source) Draw(to *image.RGBA) {
	// Without a cancel there is no error.
	_ = parallel.Chunks(context.Background(), s.area.Dy(), chunkRows, func(y0, y1 int) {
		row := make([]packed, s.area.Dx())
		for y := y0; y < y1; y++ {
			s.pyramid.row(row, s.level, s.area.Min.Y+y, s.area.Min.X)
			out := to.Pix[y*to.Stride:][:4*len(row)]
			for i, p := range row {
				binary.LittleEndian.PutUint32(out[4*i:], p)
			}
		}
	})
}

// Size returns the size of the texture: a texel has four neighbouring pixels of a row.
func (o Overlay) Size() image.Point { return image.Pt((o.area.Dx()+3)/4, o.area.Dy()) }

// Touches reports whether the texture depends on pixels of the mask in an image rectangle.
func (o Overlay) Touches(changed image.Rectangle) bool {
	if o.mask == nil || changed.Empty() {
		return false
	}
	w, h := o.mask.size(o.level)
	return coarser(changed, o.level, w, h).Overlaps(o.area)
}

// Draw writes the pixels into a texture of that size, and reports whether any is visible. A pixel is the value of the
// mask, or with Blend.Inks the number of its colour.
func (o Overlay) Draw(to *image.RGBA) (visible bool) {
	if o.mask == nil {
		return false
	}
	mask := o.mask.level(o.level)
	var other maskLevel
	if o.other != nil {
		other = o.other.level(o.level)
	}
	nothing := make([]uint8, o.area.Dx())
	for y := range o.area.Dy() {
		at := (o.area.Min.Y+y)*mask.w + o.area.Min.X
		row, out := mask.pix[at:][:o.area.Dx()], to.Pix[y*to.Stride:][:o.area.Dx()]
		if o.other == nil {
			copy(out, row)
		} else {
			inkNumbers(out, row, other.pix[at:], o.changed)
		}
		visible = visible || !bytes.Equal(out, nothing)
	}
	return visible
}
