package aids

import (
	"image"
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"pgregory.net/rapid"

	"blik/app/view"
	"blik/processing"
)

// Cards lie inside the area without overlap, the most important first.
func TestPlaceCards(t *testing.T) {
	t.Parallel()
	card := fyne.NewSize(230, 150)
	at, fits := placeCards(fyne.NewSize(800, 600), []fyne.Size{card, card, card, card})
	want := []fyne.Position{{X: 8, Y: 442}, {X: 562, Y: 442}, {X: 562, Y: 8}, {X: 8, Y: 8}}
	for i := range want {
		if at[i] != want[i] || !fits[i] {
			t.Errorf("card %d: %v, %v", i, at[i], fits[i])
		}
	}
	if _, fits := placeCards(fyne.NewSize(400, 600), []fyne.Size{{}, card, card, card}); fits[0] || !fits[1] ||
		!fits[2] || fits[3] {
		t.Errorf("narrow area: %v", fits)
	}
	rapid.Check(t, func(r *rapid.T) {
		area := fyne.NewSize(float32(rapid.IntRange(0, 900).Draw(r, "w")), float32(rapid.IntRange(0, 700).Draw(r, "h")))
		sizes := make([]fyne.Size, 4)
		for i := range sizes {
			if rapid.Bool().Draw(r, "wanted") {
				sizes[i] = fyne.NewSize(float32(rapid.IntRange(1, 400).Draw(r, "cw")),
					float32(rapid.IntRange(1, 400).Draw(r, "ch")))
			}
		}
		at, fits := placeCards(area, sizes)
		for i := range sizes {
			if !fits[i] {
				continue
			}
			if at[i].X < 0 || at[i].Y < 0 || at[i].X+sizes[i].Width > area.Width ||
				at[i].Y+sizes[i].Height > area.Height {
				r.Fatalf("card %d lies at %v in %v", i, at[i], area)
			}
			for j := range i {
				if fits[j] && at[i].X < at[j].X+sizes[j].Width && at[j].X < at[i].X+sizes[i].Width &&
					at[i].Y < at[j].Y+sizes[j].Height && at[j].Y < at[i].Y+sizes[i].Height {
					r.Fatalf("cards %d and %d overlap", i, j)
				}
			}
		}
	})
}

// The navigator's frame is around the visible part, for any orientation of the picture.
func TestFrameOfTheNavigator(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 5000).Draw(r, "w"), rapid.IntRange(1, 5000).Draw(r, "h"))
		turn := view.NewTurn(rapid.IntRange(1, 8).Draw(r, "orientation"), size)
		device := image.Pt(rapid.IntRange(1, 2000).Draw(r, "dw"), rapid.IntRange(1, 2000).Draw(r, "dh"))
		small := fyne.NewSize(navigatorWidth, navigatorHeight)
		scale := rapid.SampledFrom([]float64{1, 1.25, 1.5, 2}).Draw(r, "scale")
		fit := view.Transform{Turn: turn}.Fit(size, image.Pt(int(navigatorWidth*scale), int(navigatorHeight*scale)))
		seen := view.Transform{Turn: turn}.Fit(size, device)
		seen.Zoom *= rapid.Float64Range(1, 20).Draw(r, "zoom")
		middle := processing.Point{X: rapid.Float64Range(0, 1).Draw(r, "x") * float64(size.X),
			Y: rapid.Float64Range(0, 1).Draw(r, "y") * float64(size.Y)}
		seen = seen.CentreOn(middle, device).Clamp(size, device)
		at, extent := frameIn(fit, seen, device, small, scale)
		for _, corner := range []processing.Point{
			{}, {X: float64(device.X)}, {Y: float64(device.Y)}, {X: float64(device.X), Y: float64(device.Y)},
		} {
			p := fit.ImageToScreen(seen.ScreenToImage(corner))
			x, y := min(max(p.X/scale, 0), navigatorWidth), min(max(p.Y/scale, 0), navigatorHeight)
			if x < float64(at.X)-0.01 || x > float64(at.X+extent.Width)+0.01 || y < float64(at.Y)-0.01 ||
				y > float64(at.Y+extent.Height)+0.01 {
				r.Fatalf("%v of the viewport is at (%v, %v), the frame at %v of %v", corner, x, y, at, extent)
			}
		}
	})
}

// A histogram is as high as its largest bin, wherever that is, and its thresholds are visible.
func TestHistogramIsDrawn(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 7, 64, 300} {
		h := histogram{all: make([]uint64, 64), part: make([]uint64, 64), marks: []float64{0.5, -1, 2, math.NaN()}}
		h.all[3], h.part[3] = 1000, 10
		dst := image.NewRGBA(image.Rect(0, 0, width, 40))
		h.draw(dst, 0, color.White, color.Black)
		highest := 0
		for x := range width {
			if c := dst.RGBAAt(x, 0); c.R > 100 && c.R < 200 && c.R == c.B {
				highest++
			}
		}
		if width > 1 && (highest == 0 || highest > (width+63)/64) {
			t.Errorf("width %d: %d columns reach the top", width, highest)
		}
		marked := 0
		for y := range 40 {
			if dst.RGBAAt(width/2, y) == (color.RGBA{255, 210, 0, 255}) {
				marked++
			}
		}
		if marked < 10 {
			t.Errorf("width %d: the threshold is not visible", width)
		}
	}
	empty := histogram{}
	empty.draw(image.NewRGBA(image.Rect(0, 0, 5, 5)), 2, color.White, color.Black)
}

// The frame of the loupe is around the pixel under the pointer, whatever the size of the loupe in device pixels.
func TestLoupeFramesThePixel(t *testing.T) {
	test.NewTempApp(t)
	pic := &processing.Picture{Width: 40, Height: 30, Channels: 1, U8: make([]uint8, 40*30)}
	for i := range pic.U8 {
		pic.U8[i] = 50
	}
	at := image.Pt(21, 17)
	pic.U8[at.Y*pic.Width+at.X] = 200
	for orientation := 1; orientation <= 8; orientation++ {
		p, err := view.NewPyramid(t.Context(), pic, view.WithOrientation(orientation))
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []image.Point{{200, 150}, {250, 187}, {301, 225}} {
			for zoom := 2; zoom <= 64; zoom *= 2 {
				g := NewGlass()
				g.Magnify(float64(zoom))
				g.SetPictures(p, p, nil, nil, g.look)
				g.Show(at)
				drawn := g.draw(size.X, size.Y).(*image.RGBA)
				of := func(level uint8) (r image.Rectangle) {
					for y := range size.Y {
						for x := range size.X {
							if drawn.RGBAAt(x, y).R == level {
								r = r.Union(image.Rect(x, y, x+1, y+1))
							}
						}
					}
					return r
				}
				pixel, light := of(200), of(255)
				if want := pixel.Inset(-2 - max(0, (6-zoom)/2)); pixel.Dx() != zoom || pixel.Dy() != zoom || light != want {
					t.Errorf("orientation %d, %v, zoom %d: the pixel is at %v, the frame at %v, want %v", orientation, size,
						zoom, pixel, light, want)
				}
			}
		}
	}
}
