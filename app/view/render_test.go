package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

func drawPicture(t *rapid.T, w, h int) *processing.Picture {
	p := &processing.Picture{
		Width: w, Height: h, Channels: rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels"),
		Transfer: processing.Transfer(rapid.IntRange(0, 3).Draw(t, "transfer")),
	}
	if rapid.IntRange(0, 3).Draw(t, "has curve") == 0 {
		p.Curve = []float32{0, 0.1, 0.3, 0.3, 1}
	}
	n := w * h * p.Channels
	seed := rapid.Uint32().Draw(t, "seed")
	next := func() uint32 {
		seed = seed*1664525 + 1013904223
		return seed >> 8
	}
	switch rapid.IntRange(0, 2).Draw(t, "type") {
	case 0:
		p.U8 = make([]uint8, n)
		for i := range p.U8 {
			p.U8[i] = uint8(next() >> 8)
		}
	case 1:
		p.U16 = make([]uint16, n)
		for i := range p.U16 {
			p.U16[i] = uint16(next())
		}
	default:
		p.F32 = make([]float32, n)
		for i := range p.F32 {
			p.F32[i] = float32(next())/(1<<24)*1.4 - 0.2
		}
		p.F32[0] = float32(math.NaN())
	}
	return p
}

func drawMask(t *rapid.T, w, h int) *processing.Mask {
	m := processing.NewMask(w, h)
	for range rapid.IntRange(0, 8).Draw(t, "spots") {
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		m.Pix[y*w+x] = rapid.SampledFrom([]uint8{255, 255, 128, 127, 30}).Draw(t, "value")
	}
	if rapid.Bool().Draw(t, "block") {
		x, y := rapid.IntRange(0, w-1).Draw(t, "bx"), rapid.IntRange(0, h-1).Draw(t, "by")
		for j := y; j < min(y+10, h); j++ {
			for i := x; i < min(x+14, w); i++ {
				m.Pix[j*w+i] = 255
			}
		}
	}
	return m
}

func pyramids(t interface{ Fatal(args ...any) }, p *processing.Picture, m *processing.Mask) (*Pyramid, *MaskPyramid) {
	a, err := NewPyramid(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return a, NewMaskPyramid(m)
}

// light converts a sample to linear light.
func light(p *processing.Picture, x, y, channel int) float64 {
	if p.Channels == 1 {
		channel = 0
	}
	at := (y*p.Width + x) * p.Channels
	v, most := testpic.Sample(p, at+channel)
	if p.Channels == 4 {
		ink, _ := testpic.Sample(p, at+3)
		v = math.Floor((most-v)*(most-ink)/most + 0.5)
	}
	return p.Linear(v / most)
}

// slowLevel returns a channel of a level of the pyramid as encoded values, by definition: each level is the rounded
// mean, in linear light, of the previous one.
func slowLevel(p *processing.Picture, level, channel int) (pix []float64, w, h int) {
	w, h = p.Width, p.Height
	lin := make([]float64, w*h)
	for i := range lin {
		lin[i] = light(p, i%w, i/w, channel)
	}
	for range level {
		nw, nh := (w+1)/2, (h+1)/2
		next := make([]float64, nw*nh)
		for y := range nh {
			for x := range nw {
				sum, n := 0.0, 0.0
				for j := 2 * y; j < min(2*y+2, h); j++ {
					for i := 2 * x; i < min(2*x+2, w); i++ {
						sum += lin[j*w+i]
						n++
					}
				}
				next[y*nw+x] = sum / n
			}
		}
		lin, w, h = next, nw, nh
	}
	for i, v := range lin {
		lin[i] = 255 * processing.TransferSRGB.Encode(v)
	}
	return lin, w, h
}

func TestPyramidIsTheMeanInLinearLight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pic := drawPicture(t, rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h"))
		p, _ := pyramids(t, pic, processing.NewMask(pic.Width, pic.Height))
		for i, l := range p.levels {
			for c := range 3 {
				want, w, h := slowLevel(pic, i+1, c)
				if l.w != w || l.h != h {
					t.Fatalf("level %d is %d × %d, want %d × %d", i+1, l.w, l.h, w, h)
				}
				for k, v := range want {
					// Each level rounds by up to half a value; near black the tables add one more.
					if got := float64(uint8(l.pix[k] >> (8 * c))); !near(got, v, 1.6+0.5*float64(i)) ||
						l.pix[k]>>24 != 255 {
						t.Fatalf("level %d pixel %d channel %d = %v, want %v", i+1, k, c, got, v)
					}
				}
			}
		}
		if last := p.levels; len(last) > 0 && len(last[len(last)-1].pix) != 1 {
			t.Fatal("the last level is more than a pixel")
		}
	})
}

func TestPyramidIsSmall(t *testing.T) {
	t.Parallel()
	pic := testpic.Noise(1000, 700, 3, 16)
	p, _ := pyramids(t, pic, processing.NewMask(1000, 700))
	if n, most := p.Bytes(), int64(1000*700*4/3+65536+4*2000); n > most {
		t.Errorf("%d bytes, more than a third of an 8-bit copy (%d)", n, most)
	}
}

func TestPyramidIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewPyramid(ctx, testpic.Noise(300, 300, 3, 8)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if _, err := NewPyramid(context.Background(), &processing.Picture{Width: 2, Height: 2, Channels: 3}); err == nil {
		t.Error("a picture without samples gave no error")
	}
}

// slowMax returns the maximum of the mask over the area of pixel (x, y) of a level.
func slowMax(m *processing.Mask, level, w, h, x, y int) uint8 {
	x1, y1 := (x+1)<<level, (y+1)<<level
	if x == w-1 {
		x1 = m.Width
	}
	if y == h-1 {
		y1 = m.Height
	}
	v := uint8(0)
	for j := y << level; j < y1; j++ {
		for i := x << level; i < x1; i++ {
			v = max(v, m.Pix[j*m.Width+i])
		}
	}
	return v
}

func checkMaskPyramid(t interface{ Fatalf(string, ...any) }, p *MaskPyramid) {
	for i := range p.levels {
		l := p.level(i + 1)
		for k, got := range l.pix {
			if want := slowMax(p.mask, i+1, l.w, l.h, k%l.w, k/l.w); got != want {
				t.Fatalf("level %d (%d × %d) pixel %d, %d = %d, want %d", i+1, l.w, l.h, k%l.w, k/l.w, got, want)
			}
		}
	}
}

func TestMaskPyramidIsTheMaximum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 70).Draw(t, "h")
		m := drawMask(t, w, h)
		p := NewMaskPyramid(m)
		checkMaskPyramid(t, p)
		for range 3 {
			x0, y0 := rapid.IntRange(0, w-1).Draw(t, "x0"), rapid.IntRange(0, h-1).Draw(t, "y0")
			r := image.Rect(x0, y0, rapid.IntRange(x0+1, w).Draw(t, "x1"), rapid.IntRange(y0+1, h).Draw(t, "y1"))
			v := rapid.SampledFrom([]uint8{0, 255, 128, 90}).Draw(t, "new")
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					m.Pix[y*w+x] = v
				}
			}
			// The rectangle may be larger than the change, and extend beyond the mask.
			p.Update(r.Inset(-rapid.IntRange(0, 90).Draw(t, "margin")))
			if rapid.Bool().Draw(t, "look") {
				checkMaskPyramid(t, p)
			}
		}
		checkMaskPyramid(t, p)
	})
}

func TestLargeMaskPyramid(t *testing.T) {
	t.Parallel()
	m := testpic.Specks(1301, 811)
	p := NewMaskPyramid(m)
	checkMaskPyramid(t, p)
}

// reference is a slow renderer. It caches levels, because every pixel needs one.
type reference struct {
	pic    *processing.Picture
	m      *processing.Mask
	levels map[[2]int]slowPlane
}

type slowPlane struct {
	pix  []float64
	w, h int
}

func (r *reference) level(level, channel int) slowPlane {
	key := [2]int{level, channel}
	if _, ok := r.levels[key]; !ok {
		pix, w, h := slowLevel(r.pic, level, channel)
		r.levels[key] = slowPlane{pix, w, h}
	}
	return r.levels[key]
}

// pixel computes the expected device pixel from the definitions, as floats. ok is false if rounding decides which pixel
// a sample hits.
func (r *reference) pixel(t Transform, o Options, x, y int) (want [3]float64, ok bool) {
	pic, m := r.pic, r.m
	at := func(x, y int) (float64, float64) {
		return shownAt(t.X, t.Zoom, pic.Width, x), shownAt(t.Y, t.Zoom, pic.Height, y)
	}
	inPicture := func(u, v float64) bool {
		return u >= 0 && v >= 0 && u < float64(pic.Width) && v < float64(pic.Height)
	}
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			if onTheBrink(t, image.Pt(pic.Width, pic.Height), x+dx, y+dy) {
				return want, false
			}
		}
	}
	u, v := at(x, y)
	if !inPicture(u, v) {
		s := Surround()
		return [3]float64{float64(s.R), float64(s.G), float64(s.B)}, true
	}
	exact := t.Zoom >= 1.5 || t.Zoom == 1
	for c := range want {
		switch {
		case o.Mode == MaskOnly:
		case exact:
			want[c] = r.level(0, c).pix[int(v)*pic.Width+int(u)]
		default:
			level := 0
			for int(1)<<level < pic.Width+pic.Height && t.Zoom*float64(int(1)<<level)*maxReduction < 1 {
				level++
			}
			plane := r.level(level, c)
			lv, w, h := plane.pix, plane.w, plane.h
			scale := 1 / float64(int(1)<<level)
			fu := math.Max(0, math.Min(u*scale-0.5, float64(w-1)))
			fv := math.Max(0, math.Min(v*scale-0.5, float64(h-1)))
			i, j := int(fu), int(fv)
			k, l := min(i+1, w-1), min(j+1, h-1)
			a, b := fu-float64(i), fv-float64(j)
			want[c] = (lv[j*w+i]*(1-a)+lv[j*w+k]*a)*(1-b) + (lv[l*w+i]*(1-a)+lv[l*w+k]*a)*b
		}
	}
	level := 0
	for w, h := m.Width, m.Height; (w > 1 || h > 1) && t.Zoom*float64(int(1)<<level) < 1; level++ {
		w, h = max(1, w/2), max(1, h/2)
	}
	valueOf := func(m *processing.Mask, dx, dy int) uint8 {
		u, v := at(x+dx, y+dy)
		if !inPicture(u, v) {
			return 0
		}
		w, h := max(1, m.Width>>level), max(1, m.Height>>level)
		return slowMax(m, level, w, h, min(int(u)>>level, w-1), min(int(v)>>level, h-1))
	}
	value := func(dx, dy int) uint8 { return valueOf(m, dx, dy) }
	ink, share := o.Colour, math.Max(0, math.Min(o.Opacity, 1))
	if o.Other != nil && o.Mode != PictureOnly {
		first, second, both := ComparedColours()
		if o.Mode == MaskOnly {
			share = 1
		}
		switch a, b := value(0, 0) >= 128, valueOf(o.Other.Mask(), 0, 0) >= 128; {
		case a && b:
			ink = both
		case a:
			ink = first
		case b:
			ink = second
		default:
			share = 0
		}
		o.Mode = 255 // none of the overlays
	}
	switch o.Mode {
	case PictureOnly:
		share = 0
	case PictureAndMask:
		share *= float64(value(0, 0)) / 255
	case MaskOnly:
		ink, share = color.RGBA{255, 255, 255, 255}, float64(value(0, 0))/255
	case Outlines:
		share = 0
		if value(0, 0) >= 128 && (value(-1, 0) < 128 || value(1, 0) < 128 || value(0, -1) < 128 || value(0, 1) < 128) {
			share = 1
			apart := math.Abs(want[0]-float64(ink.R)) + math.Abs(want[1]-float64(ink.G)) + math.Abs(want[2]-float64(ink.B))
			// Each channel may differ by 4.5, see below.
			if near(apart, AlikeInk, 13.5) || apart < AlikeInk && near(want[1], 127.5, 5) {
				return want, false
			}
			if apart < AlikeInk {
				if ink = (color.RGBA{}); want[1] < 127.5 {
					ink = color.RGBA{255, 255, 255, 255}
				}
			}
		}
	}
	for c, v := range [3]uint8{ink.R, ink.G, ink.B} {
		want[c] += (float64(v) - want[c]) * share
	}
	if o.Grid && t.Zoom >= GridZoom {
		u0, v0 := at(x-1, y-1)
		if math.Floor(u0) != math.Floor(u) || math.Floor(v0) != math.Floor(v) {
			if near(want[1], 127.5, 3) {
				return want, false
			}
			to := 0.0
			if want[1] < 127.5 {
				to = 255
			}
			for c := range want {
				want[c] += (to - want[c]) * float64(GridStrength) / 256
			}
		}
	}
	return want, true
}

func drawView(t *rapid.T, w, h int) Transform {
	zoom := rapid.SampledFrom([]float64{0.05, 0.11, 0.25, 0.4, 0.5, 0.62, 0.7, 0.9, 1, 1.2, 1.5, 2.3, 4, 8, 9.7,
		30}).Draw(t, "zoom")
	v := Transform{
		Zoom: zoom,
		X:    rapid.Float64Range(-20/zoom, float64(w)).Draw(t, "X"),
		Y:    rapid.Float64Range(-20/zoom, float64(h)).Draw(t, "Y"),
	}
	if rapid.Bool().Draw(t, "aligned") {
		v.X, v.Y = math.Floor(v.X), math.Floor(v.Y)
	}
	return v
}

func drawOptions(t *rapid.T) Options {
	o := DefaultOptions()
	o.Mode = Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
	o.Colour = rapid.SampledFrom(OverlayColours()).Draw(t, "colour").Colour
	o.Opacity = rapid.SampledFrom([]float64{0, 0.3, 0.6, 1, 7, -1, math.NaN()}).Draw(t, "opacity")
	if math.IsNaN(o.Opacity) {
		o.Opacity = 0
	}
	o.Grid = rapid.Bool().Draw(t, "grid")
	return o
}

func TestRenderAgainstDefinition(t *testing.T) {
	t.Parallel()
	r := NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 50).Draw(t, "w"), rapid.IntRange(1, 50).Draw(t, "h")
		pic, m := drawPicture(t, w, h), drawMask(t, w, h)
		r.SetPicture(pyramids(t, pic, m))
		v, o := drawView(t, w, h), drawOptions(t)
		if rapid.IntRange(0, 2).Draw(t, "compared") == 0 {
			o.Other = NewMaskPyramid(drawMask(t, w, h))
		}
		dst := image.NewRGBA(image.Rect(0, 0, rapid.IntRange(1, 40).Draw(t, "vw"), rapid.IntRange(1, 45).Draw(t, "vh")))
		r.Render(dst, v, o)
		slow := &reference{pic, m, map[[2]int]slowPlane{}}
		for y := range dst.Rect.Max.Y {
			for x := range dst.Rect.Max.X {
				want, ok := slow.pixel(v, o, x, y)
				got := dst.Pix[dst.PixOffset(x, y):][:4]
				if got[3] != 255 {
					t.Fatalf("device pixel %d, %d is not opaque", x, y)
				}
				for c := range want {
					if ok && !near(float64(got[c]), want[c], 4.5) {
						t.Fatalf("device pixel %d, %d of %v is %v, want %.1f", x, y, v, got, want)
					}
				}
			}
		}
	})
}

// TestOutlineMovesWithItsNeighbour changes one pixel inside a block, which changes the outline of its neighbours.
func TestOutlineMovesWithItsNeighbour(t *testing.T) {
	t.Parallel()
	m := processing.NewMask(20, 20)
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	p, mp := pyramids(t, testpic.Noise(20, 20, 1, 8), m)
	r := NewRenderer()
	r.SetPicture(p, mp)
	o := DefaultOptions()
	o.Mode = Outlines
	for _, zoom := range []float64{0.5, 1, 2} {
		v := Transform{Zoom: zoom}
		retained, whole := image.NewRGBA(image.Rect(0, 0, 20, 20)), image.NewRGBA(image.Rect(0, 0, 20, 20))
		r.Render(retained, v, o)
		dirty := image.Rect(4, 4, 6, 6)
		for y := dirty.Min.Y; y < dirty.Max.Y; y++ {
			for x := dirty.Min.X; x < dirty.Max.X; x++ {
				m.Pix[y*20+x] ^= 255
			}
		}
		mp.Update(dirty)
		r.RenderRect(retained, v, o, r.DirtyRect(v, dirty))
		r.Render(whole, v, o)
		if !bytes.Equal(retained.Pix, whole.Pix) {
			t.Errorf("zoom %v: redrawing the dirty rectangle leaves an old outline", zoom)
		}
	}
}

func TestPartOfAFrameIsThatOfTheWhole(t *testing.T) {
	t.Parallel()
	checkPartOfAFrame(t, func(*rapid.T) int { return 1 })
}

// checkPartOfAFrame compares parts of a frame with the whole frame, for a picture of some orientation.
func checkPartOfAFrame(t *testing.T, orientation func(t *rapid.T) int) {
	r := NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 90).Draw(t, "w"), rapid.IntRange(1, 90).Draw(t, "h")
		pic, m := drawPicture(t, w, h), drawMask(t, w, h)
		p, err := NewPyramid(context.Background(), pic, WithOrientation(orientation(t)))
		if err != nil {
			t.Fatal(err)
		}
		mp := NewMaskPyramid(m)
		r.SetPicture(p, mp)
		v, o := drawView(t, w, h), drawOptions(t)
		v.Turn = p.Turn()
		viewport := image.Rect(0, 0, 61, 75)
		retained, whole := image.NewRGBA(viewport), image.NewRGBA(viewport)
		r.Render(retained, v, o)
		x, y := rapid.IntRange(0, w-1).Draw(t, "mx"), rapid.IntRange(0, h-1).Draw(t, "my")
		dirty := image.Rect(x, y, rapid.IntRange(x+1, w).Draw(t, "mx1"), rapid.IntRange(y+1, h).Draw(t, "my1"))
		for j := dirty.Min.Y; j < dirty.Max.Y; j++ {
			for i := dirty.Min.X; i < dirty.Max.X; i++ {
				m.Pix[j*w+i] ^= 255
			}
		}
		mp.Update(dirty)
		r.RenderRect(retained, v, o, r.DirtyRect(v, dirty))
		r.Render(whole, v, o)
		if !bytes.Equal(retained.Pix, whole.Pix) {
			t.Fatal("redrawing the dirty rectangle gives another frame than drawing it all")
		}
		// Any part of a frame; the rest must not change.
		part := image.Rect(rapid.IntRange(-5, 60).Draw(t, "px"), rapid.IntRange(-5, 70).Draw(t, "py"), 70,
			rapid.IntRange(0, 90).Draw(t, "py1"))
		marked := image.NewRGBA(viewport)
		r.RenderRect(marked, v, o, part)
		for i := 0; i < len(marked.Pix); i += 4 {
			at := image.Pt(i/4%61, i/4/61)
			if at.In(part) != bytes.Equal(marked.Pix[i:i+4], whole.Pix[i:i+4]) {
				t.Fatalf("device pixel %v of part %v is %v, in the whole frame %v", at, part, marked.Pix[i:i+4],
					whole.Pix[i:i+4])
			}
		}
	})
}

// TestSingleGlintIsSeenAtAnyZoom marks one pixel and looks for it in the frame.
func TestSingleGlintIsSeenAtAnyZoom(t *testing.T) {
	t.Parallel()
	r := NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(30, 600).Draw(t, "w"), rapid.IntRange(30, 600).Draw(t, "h")
		pic := &processing.Picture{Width: w, Height: h, Channels: 1, U8: make([]uint8, w*h)}
		m := processing.NewMask(w, h)
		x := rapid.SampledFrom([]int{0, w - 1, rapid.IntRange(0, w-1).Draw(t, "x")}).Draw(t, "column")
		y := rapid.SampledFrom([]int{0, h - 1, rapid.IntRange(0, h-1).Draw(t, "y")}).Draw(t, "row")
		m.Pix[y*w+x] = 255
		r.SetPicture(pyramids(t, pic, m))
		dst := image.NewRGBA(image.Rect(0, 0, 160, 100))
		v := Transform{}.Fit(image.Pt(w, h), dst.Rect.Max)
		v.Zoom *= rapid.Float64Range(0.3, 1).Draw(t, "zoom")
		v = v.Clamp(image.Pt(w, h), dst.Rect.Max)
		o := DefaultOptions()
		o.Mode = rapid.SampledFrom([]Mode{PictureAndMask, MaskOnly, Outlines}).Draw(t, "mode")
		r.Render(dst, v, o)
		for i := 0; i < len(dst.Pix); i += 4 {
			if dst.Pix[i] > 120 {
				return
			}
		}
		t.Fatalf("the glint at %d, %d of %d × %d is not seen at %v", x, y, w, h, v.Zoom)
	})
}

func TestNothingAllocatedPerFrame(t *testing.T) {
	testpic.Long(t)
	pic := testpic.Noise(700, 500, 3, 16)
	p, m := pyramids(t, pic, testpic.Specks(700, 500))
	r := NewRenderer()
	r.SetPicture(p, m)
	dst := image.NewRGBA(image.Rect(0, 0, 640, 400))
	for _, zoom := range []float64{0.5, 0.9, 1, 4, 16} {
		for mode := PictureAndMask; mode <= Outlines; mode++ {
			o := DefaultOptions()
			o.Mode = mode
			v := Transform{Zoom: zoom}
			r.Render(dst, v, o)
			if n := testing.AllocsPerRun(20, func() { r.Render(dst, v, o) }); n >= 1 {
				t.Errorf("zoom %v, mode %d: %v allocations a frame", zoom, mode, n)
			}
		}
	}
}

func TestNoPicture(t *testing.T) {
	t.Parallel()
	r := NewRenderer()
	dst := image.NewRGBA(image.Rect(0, 0, 9, 7))
	for range 2 {
		r.Render(dst, Transform{Zoom: 1}, DefaultOptions())
		for i := 0; i < len(dst.Pix); i += 4 {
			if got, want := dst.RGBAAt(i/4%9, i/4/9), Surround(); got != want {
				t.Fatalf("device pixel %d is %v, want %v", i/4, got, want)
			}
		}
		if d := r.DirtyRect(Transform{Zoom: 1}, image.Rect(0, 0, 5, 5)); !d.Empty() {
			t.Errorf("DirtyRect without a mask = %v", d)
		}
		r.SetPicture(nil, nil)
	}
}

func TestFarAway(t *testing.T) {
	t.Parallel()
	pic := testpic.Noise(30, 20, 3, 8)
	p, m := pyramids(t, pic, testpic.Specks(30, 20))
	r := NewRenderer()
	r.SetPicture(p, m)
	dst := image.NewRGBA(image.Rect(0, 0, 50, 40))
	for _, far := range []float64{-1e12, -1e5, 1e5, 1e12} {
		for _, zoom := range []float64{0.01, 1, 64} {
			r.Render(dst, Transform{Zoom: zoom, X: far, Y: far}, DefaultOptions())
			if got := dst.RGBAAt(25, 20); got != Surround() {
				t.Errorf("%v away at zoom %v: %v", far, zoom, got)
			}
		}
	}
}

func TestOverlayColours(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range OverlayColours() {
		if seen[c.ID] || c.Name.IsZero() || c.Colour.A != 255 {
			t.Errorf("colour %+v", c)
		}
		seen[c.ID] = true
		if OverlayColourByID(c.ID).Colour != c.Colour {
			t.Errorf("colour %q is not found by its ID", c.ID)
		}
	}
	if OverlayColourByID("no such").ID != "red" {
		t.Error("an unknown colour is not the default one")
	}
}

func ExampleTransform_ZoomAbout() {
	t := Transform{Zoom: 1, X: 100, Y: 50}
	cursor := processing.Point{X: 300, Y: 200}
	fmt.Println(t.Pixel(cursor), t.ZoomAbout(cursor, 4).Pixel(cursor))
	// Output: (400,250) (400,250)
}

// TestNarrowPictureIsVisible shows strips narrower than a device pixel at every offset.
func TestNarrowPictureIsVisible(t *testing.T) {
	t.Parallel()
	r := NewRenderer()
	for _, size := range []image.Point{{1, 5000}, {5000, 1}} {
		pic := &processing.Picture{Width: size.X, Height: size.Y, Channels: 1, U8: bytes.Repeat([]byte{200}, 5000)}
		r.SetPicture(pyramids(t, pic, processing.NewMask(size.X, size.Y)))
		for _, viewport := range []image.Point{{300, 200}, {301, 201}} {
			fit := Transform{}.Fit(size, viewport)
			for shift := -3.0; shift <= 3; shift += 0.25 {
				dst := image.NewRGBA(image.Rectangle{Max: viewport})
				v := fit.Pan(shift, shift)
				r.Render(dst, v, DefaultOptions())
				shown := image.Rectangle{}
				for y := range viewport.Y {
					for x := range viewport.X {
						if dst.RGBAAt(x, y) != Surround() {
							shown = shown.Union(image.Rect(x, y, x+1, y+1))
						}
					}
				}
				narrow, middle := shown.Dx(), viewport.X/2+int(math.Floor(shift+float64(viewport.X%2)/2))
				at := shown.Min.X
				if size.X > size.Y {
					narrow, at = shown.Dy(), shown.Min.Y
					middle = viewport.Y/2 + int(math.Floor(shift+float64(viewport.Y%2)/2))
				}
				if narrow != 1 || at != middle {
					t.Errorf("%v in %v moved by %v is shown at %v, want one device pixel at %d", size, viewport, shift,
						shown, middle)
				}
			}
		}
	}
}

// Vector instructions draw the same pixels as plain Go, at every zoom that interpolates and for narrow pictures and
// viewports as well.
func TestVectorsDrawTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w, h := rapid.IntRange(1, 90).Draw(r, "w"), rapid.IntRange(1, 60).Draw(r, "h")
		depth := rapid.SampledFrom([]int{8, 16}).Draw(r, "depth")
		p, err := NewPyramid(t.Context(), testpic.Noise(w, h, 3, depth))
		if err != nil {
			r.Fatal(err)
		}
		view := image.Pt(rapid.IntRange(1, 120).Draw(r, "vw"), rapid.IntRange(1, 40).Draw(r, "vh"))
		at := processing.Point{X: rapid.Float64Range(0, 90).Draw(r, "x"), Y: rapid.Float64Range(0, 60).Draw(r, "y")}
		zoom := rapid.Float64Range(0.05, nearestZoom).Draw(r, "zoom")
		place := Transform{Zoom: zoom}.CentreOn(at, view)
		draw := func(vectors *blender) []uint8 {
			to := image.NewRGBA(image.Rectangle{Max: view})
			renderer := NewRenderer()
			renderer.vectors = vectors
			renderer.SetPicture(p, nil)
			renderer.Render(to, place, DefaultOptions())
			return to.Pix
		}
		if !bytes.Equal(draw(vectorBlender()), draw(nil)) {
			r.Fatal("the pixels differ")
		}
	})
}

// Changed pixels show in the colour of their kind, whatever the mask marks; all others show the picture.
func TestChangedColours(t *testing.T) {
	t.Parallel()
	full, kinds := processing.NewMask(20, 3), processing.NewMask(20, 3)
	for i := range full.Pix {
		full.Pix[i] = 255
	}
	copy(kinds.Pix[20+11:], []uint8{255, 170, 170, 85})
	picture, mask := pyramids(t, testpic.Flat(20, 3, 1, 50), full)
	r := NewRenderer()
	r.SetPicture(picture, mask)
	marked, halo, veil := ChangedColours()
	plain := color.RGBA{50, 50, 50, 255}
	want := map[int]color.RGBA{11: marked, 12: halo, 13: halo, 14: veil}
	for _, other := range []*MaskPyramid{NewMaskPyramid(kinds), nil} {
		out := image.NewRGBA(image.Rect(0, 0, 20, 3))
		r.Render(out, Transform{Zoom: 1}, Options{Mode: Changed, Opacity: 1, Other: other})
		for i := range kinds.Pix {
			x, y := i%20, i/20
			expected, ok := want[x]
			if !ok || y != 1 || other == nil {
				expected = plain
			}
			if got := out.RGBAAt(x, y); got != expected {
				t.Errorf("pixel %d, %d is %v, want %v", x, y, got, expected)
			}
		}
	}
}

// Bytes returns the memory of the levels and of changed tiles, some of which other pyramids may share.
func (p *Pyramid) Bytes() int64 {
	n := int64(0)
	for _, t := range p.patched.at {
		if t != nil {
			n += int64(t.Width * t.Height * t.Channels * t.Depth() / 8)
		}
	}
	for _, l := range p.levels {
		n += 4 * int64(len(l.pix))
		for _, t := range l.patched.at {
			if t != nil {
				n += 4 * tileSide * tileSide
			}
		}
	}
	return n
}
