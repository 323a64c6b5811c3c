package span

import (
	"bytes"
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
			for i := range got {
				if s.Has(x+i, y) != (row[x+i] != 0) {
					t.Fatalf("(%d, %d) is in the set: %v", x+i, y, s.Has(x+i, y))
				}
			}
			for _, s := range []*Set{s, packed} {
				if s.Unpack(got, x, y); !bytes.Equal(got, row[x:x+len(got)]) {
					t.Fatalf("row %d from %d: %v, want %v", y, x, got, row[x:x+len(got)])
				}
			}
		}
	})
}
