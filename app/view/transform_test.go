package view

import (
	"image"
	"math"
	"testing"

	"blik/processing"

	"pgregory.net/rapid"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func drawTransform(t *rapid.T) Transform {
	return Transform{
		Zoom: math.Max(MinZoom,
			math.Min(math.Exp(rapid.Float64Range(math.Log(MinZoom), math.Log(MaxZoom)).Draw(t, "log zoom")), MaxZoom)),
		X: rapid.Float64Range(-20000, 20000).Draw(t, "X"),
		Y: rapid.Float64Range(-20000, 20000).Draw(t, "Y"),
	}
}

func drawScreen(t *rapid.T) processing.Point {
	return processing.Point{X: float64(rapid.IntRange(0, 4000).Draw(t, "sx")),
		Y: float64(rapid.IntRange(0, 3000).Draw(t, "sy"))}
}

func drawSize(t *rapid.T, label string, most int) image.Point {
	return image.Pt(rapid.IntRange(1, most).Draw(t, label+" width"), rapid.IntRange(1, most).Draw(t, label+" height"))
}

func TestZoomKeepsThePointUnderTheCursor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, p := drawTransform(t), drawScreen(t)
		q := a.ScreenToImage(p)
		factor := rapid.Float64Range(0.1, 10).Draw(t, "factor")
		b := a.ZoomAbout(p, factor)
		if got := b.ImageToScreen(q); !near(got.X, p.X, 1e-6) || !near(got.Y, p.Y, 1e-6) {
			t.Fatalf("the point under the cursor moved from %v to %v", p, got)
		}
		if b.Zoom < MinZoom || b.Zoom > MaxZoom {
			t.Fatalf("zoom %v is out of the limits", b.Zoom)
		}
		back := b.WithZoom(p, a.Zoom)
		if !near(back.X, a.X, 1e-6) || !near(back.Y, a.Y, 1e-6) || back.Zoom != a.Zoom {
			t.Fatalf("there and back: %v became %v", a, back)
		}
	})
}

func TestScreenAndImageAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, p := drawTransform(t), drawScreen(t)
		if got := a.ImageToScreen(a.ScreenToImage(p)); !near(got.X, p.X, 1e-6) || !near(got.Y, p.Y, 1e-6) {
			t.Fatalf("%v came back as %v", p, got)
		}
	})
}

func TestPanMovesByDevicePixels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, p, d := drawTransform(t), drawScreen(t), drawScreen(t)
		q := a.ScreenToImage(p)
		got := a.Pan(d.X, d.Y).ImageToScreen(q)
		if !near(got.X, p.X+d.X, 1e-6) || !near(got.Y, p.Y+d.Y, 1e-6) {
			t.Fatalf("panned by %v, %v went to %v", d, p, got)
		}
	})
	// At powers of two offsets are exact, and so is the way back.
	a := Transform{Zoom: 4, X: 10, Y: 20}
	if b := a.Pan(7, -3).Pan(-7, 3); b != a {
		t.Errorf("pan and back gave %v, want %v", b, a)
	}
}

func TestFitShowsTheWholePicture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		picture, viewport := drawSize(t, "picture", 40000), drawSize(t, "viewport", 4000)
		f := Transform{}.Fit(picture, viewport)
		a := f.ImageToScreen(processing.Point{})
		b := f.ImageToScreen(processing.Point{X: float64(picture.X), Y: float64(picture.Y)})
		const slack = 1e-6
		if a.X < -slack || a.Y < -slack || b.X > float64(viewport.X)+slack || b.Y > float64(viewport.Y)+slack {
			t.Fatalf("picture %v in viewport %v reaches from %v to %v", picture, viewport, a, b)
		}
		if !near(a.X, float64(viewport.X)-b.X, slack) || !near(a.Y, float64(viewport.Y)-b.Y, slack) {
			t.Fatalf("picture %v is not in the middle of %v", picture, viewport)
		}
		if f.Zoom < MaxZoom && !near(b.X-a.X, float64(viewport.X), slack) &&
			!near(b.Y-a.Y, float64(viewport.Y), slack) {
			t.Fatalf("picture %v could be larger in %v", picture, viewport)
		}
	})
	if f := (Transform{}).Fit(image.Pt(100, 50), image.Point{}); !(f.Zoom > 0) || math.IsInf(f.X, 0) {
		t.Errorf("Fit in a viewport without area = %v", f)
	}
}

func TestClampKeepsThePictureInSight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		picture, viewport := drawSize(t, "picture", 10000), drawSize(t, "viewport", 4000)
		a := drawTransform(t)
		b := a.Clamp(picture, viewport)
		if b.Zoom != a.Zoom {
			t.Fatalf("Clamp changed the zoom")
		}
		if again := b.Clamp(picture, viewport); !near(again.X, b.X, 1e-6) || !near(again.Y, b.Y, 1e-6) {
			t.Fatalf("clamped twice: %v, then %v", b, again)
		}
		for _, axis := range []struct{ offset, length, shown float64 }{
			{b.X, float64(picture.X), float64(viewport.X) / b.Zoom},
			{b.Y, float64(picture.Y), float64(viewport.Y) / b.Zoom},
		} {
			middle := axis.offset + axis.shown/2
			if axis.length <= axis.shown && !near(middle, axis.length/2, 1e-6) {
				t.Fatalf("smaller than the viewport but not centred: %+v", axis)
			}
			if middle < -1e-6 || middle > axis.length+1e-6 {
				t.Fatalf("the middle of the viewport left the picture: %+v", axis)
			}
		}
	})
}

func TestNextZoom(t *testing.T) {
	t.Parallel()
	steps := ZoomSteps()
	if steps[0] != MinZoom || steps[len(steps)-1] != MaxZoom {
		t.Errorf("steps go from %v to %v", steps[0], steps[len(steps)-1])
	}
	z := steps[0]
	for _, want := range steps[1:] {
		if z = NextZoom(z, 1); z != want {
			t.Fatalf("up: %v, want %v", z, want)
		}
	}
	if NextZoom(z, 1) != MaxZoom {
		t.Error("a step above the last one")
	}
	for i := len(steps) - 2; i >= 0; i-- {
		if z = NextZoom(z, -1); z != steps[i] {
			t.Fatalf("down: %v, want %v", z, steps[i])
		}
	}
	if NextZoom(z, -1) != MinZoom || NextZoom(0.004, -1) != 0.004 {
		t.Error("a step below the first one")
	}
	if NextZoom(0.3, 1) != 1./3 || NextZoom(0.3, -1) != 0.25 {
		t.Error("wrong steps beside 30 %")
	}
}

func TestZoomOfAHugePictureDoesNotJump(t *testing.T) {
	t.Parallel()
	a := Transform{}.Fit(image.Pt(400000, 300000), image.Pt(1600, 1000))
	if a.Zoom >= MinZoom {
		t.Fatal("the picture is too small for this test")
	}
	if b := a.ZoomAbout(processing.Point{X: 5, Y: 5}, 0.5); b.Zoom != a.Zoom {
		t.Errorf("zooming out of the fit went from %v to %v", a.Zoom, b.Zoom)
	}
}

func TestReveal(t *testing.T) {
	t.Parallel()
	viewport := image.Pt(1000, 800)
	r := image.Rect(100, 100, 110, 104)
	a := Transform{Zoom: 0.1}.Reveal(r, viewport, 16)
	if p := a.ImageToScreen(processing.Point{X: 105, Y: 102}); a.Zoom != 16 || !near(p.X, 500, 1e-6) ||
		!near(p.Y, 400, 1e-6) {
		t.Errorf("a small rectangle: %v, its middle at %v", a, p)
	}
	if a = a.Reveal(image.Rect(0, 0, 2000, 100), viewport, 16); a.Zoom != 0.25 {
		t.Errorf("a wide rectangle is shown at %v, want half of the viewport's width", a.Zoom)
	}
	if b := a.Reveal(image.Rectangle{}, viewport, 16); b != a {
		t.Error("an empty rectangle moved the view")
	}
}

func TestVisibleAndDeviceRect(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		picture, viewport := drawSize(t, "picture", 3000), drawSize(t, "viewport", 2000)
		a := drawTransform(t).Clamp(picture, viewport)
		v := a.Visible(picture, viewport)
		x, y := rapid.IntRange(0, viewport.X-1).Draw(t, "x"), rapid.IntRange(0, viewport.Y-1).Draw(t, "y")
		p := a.Pixel(processing.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5})
		if p.In(image.Rectangle{Max: picture}) && !p.In(v) {
			t.Fatalf("pixel %v shows at %d, %d but is not in %v", p, x, y, v)
		}
		if r := a.DeviceRect(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))}); !image.Pt(x, y).In(r) {
			t.Fatalf("device pixel %d, %d shows %v, whose device rectangle is %v", x, y, p, r)
		}
	})
}

// Pixel returns the image pixel under a point of the viewport; it may lie outside the picture.
func (t Transform) Pixel(p processing.Point) image.Point {
	q := t.ScreenToImage(p)
	return image.Pt(int(math.Floor(q.X)), int(math.Floor(q.Y)))
}

// ZoomAbout multiplies the zoom by factor, clamped as by WithZoom. The image point under the viewport point p stays
// there.
func (t Transform) ZoomAbout(p processing.Point, factor float64) Transform {
	return t.WithZoom(p, t.Zoom*factor)
}
