package processing

import (
	"math"

	"blik/internal/message"
)

func harmonicMethod() method {
	return method{id: "harmonic", name: message.Of("harmonic"), passes: []pass{passHarmonic}}
}

// harmonic fills by Laplace's equation.
func (c *corrector) harmonic(a *atlas) error {
	sweeps, omegas := a.relaxation()
	return a.inPlace(func(p Plane) error {
		return c.do(Harmonic{Dst: p, State: a.state, Tiles: a.tiles, Sweeps: sweeps, Omegas: omegas})
	})
}

// relaxation returns sweeps and factors that make successive over-relaxation converge on holes of the sites' depths.
func (a *atlas) relaxation() (sweeps []int, omegas []float32) {
	for _, s := range a.sites {
		// The best factor of a square of 2·thick pixels (Young 1954).
		across := float64(2*s.thick + 1)
		omegas = append(omegas, float32(2/(1+math.Sin(math.Pi/across))))
		sweeps = append(sweeps, 12+5*s.thick)
	}
	return sweeps, omegas
}
