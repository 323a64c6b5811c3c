package document

import (
	"context"
	"encoding/binary"
	"image"
	"iter"

	"blik/internal/parallel"
	"blik/processing"
)

// tileSide is the side of the tiles in which the history stores changes and findings are counted.
const tileSide = 128

// tiling divides a raster of w × h pixels into nx × ny tiles; those at the right and the bottom may be smaller.
type tiling struct{ w, h, nx, ny int }

func newTiling(w, h int) tiling {
	return tiling{w, h, (w + tileSide - 1) / tileSide, (h + tileSide - 1) / tileSide}
}

func (t tiling) count() int              { return t.nx * t.ny }
func (t tiling) bounds() image.Rectangle { return image.Rect(0, 0, t.w, t.h) }

// rect returns the pixels of tile i.
func (t tiling) rect(i int) image.Rectangle {
	x, y := i%t.nx*tileSide, i/t.nx*tileSide
	return image.Rect(x, y, min(x+tileSide, t.w), min(y+tileSide, t.h))
}

// at returns the tile of pixel (x, y).
func (t tiling) at(x, y int) int { return y/tileSide*t.nx + x/tileSide }

// each calls do for every tile that r overlaps. r lies within the raster.
func (t tiling) each(r image.Rectangle, do func(i int)) {
	if r.Empty() {
		return
	}
	for y := r.Min.Y / tileSide; y <= (r.Max.Y-1)/tileSide; y++ {
		for x := r.Min.X / tileSide; x <= (r.Max.X-1)/tileSide; x++ {
			do(y*t.nx + x)
		}
	}
}

// tileBuffer holds the pixels of a tile.
type tileBuffer = [tileSide * tileSide]uint8

// forEach calls work for 0…n−1, on all processors if n is large. Each goroutine has scratch memory of its own.
func forEach[S any](n int, work func(i int, scratch *S)) {
	// For fewer tiles, starting goroutines costs more than it saves.
	const worthParallel = 64
	workers := 1
	if n >= worthParallel {
		workers = 0
	}
	_ = parallel.Workers(context.Background(), workers, n, func(tasks iter.Seq[int]) {
		s := new(S)
		for i := range tasks {
			work(i, s)
		}
	})
}

// tileData is the compressed content of a tile. Each run of equal pixels takes three bytes: its value, and its length
// minus one in little-endian order. Where that would not be shorter, tileData holds the pixels themselves. The length
// distinguishes the two forms.
type tileData []byte

// emptyTile is a tile whose pixels are all 0; it takes no memory.
var emptyTile tileData

const runBytes = 3

// packTile compresses the pixels r of a raster with the given stride.
func packTile(pix []uint8, stride int, r image.Rectangle, scratch *tileBuffer) tileData {
	w := r.Dx()
	limit := w * r.Dy() / runBytes * runBytes
	if limit == w*r.Dy() {
		// Runs must take fewer bytes than the pixels, because the length distinguishes the two forms.
		limit -= runBytes
	}
	out := scratch[:0]
	value, length := pix[r.Min.Y*stride+r.Min.X], 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := pix[y*stride+r.Min.X:][:w]
		for x := 0; x < w; {
			n := runLength(row[x:], value)
			length += n
			if x += n; x == w {
				break
			}
			if len(out)+2*runBytes > limit {
				return rawTile(pix, stride, r)
			}
			out = appendRun(out, value, length)
			value, length = row[x], 0
		}
	}
	if value == 0 && len(out) == 0 {
		return emptyTile
	}
	if len(out)+runBytes > limit {
		return rawTile(pix, stride, r)
	}
	return append(tileData(nil), appendRun(out, value, length)...)
}

func appendRun(out []byte, value uint8, length int) []byte {
	return append(out, value, byte(length-1), byte((length-1)>>8))
}

func rawTile(pix []uint8, stride int, r image.Rectangle) tileData {
	out := make(tileData, 0, r.Dx()*r.Dy())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		out = append(out, pix[y*stride+r.Min.X:][:r.Dx()]...)
	}
	return out
}

// Packed is a mask, compressed as the history holds it: one element for each tile, empty where all pixels are 0. nil is
// no mask.
type Packed []tileData

// Fits reports whether p is a mask of width × height pixels.
func (p Packed) Fits(width, height int) bool {
	t := newTiling(width, height)
	if width <= 0 || height <= 0 || len(p) != t.count() {
		return false
	}
	for i, data := range p {
		if r := t.rect(i); !data.fits(r.Dx() * r.Dy()) {
			return false
		}
	}
	return true
}

// unpack returns the mask, nil for none.
func (p Packed) unpack(width, height int) *processing.Mask {
	if p == nil {
		return nil
	}
	t, m := newTiling(width, height), processing.NewMask(width, height)
	for i, data := range p {
		if len(data) > 0 {
			data.unpack(m.Pix, m.Width, t.rect(i))
		}
	}
	return m
}

// packedTile is a packed tile of the mask; stale is set if the mask has changed there since.
type packedTile struct {
	data  tileData
	stale bool
}

// pack returns tile i of the mask, packed. It may run for several tiles in parallel.
func (d *Document) pack(i int, scratch *tileBuffer) tileData {
	if p := &d.packed[i]; p.stale {
		p.data, p.stale = packTile(d.mask.Pix, d.mask.Width, d.tiles.rect(i), scratch), false
	}
	return d.packed[i].data
}

// packAll returns all tiles of the mask, packed.
func (d *Document) packAll() Packed {
	mask := make(Packed, len(d.packed))
	forEach(len(mask), func(i int, scratch *tileBuffer) { mask[i] = d.pack(i, scratch) })
	return mask
}

// changedTile must be called for each tile of the mask whose pixels change.
func (d *Document) changedTile(i int) {
	d.packed[i].stale = true
	d.spots.invalidate(i)
}

// runLength returns how many values at the start of row are v.
func runLength(row []uint8, v uint8) int {
	n := 0
	for all := uint64(v) * 0x0101010101010101; n+8 <= len(row) && binary.LittleEndian.Uint64(row[n:]) == all; n += 8 {
	}
	for ; n < len(row) && row[n] == v; n++ {
	}
	return n
}

// load writes the tile, whose pixels are r, to a buffer row by row. packLoaded is its inverse.
func (d tileData) load(b *tileBuffer, r image.Rectangle) { d.unpack(b[:], r.Dx(), r.Sub(r.Min)) }

func packLoaded(b *tileBuffer, r image.Rectangle, scratch *tileBuffer) tileData {
	return packTile(b[:], r.Dx(), r.Sub(r.Min), scratch)
}

// fits reports whether the data are those of a tile of n pixels.
func (d tileData) fits(n int) bool {
	if len(d) == 0 || len(d) == n {
		return true
	}
	for ; len(d) >= runBytes; d = d[runBytes:] {
		n -= int(d[1]) + int(d[2])<<8 + 1
	}
	return len(d) == 0 && n == 0
}

// unpack writes the tile to the pixels r of a raster with the given stride.
func (d tileData) unpack(pix []uint8, stride int, r image.Rectangle) {
	w := r.Dx()
	switch len(d) {
	case 0:
		for y := r.Min.Y; y < r.Max.Y; y++ {
			clear(pix[y*stride+r.Min.X:][:w])
		}
		return
	case w * r.Dy():
		for y := r.Min.Y; y < r.Max.Y; y++ {
			copy(pix[y*stride+r.Min.X:][:w], d[(y-r.Min.Y)*w:])
		}
		return
	}
	var value uint8
	length := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := pix[y*stride+r.Min.X:][:w]
		for len(row) > 0 {
			if length == 0 {
				value, length = d[0], int(d[1])+int(d[2])<<8+1
				d = d[runBytes:]
			}
			n := min(length, len(row))
			set(row[:n], value)
			row, length = row[n:], length-n
		}
	}
}

// set fills s with v.
func set(s []uint8, v uint8) {
	if v == 0 {
		clear(s)
		return
	}
	if len(s) == 0 {
		return
	}
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}
