package xwidget_test

import (
	"image"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"

	"blik/ui/xwidget"
)

// The toolkit, which rounds both ends of a raster to device pixels, shows each row and column drawn exactly once,
// wherever the raster is and whatever its size.
func TestRasterOfWholePixels(t *testing.T) {
	test.NewTempApp(t)
	r := xwidget.NewRaster(20, 10, func(w, h int) image.Image { return image.NewRGBA(image.Rect(0, 0, w, h)) })
	if size := r.MinSize(); size != fyne.NewSize(20, 10) {
		t.Errorf("the least size is %v", size)
	}
	c := test.NewTempWindow(t, container.NewWithoutLayout(r)).Canvas().(software.WindowlessCanvas)
	at, size := fyne.NewPos(42, 68.703), fyne.NewSize(200, 149.6)
	for _, scale := range []float32{1, 1.25, 1.5, 2} {
		c.SetScale(scale)
		round := func(x float32) int { return int(math.Round(float64(x * scale))) }
		for range 10 {
			at, size = at.AddXY(0.13, 0.29), size.AddWidthHeight(0.37, 0.11)
			r.Move(at)
			r.Resize(size)
			c.Capture()
			inner := test.WidgetRenderer(r).Objects()[0].(*canvas.Raster)
			device, known := r.Device()
			if known != float64(scale) {
				t.Fatalf("scale %v is taken for %v", scale, known)
			}
			for _, axis := range []struct {
				from, length, room float32
				drawn              int
			}{{at.X, inner.Size().Width, size.Width, device.X}, {at.Y, inner.Size().Height, size.Height, device.Y}} {
				shown := round(axis.from+axis.length) - round(axis.from)
				if shown != axis.drawn || round(axis.length) != axis.drawn {
					t.Errorf("scale %v at %v: %d pixels are drawn and shown as %d", scale, at, axis.drawn, shown)
				}
				if room := axis.room * scale; float32(axis.drawn) > room+0.1 || float32(axis.drawn) < room-1 {
					t.Errorf("scale %v: %d pixels in %v", scale, axis.drawn, room)
				}
			}
		}
	}
}

// A raster that was laid out before its window knew the scale takes the scale with its first frame.
func TestRasterTakesTheScale(t *testing.T) {
	test.NewTempApp(t)
	var drawn image.Point
	r := xwidget.NewRaster(40, 30, func(w, h int) image.Image {
		drawn = image.Pt(w, h)
		return image.NewRGBA(image.Rectangle{Max: drawn})
	})
	c := test.NewTempWindow(t, r).Canvas().(software.WindowlessCanvas)
	c.SetScale(1.25)
	c.Capture()
	if device, scale := r.Device(); scale != 1.25 || device.X < 50 {
		t.Errorf("%v device pixels at scale %v", device, scale)
	}
	r.Redraw()
	c.Capture()
	if device, _ := r.Device(); drawn != device {
		t.Errorf("drawn in %v of %v device pixels", drawn, device)
	}
}

// denseApp is an app on a screen with two pixels for each unit of Canvas.Scale, as macOS and Wayland have them.
type (
	denseApp    struct{ fyne.App }
	denseDriver struct{ fyne.Driver }
	denseCanvas struct{ fyne.Canvas }
)

func (a denseApp) Driver() fyne.Driver { return denseDriver{a.App.Driver()} }

func (d denseDriver) CanvasForObject(o fyne.CanvasObject) fyne.Canvas {
	return denseCanvas{d.Driver.CanvasForObject(o)}
}

func (c denseCanvas) PixelCoordinateForPosition(p fyne.Position) (x, y int) {
	return c.Canvas.PixelCoordinateForPosition(fyne.NewPos(2*p.X, 2*p.Y))
}

// On a dense screen a raster has the pixels that the toolkit asks for.
func TestRasterOnADenseScreen(t *testing.T) {
	app := test.NewTempApp(t)
	r := xwidget.NewRaster(20, 10, func(w, h int) image.Image { return image.NewRGBA(image.Rect(0, 0, w, h)) })
	test.NewTempWindow(t, container.NewWithoutLayout(r))
	fyne.SetCurrentApp(denseApp{app})
	t.Cleanup(func() { fyne.SetCurrentApp(app) })
	r.Resize(fyne.NewSize(40, 30.25))
	if device, scale := r.Device(); device != image.Pt(80, 60) || scale != 2 {
		t.Errorf("%v pixels at a scale of %v", device, scale)
	}
}
