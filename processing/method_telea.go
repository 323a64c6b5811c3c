package processing

import (
	"context"
	"math"
	"slices"

	"blik/internal/message"
)

func teleaMethod() method {
	return method{id: "telea", name: message.Of("Telea"), fill: (*site).telea}
}

// teleaRadius is the radius of the neighbourhood, in pixels.
const teleaRadius = 5

// telea fills inwards from the rim (Telea 2004). Distances to the rim are exact rather than marched, and pixels of
// equal distance are computed only from nearer ones, so that a transposed picture gives the transposed result. A value
// stays within the range of those it is computed from.
func (s *site) telea(ctx context.Context) {
	w, h := s.width(), s.height()
	square := s.rimDistances()
	order := make([]int32, 0, len(square))
	t := make([]float64, len(square))
	for i, d := range square {
		if d > 0 {
			order = append(order, int32(i))
			t[i] = math.Sqrt(float64(d))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(square[a]) - int(square[b]) })
	ready := func(x, y int, before int32) bool {
		return x >= 0 && y >= 0 && x < w && y < h && square[y*w+x] < before
	}
	// slope is the central difference of p at (x, y), or that of one side.
	slope := func(p func(int) float64, x, y, dx, dy int, before int32) float64 {
		back, on := ready(x-dx, y-dy, before), ready(x+dx, y+dy, before)
		i, step := y*w+x, dy*w+dx
		switch {
		case back && on:
			return (p(i+step) - p(i-step)) / 2
		case on:
			return p(i+step) - p(i)
		case back:
			return p(i) - p(i-step)
		}
		return 0
	}
	var near []teleaPixel
	for n, at := range order {
		if n&1023 == 0 && ctx.Err() != nil {
			return
		}
		x, y := int(at)%w, int(at)/w
		before := square[at]
		dist := func(i int) float64 { return t[i] }
		nx, ny := slope(dist, x, y, 1, 0, before), slope(dist, x, y, 0, 1, before)
		near = near[:0]
		for v := y - teleaRadius; v <= y+teleaRadius; v++ {
			for u := x - teleaRadius; u <= x+teleaRadius; u++ {
				dx, dy := float64(x-u), float64(y-v)
				far := float64(dx*dx) + float64(dy*dy)
				if far > teleaRadius*teleaRadius || !ready(u, v, before) {
					continue
				}
				i := v*w + u
				direction := math.Abs(float64(dx*nx)+float64(dy*ny)) / math.Sqrt(far)
				near = append(near, teleaPixel{i, u, v, dx, dy,
					math.Max(direction, 1e-6) / far / (1 + math.Abs(t[at]-t[i]))})
			}
		}
		for _, p := range s.pix {
			value := func(i int) float64 { return float64(p[i]) }
			lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
			for _, q := range near {
				lo, hi = min(lo, p[q.i]), max(hi, p[q.i])
			}
			var sum, weights float64
			for _, q := range near {
				gain := float64(slope(value, q.x, q.y, 1, 0, before)*q.dx) +
					float64(slope(value, q.x, q.y, 0, 1, before)*q.dy)
				sum += float64(q.weight * (float64(p[q.i]-lo) + gain))
				weights += q.weight
			}
			if weights > 0 {
				p[at] = min(max(lo+float32(sum/weights), lo), hi)
			}
		}
	}
}

// teleaPixel is a pixel that contributes to another, its offset to that one, and its weight.
type teleaPixel struct {
	i, x, y        int
	dx, dy, weight float64
}

// rimDistances returns the squared distance of every pixel to the nearest known one, 0 for these.
func (s *site) rimDistances() []int32 {
	w, h := s.width(), s.height()
	const none = 1 << 29
	column := make([]int32, w*h)
	for x := range w {
		d := int32(none)
		for y := range h {
			d = min(d+1, none)
			if s.state[y*w+x] == StateKnown {
				d = 0
			}
			column[y*w+x] = d
		}
		d = none
		for y := h - 1; y >= 0; y-- {
			d = min(d+1, none)
			if column[y*w+x] == 0 {
				d = 0
			}
			column[y*w+x] = min(column[y*w+x], d)
		}
	}
	out := make([]int32, w*h)
	for y := range h {
		row := column[y*w : (y+1)*w]
		for x := range w {
			best := int64(none)
			for reach := int64(0); reach*reach < best && reach < int64(w); reach++ {
				for _, u := range [2]int{x - int(reach), x + int(reach)} {
					if u >= 0 && u < w && row[u] < none {
						best = min(best, reach*reach+int64(row[u])*int64(row[u]))
					}
				}
			}
			out[y*w+x] = int32(best)
		}
	}
	return out
}
