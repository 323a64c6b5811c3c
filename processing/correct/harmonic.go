package correct

import (
	"math"

	"blik/processing"
)

func harmonicMethod() method {
	return method{passes: []pass{passHarmonic}}
}

// harmonic fills by Laplace's equation.
func (c *corrector) harmonic(a *atlas) error {
	sweeps, omegas := a.relaxation()
	return a.inPlace(func(p processing.Plane) error {
		return c.do(processing.Harmonic{Dst: p, State: a.state, Tiles: a.tiles, Sweeps: sweeps, Omegas: omegas})
	})
}

// deepHarmonic is the depth from which on a hole gets no more sweeps, which bounds the time per pixel: its middle then
// stays as pull-push filled it.
const deepHarmonic = 48

// relaxation returns sweeps and factors that make successive over-relaxation converge on holes of the sites' depths.
func (a *atlas) relaxation() (sweeps []int, omegas []float32) {
	for _, s := range a.sites {
		n, omega := s.relaxation()
		sweeps, omegas = append(sweeps, n), append(omegas, omega)
	}
	return sweeps, omegas
}

// relaxation returns the sweeps and the factor of one site.
func (s *site) relaxation() (sweeps int, omega float32) {
	// The optimal factor for a square of 2·thick pixels (Young 1954).
	across := float64(2*s.thick + 1)
	return 12 + 5*min(s.thick, deepHarmonic), float32(2 / (1 + math.Sin(math.Pi/across)))
}
