package view

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"

	"pgregory.net/rapid"
)

// slowUpright returns the upright position of pixel (x, y) of a file of w × h pixels, from the definition in the EXIF
// standard: which sides of the upright picture are row 0 and column 0.
func slowUpright(orientation, w, h, x, y int) (u, v int) {
	left, right, top, bottom := "left", "right", "top", "bottom"
	sides := map[int][2]string{ // row 0, column 0
		1: {top, left}, 2: {top, right}, 3: {bottom, right}, 4: {bottom, left},
		5: {left, top}, 6: {right, top}, 7: {right, bottom}, 8: {left, bottom},
	}[orientation]
	uw, uh := w, h
	if sides[0] == left || sides[0] == right {
		uw, uh = h, w
	}
	for i, n := range []int{y, x} { // n rows from row 0, then columns from column 0
		switch sides[i] {
		case left:
			u = n
		case right:
			u = uw - 1 - n
		case top:
			v = n
		case bottom:
			v = uh - 1 - n
		}
	}
	return u, v
}

// upright returns picture, mask and region of a file in upright orientation.
func upright(pic *processing.Picture, m *processing.Mask, orientation int) (*processing.Picture, *processing.Mask) {
	size := NewTurn(orientation, image.Pt(pic.Width, pic.Height)).Upright(image.Pt(pic.Width, pic.Height))
	out := *pic
	out.Width, out.Height = size.X, size.Y
	out.U8, out.U16, out.F32 = slices.Clone(pic.U8), slices.Clone(pic.U16), slices.Clone(pic.F32)
	mask := processing.NewMask(size.X, size.Y)
	for y := range pic.Height {
		for x := range pic.Width {
			u, v := slowUpright(orientation, pic.Width, pic.Height, x, y)
			mask.Pix[v*size.X+u] = m.Pix[y*pic.Width+x]
			for k := range pic.Channels {
				i, j := (v*size.X+u)*pic.Channels+k, (y*pic.Width+x)*pic.Channels+k
				switch {
				case pic.U8 != nil:
					out.U8[i] = pic.U8[j]
				case pic.U16 != nil:
					out.U16[i] = pic.U16[j]
				default:
					out.F32[i] = pic.F32[j]
				}
			}
		}
	}
	return &out, mask
}

func TestTurn(t *testing.T) {
	t.Parallel()
	const w, h = 7, 4
	for orientation := 1; orientation <= 8; orientation++ {
		n := NewTurn(orientation, image.Pt(w, h))
		for y := range h {
			for x := range w {
				u, v := slowUpright(orientation, w, h, x, y)
				p := processing.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5}
				q := processing.Point{X: float64(u) + 0.5, Y: float64(v) + 0.5}
				if got := n.ToUpright(p); got != q {
					t.Errorf("orientation %d: %v is put at %v, want %v", orientation, p, got, q)
				}
				if got := n.FromUpright(q); got != p {
					t.Errorf("orientation %d: %v comes from %v, want %v", orientation, q, got, p)
				}
				r, s := image.Rect(x, y, x+1, y+1), image.Rect(u, v, u+1, v+1)
				if got := n.rectangle(r); got != s {
					t.Errorf("orientation %d: %v becomes %v, want %v", orientation, r, got, s)
				}
				if got := n.inverse().rectangle(s); got != r && orientation > 1 {
					t.Errorf("orientation %d: %v comes from %v, want %v", orientation, s, got, r)
				}
			}
		}
	}
	for _, other := range []int{-1, 0, 1, 9, 1 << 20} {
		if n := NewTurn(other, image.Pt(w, h)); n != (Turn{}) {
			t.Errorf("orientation %d turns: %+v", other, n)
		}
	}
}

// onTheBrink reports whether rounding decides which pixel of a picture, given its upright size, a device pixel shows.
// Offsets within 1e-6 device pixels of whole ones are rounded (see newAxis).
func onTheBrink(v Transform, upright image.Point, x, y int) bool {
	for _, axis := range []struct {
		offset  float64
		size, i int
	}{{v.X, upright.X, x}, {v.Y, upright.Y, y}} {
		u := axis.offset + (float64(axis.i)+0.5)/v.Zoom
		middle := (float64(axis.size)/2 - axis.offset) * v.Zoom
		if near(u, math.Round(u), 1e-9+1e-6/v.Zoom) ||
			float64(axis.size)*v.Zoom < 1+1e-6 && near(middle, math.Round(middle), 2e-6) {
			return true
		}
	}
	return false
}

// shownAt returns the coordinate of a picture that device column or row i shows: the one under its centre. Only the
// column under the middle of a picture narrower than a column shows it.
func shownAt(offset, zoom float64, size, i int) float64 {
	if float64(size)*zoom >= 1 {
		return offset + (float64(i)+0.5)/zoom
	}
	middle := (float64(size)/2 - offset) * zoom
	if float64(i) <= middle && middle < float64(i+1) {
		return float64(size) / 2
	}
	return -1
}

// TestOrientationAgainstATurnedPicture draws files of all orientations and compares them with slowly turned copies.
func TestOrientationAgainstATurnedPicture(t *testing.T) {
	t.Parallel()
	r, slow := NewRenderer(), NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		pic := drawPicture(t, rapid.IntRange(1, 45).Draw(t, "w"), rapid.IntRange(1, 45).Draw(t, "h"))
		m := drawMask(t, pic.Width, pic.Height)
		orientation := rapid.IntRange(1, 8).Draw(t, "orientation")
		p, err := NewPyramid(context.Background(), pic, WithOrientation(orientation))
		if err != nil {
			t.Fatal(err)
		}
		r.SetPicture(p, NewMaskPyramid(m))
		turned, turnedMask := upright(pic, m, orientation)
		slow.SetPicture(pyramids(t, turned, turnedMask))

		v := drawView(t, turned.Width, turned.Height)
		// Below that, the levels and the mask's last column depend on which end of an odd side is the last.
		v.Zoom = rapid.SampledFrom([]float64{0.75, 0.9, 1, 1.2, 1.5, 2.3, 4, 9.7}).Draw(t, "zoom of level 0")
		o := drawOptions(t)
		o.Grid = false
		if v.Zoom < 1 {
			o.Mode = PictureOnly
		}
		viewport := image.Rect(0, 0, rapid.IntRange(1, 40).Draw(t, "vw"), rapid.IntRange(1, 45).Draw(t, "vh"))
		want, got := image.NewRGBA(viewport), image.NewRGBA(viewport)
		slow.Render(want, v, o)
		v.Turn = p.Turn()
		r.Render(got, v, o)
		for i := 0; i < len(got.Pix); i += 4 {
			x, y := i/4%viewport.Dx(), i/4/viewport.Dx()
			brink := false
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					brink = brink || onTheBrink(v, image.Pt(turned.Width, turned.Height), x+dx, y+dy)
				}
			}
			for k := range 4 {
				// Weights are rounded to 1/256 in the other direction.
				if !brink && !near(float64(got.Pix[i+k]), float64(want.Pix[i+k]), 2) {
					t.Fatalf("orientation %d, %+v: device pixel %d, %d is %v, want %v", orientation, v, x, y,
						got.Pix[i:i+4], want.Pix[i:i+4])
				}
			}
		}
	})
}

// TestOrientationOfReducedLevels uses sides that all levels halve evenly.
func TestOrientationOfReducedLevels(t *testing.T) {
	t.Parallel()
	pic, m := testpic.Noise(256, 128, 3, 8), testpic.Specks(256, 128)
	for orientation := 1; orientation <= 8; orientation++ {
		p, err := NewPyramid(context.Background(), pic, WithOrientation(orientation))
		if err != nil {
			t.Fatal(err)
		}
		r, slow := NewRenderer(), NewRenderer()
		r.SetPicture(p, NewMaskPyramid(m))
		turned, turnedMask := upright(pic, m, orientation)
		a, b := pyramids(t, turned, turnedMask)
		slow.SetPicture(a, b)
		for _, zoom := range []float64{0.1, 0.25, 0.37, 0.5} {
			v := Transform{Zoom: zoom, X: -3 / zoom, Y: -2 / zoom}
			want, got := image.NewRGBA(image.Rect(0, 0, 90, 70)), image.NewRGBA(image.Rect(0, 0, 90, 70))
			o := DefaultOptions()
			o.Mode = PictureOnly
			slow.Render(want, v, o)
			v.Turn = p.Turn()
			r.Render(got, v, o)
			for i := range got.Pix {
				if !near(float64(got.Pix[i]), float64(want.Pix[i]), 2) {
					t.Fatalf("orientation %d at zoom %v: byte %d is %d, want %d", orientation, zoom, i, got.Pix[i],
						want.Pix[i])
				}
			}
		}
	}
}

// TestPartOfATurnedFrame redraws what a change of the mask affects, and arbitrary parts.
func TestPartOfATurnedFrame(t *testing.T) {
	t.Parallel()
	checkPartOfAFrame(t, func(t *rapid.T) int { return rapid.IntRange(1, 8).Draw(t, "orientation") })
}

// TestTurnedTransform checks the properties of a Transform in every orientation.
func TestTurnedTransform(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file, viewport := drawSize(t, "file", 3000), drawSize(t, "viewport", 2000)
		turn := NewTurn(rapid.IntRange(1, 8).Draw(t, "orientation"), file)
		a, s := drawTransform(t), drawScreen(t)
		a.Turn = turn
		a = a.Clamp(file, viewport)
		if got := a.ImageToScreen(a.ScreenToImage(s)); !near(got.X, s.X, 1e-6) || !near(got.Y, s.Y, 1e-6) {
			t.Fatalf("%v came back as %v", s, got)
		}
		q := a.ScreenToImage(s)
		for name, b := range map[string]Transform{"zoomed": a.ZoomAbout(s, 1.7), "panned": a.Pan(5, -9).Pan(-5, 9)} {
			if got := b.ImageToScreen(q); !near(got.X, s.X, 1e-5) || !near(got.Y, s.Y, 1e-5) || b.Turn != turn {
				t.Fatalf("%s, the point under %v went to %v", name, s, got)
			}
		}
		p := image.Pt(rapid.IntRange(0, file.X-1).Draw(t, "x"), rapid.IntRange(0, file.Y-1).Draw(t, "y"))
		middle := processing.Point{X: float64(p.X) + 0.5, Y: float64(p.Y) + 0.5}
		c := a.CentreOn(middle, viewport).ImageToScreen(middle)
		if !near(c.X, float64(viewport.X)/2, 1e-5) || !near(c.Y, float64(viewport.Y)/2, 1e-5) {
			t.Fatalf("centred, %v lies at %v of %v", middle, c, viewport)
		}
		at := a.ImageToScreen(middle)
		device := image.Pt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
		box := image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))}
		if !device.In(a.DeviceRect(box)) {
			t.Fatalf("pixel %v lies at %v but its device rectangle is %v", p, at, a.DeviceRect(box))
		}
		if device.In(image.Rectangle{Max: viewport}) && !p.In(a.Visible(file, viewport)) {
			t.Fatalf("pixel %v shows at %v but is not in %v", p, at, a.Visible(file, viewport))
		}
		f := Transform{Turn: turn}.Fit(file, viewport)
		for _, corner := range []processing.Point{{}, {X: float64(file.X), Y: float64(file.Y)}} {
			if d := f.ImageToScreen(corner); d.X < -1e-6 || d.Y < -1e-6 || d.X > float64(viewport.X)+1e-6 ||
				d.Y > float64(viewport.Y)+1e-6 {
				t.Fatalf("fitted, corner %v of %v lies at %v of %v", corner, file, d, viewport)
			}
		}
	})
}

func ExampleNewTurn() {
	// A camera held upright: row 0 of the file is the right side of the scene.
	turn := NewTurn(6, image.Pt(400, 300))
	fmt.Println(turn.Upright(image.Pt(400, 300)), turn.ToUpright(processing.Point{X: 0, Y: 0}))
	// Output: (300,400) {300 0}
}
