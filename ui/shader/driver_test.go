package shader

import (
	"context"
	"image"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-gl/gl/v2.1/gl"
	"github.com/go-gl/glfw/v3.4/glfw"

	"blik/app/view"
	"blik/internal/test/egl"
	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
	"blik/processing"
	"blik/processing/detect"
)

// openDriver makes an OpenGL context current until the end of the test: that of a virtual screen, which draws with the
// processor, or with BLIK_TEST_GL=egl that of a graphics card without a screen. It logs and returns the name of the
// renderer.
func openDriver(t testing.TB) (renderer string) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if os.Getenv("BLIK_TEST_GL") == "egl" {
		if err := egl.MakeCurrent(); err != nil {
			t.Fatal(err)
		}
	} else {
		t.Setenv("DISPLAY", uitest.StartScreen(t, t.TempDir()))
		if err := glfw.Init(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(glfw.Terminate)
		glfw.WindowHint(glfw.Visible, glfw.False)
		w, err := glfw.CreateWindow(16, 16, "", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.MakeContextCurrent()
		t.Cleanup(glfw.DetachCurrentContext)
	}
	if err := gl.Init(); err != nil {
		t.Fatal(err)
	}
	renderer = gl.GoStr(gl.GetString(gl.RENDERER))
	t.Logf("%s, OpenGL %s", renderer, gl.GoStr(gl.GetString(gl.VERSION)))
	return renderer
}

// What the driver draws is what the raster draws, within tolerance: in all modes, zooms and orientations, with a split
// line, corrections, a layer and a second mask, over the edges of tiles.
func TestXvfbDriverDrawsTheRaster(t *testing.T) {
	openDriver(t)
	const w, h = 220, 150
	size := image.Pt(300, 200)
	screen, err := newOffscreen(size)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.close()
	want := image.NewRGBA(image.Rectangle{Max: size})
	for orientation := 1; orientation <= 8; orientation++ {
		pic := testpic.Noise(w, h, 3, 8+8*(orientation%2))
		before, err := view.NewPyramid(t.Context(), pic, view.WithOrientation(orientation))
		if err != nil {
			t.Fatal(err)
		}
		patch := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: 70, X0: 40, X1: 180}}}
		if pic.U8 != nil {
			patch.U8 = make([]uint8, 3*140)
		} else {
			patch.U16 = make([]uint16, 3*140)
		}
		after, err := before.With(t.Context(), []processing.Patch{patch})
		if err != nil {
			t.Fatal(err)
		}
		layer, err := view.NewLayer(t.Context(), &detect.LayerMap{Spec: detect.Layers()[0],
			Rect: image.Rect(90, 40, w, h), Pix: testpic.Noise(w-90, h-40, 1, 16).U16})
		if err != nil {
			t.Fatal(err)
		}
		mask := view.NewMaskPyramid(testpic.Specks(w, h))
		other := processing.NewMask(w, h)
		for i := range other.Pix {
			other.Pix[i] = uint8(i/50%4) * 85
		}
		r := view.NewRenderer()
		r.SetPictures(before, after, mask)
		var cache Cache
		for i, zoom := range []float64{0.3, 0.5, 0.77, 1, 1.3, 2.5, 40} {
			for mode := view.PictureAndMask; mode <= view.Changed; mode++ {
				o := view.DefaultOptions()
				o.Mode, o.Opacity = mode, 0.2*float64(i)
				o.Compare, o.Split = view.Compare((i+orientation)%3), 140
				if mode == view.Changed || (i+orientation)%4 == 0 {
					o.Other = view.NewMaskPyramid(other)
				}
				r.SetLayer(nil)
				if (i+int(mode))%3 == 0 {
					r.SetLayer(layer)
				}
				at := view.Transform{Zoom: zoom, Turn: before.Turn()}.CentreOn(processing.Point{X: 101.3, Y: 70.7}, size)
				r.Render(want, at, o)
				quads, _, whole := cache.Quads(r.Tiles(size, at, o, 64), time.Hour)
				screen.clear(view.Surround().G)
				screen.drawQuads(quads)
				if err := alike(screen.pixels(), want); err != nil || !whole {
					t.Errorf("orientation %d, zoom %v, mode %d, %+v: %v", orientation, zoom, mode, o, err)
				}
			}
		}
	}
}

// The first frames are measured, and a driver that draws right may draw the picture if that is demanded.
func TestXvfbMeasuring(t *testing.T) {
	renderer := openDriver(t)
	took, err := measure(image.Pt(320, 240))
	if err != nil || took.raster <= 0 || took.shader <= 0 || took.raster > time.Minute {
		t.Errorf("%+v, %v", took, err)
	}
	for wanted, want := range map[string]string{
		"shader": "the graphics card draws the picture, as BLIK_DRAWING demands",
		"raster": "the processor draws the picture, as BLIK_DRAWING demands",
		"":       "the processor draws the picture: the OpenGL driver has no graphics card",
	} {
		testpic.Need(t, wanted != "" || isSoftware(renderer), "a driver that draws with the processor")
		if got := Choose(renderer, wanted); got.Why.String() != want || got.Shader != (wanted == "shader") {
			t.Errorf("%q: %v %s", wanted, got.Shader, got.Why)
		}
	}
	got := Choose("a card", "")
	if got.Shader != strings.HasPrefix(got.Why.String(), "the graphics card draws the picture: ") {
		t.Errorf("%v %s", got.Shader, got.Why)
	}
}

// gesture is the next frame of a gesture: its place, and the image rectangle in which the mask has changed.
type gesture func(i int) (view.Transform, image.Rectangle)

// gestures returns a person's gestures on a picture of at least 9000 × 6000 pixels.
func gestures(size image.Point, mask *processing.Mask) map[string]gesture {
	none := image.Rectangle{}
	return map[string]gesture{
		// Fifteen turns of the wheel there and back.
		"zoom": func(i int) (view.Transform, image.Rectangle) {
			t := view.Transform{Zoom: 0.3 * math.Pow(1.2, float64(15-abs(i%30-15)))}
			return t.CentreOn(processing.Point{X: 5000, Y: 3000}, size), none
		},
		"pan": func(i int) (view.Transform, image.Rectangle) {
			a := 2 * math.Pi * float64(i) / 30
			x, y := math.Round(120*math.Sin(a)), math.Round(80*math.Cos(a))
			return view.Transform{Zoom: 1, X: 3000 + x, Y: 2000 + y}, none
		},
		"far pan": func(i int) (view.Transform, image.Rectangle) {
			return view.Transform{Zoom: 1, X: float64(40 * i), Y: float64(20 * i)}, none
		},
		"brush": func(i int) (view.Transform, image.Rectangle) {
			r := image.Rect(0, 0, 40, 40).Add(image.Pt(3300+10*i, 2300))
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					mask.Pix[y*mask.Width+x] ^= 255
				}
			}
			return view.Transform{Zoom: 1, X: 3000, Y: 2000}, r
		},
	}
}

func abs(i int) int { return max(i, -i) }

// BenchmarkFrames measures frames of a picture of 108 megapixels and 16 bits under a mask, drawn by the shader and by
// the raster, from the transform to the end of drawing in the driver. Some are compared. If the processor draws, it
// measures fewer, and not those of a large screen.
//
//	go test ./ui/shader -run '^$' -bench Frames -benchtime 1x
//
// With BLIK_TEST_GL=egl it measures a graphics card without a screen.
func BenchmarkFrames(b *testing.B) {
	renderer := openDriver(b)
	steps, sizes := 120, []image.Point{{1600, 1000}, {3840, 2160}}
	if isSoftware(renderer) {
		steps, sizes = 30, sizes[:1]
	}
	begun := time.Now()
	b.Logf("%s (chosen in %v)", Choose(renderer, "").Why, time.Since(begun).Round(time.Millisecond))
	pic := testpic.Noise(12000, 9000, 3, 16)
	p, err := view.NewPyramid(context.Background(), pic)
	if err != nil {
		b.Fatal(err)
	}
	mask := testpic.Specks(pic.Width, pic.Height)
	r, marks := view.NewRenderer(), view.NewMaskPyramid(mask)
	r.SetPicture(p, marks)
	for _, size := range sizes {
		for name, next := range gestures(size, mask) {
			for _, way := range []string{"shader", "raster"} {
				screen, err := newOffscreen(size)
				if err != nil {
					b.Fatal(err)
				}
				took := measureFrames(b, screen, r, marks, way == "shader", steps, next)
				screen.close()
				slices.Sort(took)
				ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
				b.Logf("%d × %d, %s by the %s: median %.1f ms, p95 %.1f ms, slowest %.1f ms", size.X, size.Y, name, way,
					ms(took[steps/2]), ms(took[steps*95/100]), ms(took[steps-1]))
			}
		}
	}
}

// measureFrames draws frames and returns their times.
func measureFrames(b *testing.B, screen *offscreen, r *view.Renderer, marks *view.MaskPyramid, shaded bool, steps int,
	next gesture,
) (took []time.Duration) {
	var cache Cache
	o, pixels := view.DefaultOptions(), image.NewRGBA(image.Rectangle{Max: screen.size})
	// before is the transform of the pixels of the raster; the zero value if they must be drawn anew.
	var before view.Transform
	raster := func(t view.Transform, changed image.Rectangle) {
		parts := []image.Rectangle{pixels.Rect}
		if t.Zoom == before.Zoom {
			// What the viewport draws of a frame that has only moved: what comes into view.
			x, y := abs(int(t.X-before.X)), abs(int(t.Y-before.Y))
			parts = []image.Rectangle{r.DirtyRect(t, changed), image.Rect(0, 0, x, screen.size.Y),
				image.Rect(0, 0, screen.size.X, y)}
		}
		for _, part := range parts {
			r.RenderRect(pixels, t, o, part)
		}
		screen.drawPixels(pixels)
		before = t
	}
	for i := range steps {
		t, changed := next(i)
		start := time.Now()
		marks.Update(changed)
		if !shaded {
			raster(t, changed)
			took = append(took, time.Since(start))
			continue
		}
		cache.MaskChanged(changed)
		quads, _, whole := cache.Quads(r.Tiles(screen.size, t, o, TileSide), loading)
		if whole {
			screen.clear(view.Surround().G)
			before = view.Transform{}
		} else {
			raster(t, changed)
		}
		screen.drawQuads(quads)
		took = append(took, time.Since(start))
		if whole && i%40 == 7 {
			r.Render(pixels, t, o)
			if err := alike(screen.pixels(), pixels); err != nil {
				b.Error(err)
			}
		}
	}
	return took
}
