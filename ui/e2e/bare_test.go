package e2e

import (
	"fmt"
	"image"
	"os"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// bareWindow, in place of a language, makes this test binary show a window with a single raster of the viewport's size,
// whose pixels are ready.
const bareWindow = "bare"

// The space around the viewport in the program's window, in Fyne units.
const bareLeft, bareTop, bareRight, bareBottom = 46, 73, 404, 34

// bare is that raster. It requests a frame for each movement of the pointer and each turn of the wheel, and writes the
// same lines as an observer of the window to a log.
type bare struct {
	widget.BaseWidget
	raster *canvas.Raster
	pixels *image.RGBA
	log    *os.File
	start  time.Time
}

var (
	_ desktop.Hoverable = (*bare)(nil)
	_ fyne.Scrollable   = (*bare)(nil)
)

// runBare shows the window until it is killed.
func runBare() error {
	log, err := os.Create(os.Getenv("BLIK_UI_LOG"))
	if err != nil {
		return err
	}
	defer log.Close()
	b := &bare{log: log}
	b.raster = canvas.NewRaster(b.draw)
	b.raster.ScaleMode = canvas.ImageScalePixels
	b.ExtendBaseWidget(b)
	w := app.NewWithID("org.blik.bare").NewWindow("Blik")
	w.SetPadded(false)
	gap := func(width, height float32) fyne.CanvasObject {
		r := canvas.NewRectangle(nil)
		r.SetMinSize(fyne.NewSize(width, height))
		return r
	}
	w.SetContent(container.NewBorder(gap(0, bareTop), gap(0, bareBottom), gap(bareLeft, 0), gap(bareRight, 0), b))
	w.Resize(fyne.NewSize(1280, 800))
	w.ShowAndRun()
	return nil
}

// draw returns the ready pixels, as the window does, and measures the frame as its observer does.
func (b *bare) draw(w, h int) image.Image {
	if b.pixels == nil || b.pixels.Rect.Dx() != w || b.pixels.Rect.Dy() != h {
		b.pixels = image.NewRGBA(image.Rect(0, 0, w, h))
		for i := range b.pixels.Pix {
			b.pixels.Pix[i] = uint8(i/4) | 128
		}
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
		fmt.Fprintf(b.log, "view %.0f %.0f %d %d 1 1 0 0\n", at.X, at.Y, w, h)
	}
	b.ended()
	b.start = time.Now()
	go fyne.Do(b.ended)
	return b.pixels
}

// ended reports the current frame.
func (b *bare) ended() {
	if !b.start.IsZero() {
		fmt.Fprintf(b.log, "frame %d 0\n", time.Since(b.start).Nanoseconds())
		b.start = time.Time{}
	}
}

// MouseIn is part of desktop.Hoverable.
func (b *bare) MouseIn(*desktop.MouseEvent) {}

// MouseMoved requests a frame.
func (b *bare) MouseMoved(*desktop.MouseEvent) { b.raster.Refresh() }

// Scrolled requests a frame.
func (b *bare) Scrolled(*fyne.ScrollEvent) { b.raster.Refresh() }

// MouseOut is part of desktop.Hoverable.
func (b *bare) MouseOut() {}

// CreateRenderer is part of fyne.Widget.
func (b *bare) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.raster) }
