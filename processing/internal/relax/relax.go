package relax

import "blik/internal/simd"

// kernels relax the pixels of one colour. Those of Separate and Refine have notes, lights and results in memory of the
// Grid: see the functions that call them.
type kernels struct {
	harmonic     func(g *Grid, p *halves, c int, part []float32)
	separate     func(g *Grid, p *[3]halves, c int, notes, light []float32, look *glass)
	continueHalf func(g *Grid, p []halves, c int, notes, next []float32)
	refine       func(g *Grid, p *[3]halves, c int, notes, next, light []float32, look *glass)
	// done comes after the last of them.
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

// Harmonic is the iteration of processing.Harmonic on one plane. stop is called before each sweep; if it returns true,
// Harmonic returns false.
func (g *Grid) Harmonic(pix []float32, omega float32, sweeps int, stop func() bool) bool {
	p, part, kernel := g.load(pix), g.parts(), kernelsOf(g.level)
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

// parts returns the reciprocal of the number of neighbours of each pixel of the hole.
func (g *Grid) parts() halves {
	of := [5]float32{0, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4}
	out := g.notes(1)
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

// Model is a processing.Separation.
type Model struct {
	Axes            [4][4]float32
	Variance, Light [4]float32
	Noise, Mismatch float32
}

// Veil is what Separate and Refine know of a window of three channels: the light seen, the light expected, the state,
// and the state of clipped pixels.
type Veil struct {
	Seen     [3][]float32
	Expected []float32
	State    []uint8
	Clipped  uint8
}

// noteVeil writes the numbers of Veil from number k on: the light seen, and the reciprocal of that expected, −1 where a
// pixel is clipped.
func (g *Grid) noteVeil(to *halves, numbers, k int, v *Veil) {
	for i := range v.Seen {
		g.note(to, numbers, k+i, v.Seen[i])
	}
	for c, list := range g.cells {
		half := to[c]
		for i := range list {
			lane, pixel := int(list[i].lane), list[i].pixel
			inverse := float32(-1)
			if v.State[pixel] != v.Clipped {
				inverse = 1 / v.Expected[pixel]
			}
			half[(lane/lanes*numbers+k+3)*lanes+lane%lanes] = inverse
		}
	}
}

// Separate is processing.Separate for three channels.
func (g *Grid) Separate(paint [3][]float32, light []float32, v *Veil, m *Model, sweeps int, stop func() bool) bool {
	const numbers = 5
	p := [3]halves{g.load(paint[0]), g.load(paint[1]), g.load(paint[2])}
	notes, lights, part := g.notes(numbers), g.notes(1), g.parts()
	g.noteVeil(&notes, numbers, 0, v)
	g.note(&lights, 1, 0, light)
	for c := range 2 {
		for i := range len(g.blocks[c]) {
			copy(notes[c][(i*numbers+4)*lanes:][:lanes], part[c][i*lanes:])
		}
	}
	look, kernel := newGlass(m), kernelsOf(g.level)
	done := true
	for range sweeps {
		if done = !stop(); !done {
			break
		}
		for c := range 2 {
			kernel.separate(g, &p, c, notes[c], lights[c], look)
		}
	}
	kernel.done()
	if done {
		g.finish(paint, light, &p, &lights)
	}
	return done
}

// finish writes paint and light back.
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

// glass holds a model, each of its numbers in all lanes, and what goes into and comes out of through.
type glass struct {
	m *Model

	axes            [3][3][lanes]float32
	variance, toned [3][lanes]float32
	noise, mismatch [lanes]float32
	// Numbers of the formula, in all lanes.
	zero, one, two, three, half, hundredth, gamma [lanes]float32

	part         [lanes]float32
	guess, paint [3][lanes]float32
	light        [lanes]float32
}

func newGlass(m *Model) *glass {
	o := &glass{m: m}
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

// strokeStep is the constant of the same name in package processing.
const strokeStep = 0.75

// noteStrokes writes the weights of the neighbours.
func (g *Grid) noteStrokes(to *halves, numbers int, along [][4]float32) {
	for c, list := range g.cells {
		half := to[c]
		for i := range list {
			lane, q := int(list[i].lane), &along[list[i].pixel]
			for k, v := range q {
				half[(lane/lanes*numbers+k)*lanes+lane%lanes] = v
			}
		}
	}
}

// Continue relaxes planes towards the mean along the strokes.
func (g *Grid) Continue(planes [][]float32, along [][4]float32, sweeps int) {
	const numbers = 4
	p := make([]halves, len(planes))
	for k := range p {
		p[k] = g.load(planes[k])
	}
	notes, next := g.notes(numbers), g.notes(len(p))
	g.noteStrokes(&notes, numbers, along)
	kernel := kernelsOf(g.level)
	for range sweeps {
		for c := range 2 {
			kernel.continueHalf(g, p, c, notes[c], next[c])
			g.refresh(p)
		}
	}
	kernel.done()
	for k := range p {
		g.store(planes[k], &p[k])
	}
}

// Refine continues Separate with the mean along the strokes in place of that of the nearest four.
func (g *Grid) Refine(paint [3][]float32, light []float32, v *Veil, along [][4]float32, m *Model, sweeps int) {
	const numbers = 8
	p := [3]halves{g.load(paint[0]), g.load(paint[1]), g.load(paint[2])}
	notes, next, lights := g.notes(numbers), g.notes(3), g.notes(1)
	g.noteStrokes(&notes, numbers, along)
	g.noteVeil(&notes, numbers, 4, v)
	g.note(&lights, 1, 0, light)
	look, kernel := newGlass(m), kernelsOf(g.level)
	for i := range look.part {
		look.part[i] = 0.25
	}
	for range sweeps {
		for c := range 2 {
			kernel.refine(g, &p, c, notes[c], next[c], lights[c], look)
			g.refresh(p[:])
		}
	}
	kernel.done()
	g.finish(paint, light, &p, &lights)
}
