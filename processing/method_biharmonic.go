package processing

import "blik/internal/message"

// biharmonicMethod starts from the harmonic solution.
func biharmonicMethod() method {
	return method{id: "biharmonic", name: message.Of("biharmonic"), passes: []pass{passHarmonic, passBiharmonic}}
}

// biharmonic relaxes the harmonic solution.
func (c *corrector) biharmonic(a *atlas) error {
	sweeps := make([]int, len(a.sites))
	for i, s := range a.sites {
		// The slowest mode of a hole of depth t decays by 1 − 1/t² per sweep. A limit on time ends the sweeps of large
		// holes between the harmonic and the biharmonic solution.
		const budget = 8 << 20 // pixels
		most := max(360, min(4000, budget/max(1, s.box.area()-s.known)))
		sweeps[i] = min(60+8*s.thick*s.thick, most)
		if s.group.shared {
			sweeps[i] = min(sweeps[i], 120)
		}
	}
	return a.inPlace(func(p Plane) error {
		return c.do(Biharmonic{Dst: p, State: a.state, Tiles: a.tiles, Sweeps: sweeps, Omega: 1.4})
	})
}
