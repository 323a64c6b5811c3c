package document

import (
	"bytes"
	"image"
	"math"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"

	"pgregory.net/rapid"
)

func TestPackedTileComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, tileSide).Draw(t, "w"), rapid.IntRange(1, tileSide).Draw(t, "h")
		m := drawMask(t, w, h)
		r := image.Rect(0, 0, w, h)
		var scratch tileBuffer
		data := packTile(m.Pix, w, r, &scratch)
		if len(data) > w*h {
			t.Fatalf("%d bytes for %d pixels", len(data), w*h)
		}
		got := bytes.Repeat([]byte{77}, w*h)
		data.unpack(got, w, r)
		if !bytes.Equal(got, m.Pix) {
			t.Fatal("a packed tile came back changed")
		}
	})
}

func TestStrokeEndsOnceAndForgetsEmptyOnes(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 50, 40)
	d.StrokeTo(3, 3)
	d.EndStroke()
	if _, ok := d.Undo(); ok {
		t.Error("a stroke that never began left a step")
	}
	d.BeginStroke(Brush{Radius: 5}, -100, -100)
	d.StrokeTo(-50, -90)
	if !d.Painting() {
		t.Error("no stroke open after BeginStroke")
	}
	d.EndStroke()
	if _, ok := d.UndoName(); ok || d.Dirty() {
		t.Error("a stroke outside the picture left a step")
	}
	d.BeginStroke(Brush{Radius: 5}, 10, 10)
	d.BeginStroke(Brush{Radius: 5}, 30, 30)
	d.EndStroke()
	d.EndStroke()
	if len(d.history.done) != 2 {
		t.Errorf("%d steps after two strokes, want 2", len(d.history.done))
	}
	if name, ok := d.UndoName(); !ok || name.String() != "Brush stroke" {
		t.Errorf("UndoName = %v, %v", name, ok)
	}
	d.BeginStroke(Brush{Radius: 5}, 20, 20)
	if _, ok := d.Undo(); !ok || d.Painting() {
		t.Error("Undo did not end the open stroke")
	}
	if len(d.history.done) != 2 || len(d.history.undone) != 1 {
		t.Errorf("Undo of an open stroke took back %d steps", 3-len(d.history.done))
	}
}

func TestStrokeOfNoNumbers(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 20, 20)
	nan, inf := math.NaN(), math.Inf(1)
	for _, r := range []float64{nan, -1, 0, inf} {
		d.BeginStroke(Brush{Radius: r}, nan, 3)
		d.StrokeTo(inf, 3)
		d.StrokeTo(5, -inf)
		if got := d.mask.Area(); got != 0 {
			t.Fatalf("radius %v: points that are no numbers painted %d pixels", r, got)
		}
		d.StrokeTo(1e300, 1e300)
		d.StrokeTo(-1e300, 7)
		d.StrokeTo(10.2, 10.7)
		d.EndStroke()
		if d.mask.Pix[10*20+10] != 255 {
			t.Fatalf("radius %v: the stroke did not go on after a bad point", r)
		}
		d.ClearMask()
	}
}

func TestSmallestBrushPaintsSinglePixels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := newDocument(t, 30, 30)
		x, y := rapid.Float64Range(0, 29.999).Draw(t, "x"), rapid.Float64Range(0, 29.999).Draw(t, "y")
		r := d.BeginStroke(Brush{Radius: 0.5}, x, y)
		if want := (image.Rectangle{image.Pt(int(x), int(y)), image.Pt(int(x)+1, int(y)+1)}); r != want ||
			d.mask.Area() != 1 {
			t.Fatalf("a dab at %v, %v painted %v, %d pixels", x, y, r, d.mask.Area())
		}
		to := rapid.Float64Range(0, 29.999)
		d.StrokeTo(to.Draw(t, "x1"), to.Draw(t, "y1"))
		d.EndStroke()
		if n := d.Stats().Spots; n != 1 {
			t.Fatalf("a line of single pixels fell into %d pieces", n)
		}
	})
}

// TestHugeBrush compares the largest brush with the reference on a picture that is smaller than the brush.
func TestHugeBrush(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 300, 200)
	want := make([]uint8, 300*200)
	b := Brush{Radius: MaxRadius}
	from, to := processing.Point{X: -1500, Y: -1300}, processing.Point{X: -1420, Y: -1250}
	d.BeginStroke(Brush{Radius: 1e9}, from.X, from.Y)
	d.StrokeTo(to.X, to.Y)
	d.EndStroke()
	slowStroke(want, d.mask.Pix, 300, 200, b, from, to)
	if n := d.mask.Area(); n == 0 || n == len(want) || !bytes.Equal(want, d.mask.Pix) {
		t.Errorf("a brush of the largest radius painted %d pixels, another set than the reference", n)
	}
}

func TestHistoryKeepsItsBudget(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 640, 640)
	d.setHistoryBudget(20_000)
	noisy := processing.NewMask(640, 640)
	for i := range noisy.Pix {
		noisy.Pix[i] = uint8(i * 2654435761 >> 7)
	}
	for i := range 50 {
		d.BeginStroke(Brush{Radius: 3}, float64(i*12), 100)
		d.EndStroke()
	}
	if n := len(d.history.done); n < 10 || n >= 51 || d.history.bytes > 20_000 {
		t.Errorf("%d steps of %d bytes for a budget of 20,000", n, d.history.bytes)
	}
	if _, err := d.LoadMask(noisy); err != nil {
		t.Fatal(err)
	}
	if d.InvertMask(); len(d.history.done) != 1 {
		t.Errorf("%d steps over the budget, only the last one should stay", len(d.history.done))
	}
	if _, ok := d.Undo(); !ok || !bytes.Equal(d.mask.Pix, noisy.Pix) {
		t.Error("the last step over the budget cannot be undone")
	}
	checkHistory(t, d)
}

// checkHistory compares the memory that the history counts with that of its steps.
func checkHistory(t *testing.T, d *Document) {
	t.Helper()
	sum := int64(0)
	for _, s := range append(d.history.done, d.history.undone...) {
		sum += s.bytes()
	}
	if sum != d.history.bytes {
		t.Errorf("the history counts %d bytes and holds %d", d.history.bytes, sum)
	}
}

func TestDirtyFollowsTheSavedMask(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 20, 20)
	check := func(what string, want bool) {
		t.Helper()
		if d.Dirty() != want {
			t.Errorf("%s: Dirty = %v, want %v", what, !want, want)
		}
	}
	check("new", false)
	d.BeginStroke(Brush{Radius: 2}, 5, 5)
	d.EndStroke()
	check("after a stroke", true)
	snapshot := d.Snapshot()
	d.BeginStroke(Brush{Radius: 2}, 15, 15)
	d.EndStroke()
	d.MarkSaved(snapshot.Generation)
	check("a snapshot saved while the work went on", true)
	d.Undo()
	check("back at what was saved", false)
	d.Undo()
	check("before what was saved", true)
	d.Redo()
	check("at what was saved again", false)
	if err := d.SetRegion(&processing.Region{Points: []processing.Point{{X: 1, Y: 1}, {X: 9, Y: 9}}}); err != nil {
		t.Fatal(err)
	}
	check("the region is not in the mask's file", false)
	if m := snapshot.Mask(); m.Area() == 0 || m.Pix[15*20+15] != 0 {
		t.Error("the snapshot changed with the document")
	}
}

// A snapshot has every pixel of the mask, including soft ones and those of smaller tiles at the edges.
func TestSnapshotIsTheMask(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1, 1}, {130, 7}, {300, 257}} {
		d := newDocument(t, size.X, size.Y)
		m := processing.NewMask(size.X, size.Y)
		for i := range m.Pix {
			if i/90%3 == 0 {
				m.Pix[i] = uint8(i * 7)
			}
		}
		if _, err := d.LoadMask(m); err != nil {
			t.Fatal(err)
		}
		if got := d.Snapshot().Mask(); got.Width != size.X || got.Height != size.Y || string(got.Pix) != string(m.Pix) {
			t.Errorf("%v: the snapshot has another mask", size)
		}
	}
}

func TestMaskOfAnotherSize(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 20, 10)
	for _, m := range []*processing.Mask{nil, processing.NewMask(10, 20), {Width: 20, Height: 10}} {
		if _, err := d.LoadMask(m); err == nil {
			t.Errorf("LoadMask(%v) gave no error", m)
		}
		if _, err := d.ApplyResult(&detect.Found{Mask: m}, nil); err == nil {
			t.Errorf("ApplyResult with mask %v gave no error", m)
		}
	}
	if _, err := d.LoadMask(processing.NewMask(10, 20)); !strings.Contains(err.Error(), "10 × 20") ||
		!strings.Contains(err.Error(), "20 × 10") {
		t.Errorf("the error names no sizes: %v", err)
	}
	if _, err := d.ApplyResult(nil, nil); err == nil {
		t.Error("ApplyResult(nil) gave no error")
	}
	far := &processing.Region{Points: []processing.Point{{X: 100, Y: 100}, {X: 110, Y: 110}}}
	if err := d.SetRegion(far); err == nil || d.Region() != nil {
		t.Errorf("SetRegion outside the picture: %v", err)
	}
	if _, err := d.ApplyResult(&detect.Found{Mask: processing.NewMask(20, 10)}, far); err == nil {
		t.Error("ApplyResult for a region outside the picture gave no error")
	}
	if len(d.history.done) != 0 {
		t.Error("a refused change left a step")
	}
	if _, err := New("", &processing.Picture{Width: 3, Height: 3, Channels: 2}); err == nil {
		t.Error("New took a picture that is not valid")
	}
}

func TestRegionIsCopied(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 20, 10)
	r := &processing.Region{Points: []processing.Point{{X: 1, Y: 1}, {X: 9, Y: 9}}}
	if err := d.SetRegion(r); err != nil {
		t.Fatal(err)
	}
	r.Points[0].X = 7
	if d.Region().Points[0].X != 1 {
		t.Error("the document's region changed with the caller's")
	}
}

// result returns a detection with findings of 3 × 3 pixels whose first pixels are given. In the mask they are one pixel
// wider on each side.
func result(w, h int, at ...image.Point) *detect.Found {
	r := &detect.Found{Mask: processing.NewMask(w, h)}
	for i, p := range at {
		f := detect.Finding{ID: i + 1, X: float64(p.X) + 1.5, Y: float64(p.Y) + 1.5, Left: p.X, Top: p.Y, Width: 3,
			Height: 3, Area: 9,
			Peak: 200 + i, Contrast: 0.5, Elongation: 1.25, Score: float64(i)}
		for y := p.Y - 1; y < p.Y+4; y++ {
			for x := p.X - 1; x < p.X+4; x++ {
				r.Mask.Pix[y*w+x] = 255
			}
		}
		for y := p.Y; y < p.Y+3; y++ {
			f.Runs = append(f.Runs, processing.Run{Y: y, X0: p.X, X1: p.X + 3})
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

func TestOverruleAFinding(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 300, 200)
	first := result(300, 200, image.Pt(10, 10), image.Pt(126, 126), image.Pt(250, 50), image.Pt(254, 50))
	if _, err := d.ApplyResult(first, nil); err != nil {
		t.Fatal(err)
	}
	checkSpots(t, d)
	if d.Result() == nil || d.Result().Mask != nil || len(d.Result().Findings) != 4 {
		t.Errorf("Result = %+v", d.Result())
	}
	s, ok := d.SpotAt(128, 129)
	if !ok || !s.Detected || s.Area != 25 || s.Peak != 201 || s.Elongation != 1.25 {
		t.Errorf("SpotAt = %+v, %v", s, ok)
	}
	if s, _ := d.SpotAt(252, 51); s.Score != 3 || s.Peak != 203 {
		t.Errorf("a spot of two findings has score %v and peak %v, want those of the stronger", s.Score, s.Peak)
	}
	before := bytes.Clone(d.mask.Pix)
	if dirty, ok := d.RemoveSpot(128, 128); !ok || !image.Rect(125, 125, 130, 130).In(dirty) {
		t.Errorf("RemoveSpot = %v, %v", dirty, ok)
	}
	if _, ok := d.SpotAt(128, 128); ok || d.Stats().Spots != 2 {
		t.Error("the spot is still there")
	}
	if _, ok := d.RemoveSpot(128, 128); ok {
		t.Error("removed what is gone")
	}
	if f, ok := d.DetectedAt(128, 128); !ok || f.Peak != 201 || len(f.Runs) != 5 {
		t.Errorf("DetectedAt = %+v, %v", f, ok)
	}
	if _, ok := d.RestoreSpot(60, 60); ok {
		t.Error("restored where nothing was found")
	}
	if _, ok := d.RestoreSpot(126, 129); !ok || !bytes.Equal(d.mask.Pix, before) {
		t.Error("RestoreSpot did not bring back what was found")
	}
	if _, ok := d.RestoreSpot(126, 129); ok {
		t.Error("restored what was there")
	}
	if len(d.history.done) != 3 {
		t.Errorf("%d steps, want detection, removal and return", len(d.history.done))
	}
	for range 3 {
		d.Undo()
	}
	if d.Result() != nil || d.mask.Area() != 0 {
		t.Error("Undo left the result of the detection")
	}
	if _, ok := d.RestoreSpot(126, 129); ok {
		t.Error("restored a detection that was undone")
	}
	d.Redo()
	if d.Result() == nil || !bytes.Equal(d.mask.Pix, before) {
		t.Error("Redo did not bring the detection back")
	}
}

func TestResultOfARegion(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 300, 200)
	if _, err := d.ApplyResult(result(300, 200, image.Pt(10, 10), image.Pt(210, 10)), nil); err != nil {
		t.Fatal(err)
	}
	d.BeginStroke(Brush{Radius: 3}, 50, 150)
	d.EndStroke()
	right := &processing.Region{Points: []processing.Point{{X: 150, Y: 0}, {X: 300, Y: 200}}}
	if _, err := d.ApplyResult(result(300, 200, image.Pt(240, 160)), right); err != nil {
		t.Fatal(err)
	}
	checkSpots(t, d)
	for _, c := range []struct {
		x, y           int
		spot, detected bool
	}{{11, 11, true, true}, {211, 11, false, false}, {50, 150, true, false}, {241, 161, true, true}} {
		s, ok := d.SpotAt(c.x, c.y)
		if ok != c.spot || s.Detected != c.detected {
			t.Errorf("at %d, %d: spot %v, detected %v, want %v, %v", c.x, c.y, ok, s.Detected, c.spot, c.detected)
		}
		if _, ok := d.DetectedAt(c.x, c.y); ok != c.detected {
			t.Errorf("DetectedAt(%d, %d) = %v", c.x, c.y, ok)
		}
	}
	d.RemoveSpot(11, 11)
	if _, ok := d.RestoreSpot(11, 11); !ok {
		t.Error("the finding outside the region cannot be restored")
	}
}

// TestFoundIsAppliedAgain applies a prepared detection twice, with a stroke between: the document takes its pixels over
// only once, and never those of the result.
func TestFoundIsAppliedAgain(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 300, 200)
	r := result(300, 200, image.Pt(10, 10), image.Pt(210, 10))
	want := bytes.Clone(r.Mask.Pix)
	f, err := d.Snapshot().Found(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		d.ApplyFound(f)
		if !bytes.Equal(d.Mask().Pix, want) && i == 0 {
			t.Fatalf("time %d: the mask is not that of the detection", i+1)
		}
		if _, ok := d.SpotAt(50, 150); ok != (i > 0) {
			t.Errorf("time %d: the stroke is there: %v", i+1, ok)
		}
		checkSpots(t, d)
		d.BeginStroke(Brush{Radius: 3}, 50, 150)
		d.EndStroke()
	}
	if !bytes.Equal(r.Mask.Pix, want) {
		t.Error("a stroke has changed the mask of the result")
	}
	for range 4 {
		d.Undo()
	}
	if !bytes.Equal(d.Mask().Pix, make([]byte, len(want))) {
		t.Error("Undo does not lead back to the empty mask")
	}
}

// TestSoftEdge removes and restores one of two feathered spots.
func TestSoftEdge(t *testing.T) {
	t.Parallel()
	const w, h = 80, 40
	r := &detect.Found{Mask: processing.NewMask(w, h)}
	cone := func(cx, cy int) {
		for y := range h {
			for x := range w {
				v := 255 - 20*math.Hypot(float64(x-cx), float64(y-cy))
				r.Mask.Pix[y*w+x] = uint8(math.Max(v, float64(r.Mask.Pix[y*w+x])))
			}
		}
	}
	cone(20, 20)
	alone := bytes.Clone(r.Mask.Pix)
	cone(60, 20)
	d := newDocument(t, w, h)
	if _, err := d.ApplyResult(r, nil); err != nil {
		t.Fatal(err)
	}
	d.RemoveSpot(60, 20)
	if !bytes.Equal(d.mask.Pix, alone) {
		t.Error("a spot with a soft edge did not go as a whole")
	}
	d.RestoreSpot(60, 20)
	if !bytes.Equal(d.mask.Pix, r.Mask.Pix) {
		t.Error("a spot with a soft edge did not come back as a whole")
	}
	// Where soft edges meet, the neighbour keeps its pixels and those around them.
	cone(36, 20)
	if _, err := d.LoadMask(r.Mask); err != nil {
		t.Fatal(err)
	}
	if d.Stats().Spots != 3 {
		t.Fatalf("%d spots, want 3 of which two share their edge", d.Stats().Spots)
	}
	d.RemoveSpot(36, 20)
	if d.Stats().Spots != 2 {
		t.Error("the neighbour went, too")
	}
	for _, p := range testpic.Flood(&processing.Mask{Width: w, Height: h, Pix: alone})[0] {
		if i := p.Y*w + p.X; d.mask.Pix[i] != r.Mask.Pix[i] {
			t.Fatalf("the neighbour lost pixel %v", p)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 300, 200)
	found := result(300, 200, image.Pt(10, 10), image.Pt(100, 10), image.Pt(20, 150))
	if _, err := d.ApplyResult(found, nil); err != nil {
		t.Fatal(err)
	}
	if s, ok := d.Select(101, 11); !ok || s.Left != 99 {
		t.Errorf("selected %v, %v", s.Bounds(), ok)
	}
	d.RemoveSpot(101, 11)
	if _, ok := d.Selected(); ok {
		t.Error("a removed spot is still selected")
	}
	if _, ok := d.Select(0, 0); ok {
		t.Error("selected an empty place")
	}
}

func TestPixelAt(t *testing.T) {
	t.Parallel()
	for _, p := range []*processing.Picture{
		{Width: 2, Height: 1, Channels: 3, U8: []uint8{1, 2, 3, 4, 5, 255}},
		{Width: 2, Height: 1, Channels: 3, U16: []uint16{1, 2, 3, 4, 5, 65535}},
		{Width: 2, Height: 1, Channels: 3, F32: []float32{1, 2, 3, 4, 5, -0.5}},
		{Width: 2, Height: 1, Channels: 1, U16: []uint16{7, 65535}},
	} {
		d, err := New("", p)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := d.PixelAt(1, 0)
		last := map[int]float64{8: 255, 16: 65535, 32: -0.5}[p.Depth()]
		if !ok || got.Depth != p.Depth() || got.Channels != p.Channels || got.Samples[p.Channels-1] != last {
			t.Errorf("PixelAt = %+v, %v", got, ok)
		}
		for _, q := range []image.Point{{-1, 0}, {0, -1}, {2, 0}, {0, 1}} {
			if _, ok := d.PixelAt(q.X, q.Y); ok {
				t.Errorf("PixelAt(%v) lies outside", q)
			}
			if _, ok := d.SpotAt(q.X, q.Y); ok {
				t.Errorf("SpotAt(%v) lies outside", q)
			}
		}
	}
}

func TestElongation(t *testing.T) {
	t.Parallel()
	d := newDocument(t, 200, 50)
	m := processing.NewMask(200, 50)
	for x := 100; x < 160; x++ {
		for y := 20; y < 26; y++ {
			m.Pix[y*200+x] = 255
		}
	}
	if _, err := d.LoadMask(m); err != nil {
		t.Fatal(err)
	}
	if e := d.Spots()[0].Elongation; math.Abs(e-10) > 1e-6 {
		t.Errorf("a rectangle of 60 × 6 has elongation %v, want 10", e)
	}
}

// TestSpotsAcrossTileCorners puts pairs of pixels that touch at the corner of four tiles.
func TestSpotsAcrossTileCorners(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at    []image.Point
		spots int
	}{
		{[]image.Point{{127, 127}, {128, 128}}, 1},
		{[]image.Point{{128, 127}, {127, 128}}, 1},
		{[]image.Point{{127, 127}, {128, 127}}, 1},
		{[]image.Point{{127, 127}, {127, 128}}, 1},
		{[]image.Point{{127, 100}, {128, 101}}, 1},
		{[]image.Point{{100, 128}, {101, 127}}, 1},
		{[]image.Point{{127, 127}, {129, 128}}, 2},
		{[]image.Point{{127, 126}, {128, 128}}, 2},
	} {
		d := newDocument(t, 260, 260)
		m := processing.NewMask(260, 260)
		for _, p := range c.at {
			m.Pix[p.Y*260+p.X] = 255
		}
		if _, err := d.LoadMask(m); err != nil {
			t.Fatal(err)
		}
		if n := d.Stats().Spots; n != c.spots {
			t.Errorf("%v: %d spots, want %d", c.at, n, c.spots)
		}
		checkSpots(t, d)
	}
}

func TestSoftStrokesAlongTheAxes(t *testing.T) {
	t.Parallel()
	const w, h = 90, 80
	for _, erase := range []bool{false, true} {
		for _, to := range []processing.Point{{X: 40, Y: 60}, {X: 40, Y: 12}, {X: 70, Y: 30}, {X: 9, Y: 30},
			{X: 40.001, Y: 60}, {X: 40, Y: 30}} {
			d := newDocument(t, w, h)
			if erase {
				d.InvertMask()
			}
			b := Brush{Radius: 17, Soft: 0.5, Erase: erase}
			from := processing.Point{X: 40, Y: 30}
			want := bytes.Clone(d.mask.Pix)
			d.BeginStroke(b, from.X, from.Y)
			d.StrokeTo(to.X, to.Y)
			d.EndStroke()
			slowStroke(want, d.mask.Pix, w, h, b, from, to)
			if !bytes.Equal(want, d.mask.Pix) {
				t.Errorf("erase %v, from %v to %v: not the reference's stroke", erase, from, to)
			}
		}
	}
}

// TestSoftEdgeStopsAtItsNeighbours removes the first spot of a row of values.
func TestSoftEdgeStopsAtItsNeighbours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ row, want []uint8 }{
		// Where values rise again, something else begins, although it does not count as glare.
		{[]uint8{255, 100, 50, 20, 60, 100, 60, 20}, []uint8{0, 0, 0, 0, 60, 100, 60, 20}},
		// An edge of equal values is removed, except what touches the neighbour.
		{[]uint8{255, 50, 50, 50, 50, 200, 50}, []uint8{0, 0, 0, 0, 50, 200, 50}},
		{[]uint8{255, 255, 0, 90, 30}, []uint8{0, 0, 0, 90, 30}},
		{[]uint8{200, 127, 128}, []uint8{0, 127, 128}},
	} {
		d := newDocument(t, len(c.row), 1)
		if _, err := d.LoadMask(&processing.Mask{Width: len(c.row), Height: 1, Pix: c.row}); err != nil {
			t.Fatal(err)
		}
		d.RemoveSpot(0, 0)
		if !bytes.Equal(d.mask.Pix, c.want) {
			t.Errorf("%v became %v, want %v", c.row, d.mask.Pix, c.want)
		}
		d.Undo()
		if !bytes.Equal(d.mask.Pix, c.row) {
			t.Errorf("%v came back as %v", c.row, d.mask.Pix)
		}
	}
}

// setHistoryBudget limits the memory of the history, in bytes, by dropping the oldest steps. The last step always
// stays.
func (d *Document) setHistoryBudget(bytes int64) {
	d.history.budget = bytes
	d.history.trim()
}
