package document

import (
	"bytes"
	"image"
	"slices"
	"testing"

	"blik/processing"
)

// TestMarksSurviveDetection searches again after each way to change the mask by hand, in the whole picture and in a
// region: what was marked stays, and so does what was erased.
func TestMarksSurviveDetection(t *testing.T) {
	t.Parallel()
	loaded := processing.NewMask(300, 200)
	loaded.Pix[150*300+50] = 255
	region := &processing.Region{Points: []processing.Point{{X: 20, Y: 100}, {X: 280, Y: 190}}}
	shape := &processing.Region{Points: []processing.Point{{X: 45, Y: 145}, {X: 55, Y: 155}}}
	for name, mark := range map[string]func(d *Document){
		"brush": func(d *Document) { d.BeginStroke(Brush{Radius: 3}, 50.5, 150.5); d.EndStroke() },
		"soft":  func(d *Document) { d.BeginStroke(Brush{Radius: 6, Soft: 0.5}, 50.5, 150.5); d.EndStroke() },
		"lasso": func(d *Document) { _, _ = d.FillShape(shape, Add) },
		"load":  func(d *Document) { _, _ = d.LoadMask(loaded) },
	} {
		for _, limit := range []*processing.Region{nil, region} {
			d := newDocument(t, 300, 200)
			search := func(at ...image.Point) {
				t.Helper()
				if _, err := d.ApplyResult(result(300, 200, at...), limit); err != nil {
					t.Fatal(err)
				}
			}
			search(image.Pt(60, 120), image.Pt(200, 150))
			mark(d)
			want := d.Mask().Pix[150*300+50]
			// The second search finds what is marked, the third does not.
			search(image.Pt(60, 120), image.Pt(48, 148))
			search(image.Pt(60, 120), image.Pt(200, 150))
			if got := d.Mask().Pix[150*300+50]; got != want || want == 0 {
				t.Errorf("%s, region %v: the mark is %d, was %d", name, limit != nil, got, want)
			}
			if _, ok := d.SpotAt(201, 151); !ok {
				t.Errorf("%s, region %v: the finding is missing", name, limit != nil)
			}
			if marked, _ := d.ByHand(); marked != 1 {
				t.Errorf("%s, region %v: %d marks counted", name, limit != nil, marked)
			}
		}
	}
}

// TestDecisionsSurviveSearches: what was kept stays although a search does not find it, what was ignored stays away
// although a search in between did not find it, and so does a part that was erased.
func TestDecisionsSurviveSearches(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 300, 200)
	all := []image.Point{{X: 10, Y: 10}, {X: 60, Y: 10}, {X: 210, Y: 10}}
	search := func(at ...image.Point) {
		t.Helper()
		if _, err := d.ApplyResult(result(300, 200, at...), nil); err != nil {
			t.Fatal(err)
		}
	}
	search(all...)
	if _, ok := d.Keep(d.Spots()[:1]); !ok {
		t.Fatal("not kept")
	}
	if _, ok := d.Ignore(d.Spots()[1:2]); !ok {
		t.Fatal("not ignored")
	}
	d.BeginStroke(Brush{Radius: 0.5, Erase: true}, 210.5, 10.5)
	d.EndStroke()
	search(all[2])
	search(all[1:]...)
	if s, ok := d.SpotAt(10, 10); !ok || s.Decision != Kept {
		t.Errorf("the kept finding: %v, %v", s.Decision, ok)
	}
	if _, ok := d.SpotAt(61, 11); ok {
		t.Error("the ignored finding is back")
	}
	if d.Mask().Pix[10*300+210] != 0 || d.Mask().Pix[10*300+211] == 0 {
		t.Error("the erased part is back, or more than it is away")
	}
	if marked, ignored := d.ByHand(); marked != 1 || ignored != 1 {
		t.Errorf("%d marked and %d ignored are counted", marked, ignored)
	}
}

// TestForget: forgetting leaves the mask of the last detection, is one step, and what was forgotten does not return.
func TestForget(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 300, 200)
	if _, ok := d.Forget(); ok {
		t.Error("there was nothing to forget")
	}
	r := result(300, 200, image.Pt(10, 10), image.Pt(210, 10))
	if _, err := d.ApplyResult(r, nil); err != nil {
		t.Fatal(err)
	}
	d.Keep(d.Spots()[:1])
	d.Ignore(d.Spots()[1:])
	d.BeginStroke(Brush{Radius: 3}, 50, 150)
	d.EndStroke()
	was := slices.Clone(d.Mask().Pix)
	if _, ok := d.Forget(); !ok || !bytes.Equal(d.Mask().Pix, r.Mask.Pix) {
		t.Errorf("forgotten %v, or the mask is not that of the detection", ok)
	}
	if marked, ignored := d.ByHand(); marked+ignored != 0 || d.Decisions() != nil {
		t.Error("something is left")
	}
	d.Undo()
	if marked, ignored := d.ByHand(); marked != 2 || ignored != 1 || !bytes.Equal(d.Mask().Pix, was) {
		t.Errorf("after undoing: %d marked, %d ignored", marked, ignored)
	}
	d.Redo()
	if _, err := d.ApplyResult(r, nil); err != nil || !bytes.Equal(d.Mask().Pix, r.Mask.Pix) {
		t.Errorf("a search after forgetting: %v, or another mask", err)
	}
}

// TestRestoredMarks: marks survive a search after the work was stored and restored, also work that says nothing of them.
func TestRestoredMarks(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		d := newDocument(t, 300, 200)
		r := result(300, 200, image.Pt(10, 10))
		if _, err := d.ApplyResult(r, nil); err != nil {
			t.Fatal(err)
		}
		d.BeginStroke(Brush{Radius: 3}, 50, 150)
		d.EndStroke()
		w := d.Snapshot().Work()
		if old {
			w.Marked, w.Erased = nil, nil
		}
		again := newDocument(t, 300, 200)
		if _, err := again.Restore(w); err != nil {
			t.Fatal(err)
		}
		if _, err := again.ApplyResult(r, nil); err != nil || !bytes.Equal(again.Mask().Pix, d.Mask().Pix) {
			t.Errorf("old %v: %v, or the mark is lost", old, err)
		}
	}
}
