package processing

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Correct computes what the glare under the mask hides. Nothing is ever taken from pixels under the mask, except the
// unclipped light that MethodSubtract looks through; pic and mask are only read. The parameters of StageCorrection are
// used. The result does not depend on which spots are corrected together.
//
// It returns ctx.Err() within 100 ms of a cancel, and an error for a picture, mask, parameters or spots that are not
// valid or do not belong together.
func Correct(ctx context.Context, b Backend, pic *Picture, mask *Mask, p Params, o CorrectOptions) (*Correction, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if mask.Width != pic.Width || mask.Height != pic.Height || len(mask.Pix) != pic.Width*pic.Height {
		return nil, fmt.Errorf("a mask of %d × %d pixels does not belong to a picture of %d × %d",
			mask.Width, mask.Height, pic.Width, pic.Height)
	}
	b.Timings() // what an earlier, failed job left
	c := &corrector{be: b, pic: pic, p: p, glare: newGlareMap(mask, p.Halo)}
	spots := o.Spots
	if spots == nil {
		spots = c.glare.spots
	}
	which := make([]int, len(spots))
	for i, s := range spots {
		if which[i] = c.find(s); which[i] < 0 {
			return nil, fmt.Errorf("spot %d is not a piece of the mask", s.ID)
		}
		if s.Method >= methodCount {
			return nil, fmt.Errorf("spot %d: there is no method %d", s.ID, s.Method)
		}
	}
	patches := make([]Patch, len(spots))
	end := b.Stage("correct")
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(spots)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(spots) {
					return
				}
				patches[i] = c.correct(ctx, which[i], spots[i])
				if o.Progress != nil {
					o.Progress(Text{"correction", "исправление"}, float64(done.Add(1))/float64(len(spots)))
				}
			}
		})
	}
	wg.Wait()
	end()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &Correction{Patches: patches, Timings: b.Timings(), Device: b.Name()}, nil
}

// corrector is one run of Correct.
type corrector struct {
	be    Backend
	pic   *Picture
	p     Params
	glare *glareMap
}

// find returns the index of s among the pieces of the mask, or −1.
func (c *corrector) find(s Spot) int {
	if len(s.Runs) == 0 || s.Runs[0].Y < 0 || s.Runs[0].Y >= c.pic.Height {
		return -1
	}
	i := c.glare.index(s.Runs[0])
	if i < 0 || pixelsIn(c.glare.spots[i].Runs) != pixelsIn(s.Runs) {
		return -1
	}
	return i
}

// site is a spot with its surroundings, cut out of the picture.
type site struct {
	box
	own   []int32
	depth []int32
	pix   [][]float32
}

func (c *corrector) correct(ctx context.Context, index int, spot Spot) Patch {
	around := boxOf(spot.Runs)
	inner := around.grown(c.p.Halo, c.pic.Width, c.pic.Height)
	var s *site
	for reach := c.p.Halo + 8; ; reach *= 2 {
		s = &site{box: around.grown(reach, c.pic.Width, c.pic.Height)}
		s.own, s.depth = make([]int32, s.area()), make([]int32, s.area())
		c.glare.owners(s.box, s.own, s.depth)
		known := 0
		for _, o := range s.own {
			if o == free {
				known++
			}
		}
		if known > 0 || s.area() == c.pic.Width*c.pic.Height {
			break
		}
	}
	c.load(s)
	patch := Patch{Spot: spot.ID, Method: MethodHarmonic}
	for y := inner.y0; y < inner.y1; y++ {
		row := s.own[(y-s.y0)*s.width() : (y-s.y0+1)*s.width()]
		for x := 0; x < len(row); x++ {
			if row[x] != int32(index) {
				continue
			}
			x0 := x
			for x < len(row) && row[x] == int32(index) {
				x++
			}
			patch.Runs = append(patch.Runs, Run{y, x0 + s.x0, x + s.x0})
		}
	}
	for _, p := range s.pix {
		relax(ctx, p, s.own, s.width(), s.height())
	}
	c.store(&patch, s)
	return patch
}

// relax solves Laplace's equation where own is not free, by sweeps of successive over-relaxation.
func relax(ctx context.Context, p []float32, own []int32, w, h int) {
	mean, n := 0.0, 0
	for i, v := range p {
		if own[i] == free {
			mean += float64(v)
			n++
		}
	}
	if n == 0 {
		return
	}
	for i := range p {
		if own[i] != free {
			p[i] = float32(mean / float64(n))
		}
	}
	for range 100 {
		if ctx.Err() != nil {
			return
		}
		for colour := range 2 {
			for y := range h {
				for x := (y + colour) & 1; x < w; x += 2 {
					i := y*w + x
					if own[i] == free {
						continue
					}
					var sum float32
					var k float32
					if x > 0 {
						sum, k = sum+p[i-1], k+1
					}
					if x < w-1 {
						sum, k = sum+p[i+1], k+1
					}
					if y > 0 {
						sum, k = sum+p[i-w], k+1
					}
					if y < h-1 {
						sum, k = sum+p[i+w], k+1
					}
					if k > 0 {
						p[i] += 1.6 * (sum/k - p[i])
					}
				}
			}
		}
	}
}

// load cuts the samples of the window out of the picture, white = 1; for CMYK the complement, which is light.
func (c *corrector) load(s *site) {
	ch := c.pic.Channels
	s.pix = make([][]float32, ch)
	for k := range s.pix {
		p := make([]float32, 0, s.area())
		for y := s.y0; y < s.y1; y++ {
			for x := s.x0; x < s.x1; x++ {
				p = append(p, c.sample((y*c.pic.Width+x)*ch+k))
			}
		}
		s.pix[k] = p
	}
}

func (c *corrector) sample(i int) float32 {
	var v float32
	switch {
	case c.pic.U8 != nil:
		v = float32(c.pic.U8[i]) / 255
	case c.pic.U16 != nil:
		v = float32(c.pic.U16[i]) / 65535
	default:
		v = c.pic.F32[i]
		if v != v || math.IsInf(float64(v), 0) {
			v = 0
		}
	}
	if c.pic.Channels == 4 {
		v = 1 - v
	}
	return v
}

// store rounds the new samples to the depth of the picture.
func (c *corrector) store(patch *Patch, s *site) {
	ch := c.pic.Channels
	for _, r := range patch.Runs {
		for x := r.X0; x < r.X1; x++ {
			i := (r.Y-s.y0)*s.width() + x - s.x0
			for k := range ch {
				v := s.pix[k][i]
				if ch == 4 {
					v = 1 - v
				}
				at := (r.Y*c.pic.Width+x)*ch + k
				switch {
				case c.pic.U8 != nil:
					q := uint8(min(max(v, 0), 1)*255 + 0.5)
					if c.p.OnlyDarken && (q > c.pic.U8[at]) == (ch != 4) {
						q = c.pic.U8[at]
					}
					patch.U8 = append(patch.U8, q)
				case c.pic.U16 != nil:
					q := uint16(min(max(v, 0), 1)*65535 + 0.5)
					if c.p.OnlyDarken && (q > c.pic.U16[at]) == (ch != 4) {
						q = c.pic.U16[at]
					}
					patch.U16 = append(patch.U16, q)
				default:
					if c.p.OnlyDarken && (v > c.pic.F32[at]) == (ch != 4) {
						v = c.pic.F32[at]
					}
					patch.F32 = append(patch.F32, v)
				}
			}
		}
	}
}
