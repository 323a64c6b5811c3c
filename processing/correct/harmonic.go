package correct

import "math"

// harmonic fills by Laplace's equation.
func harmonic(on bench, sites []*site) error {
	planes := make([][][]float32, len(sites))
	for i, s := range sites {
		planes[i] = s.pix
	}
	return on.harmonic(sites, planes)
}

// deepHarmonic is the depth from which on a hole gets no more sweeps, which bounds the time per pixel: its middle then
// stays as pull-push filled it.
const deepHarmonic = 48

// relaxation returns sweeps and a factor that make successive over-relaxation converge on holes of the site's depth.
func (s *site) relaxation() (sweeps int, omega float32) {
	// The optimal factor for a square of 2·thick pixels (Young 1954).
	across := float64(2*s.thick + 1)
	return 12 + 5*min(s.thick, deepHarmonic), float32(2 / (1 + math.Sin(math.Pi/across)))
}
