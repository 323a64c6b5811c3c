package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/internal/span"
)

// The wanted pixels are the same as if all were computed, whether there are few or many.
func TestWanted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		y, v, e := noise[uint16](t, w*h, math.MaxUint16), noise[uint8](t, w*h, math.MaxUint8),
			noise[uint8](t, w*h, math.MaxUint8)
		chosen, most := make([]uint8, w*h), rapid.IntRange(0, 40).Draw(t, "most spans")
		for range most {
			x, row := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
			fill(chosen[row*w+x:row*w+min(w, x+rapid.IntRange(1, 9).Draw(t, "n"))], 1)
		}
		where := append([]processing.Span{}, span.Append(nil, chosen, w, 0, h, 1)...)
		r, level := radius(t, 127), rapid.IntRange(1, 3).Draw(t, "level")
		each(t, func(b *Backend) {
			yp, vp, ep := up(t, b, w, h, y), up(t, b, w, h, v), up(t, b, w, h, e)
			all, some := empty(t, b, processing.U16, w, h), empty(t, b, processing.U16, w, h)
			for name, op := range map[string]func(d processing.Plane, where []processing.Span) processing.Op{
				"deviation": func(d processing.Plane, where []processing.Span) processing.Op {
					return processing.Deviation{Dst: d, Y: yp, Exclude: ep, Radius: r, Where: where}
				},
				"count": func(d processing.Plane, where []processing.Span) processing.Op {
					return processing.BoxCount{Dst: d, Class: vp, Bits: 5, Radius: r, Where: where}
				},
				"starlet": func(d processing.Plane, where []processing.Span) processing.Op {
					return processing.StarletBand{Dst: d, Src: vp, Level: level, Where: where}
				},
			} {
				must(t, b.Do(context.Background(), op(all, nil)))
				must(t, b.Do(context.Background(), op(some, where)))
				want, got := down[uint16](t, all), down[uint16](t, some)
				for _, s := range where {
					for i := int(s.Y)*w + int(s.X0); i < int(s.Y)*w+int(s.X1); i++ {
						if got[i] != want[i] {
							t.Fatalf("%s of pixel %d, %d: %d, want %d", name, i%w, i/w, got[i], want[i])
						}
					}
				}
			}
			release(yp, vp, ep, all, some)
		})
	})
}

// One pixel of a large picture is computed in another way than all of them.
func TestWantedFew(t *testing.T) {
	const w, h = 900, 700
	b := New(Workers(2))
	src := make([]uint8, w*h)
	for i := range src {
		src[i] = uint8(i * i % 251)
	}
	where := []processing.Span{{Y: 0, X0: 0, X1: 2}, {Y: 350, X0: 400, X1: 401}, {Y: 699, X0: 890, X1: 900}}
	s, all, some := up(t, b, w, h, src), empty(t, b, processing.U16, w, h), empty(t, b, processing.U16, w, h)
	must(t, b.Upload(context.Background(), some, processing.Samples{U16: make([]uint16, w*h)}))
	for _, op := range []func(d processing.Plane, where []processing.Span) processing.Op{
		func(d processing.Plane, where []processing.Span) processing.Op {
			return processing.BoxCount{Dst: d, Class: s, Bits: 64, Radius: 32, Where: where}
		},
		func(d processing.Plane, where []processing.Span) processing.Op {
			return processing.StarletBand{Dst: d, Src: s, Level: 2, Where: where}
		},
	} {
		must(t, b.Do(context.Background(), op(all, nil)))
		must(t, b.Do(context.Background(), op(some, where)))
		want, got := down[uint16](t, all), down[uint16](t, some)
		for _, r := range where {
			for i := int(r.Y)*w + int(r.X0); i < int(r.Y)*w+int(r.X1); i++ {
				if got[i] != want[i] {
					t.Errorf("pixel %d, %d: %d, want %d", i%w, i/w, got[i], want[i])
				}
			}
		}
		if got[100*w+100] != 0 {
			t.Error("a pixel far from those that are wanted was computed")
		}
	}
}

func TestWantedOutside(t *testing.T) {
	b := New(Workers(1))
	s, d := empty(t, b, processing.U8, 9, 5), empty(t, b, processing.U16, 9, 5)
	for _, where := range [][]processing.Span{
		{{Y: 5, X0: 0, X1: 1}}, {{Y: -1, X0: 0, X1: 1}}, {{Y: 0, X0: -1, X1: 1}}, {{Y: 0, X0: 8, X1: 10}},
		{{Y: 0, X0: 3, X1: 3}}, {{Y: 1, X0: 0, X1: 1}, {Y: 0, X0: 0, X1: 1}}, {{Y: 0, X0: 0, X1: 3}, {Y: 0, X0: 2, X1: 4}},
	} {
		if b.Do(context.Background(), processing.StarletBand{Dst: d, Src: s, Level: 1, Where: where}) == nil {
			t.Errorf("%v was accepted", where)
		}
	}
}
