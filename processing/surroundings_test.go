package processing

import (
	"math/rand/v2"
	"testing"

	"blik/processing/internal/tones"
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
		// Or one span per row, which nearly touches the one above.
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

// TestWindow compares ground and surroundings of a candidate with those found pixel by pixel.
func TestWindow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 1))
	tables := map[int]*LuminanceTables{}
	for round := range 300 {
		w, h := 1+r.IntN(150), 1+r.IntN(40)
		pic := &Picture{Width: w, Height: h, Channels: []int{1, 3, 3, 4}[r.IntN(4)]}
		n := w * h * pic.Channels
		switch round % 3 {
		case 0:
			pic.U8 = make([]uint8, n)
		case 1:
			pic.U16 = make([]uint16, n)
		default:
			pic.F32 = make([]float32, n)
		}
		for i := range n {
			v := min(1.2*r.Float64(), 1)
			switch round % 3 {
			case 0:
				pic.U8[i] = uint8(255 * v)
			case 1:
				pic.U16[i] = uint16(65535 * v)
			default:
				pic.F32[i] = float32(v)
			}
		}
		// Each set is a number of spans in reading order.
		sets := make([][]Span, 1+r.IntN(2))
		for k := range sets {
			for y := range h {
				for x := r.IntN(w + 5); x < w; x += 1 + r.IntN(w) {
					x1 := min(w, x+1+r.IntN(90))
					sets[k] = append(sets[k], Span{Y: int32(y), X0: int32(x), X1: int32(x1)})
					x = x1
				}
			}
		}
		if len(sets[0]) == 0 {
			continue
		}
		own := sets[0][r.IntN(len(sets[0])):][:1]
		if tables[pic.Depth()] == nil {
			tables[pic.Depth()] = pic.Tables()
		}
		s := surveyor{pic: pic, tables: tables[pic.Depth()], taken: marks(w, h, sets...)}
		shape := NewSums()
		shape.Add(own[0])
		margin := 1 + r.IntN(20)
		got := s.window(&shape, own, margin)
		half, from := 16*r.IntN(2), r.IntN(65537)
		crowd, around := s.reader.Count(s.own, s.tones[:len(s.own)], half, from)

		near := func(spans []Span, x, y int) bool {
			for _, p := range spans {
				if int(p.X0)-1 <= x && x <= int(p.X1) && int(p.Y)-1 <= y && y <= int(p.Y)+1 {
					return true
				}
			}
			return false
		}
		var want tones.Sum
		wantCrowd, wantAround := 0, 0
		for y := max(int(own[0].Y)-margin, 0); y < min(int(own[0].Y)+1+margin, h); y++ {
			for x := max(int(own[0].X0)-margin, 0); x < min(int(own[0].X1)+margin, w); x++ {
				var p [1]light
				s.read(p[:], x, y)
				if !near(sets[0], x, y) && (len(sets) < 2 || !near(sets[1], x, y)) {
					add(&want, &p[0])
				}
				if near(own, x, y) {
					continue
				}
				wantAround++
				level := p[0].y
				if half == 0 {
					level = p[0].dark
				}
				if int(level) >= from {
					wantCrowd++
				}
			}
		}
		if got != want || crowd != wantCrowd || around != wantAround {
			t.Fatalf("round %d, %d × %d: ground %v, want %v; crowd %d of %d, want %d of %d", round, w, h, got, want, crowd,
				around, wantCrowd, wantAround)
		}
	}
}
