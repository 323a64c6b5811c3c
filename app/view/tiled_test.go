package view

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// shade draws a tile as a shader does, by its definition.
func shade(dst *image.RGBA, tile Tile, blend Blend) {
	source := image.NewRGBA(image.Rectangle{Max: tile.Source.Size()})
	tile.Source.Draw(source)
	overlay := image.NewRGBA(image.Rectangle{Max: tile.Overlay.Size()})
	tile.Overlay.Draw(overlay)
	at := func(i, row int) (pixel, weight, mask int, line bool) {
		t := tile.Table.RGBAAt(i, row)
		return int(t.R) | int(t.A&7)<<8, int(t.G), int(t.B) | int(t.A>>3&7)<<8, t.A>>6 == 1
	}
	clamped := func(x, y int) [4]uint8 {
		c := source.RGBAAt(min(x, source.Rect.Max.X-1), min(y, source.Rect.Max.Y-1))
		return [4]uint8{c.R, c.G, c.B, c.A}
	}
	inks := Inks(blend.Changed)
	mark := func(i, j int) uint8 {
		_, _, x, _ := at(i, 0)
		_, _, y, _ := at(j, 1)
		if tile.Swap {
			x, y = y, x
		}
		if !(image.Point{x / 4, y}).In(overlay.Rect) {
			return 0
		}
		return overlay.Pix[y*overlay.Stride+x]
	}
	mix := func(a, b uint8, w int) uint8 { return uint8((int(a)*(256-w) + int(b)*w + 128) / 256) }
	for j := range tile.Device.Dy() {
		for i := range tile.Device.Dx() {
			x, wx, _, lineX := at(i+1, 0)
			y, wy, _, lineY := at(j+1, 1)
			if tile.Swap {
				x, y, wx, wy = y, x, wy, wx
			}
			a, b, c, d := clamped(x, y), clamped(x, y+1), clamped(x+1, y), clamped(x+1, y+1)
			var out [4]uint8
			for k := range out {
				out[k] = mix(mix(a[k], b[k], wy), mix(c[k], d[k], wy), wx)
			}
			if blend.Black {
				out = [4]uint8{3: 255}
			}
			m := mark(i+1, j+1)
			in := func(i, j int) bool { return mark(i, j) >= processing.MaskLevel }
			ink, share := [3]uint8{blend.Ink.R, blend.Ink.G, blend.Ink.B}, 0
			switch {
			case !blend.Outlines:
				if blend.Inks {
					ink = [3]uint8{inks[m].R, inks[m].G, inks[m].B}
					m = min(m, 1) * 255
				}
				share = int(math.Floor(blend.Opacity*float64(m)/255*256 + 0.5))
			case in(i+1, j+1) && !(in(i, j+1) && in(i+2, j+1) && in(i+1, j) && in(i+1, j+2)):
				share = 256
				apart := 0.
				for k := range ink {
					apart += math.Abs(float64(ink[k]) - float64(out[k]))
				}
				if apart < AlikeInk {
					ink = [3]uint8{}
					if out[1] < 128 {
						ink = [3]uint8{255, 255, 255}
					}
				}
			}
			for k := range ink {
				out[k] = mix(out[k], ink[k], share)
			}
			if lineX || lineY {
				to := uint8(0)
				if out[1] < 128 {
					to = 255
				}
				for k := range ink {
					out[k] = mix(out[k], to, int(GridStrength))
				}
			}
			dst.SetRGBA(tile.Device.Min.X+i, tile.Device.Min.Y+j, color.RGBA{out[0], out[1], out[2], out[3]})
		}
	}
}

// Tiles, drawn by the definition of a shader, give exactly the frames of Render: at any zoom, place and orientation, in
// all modes, with corrections, a layer and a split line.
func TestTilesGiveTheFrame(t *testing.T) {
	t.Parallel()
	r := NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
		pic := drawPicture(t, w, h)
		before, err := NewPyramid(context.Background(), pic,
			WithOrientation(rapid.IntRange(1, 8).Draw(t, "orientation")))
		if err != nil {
			t.Fatal(err)
		}
		after := before
		if rapid.Bool().Draw(t, "corrected") {
			if after, err = before.With(context.Background(), []processing.Patch{patchOf(pic)}); err != nil {
				t.Fatal(err)
			}
		}
		var mask *MaskPyramid
		if rapid.IntRange(0, 5).Draw(t, "mask") > 0 {
			mask = NewMaskPyramid(drawMask(t, w, h))
		}
		r.SetPictures(before, after, mask)
		r.SetLayer(nil)
		if rapid.IntRange(0, 3).Draw(t, "layer") == 0 {
			r.SetLayer(layerOf(t, w, h))
		}
		v, o := drawView(t, w, h), drawOptions(t)
		v.Turn = before.Turn()
		if rapid.Bool().Draw(t, "grid zoom") {
			v.Zoom = GridZoom + 1.3
		}
		o.Compare = Compare(rapid.IntRange(0, 2).Draw(t, "compare"))
		o.Split = rapid.IntRange(0, 40).Draw(t, "split")
		if rapid.IntRange(0, 2).Draw(t, "other") == 0 {
			other := drawMask(t, w, h)
			o.Other = NewMaskPyramid(other)
			if rapid.Bool().Draw(t, "changed") {
				o.Mode = Changed
			}
		}
		size := image.Pt(rapid.IntRange(1, 50).Draw(t, "vw"), rapid.IntRange(1, 50).Draw(t, "vh"))
		checkTiles(t, r, size, v, o, rapid.SampledFrom([]int{1, 7, 16, 5000}).Draw(t, "side"))
	})
}

// checkTiles compares a frame drawn by tiles with that of Render.
func checkTiles(t interface{ Fatalf(string, ...any) }, r *Renderer, size image.Point, v Transform, o Options, side int) {
	want, got := image.NewRGBA(image.Rectangle{Max: size}), image.NewRGBA(image.Rectangle{Max: size})
	r.Render(want, v, o)
	for i := 0; i < len(got.Pix); i += 4 {
		c := Surround()
		copy(got.Pix[i:], []uint8{c.R, c.G, c.B, c.A})
	}
	tiled := r.Tiles(size, v, o, side)
	for _, tile := range tiled.Tiles {
		shade(got, tile, tiled.Blend)
	}
	if i := firstDifference(got.Pix, want.Pix); i >= 0 {
		t.Fatalf("%+v %+v: device pixel %d, %d is %v, want %v", v, o, i/4%size.X, i/4/size.X,
			got.Pix[i/4*4:][:4], want.Pix[i/4*4:][:4])
	}
}

// Outlines cross the edges of tiles, and every weight of a column occurs.
func TestTilesOfALargeMark(t *testing.T) {
	t.Parallel()
	m := processing.NewMask(700, 60)
	for i := range m.Pix {
		if y := i / 700; y > 5 && y < 50 {
			m.Pix[i] = 255
		}
	}
	r := NewRenderer()
	r.SetPicture(pyramids(t, testpic.Noise(700, 60, 3, 8), m))
	for _, zoom := range []float64{0.3, 0.999, 1, 2.3} {
		o := DefaultOptions()
		for o.Mode = PictureAndMask; o.Mode <= Outlines; o.Mode++ {
			checkTiles(t, r, image.Pt(700, 60), Transform{Zoom: zoom, X: 0.5}, o, 16)
		}
	}
}

func firstDifference(a, b []uint8) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// patchOf corrects a few pixels of a picture.
func patchOf(pic *processing.Picture) processing.Patch {
	p := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: pic.Height / 2, X0: pic.Width / 3, X1: pic.Width/3 + 1}}}
	switch {
	case pic.U8 != nil:
		p.U8 = bytes.Repeat([]uint8{99}, pic.Channels)
	case pic.U16 != nil:
		p.U16 = make([]uint16, pic.Channels)
	default:
		p.F32 = make([]float32, pic.Channels)
	}
	return p
}

// layerOf returns a layer over the right part of a picture.
func layerOf(t *rapid.T, w, h int) *Pyramid {
	area := image.Rect(w/3, h/4, w, h)
	m := &detect.LayerMap{Rect: area, Pix: make([]uint16, area.Dx()*area.Dy())}
	for i := range m.Pix {
		m.Pix[i] = uint16(i * 977)
	}
	m.Spec = detect.Layers()[0]
	layer, err := NewLayer(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

// Pictures share the tiles in which they do not differ, and an overlay knows which changes of the mask it shows.
func TestEqualTiles(t *testing.T) {
	t.Parallel()
	pic := testpic.Noise(200, 100, 3, 8)
	before, mask := pyramids(t, pic, testpic.Specks(200, 100))
	after, err := before.With(t.Context(), []processing.Patch{patchOf(pic)})
	if err != nil {
		t.Fatal(err)
	}
	r := NewRenderer()
	r.SetPictures(before, after, mask)
	frame := func(c Compare) []Tile {
		o := DefaultOptions()
		o.Compare = c
		return r.Tiles(image.Pt(200, 100), Transform{Zoom: 1}, o, 50).Tiles
	}
	a, b := frame(CompareBefore), frame(CompareAfter)
	if len(a) != 8 || len(b) != 8 {
		t.Fatalf("%d and %d tiles, want 8", len(a), len(b))
	}
	changed := image.Rect(66, 50, 67, 51)
	for i := range a {
		// A tile has one more column and row, and corrections are kept in tiles of tileSide.
		differs := image.Rect(64, 32, 96, 64).Overlaps(a[i].Source.area)
		if (a[i].Source != b[i].Source) != differs {
			t.Errorf("tile %v: sources %v and %v", a[i].Device, a[i].Source, b[i].Source)
		}
		if a[i].Overlay != b[i].Overlay || a[i].Overlay.Touches(changed) != changed.Overlaps(a[i].Device.Inset(-3)) {
			t.Errorf("tile %v: overlays %v and %v", a[i].Device, a[i].Overlay, b[i].Overlay)
		}
	}
}
