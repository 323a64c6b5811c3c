package document

import (
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// dots returns a document of 60 × 20 pixels in which glints of 2 × 2 pixels were found at the given positions.
func dots(t *testing.T, xs ...int) (*Document, *detect.Found) {
	t.Helper()
	d, err := New("", testpic.Flat(60, 20, 3, 100))
	if err != nil {
		t.Fatal(err)
	}
	r := detected(xs...)
	if _, err := d.ApplyResult(r, nil); err != nil {
		t.Fatal(err)
	}
	return d, r
}

func detected(xs ...int) *detect.Found {
	r := &detect.Found{Mask: processing.NewMask(60, 20)}
	for i, x := range xs {
		f := detect.Finding{ID: i + 1, Left: x, Top: 5, Width: 2, Height: 2, Area: 4, Score: float64(10 * x)}
		for y := 5; y < 7; y++ {
			f.Runs = append(f.Runs, processing.Run{Y: y, X0: x, X1: x + 2})
			r.Mask.Pix[y*60+x], r.Mask.Pix[y*60+x+1] = 255, 255
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

func decisions(d *Document) (list []Decision) {
	for _, s := range d.Spots() {
		list = append(list, s.Decision)
	}
	return list
}

// A kept finding is marked as such, an ignored one leaves the mask and can be restored, and each is one step.
func TestDecide(t *testing.T) {
	d, _ := dots(t, 5, 20, 40)
	if _, ok := d.Keep(d.Spots()[1:2]); !ok {
		t.Fatal("nothing was kept")
	}
	if got := decisions(d); !slices.Equal(got, []Decision{Undecided, Kept, Undecided}) {
		t.Fatalf("decisions %v", got)
	}
	if _, ok := d.Keep(d.Spots()[1:2]); ok {
		t.Error("what is kept was kept again")
	}
	d.SelectSpot(d.Spots()[0])
	dirty, ok := d.Ignore([]Spot{d.Spots()[0], d.Spots()[2]})
	if !ok || dirty.Empty() || len(d.Spots()) != 1 || len(d.Ignored()) != 2 {
		t.Fatalf("ignored %v, changed %v; left %d, ignored %d", ok, dirty, len(d.Spots()), len(d.Ignored()))
	}
	s, ok := d.Selected()
	if !ok || s.Decision != Ignored || s.ID != 0 || s.Left != 5 {
		t.Errorf("selected is %+v, %v", s, ok)
	}
	if _, ok := d.Ignore(d.Ignored()); ok {
		t.Error("what is ignored was ignored again")
	}
	// Keeping an ignored finding restores it.
	if _, ok := d.Keep(d.Ignored()[:1]); !ok {
		t.Fatal("the ignored finding was not kept")
	}
	if got := decisions(d); !slices.Equal(got, []Decision{Kept, Kept}) || len(d.Ignored()) != 1 {
		t.Errorf("decisions %v, %d ignored", got, len(d.Ignored()))
	}
	for range 3 {
		d.Undo()
	}
	if got := decisions(d); !slices.Equal(got, []Decision{Undecided, Undecided, Undecided}) || len(d.Ignored()) != 0 {
		t.Errorf("after undoing: %v, %d ignored", got, len(d.Ignored()))
	}
	for range 3 {
		d.Redo()
	}
	if got := decisions(d); !slices.Equal(got, []Decision{Kept, Kept}) || len(d.Ignored()) != 1 {
		t.Errorf("after redoing: %v, %d ignored", got, len(d.Ignored()))
	}
}

// Decisions survive another detection: a finding stays ignored if at least half of it was ignored before.
func TestDecisionsOutliveDetection(t *testing.T) {
	d, _ := dots(t, 5, 20, 40)
	d.Keep(d.Spots()[:1])
	d.Ignore(d.Spots()[2:])
	again := detected(5, 20, 41, 50)
	before := slices.Clone(again.Mask.Pix)
	if _, err := d.ApplyResult(again, nil); err != nil {
		t.Fatal(err)
	}
	if got := decisions(d); !slices.Equal(got, []Decision{Kept, Undecided, Undecided}) || d.Spots()[2].Left != 50 {
		t.Errorf("decisions %v, last at %d", got, d.Spots()[len(d.Spots())-1].Left)
	}
	if n := d.Ignored(); len(n) != 1 || n[0].Left != 41 {
		t.Errorf("ignored %+v", n)
	}
	if !slices.Equal(again.Mask.Pix, before) {
		t.Error("the mask of the result was changed")
	}
	// A large finding of which only a small part was ignored is a new one, without that part.
	large := detected(5, 20)
	f := detect.Finding{ID: 3, Left: 38, Top: 5, Width: 12, Height: 1, Area: 12,
		Runs: []processing.Run{{Y: 5, X0: 38, X1: 50}}}
	for x := 38; x < 50; x++ {
		large.Mask.Pix[5*60+x] = 255
	}
	large.Findings = append(large.Findings, f)
	if _, err := d.ApplyResult(large, nil); err != nil {
		t.Fatal(err)
	}
	if len(d.Spots()) != 4 || len(d.Ignored()) != 0 || d.Mask().Pix[5*60+40] != 0 {
		t.Errorf("%d findings, %d ignored", len(d.Spots()), len(d.Ignored()))
	}
}

// A mask that was replaced ignores no findings, and neither does the cleanup of the mask.
func TestWhatIsNotIgnored(t *testing.T) {
	d, _ := dots(t, 5, 20)
	d.ClearMask()
	if n := len(d.Ignored()); n != 0 {
		t.Errorf("%d findings of a cleared mask count as ignored", n)
	}
	if _, err := d.ApplyResult(detected(5, 20), nil); err != nil {
		t.Fatal(err)
	}
	if n := len(d.Spots()); n != 2 {
		t.Errorf("%d findings after clearing and detecting", n)
	}
	clean := detected(5, 20)
	clear(clean.Mask.Pix[:6*60+10])
	for y := range 20 {
		clear(clean.Mask.Pix[y*60 : y*60+10])
	}
	if _, err := d.ApplyResult(clean, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(d.Ignored()); n != 0 {
		t.Errorf("%d findings that the cleanup took away count as ignored", n)
	}
	d.Undo()
	d.Undo()
	d.Undo()
	d.Ignore(d.Spots()[:1])
	if n := len(d.Ignored()); n != 1 {
		t.Errorf("after undoing the clearing %d are ignored", n)
	}
}
