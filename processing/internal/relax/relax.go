package relax

import (
	"blik/internal/simd"
	"blik/processing"
)

// kernels relax the pixels of one colour. Coefficients, light and results are stored by block in memory of the Grid.
type kernels struct {
	harmonic     func(g *Grid, p *halves, c int, part []float32)
	separate     func(g *Grid, p *[3]halves, c int, coeffs, light []float32, sep *separator)
	continueHalf func(g *Grid, p []halves, c int, coeffs, next []float32)
	refine       func(g *Grid, p *[3]halves, c int, coeffs, next, light []float32, sep *separator)
	// done is called after the last kernel.
	done func()
}

// kernelsOf returns the kernels for a level of vector instructions.
func kernelsOf(level simd.Level) kernels {
	if level >= simd.AVX2 {
		return vectorKernels()
	}
	return plainKernels()
}

func plainKernels() kernels { return kernels{harmonic, separate, continueHalf, refine, func() {}} }

// Harmonic is the iteration of processing.Harmonic on one plane. It calls stop before each sweep and returns false if
// that returns true.
func (g *Grid) Harmonic(pix []float32, omega float32, sweeps int, stop func() bool) bool {
	p, part, kernel := g.load(pix), g.reciprocals(), kernelsOf(g.level)
	for i := range lanes {
		g.omega[i] = omega
	}
	done := true
	for range sweeps {
		if done = !stop(); !done {
			break
		}
		for c := range 2 {
			kernel.harmonic(g, &p, c, part[c])
		}
	}
	kernel.done()
	if done {
		g.store(pix, &p)
	}
	return done
}

// reciprocals returns 1/n for each pixel of the hole, where n is the number of its neighbours.
func (g *Grid) reciprocals() halves {
	of := [5]float32{0, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4}
	out := g.coeffs(1)
	for c, list := range g.cells {
		for i := range list {
			n, x, y := 0, int(list[i].pixel)%g.w, int(list[i].pixel)/g.w
			for _, near := range [4]bool{x > 0, x < g.w-1, y > 0, y < g.h-1} {
				if near {
					n++
				}
			}
			out[c][list[i].lane] = of[n]
		}
	}
	return out
}

// Veil holds the known data of a window of three channels for Separate and Refine: the observed light, the expected
// light, and the state of each pixel.
type Veil struct {
	Seen     [3][]float32
	Expected []float32
	State    []uint8
}

// veilCoeffs writes coefficients k to k+3: the observed light of the three channels, and the reciprocal of the expected
// light, or −1 where a pixel is clipped.
func (g *Grid) veilCoeffs(to *halves, count, k int, v *Veil) {
	for i := range v.Seen {
		g.setCoeff(to, count, k+i, v.Seen[i])
	}
	for c, list := range g.cells {
		for i := range list {
			pixel, inverse := list[i].pixel, float32(-1)
			if v.State[pixel] != processing.StateClipped {
				inverse = 1 / v.Expected[pixel]
			}
			coeffsAt(to[c], count, list[i].lane)[(k+3)*lanes] = inverse
		}
	}
}

// Separate is processing.Separate for three channels.
func (g *Grid) Separate(
	paint [3][]float32, light []float32, v *Veil, m *processing.Separation, stop func() bool,
) bool {
	const count = 5
	p := [3]halves{g.load(paint[0]), g.load(paint[1]), g.load(paint[2])}
	coeffs, lights, part := g.coeffs(count), g.coeffs(1), g.reciprocals()
	g.veilCoeffs(&coeffs, count, 0, v)
	g.setCoeff(&lights, 1, 0, light)
	for c := range 2 {
		for i := range len(g.blocks[c]) {
			copy(coeffs[c][(i*count+4)*lanes:][:lanes], part[c][i*lanes:])
		}
	}
	sep, kernel := newSeparator(m), kernelsOf(g.level)
	done := true
	for range m.Sweeps {
		if done = !stop(); !done {
			break
		}
		for c := range 2 {
			kernel.separate(g, &p, c, coeffs[c], lights[c], sep)
		}
	}
	kernel.done()
	if done {
		g.finish(paint, light, &p, &lights)
	}
	return done
}

// finish stores paint and light.
func (g *Grid) finish(paint [3][]float32, light []float32, p *[3]halves, lights *halves) {
	for k := range paint {
		g.store(paint[k], &p[k])
	}
	for c, list := range g.cells {
		for i := range list {
			light[list[i].pixel] = lights[c][list[i].lane]
		}
	}
}

// separator holds a model with each parameter in all lanes, and the input and output of solve.
type separator struct {
	m *processing.Separation

	axes            [3][3][lanes]float32
	variance, toned [3][lanes]float32
	noise, mismatch [lanes]float32
	// Constants of the formula, in all lanes.
	zero, one, two, three, half, hundredth, gamma [lanes]float32

	part         [lanes]float32
	guess, paint [3][lanes]float32
	light        [lanes]float32
}

func newSeparator(m *processing.Separation) *separator {
	o := &separator{m: m}
	for i := range lanes {
		for k := range 3 {
			for c := range 3 {
				o.axes[k][c][i] = m.Axes[k][c]
			}
			o.variance[k][i], o.toned[k][i] = m.Variance[k], m.Light[k]
		}
		o.noise[i], o.mismatch[i] = m.Noise, m.Mismatch
		o.one[i], o.two[i], o.three[i], o.half[i], o.hundredth[i], o.gamma[i] = 1, 2, 3, 0.5, 0.01, 2.5464791
	}
	return o
}

// StrokeStep is the step of Continue and Refine: diagonal neighbours are updated together, and would oscillate with a
// step of 1.
const StrokeStep = 0.75

// strokeCoeffs writes the weights of the neighbours as coefficients 0 to 3.
func (g *Grid) strokeCoeffs(to *halves, count int, along [][4]float32) {
	for c, list := range g.cells {
		for i := range list {
			coeffs := coeffsAt(to[c], count, list[i].lane)
			for k, v := range along[list[i].pixel] {
				coeffs[k*lanes] = v
			}
		}
	}
}

// Continue relaxes planes towards the mean of the neighbours along the strokes.
func (g *Grid) Continue(planes [][]float32, along [][4]float32, sweeps int) {
	const count = 4
	p := make([]halves, len(planes))
	for k := range p {
		p[k] = g.load(planes[k])
	}
	coeffs, next := g.coeffs(count), g.coeffs(1)
	g.strokeCoeffs(&coeffs, count, along)
	kernel := kernelsOf(g.level)
	for range sweeps {
		for c := range 2 {
			kernel.continueHalf(g, p, c, coeffs[c], next[c])
			g.refresh(p)
		}
	}
	kernel.done()
	for k := range p {
		g.store(planes[k], &p[k])
	}
}

// Refine is Separate with the mean along the strokes in place of the mean of the four nearest neighbours.
func (g *Grid) Refine(
	paint [3][]float32, light []float32, v *Veil, along [][4]float32, m *processing.Separation,
) {
	const count = 8
	p := [3]halves{g.load(paint[0]), g.load(paint[1]), g.load(paint[2])}
	coeffs, next, lights := g.coeffs(count), g.coeffs(3), g.coeffs(1)
	g.strokeCoeffs(&coeffs, count, along)
	g.veilCoeffs(&coeffs, count, 4, v)
	g.setCoeff(&lights, 1, 0, light)
	sep, kernel := newSeparator(m), kernelsOf(g.level)
	for i := range sep.part {
		sep.part[i] = 0.25
	}
	for range m.Sweeps {
		for c := range 2 {
			kernel.refine(g, &p, c, coeffs[c], next[c], lights[c], sep)
			g.refresh(p[:])
		}
	}
	kernel.done()
	g.finish(paint, light, &p, &lights)
}
