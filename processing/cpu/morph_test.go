package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// offsets lists the pixels of an element.
func offsets(e processing.Element) (list [][2]int) {
	for i := -(e.Width / 2); i <= e.Width/2; i++ {
		for j := -(e.Height / 2); j <= e.Height/2; j++ {
			list = append(list, [2]int{i, j})
		}
	}
	return list
}

// slowMorph looks at every pixel of the element.
func slowMorph[T kernel.Sample](src []T, w, h int, op processing.MorphOp, e processing.Element) []T {
	extreme := func(src []T, dilate bool) []T {
		at := offsets(e)
		return perPixel(w, h, func(x, y int) T {
			best := src[y*w+x]
			for _, o := range at {
				u, v := x+o[0], y+o[1]
				if u < 0 || v < 0 || u >= w || v >= h {
					continue
				}
				if s := src[v*w+u]; dilate && s > best || !dilate && s < best {
					best = s
				}
			}
			return best
		})
	}
	switch op {
	case processing.Erode:
		return extreme(src, false)
	case processing.Dilate:
		return extreme(src, true)
	case processing.Open:
		return extreme(extreme(src, false), true)
	}
	return extreme(extreme(src, true), false)
}

func element(t *rapid.T) processing.Element {
	odd := rapid.Map(rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(0, 80)), func(r int) int { return 2*r + 1 })
	return processing.Element{Width: odd.Draw(t, "width"), Height: odd.Draw(t, "height")}
}

func checkMorph[T kernel.Sample](t *rapid.T, w, h int, src []T) {
	op := rapid.SampledFrom([]processing.MorphOp{processing.Erode, processing.Dilate, processing.Open,
		processing.Close}).Draw(t, "op")
	e := element(t)
	inPlace := rapid.Bool().Draw(t, "in place")
	want := slowMorph(src, w, h, op, e)
	each(t, func(b *Backend) {
		s := up(t, b, w, h, src)
		d := s
		if !inPlace {
			d = empty(t, b, s.Kind(), w, h)
		}
		must(t, b.Do(context.Background(), processing.Morph{Dst: d, Src: s, Op: op, Element: e}))
		wantEqual(t, workersLabel(b), w, down[T](t, d), want)
		if !inPlace {
			wantEqual(t, "source afterwards", w, down[T](t, s), src)
		}
		release(d, s)
	})
}

func TestMorph(t *testing.T) {
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) {
		w, h := size(t)
		checkMorph(t, w, h, noise[uint8](t, w*h, math.MaxUint8))
	}))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) {
		w, h := size(t)
		checkMorph(t, w, h, noise[uint16](t, w*h, math.MaxUint16))
	}))
}

// Rows longer than vectors and blocks, blank in parts.
func TestMorphBlank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 300).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		src := noise[uint8](t, w*h, math.MaxUint8)
		ground := rapid.SampledFrom([]uint8{0, 100, math.MaxUint8}).Draw(t, "ground")
		x0, x1 := rapid.IntRange(0, w).Draw(t, "x0"), rapid.IntRange(0, w).Draw(t, "x1")
		for y := range h {
			kernel.Fill(src[y*w+min(x0, x1):y*w+max(x0, x1)], ground)
		}
		checkMorph(t, w, h, src)
	})
}

// Long pictures with few samples that are not blank, so that blank stretches are longer than windows and blocks.
func TestMorphSparse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(100, 900).Draw(t, "length"), rapid.IntRange(1, 3).Draw(t, "breadth")
		if rapid.Bool().Draw(t, "tall") {
			w, h = h, w
		}
		worst := rapid.SampledFrom([]uint16{0, math.MaxUint16}).Draw(t, "ground")
		src := make([]uint16, w*h)
		kernel.Fill(src, worst)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, w*h-1), 0, 6).Draw(t, "points") {
			src[i] = uint16(1000 + i)
		}
		checkMorph(t, w, h, src)
	})
}
