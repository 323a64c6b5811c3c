package document

import (
	"bytes"
	"image"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// A part is only shown: everything else works as if the mask had not changed.
func TestShownPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.SampledFrom([]int{1, 130, 300}).Draw(t, "w"), rapid.SampledFrom([]int{1, 129, 200}).Draw(t, "h")
		d, plain := newDocument(t, w, h), newDocument(t, w, h)
		m := drawMask(t, w, h)
		for _, doc := range []*Document{d, plain} {
			if _, err := doc.LoadMask(m); err != nil {
				t.Fatal(err)
			}
			doc.InvertMask()
		}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
			part := drawMask(t, rapid.IntRange(1, w-x).Draw(t, "pw"), rapid.IntRange(1, h-y).Draw(t, "ph"))
			was := bytes.Clone(d.Mask().Pix)
			dirty, err := d.ShowPart(part, image.Pt(x, y))
			if err != nil {
				t.Fatal(err)
			}
			outsideOf(t, "part", d.Mask().Pix, was, w, dirty)
			want := bytes.Clone(part.Pix)
			if d.hand != nil {
				marked, erased := d.hand.marked.unpack(w, h), d.hand.erased.unpack(w, h)
				for i, v := range want {
					at := (y+i/part.Width)*w + x + i%part.Width
					want[i] = max(min(v, 255-erased.Pix[at]), marked.Pix[at])
				}
			}
			for j := range part.Height {
				if row := d.Mask().Pix[(y+j)*w+x:][:part.Width]; !bytes.Equal(row, want[j*part.Width:][:part.Width]) {
					t.Fatalf("row %d of the part is not shown", j)
				}
			}
			if !bytes.Equal(d.Snapshot().Mask().Pix, plain.Mask().Pix) || d.Stats() != plain.Stats() {
				t.Fatal("the part is kept, or counted")
			}
			do := rapid.SampledFrom([]func(d *Document){
				func(d *Document) { d.BeginStroke(Brush{Radius: 9}, 20, 20); d.EndStroke() },
				func(d *Document) { d.BeginStroke(Brush{Radius: 9}, 20, 20); d.CancelStroke() },
				func(d *Document) { d.Undo() }, func(d *Document) { d.Redo() }, func(d *Document) { d.InvertMask() },
				func(d *Document) { d.DropPart() }, func(d *Document) { d.GoTo(0) },
			}).Draw(t, "next")
			do(d)
			do(plain)
			d.DropPart()
			if !bytes.Equal(d.Mask().Pix, plain.Mask().Pix) {
				t.Fatal("the mask is not what it would be without the part")
			}
		}
	})
}

// Only the search region of a part is shown, and a part outside the picture is an error.
func TestShownPartKeepsToTheRegion(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 20, 10)
	if err := d.SetRegion(&processing.Region{Points: []processing.Point{{X: 5, Y: 2}, {X: 9, Y: 6}}}); err != nil {
		t.Fatal(err)
	}
	full := processing.NewMask(8, 8)
	for i := range full.Pix {
		full.Pix[i] = 255
	}
	if _, err := d.ShowPart(full, image.Pt(1, 1)); err != nil {
		t.Fatal(err)
	}
	for i, v := range d.Mask().Pix {
		if in := image.Pt(i%20, i/20).In(image.Rect(5, 2, 9, 6)); in != (v == 255) {
			t.Fatalf("pixel %d is %d", i, v)
		}
	}
	for _, at := range []image.Point{{-1, 0}, {13, 0}, {0, 3}} {
		if _, err := d.ShowPart(full, at); err == nil {
			t.Errorf("a part at %v was taken", at)
		}
	}
}
