package processing

import (
	"math"
	"os"
	"slices"
	"strconv"
)

func knob(name string, def float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return def
}

// estimateLight returns the colour of the light: the median over the spots of how their brightest unclipped pixel rises
// over the median of the paint around it, in linear light. It looks at the whole mask, whatever is to be corrected, and
// at no more than some hundred spots.
func (c *corrector) estimateLight() [4]float64 {
	ch := c.pic.Channels
	white := 1 / math.Sqrt(float64(ch))
	const most = 400
	step := (len(c.glare.spots) + most - 1) / most
	var rises [][4]float64
	if step > 0 {
		rises = make([][4]float64, (len(c.glare.spots)+step-1)/step)
	}
	c.each(len(rises), func(i int) { rises[i] = c.rise(c.glare.spots[i*step].Runs) })
	rises = slices.DeleteFunc(rises, func(r [4]float64) bool { return r == [4]float64{} })
	var e [4]float64
	for k := range ch {
		all := make([]float64, len(rises))
		for i := range rises {
			all[i] = rises[i][k]
		}
		slices.Sort(all)
		if n := len(all); n > 0 {
			e[k] = float64(n) * (all[(n-1)/2] + all[n/2]) / 2
		}
		// A few spots say little: white counts as two more.
		e[k] += 2 * white
	}
	return unit(e, ch)
}

// unit scales v to length 1.
func unit(v [4]float64, n int) [4]float64 {
	var sum float64
	for k := range n {
		sum += v[k] * v[k]
	}
	for k := range n {
		v[k] /= math.Sqrt(sum)
	}
	return v
}

// rise returns the direction in which the brightest unclipped pixel of the runs differs from the paint around them, of
// length 1, or 0 where nothing rises clearly.
func (c *corrector) rise(runs []Run) [4]float64 {
	ch := c.pic.Channels
	b := boxOf(runs).grown(c.p.Halo+4, c.pic.Width, c.pic.Height)
	if b.area() > 1<<16 {
		return [4]float64{}
	}
	own, depth := make([]int32, b.area()), make([]int32, b.area())
	c.glare.owners(b, own, depth)
	light := func(i int) (l [4]float64, clipped bool) {
		at := ((b.y0+i/b.width())*c.pic.Width + b.x0 + i%b.width()) * ch
		for k := range ch {
			v, _ := c.codec.level(at + k)
			r := float64(c.codec.rootOf(at + k))
			l[k], clipped = r*r, clipped || v >= clipLevel
		}
		return l, clipped
	}
	var ring [4][]float64
	for i, o := range own {
		if o == free {
			l, _ := light(i)
			for k := range ch {
				ring[k] = append(ring[k], l[k])
			}
		}
	}
	if len(ring[0]) < 8 {
		return [4]float64{}
	}
	var paint, best [4]float64
	for k := range ch {
		slices.Sort(ring[k])
		paint[k] = ring[k][len(ring[k])/2]
	}
	most := 0.05 * float64(ch)
	for _, r := range runs {
		for x := r.X0; x < r.X1; x++ {
			l, clipped := light((r.Y-b.y0)*b.width() + x - b.x0)
			var d [4]float64
			var sum float64
			for k := range ch {
				d[k] = math.Max(l[k]-paint[k], 0)
				sum += d[k]
			}
			if !clipped && sum > most {
				best, most = d, sum
			}
		}
	}
	if best == [4]float64{} {
		return best
	}
	return unit(best, ch)
}

// lookThrough separates the light from the paint, and fills what is clipped.
func (c *corrector) lookThrough(a *atlas) error {
	ch := c.pic.Channels
	sweeps, omegas := a.relaxation()
	paint, seen := make([]Plane, ch), make([]Plane, ch)
	squares := make([][]float32, len(a.sites))
	for i, s := range a.sites {
		squares[i] = make([]float32, s.box.area())
	}
	for k := range ch {
		var err error
		if seen[k], err = a.plane(F32); err != nil {
			return err
		}
		if paint[k], err = a.plane(F32); err != nil {
			return err
		}
		at := 0
		if err := a.put(seen[k], func(s *site) []float32 {
			l := squares[at]
			at++
			for i, v := range s.pix[k] {
				l[i] = v * v
			}
			return l
		}); err != nil {
			return err
		}
		if err := a.put(paint[k], func(s *site) []float32 { return s.pix[k] }); err != nil {
			return err
		}
		if err := c.be.Harmonic(c.ctx, paint[k], a.state, a.tiles, sweeps, omegas); err != nil {
			return err
		}
	}
	guess := make([][][]float32, len(a.sites))
	for i, s := range a.sites {
		guess[i] = make([][]float32, ch)
		for k := range guess[i] {
			guess[i][k] = make([]float32, s.box.area())
		}
	}
	for k := range ch {
		at := 0
		if err := a.get(paint[k], func(*site) []float32 { at++; return guess[at-1][k] }); err != nil {
			return err
		}
	}
	light, err := a.plane(F32)
	if err != nil {
		return err
	}
	expected, err := a.plane(F32)
	if err != nil {
		return err
	}
	models := make([]Separation, len(a.sites))
	expect := make([][]float32, len(a.sites))
	c.each(len(a.sites), func(i int) { models[i], expect[i] = c.model(a.sites[i], guess[i]) })
	if err := c.ctx.Err(); err != nil {
		return err
	}
	at := 0
	if err := a.put(expected, func(*site) []float32 { at++; return expect[at-1] }); err != nil {
		return err
	}
	clear(a.host)
	if err := c.be.Upload(c.ctx, light, Samples{F32: a.host}); err != nil {
		return err
	}
	if err := c.be.Separate(c.ctx, paint, light, seen, expected, a.state, a.tiles, models); err != nil {
		return err
	}
	for k := range ch {
		if err := a.get(paint[k], func(s *site) []float32 { return s.pix[k] }); err != nil {
			return err
		}
	}
	at = 0
	if err := a.get(light, func(*site) []float32 { at++; return expect[at-1] }); err != nil {
		return err
	}
	c.each(len(a.sites), func(i int) { a.sites[i].madeUp(&models[i], expect[i]) })
	return nil
}

// madeUp notes how much of the texture of each pixel is a guess: all where it was clipped, and the more the brighter the
// light that was taken away.
func (s *site) madeUp(m *Separation, light []float32) {
	s.filled = make([]float32, len(light))
	var v float64
	for k := range len(s.pix) {
		v += float64(m.Variance[k])
	}
	for i, l := range light {
		switch s.state[i] {
		case StateLost:
			s.filled[i] = 1
		case StateVeiled:
			var root float64
			for k := range s.pix {
				root += float64(s.pix[k][i])
			}
			root = 2*root/float64(len(s.pix)) + 0.01
			noise := float64(m.Mismatch) * float64(l)
			noise *= noise
			s.filled[i] = float32(noise / (noise + v*root*root/4))
		}
	}
}

// How far from bright light its skirt is looked for, in pixels.
const skirt = 6

// model estimates, from a first guess of the paint, the statistics of the paint around the spot, the colour of the light
// on it, and how much light is to be expected on each pixel.
func (c *corrector) model(s *site, guess [][]float32) (Separation, []float32) {
	ch := len(s.pix)
	m := Separation{Sweeps: 20 + 2*s.thick, Noise: float32(knob("NU", 3e-5)), Mismatch: float32(knob("RHO", 0.5))}
	axes, variance := principalAxes(s.covariance(), ch)
	for k := range ch {
		m.Variance[k] = float32(variance[k])
		for i := range ch {
			m.Axes[k][i] = float32(axes[k][i])
		}
	}
	colour := c.light
	toward := func() {
		for k := range ch {
			m.Light[k] = 0
			for i := range ch {
				m.Light[k] += m.Axes[k][i] * float32(colour[i])
			}
		}
	}
	toward()
	n := s.box.area()
	rise, sure := make([]float64, n), make([]float64, n)
	measure := func() (peak float64) {
		for i := range n {
			if s.state[i] != StateVeiled {
				continue
			}
			rise[i], sure[i] = m.rise(s.pix, guess, i)
			peak = math.Max(peak, rise[i])
		}
		return peak
	}
	peak := measure()
	hot := func(i int) bool {
		return s.own[i] != free && (s.state[i] == StateLost ||
			s.state[i] == StateVeiled && rise[i] >= math.Max(knob("HSD", 4)*sure[i], math.Min(knob("HOT", 0.1), peak/2)))
	}
	// The light of this spot: what its bright pixels say, and the picture's light where they are few.
	var sum [4]float64
	for i := range n {
		if s.state[i] == StateVeiled && hot(i) {
			for k := range ch {
				g := float64(guess[k][i])
				v := float64(s.pix[k][i])
				sum[k] += math.Max(v*v-g*g, 0)
			}
		}
	}
	for k := range ch {
		sum[k] += knob("COL", 3) * colour[k]
	}
	colour = unit(sum, ch)
	toward()
	peak = measure()

	dist := s.fromHot(hot)
	level := skirtProfile(s, rise, dist)
	expected := make([]float32, n)
	for i := range expected {
		expected[i] = 1e9
		if d := dist[i]; d > 0 {
			expected[i] = float32(level[d])
		}
	}
	return m, expected
}

// rise returns how much light lies on a pixel if the paint under it is like the guess, and the standard deviation of that.
func (m *Separation) rise(pix, guess [][]float32, i int) (rise, sd float64) {
	ch := len(pix)
	var slope float64
	var d [4]float64
	for k := range ch {
		g, v := float64(guess[k][i]), float64(pix[k][i])
		slope += g
		d[k] = v*v - g*g
	}
	slope = 2*slope/float64(ch) + 0.01
	var along, sure float64
	for k := range ch {
		var r float64
		for j := range ch {
			r += float64(m.Axes[k][j]) * d[j]
		}
		q := float64(m.Light[k]) / (float64(m.Variance[k])*slope*slope + float64(m.Noise))
		along += q * r
		sure += q * float64(m.Light[k])
	}
	return along / sure, 1 / math.Sqrt(sure)
}

// fromHot returns for each veiled pixel the squared distance to the nearest hot one, 0 for hot ones themselves; what is
// farther than the skirt counts as just beyond.
func (s *site) fromHot(hot func(i int) bool) []int {
	w, h := s.width(), s.height()
	const beyond = skirt*skirt + 1
	dist := make([]int, w*h)
	var near []int
	for i, v := range s.state {
		if v == StateVeiled {
			dist[i] = beyond
		}
	}
	for i, o := range s.own {
		if o != free && hot(i) {
			dist[i] = 0
			near = append(near, i)
		}
	}
	for _, i := range near {
		x, y := i%w, i/w
		if x > 0 && y > 0 && x < w-1 && y < h-1 && dist[i-1]+dist[i+1]+dist[i-w]+dist[i+w] == 0 {
			continue
		}
		for v := max(0, y-skirt); v <= min(h-1, y+skirt); v++ {
			for u := max(0, x-skirt); u <= min(w-1, x+skirt); u++ {
				if d := (u-x)*(u-x) + (v-y)*(v-y); d < dist[v*w+u] {
					dist[v*w+u] = d
				}
			}
		}
	}
	return dist
}

// skirtProfile returns the mean light at each squared distance from the hot pixels. The means over pixels of equal
// distance average the texture of the paint out; light never rises outwards, which isotonic regression enforces (pool
// adjacent violators: Ayer et al. 1955).
func skirtProfile(s *site, rise []float64, dist []int) []float64 {
	const rings = skirt*skirt + 2
	type block struct {
		sum, n float64
		last   int
	}
	var sum, n [rings]float64
	for i, d := range dist {
		if d > 0 && s.state[i] == StateVeiled {
			sum[d] += rise[i]
			n[d]++
		}
	}
	var pool []block
	for d := 1; d < rings; d++ {
		if n[d] == 0 {
			continue
		}
		pool = append(pool, block{sum[d], n[d], d})
		for k := len(pool) - 1; k > 0 && pool[k].sum*pool[k-1].n > pool[k-1].sum*pool[k].n; k-- {
			pool[k-1] = block{pool[k-1].sum + pool[k].sum, pool[k-1].n + pool[k].n, pool[k].last}
			pool = pool[:k]
		}
	}
	level := make([]float64, rings)
	d := 1
	for _, b := range pool {
		for ; d <= b.last; d++ {
			level[d] = math.Max(b.sum/b.n, knob("TAU", 3e-4))
		}
	}
	return level
}

// covariance is that of the differences between neighbouring pixels of paint.
func (s *site) covariance() (cov [4][4]float64) {
	ch, w, h := len(s.pix), s.width(), s.height()
	pairs := 0.0
	add := func(i, j int) {
		var d [4]float64
		for k := range ch {
			d[k] = float64(s.pix[k][i] - s.pix[k][j])
		}
		for a := range ch {
			for b := range ch {
				cov[a][b] += d[a] * d[b]
			}
		}
		pairs++
	}
	for y := range h {
		for x := range w {
			i := y*w + x
			if s.state[i] != StateKnown {
				continue
			}
			if x+1 < w && s.state[i+1] == StateKnown {
				add(i, i+1)
			}
			if y+1 < h && s.state[i+w] == StateKnown {
				add(i, i+w)
			}
		}
	}
	for a := range ch {
		for b := range ch {
			if pairs > 0 {
				cov[a][b] /= pairs
			}
		}
		// The rounding of 8-bit samples: nothing is smoother than that.
		cov[a][a] += 2e-6
	}
	return cov
}

// principalAxes returns the eigenvectors of a symmetric n × n matrix as rows, and its eigenvalues (Jacobi 1846).
func principalAxes(a [4][4]float64, n int) (axes [4][4]float64, values [4]float64) {
	for i := range n {
		axes[i][i] = 1
	}
	for range 30 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if math.Abs(a[p][q]) <= 1e-15*math.Sqrt(math.Abs(a[p][p]*a[q][q])) {
					continue
				}
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				if theta < 0 {
					t = -t
				}
				cos := 1 / math.Sqrt(t*t+1)
				sin := t * cos
				for k := range n {
					a[k][p], a[k][q] = cos*a[k][p]-sin*a[k][q], sin*a[k][p]+cos*a[k][q]
				}
				for k := range n {
					a[p][k], a[q][k] = cos*a[p][k]-sin*a[q][k], sin*a[p][k]+cos*a[q][k]
					axes[p][k], axes[q][k] = cos*axes[p][k]-sin*axes[q][k], sin*axes[p][k]+cos*axes[q][k]
				}
			}
		}
	}
	for i := range n {
		values[i] = a[i][i]
	}
	return axes, values
}
