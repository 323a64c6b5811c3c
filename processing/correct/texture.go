package correct

import (
	"blik/internal/simd"
	"blik/processing/internal/arena"
	"blik/processing/internal/kriging"

	"blik/processing"
)

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
func (s *site) followTexture(level simd.Level) {
	if s.filled == nil || s.group.shared {
		return
	}
	targets, points := s.texturePixels()
	n := len(points)
	if len(targets) == 0 || n < textureFewest {
		return
	}
	cov, ok := s.autocovariance(level, targets, points)
	if !ok {
		return
	}
	w := s.width()
	places := arena.Take[int32](s.memory, n)
	for i, p := range points {
		places[i] = int32(cov.place(int(p)%w, int(p)/w))
	}
	noise := float64(textureNoise * cov.at(0, 0))
	difference := 2*cov.at(0, 0) - (cov.at(1, 0) + cov.at(0, 1))
	for i := range cov.values {
		cov.values[i] += cov.mean
	}
	matrix := kriging.NewMatrix(n, arena.Take[float64](s.memory, kriging.Size(n)))
	for i, p := range points {
		row, from := matrix.Row(i), cov.from(int(places[i]))
		for j, q := range places[:i+1] {
			row[kriging.Step*j] = cov.values[from-int(q)]
		}
		made := float64(s.filled[p])
		row[kriging.Step*i] += noise + float64(textureDoubt*difference*made/(1-made))
	}
	if !matrix.Factor(level) {
		return
	}
	weights := arena.Zero[float64](s.memory, n*len(s.pix))
	means := make([]float64, len(s.pix))
	for k, p := range s.pix {
		for _, i := range points {
			means[k] += roundToGrid(float64(p[i]))
		}
		means[k] = roundToGrid(means[k] / float64(n))
		for j, i := range points {
			weights[k*n+j] = float64(p[i]) - means[k]
		}
		matrix.Solve(level, weights[k*n:][:n])
	}
	// Some of the targets are points, but all weights are known by now.
	row := arena.Take[float64](s.memory, n)
	for _, i := range targets {
		from := cov.from(cov.place(int(i)%w, int(i)/w))
		for j, q := range places {
			row[j] = cov.values[from-int(q)]
		}
		for k, p := range s.pix {
			v := float32(means[k] + kriging.Dot(level, row, weights[k*n:][:n]))
			p[i] += float32(textureShare * s.filled[i] * (v - p[i]))
		}
	}
	// That much grain is not missing.
	s.copied = 1 - float32((1-s.copied)*(1-textureShare))
}

// texturePixels returns the pixels of the spot to predict, and the pixels to predict them from, both in reading order.
// If there are too many of the latter, those on a lattice are taken.
func (s *site) texturePixels() (targets, points []int32) {
	w, h := s.width(), s.height()
	near := arena.Zero[uint8](s.memory, w*h)
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
		if v != 0 && s.state[i] != processing.StateClipped && s.filled[i] < textureGuess {
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
	// values are those of the offsets (x, y) with x in −reachX … reachX and y in −reachY … reachY, in reading order.
	values         []float64
	reachX, reachY int
	// mean is the variance of the mean.
	mean float64
}

// place returns a number for a pixel such that differences of places are those of the offsets' indexes.
func (c *autocovariance) place(x, y int) int { return y*(2*c.reachX+1) + x }

// from returns the number from which to subtract the place of a pixel for the index of its covariance with the pixel at
// the given place.
func (c *autocovariance) from(place int) int { return c.place(c.reachX, c.reachY) + place }

// at returns the covariance of two pixels at an offset.
func (c *autocovariance) at(x, y int) float64 { return c.values[c.from(c.place(x, y))] }

// autocovariance computes the covariances of all offsets between targets and points; ok is false where that takes too
// long, or where the paint is of one colour. What is not paint counts as the mean, and all offsets are divided by the
// same number, so that the covariances of any points form a matrix with no negative eigenvalue. The sums are of
// integers, so that they do not depend on the order.
func (s *site) autocovariance(level simd.Level, targets, points []int32) (c autocovariance, ok bool) {
	w, h := s.width(), s.height()
	b := box{w, h, 0, 0}
	for _, list := range [][]int32{targets, points} {
		for _, i := range list {
			x, y := int(i)%w, int(i)/w
			b = b.union(box{x, y, x + 1, y + 1})
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
	half := c.reachX + 1
	sums := arena.Take[int64](s.memory, half*(2*c.reachY+1))
	kriging.Correlate(level, sums, z, b.width(), c.reachX, c.reachY,
		arena.Take[int16](s.memory, kriging.Room(b.height(), b.width(), c.reachX)))
	c.values = arena.Take[float64](s.memory, (2*c.reachX+1)*(2*c.reachY+1))
	scale := float64(n * textureSteps * textureSteps)
	for i, sum := range sums {
		at := c.from(c.place(i%half, i/half-c.reachY))
		v := float64(sum) / scale
		// An offset and its opposite have the same covariance.
		c.values[at], c.values[len(c.values)-1-at] = v, v
	}
	c.mean = textureMean * c.at(0, 0)
	return c, c.at(0, 0) > 0
}

// deviations returns by how much the mean over the channels of each pixel of paint in a part of the window differs from
// that of all, in steps, 0 for other pixels, and the number of pixels of paint.
func (s *site) deviations(part box) (z []int32, n int) {
	z = arena.Zero[int32](s.memory, part.area())
	each := func(f func(at, i int)) {
		for at := range z {
			i := (part.y0+at/part.width())*s.width() + part.x0 + at%part.width()
			if s.state[i] == processing.StateKnown {
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
