package processing

import (
	"math"

	"blik/internal/message"
)

func convolutionMethod() method {
	return method{id: "convolution", name: message.Of("normalised convolution"), passes: []pass{passConvolution}}
}

// convolve fills by normalised convolution with a Gaussian of half the depth of the hole.
func (c *corrector) convolve(a *atlas) error {
	sigmas := make([]float64, len(a.sites))
	for i, s := range a.sites {
		sigmas[i] = math.Max(1, float64(s.thick)/2)
	}
	return a.inPlace(func(p Plane) error {
		return c.do(Convolve{Dst: p, State: a.state, Tiles: a.tiles, Sigmas: sigmas})
	})
}
