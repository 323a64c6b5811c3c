package processing

import (
	"context"
	"slices"

	"blik/internal/message"
)

func medianMethod() method {
	return method{id: "median", name: message.Of("ring median"), fill: (*site).median}
}

// median fills with the median of the paint within two pixels of the spot's patch, channel by channel; of the paint of
// the whole window where other glare leaves none that near.
func (s *site) median(context.Context) {
	w, h := s.width(), s.height()
	ring := make([]bool, w*h)
	for i, o := range s.own {
		if o != s.index {
			continue
		}
		x, y := i%w, i/w
		for v := max(0, y-2); v <= min(h-1, y+2); v++ {
			for u := max(0, x-2); u <= min(w-1, x+2); u++ {
				ring[v*w+u] = ring[v*w+u] || s.state[v*w+u] == StateKnown
			}
		}
	}
	if !slices.Contains(ring, true) {
		for i, v := range s.state {
			ring[i] = v == StateKnown
		}
	}
	for _, p := range s.pix {
		var all []float32
		for i, in := range ring {
			if in {
				all = append(all, p[i])
			}
		}
		slices.Sort(all)
		mid := all[len(all)/2]
		for i, o := range s.own {
			if o == s.index {
				p[i] = mid
			}
		}
	}
}
