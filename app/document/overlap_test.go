package document

import (
	"image"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

// slowOverlap counts pixel by pixel, and finding by finding.
func slowOverlap(a, b *processing.Mask) Overlap {
	var sum Overlap
	for i := range a.Pix {
		switch here, there := a.Pix[i] >= processing.MaskLevel, b.Pix[i] >= processing.MaskLevel; {
		case here && there:
			sum.Both++
		case here:
			sum.Here++
		case there:
			sum.There++
		}
	}
	apart := func(m, other *processing.Mask) (apart, all int) {
		for _, spot := range testpic.Flood(m) {
			all++
			meets := false
			for _, p := range spot {
				meets = meets || other.Pix[p.Y*m.Width+p.X] >= processing.MaskLevel
			}
			if !meets {
				apart++
			}
		}
		return apart, all
	}
	var all int
	sum.SpotsThere, _ = apart(b, a)
	sum.SpotsHere, all = apart(a, b)
	sum.SpotsBoth = all - sum.SpotsHere
	return sum
}

// Overlap agrees with a slow count, also after one of the masks has changed.
func TestOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.SampledFrom([]int{1, 7, 128, 150, 261}).Draw(t, "w"), rapid.SampledFrom([]int{1, 9, 131}).Draw(t, "h")
		d := newDocument(t, w, h)
		other := drawMask(t, w, h)
		o, err := d.NewOther(other)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := d.LoadMask(drawMask(t, w, h)); err != nil {
				t.Fatal(err)
			}
			got, want := d.Overlap(o), slowOverlap(d.Mask(), other)
			if got != want {
				t.Fatalf("%+v, want %+v", got, want)
			}
			if a := got.Agreement(); a < 0 || a > 1 || (a == 1) != (want.Here == 0 && want.There == 0) {
				t.Fatalf("agreement %g of %+v", a, want)
			}
		}
	})
}

func TestOverlapOfAnotherSize(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 5, 4)
	for _, size := range []image.Point{{4, 5}, {5, 3}, {}} {
		if _, err := d.NewOther(processing.NewMask(size.X, size.Y)); err == nil {
			t.Errorf("a mask of %v was taken", size)
		}
	}
	if _, err := d.NewOther(nil); err == nil {
		t.Error("no mask was taken")
	}
}
