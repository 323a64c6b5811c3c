//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/cpu"
)

// mask draws which pixels are set: patterns that are hard in different ways.
func mask(t *rapid.T, name string, w, h int) []bool {
	set := make([]bool, w*h)
	kind := rapid.SampledFrom([]string{"noise", "noise", "discs", "discs", "all", "none", "checks", "comb", "spiral",
		"maze", "lines"}).Draw(t, name)
	seed := rapid.Uint64().Draw(t, name+" seed") | 1
	below := func(n int) int {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return int(seed * 2685821657736338717 >> 33 % uint64(n))
	}
	each := func(f func(x, y int) bool) {
		for i := range set {
			set[i] = f(i%w, i/w)
		}
	}
	switch kind {
	case "noise":
		share := 1 + below(99)
		each(func(int, int) bool { return below(100) < share })
	case "discs":
		for range 1 + below(1+w*h/300) {
			cx, cy, r := below(w), below(h), below(1+min(max(w, h), 40))
			for y := max(cy-r, 0); y <= min(cy+r, h-1); y++ {
				for x := max(cx-r, 0); x <= min(cx+r, w-1); x++ {
					set[y*w+x] = set[y*w+x] || (x-cx)*(x-cx)+(y-cy)*(y-cy) <= r*r
				}
			}
		}
	case "all":
		each(func(int, int) bool { return true })
	case "checks":
		each(func(x, y int) bool { return (x+y)%2 == 0 })
	case "comb":
		back := below(h)
		each(func(x, y int) bool { return x%2 == 0 || y == back })
	case "lines":
		gap := 2 + below(5)
		each(func(x, y int) bool { return y%gap == 0 })
	case "maze":
		each(func(x, y int) bool { return x%2 == 0 && y%2 == 0 || (x+y)%2 != 0 && below(2) == 0 })
	case "spiral":
		// A path two pixels from its last turn.
		left, top, right, base := 0, 0, w-1, h-1
		x, y := 0, 0
		walk := func(tx, ty int) {
			for {
				set[y*w+x] = true
				if x == tx && y == ty {
					return
				}
				x += min(max(tx-x, -1), 1)
				y += min(max(ty-y, -1), 1)
			}
		}
		for left <= right && top <= base {
			walk(right, y)
			walk(x, base)
			walk(left, y)
			if top += 2; top > base {
				break
			}
			walk(x, top)
			left, right, base = left+2, right-2, base-2
		}
	}
	return set
}

// classes draws a class plane.
func (p *pair) classes(t *rapid.T, name string) planes {
	core, few, grow, wide := mask(t, name+" cores", p.w, p.h), mask(t, name+" of the cores", p.w, p.h), mask(t,
		name+" growth", p.w, p.h), mask(t, name+" bright", p.w, p.h)
	pix := make([]uint8, len(core))
	for i := range pix {
		if core[i] && few[i] {
			pix[i] |= processing.ClassCore
		}
		if grow[i] {
			pix[i] |= processing.ClassGrow
		}
		if wide[i] {
			pix[i] |= processing.ClassWide
		}
	}
	return p.load(processing.U8, processing.Samples{U8: pix})
}

// growth draws a rule, often one of detection's, sometimes an extreme one.
func growth(t *rapid.T) processing.Growth {
	limit := rapid.SampledFrom([]float64{0, 0.9, 1, 6, 15, 30, 120, processing.MaxGrowth}).Draw(t, "limit")
	g := processing.Growth{Base: 1.5, Slope: 0.7, FarBase: 4, FarSlope: 2, Closed: 0.15, Limit: limit, MaxCore: 4000}
	switch rapid.IntRange(0, 2).Draw(t, "rule") {
	case 1:
		g.Base, g.Slope = rapid.Float64Range(0, 9).Draw(t, "base"), rapid.Float64Range(0, 3).Draw(t, "slope")
		g.FarBase, g.FarSlope = rapid.Float64Range(0, 20).Draw(t, "far base"), rapid.Float64Range(0,
			9).Draw(t, "far slope")
		g.Closed, g.MaxCore = rapid.Float64Range(0, 1).Draw(t, "closed"), rapid.IntRange(0, 200).Draw(t, "largest core")
	case 2:
		g.Base, g.Closed, g.MaxCore = limit, rapid.SampledFrom([]float64{0, 1e9}).Draw(t, "closed"), math.MaxInt
	}
	return g
}

// newPair makes a pair for pictures of the given size; close reports what is left in use.
func newPair(t testing.TB, dev *Backend, w, h int) *pair {
	return &pair{t: t, host: cpu.New(), dev: dev, w: w, h: h}
}

func (p *pair) close() {
	p.t.Helper()
	for _, l := range p.live {
		l.Release()
	}
	p.must(p.host.Close())
	released(p.t, p.dev)
}

// sets are the same components on both backends.
type sets struct{ host, dev processing.Components }

func (p *pair) label(cls planes, bits uint8) (s sets) {
	p.t.Helper()
	var err error
	s.host, err = processing.Evaluate(background, p.host, processing.Label{Class: cls.host, Bits: bits})
	p.must(err)
	s.dev, err = processing.Evaluate(background, p.dev, processing.Label{Class: cls.dev, Bits: bits})
	p.must(err)
	return s
}

func (p *pair) grow(cores sets, cls planes, g processing.Growth) (s sets) {
	p.t.Helper()
	var err error
	s.host, err = processing.Evaluate(background, p.host, processing.Grow{
		Cores: cores.host, Class: cls.host, Growth: g,
	})
	p.must(err)
	s.dev, err = processing.Evaluate(background, p.dev, processing.Grow{Cores: cores.dev, Class: cls.dev, Growth: g})
	p.must(err)
	return s
}

func (s sets) release() {
	s.host.Release()
	s.dev.Release()
	s.dev.Release() // which is harmless
}

// equalSets compares components, and then some of them.
func (p *pair) equalSets(what string, s sets) {
	p.t.Helper()
	if s.dev.Len() != s.host.Len() {
		p.t.Fatalf("%s: %d components on the GPU, %d on the CPU", what, s.dev.Len(), s.host.Len())
	}
	want, err := processing.Evaluate(background, p.host, processing.Spans{Components: s.host})
	p.must(err)
	got, err := processing.Evaluate(background, p.dev, processing.Spans{Components: s.dev})
	p.must(err)
	if len(got) != len(want) {
		p.t.Fatalf("%s: %d spans on the GPU, %d on the CPU", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			p.t.Fatalf("%s: span %d is %v on the GPU, %v on the CPU", what, i, got[i], want[i])
		}
	}
}

func (p *pair) keep(t *rapid.T, s sets) []bool {
	p.t.Helper()
	every := rapid.IntRange(1, 7).Draw(t, "kept but every")
	keep := make([]bool, s.host.Len())
	for i := range keep {
		keep[i] = i%every != every-1
	}
	p.both(p.host.Do(background, processing.FilterComponents{
		Components: s.host, Keep: keep,
	}), p.dev.Do(background, processing.FilterComponents{
		Components: s.dev, Keep: keep,
	}))
	return keep
}

func TestComponents(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		before, after := p.classes(t, "before"), p.classes(t, "after")
		bits := rapid.SampledFrom([]uint8{processing.ClassCore, processing.ClassCore | processing.ClassWide, 255,
			0}).Draw(t, "bits")
		cores := p.label(before, bits)
		defer cores.release()
		p.equalSets("labelled", cores)
		first := p.grow(cores, before, growth(t))
		p.equalSets("grown", first)
		first.release()
		p.keep(t, cores)
		p.equalSets("kept cores", cores)
		grown := p.grow(cores, after, growth(t))
		defer grown.release()
		p.equalSets("grown again", grown)
		p.keep(t, grown)
		p.equalSets("kept", grown)
		member := p.soiled(processing.U8)
		p.both(p.host.Do(background, processing.Rasterize{
			Dst: member.host, Components: grown.host,
		}), p.dev.Do(background, processing.Rasterize{
			Dst: member.dev, Components: grown.dev,
		}))
		p.equal("painted", member)
		p.equalGlints(t, grown)
	})
}

// equalGlints compares the measures of glints on both backends.
func (p *pair) equalGlints(t *rapid.T, c sets) {
	p.t.Helper()
	logits, kinds := p.drawn(t, processing.U8, "logits"), p.drawn(t, processing.U8, "kinds")
	red, green, blue := p.drawn(t, processing.U8, "red"), p.drawn(t, processing.U8, "green"), p.drawn(t, processing.U8, "blue")
	want, err := processing.Evaluate(background, p.host, processing.MeasureGlints{
		Components: c.host, Logits: logits.host, Kinds: kinds.host, Red: red.host, Green: green.host, Blue: blue.host,
	})
	p.must(err)
	got, err := processing.Evaluate(background, p.dev, processing.MeasureGlints{
		Components: c.dev, Logits: logits.dev, Kinds: kinds.dev, Red: red.dev, Green: green.dev, Blue: blue.dev,
	})
	p.must(err)
	if len(got) != len(want) {
		t.Fatalf("%d glints on the GPU, %d on the CPU", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("glint %d: %+v on the GPU, %+v on the CPU", i, got[i], want[i])
		}
	}
}

func TestFillHoles(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		pix := make([]uint8, p.w*p.h)
		for i, set := range mask(t, "mask", p.w, p.h) {
			if set {
				pix[i] = uint8(1 + i%255)
			}
		}
		d := p.load(processing.U8, processing.Samples{U8: pix})
		p.do(processing.FillHoles{Dst: d.host})
		p.equal("filled", d)
	})
}

// More runs than fit at first, in wide pictures and high ones, and a component over all of them.
func TestManyRuns(t *testing.T) {
	dev := gpu(t)
	sizes := [][2]int{{2047, 1}, {1, 2048}, {255, 40}, {2051, 21}, {21, 2051}, {1024, 16}, {1023, 40}}
	if testing.Short() {
		sizes = sizes[:3]
	}
	for _, size := range sizes {
		p := newPair(t, dev, size[0], size[1])
		n := p.w * p.h
		for name, set := range map[string]func(x, y int) bool{
			"checks": func(x, y int) bool { return (x+y)%2 == 0 },
			"teeth":  func(x, y int) bool { return x%2 == 0 },
			"comb":   func(x, y int) bool { return x%2 == 0 || y == p.h/2 },
			"points": func(x, y int) bool { return x%2 == 0 && y%2 == 0 },
			"all":    func(x, y int) bool { return true },
		} {
			pix := make([]uint8, n)
			for i := range pix {
				if set(i%p.w, i/p.w) {
					pix[i] = processing.ClassCore
				} else if i%3 > 0 {
					pix[i] = processing.ClassGrow
				}
			}
			cls := p.load(processing.U8, processing.Samples{U8: pix})
			cores := p.label(cls, processing.ClassCore)
			p.equalSets(name, cores)
			grown := p.grow(cores, cls, processing.Growth{Base: 2, Limit: 4, MaxCore: n})
			p.equalSets(name+", grown", grown)
			p.do(processing.FillHoles{Dst: cls.host})
			p.equal(name+", filled", cls)
			cores.release()
			grown.release()
		}
		p.close()
	}
}

// A core grows along a path that winds through many tiles.
func TestGrowAlongWindingWays(t *testing.T) {
	dev := gpu(t)
	p := newPair(t, dev, 160, 160)
	defer p.close()
	for _, gap := range []int{2, 3, 5} {
		pix := make([]uint8, p.w*p.h)
		for i := range pix {
			x, y := i%p.w, i/p.w
			// Corridors, joined at alternate ends.
			if y%gap == 0 || x == p.w*(y/gap%2)/2+p.w/4 {
				pix[i] = processing.ClassGrow
			}
		}
		for _, at := range []int{80*p.w + 80, 80*p.w + 40, 33*p.w + 126} {
			pix[at] = processing.ClassCore
		}
		cls := p.load(processing.U8, processing.Samples{U8: pix})
		cores := p.label(cls, processing.ClassCore)
		for _, limit := range []float64{10, 60, processing.MaxGrowth} {
			grown := p.grow(cores, cls, processing.Growth{Base: limit, Limit: limit, MaxCore: 9})
			p.equalSets("grown", grown)
			grown.release()
		}
		cores.release()
	}
}

func TestComponentsCancelled(t *testing.T) {
	dev := gpu(t)
	p := newPair(t, dev, 40, 30)
	defer p.close()
	cls := p.load(processing.U8, processing.Samples{U8: fill[uint8](40*30, processing.ClassCore|processing.ClassGrow)})
	cores := p.label(cls, processing.ClassCore)
	cancelled, cancel := context.WithCancel(background)
	cancel()
	_, label := processing.Evaluate(cancelled, dev, processing.Label{Class: cls.dev, Bits: 255})
	_, grow := processing.Evaluate(cancelled, dev, processing.Grow{
		Cores: cores.dev, Class: cls.dev, Growth: processing.Growth{Limit: 5},
	})
	_, spans := processing.Evaluate(cancelled, dev, processing.Spans{Components: cores.dev})
	for i, err := range []error{label, grow, spans, dev.Do(cancelled, processing.FilterComponents{
		Components: cores.dev, Keep: make([]bool, 1),
	}), dev.Do(cancelled, processing.Rasterize{
		Dst: cls.dev, Components: cores.dev,
	}), dev.Do(cancelled, processing.FillHoles{Dst: cls.dev})} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("operation %d of a cancelled context: %v", i, err)
		}
	}
	cores.release()
}
