package network

import (
	"math/rand/v2"
	"testing"
)

// noisePicture returns random channels, some with few levels.
func noisePicture(r *rand.Rand, w, h int) (red, green, blue []uint8) {
	channel := func() []uint8 {
		s := make([]uint8, w*h)
		low, span := r.IntN(200), 1+r.IntN(56)
		for i := range s {
			s[i] = uint8(low + r.IntN(span))
			if r.IntN(97) == 0 {
				s[i] = uint8(r.IntN(256))
			}
		}
		return s
	}
	return channel(), channel(), channel()
}

// A pixel beyond Reach changes no logit; one at that distance may.
func TestReach(t *testing.T) {
	t.Parallel()
	m := defaultModel(t)
	reach := m.Reach()
	const h = 3
	w := 2*reach + 60
	red, green, blue := noisePicture(rand.New(rand.NewPCG(1, 2)), w, h)
	_, before := m.Run(red, green, blue, w, h)
	at := w / 2
	for y := range h {
		for _, c := range [][]uint8{red, green, blue} {
			c[y*w+at] ^= 0xff
		}
	}
	_, after := m.Run(red, green, blue, w, h)
	furthest := 0
	for y := range h {
		for x := range w {
			if before.At(0, y, x) != after.At(0, y, x) {
				furthest = max(furthest, x-at, at-x)
			}
		}
	}
	if furthest > reach || furthest < reach/2 {
		t.Errorf("a pixel changes logits up to %d columns away; reach is %d", furthest, reach)
	}
}

// At returns a value.
func (t *Tensor[T]) At(c, y, x int) T { return t.V[(c*t.H+y)*t.W+x] }
