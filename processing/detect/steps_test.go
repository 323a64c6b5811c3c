package detect

import (
	"image"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/span"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/cpu"
)

// at returns the level of a pixel as the design says: (R + 2G + B + 2) >> 2, which is never below the darkest channel.
func at(pic *processing.Picture, x, y int) int {
	p := pic.U8[(y*pic.Width+x)*3:]
	return (int(p[0]) + 2*int(p[1]) + int(p[2]) + 2) >> 2
}

// random draws a small picture of few levels and the labels of its components; 0 is none.
func random(t *rapid.T) (*processing.Picture, []processing.Span, int) {
	w, h := rapid.IntRange(1, 24).Draw(t, "w"), rapid.IntRange(1, 18).Draw(t, "h")
	g := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U8: make([]uint8, 3*w*h)}
	for i := range pic.U8 {
		pic.U8[i] = []uint8{0, 90, 120, 180, 255}[g.IntN(5)]
	}
	mask := make([]uint8, w*h)
	share := g.Float64()
	for i := range mask {
		if g.Float64() < share/2 {
			mask[i] = 255
		}
	}
	spans := span.Append(nil, mask, w, 0, h, 255)
	return pic, spans, span.Connect(spans, span.Eight)
}

// slowOutline grows the outline by looking at every pixel until none is added.
func slowOutline(pic *processing.Picture, spans []processing.Span, label uint32, ground, rise int) map[image.Point]bool {
	owner := map[image.Point]uint32{}
	for _, s := range spans {
		for x := s.X0; x < s.X1; x++ {
			owner[image.Pt(int(x), int(s.Y))] = s.Label + 1
		}
	}
	kept := map[image.Point]bool{}
	for p, o := range owner {
		if o == label+1 && at(pic, p.X, p.Y) >= ground+cut*rise/100 {
			kept[p] = true
		}
	}
	for added := true; added; {
		added = false
		for y := range pic.Height {
			for x := range pic.Width {
				p := image.Pt(x, y)
				if kept[p] || owner[p] != 0 || at(pic, x, y) < ground+grow*rise/100 {
					continue
				}
				beside, close := false, false
				for q, o := range owner {
					close = close || o == label+1 && max(q.X-x, x-q.X, q.Y-y, y-q.Y) <= reach
				}
				for q := range kept {
					beside = beside || max(q.X-x, x-q.X, q.Y-y, y-q.Y) == 1
				}
				if beside && close {
					kept[p], added = true, true
				}
			}
		}
	}
	return kept
}

func TestOutlineEqualsReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pic, spans, n := random(t)
		ground, rise := rapid.IntRange(0, 200).Draw(t, "ground"), rapid.IntRange(0, 255).Draw(t, "rise")
		taken := span.NewSet(pic.Width, pic.Height)
		taken.Mark(0, spans)
		o := outliner{levels: newLevels(pic), taken: taken}
		for label, own := range span.Group(spans, n, func(i int) int { return int(spans[i].Label) }) {
			got := map[image.Point]bool{}
			for _, s := range o.outline(own, ground, rise) {
				for x := s.X0; x < s.X1; x++ {
					got[image.Pt(int(x), int(s.Y))] = true
				}
			}
			if want := slowOutline(pic, spans, uint32(label), ground, rise); !reflect.DeepEqual(got, want) {
				t.Fatalf("component %d: %v, want %v", label, got, want)
			}
		}
	})
}

// The ground that the host measures is that of the backend.
func TestGroundsEqualMeasureGlints(t *testing.T) {
	t.Parallel()
	be := cpu.New()
	defer be.Close()
	rapid.Check(t, func(t *rapid.T) {
		pic, spans, _ := random(t)
		s := newPlanes(t.Context(), be, nil)
		defer s.release()
		rgb, err := s.colours(pic)
		if err != nil {
			t.Fatal(err)
		}
		mask := make([]uint8, pic.Width*pic.Height)
		span.Fill(mask, pic.Width, spans, 16)
		logits, _ := s.alloc(processing.U8, pic.Width, pic.Height)
		kinds, _ := s.alloc(processing.U8, pic.Width, pic.Height)
		for _, p := range []struct {
			plane processing.Plane
			pix   []uint8
		}{{logits, mask}, {kinds, make([]uint8, len(mask))}} {
			if err := be.Upload(t.Context(), p.plane, processing.Samples{U8: p.pix}); err != nil {
				t.Fatal(err)
			}
		}
		f, err := s.measure(rgb, logits, kinds)
		if err != nil {
			t.Fatal(err)
		}
		taken := span.NewSet(pic.Width, pic.Height)
		taken.Mark(0, spans)
		g := grounds{levels: newLevels(pic), taken: taken}
		for i, p := range f.props {
			var runs []processing.Run
			for _, r := range f.spans {
				if int(r.Label) == i {
					runs = append(runs, processing.Run{Y: int(r.Y), X0: int(r.X0), X1: int(r.X1)})
				}
			}
			ground, rise := g.of(runs)
			if wantGround, wantRise, _ := p.Rise(); ground != wantGround || rise != wantRise {
				t.Fatalf("component %d: %d %d, want %+v", i, ground, rise, p)
			}
			if p.Sums[processing.KindGlare] != 16*uint64(p.Area) {
				t.Fatalf("component %d: %+v", i, p)
			}
		}
	})
}

// decision is one with a table of wrong findings.
func decision() *processing.Decision {
	d := &processing.Decision{Version: processing.DecisionVersion,
		Wrong: []processing.WrongShare{{Score: -3, Wrong: 0.8}, {Score: 0, Wrong: 0.3}, {Score: 2, Wrong: 0.02}}}
	for s := -5; s <= 5; s++ {
		d.Strengths = append(d.Strengths, 3.2*math.Pow(1.35, float64(-s)))
	}
	return d
}

// Others around a component are those whose cells are at most ten from its own, whatever their order.
func TestOthersAroundEqualsReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 900).Draw(t, "w"), rapid.IntRange(1, 700).Draw(t, "h")
		n := rapid.IntRange(0, 60).Draw(t, "n")
		at, evidence := make([]image.Point, n), make([]float64, n)
		for i := range at {
			at[i] = image.Pt(rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y"))
			evidence[i] = rapid.Float64Range(0, 80).Draw(t, "evidence")
		}
		got := othersAround(w, h, at, evidence)
		for i, p := range at {
			want := 0.0
			for k, q := range at {
				if k != i && max(p.X/16-q.X/16, q.X/16-p.X/16, p.Y/16-q.Y/16, q.Y/16-p.Y/16) <= 10 {
					want += math.Floor(min(evidence[k]/40, 1)*256+0.5) / 256
				}
			}
			if got[i] != want {
				t.Fatalf("component %d: %g others, want %g", i, got[i], want)
			}
		}
	})
}

// Decide keeps exactly the pixels of the accepted components; findings are the connected sets of these, judged by their
// strongest component.
func TestDecideEqualsReference(t *testing.T) {
	t.Parallel()
	d := decision()
	rapid.Check(t, func(t *rapid.T) {
		pic, spans, n := random(t)
		f := found{spans: spans, props: make([]processing.GlintProps, n)}
		for i := range f.props {
			p := &f.props[i]
			p.Peak, p.Ground = 255, uint8(rapid.IntRange(150, 235).Draw(t, "ground"))
			p.Area = rapid.Uint32Range(1, 60).Draw(t, "area")
			for k := range p.Sums {
				p.Sums[k] = rapid.Uint64Range(0, 400).Draw(t, "sum")
			}
		}
		table, err := outlined(t.Context(), pic, f, sharp)
		if err != nil {
			t.Fatal(err)
		}
		p := processing.DefaultParams()
		p.Sensitivity = rapid.Float64Range(-5, 5).Draw(t, "sensitivity")
		kept, list := Decide(table, d, p, nil)

		// At each pixel the strongest accepted component.
		best := map[image.Point]*Component{}
		kinds := 0
		var own []float64
		for i := range f.props {
			q := &f.props[i]
			_, rise, _ := q.Rise()
			sum := float64(total(q.Sums)) / 16
			if sum < leastSum || rise < leastRise {
				continue
			}
			c := &table.Components[kinds]
			kinds++
			radius := max(1, math.Sqrt(float64(c.Area)/math.Pi))
			own = append(own, 36*sum/float64(q.Area+5)*math.Sqrt(float64(rise)/float64(c.Ground+16))*math.Pow((1+sum/30)/min(radius, 4), 1.5))
			if d.Score(c.Strength)+p.Sensitivity < 0 {
				continue
			}
			for _, s := range c.Spans {
				for x := s.X0; x < s.X1; x++ {
					at := image.Pt(int(x), int(s.Y))
					if old := best[at]; old == nil || c.Strength > old.Strength {
						best[at] = c
					}
				}
			}
		}
		if kinds != len(table.Components) {
			t.Fatalf("%d components, want %d", len(table.Components), kinds)
		}
		for i, c := range table.Components {
			// The picture is so small that all components are near each other.
			others := 0.0
			for k, v := range own {
				if k != i {
					others += math.Round(min(v/40, 1)*256) / 256
				}
			}
			want := math.Sqrt(own[i]) * math.Pow(1+others/3, 0.35)
			if math.Abs(c.Strength-want) > 1e-9*want {
				t.Fatalf("strength %g, want %g", c.Strength, want)
			}
		}
		got, pixels := map[image.Point]bool{}, 0
		for i, s := range kept {
			if i > 0 && (s.Y < kept[i-1].Y || s.Y == kept[i-1].Y && s.X0 < kept[i-1].X1) {
				t.Fatalf("span %d is out of order", i)
			}
			for x := s.X0; x < s.X1; x++ {
				got[image.Pt(int(x), int(s.Y))] = true
				pixels++
			}
		}
		if pixels != len(best) || len(got) != len(best) {
			t.Fatalf("%d pixels, %d of them different, want %d", pixels, len(got), len(best))
		}
		sum := 0
		for _, f := range list {
			strongest := 0.0
			for _, r := range f.Runs {
				for x := r.X0; x < r.X1; x++ {
					c := best[image.Pt(x, r.Y)]
					if c == nil {
						t.Fatalf("pixel %d,%d of finding %d is not accepted", x, r.Y, f.ID)
					}
					strongest = max(strongest, c.Strength)
					sum++
				}
			}
			if f.Strength != strongest || f.Score != d.Score(strongest) || f.Certainty != d.Certainty(f.Score) {
				t.Fatalf("finding %+v: the strongest component has %g", f, strongest)
			}
			share, largest := 0.0, slices.Max(f.Shares[:])
			for _, s := range f.Shares {
				share += s
			}
			if math.Abs(share-1) > 1e-9 || f.Shares[f.Kind] != largest {
				t.Fatalf("finding %+v: wrong shares or kind", f)
			}
			if f.Check != (f.Kind != processing.KindGlare || f.Area > 30 && f.Certainty < 0.9) {
				t.Fatalf("finding %+v: wrong check", f)
			}
		}
		if sum != len(best) {
			t.Fatalf("the findings have %d pixels, want %d", sum, len(best))
		}
		if counts := Counts(table, d, p, nil, []float64{5, p.Sensitivity}); counts[1] != len(list) || counts[0] < counts[1] {
			t.Fatalf("%v are counted at 5 and at %g, where there are %d", counts, p.Sensitivity, len(list))
		}
	})
}

// Levels are those of the colours that Luminance writes, at any depth and number of channels.
func TestLevelsEqualLuminance(t *testing.T) {
	t.Parallel()
	be := cpu.New()
	defer be.Close()
	for _, channels := range []int{1, 3, 4} {
		for _, depth := range []int{8, 16, 32} {
			pic := testpic.Noise(37, 11, channels, depth)
			s := newPlanes(t.Context(), be, nil)
			rgb, err := s.colours(pic)
			if err != nil {
				t.Fatal(err)
			}
			var host [3][]uint8
			for i := range host {
				h, err := be.Host(t.Context(), rgb[i])
				if err != nil {
					t.Fatal(err)
				}
				host[i] = h.U8
			}
			got := newLevels(pic).window(nil, 2, 1, 37, 11)
			for i, v := range got {
				k := (1+i/35)*37 + 2 + i%35
				want := uint8((int(host[0][k]) + 2*int(host[1][k]) + int(host[2][k]) + 2) >> 2)
				if v != want || v < min(host[0][k], host[1][k], host[2][k]) {
					t.Fatalf("%d channels, %d bits: pixel %d is %d, want %d", channels, depth, k, v, want)
				}
			}
			s.release()
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	const w, h = 10000, 10000
	t := &Table{Width: w, Height: h}
	g := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		c := Component{Area: 8, Strength: 1 + 6*g.Float64(), Rise: 60, Shares: [4]float64{1}}
		x, y := int32(g.IntN(w-4)), int32(g.IntN(h-4))
		for k := range int32(2) {
			c.Spans = append(c.Spans, processing.Span{Y: y + k, X0: x, X1: x + 4, Label: uint32(i)})
		}
		t.Components = append(t.Components, c)
	}
	sets := make([][]processing.Span, len(t.Components))
	for i := range sets {
		sets[i] = t.Components[i].Spans
	}
	t.spans = span.InReadingOrder(sets, h)
	d, p := decision(), processing.DefaultParams()
	b.Run("decide", func(b *testing.B) {
		for b.Loop() {
			Decide(t, d, p, nil)
		}
	})
	b.Run("count at four stops", func(b *testing.B) {
		for b.Loop() {
			Counts(t, d, p, nil, []float64{-0.7, 0, 0.9, 3})
		}
	})
}
