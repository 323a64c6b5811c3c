package span

import (
	"bytes"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 200).Draw(t, "w"), rapid.IntRange(1, 80).Draw(t, "h")
		margin := rapid.IntRange(0, 4).Draw(t, "margin")
		sets := [][]Span{nil, Append(nil, genBytes(t, w, h, 1, 2), w, 0, h, 2)}
		want := make([]uint8, w*h)
		for _, s := range sets[1] {
			for y := max(int(s.Y)-margin, 0); y < min(int(s.Y)+margin+1, h); y++ {
				for x := max(int(s.X0)-margin, 0); x < min(int(s.X1)+margin, w); x++ {
					want[y*w+x] = 255
				}
			}
		}
		s, packed := NewSet(w, h), NewSet(w, h)
		s.Mark(1, []Span{{Y: 0, X0: 0, X1: 1}})
		s.Mark(margin, sets...)
		cut := rapid.IntRange(0, 3).Draw(t, "cut") * 64
		for y := range h {
			row := want[y*w : (y+1)*w]
			for i := range row {
				if row[i] != 0 {
					row[i] = rapid.SampledFrom([]uint8{1, 128, 255}).Draw(t, "value")
				}
			}
			packed.Pack(row[:min(cut, w)], 0, y)
			if cut < w {
				packed.Pack(row[cut:], cut, y)
			}
			for i := range row {
				row[i] = -min(row[i], 1)
			}
			x := rapid.IntRange(0, w-1).Draw(t, "x")
			got := make([]uint8, rapid.IntRange(1, w-x).Draw(t, "n"))
			set := 0
			for i := range got {
				set += int(row[x+i] & 1)
				if s.Has(x+i, y) != (row[x+i] != 0) {
					t.Fatalf("(%d, %d) is in the set: %v", x+i, y, s.Has(x+i, y))
				}
			}
			for _, s := range []*Set{s, packed} {
				if s.Unpack(got, x, y); !bytes.Equal(got, row[x:x+len(got)]) {
					t.Fatalf("row %d from %d: %v, want %v", y, x, got, row[x:x+len(got)])
				}
				if n := s.Count(y, x, x+len(got)); n != set {
					t.Fatalf("row %d, %d pixels from %d: %d are in the set, want %d", y, len(got), x, n, set)
				}
			}
		}
	})
}

// TestAdd adds spans that overlap, in any order and from several goroutines, and compares pixel by pixel.
func TestAdd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const w, h = 300, 3
		drawn := rapid.Custom(func(t *rapid.T) Span {
			x0 := rapid.Int32Range(0, w-1).Draw(t, "x0")
			return Span{Y: rapid.Int32Range(0, h-1).Draw(t, "y"), X0: x0, X1: rapid.Int32Range(x0+1, w).Draw(t, "x1")}
		})
		margin := rapid.IntRange(0, 2).Draw(t, "margin")
		s, want := NewSet(w, h), make([]uint8, w*h)
		var wg sync.WaitGroup
		for _, spans := range rapid.SliceOfN(rapid.SliceOfN(drawn, 0, 6), 1, 4).Draw(t, "sets") {
			for _, r := range spans {
				for y := max(int(r.Y)-margin, 0); y < min(int(r.Y)+margin+1, h); y++ {
					for x := max(int(r.X0)-margin, 0); x < min(int(r.X1)+margin, w); x++ {
						want[y*w+x] = 1
					}
				}
			}
			wg.Go(func() { s.Add(margin, nil, spans) })
		}
		wg.Wait()
		for y := range h {
			for x := range w {
				if got := s.Has(x, y); got != (want[y*w+x] == 1) {
					t.Fatalf("(%d, %d) is in the set: %v", x, y, got)
				}
			}
		}
	})
}
