package synth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

func paint(t testing.TB, w, h, depth int, o PaintOptions) *processing.Picture {
	t.Helper()
	p, err := Paint(context.Background(), w, h, depth, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	if p.Width != w || p.Height != h || p.Depth() != depth {
		t.Fatalf("%d × %d pixels of %d bits asked, %d × %d of %d painted", w, h, depth, p.Width, p.Height, p.Depth())
	}
	return p
}

func TestPaintingDoesNotDependOnWorkers(t *testing.T) {
	t.Parallel()
	for _, scene := range Scenes() {
		// More than one tile in both directions, with ragged last ones.
		one := paint(t, 390, 270, 8, PaintOptions{Seed: 8, Scene: scene, SizeMM: 110, Workers: 1})
		two := paint(t, 390, 270, 8, PaintOptions{Seed: 8, Scene: scene, SizeMM: 110, Workers: 2})
		if !bytes.Equal(one.U8, two.U8) {
			t.Errorf("%s: one and two workers paint different pictures", scene)
		}
		other := paint(t, 390, 270, 8, PaintOptions{Seed: 9, Scene: scene, SizeMM: 110})
		if bytes.Equal(one.U8, other.U8) {
			t.Errorf("%s: two seeds paint the same picture", scene)
		}
	}
}

// Golden hashes detect a change of the paintings, on which the sample in assets and figures of other tests depend.
// Other architectures may fuse multiplications and additions and round differently.
func TestGolden(t *testing.T) {
	t.Parallel()
	testpic.Need(t, runtime.GOARCH == "amd64", "amd64, for which the golden hashes hold")
	glare := preset(t, "mixed")
	glare.Count = 12
	for scene, want := range map[string]string{
		"coast":      "fafa0a955f9ba1c0",
		"still-life": "15b8d7360224d041",
		"portrait":   "612776baa14bf8f1",
	} {
		g, m, _, err := Generate(context.Background(), 200, 140, 8, 1, PaintOptions{Scene: scene, SizeMM: 120}, glare)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(append(slices.Clone(g.U8), m.Pix...))
		if got := hex.EncodeToString(sum[:8]); got != want {
			t.Errorf("%s: hash %s, want %s", scene, got, want)
		}
	}
}

func TestPaintSmallAndOddSizes(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {1, 300}, {300, 1}, {2, 2}, {255, 3}, {257, 5}, {37, 91}} {
		for _, scene := range Scenes() {
			for _, grey := range []bool{false, true} {
				paint(t, size[0], size[1], 8, PaintOptions{Seed: 1, Scene: scene, Grey: grey})
			}
		}
	}
}

func TestPaintUsesSixteenBits(t *testing.T) {
	t.Parallel()
	p := paint(t, 120, 80, 16, PaintOptions{Seed: 1, SizeMM: 60, Noiseless: true})
	narrow := paint(t, 120, 80, 8, PaintOptions{Seed: 1, SizeMM: 60, Noiseless: true})
	fine := 0
	for i, v := range p.U16 {
		if v%257 != 0 {
			fine++
		}
		if d := int(v) - 257*int(narrow.U8[i]); d > 129 || d < -129 {
			t.Fatalf("sample %d is %d at 16 bits and %d at 8", i, v, narrow.U8[i])
		}
	}
	if fine < len(p.U16)*9/10 {
		t.Errorf("%d of %d samples lie between the levels of 8 bits", fine, len(p.U16))
	}
}

func TestGreyIsTheLuminance(t *testing.T) {
	t.Parallel()
	o := PaintOptions{Seed: 3, Scene: "coast", SizeMM: 80, Noiseless: true}
	colour := paint(t, 90, 70, 16, o)
	o.Grey = true
	grey := paint(t, 90, 70, 16, o)
	lin := func(v uint16) float64 { return processing.TransferSRGB.Linear(float64(v) / 65535) }
	for i, v := range grey.U16 {
		c := colour.U16[3*i : 3*i+3]
		if slices.Max(c) == 65535 {
			continue
		}
		want := lumaR*lin(c[0]) + lumaG*lin(c[1]) + lumaB*lin(c[2])
		if got := lin(v); math.Abs(got-want) > 1e-4 {
			t.Fatalf("pixel %d: %g, want %g", i, got, want)
		}
	}
}

// A painting has the properties of one: tones from dark to bright, structure at the scale of strokes, fine detail, and
// bright touches that a detector must not mark.
func TestPaintingsHaveTonesStructureAndBrightDetails(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	for _, scene := range Scenes() {
		p := paint(t, 600, 430, 8, PaintOptions{Seed: 2, Scene: scene, Grey: true})
		var hist [256]int
		var rough float64
		for y := range p.Height {
			row := p.U8[y*p.Width : (y+1)*p.Width]
			for x, v := range row {
				hist[v]++
				if x > 0 {
					rough += math.Abs(float64(v) - float64(row[x-1]))
				}
			}
		}
		n := float64(len(p.U8))
		below := func(level int) float64 {
			sum := 0
			for _, k := range hist[:level] {
				sum += k
			}
			return float64(sum) / n
		}
		if dark, bright := below(70), 1-below(200); dark < 0.08 || bright < 0.0002 || bright > 0.1 {
			t.Errorf("%s: %.3f of the pixels dark, %.5f bright", scene, dark, bright)
		}
		if rough /= n; rough < 1.5 || rough > 15 {
			t.Errorf("%s: neighbours differ by %.2f levels on average", scene, rough)
		}
	}
}

// The same painting has the same composition at a higher resolution.
func TestSizeKeepsTheComposition(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	for _, scene := range Scenes() {
		small := paint(t, 120, 80, 8, PaintOptions{Seed: 4, Scene: scene, Noiseless: true, Grey: true})
		big := paint(t, 480, 320, 8, PaintOptions{Seed: 4, Scene: scene, Noiseless: true, Grey: true})
		var diff float64
		const k = 4
		for y := range small.Height {
			for x := range small.Width {
				var sum float64
				for j := range k {
					for i := range k {
						sum += float64(big.U8[(k*y+j)*big.Width+k*x+i])
					}
				}
				diff += math.Abs(sum/(k*k) - float64(small.U8[y*small.Width+x]))
			}
		}
		if mean := diff / float64(len(small.U8)); mean > 12 {
			t.Errorf("%s: the small and the large painting differ by %.1f levels on average", scene, mean)
		}
	}
}

func TestGenerateTruth(t *testing.T) {
	t.Parallel()
	glare := preset(t, "default")
	glare.Count = 40
	g, m, s, err := Generate(context.Background(), 500, 350, 16, 6, PaintOptions{}, glare)
	if err != nil {
		t.Fatal(err)
	}
	if g.U16 == nil || m.Area() != s.Area || s.Area < 100 || s.Glints != 40 {
		t.Errorf("%+v with %d pixels marked", s, m.Area())
	}
}

func TestCancelledPainting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := Paint(ctx, 12000, 9000, 8, PaintOptions{Seed: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	_, _, _, err := Generate(ctx, 10, 10, 8, 1, PaintOptions{}, GlareOptions{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestWrongPaintings(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func() error{
		"no width":        func() error { _, err := Paint(context.Background(), 0, 5, 8, PaintOptions{}); return err },
		"negative height": func() error { _, err := Paint(context.Background(), 5, -1, 8, PaintOptions{}); return err },
		"too large": func() error {
			_, err := Paint(context.Background(), math.MaxInt/2, 5, 8, PaintOptions{})
			return err
		},
		"depth": func() error { _, err := Paint(context.Background(), 5, 5, 12, PaintOptions{}); return err },
		"scene": func() error {
			_, err := Paint(context.Background(), 5, 5, 8, PaintOptions{Scene: "battle"})
			return err
		},
		"size": func() error { _, err := Paint(context.Background(), 5, 5, 8, PaintOptions{SizeMM: 1}); return err },
		"NaN size": func() error {
			_, err := Paint(context.Background(), 5, 5, 8, PaintOptions{SizeMM: math.NaN()})
			return err
		},
	} {
		if f() == nil {
			t.Errorf("wrong %s is accepted", name)
		}
	}
}

// rowSpan compared with a walk along the row.
func TestRowSpan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		angle := rapid.Float64Range(-4, 4).Draw(t, "angle")
		half := rapid.Float64Range(0.1, 9).Draw(t, "half")
		wide := rapid.Float64Range(0.1, 9).Draw(t, "wide")
		dy := rapid.Float64Range(-15, 15).Draw(t, "dy")
		sin, cos := math.Sincos(angle)
		a, b := rowSpan(dy, cos, sin, half, wide)
		for dx := -20.0; dx <= 20; dx += 0.125 {
			u, v := dx*cos+dy*sin, dy*cos-dx*sin
			inside := math.Abs(u) < half-1e-6 && math.Abs(v) < wide-1e-6
			if inside && (dx < a || dx > b) {
				t.Fatalf("%g is inside but not within %g…%g", dx, a, b)
			}
			outside := math.Abs(u) > half+1e-6 || math.Abs(v) > wide+1e-6
			if outside && dx > a && dx < b {
				t.Fatalf("%g is outside but within %g…%g", dx, a, b)
			}
		}
	})
}

// The distance to a crack compared with all points of a wide neighbourhood.
func TestCracks(t *testing.T) {
	t.Parallel()
	var c cracks
	c.build(5, -20, -20, 60, 60)
	rapid.Check(t, func(t *rapid.T) {
		x := float32(rapid.Float64Range(-15, 55).Draw(t, "x"))
		y := float32(rapid.Float64Range(-15, 55).Draw(t, "y"))
		near, next, a, b := math.Inf(1), math.Inf(1), 0, 0
		for k := range c.x {
			d := math.Hypot(float64(c.x[k]-x), float64(c.y[k]-y))
			if d < near {
				near, next, a, b = d, near, k, a
			} else if d < next {
				next, b = d, k
			}
		}
		gap := math.Hypot(float64(c.x[a]-c.x[b]), float64(c.y[a]-c.y[b]))
		want := (next*next - near*near) / (2 * gap)
		got, _ := c.at(x, y)
		// The second point may be two cells away where no crack is near; only near cracks are drawn.
		if want < 1 && math.Abs(float64(got)-want) > 1e-3 {
			t.Fatalf("distance %g, want %g", got, want)
		}
	})
}

func BenchmarkPaint(b *testing.B) {
	for _, scene := range Scenes() {
		b.Run(scene, func(b *testing.B) {
			b.SetBytes(2000 * 1500)
			for range b.N {
				paint(b, 2000, 1500, 8, PaintOptions{Seed: 1, Scene: scene})
			}
		})
	}
}

func BenchmarkRenderGlare(b *testing.B) {
	p := pattern(2000, 1500, 3, 8, processing.TransferSRGB)
	o, err := Preset("mixed")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(2000 * 1500)
	for range b.N {
		if _, _, _, err := RenderGlare(context.Background(), p, o); err != nil {
			b.Fatal(err)
		}
	}
}

// Tiles are painted separately but match: the step across their border is no larger than elsewhere.
func TestNoSeams(t *testing.T) {
	t.Parallel()
	for _, scene := range Scenes() {
		p := paint(t, 3*tileSide, 120, 16, PaintOptions{Seed: 5, Scene: scene, SizeMM: 150, Noiseless: true,
			Grey: true})
		steps := make([]float64, p.Width-1)
		for x := range steps {
			for y := range p.Height {
				steps[x] += math.Abs(float64(p.U16[y*p.Width+x+1]) - float64(p.U16[y*p.Width+x]))
			}
		}
		for _, seam := range []int{tileSide - 1, 2*tileSide - 1} {
			near := slices.Max(slices.Concat(steps[seam-20:seam], steps[seam+1:seam+21]))
			if steps[seam] > 1.3*near {
				t.Errorf("%s: a step of %.0f at column %d, at most %.0f beside it", scene, steps[seam], seam, near)
			}
		}
	}
}
