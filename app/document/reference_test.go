package document

import (
	"bytes"
	"image"
	"math"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"

	"pgregory.net/rapid"
)

// failer is implemented by testing.T and rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newDocument(t failer, w, h int) *Document {
	t.Helper()
	d, err := New("test.png", testpic.Flat(w, h, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// checkSpots compares everything that d reports about its findings with a flood fill of its mask.
func checkSpots(t failer, d *Document) {
	t.Helper()
	want := testpic.Flood(d.Mask())
	if got := d.Stats(); got != (Stats{Spots: len(want), Area: d.Mask().Area()}) {
		t.Fatalf("Stats = %+v, want %d spots of %d pixels", got, len(want), d.Mask().Area())
	}
	spots := d.Spots()
	if len(spots) != len(want) {
		t.Fatalf("%d spots, want %d", len(spots), len(want))
	}
	for i, s := range spots {
		var b image.Rectangle
		var x, y float64
		for _, p := range want[i] {
			b = b.Union(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))})
			x += float64(p.X) + 0.5
			y += float64(p.Y) + 0.5
		}
		n := float64(len(want[i]))
		if s.ID != i+1 || s.Bounds() != b || s.Area != len(want[i]) || math.Abs(s.X-x/n) > 1e-6 ||
			math.Abs(s.Y-y/n) > 1e-6 {
			t.Fatalf("spot %d is %+v, want bounds %v, area %v, centre %v, %v", i, s, b, n, x/n, y/n)
		}
		if !(s.Elongation >= 1) {
			t.Fatalf("spot %d: elongation %v", i, s.Elongation)
		}
		area := 0
		for k, run := range d.SpotRuns(want[i][0].X, want[i][0].Y) {
			area += run.X1 - run.X0
			if at, ok := d.SpotAt(run.X0, run.Y); !ok || at.ID != s.ID {
				t.Fatalf("run %d of spot %d is not in it", k, i)
			}
		}
		if area != s.Area {
			t.Fatalf("runs of spot %d hold %d pixels, want %d", i, area, s.Area)
		}
	}
	if d.Size().X > 0 && d.Mask().Pix[0] < processing.MaskLevel {
		if _, ok := d.SpotAt(0, 0); ok {
			t.Fatal("a spot where the mask is empty")
		}
	}
}

// slowStroke paints a segment pixel by pixel. If rounding decides whether a pixel centre is inside the brush, it takes
// the pixel from got.
func slowStroke(pix, got []uint8, w, h int, b Brush, from, to processing.Point) {
	for y := range h {
		for x := range w {
			px, py := float64(x)+0.5, float64(y)+0.5
			dx, dy := to.X-from.X, to.Y-from.Y
			u := 0.0
			if l := math.Hypot(dx, dy); l > 0 {
				u = math.Max(0, math.Min(1, ((px-from.X)*dx+(py-from.Y)*dy)/l/l))
			}
			r := math.Hypot(px-from.X-u*dx, py-from.Y-u*dy)
			i := y*w + x
			if math.Abs(r-b.Radius) < 1e-7 {
				pix[i] = got[i]
				continue
			}
			if r > b.Radius {
				continue
			}
			v := 255.0
			if inner := b.Radius * (1 - b.Soft); r > inner {
				v = 255 * (1 + math.Cos(math.Pi*(r-inner)/(b.Radius-inner))) / 2
			}
			want := uint8(math.Max(float64(pix[i]), v) + 0.5)
			if b.Erase {
				want = uint8(math.Min(float64(pix[i]), 255-v) + 0.5)
			}
			if b.Soft > 0 && math.Abs(float64(want)-float64(got[i])) <= 1 {
				// The table of a soft brush may be off by one.
				want = got[i]
			}
			pix[i] = want
		}
	}
}

// outsideOf fails if now and was differ outside the rectangle that a change reported.
func outsideOf(t failer, what string, now, was []uint8, w int, dirty image.Rectangle) {
	t.Helper()
	for i := range now {
		if p := image.Pt(i%w, i/w); now[i] != was[i] && !p.In(dirty) {
			t.Fatalf("%s changed pixel %v outside the rectangle %v that it reported", what, p, dirty)
		}
	}
}

func drawMask(t *rapid.T, w, h int) *processing.Mask {
	m := processing.NewMask(w, h)
	for range rapid.IntRange(0, 6).Draw(t, "blobs") {
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		bw, bh := rapid.IntRange(1, w).Draw(t, "w"), rapid.IntRange(1, h).Draw(t, "h")
		v := rapid.SampledFrom([]uint8{255, 255, 200, 128, 127, 60, 0}).Draw(t, "value")
		for j := y; j < min(y+bh, h); j++ {
			for i := x; i < min(x+bw, w); i++ {
				m.Pix[j*w+i] = v
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "noisy") == 0 {
		seed := rapid.Uint32Range(1, math.MaxUint32).Draw(t, "seed")
		for i := range m.Pix {
			seed = seed*1664525 + 1013904223
			if seed>>28 == 0 {
				m.Pix[i] = uint8(seed >> 20)
			}
		}
	}
	return m
}

func drawBrush(t *rapid.T) Brush {
	return Brush{
		Radius: rapid.SampledFrom([]float64{0.5, 0.5, 0.8, 1, 1.5, 3, 7.25, 20, 60.5, 2000}).Draw(t, "radius"),
		Erase:  rapid.Bool().Draw(t, "erase"),
		Soft:   rapid.SampledFrom([]float64{0, 0, 0, 0.1, 0.3, 0.5, 1}).Draw(t, "soft"),
	}
}

func drawPoint(t *rapid.T, w, h int) (x, y float64) {
	coordinate := func(n int) float64 {
		return float64(rapid.IntRange(-80, (n+20)*4).Draw(t, "coordinate")) / 4
	}
	return coordinate(w), coordinate(h)
}

// TestAgainstCopies applies the same changes to a document and to a list of whole copies of the mask.
func TestAgainstCopies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]int{1, 2, 9, 127, 128, 129, 150, 261}).Draw(t, "w")
		h := rapid.SampledFrom([]int{1, 3, 8, 127, 128, 130, 140}).Draw(t, "h")
		d := newDocument(t, w, h)
		// The states after each step, and the index of the present one.
		states := [][]uint8{bytes.Clone(d.Mask().Pix)}
		regions := []*processing.Region{nil}
		now := 0
		add := func(region *processing.Region) {
			states = append(states[:now+1], bytes.Clone(d.Mask().Pix))
			regions = append(regions[:now+1], region)
			now++
		}
		// edited records in the model a change that d reported.
		edited := func(t *rapid.T, what string, dirty image.Rectangle, want []uint8) {
			if !bytes.Equal(d.Mask().Pix, want) {
				t.Fatalf("%s made a wrong mask", what)
			}
			outsideOf(t, what, d.Mask().Pix, states[now], w, dirty)
			if !bytes.Equal(want, states[now]) {
				add(regions[now])
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"stroke": func(t *rapid.T) {
				b := drawBrush(t)
				want := bytes.Clone(d.Mask().Pix)
				at := func(label string) processing.Point {
					x, y := drawPoint(t, w, h)
					return processing.Point{X: x, Y: y}
				}
				snap := func(p processing.Point) processing.Point {
					if b.Radius < 1 {
						p = processing.Point{X: math.Floor(p.X) + 0.5, Y: math.Floor(p.Y) + 0.5}
					}
					return p
				}
				from := at("from")
				dirty := d.BeginStroke(b, from.X, from.Y)
				slowStroke(want, d.Mask().Pix, w, h, b, snap(from), snap(from))
				for range rapid.IntRange(0, 3).Draw(t, "segments") {
					to := at("to")
					dirty = dirty.Union(d.StrokeTo(to.X, to.Y))
					slowStroke(want, d.Mask().Pix, w, h, b, snap(from), snap(to))
					from = to
				}
				if rapid.IntRange(0, 4).Draw(t, "cancel") == 0 {
					d.CancelStroke()
					edited(t, "cancel", d.tiles.bounds(), states[now])
					return
				}
				d.EndStroke()
				d.EndStroke()
				edited(t, "stroke", dirty, want)
			},
			"load": func(t *rapid.T) {
				m := drawMask(t, w, h)
				dirty, err := d.LoadMask(m)
				if err != nil {
					t.Fatal(err)
				}
				edited(t, "load", dirty, m.Pix)
			},
			"detection": func(t *rapid.T) {
				m := drawMask(t, w, h)
				f, err := d.Snapshot().Found(&detect.Found{Mask: m}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "another") {
					// A result that was prepared for another state of the document.
					if _, err := d.ApplyResult(&detect.Found{Mask: drawMask(t, w, h)}, nil); err != nil {
						t.Fatal(err)
					}
					add(regions[now])
				}
				dirty := d.ApplyFound(f)
				keepsHand(t, d, m)
				outsideOf(t, "detection", d.Mask().Pix, states[now], w, dirty)
				add(regions[now])
			},
			"clear": func(t *rapid.T) { edited(t, "clear", d.ClearMask(), make([]uint8, w*h)) },
			"invert": func(t *rapid.T) {
				want := bytes.Clone(d.Mask().Pix)
				for i := range want {
					// A pixel centre on the lower edge is outside.
					if r := regions[now]; r == nil || float64(i/w)+0.5 < r.Points[1].Y {
						want[i] = 255 - want[i]
					}
				}
				edited(t, "invert", d.InvertMask(), want)
			},
			"history": func(t *rapid.T) {
				names, done := d.Steps()
				if done != now || len(names) != len(states)-1 {
					t.Fatalf("%d of %d steps done, want %d of %d", done, len(names), now, len(states)-1)
				}
				was := now
				now = rapid.IntRange(0, len(names)).Draw(t, "step")
				dirty := d.GoTo(now)
				if !bytes.Equal(d.Mask().Pix, states[now]) || d.Region() != regions[now] {
					t.Fatalf("step %d of the history is not what it was", now)
				}
				outsideOf(t, "history", states[now], states[was], w, dirty)
			},
			"region": func(t *rapid.T) {
				r := &processing.Region{Points: []processing.Point{{X: 0, Y: 0},
					{X: float64(w), Y: rapid.Float64Range(1, float64(h)).Draw(t, "y")}}}
				if err := d.SetRegion(r); err != nil {
					t.Fatal(err)
				}
				add(d.Region())
			},
			"remove": func(t *rapid.T) {
				spots := testpic.Flood(d.Mask())
				want := bytes.Clone(d.Mask().Pix)
				if len(spots) == 0 {
					if _, ok := d.RemoveSpot(0, 0); ok {
						t.Fatal("removed a spot of an empty mask")
					}
					return
				}
				spot := rapid.SampledFrom(spots).Draw(t, "spot")
				dirty, ok := d.RemoveSpot(spot[0].X, spot[0].Y)
				if !ok {
					t.Fatal("spot not found")
				}
				for _, p := range spot {
					want[p.Y*w+p.X] = 0
				}
				for i, v := range d.Mask().Pix {
					// It also removes soft edges, which TestSoftEdge checks.
					if v == 0 && want[i] < processing.MaskLevel {
						want[i] = 0
					}
				}
				edited(t, "remove", dirty, want)
			},
			"undo": func(t *rapid.T) {
				was := bytes.Clone(d.Mask().Pix)
				dirty, ok := d.Undo()
				if ok != (now > 0) {
					t.Fatalf("Undo said %v at step %d", ok, now)
				}
				if ok {
					now--
				}
				outsideOf(t, "undo", d.Mask().Pix, was, w, dirty)
			},
			"redo": func(t *rapid.T) {
				was := bytes.Clone(d.Mask().Pix)
				dirty, ok := d.Redo()
				if ok != (now < len(states)-1) {
					t.Fatalf("Redo said %v at step %d of %d", ok, now, len(states)-1)
				}
				if ok {
					now++
				}
				outsideOf(t, "redo", d.Mask().Pix, was, w, dirty)
			},
			"": func(t *rapid.T) {
				if !bytes.Equal(d.Mask().Pix, states[now]) {
					t.Fatalf("the mask is not that of step %d", now)
				}
				if d.Region() != regions[now] {
					t.Fatalf("the region is not that of step %d", now)
				}
				if d.Dirty() && now == 0 && len(states) == 1 {
					t.Fatal("dirty without a change")
				}
				if !bytes.Equal(d.Snapshot().Mask().Pix, states[now]) {
					t.Fatalf("the snapshot is not that of step %d", now)
				}
				checkSpots(t, d)
			},
		})
	})
}

// keepsHand checks that the mask is that of a detection except where it was changed by hand. A finding that was erased
// for the greater part may be missing.
func keepsHand(t *rapid.T, d *Document, found *processing.Mask) {
	t.Helper()
	if d.hand == nil {
		if !bytes.Equal(d.Mask().Pix, found.Pix) {
			t.Fatal("the mask is not that of the detection")
		}
		return
	}
	marked, erased := d.hand.marked.unpack(d.tiles.w, d.tiles.h), d.hand.erased.unpack(d.tiles.w, d.tiles.h)
	for i, v := range d.Mask().Pix {
		low, high := marked.Pix[i], 255-erased.Pix[i]
		if low > high {
			t.Fatalf("pixel %d is marked to %d and erased to %d", i, low, high)
		}
		if v != low && v != max(low, min(found.Pix[i], high)) {
			t.Fatalf("pixel %d is %d: detected %d, marked %d, erased to %d", i, v, found.Pix[i], low, high)
		}
	}
}
