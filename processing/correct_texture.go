package processing

import "math"

// What was made up is drawn towards what the texture of the paint around it predicts. The paint of a window counts as
// one texture, in which the covariance of two pixels depends only on their offset. The most likely mean of unknown
// pixels is then linear in the known ones (kriging: Matheron 1963; for gaps in textures: Galerne & Leclaire 2017).

const (
	// textureShare is how much of what was made up comes from the prediction.
	textureShare = 0.5
	// textureRim is how far from what was made up pixels are used to predict it.
	textureRim = 2
	// A pixel is predicted if more than textureMade of its texture was made up, and predicts others if less than
	// textureGuess of it was.
	textureMade, textureGuess = 0.1, 0.9
	// textureFewest and textureMost are how many pixels a prediction is made from.
	textureFewest, textureMost = 8, 256
	// textureAround is how far around the paint shows its texture. textureWork is how many products a covariance may
	// take: larger spots have no prediction.
	textureAround, textureWork = 12, 20_000_000
	// textureNoise is the share of the variance that neighbours do not have in common, textureDoubt the variance of a
	// pixel that was half made up, as a share of that of the difference of neighbours.
	textureNoise, textureDoubt = 0.01, 0.06
	// textureMean is by how much more than pixels the mean of a place varies: it follows the pixels nearby.
	textureMean = 50
	// textureSteps is the number of steps from black to white for the covariance, textureWhite what counts as white at
	// most: pictures of floats may exceed 1.
	textureSteps, textureWhite = 1 << 12, 8
)

// followTexture draws what was made up towards the prediction. Crowded spots are left as they are.
func (s *site) followTexture() {
	if s.filled == nil || s.group.shared {
		return
	}
	targets, points := s.texturePixels()
	n := len(points)
	if len(targets) == 0 || n < textureFewest {
		return
	}
	cov, ok := s.autocovariance(targets, points)
	if !ok {
		return
	}
	w := s.width()
	difference := 2*cov.at(0, 0) - (cov.at(1, 0) + cov.at(0, 1))
	factor := take[float64](s.memory, n*n)
	for i, p := range points {
		x, y := int(p)%w, int(p)/w
		for j, q := range points[:i+1] {
			factor[i*n+j] = cov.at(x-int(q)%w, y-int(q)/w) + cov.mean
		}
		made := float64(s.filled[p])
		factor[i*n+i] += float64(textureNoise*cov.at(0, 0)) + float64(textureDoubt*difference*made/(1-made))
	}
	if !cholesky(factor, n) {
		return
	}
	weights := takeZero[float64](s.memory, n*len(s.pix))
	means := make([]float64, len(s.pix))
	for k, p := range s.pix {
		for _, i := range points {
			means[k] += grid(float64(p[i]))
		}
		means[k] = grid(means[k] / float64(n))
		for j, i := range points {
			weights[k*n+j] = float64(p[i]) - means[k]
		}
		solveCholesky(factor, weights[k*n:][:n])
	}
	// Some of the targets are points, but all weights are known by now.
	row := take[float64](s.memory, n)
	for _, at := range targets {
		x, y := int(at)%w, int(at)/w
		for j, i := range points {
			row[j] = cov.at(x-int(i)%w, y-int(i)/w) + cov.mean
		}
		for k, p := range s.pix {
			v := float32(means[k] + dot(row, weights[k*n:][:n]))
			p[at] += float32(textureShare * s.filled[at] * (v - p[at]))
		}
	}
	// That much grain is not missing.
	s.copied = 1 - float32((1-s.copied)*(1-textureShare))
}

// texturePixels returns the pixels of the spot to predict, and the pixels to predict them from, both in reading order.
// If there are too many of the latter, those on a lattice are taken.
func (s *site) texturePixels() (targets, points []int32) {
	w, h := s.width(), s.height()
	near := takeZero[uint8](s.memory, w*h)
	s.eachPixel(func(i, _, _ int) {
		if s.filled[i] <= textureMade {
			return
		}
		targets = append(targets, int32(i))
		x, y := i%w, i/w
		for v := max(0, y-textureRim); v <= min(h-1, y+textureRim); v++ {
			row := near[v*w+max(0, x-textureRim) : v*w+min(w, x+textureRim+1)]
			for u := range row {
				row[u] = 1
			}
		}
	})
	var all []int32
	for i, v := range near {
		if v != 0 && s.state[i] != StateClipped && s.filled[i] < textureGuess {
			all = append(all, int32(i))
		}
	}
	points = all
	for step := 1; len(points) > textureMost; step++ {
		points = nil
		for _, i := range all {
			x, y := int(i)%w, int(i)/w
			if step == 1 && (x+y)%2 == 0 || step > 1 && x%step == 0 && y%step == 0 {
				points = append(points, i)
			}
		}
	}
	return targets, points
}

// autocovariance holds the covariances of the paint of a window, of the mean over its channels.
type autocovariance struct {
	// values are those of the offsets (x, y) with x in 0 … reachX and y in −reachY … reachY.
	values         []float64
	reachX, reachY int
	// mean is the variance of the mean.
	mean float64
}

// at returns the covariance of two pixels at an offset.
func (c *autocovariance) at(x, y int) float64 {
	if x < 0 {
		x, y = -x, -y
	}
	return c.values[(y+c.reachY)*(c.reachX+1)+x]
}

// autocovariance computes the covariances of all offsets between targets and points; ok is false where that takes too
// long, or where the paint is of one colour. What is not paint counts as the mean, and all offsets are divided by the
// same number, so that the covariances of any points form a matrix with no negative eigenvalue. The sums are of
// integers, so that they do not depend on the order.
func (s *site) autocovariance(targets, points []int32) (c autocovariance, ok bool) {
	w, h := s.width(), s.height()
	b := box{w, h, 0, 0}
	for _, list := range [][]int32{targets, points} {
		for _, i := range list {
			x, y := int(i)%w, int(i)/w
			b = box{min(b.x0, x), min(b.y0, y), max(b.x1, x+1), max(b.y1, y+1)}
		}
	}
	c.reachX, c.reachY = b.width(), b.height()
	work := 2 * b.area()
	b = b.grown(textureAround, w, h)
	if work*b.area() > textureWork {
		return c, false
	}
	z, n := s.deviations(b)
	if n < leastPaint {
		return c, false
	}
	w, h = b.width(), b.height()
	c.values = take[float64](s.memory, (c.reachX+1)*(2*c.reachY+1))
	for dy := -c.reachY; dy <= c.reachY; dy++ {
		for dx := 0; dx <= c.reachX; dx++ {
			var sum int64
			for y := max(0, -dy); y < min(h, h-dy) && dx < w; y++ {
				p, q := z[y*w:][:w-dx], z[(y+dy)*w+dx:][:w-dx]
				for i, v := range p {
					sum += int64(v) * int64(q[i])
				}
			}
			c.values[(dy+c.reachY)*(c.reachX+1)+dx] = float64(sum) / float64(n*textureSteps*textureSteps)
		}
	}
	c.mean = textureMean * c.at(0, 0)
	return c, c.at(0, 0) > 0
}

// deviations returns by how much the mean over the channels of each pixel of paint in a part of the window differs from
// that of all, in steps, 0 for other pixels, and the number of pixels of paint.
func (s *site) deviations(part box) (z []int32, n int) {
	z = takeZero[int32](s.memory, part.area())
	each := func(f func(at, i int)) {
		for at := range z {
			if i := (part.y0+at/part.width())*s.width() + part.x0 + at%part.width(); s.state[i] == StateKnown {
				f(at, i)
			}
		}
	}
	var sum int64
	each(func(at, i int) {
		var level float32
		for _, p := range s.pix {
			level += min(p[i], textureWhite)
		}
		z[at] = int32(float32(level*textureSteps)/float32(len(s.pix)) + 0.5)
		sum += int64(z[at])
		n++
	})
	mean := int32(sum / int64(max(n, 1)))
	each(func(at, _ int) { z[at] -= mean })
	return z, n
}

// cholesky replaces the lower triangle of a symmetric n × n matrix by its Cholesky factor; false where it has none.
func cholesky(m []float64, n int) bool {
	for i := range n {
		row := m[i*n:][:i+1]
		for j := range i {
			row[j] = (row[j] - dot(row[:j], m[j*n:][:j])) / m[j*n+j]
		}
		v := row[i] - dot(row[:i], row[:i])
		if !(v > 0) {
			return false
		}
		row[i] = math.Sqrt(v)
	}
	return true
}

// solveCholesky replaces v by the solution x of the linear equations L·Lᵀ·x = v.
func solveCholesky(factor, v []float64) {
	n := len(v)
	for i := range n {
		v[i] = (v[i] - dot(factor[i*n:][:i], v[:i])) / factor[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		v[i] /= factor[i*n+i]
		for j, l := range factor[i*n:][:i] {
			v[j] -= float64(l * v[i])
		}
	}
}

// dot returns the scalar product of vectors of the same length. Four sums do not wait for each other.
func dot(a, b []float64) float64 {
	var sum [4]float64
	for len(a) >= 4 && len(b) >= 4 {
		sum[0] += float64(a[0] * b[0])
		sum[1] += float64(a[1] * b[1])
		sum[2] += float64(a[2] * b[2])
		sum[3] += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		sum[0] += float64(v * b[i])
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3])
}
