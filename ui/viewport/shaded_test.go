package viewport

import (
	"context"
	"image"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"github.com/go-gl/gl/v2.1/gl"

	"blik/app/view"
	"blik/internal/test/testpic"
	"blik/ui/shader"
)

// shaders returns the textures of the picture in a viewport.
func shaders(v *Viewport) (all []image.Image) {
	for _, o := range test.WidgetRenderer(v.shaded).Objects() {
		all = append(all, o.(*canvas.Shader).Textures["picture"])
	}
	return all
}

// With a shader the raster has only the colour of the surround; without one, and if a frame needs too many textures, it
// has the pixels. Marks and another picture reach the shader.
func TestShaderOverTheRaster(t *testing.T) {
	test.NewTempApp(t)
	p, err := view.NewPyramid(context.Background(), testpic.Noise(300, 200, 3, 8))
	if err != nil {
		t.Fatal(err)
	}
	mask := view.NewMaskPyramid(testpic.Specks(300, 200))
	for _, use := range []bool{false, true} {
		v := New()
		if use {
			v = New(Shaded("test", shader.NewCard(func() uint32 { return 0 })))
		}
		// The painter of the toolkit's tests knows no shader, so the viewport is in no window.
		v.Resize(fyne.NewSize(400, 300))
		v.resized(v.Size())
		v.SetPicture(p, mask)
		if got := v.draw(400, 300); (got == v.buf) == use {
			t.Errorf("use %v: the raster draws %T", use, got)
		}
		if !use {
			if v.shaded != nil {
				t.Error("a shader that is not used")
			}
			continue
		}
		if c := v.draw(400, 300).At(0, 0); c != view.Surround() {
			t.Errorf("the raster is %v", c)
		}
		first := shaders(v)
		marks := test.WidgetRenderer(v.shaded).Objects()[0].(*canvas.Shader).Textures["mask"]
		v.MaskChanged(image.Rect(10, 10, 30, 30))
		v.draw(400, 300)
		if now := test.WidgetRenderer(v.shaded).Objects()[0].(*canvas.Shader).Textures["mask"]; now == marks || now == nil {
			t.Error("a change of the mask is not shown")
		}
		v.SetPicture(p, mask)
		if n := len(shaders(v)); n != 0 {
			t.Errorf("%d textures of the old picture", n)
		}
		v.draw(400, 300)
		if now := shaders(v); len(now) != 1 || now[0] == first[0] {
			t.Error("a texture of the old picture is kept")
		}
	}
}

// A frame that needs too many textures is drawn completely by the raster.
func TestRasterInPlaceOfTheShader(t *testing.T) {
	test.NewTempApp(t)
	p, err := view.NewPyramid(context.Background(), testpic.Flat(101*shader.TileSide, 4, 1, 99))
	if err != nil {
		t.Fatal(err)
	}
	v := New(Shaded("test", shader.NewCard(func() uint32 { return 0 })))
	v.Resize(fyne.NewSize(101*shader.TileSide, 4))
	v.resized(v.Size())
	v.SetPicture(p, nil)
	v.Restore(view.Transform{Zoom: 1})
	got, ok := v.draw(101*shader.TileSide, 4).(*image.RGBA)
	if !ok || got.Pix[0] != 99 || got.Pix[len(got.Pix)-2] != 99 || len(shaders(v)) != 0 {
		t.Error("the frame is not drawn by the raster")
	}
}

// The raster draws the picture when the card has no memory for it, also in the frame that finds that out.
func TestRasterAfterTheCard(t *testing.T) {
	test.NewTempApp(t)
	p, err := view.NewPyramid(context.Background(), testpic.Flat(300, 200, 1, 99))
	if err != nil {
		t.Fatal(err)
	}
	fault := uint32(gl.NO_ERROR)
	v := New(Shaded("test", shader.NewCard(func() uint32 { return fault })))
	v.Resize(fyne.NewSize(300, 200))
	v.resized(v.Size())
	v.SetPicture(p, nil)
	v.Restore(view.Transform{Zoom: 1})
	if c := v.draw(300, 200).At(150, 100); c != view.Surround() {
		t.Errorf("the raster is %v under the shader", c)
	}
	fault = gl.OUT_OF_MEMORY
	for i := range 2 {
		got, ok := v.draw(300, 200).(*image.RGBA)
		if !ok || got.RGBAAt(150, 100).R != 99 {
			t.Errorf("frame %d after the failure is not drawn by the raster", i)
		}
	}
	if n := len(shaders(v)); n != 0 {
		t.Errorf("%d shaders are left", n)
	}
}
