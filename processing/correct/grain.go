package correct

import (
	"math"

	"blik/processing"
	"blik/processing/internal/arena"
)

// addGrain adds the two finest wavelet bands of nearby paint to the fills, so that they are as rough as their
// surroundings.
func addGrain(on bench, sites []*site, amount float32) error {
	if len(sites) == 0 {
		return nil
	}
	fine := make([][][]float32, len(sites))
	for i, s := range sites {
		fine[i] = allocPlanes(s.memory, len(s.pix), s.box.area())
	}
	if err := on.detail(sites, fine); err != nil {
		return err
	}
	return on.each(len(sites), func(_ *tools, i int) { sites[i].roughen(fine[i], amount) })
}

// grainy reports whether any pixel needs grain.
func (s *site) grainy() bool {
	if s.filled == nil {
		return true
	}
	for i, v := range s.filled {
		if v > leastGrain && s.own[i] == s.index {
			return true
		}
	}
	return false
}

// leastGrain is the share of invented texture above which a pixel gets grain.
const leastGrain = 0.02

// grainShifts is the largest number of shifts that are tried.
const grainShifts = 600

// roughen adds fine bands of paint to the fill. It takes them from the shift of the fill's own shape, within the
// window, whose smooth part matches the fill best.
func (s *site) roughen(fine [][]float32, amount float32) {
	w := s.width()
	var at []int32
	b := box{w, s.height(), 0, 0}
	s.eachPixel(func(i, _, _ int) {
		if s.filled == nil || s.filled[i] > leastGrain {
			b = b.union(box{i % w, i / w, i%w + 1, i/w + 1})
			at = append(at, int32(i))
		}
	})
	if len(at) == 0 {
		return
	}
	best := s.bestShift(fine, at, b)
	// A speck of paint is not grain, and its copy would be visible: limit outliers.
	var most [4]float32
	for k := range s.pix {
		most[k] = float32(3 * s.spread(fine[k]))
	}
	for _, i := range at {
		gain := amount
		if s.filled != nil {
			gain *= s.filled[i] * s.filledAround(i) * (1 - s.copied)
		}
		for k, p := range s.pix {
			p[i] += float32(gain * min(max(fine[k][int(i)+best], -most[k]), most[k]))
		}
	}
}

// bestShift returns the offset in the window by which the smooth part of the paint matches the fill at the given pixels
// best; b is the box around them. Of equal matches it is the first in reading order.
func (s *site) bestShift(fine [][]float32, at []int32, b box) (best int) {
	w, h, ch := s.width(), s.height(), len(s.pix)
	step := 1
	for (w-b.width()+1)*(h-b.height()+1)/(step*step) > grainShifts {
		step++
	}
	// About 64 pixels suffice to compare.
	sparse := max(1, len(at)/64)
	// The channels of a pixel lie side by side, so that comparing it reads one place of memory.
	smooth := arena.Take[float32](s.memory, w*h*ch)
	for k, p := range s.pix {
		f := fine[k][:len(p)]
		for i, v := range p {
			smooth[i*ch+k] = v - f[i]
		}
	}
	places := arena.Take[int32](s.memory, len(at)/sparse+1)[:0]
	values := arena.Take[float32](s.memory, cap(places)*ch)[:0]
	for n := 0; n < len(at); n += sparse {
		places = append(places, at[n])
		for _, p := range s.pix {
			values = append(values, p[at[n]])
		}
	}
	cost := float32(math.Inf(1))
	for dy := -(b.y0 / step) * step; b.y1+dy <= h; dy += step {
		for dx := -(b.x0 / step) * step; b.x1+dx <= w; dx += step {
			shift := dy*w + dx
			var sum float32
			rest := values
			for _, i := range places {
				j := int(i) + shift
				v := rest[:ch]
				rest = rest[ch:]
				if s.state[j] != processing.StateKnown {
					// There is no paint to take grain from.
					sum += 0.01
				} else {
					from := smooth[j*ch:][:len(v)]
					for k := range v {
						d := from[k] - v[k]
						sum += float32(d * d)
					}
				}
				if !(sum < cost) {
					break
				}
			}
			if sum < cost {
				best, cost = shift, sum
			}
		}
	}
	return best
}

// grainReach is the radius of the square over which filledAround averages, in pixels.
const grainReach = 2

// filledAround returns the mean of filled over the square around a pixel. It is small in a narrow gap, where missing
// grain is not visible and grain from elsewhere only adds to the error.
func (s *site) filledAround(at int32) float32 {
	x, y := int(at)%s.width(), int(at)/s.width()
	b := box{x, y, x + 1, y + 1}.grown(grainReach, s.width(), s.height())
	sum := 0.0
	for v := b.y0; v < b.y1; v++ {
		for _, f := range s.filled[v*s.width()+b.x0 : v*s.width()+b.x1] {
			sum += roundToGrid(float64(f))
		}
	}
	return float32(sum / float64(b.area()))
}

// spread estimates the standard deviation of the grain from its mean magnitude over the known pixels, as for a
// Gaussian.
func (s *site) spread(fine []float32) float64 {
	sum := 0.0
	for i, v := range s.state {
		if v == processing.StateKnown {
			sum += math.Abs(float64(fine[i]))
		}
	}
	return math.Sqrt(math.Pi/2) * sum / float64(s.known)
}

// bound clamps the spot's values to the range of the paint in its window.
func (s *site) bound() {
	for _, p := range s.pix {
		lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
		for i, v := range s.state {
			if v == processing.StateKnown {
				lo, hi = min(lo, p[i]), max(hi, p[i])
			}
		}
		s.eachPixel(func(i, _, _ int) {
			p[i] = min(max(p[i], lo), hi)
		})
	}
}
