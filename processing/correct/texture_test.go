package correct

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
	"blik/processing/internal/kriging"

	"blik/processing"
)

// The covariance of an offset is the mean product of all pairs of known pixels at that offset, over the number of known
// pixels; any points have a Cholesky factor.
func TestAutocovariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(10, 14).Draw(t, "w"), rapid.IntRange(10, 14).Draw(t, "h")
		s := &site{box: box{0, 0, w, h}, group: &group{}, state: make([]uint8, w*h), pix: [][]float32{make([]float32, w*h)}}
		z := make([]int64, w*h)
		sum, n := int64(0), int64(0)
		for i := range z {
			z[i] = int64(rapid.IntRange(0, textureSteps).Draw(t, "level"))
			s.pix[0][i] = float32(z[i]) / textureSteps
			if i >= leastPaint && rapid.IntRange(0, 3).Draw(t, "glare") == 0 {
				s.state[i] = processing.StateUnclipped
				continue
			}
			sum, n = sum+z[i], n+1
		}
		var points []int32
		for i := range z {
			if rapid.Bool().Draw(t, "point") || i == 0 || i == len(z)-1 {
				points = append(points, int32(i))
			}
		}
		c, ok := s.autocovariance(simd.Chosen(), points[:1], points[1:])
		if !ok {
			return // paint of one colour
		}
		for dy := 1 - h; dy < h; dy++ {
			for dx := 1 - w; dx < w; dx++ {
				var want int64
				for y := range h {
					for x := range w {
						u, v := x+dx, y+dy
						if u < 0 || v < 0 || u >= w || v >= h || s.state[y*w+x] != processing.StateKnown || s.state[v*w+u] != processing.StateKnown {
							continue
						}
						want += (z[y*w+x] - sum/n) * (z[v*w+u] - sum/n)
					}
				}
				if got := c.at(dx, dy); got != float64(want)/float64(n*textureSteps*textureSteps) {
					t.Fatalf("covariance of offset (%d, %d) is %g", dx, dy, got)
				}
			}
		}
		m := kriging.NewMatrix(len(points), make([]float64, kriging.Size(len(points))))
		for i, p := range points {
			row := m.Row(i)
			for j, q := range points[:i+1] {
				row[kriging.Step*j] = c.at(int(p)%w-int(q)%w, int(p)/w-int(q)/w)
			}
			row[kriging.Step*i] += textureNoise * c.at(0, 0)
		}
		if !m.Factor(simd.Chosen()) {
			t.Fatal("the covariances have no Cholesky factor")
		}
	})
}

// A weave goes on across a gap, in its place. The fill that it is predicted over is flat.
func TestTextureGoesOnAcrossAGap(t *testing.T) {
	const w, h = 48, 44
	weave := func(x, y int) float32 {
		return 0.5 + float32(0.1*math.Sin(2*math.Pi*float64(x)/5)*math.Cos(2*math.Pi*float64(y)/6))
	}
	s := &site{box: box{0, 0, w, h}, group: &group{}, state: make([]uint8, w*h), own: make([]int32, w*h),
		filled: make([]float32, w*h), pix: [][]float32{make([]float32, w*h)}}
	for i := range s.own {
		x, y := i%w, i/w
		s.own[i], s.pix[0][i] = free, weave(x, y)
		if d := math.Hypot(float64(x-24), float64(y-22)); d < 4 {
			s.own[i], s.state[i], s.filled[i], s.pix[0][i] = s.index, processing.StateClipped, 1, 0.5
		}
	}
	flat, off, n := 0.0, 0.0, 0
	before := append([]float32(nil), s.pix[0]...)
	s.followTexture(simd.Chosen())
	for i, v := range s.pix[0] {
		want := weave(i%w, i/w)
		if s.own[i] == free {
			if v != before[i] {
				t.Fatalf("pixel %d of the paint changed", i)
			}
			continue
		}
		n++
		flat += float64((before[i] - want) * (before[i] - want))
		// Half of the result is the fill.
		full := before[i] + (v-before[i])/textureShare
		off += float64((full - want) * (full - want))
	}
	if n < 40 || off > 0.05*flat {
		t.Fatalf("%d pixels, squared error %.3g, that of a flat fill %.3g", n, off, flat)
	}
	if s.copied != textureShare {
		t.Errorf("%g of the grain counts as there, want %g", s.copied, textureShare)
	}
}

// Of many pixels, no more than textureMost predict others, on a lattice that is the same when transposed.
func TestTexturePixelsAreBounded(t *testing.T) {
	const w = 80
	s := &site{box: box{0, 0, w, w}, group: &group{}, state: make([]uint8, w*w), own: make([]int32, w*w),
		filled: make([]float32, w*w), pix: [][]float32{make([]float32, w*w)}}
	for i := range s.own {
		s.own[i] = free
		if x, y := i%w, i/w; x >= 10 && x < 70 && y >= 10 && y < 70 {
			s.own[i], s.state[i], s.filled[i] = s.index, processing.StateUnclipped, 0.5
		}
	}
	targets, points := s.texturePixels()
	if len(targets) != 60*60 || len(points) > textureMost || len(points) < textureMost/4 {
		t.Fatalf("%d targets, %d points", len(targets), len(points))
	}
	on := map[int32]bool{}
	for _, i := range points {
		on[i] = true
	}
	for _, i := range points {
		if !on[i%w*w+i/w] {
			t.Fatalf("pixel %d predicts others, its mirror image does not", i)
		}
	}
}
