package processing

import (
	"context"
	"slices"

	"blik/internal/message"
)

func medianMethod() method {
	return method{id: "median", name: message.Of("ring median"), fill: (*site).median}
}

// median fills each channel with the median of the paint within two pixels of the spot's patch, or of the whole window
// if other glare leaves no paint that near.
func (s *site) median(context.Context) {
	w, h := s.width(), s.height()
	var around []int32                // the pixels of the ring
	seen := make([]int32, len(s.own)) // the last patch whose ring includes a pixel
	var everywhere []float32          // the medians of all paint, if needed
	for n, patch := range s.patches() {
		around = around[:0]
		for _, i := range patch {
			x, y := int(i)%w, int(i)/w
			for v := max(0, y-2); v <= min(h-1, y+2); v++ {
				for u := max(0, x-2); u <= min(w-1, x+2); u++ {
					if j := v*w + u; s.state[j] == StateKnown && seen[j] != int32(n+1) {
						seen[j] = int32(n + 1)
						around = append(around, int32(j))
					}
				}
			}
		}
		middle := s.medians(around)
		if len(around) == 0 {
			if everywhere == nil {
				for i, v := range s.state {
					if v == StateKnown {
						around = append(around, int32(i))
					}
				}
				everywhere = s.medians(around)
			}
			middle = everywhere
		}
		for k, p := range s.pix {
			for _, i := range patch {
				p[i] = middle[k]
			}
		}
	}
}

// medians returns the median of each channel over the given pixels.
func (s *site) medians(at []int32) []float32 {
	if len(at) == 0 {
		return nil
	}
	out := make([]float32, len(s.pix))
	values := make([]float32, len(at))
	for k, p := range s.pix {
		for n, i := range at {
			values[n] = p[i]
		}
		slices.Sort(values)
		out[k] = values[len(values)/2]
	}
	return out
}

// patches returns the pixels of each wanted spot and its halo.
func (s *site) patches() [][]int32 {
	list := make([][]int32, len(s.wanted))
	s.eachWanted(func(i, _, _, k int) { list[k] = append(list[k], int32(i)) })
	return list
}
