package session_test

import (
	"image"
	"image/color"
	"testing"

	"blik/app/document"
)

// A close-up shows the pixels around a finding at 200 %, before and, once it is corrected, after.
func TestCloseups(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	f.Detect(f.outcome)
	f.settle()
	spot := f.Document().Spots()[0]
	before, after := f.Closeups(spot, 20)
	if before.Bounds() != image.Rect(0, 0, 20, 20) || after != nil {
		t.Fatalf("%v, %v before the correction", before.Bounds(), after)
	}
	f.CorrectAll(f.outcome)
	f.settle()
	spot = f.Document().Spots()[0]
	before, after = f.Closeups(spot, 20)
	// The finding at (5, 4) is in the middle of the ten columns from 0 and of the ten rows from −1.
	for y := range 20 {
		for x := range 20 {
			want := color.NRGBA{100, 100, 100, 255}
			if y < 2 {
				want = color.NRGBA{118, 118, 118, 255}
			}
			if got := before.At(x, y); got != want {
				t.Fatalf("(%d, %d) was %v, want %v", x, y, got, want)
			}
			if x/2 == 5 && y/2 == 5 {
				want = color.NRGBA{7, 7, 7, 255}
			}
			if got := after.At(x, y); got != want {
				t.Fatalf("(%d, %d) is %v, want %v", x, y, got, want)
			}
		}
	}
	// A finding larger than the close-up is shown as a whole, even if the picture is smaller.
	f.BeginStroke(document.Brush{Radius: 10}, f.middle())
	f.EndStroke()
	for _, s := range f.Document().Spots() {
		for _, side := range []int{1, 2, 19, 200} {
			before, _ := f.Closeups(s, side)
			if b := before.Bounds(); b.Empty() || b.Dx() > side || b.Dy() > side {
				t.Errorf("finding %v in %d pixels: %v", s.Bounds(), side, b)
			}
		}
	}
}
