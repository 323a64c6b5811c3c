package document

import (
	"bytes"
	"image"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"

	"pgregory.net/rapid"
)

// layer is a correction in the slow model: the pixels of its spot, and the values of the pixels that it covers.
type layer struct {
	spot   map[image.Point]bool
	pixels map[image.Point]uint8
	method processing.Method
	asked  processing.Method
}

// layers are the corrections of the model. They are immutable.
type layers []layer

// erode returns the layers whose spots are still completely in the mask.
func (ls layers) erode(pix []uint8, w int) layers {
	var kept layers
	for _, l := range ls {
		whole := true
		for p := range l.spot {
			whole = whole && pix[p.Y*w+p.X] >= processing.MaskLevel
		}
		if whole {
			kept = append(kept, l)
		}
	}
	return kept
}

// trim returns what a stroke leaves of the layers: for a spot that lost pixels, one layer for each spot of the mask
// that contains some of the rest.
func (ls layers) trim(m *processing.Mask) layers {
	var kept layers
	for _, l := range ls {
		if whole := (layers{l}).erode(m.Pix, m.Width); len(whole) > 0 {
			kept = append(kept, l)
			continue
		}
		// Owner −1 are the erased pixels, which also own what they reach before or together with others.
		owner := map[image.Point]int{}
		for p := range l.spot {
			owner[p] = -1
		}
		parts := 0
		for _, spot := range testpic.Flood(m) {
			if slices.ContainsFunc(spot, func(p image.Point) bool { return l.spot[p] }) {
				for _, p := range spot {
					if l.spot[p] {
						owner[p] = parts
					}
				}
				parts++
			}
		}
		order := partOrder(owner, parts)
		left := make([]layer, parts)
		for i := range left {
			left[i] = layer{map[image.Point]bool{}, map[image.Point]uint8{}, l.method, l.asked}
		}
		for p := range l.spot {
			if i := owner[p]; i >= 0 {
				left[i].spot[p] = true
			}
		}
		for !covers(owner, l.pixels) {
			owner = widen(owner, order)
		}
		for p, v := range l.pixels {
			if i := owner[p]; i >= 0 {
				left[i].pixels[p] = v
			}
		}
		for _, part := range left {
			if len(part.pixels) > 0 {
				kept = append(kept, part)
			}
		}
	}
	return kept
}

// partOrder returns the rank of each part, by the first pixel that it owns.
func partOrder(owner map[image.Point]int, parts int) []int {
	first := make([]image.Point, parts)
	for i := range first {
		first[i] = image.Pt(math.MaxInt, math.MaxInt)
	}
	for p, i := range owner {
		if i >= 0 && inOrder(p, first[i]) < 0 {
			first[i] = p
		}
	}
	order := make([]int, parts)
	for i, p := range first {
		for _, q := range first {
			if inOrder(q, p) < 0 {
				order[i]++
			}
		}
	}
	return order
}

// widen gives each pixel without an owner that has a neighbour with one to the first owner among its neighbours.
func widen(owner map[image.Point]int, order []int) map[image.Point]int {
	rank := func(i int) int {
		if i < 0 {
			return -1
		}
		return order[i]
	}
	next := maps.Clone(owner)
	for p, i := range owner {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				q := p.Add(image.Pt(dx, dy))
				if _, has := owner[q]; has {
					continue
				}
				if k, has := next[q]; !has || rank(i) < rank(k) {
					next[q] = i
				}
			}
		}
	}
	return next
}

// covers reports whether each pixel has an owner.
func covers(owner map[image.Point]int, pixels map[image.Point]uint8) bool {
	for p := range pixels {
		if _, has := owner[p]; !has {
			return false
		}
	}
	return true
}

// over returns ls with fresh laid over them.
func (ls layers) over(fresh layers) layers {
	var next layers
	for _, old := range ls {
		kept := layer{old.spot, map[image.Point]uint8{}, old.method, old.asked}
		shared := false
		for p, v := range old.pixels {
			covered := false
			for _, f := range fresh {
				_, in := f.pixels[p]
				covered = covered || in
			}
			if !covered {
				kept.pixels[p] = v
			}
		}
		for p := range old.spot {
			for _, f := range fresh {
				shared = shared || f.spot[p]
			}
		}
		if !shared && len(kept.pixels) > 0 {
			next = append(next, kept)
		}
	}
	return append(next, fresh...)
}

// picture returns the source with the layers over it.
func (ls layers) picture(pic *processing.Picture) []uint8 {
	out := bytes.Clone(pic.U8)
	for _, l := range ls {
		for p, v := range l.pixels {
			out[p.Y*pic.Width+p.X] = v
		}
	}
	return out
}

// lay returns a copy of base with patches applied. Unless it is allowed, it fails if two of them share a pixel.
func lay(t failer, base []uint8, w int, patches []processing.Patch, mayShare bool) []uint8 {
	t.Helper()
	out := bytes.Clone(base)
	seen := map[int]bool{}
	for _, p := range patches {
		n := 0
		for _, r := range p.Runs {
			for x := r.X0; x < r.X1; x++ {
				i := r.Y*w + x
				if seen[i] && !mayShare {
					t.Fatalf("two patches hold pixel %d, %d", x, r.Y)
				}
				seen[i] = true
				out[i] = p.U8[n]
				n++
			}
		}
	}
	return out
}

// runsOf returns a set of pixels as runs in reading order.
func runsOf(set map[image.Point]bool) []processing.Run {
	var runs []processing.Run
	points := make([]image.Point, 0, len(set))
	for p := range set {
		points = append(points, p)
	}
	slices.SortFunc(points, inOrder)
	for _, p := range points {
		if n := len(runs); n > 0 && runs[n-1].Y == p.Y && runs[n-1].X1 == p.X {
			runs[n-1].X1++
			continue
		}
		runs = append(runs, processing.Run{Y: p.Y, X0: p.X, X1: p.X + 1})
	}
	return runs
}

// corrected corrects some spots of a mask, with a halo of the given width that belongs to the first spot that reaches it.
// It returns the correction for the document and for the model. Values are those of tint.
func corrected(spots [][]image.Point, pick func(i int) bool, w, h, halo int, tint uint8,
	asked processing.Method) (*correct.Correction, []processing.Spot, layers) {
	owner := map[image.Point]int{}
	for i, s := range spots {
		for _, p := range s {
			owner[p] = i
		}
	}
	for range halo {
		ring := map[image.Point]int{}
		for p, i := range owner {
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					q := p.Add(image.Pt(dx, dy))
					_, taken := owner[q]
					if k, seen := ring[q]; !taken && q.In(image.Rect(0, 0, w, h)) && (!seen || i < k) {
						ring[q] = i
					}
				}
			}
		}
		for p, i := range ring {
			owner[p] = i
		}
	}
	c := &correct.Correction{}
	var orders []processing.Spot
	var fresh layers
	for i, s := range spots {
		if !pick(i) {
			continue
		}
		l := layer{map[image.Point]bool{}, map[image.Point]uint8{}, processing.MethodHarmonic, asked}
		for _, p := range s {
			l.spot[p] = true
		}
		reach := map[image.Point]bool{}
		for p, k := range owner {
			if k == i {
				reach[p] = true
				l.pixels[p] = tint + uint8(p.X+3*p.Y)
			}
		}
		patch := processing.Patch{Spot: i + 1, Method: l.method, Runs: runsOf(reach)}
		for _, r := range patch.Runs {
			for x := r.X0; x < r.X1; x++ {
				patch.U8 = append(patch.U8, l.pixels[image.Pt(x, r.Y)])
			}
		}
		c.Patches = append(c.Patches, patch)
		orders = append(orders, processing.Spot{ID: i + 1, Method: asked, Runs: runsOf(l.spot)})
		fresh = append(fresh, l)
	}
	return c, orders, fresh
}

// checkCorrections compares everything that d reports about its corrections with the layers of the model.
func checkCorrections(t failer, d *Document, ls layers) {
	t.Helper()
	w := d.pic.Width
	want := ls.picture(d.pic)
	if got := lay(t, d.pic.U8, w, d.Corrections().Patches(), false); !bytes.Equal(got, want) {
		t.Fatal("the patches make another picture than the model's")
	}
	if d.Corrections().Len() != len(ls) {
		t.Fatalf("%d corrections, the model has %d", d.Corrections().Len(), len(ls))
	}
	covered := map[image.Point]bool{}
	for _, l := range ls {
		for p := range l.pixels {
			covered[p] = true
		}
	}
	if n := d.Corrections().Pixels(); n != len(covered) {
		t.Fatalf("%d pixels corrected, the model has %d", n, len(covered))
	}
	for y := range d.pic.Height {
		for x := range w {
			i := y*w + x
			// Checking all pixels of the larger pictures would take too long.
			if (x+7*y)%5 != 0 {
				continue
			}
			p, _ := d.PixelAt(x, y)
			if p.Samples[0] != float64(want[i]) || p.Source[0] != float64(d.pic.U8[i]) ||
				p.Corrected != covered[image.Pt(x, y)] {
				t.Fatalf("pixel %d, %d is %+v, want %d over %d", x, y, p, want[i], d.pic.U8[i])
			}
		}
	}
	for i, spot := range testpic.Flood(d.Mask()) {
		n := 0
		for _, l := range ls {
			for _, p := range spot {
				if l.spot[p] {
					n++
				}
			}
		}
		state := PartlyCorrected
		if n == 0 {
			state = Uncorrected
		} else if n == len(spot) {
			state = Corrected
		}
		if got := d.Spots()[i]; got.State != state || state != Uncorrected && got.Method != processing.MethodHarmonic {
			t.Fatalf("spot %d is %+v, want state %d", i+1, got, state)
		}
	}
}

// textured returns a document with a picture in which no two neighbouring pixels are equal.
func textured(t failer, w, h int) *Document {
	t.Helper()
	p := testpic.Flat(w, h, 1, 0)
	for i := range p.U8 {
		p.U8[i] = uint8(7*i + i/w)
	}
	d, err := New("test.png", p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// disc paints one dab of the brush.
func disc(d *Document, x, y, radius float64, erase bool) {
	d.BeginStroke(Brush{Radius: radius, Erase: erase}, x, y)
	d.EndStroke()
}

// correctAll corrects every spot of the mask and returns the layers of the model.
func correctAll(t failer, d *Document, halo int, tint uint8) layers {
	t.Helper()
	c, spots, ls := corrected(testpic.Flood(d.mask), func(int) bool { return true }, d.pic.Width, d.pic.Height, halo,
		tint, processing.MethodAuto)
	if err := d.ApplyCorrection(c, spots, processing.DefaultParams()); err != nil {
		t.Fatal(err)
	}
	return ls
}

// TestCorrectionsAgainstModel applies the same changes to a document and to the model.
func TestCorrectionsAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]int{1, 7, 40, 127, 131}).Draw(t, "w")
		h := rapid.SampledFrom([]int{1, 9, 30, 129}).Draw(t, "h")
		d := textured(t, w, h)
		source := bytes.Clone(d.pic.U8)
		states := []layers{nil}
		seen := []*Corrections{nil}
		now := 0
		// step records in the model a change after which the document has the given layers.
		step := func(before int, ls layers) {
			if len(d.history.done) == before {
				states[now] = ls
				return
			}
			states, seen = append(states[:now+1], ls), append(seen[:now+1], d.Corrections())
			now++
		}
		t.Repeat(map[string]func(*rapid.T){
			"paint": func(t *rapid.T) {
				before := len(d.history.done)
				disc(d, rapid.Float64Range(0, float64(w)).Draw(t, "x"), rapid.Float64Range(0, float64(h)).Draw(t, "y"),
					rapid.SampledFrom([]float64{0.5, 1, 2, 5}).Draw(t, "radius"), rapid.IntRange(0, 3).Draw(t,
						"erase") == 0)
				step(before, states[now].trim(d.mask))
			},
			"erase part": func(t *rapid.T) {
				if states[now] == nil {
					return
				}
				p := runsOf(rapid.SampledFrom(states[now]).Draw(t, "correction").spot)[0]
				before := len(d.history.done)
				disc(d, float64(p.X1), float64(p.Y)+0.5, rapid.SampledFrom([]float64{0.5, 1, 2}).Draw(t, "radius"),
					true)
				step(before, states[now].trim(d.mask))
			},
			"correct": func(t *rapid.T) {
				spots := testpic.Flood(d.mask)
				some := rapid.SliceOfN(rapid.Bool(), len(spots), len(spots)).Draw(t, "some")
				asked := rapid.SampledFrom([]processing.Method{processing.MethodAuto, processing.MethodExemplar}).Draw(t,
					"asked")
				c, orders, fresh := corrected(spots, func(i int) bool { return some[i] }, w, h,
					rapid.IntRange(0, 3).Draw(t, "halo"), rapid.SampledFrom([]uint8{10, 90}).Draw(t, "tint"), asked)
				before := len(d.history.done)
				if err := d.ApplyCorrection(c, orders, processing.DefaultParams()); err != nil {
					t.Fatal(err)
				}
				step(before, states[now].over(fresh))
			},
			"uncorrect": func(t *rapid.T) {
				spots := testpic.Flood(d.mask)
				if len(spots) == 0 {
					if d.RemoveCorrection(0, 0) {
						t.Fatal("removed the correction of a spot of an empty mask")
					}
					return
				}
				spot := rapid.SampledFrom(spots).Draw(t, "spot")
				var kept layers
				for _, l := range states[now] {
					if !slices.ContainsFunc(spot, func(p image.Point) bool { return l.spot[p] }) {
						kept = append(kept, l)
					}
				}
				before := len(d.history.done)
				if ok := d.RemoveCorrection(spot[0].X, spot[0].Y); ok != (len(kept) < len(states[now])) {
					t.Fatalf("RemoveCorrection said %v", ok)
				}
				step(before, kept)
			},
			"uncorrect all": func(t *rapid.T) {
				before := len(d.history.done)
				if ok := d.ClearCorrections(); ok != (len(states[now]) > 0) {
					t.Fatalf("ClearCorrections said %v", ok)
				}
				step(before, nil)
			},
			"remove": func(t *rapid.T) {
				spots := testpic.Flood(d.mask)
				if len(spots) == 0 {
					return
				}
				before := len(d.history.done)
				p := rapid.SampledFrom(spots).Draw(t, "spot")[0]
				d.RemoveSpot(p.X, p.Y)
				step(before, states[now].erode(d.mask.Pix, w))
			},
			"invert": func(t *rapid.T) {
				before := len(d.history.done)
				d.InvertMask()
				step(before, states[now].erode(d.mask.Pix, w))
			},
			"undo": func(t *rapid.T) {
				if _, ok := d.Undo(); ok {
					now--
				}
			},
			"redo": func(t *rapid.T) {
				if _, ok := d.Redo(); ok {
					now++
				}
			},
			"": func(t *rapid.T) {
				checkCorrections(t, d, states[now])
				if !bytes.Equal(d.pic.U8, source) {
					t.Fatal("the source changed in memory")
				}
				if d.Corrections() != seen[now] {
					t.Fatal("the corrections are not those of the step")
				}
				then := rapid.IntRange(0, len(seen)-1).Draw(t, "then")
				was := lay(t, d.pic.U8, w, seen[then].Patches(), false)
				if got := lay(t, was, w, d.PatchesSince(seen[then]), true); !bytes.Equal(got, states[now].picture(d.pic)) {
					t.Fatalf("the changes since step %d do not lead to the present picture", then)
				}
			},
		})
	})
}

// twoDiscs is a textured picture with two marked discs.
func twoDiscs(t failer) *Document {
	d := textured(t, 60, 40)
	disc(d, 15, 15, 4, false)
	disc(d, 45, 20, 3, false)
	return d
}

func TestCorrectionGoesWithItsSpot(t *testing.T) {
	t.Parallel()
	d := twoDiscs(t)
	ls := correctAll(t, d, 2, 100)
	steps := len(d.history.done)

	disc(d, 15, 24, 2, false)
	checkCorrections(t, d, ls)
	if s, _ := d.SpotAt(15, 15); s.State != Corrected {
		t.Errorf("mask painted beside a spot made it %d", s.State)
	}
	disc(d, 15, 19, 3, false)
	if s, _ := d.SpotAt(15, 15); s.State != PartlyCorrected {
		t.Errorf("a spot that has grown has state %d", s.State)
	}
	disc(d, 15, 13, 1, true)
	checkCorrections(t, d, ls.trim(d.mask))
	if s, _ := d.SpotAt(15, 17); s.State != PartlyCorrected || d.Corrections().Len() != 2 {
		t.Errorf("%d corrections after one of two spots lost a pixel, its state is %d", d.Corrections().Len(), s.State)
	}
	d.Undo()
	checkCorrections(t, d, ls)
	d.RemoveSpot(45, 20)
	if p, _ := d.PixelAt(45, 20); p.Corrected || p.Samples != p.Source {
		t.Errorf("a rejected spot is still corrected: %+v", p)
	}
	for len(d.history.done) > steps {
		d.Undo()
	}
	checkCorrections(t, d, ls)
	d.Undo()
	checkCorrections(t, d, nil)
	if name, ok := d.RedoName(); !ok || name.String() != "Correction" {
		t.Errorf("the step is called %v", name)
	}
}

// What a stroke leaves of a corrected spot stays corrected. What it erases shows the source again, with the halo next
// to it.
func TestErasingPartOfACorrection(t *testing.T) {
	t.Parallel()
	d := textured(t, 60, 20)
	d.BeginStroke(Brush{Radius: 2}, 10, 10)
	d.StrokeTo(50, 10)
	d.EndStroke()
	ls := correctAll(t, d, 2, 100)
	corrected := d.Corrections()
	d.BeginStroke(Brush{Radius: 2, Erase: true}, 30, 0)
	d.StrokeTo(30, 19)
	if d.Corrections() != corrected {
		t.Error("an open stroke takes corrections away")
	}
	d.EndStroke()
	checkCorrections(t, d, ls.trim(d.mask))
	for x, want := range map[int]bool{27: true, 28: false, 29: false, 31: false, 32: true} {
		for y := 7; y < 13; y++ {
			// Up to its own width, the halo above and below the cut is as near to erased pixels as to the rest.
			if p, _ := d.PixelAt(x, y); p.Corrected != want && (y > 7 && y < 12 || !want) {
				t.Errorf("pixel %d, %d is corrected: %v", x, y, p.Corrected)
			}
		}
	}
	spots := d.Spots()
	if len(spots) != 2 || spots[0].State != Corrected || spots[1].State != Corrected {
		t.Fatalf("the rests are %+v", spots)
	}
	if origins := d.Corrections().Origins(); len(origins) != 2 || origins[0] != origins[1] ||
		origins[0] != corrected.Origins()[0] {
		t.Error("the rests do not say how they were corrected")
	}
	// One of them can be removed separately.
	if !d.RemoveCorrection(12, 10) || d.Spots()[0].State != Uncorrected || d.Spots()[1].State != Corrected {
		t.Errorf("after the first was removed: %+v", d.Spots())
	}
	d.Undo()
	d.Undo()
	if d.Corrections() != corrected {
		t.Error("undo does not bring the correction back")
	}
	d.Redo()
	checkCorrections(t, d, ls.trim(d.mask))

	// A new mask drops corrections of spots that it contains only partly.
	m := processing.NewMask(60, 20)
	copy(m.Pix, d.mask.Pix)
	m.Pix[10*60+12] = 0
	if _, err := d.LoadMask(m); err != nil {
		t.Fatal(err)
	}
	if spots := d.Spots(); spots[0].State != Uncorrected || spots[1].State != Corrected {
		t.Errorf("under another mask: %+v", spots)
	}
}

// A result is dropped if its spot is no longer in the mask; a result for what is left of the spot is applied.
func TestSpotErasedDuringCorrection(t *testing.T) {
	t.Parallel()
	d := twoDiscs(t)
	c, spots, ls := corrected(testpic.Flood(d.mask), func(int) bool { return true }, 60, 40, 2, 50, processing.MethodAuto)
	disc(d, 15, 18, 1, true)
	if err := d.ApplyCorrection(c, spots, processing.DefaultParams()); err != nil || d.Corrections() == nil {
		t.Fatal(err)
	}
	checkCorrections(t, d, ls[1:])
}

func TestSameCorrectionAgainIsNoStep(t *testing.T) {
	t.Parallel()
	d := textured(t, 60, 40)
	disc(d, 15, 15, 4, false)
	correctAll(t, d, 1, 100)
	was, steps := d.Corrections(), len(d.history.done)
	correctAll(t, d, 1, 100)
	if d.Corrections() != was || len(d.history.done) != steps {
		t.Error("the same correction again made a step")
	}
	correctAll(t, d, 1, 101)
	if d.Corrections() == was || len(d.history.done) != steps+1 || d.Corrections().Len() != 1 {
		t.Error("another correction of the same spot did not take the place of the first")
	}
}

func TestPictureDirty(t *testing.T) {
	t.Parallel()
	d := textured(t, 60, 40)
	check := func(what string, want bool) {
		t.Helper()
		if d.PictureDirty() != want {
			t.Errorf("%s: PictureDirty = %v", what, !want)
		}
	}
	check("new", false)
	disc(d, 15, 15, 4, false)
	check("masked", false)
	correctAll(t, d, 1, 100)
	check("corrected", true)
	shot := d.Snapshot()
	d.MarkPictureSaved(shot.Corrections.Generation())
	check("saved", false)
	generation := d.Generation()
	correctAll(t, d, 1, 7)
	check("corrected anew", true)
	if d.Generation() != generation {
		t.Error("correcting changed the mask's generation")
	}
	d.Undo()
	check("back at what was saved", false)
	d.Undo()
	check("nothing to save", false)
	d.Redo()
	check("again at what was saved", false)
}

func TestMalformedCorrections(t *testing.T) {
	t.Parallel()
	run := func(y, x0, x1 int) []processing.Run { return []processing.Run{{Y: y, X0: x0, X1: x1}} }
	spot := processing.Spot{ID: 1, Runs: run(1, 1, 3)}
	patch := func(runs []processing.Run, samples int) processing.Patch {
		return processing.Patch{Spot: 1, Runs: runs, U8: make([]uint8, samples)}
	}
	for name, c := range map[string]struct {
		patches []processing.Patch
		spots   []processing.Spot
		says    string
	}{
		"unknown spot": {[]processing.Patch{patch(run(1, 1, 3), 2)}, nil, "spot 1"},
		"few samples":  {[]processing.Patch{patch(run(1, 1, 3), 1)}, []processing.Spot{spot}, "2 expected"},
		"another depth": {[]processing.Patch{{Spot: 1, Runs: run(1, 1, 3), U16: make([]uint16, 2)}},
			[]processing.Spot{spot}, "2 expected"},
		"outside":   {[]processing.Patch{patch(run(1, 1, 11), 10)}, []processing.Spot{spot}, "out of the picture"},
		"below":     {[]processing.Patch{patch(run(8, 1, 3), 2)}, []processing.Spot{spot}, "out of the picture"},
		"empty run": {[]processing.Patch{patch(run(1, 3, 3), 0)}, []processing.Spot{spot}, "out of the picture"},
		"no pixels": {[]processing.Patch{patch(nil, 0)}, []processing.Spot{spot}, "no pixels"},
		"out of order": {[]processing.Patch{patch(append(run(2, 1, 3), run(1, 1, 3)...), 4)},
			[]processing.Spot{spot}, "its place"},
		"runs overlap": {[]processing.Patch{patch(append(run(1, 1, 3), run(1, 2, 4)...), 4)},
			[]processing.Spot{spot}, "its place"},
		"spot elsewhere": {[]processing.Patch{patch(run(1, 1, 3), 2)}, []processing.Spot{{ID: 1, Runs: run(-1, 0, 2)}},
			"outside"},
		"overlap": {[]processing.Patch{patch(run(1, 1, 3), 2), {Spot: 2, Runs: run(1, 2, 5), U8: make([]uint8, 3)}},
			[]processing.Spot{spot, {ID: 2, Runs: run(1, 4, 5)}}, "overlap"},
	} {
		d := textured(t, 10, 8)
		d.InvertMask()
		if err := d.ApplyCorrection(&correct.Correction{Patches: c.patches}, c.spots,
			processing.DefaultParams()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if len(d.history.done) != 1 || d.Corrections() != nil {
			t.Errorf("%s: a refused correction left a step", name)
		}
	}
	if err := textured(t, 3, 3).ApplyCorrection(nil, nil, processing.DefaultParams()); err == nil {
		t.Error("no error for no correction")
	}
}

// Patches of every depth and number of channels are applied correctly, also if a newer patch cuts an older one.
func TestCorrectedSamples(t *testing.T) {
	t.Parallel()
	const w, h = 9, 3
	row := func(y, x0, x1 int) []processing.Run { return []processing.Run{{Y: y, X0: x0, X1: x1}} }
	for _, depth := range []int{8, 16, 32} {
		for _, channels := range []int{1, 3, 4} {
			pic := &processing.Picture{Width: w, Height: h, Channels: channels}
			patch := func(spot int, runs []processing.Run, first int) processing.Patch {
				p := processing.Patch{Spot: spot, Method: processing.MethodSubtract, Runs: runs}
				for i := range processing.Pixels(runs) * channels {
					switch depth {
					case 8:
						p.U8 = append(p.U8, uint8(first+i))
					case 16:
						p.U16 = append(p.U16, uint16(60001+first+i))
					default:
						p.F32 = append(p.F32, float32(first+i)/8)
					}
				}
				return p
			}
			all := patch(0, []processing.Run{{Y: 0, X0: 0, X1: w * h}}, 0)
			pic.U8, pic.U16, pic.F32 = all.U8, all.U16, all.F32
			d, err := New("", pic)
			if err != nil {
				t.Fatal(err)
			}
			disc(d, 2, 1, 0.5, false)
			left := []processing.Spot{{ID: 1, Runs: row(1, 2, 3)}}
			if err := d.ApplyCorrection(&correct.Correction{Patches: []processing.Patch{patch(1, row(1, 0, 7),
				100)}}, left, processing.DefaultParams()); err != nil {
				t.Fatal(err)
			}
			disc(d, 5, 1, 0.5, false)
			right := []processing.Spot{{ID: 2, Runs: row(1, 5, 6), Method: processing.MethodSubtract}}
			if err := d.ApplyCorrection(&correct.Correction{Patches: []processing.Patch{patch(2, row(1, 4, 6),
				200)}}, right, processing.DefaultParams()); err != nil {
				t.Fatal(err)
			}
			for x := range w {
				want := all
				i := (w + x) * channels
				switch {
				case x == 4 || x == 5:
					want, i = patch(2, row(1, 4, 6), 200), (x-4)*channels
				case x < 7:
					want, i = patch(1, row(1, 0, 7), 100), x*channels
				}
				p, ok := d.PixelAt(x, 1)
				if !ok || p.Samples != values(want.Samples(), i, channels) ||
					p.Source != values(all.Samples(), (w+x)*channels, channels) {
					t.Errorf("%d bits, %d channels: pixel %d is %+v", depth, channels, x, p)
				}
				if p.Corrected != (x < 7) {
					t.Errorf("pixel %d: corrected %v", x, p.Corrected)
				}
			}
			if s := d.Spots()[1]; s.State != Corrected || s.Method != processing.MethodSubtract ||
				s.Asked != processing.MethodSubtract {
				t.Errorf("the second spot is %+v", s)
			}
			if back := d.PatchesSince(nil); len(back) != 2 {
				t.Errorf("%d patches since the source", len(back))
			}
		}
	}
}

func TestHistoryCountsCorrections(t *testing.T) {
	t.Parallel()
	d := textured(t, 400, 300)
	for i := range 12 {
		disc(d, float64(20+30*i), 150, 10, false)
	}
	mask := d.history.bytes
	correctAll(t, d, 2, 50)
	if grown, area := d.history.bytes-mask, d.Corrections().Pixels(); grown < int64(area) {
		t.Errorf("the history grew by %d bytes for %d pixels", grown, area)
	}
	d.setHistoryBudget(4 * d.history.bytes)
	steps := len(d.history.done)
	for i := range 20 {
		correctAll(t, d, 2, uint8(60+i))
	}
	if len(d.history.done) >= steps+20 || d.history.bytes > d.history.budget {
		t.Errorf("%d steps of %d bytes for a budget of %d", len(d.history.done), d.history.bytes, d.history.budget)
	}
	d.Undo()
	d.Undo()
	d.Redo()
	checkHistory(t, d)
}

// The list of findings can be used while an open stroke erases a corrected spot.
func TestListDuringAStroke(t *testing.T) {
	t.Parallel()
	d := twoDiscs(t)
	ls := correctAll(t, d, 1, 100)
	d.BeginStroke(Brush{Radius: 9, Erase: true}, 15, 15)
	if n := len(d.Spots()); n != 1 {
		t.Errorf("%d spots", n)
	}
	d.CancelStroke()
	checkCorrections(t, d, ls)
}

// Each patch has its origin, even after a newer one replaced a part of it.
func TestOrigins(t *testing.T) {
	t.Parallel()
	d := textured(t, 40, 20)
	disc(d, 8, 10, 3, false)
	disc(d, 30, 10, 3, false)
	params := processing.DefaultParams()
	apply := func(id int, device string, blend float64) {
		t.Helper()
		spots := processing.Spots(d.Mask())
		p := params
		p.Blend = blend
		c := &correct.Correction{Device: device,
			Patches: []processing.Patch{{Spot: id, Method: processing.MethodSubtract, Runs: spots[id-1].Runs}}}
		for _, r := range spots[id-1].Runs {
			c.Patches[0].U8 = append(c.Patches[0].U8, make([]uint8, (r.X1-r.X0)*d.Picture().Channels)...)
		}
		if err := d.ApplyCorrection(c, spots, p); err != nil {
			t.Fatal(err)
		}
	}
	apply(2, "cpu", 1)
	apply(1, "cuda:0", 2)
	got := d.Corrections().Origins()
	if len(got) != 2 || *got[0] != (Origin{with(params, 2), "cuda:0"}) || *got[1] != (Origin{with(params, 1), "cpu"}) {
		t.Errorf("%+v", got)
	}
	d.Undo()
	if got := d.Corrections().Origins(); len(got) != 1 || got[0].Device != "cpu" {
		t.Errorf("after taking one back: %+v", got)
	}
	if got := (*Corrections)(nil).Origins(); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func with(p processing.Params, blend float64) processing.Params {
	p.Blend = blend
	return p
}
