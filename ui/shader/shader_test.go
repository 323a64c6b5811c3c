package shader

import (
	"image"
	"image/color"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"github.com/go-gl/gl/v2.1/gl"

	"blik/app/view"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// newRenderer returns a renderer of a picture of 400 × 300 pixels and its mask.
func newRenderer(t *testing.T) (*view.Renderer, *processing.Mask, *view.MaskPyramid) {
	t.Helper()
	p, err := view.NewPyramid(t.Context(), testpic.Noise(400, 300, 3, 8))
	if err != nil {
		t.Fatal(err)
	}
	mask := processing.NewMask(400, 300)
	marks := view.NewMaskPyramid(mask)
	r := view.NewRenderer()
	r.SetPicture(p, marks)
	return r, mask, marks
}

// textures returns the values of a texture, those that the toolkit compares, by the corner of the quad.
func textures(quads []*Quad, name string) map[image.Point]image.Image {
	all := map[image.Point]image.Image{}
	for _, q := range quads {
		if img := q.Textures[name]; img != nil {
			all[q.Device.Min] = img
		}
	}
	return all
}

// A frame at another place replaces only the tables, a stroke only the textures that show it.
func TestTexturesAreKept(t *testing.T) {
	t.Parallel()
	r, mask, marks := newRenderer(t)
	var cache Cache
	frame := func(x float64) []*Quad {
		at := view.Transform{Zoom: 1, X: x}
		quads, _, whole := cache.Quads(r.Tiles(image.Pt(200, 200), at, view.DefaultOptions(), 100), time.Hour)
		if !whole || len(quads) != 4+2*((int(x)%100+99)/100) {
			t.Fatalf("%d quads at %v", len(quads), x)
		}
		return quads
	}
	first := textures(frame(0), "picture")
	tables := textures(frame(0), "table")
	moved := frame(30)
	at := image.Pt(0, 0)
	if moved[0].Device.Min != at || moved[0].Textures["picture"] != first[at] || moved[0].Textures["table"] == tables[at] {
		t.Error("a move replaces the picture, or keeps the table")
	}
	if got := textures(frame(0), "picture"); got[at] != first[at] || got[image.Pt(100, 100)] != first[image.Pt(100, 100)] {
		t.Error("the tiles of before were dropped")
	}

	if n := len(textures(frame(0), "mask")); n != 0 {
		t.Errorf("%d textures of an empty mask", n)
	}
	stroke := image.Rect(120, 20, 130, 30)
	for y := stroke.Min.Y; y < stroke.Max.Y; y++ {
		for x := stroke.Min.X; x < stroke.Max.X; x++ {
			mask.Pix[y*mask.Width+x] = 255
		}
	}
	marks.Update(stroke)
	cache.MaskChanged(stroke)
	painted := textures(frame(0), "mask")
	if len(painted) != 1 || painted[image.Pt(100, 0)] == nil {
		t.Errorf("after a stroke, masks at %v", painted)
	}
	cache.MaskChanged(image.Rect(10, 10, 20, 20))
	if textures(frame(0), "mask")[image.Pt(100, 0)] != painted[image.Pt(100, 0)] {
		t.Error("a stroke elsewhere replaces a mask")
	}
	cache.MaskChanged(stroke)
	if got := textures(frame(0), "mask")[image.Pt(100, 0)]; got == painted[image.Pt(100, 0)] || got == nil {
		t.Error("another stroke keeps the value of a mask: the toolkit would not take it over")
	}
	cache.Clear()
	if got := textures(frame(0), "picture"); got[at] == first[at] {
		t.Error("a texture is left after Clear")
	}
}

// The cache grows only by spareTiles beyond what a frame needs, and a frame of too many tiles is refused.
func TestNumberOfTextures(t *testing.T) {
	t.Parallel()
	r, _, _ := newRenderer(t)
	var cache Cache
	for x := range 400 {
		at := view.Transform{Zoom: 1, X: float64(x)}
		if _, _, whole := cache.Quads(r.Tiles(image.Pt(40, 40), at, view.DefaultOptions(), 20), time.Hour); !whole {
			t.Fatal("refused")
		}
	}
	if n := len(cache.quads); n > 2*9+spareTiles {
		t.Errorf("%d quads", n)
	}
	frame := r.Tiles(image.Pt(400, 300), view.Transform{Zoom: 1}, view.DefaultOptions(), 20)
	if _, _, whole := cache.Quads(frame, time.Hour); whole || len(frame.Tiles) <= maxTiles {
		t.Errorf("%d tiles are accepted", len(frame.Tiles))
	}
}

// A layer and a second mask that were replaced are let go, and others take the places of their textures.
func TestReplacedPicturesAreForgotten(t *testing.T) {
	t.Parallel()
	r, mask, _ := newRenderer(t)
	mask.Pix[0] = 255
	var cache Cache
	o := view.DefaultOptions()
	for i := range 20 {
		layer, err := view.NewLayer(t.Context(), &detect.LayerMap{Spec: detect.Layers()[0], Rect: image.Rect(0, 0, 400, 300),
			Pix: testpic.Noise(400, 300, 1, 16).U16})
		if err != nil {
			t.Fatal(err)
		}
		r.SetLayer(layer)
		o.Other = view.NewMaskPyramid(mask)
		// The next layer is not shown at the same place.
		at := view.Transform{Zoom: 1, X: float64(i % 2 * 200)}
		frame := r.Tiles(image.Pt(100, 100), at, o, 100)
		if _, _, whole := cache.Quads(frame, time.Hour); !whole {
			t.Fatal("refused")
		}
		for _, q := range cache.quads {
			if q.source != (view.Source{}) && !frame.Has(q.source) || q.overlay != (view.Overlay{}) && !frame.HasMasks(q.overlay) {
				t.Fatalf("layer %d: an old picture or mask is kept", i)
			}
		}
	}
	if n := len(cache.quads); n > 2 {
		t.Errorf("%d quads for one tile", n)
	}
}

// Without time, a frame loads one texture of the picture; it shows what is there. The memory of a texture is taken back
// when it has been drawn, and its value stays, by which the toolkit knows it.
func TestLoadingOverFrames(t *testing.T) {
	t.Parallel()
	r, _, _ := newRenderer(t)
	var cache Cache
	frame := r.Tiles(image.Pt(200, 200), view.Transform{Zoom: 1}, view.DefaultOptions(), 100)
	values := map[image.Image]bool{}
	for n := 1; n <= 4; n++ {
		quads, index, whole := cache.Quads(frame, 0)
		if len(quads) != n || len(index) != n || whole != (n == 4) {
			t.Fatalf("frame %d has %d quads, whole: %v", n, len(quads), whole)
		}
		for i, q := range quads {
			img := q.Textures["picture"].(*image.RGBA)
			values[img] = true
			// The second lies outside the window.
			if i != 1 {
				q.Drawn()
			}
			if has := img.Pix != nil; has != (i == 1 || i == n-1) {
				t.Errorf("frame %d: texture %d has pixels: %v", n, i, has)
			}
		}
		if len(values) != n {
			t.Errorf("frame %d: %d values", n, len(values))
		}
	}
}

// 3840 × 2160 device pixels need fewer tiles than the limit at any zoom, with a split line too.
func TestTilesOfALargeScreen(t *testing.T) {
	t.Parallel()
	p, err := view.NewPyramid(t.Context(), testpic.Flat(9000, 6000, 1, 50))
	if err != nil {
		t.Fatal(err)
	}
	patch := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: 9, X0: 9, X1: 10}}, U8: []uint8{1}}
	after, err := p.With(t.Context(), []processing.Patch{patch})
	if err != nil {
		t.Fatal(err)
	}
	r := view.NewRenderer()
	r.SetPictures(p, after, nil)
	o := view.DefaultOptions()
	o.Compare, o.Split = view.CompareSplit, 1900
	for _, zoom := range []float64{0.34, 0.5, 0.67, 0.9, 1, 2} {
		n := len(r.Tiles(image.Pt(3840, 2160), view.Transform{Zoom: zoom, X: 1000, Y: 1000}, o, TileSide).Tiles)
		if n > maxTiles {
			t.Errorf("%d tiles at zoom %v", n, zoom)
		}
	}
}

// Quads lie on whole device pixels of the window, wherever the viewport lies and whatever the scale is.
func TestPlacesOfQuads(t *testing.T) {
	test.NewTempApp(t)
	r, _, _ := newRenderer(t)
	for _, scale := range []float64{1, 1.25, 1.5, 2} {
		for _, corner := range []float32{0, 0.5, 37, 101.3, 77.77} {
			l := NewLayer(soundCard(), "test")
			frame := r.Tiles(image.Pt(200, 150), view.Transform{Zoom: 1, X: 17}, view.DefaultOptions(), 64)
			for l.Draw(frame, fyne.NewPos(corner, corner), scale) != All {
			}
			// As the toolkit rounds.
			round := func(v float32) int { return int(v*float32(scale) + 0.5) }
			objects := test.WidgetRenderer(l).Objects()
			for i, tile := range frame.Tiles {
				o := objects[i]
				at := image.Pt(round(o.Position().X+corner)-round(corner), round(o.Position().Y+corner)-round(corner))
				size := image.Pt(round(o.Size().Width), round(o.Size().Height))
				if (image.Rectangle{Min: at, Max: at.Add(size)}) != tile.Device {
					t.Errorf("scale %v, viewport at %v: %v + %v, want %v", scale, corner, at, size, tile.Device)
				}
			}
		}
	}
}

// soundCard is a card without errors.
func soundCard() *Card { return NewCard(func() uint32 { return gl.NO_ERROR }) }

// When the card has no memory for a texture, all its layers give theirs back in a last frame and draw nothing more.
// Other errors of the driver, even without end, change nothing.
func TestCardWithoutMemory(t *testing.T) {
	test.NewTempApp(t)
	r, _, _ := newRenderer(t)
	faults, failed := []uint32{}, 0
	card := NewCard(func() uint32 {
		if len(faults) == 0 {
			return gl.NO_ERROR
		}
		f := faults[0]
		faults = faults[1:]
		return f
	})
	card.Failed = func() { failed++ }
	layers := []*Layer{NewLayer(card, "a"), NewLayer(card, "b")}
	frame := r.Tiles(image.Pt(200, 150), view.Transform{Zoom: 1}, view.DefaultOptions(), 100)
	draw := func(l *Layer) Progress { return l.Draw(frame, fyne.NewPos(0, 0), 1) }
	for _, l := range layers {
		before := Nothing
		for p := draw(l); p != All; p = draw(l) {
			before = p
		}
		if before != Loaded {
			t.Errorf("progress %d before a frame without new textures, want %d", before, Loaded)
		}
	}
	faults = slices.Repeat([]uint32{gl.INVALID_OPERATION}, 1000)
	if p := draw(layers[0]); p != All {
		t.Errorf("progress %d after other errors, want %d", p, All)
	}
	faults = []uint32{gl.INVALID_ENUM, gl.OUT_OF_MEMORY}
	for i, l := range layers {
		if p := draw(l); p != Some {
			t.Errorf("layer %d: progress %d without memory, want %d", i, p, Some)
		}
		shown := test.WidgetRenderer(l).Objects()
		for _, object := range shown {
			for name, img := range object.(*canvas.Shader).Textures {
				if img.Bounds().Dx() > 1 {
					t.Errorf("layer %d: the texture %s keeps its memory", i, name)
				}
			}
		}
		if p := draw(l); p != Nothing || len(shown) == 0 || len(test.WidgetRenderer(l).Objects()) != 0 {
			t.Errorf("layer %d: progress %d after the last of %d shaders, want %d", i, p, len(shown), Nothing)
		}
	}
	if failed != 1 {
		t.Errorf("the failure was reported %d times, want 1", failed)
	}
}

// Each quad has a shader of a name of its own, with its textures and uniforms; Clear shows none.
func TestLayer(t *testing.T) {
	test.NewTempApp(t)
	r, _, _ := newRenderer(t)
	l := NewLayer(soundCard(), "left")
	o := view.DefaultOptions()
	o.Colour, o.Opacity = color.RGBA{1, 2, 3, 255}, 0.25
	frame := r.Tiles(image.Pt(200, 150), view.Transform{Zoom: 1}, o, 100)
	for l.Draw(frame, fyne.NewPos(0, 0), 1) != All {
	}
	var names []string
	for _, object := range test.WidgetRenderer(l).Objects() {
		s := object.(*canvas.Shader)
		names = append(names, s.Name)
		if s.Textures["picture"] == nil || s.Textures["table"] == nil || s.Uniforms["blue"] != 3 ||
			s.Uniforms["opacity"] != 0.25 || s.Uniforms["pictureWidth"] != 101 {
			t.Errorf("%s: %v", s.Name, s.Uniforms)
		}
	}
	if want := []string{"left 0", "left 1", "left 2", "left 3"}; !slices.Equal(names, want) {
		t.Errorf("shaders %v, want %v", names, want)
	}
	l.Clear()
	if n := len(test.WidgetRenderer(l).Objects()); n != 0 {
		t.Errorf("%d objects after Clear", n)
	}
}

// Drivers that draw with the processor are known by their names.
func TestSoftware(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"llvmpipe (LLVM 15.0.6, 256 bits)": true, "Software Rasterizer": true, "GDI Generic": true, "SVGA3D; LLVM": false,
		"Mesa Intel(R) UHD Graphics 620 (KBL GT2)": false, "NVIDIA GeForce RTX 3060/PCIe/SSE2": false,
	} {
		if got := isSoftware(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
