package shader

import (
	"context"
	"image"
	"strings"
	"time"

	"github.com/go-gl/gl/v2.1/gl"

	"blik/app/view"
	"blik/internal/message"
	"blik/processing"
)

// Variable is the environment variable that decides what draws the picture: "raster" or "shader". Any other value lets
// the program choose.
const Variable = "BLIK_DRAWING"

// Choice says what draws the picture: the shader, or else the raster, and why.
type Choice struct {
	Shader bool
	Why    message.Message
}

// Card returns the card that draws the picture, nil if the raster does.
func (c Choice) Card() *Card {
	if !c.Shader {
		return nil
	}
	return NewCard(gl.GetError)
}

// software are parts of the names of renderers that use the processor only. On them the raster is faster, and measuring
// would delay the start.
var software = []string{
	"llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader", "gdi generic", "basic render",
}

// Choose returns what draws the picture, given the name of the OpenGL renderer and the value of Variable. Unless the
// name says that the processor draws, it measures some frames; it needs an OpenGL context. The shader is never chosen
// if its pixels are not those of the raster.
func Choose(renderer, wanted string) Choice {
	raster := func(why message.Text, args ...any) Choice { return Choice{Why: message.Of(why, args...)} }
	switch {
	case wanted == "raster":
		return raster("the processor draws the picture, as %s demands", Variable)
	case usesES:
		return raster("the processor draws the picture: the window uses OpenGL ES")
	case wanted != "shader" && isSoftware(renderer):
		return raster("the processor draws the picture: the OpenGL driver has no graphics card")
	}
	t, err := measure(image.Pt(1024, 768))
	switch {
	case err != nil:
		return raster("the processor draws the picture: the graphics card fails (%s)", err)
	case wanted == "shader":
		return Choice{true, message.Of("the graphics card draws the picture, as %s demands", Variable)}
	case t.shader < t.raster:
		return Choice{true, message.Of("the graphics card draws the picture: %.1f ms a frame, the processor %.1f ms",
			milliseconds(t.shader), milliseconds(t.raster))}
	}
	return raster("the processor draws the picture: %.1f ms a frame, the graphics card %.1f ms",
		milliseconds(t.raster), milliseconds(t.shader))
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

func isSoftware(renderer string) bool {
	for _, name := range software {
		if strings.Contains(strings.ToLower(renderer), name) {
			return true
		}
	}
	return false
}

// times are the shortest times of a frame, from the transform to the end of drawing.
type times struct{ raster, shader time.Duration }

// tolerance is the largest difference between a channel of both: rounding in the driver.
const tolerance = 1

// measure draws frames of a picture under a mask at several zooms, of the given size, both ways. The error says what
// the driver cannot do, or draws differently.
func measure(size image.Point) (times, error) {
	screen, err := newOffscreen(size)
	if err != nil {
		return times{}, err
	}
	r, err := scene(size)
	if err != nil {
		return times{}, err
	}
	var cache Cache
	pixels := image.NewRGBA(image.Rectangle{Max: size})
	best := times{time.Hour, time.Hour}
	for i, mode := range []view.Mode{view.PictureAndMask, view.PictureAndMask, view.Outlines, view.PictureAndMask} {
		o := view.DefaultOptions()
		o.Mode = mode
		t := view.Transform{Zoom: 0.9 - 0.05*float64(i), X: -3, Y: 2.5}
		start := time.Now()
		r.Render(pixels, t, o)
		screen.drawPixels(pixels)
		best.raster = min(best.raster, time.Since(start))

		screen.clear(view.Surround().G)
		start = time.Now()
		quads, _, _ := cache.Quads(r.Tiles(size, t, o, TileSide), time.Hour)
		screen.drawQuads(quads)
		best.shader = min(best.shader, time.Since(start))
		if err := alike(screen.pixels(), pixels); err != nil {
			return times{}, err
		}
	}
	return best, nil
}

// alike returns an error unless two frames of equal size show the same.
func alike(got, want *image.RGBA) error {
	for i, v := range want.Pix {
		if d := int(got.Pix[i]) - int(v); d > tolerance || d < -tolerance {
			return message.Errorf("it draws %d instead of %d", got.Pix[i], v)
		}
	}
	return nil
}

// scene returns a renderer of a made picture with a mask, both of the given size.
func scene(size image.Point) (*view.Renderer, error) {
	pic := &processing.Picture{Width: size.X, Height: size.Y, Channels: 3, U8: make([]uint8, 3*size.X*size.Y)}
	noise := uint32(1)
	for i := range pic.U8 {
		noise = noise*1664525 + 1013904223
		pic.U8[i] = uint8(noise >> 24)
	}
	mask := processing.NewMask(size.X, size.Y)
	for i := range mask.Pix {
		if x, y := i%size.X, i/size.X; x%37 < 5 && y%29 < 4 {
			mask.Pix[i] = 255
		}
	}
	p, err := view.NewPyramid(context.Background(), pic)
	if err != nil {
		return nil, err
	}
	r := view.NewRenderer()
	r.SetPicture(p, view.NewMaskPyramid(mask))
	return r, nil
}
