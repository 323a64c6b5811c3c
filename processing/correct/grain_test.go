package correct

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// The shift is the first of those with the least sum of squared differences, each added up from the first pixel on.
func TestBestShift(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(8, 60).Draw(t, "w"), rapid.IntRange(8, 60).Draw(t, "h")
		ch := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")
		s := &site{box: box{0, 0, w, h}, group: &group{}, state: make([]uint8, w*h)}
		// Few different values make matches tie.
		values := rapid.Uint32Range(1, 9).Draw(t, "values")
		seed := rapid.Uint32().Draw(t, "seed")
		next := func(n uint32) uint32 {
			seed = seed*1664525 + 1013904223
			return seed >> 16 % n
		}
		plane := func() []float32 {
			p := make([]float32, w*h)
			for i := range p {
				p[i] = float32(next(values)) / 7
			}
			return p
		}
		var fine [][]float32
		for range ch {
			s.pix, fine = append(s.pix, plane()), append(fine, plane())
		}
		b := box{2, 1, 2 + int(next(uint32(w-3))) + 1, 1 + int(next(uint32(h-3))) + 1}
		var at []int32
		for y := b.y0; y < b.y1; y++ {
			for x := b.x0; x < b.x1; x++ {
				s.state[y*w+x] = processing.StateClipped
				at = append(at, int32(y*w+x))
			}
		}
		step, sparse := 1, max(1, len(at)/64)
		for (w-b.width()+1)*(h-b.height()+1)/(step*step) > grainShifts {
			step++
		}
		want, least := 0, float32(math.Inf(1))
		for dy := -h; dy <= h; dy++ {
			for dx := -w; dx <= w; dx++ {
				if dx%step != 0 || dy%step != 0 || b.x0+dx < 0 || b.y0+dy < 0 || b.x1+dx > w || b.y1+dy > h {
					continue
				}
				var sum float32
				for n := 0; n < len(at); n += sparse {
					i := int(at[n])
					j := i + dy*w + dx
					for k, p := range s.pix {
						if d := p[j] - fine[k][j] - p[i]; s.state[j] == processing.StateKnown {
							sum += float32(d * d)
						}
					}
					if s.state[j] != processing.StateKnown {
						sum += 0.01
					}
				}
				if sum < least {
					want, least = dy*w+dx, sum
				}
			}
		}
		if got := s.bestShift(fine, at, b); got != want {
			t.Fatalf("shift %d, want %d", got, want)
		}
	})
}
