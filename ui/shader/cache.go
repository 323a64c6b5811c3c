package shader

import (
	"bytes"
	_ "embed"
	"fmt"
	"image"
	"image/color"
	"strings"
	"time"

	"blik/app/view"
)

// TileSide is the side of a tile in pixels of a level: 4 MiB, which a card takes in a millisecond. maxTiles is the
// largest number of tiles of a frame; 3840 × 2160 device pixels need at most 40. spareTiles are kept beside twice those
// of the frame, so that what was visible before is still there.
const (
	TileSide   = view.MaxTileSide
	maxTiles   = 96
	spareTiles = 8
)

//go:embed tile.frag
var fragment string

// Source returns the fragment shader, for the desktop's OpenGL 2.
func Source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#version 110\n#define ALIKE %d.0\n#define GRID %d.0\n", view.AlikeInk, view.GridStrength)
	for name, inks := range map[string][4]color.RGBA{"COMPARED": view.Inks(false), "CHANGED": view.Inks(true)} {
		for i, c := range inks[1:] {
			fmt.Fprintf(&b, "#define %s%d vec3(%d.0, %d.0, %d.0)\n", name, i+1, c.R, c.G, c.B)
		}
	}
	return b.String() + fragment
}

// Quad is a rectangle of device pixels and what the shader draws it from.
type Quad struct {
	// Device is the rectangle in the viewport.
	Device image.Rectangle
	// Textures and Uniforms are named as in the shader. An image whose pixels change is replaced by another value.
	Textures map[string]image.Image
	Uniforms map[string]float32

	source  view.Source
	overlay view.Overlay
	// picture is the texture of that name until it is on the card, where it is from the first frame that draws the
	// quad; marks is the memory of that of the mask.
	picture *image.RGBA
	drawn   bool
	marks   []uint8
	table   []uint8
	// used is the number of the last frame that showed the quad.
	used int
}

// Cache keeps the quads of the last frames.
type Cache struct {
	quads []*Quad
	frame int
	// loaded is set if the last frame has textures of the picture or the mask that are not on the card yet.
	loaded bool
	// memory is that of textures that are on the card.
	memory [][]uint8
}

// Quads returns the quads of a frame, in its order, each with its index in the cache. Drawn must be called for those
// that are drawn before the next call. Textures of the picture that are not there are loaded, at least one, until the
// budget of time is used up; whole is false if some are missing.
func (c *Cache) Quads(frame view.Tiled, budget time.Duration) (quads []*Quad, index []int, whole bool) {
	c.release()
	c.forget(frame)
	c.loaded = false
	if len(frame.Tiles) > maxTiles {
		return nil, nil, false
	}
	c.frame++
	at := make([]int, len(frame.Tiles))
	// What is there is taken first, so that nothing is replaced that is needed.
	for i, t := range frame.Tiles {
		at[i] = c.find(t)
	}
	whole = true
	loaded, begun := false, time.Now()
	for i, t := range frame.Tiles {
		if at[i] < 0 {
			if loaded && time.Since(begun) > budget {
				whole = false
				continue
			}
			at[i], loaded = c.load(t.Source, len(frame.Tiles)), true
		}
		c.loaded = c.quads[at[i]].set(t, frame.Blend) || c.loaded
		quads, index = append(quads, c.quads[at[i]]), append(index, at[i])
	}
	return quads, index, whole
}

// Drawn reports that the quad is drawn with the current textures before the next call of Cache.Quads.
func (q *Quad) Drawn() { q.drawn = true }

// release takes back the memory of the textures that are on the card. The image stays without pixels, because the
// toolkit knows by its address that the texture is there.
func (c *Cache) release() {
	for _, q := range c.quads {
		if q.picture != nil && q.drawn {
			c.memory = append(c.memory, q.picture.Pix)
			q.picture.Pix, q.picture = nil, nil
		}
	}
}

// forget lets go of pictures and masks that were replaced. They may be large, and a quad that is not shown would keep
// them for as long as nothing needs its place.
func (c *Cache) forget(frame view.Tiled) {
	for _, q := range c.quads {
		if !frame.Has(q.source) {
			q.source, q.used = view.Source{}, 0
		}
		if !frame.HasMasks(q.overlay) {
			q.unmark()
		}
	}
}

// find takes a quad with the pixels of a tile, if possible with its overlay too, and returns its index, −1 for none.
func (c *Cache) find(t view.Tile) int {
	best := -1
	for i, q := range c.quads {
		if q.used == c.frame || q.source != t.Source {
			continue
		}
		if best < 0 || q.overlay == t.Overlay {
			best = i
		}
		if q.overlay == t.Overlay {
			break
		}
	}
	if best >= 0 {
		c.quads[best].used = c.frame
	}
	return best
}

// load takes a quad that the frame, of so many, does not show, loads a picture into it and returns its index.
func (c *Cache) load(s view.Source, needed int) int {
	at := -1
	for i, q := range c.quads {
		if q.used < c.frame && (at < 0 || q.used < c.quads[at].used) {
			at = i
		}
	}
	if at < 0 || c.quads[at].source != (view.Source{}) && len(c.quads) < 2*needed+spareTiles {
		c.quads = append(c.quads, &Quad{Textures: map[string]image.Image{}, Uniforms: map[string]float32{}})
		at = len(c.quads) - 1
	}
	q := c.quads[at]
	var memory []uint8
	if n := len(c.memory); n > 0 {
		memory, c.memory = c.memory[n-1], c.memory[:n-1]
	}
	q.used, q.source, q.picture, q.drawn = c.frame, s, texture(memory, s.Size()), false
	c.loaded = true
	s.Draw(q.picture)
	q.Textures["picture"] = q.picture
	q.size("picture", q.picture.Rect)
	return at
}

// MaskChanged must be called after pixels of a mask in an image rectangle have changed.
func (c *Cache) MaskChanged(changed image.Rectangle) {
	for _, q := range c.quads {
		if q.overlay.Touches(changed) {
			q.unmark()
		}
	}
}

// Clear drops all textures, and the pictures that they belong to.
func (c *Cache) Clear() { c.quads, c.memory = nil, nil }

// set makes a quad with the pixels of a tile show it, and reports whether it has a new texture for the mask.
func (q *Quad) set(t view.Tile, b view.Blend) (marked bool) {
	q.Device = t.Device
	if q.overlay != t.Overlay {
		q.unmark()
		q.overlay = t.Overlay
		img := texture(q.marks, t.Overlay.Size())
		q.marks = img.Pix
		if t.Overlay.Draw(img) {
			q.Textures["mask"] = img
			q.size("mask", img.Rect)
			q.Uniforms["marked"] = 1
			marked = true
		}
	}
	if !bytes.Equal(q.table, t.Table.Pix) {
		q.table = t.Table.Pix
		q.Textures["table"] = t.Table
		q.Uniforms["tableWidth"] = float32(t.Table.Rect.Dx())
	}
	for name, on := range map[string]bool{
		"swapped": t.Swap, "black": b.Black, "outlines": b.Outlines, "inks": b.Inks, "changed": b.Changed,
	} {
		q.Uniforms[name] = 0
		if on {
			q.Uniforms[name] = 1
		}
	}
	q.Uniforms["red"], q.Uniforms["green"], q.Uniforms["blue"] = float32(b.Ink.R), float32(b.Ink.G), float32(b.Ink.B)
	q.Uniforms["opacity"] = float32(b.Opacity)
	return marked
}

// unmark removes the mask.
func (q *Quad) unmark() {
	q.overlay = view.Overlay{}
	delete(q.Textures, "mask")
	q.Uniforms["marked"] = 0
}

func (q *Quad) size(name string, r image.Rectangle) {
	q.Uniforms[name+"Width"], q.Uniforms[name+"Height"] = float32(r.Dx()), float32(r.Dy())
}

// texture returns a new image of the given size, in the given memory if that suffices.
func texture(memory []uint8, size image.Point) *image.RGBA {
	n := 4 * size.X * size.Y
	if cap(memory) < n {
		memory = make([]uint8, n)
	}
	return &image.RGBA{Pix: memory[:n], Stride: 4 * size.X, Rect: image.Rectangle{Max: size}}
}
