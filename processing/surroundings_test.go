package processing

import (
	"math/rand/v2"
	"testing"
)

// TestDropScraps compares what is left of random pieces with a flood fill.
func TestDropScraps(t *testing.T) {
	t.Parallel()
	const w, h = 12, 9
	r := rand.New(rand.NewPCG(3, 4))
	dropped := 0
	for round := range 600 {
		in := make([]bool, w*h)
		share := r.Float64() * 0.6
		for i := range in {
			in[i] = round%2 == 0 && r.Float64() < share
		}
		// Or one span a row, which nearly touches the one above.
		for x, y := w/2, 0; round%2 == 1 && y < h; y++ {
			n := 1 + r.IntN(3)
			x = min(max(x+r.IntN(2*n+5)-n-2, 0), w-n)
			for i := range n {
				in[y*w+x+i] = true
			}
		}
		s := surveyor{x0: 5, y0: 7, w: w, h: h, own: make([]uint8, w*h)}
		var spans []Span
		for y := range h {
			for x := range w {
				if !in[y*w+x] {
					continue
				}
				s.own[y*w+x] = inside
				if k := len(spans); k > 0 && spans[k-1].Y == int32(y+7) && spans[k-1].X1 == int32(x+5) {
					spans[k-1].X1++
				} else {
					spans = append(spans, Span{Y: int32(y + 7), X0: int32(x + 5), X1: int32(x + 6), Label: 9})
				}
			}
		}
		size, piece := map[int]int{}, make([]int, w*h)
		var flood func(x, y, id int)
		flood = func(x, y, id int) {
			if x < 0 || y < 0 || x >= w || y >= h || !in[y*w+x] || piece[y*w+x] != 0 {
				return
			}
			piece[y*w+x] = id
			size[id]++
			for k := range 9 {
				flood(x+k%3-1, y+k/3-1, id)
			}
		}
		most := 0
		for i := range in {
			flood(i%w, i/w, i+1)
			most = max(most, size[i+1])
		}
		left := make([]bool, w*h)
		for _, p := range s.dropScraps(spans) {
			if p.Label != 9 {
				t.Fatalf("label %d", p.Label)
			}
			for x := p.X0; x < p.X1; x++ {
				left[(int(p.Y)-7)*w+int(x)-5] = true
			}
		}
		for i := range in {
			n := size[piece[i]]
			want := in[i] && (n >= fewPixels || float64(n) >= smallPiece*float64(most))
			if left[i] != want || (s.own[i] == inside) != want {
				t.Fatalf("pixel %d of a piece of %d, the largest has %d: left %v, own %d", i, n, most, left[i], s.own[i])
			}
			if in[i] && !want {
				dropped++
			}
		}
	}
	if dropped == 0 {
		t.Error("no scrap was drawn")
	}
}
