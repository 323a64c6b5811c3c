package document

import (
	"image"
	"slices"
	"testing"

	"blik/processing"
)

// named returns the numbers of the findings in the mask, in reading order, and those of ignored ones.
func named(d *Document) (inMask, ignored []int) {
	for _, s := range d.Spots() {
		inMask = append(inMask, s.Number)
	}
	for _, s := range d.Ignored() {
		ignored = append(ignored, s.Number)
	}
	return inMask, ignored
}

func wantNames(t *testing.T, what string, d *Document, inMask, ignored []int) {
	t.Helper()
	if got, out := named(d); !slices.Equal(got, inMask) || !slices.Equal(out, ignored) {
		t.Errorf("%s: numbers %v, of ignored ones %v; want %v and %v", what, got, out, inMask, ignored)
	}
}

// block marks a rectangle, or erases it.
func block(t *testing.T, d *Document, x0, y0, x1, y1 float64, how Combine) {
	t.Helper()
	r := &processing.Region{Shape: processing.RectangleShape, Points: []processing.Point{{X: x0, Y: y0}, {X: x1, Y: y1}}}
	if _, err := d.FillShape(r, how); err != nil {
		t.Fatal(err)
	}
	// Like the window, look at the findings after each step.
	d.Spots()
}

// A finding keeps its number whatever is decided about others, and has it again when it is restored.
func TestNumbersOutlastDecisions(t *testing.T) {
	d, _ := dots(t, 5, 20, 40)
	wantNames(t, "found", d, []int{1, 2, 3}, nil)
	d.Ignore(d.Spots()[:1])
	wantNames(t, "the first is ignored", d, []int{2, 3}, []int{1})
	d.Undo()
	wantNames(t, "undone", d, []int{1, 2, 3}, nil)
	d.Redo()
	d.RemoveSpot(20, 5)
	wantNames(t, "two are ignored", d, []int{3}, []int{1, 2})
	d.Keep(d.Ignored()[1:])
	wantNames(t, "the second is kept", d, []int{2, 3}, []int{1})
	d.Ignore(d.Spots()[:1])
	d.ApplyResult(detected(5, 20, 40), nil)
	wantNames(t, "searched again", d, []int{3}, []int{1, 2})
}

// What is marked by hand continues the numbers of the detection, and an undo restores its number.
func TestNumbersOfWhatIsMarked(t *testing.T) {
	d, _ := dots(t, 5, 20)
	block(t, d, 30, 1, 36, 4, Add)
	wantNames(t, "marked", d, []int{3, 1, 2}, nil)
	d.Undo()
	block(t, d, 50, 10, 56, 14, Add)
	wantNames(t, "another is marked", d, []int{1, 2, 4}, nil)
	block(t, d, 30, 1, 36, 4, Add)
	wantNames(t, "the first is marked again", d, []int{3, 1, 2, 4}, nil)
	block(t, d, 5, 5, 23, 7, Add)
	wantNames(t, "1 and 2 are joined", d, []int{3, 1, 4}, nil)
	d.Undo()
	wantNames(t, "and parted", d, []int{3, 1, 2, 4}, nil)
	d.ClearMask()
	block(t, d, 50, 10, 56, 14, Add)
	wantNames(t, "the mask is made anew", d, []int{1}, nil)
	d.Undo()
	d.Undo()
	wantNames(t, "and is the old one again", d, []int{3, 1, 2, 4}, nil)
}

// The largest piece of a finding that is cut keeps its number, even if it becomes the smaller one later.
func TestNumbersOfPieces(t *testing.T) {
	d, _ := dots(t, 5)
	block(t, d, 20, 5, 40, 15, Add)
	block(t, d, 28, 5, 30, 15, Subtract)
	wantNames(t, "cut", d, []int{1, 3, 2}, nil)
	for x := 39.0; x > 35; x-- {
		block(t, d, x, 5, 40, 15, Subtract)
		wantNames(t, "the larger piece is shortened", d, []int{1, 3, 2}, nil)
	}
	block(t, d, 20, 5, 40, 15, Add)
	wantNames(t, "joined", d, []int{1, 2}, nil)

	d, _ = dots(t, 5)
	block(t, d, 5, 5, 7, 6, Subtract)
	wantNames(t, "half is erased", d, []int{1}, nil)
}

// While a stroke is open, no numbers are assigned that would differ at its end.
func TestNumbersDuringAStroke(t *testing.T) {
	d, _ := dots(t, 5)
	d.BeginStroke(Brush{Radius: 2}, 30, 5)
	wantNames(t, "the stroke begins", d, []int{2, 1}, nil)
	d.CancelStroke()
	d.BeginStroke(Brush{Radius: 2}, 50, 5)
	d.EndStroke()
	wantNames(t, "another one", d, []int{2, 1}, nil)
}

// Restored work has the same numbers as before.
func TestNumbersAreRestored(t *testing.T) {
	d, _ := dots(t, 5, 20, 40)
	block(t, d, 50, 1, 56, 4, Add)
	block(t, d, 30, 1, 36, 4, Add)
	wantNames(t, "marked", d, []int{5, 4, 1, 2, 3}, nil)
	d.Ignore(d.Spots()[2:4])
	want, ignored := named(d)
	w := d.Snapshot().Work()
	again, err := New("", d.Picture())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Restore(w); err != nil {
		t.Fatal(err)
	}
	wantNames(t, "restored", again, want, ignored)
	block(t, again, 1, 15, 4, 18, Add)
	wantNames(t, "marked later", again, append(slices.Clone(want), 6), ignored)

	d.LoadMask(detected(5, 20).Mask)
	d.RemoveSpot(5, 5)
	if _, err := again.Restore(d.Snapshot().Work()); err != nil {
		t.Fatal(err)
	}
	wantNames(t, "restored from a loaded mask", again, []int{2}, nil)

	w.Numbers = []Numbered{{Number: 0, Pixels: []image.Point{{X: 1, Y: 1}}}}
	if _, err := again.Restore(w); err == nil {
		t.Error("a number 0 was restored")
	}
}

// A mask is blank only if nothing of it is marked, not even softly.
func TestBlank(t *testing.T) {
	d, _ := dots(t, 5)
	want := func(blank bool) {
		t.Helper()
		if d.Blank() != blank {
			t.Errorf("blank is %v, want %v", !blank, blank)
		}
	}
	want(false)
	d.RemoveSpot(5, 5)
	want(true)
	soft := processing.NewMask(60, 20)
	soft.Pix[7*60+3] = 1
	if _, err := d.LoadMask(soft); err != nil {
		t.Fatal(err)
	}
	want(false)
	d.Snapshot()
	want(false)
	d.ClearMask()
	want(true)
}
