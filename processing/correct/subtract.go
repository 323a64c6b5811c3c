package correct

import (
	"math"
	"slices"

	"blik/processing/internal/arena"
	"blik/processing/internal/differences"
	"blik/processing/internal/linear"

	"blik/processing"
)

// sampledSpots is roughly how many spots an estimate over the whole picture samples.
const sampledSpots = 400

// estimateLight returns the colour of the light: the median, over a sample of spots, of how far their brightest
// unclipped pixel rises over the median of the paint around it, in linear light. It samples the whole mask, whichever
// spots are to be corrected.
func estimateLight(each eacher, d *codec, g *glareMap) [4]float64 {
	ch := d.pic.Channels
	white := 1 / math.Sqrt(float64(ch))
	step := max(1, (len(g.spots)+sampledSpots-1)/sampledSpots)
	rises := make([][4]float64, (len(g.spots)+step-1)/step)
	each(len(rises), func(t *tools, i int) { rises[i] = rise(&t.scratch, d, g, g.spots[i*step].Runs) })
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
		// A few spots prove little: white counts as two more.
		e[k] += 2 * white
	}
	return unit(e, ch)
}

// unit scales v to length 1.
func unit(v [4]float64, n int) [4]float64 {
	var sum float64
	for k := range n {
		sum += float64(v[k] * v[k])
	}
	for k := range n {
		v[k] /= math.Sqrt(sum)
	}
	return v
}

// rise returns the direction in which the brightest unclipped pixel of the runs differs from the paint around them,
// with length 1, or 0 if nothing rises clearly.
func rise(t *arena.Arena, d *codec, g *glareMap, runs []processing.Run) [4]float64 {
	ch := d.pic.Channels
	b := boxOf(runs).grown(g.halo+4, d.pic.Width, d.pic.Height)
	if b.area() > 1<<16 {
		return [4]float64{}
	}
	own, _ := g.owners(t, t, b)
	light := func(i int) (l [4]float64, clipped bool) {
		at := ((b.y0+i/b.width())*d.pic.Width + b.x0 + i%b.width()) * ch
		for k := range ch {
			v, _ := d.level(at + k)
			r := float64(d.rootOf(at + k))
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
			var over [4]float64
			var sum float64
			for k := range ch {
				over[k] = math.Max(l[k]-paint[k], 0)
				sum += over[k]
			}
			if !clipped && sum > most {
				best, most = over, sum
			}
		}
	}
	if best == [4]float64{} {
		return best
	}
	return unit(best, ch)
}

// lookThrough separates light from paint, and fills clipped pixels. A first guess of the paint shows where the skirt of
// the light ends; the pixels beyond it are paint, and improve the second guess.
func (c *scene) lookThrough(on bench, sites []*site) error {
	lit := make([]*lightSite, len(sites))
	for i, s := range sites {
		lit[i] = newLightSite(s)
	}
	if err := guess(on, lit, c.light); err != nil {
		return err
	}
	// A second guess would only repeat the first where that made no pixel known.
	again := slices.DeleteFunc(slices.Clone(lit), func(v *lightSite) bool { return len(v.beyond) == 0 })
	if err := guess(on, again, c.light); err != nil {
		return err
	}
	if err := on.each(len(lit), func(_ *tools, i int) { lit[i].square() }); err != nil {
		return err
	}
	if err := on.separate(lit); err != nil {
		return err
	}
	return on.each(len(lit), func(t *tools, i int) {
		lit[i].pix = lit[i].paint
		lit[i].refine(t)
		lit[i].madeUp()
	})
}

// guess guesses the paint of the sites and models it; light is the colour of the light over the picture.
func guess(on bench, lit []*lightSite, light [4]float64) error {
	if len(lit) == 0 {
		return nil
	}
	sites, paint := make([]*site, len(lit)), make([][][]float32, len(lit))
	for i, v := range lit {
		sites[i], paint[i] = v.site, v.paint
		for k, p := range v.pix {
			copy(v.paint[k], p)
		}
	}
	if err := on.harmonic(sites, paint); err != nil {
		return err
	}
	return on.each(len(lit), func(t *tools, i int) {
		for k, p := range paint[i] {
			copy(lit[i].guess[k], p)
		}
		lit[i].consider(t, light)
	})
}

// consider continues the guess along the strokes and makes the model.
func (v *lightSite) consider(t *tools, picture [4]float64) {
	if v.along == nil {
		v.along = make(strokes, v.box.area())
	}
	v.strokes(t, v.along)
	v.continueStrokes(t)
	v.model(t, picture)
}

// lightSite is a site while its light is separated from its paint.
type lightSite struct {
	*site
	m processing.Separation
	// paint is that of Separate; it begins as its surroundings continue.
	paint [][]float32
	// guess is the paint as surroundings and strokes continue it. seen is the light of each channel, in the same memory
	// once the guess is no longer needed.
	guess, seen [][]float32
	along       strokes
	// expected and light are those of Separate.
	expected, light []float32
	// beyond are the pixels of the spot outside the skirt: they count as known while the light is separated.
	beyond []int32
}

func newLightSite(s *site) *lightSite {
	n := s.box.area()
	v := &lightSite{site: s, paint: allocPlanes(s.memory, len(s.pix), n), guess: allocPlanes(s.memory, len(s.pix), n),
		expected: arena.Take[float32](s.memory, n), light: arena.Zero[float32](s.memory, n)}
	v.seen = v.guess
	return v
}

// square computes the light of each channel from its roots.
func (v *lightSite) square() {
	for k, p := range v.pix {
		for i, r := range p {
			v.seen[k][i] = r * r
		}
	}
}

// madeUp sets filled, the share of invented texture: all of it in a clipped pixel, and the more the brighter the light
// that was subtracted. Pixels beyond the skirt become glare again, so that nothing is copied from them.
func (v *lightSite) madeUp() {
	v.filled = arena.Zero[float32](v.memory, len(v.light))
	var variance float64
	for k := range v.pix {
		variance += float64(v.m.Variance[k])
	}
	for i, l := range v.light {
		switch v.state[i] {
		case processing.StateClipped:
			v.filled[i] = 1
		case processing.StateUnclipped:
			var root float64
			for k := range v.pix {
				root += float64(v.pix[k][i])
			}
			root = 2*root/float64(len(v.pix)) + 0.01
			noise := float64(v.m.Mismatch) * float64(l)
			noise = float64(noise * noise)
			v.filled[i] = float32(noise / (noise + float64(variance*root*root/4)))
		}
	}
	for _, i := range v.beyond {
		v.state[i] = processing.StateUnclipped
	}
}

// How light is distinguished from paint.
const (
	// skirt is how far the skirt may extend from bright light, in pixels.
	skirt = 6
	// hotLight is the light, 1 = white, from which on a pixel is hot, or half of the spot's peak if that is less;
	// hotSigmas is by how many standard deviations it must also exceed the paint.
	hotLight, hotSigmas = 0.1, 4
	// ownColour is the light on a spot, in white pixels, from which on its own colour counts more than the picture's.
	ownColour = 3
	// least is the least light expected around a glint, leastShare the same as a share of its brightest light: lenses
	// scatter light, and the texture of the paint hides some of it.
	least, leastShare = 3e-4, 0.008
	// skirtSigmas is the mean light at a distance, in standard deviations of a pixel, below which the skirt ends: faint
	// veils on dark paint stay below one.
	skirtSigmas = 0.5
	// nearest is the squared distance within which the skirt never ends.
	nearest = 3
	// sensorNoise is the variance of linear light that is not paint: noise of the sensor, rounding, compression.
	sensorNoise = 3e-5
	// mismatch is the share of the light that may deviate from its colour, so that the colour of a pixel under bright
	// light counts little.
	mismatch = 0.5
	// deepLight is the depth from which on a hole gets no more sweeps, which bounds the time per pixel.
	deepLight = 16
)

// model estimates, from the guess of the paint, the statistics of the paint around the spot, the colour of the light on
// it, and how much light is to be expected on each pixel. Pixels beyond the skirt become known.
func (v *lightSite) model(t *tools, picture [4]float64) {
	ch := len(v.pix)
	v.m = processing.Separation{Sweeps: v.sweeps(20, 2), Noise: sensorNoise, Mismatch: mismatch}
	axes, variance := principalAxes(v.covariance(), ch)
	for k := range ch {
		v.m.Variance[k] = float32(variance[k])
		for i := range ch {
			v.m.Axes[k][i] = float32(axes[k][i])
		}
	}
	n, w, hole := v.box.area(), v.width(), v.hole()
	rise, sd := arena.Take[float64](&t.scratch, n), arena.Take[float64](&t.scratch, n)
	unclipped := arena.Take[int32](&t.scratch, hole.area())[:0]
	for y := hole.y0; y < hole.y1; y++ {
		for i := y*w + hole.x0; i < y*w+hole.x1; i++ {
			if v.state[i] == processing.StateUnclipped {
				unclipped = append(unclipped, int32(i))
			}
		}
	}
	look := func(colour [4]float64) (hot func(i int) bool) {
		for k := range ch {
			v.m.Light[k] = 0
			for i := range ch {
				v.m.Light[k] += float32(axes[k][i] * colour[i])
			}
		}
		peak := 0.0
		for _, i := range unclipped {
			rise[i], sd[i] = riseOn(&v.m, v.pix, v.guess, int(i))
			peak = max(peak, rise[i])
		}
		bright := min(hotLight, peak/2)
		return func(i int) bool {
			rim := v.state[i] == processing.StateUnclipped && v.depth[i] == 0
			return v.own[i] != free &&
				(v.state[i] == processing.StateClipped || rim && rise[i] >= max(hotSigmas*sd[i], bright))
		}
	}
	hot := look(picture)
	var sum [4]float64
	for _, i := range unclipped {
		if hot(int(i)) {
			for k := range ch {
				g, p := float64(v.guess[k][i]), float64(v.pix[k][i])
				sum[k] += float64(roundToGrid(math.Max(float64(p*p)-float64(g*g), 0)))
			}
		}
	}
	for k := range ch {
		sum[k] += float64(ownColour * picture[k])
	}
	hot = look(unit(sum, ch))
	dist := v.fromHot(&t.scratch, hole, hot)
	level, end := v.profile(hole, rise, sd, dist)
	faintest := math.Max(least, leastShare*v.peak(unclipped, rise))
	for i := range v.expected {
		v.expected[i] = 1e9
	}
	for y := hole.y0; y < hole.y1; y++ {
		for i := y*w + hole.x0; i < y*w+hole.x1; i++ {
			d := int(dist[i])
			if d == 0 {
				continue
			}
			v.expected[i] = float32(math.Max(level[d], faintest))
			if d >= end && v.own[i] == v.index {
				v.state[i] = processing.StateKnown
				v.beyond = append(v.beyond, int32(i))
			}
		}
	}
}

// peak returns the brightest light in the window, 1 = white; the light on a clipped pixel counts as white.
func (v *lightSite) peak(unclipped []int32, rise []float64) float64 {
	for i, state := range v.state {
		if state == processing.StateClipped && v.own[i] == v.index {
			return 1
		}
	}
	most := 0.0
	for _, i := range unclipped {
		most = max(most, rise[i])
	}
	return min(most/math.Sqrt(float64(len(v.pix))), 1)
}

// sweeps returns the number of sweeps: least, and more for each pixel of the hole's depth. Crowded spots get half as
// many, because their holes are shallow.
func (s *site) sweeps(least, more int) int {
	n := least + more*min(s.thick, deepLight)
	if s.group.shared {
		n /= 2
	}
	return n
}

// riseOn returns how much light lies on a pixel if the paint under it is like the guess, and the standard deviation of
// that.
func riseOn(m *processing.Separation, pix, guess [][]float32, i int) (rise, sd float64) {
	ch := len(pix)
	var slope float64
	var d [4]float64
	for k := range ch {
		g, v := float64(guess[k][i]), float64(pix[k][i])
		slope += g
		d[k] = float64(v*v) - float64(g*g)
	}
	slope = 2*slope/float64(ch) + 0.01
	var along, sure float64
	for k := range ch {
		var r float64
		for j := range ch {
			r += float64(float64(m.Axes[k][j]) * d[j])
		}
		q := float64(m.Light[k]) / (float64(float64(m.Variance[k])*slope*slope) + float64(m.Noise))
		along += float64(q * r)
		sure += float64(q * float64(m.Light[k]))
	}
	return along / sure, 1 / math.Sqrt(sure)
}

// fromHot returns the squared distance of each unclipped pixel to the nearest hot one, and 0 for all others; the
// distance is skirt² + 1 beyond the skirt.
func (s *site) fromHot(t *arena.Arena, hole box, hot func(i int) bool) []int32 {
	w, h := s.width(), s.height()
	const beyond = skirt*skirt + 1
	dist := arena.Zero[int32](t, w*h)
	if hole.area() == 0 {
		return dist
	}
	far := arena.Take[int32](t, hole.area())
	index := func(n int) int { return (hole.y0+n/hole.width())*w + hole.x0 + n%hole.width() }
	for n := range far {
		far[n] = 1
		switch i := index(n); {
		case s.own[i] != free && hot(i):
			far[n] = 0
		case s.state[i] == processing.StateUnclipped:
			dist[i] = beyond
		}
	}
	for n, d := range distances(t, far, hole.width(), beyond) {
		if i := index(n); dist[i] != 0 {
			dist[i] = d
		}
	}
	return dist
}

// distances returns the squared distance of each pixel to the nearest one whose value is 0, at most limit. The values
// are those of a rectangle in rows of w; they are overwritten.
func distances(t *arena.Arena, values []int32, w int, limit int32) []int32 {
	const none = 1 << 29
	// Distances along rows come first, then the least over the column.
	for row := range slices.Chunk(values, w) {
		since := int32(none)
		for x, v := range row {
			if since++; v == 0 {
				since = 0
			}
			row[x] = since
		}
		since = none
		for x, v := range slices.Backward(row) {
			since = min(since+1, v)
			row[x] = since
		}
	}
	out, h := arena.Take[int32](t, len(values)), len(values)/w
	for i := range out {
		best, y := int64(limit), i/w
		for reach := 0; int64(reach*reach) < best && reach < h; reach++ {
			for _, v := range [2]int{y - reach, y + reach} {
				if v >= 0 && v < h {
					across := int64(values[v*w+i%w])
					best = min(best, int64(reach*reach)+across*across)
				}
			}
		}
		out[i] = int32(best)
	}
	return out
}

// profile returns the mean light at each squared distance from the hot pixels, and the squared distance from which on
// there is none. Means over pixels at the same distance cancel the texture of the paint. Light never rises outwards,
// which isotonic regression enforces (pool adjacent violators: Ayer et al. 1955).
func (v *lightSite) profile(hole box, rise, sd []float64, dist []int32) (level []float64, end int) {
	const rings = skirt*skirt + 2
	type block struct {
		sum, sd, n float64
		last       int
	}
	var ring [rings]block
	for y := hole.y0; y < hole.y1; y++ {
		for i := y*v.width() + hole.x0; i < y*v.width()+hole.x1; i++ {
			if d := dist[i]; d > 0 && v.state[i] == processing.StateUnclipped {
				ring[d].sum += float64(roundToGrid(rise[i]))
				ring[d].sd += float64(roundToGrid(sd[i]))
				ring[d].n++
			}
		}
	}
	var pool []block
	for d, r := range ring {
		if r.n == 0 {
			continue
		}
		r.last = d
		pool = append(pool, r)
		for k := len(pool) - 1; k > 0 && pool[k].sum*pool[k-1].n > pool[k-1].sum*pool[k].n; k-- {
			p, q := pool[k-1], pool[k]
			pool[k-1] = block{p.sum + q.sum, p.sd + q.sd, p.n + q.n, q.last}
			pool = pool[:k]
		}
	}
	level = make([]float64, rings)
	end = rings
	d := 1
	for _, b := range pool {
		if b.sum < skirtSigmas*b.sd && end == rings {
			end = max(d, nearest)
		}
		for ; d <= b.last; d++ {
			level[d] = b.sum / b.n
		}
	}
	return level, end
}

// A grid number is a multiple of 2⁻³⁶. Sums of such numbers up to 2¹⁷ are exact, so that they do not depend on the
// order: a transposed picture gives the same model.
const (
	gridScale = 1 << 36
	// Adding 1.5 · 2⁵² leaves no bits for fractions, as long as the number is below 2⁵¹.
	gridShift = 3 << 51
)

// roundToGrid rounds x to a grid number.
func roundToGrid(x float64) float64 {
	if x = float64(x * gridScale); x > -1<<50 && x < 1<<50 {
		return float64(float64(x+gridShift)-gridShift) / gridScale
	}
	return math.Round(x) / gridScale
}

// covariance returns the covariance of the differences between neighbouring pixels of paint.
func (s *site) covariance() (cov [4][4]float64) {
	ch := len(s.pix)
	pairs, ok := 0.0, false
	if ch == 3 {
		pairs, ok = s.sumsOfThree(&cov)
	}
	if !ok {
		cov = [4][4]float64{}
		pairs = s.sums(&cov)
	}
	for a := range ch {
		for b := range a + 1 {
			if pairs > 0 {
				cov[a][b] /= pairs
			}
			cov[b][a] = cov[a][b]
		}
		// Nothing is smoother than the rounding to 8 bits.
		cov[a][a] += 2e-6
	}
	return cov
}

// sums adds the products of the differences between known neighbours, and returns the number of pairs.
func (s *site) sums(cov *[4][4]float64) (pairs float64) {
	w, h := s.width(), s.height()
	for y := range h {
		for x := range w {
			i := y*w + x
			if s.state[i] != processing.StateKnown {
				continue
			}
			if x+1 < w && s.state[i+1] == processing.StateKnown {
				s.addProducts(cov, i, i+1)
				pairs++
			}
			if y+1 < h && s.state[i+w] == processing.StateKnown {
				s.addProducts(cov, i, i+w)
				pairs++
			}
		}
	}
	return pairs
}

// sumsOfThree is sums for three channels. ok is false if the sums are too large to be exact.
func (s *site) sumsOfThree(cov *[4][4]float64) (pairs float64, ok bool) {
	w, h := s.width(), s.height()
	known := make([]float32, 2*w)
	row := func(y int) differences.Row {
		r := differences.Row{Known: known[y%2*w:][:w]}
		for k := range r.Pix {
			r.Pix[k] = s.pix[k][y*w : (y+1)*w]
		}
		for x, v := range s.state[y*w : (y+1)*w] {
			r.Known[x] = 0
			if v == processing.StateKnown {
				r.Known[x] = 1
			}
		}
		return r
	}
	var sum differences.Sums
	this := row(0)
	for y := range h {
		right := this.From(1)
		if !sum.Add(&this, &right, w-1) {
			return 0, false
		}
		if y+1 < h {
			below := row(y + 1)
			if !sum.Add(&this, &below, w) {
				return 0, false
			}
			this = below
		}
	}
	products, n := sum.Products()
	at := 0
	for a := range 3 {
		for b := range a + 1 {
			cov[a][b] = products[at]
			at++
		}
		if cov[a][a] >= differences.Exact {
			return 0, false
		}
	}
	return float64(n), true
}

// addProducts adds the products of the differences of pixels i and j, as grid numbers, to the lower triangle of sum.
func (s *site) addProducts(sum *[4][4]float64, i, j int) {
	var d [4]float64
	for k, p := range s.pix {
		d[k] = float64(p[i] - p[j])
	}
	for a := range s.pix {
		for b := range a + 1 {
			sum[a][b] += float64(roundToGrid(d[a] * d[b]))
		}
	}
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
				r := linear.NewRotation(a[p][p], a[p][q], a[q][q])
				for k := range n {
					a[k][p], a[k][q] = r.Turn(a[k][p], a[k][q])
				}
				for k := range n {
					a[p][k], a[q][k] = r.Turn(a[p][k], a[q][k])
					axes[p][k], axes[q][k] = r.Turn(axes[p][k], axes[q][k])
				}
			}
		}
	}
	for i := range n {
		values[i] = a[i][i]
	}
	return axes, values
}
