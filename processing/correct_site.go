package processing

import (
	"math"
	"sort"
)

// site is a spot with its surroundings, cut out of the picture as planes of floats.
type site struct {
	index         int32
	runs          []Run
	area          int
	asked, method Method

	box
	// own says which spot a pixel belongs to, free for paint; depth is the squared distance to that spot.
	own, depth []int32
	state      []uint8
	// known counts the pixels of paint, thick is the depth of the hole: the largest chessboard distance of its
	// pixels to paint.
	known, thick int
	// pix holds the channels as the method works on them: see codec.
	pix [][]float32
	// filled is the share of a pixel's texture that the method has made up, 0…1; nil where it is all.
	filled []float32
	patch  Patch
}

// forget drops what cutWindow made.
func (s *site) forget() {
	s.box, s.own, s.depth, s.state, s.pix = box{}, nil, nil, nil, nil
}

// radius is that of the disc with the spot's area.
func (s *site) radius() float64 { return math.Sqrt(float64(s.area) / math.Pi) }

// cutWindow copies the surroundings of the spot: as far as its grain is looked for, and farther where there
// is hardly any paint.
func (c *corrector) cutWindow(s *site) {
	around := boxOf(s.runs)
	reach := c.p.Halo + 5 + int(math.Ceil(2*math.Min(s.radius(), 40)))
	for {
		s.box = around.grown(reach, c.pic.Width, c.pic.Height)
		n := s.box.area()
		s.own, s.depth = make([]int32, n), make([]int32, n)
		c.glare.owners(s.box, s.own, s.depth)
		s.known = 0
		for _, o := range s.own {
			if o == free {
				s.known++
			}
		}
		if s.known >= 64 || n == c.pic.Width*c.pic.Height {
			break
		}
		reach *= 2
	}
	s.method = s.asked
	switch {
	case s.method == MethodAuto && s.radius() > exemplarRadius:
		s.method = MethodExemplar
	case s.method == MethodAuto:
		s.method = MethodSubtract
	}
	c.load(s)
	if s.known > 0 {
		s.thick = s.measureDepth()
	}
}

// exemplarRadius is the radius from which on the automatic choice looks for examples.
const exemplarRadius = 5

// measureDepth returns the largest chessboard distance of a pixel that is not known to one that is.
func (s *site) measureDepth() int {
	w, h := s.width(), s.height()
	far := make([]int32, w*h)
	const most = 1 << 20
	for i, v := range s.state {
		if v != StateKnown {
			far[i] = most
		}
	}
	at := func(x, y int) int32 {
		if x < 0 || y < 0 || x >= w || y >= h {
			return most
		}
		return far[y*w+x]
	}
	for y := range h {
		for x := range w {
			i := y*w + x
			far[i] = min(far[i], at(x-1, y)+1, at(x-1, y-1)+1, at(x, y-1)+1, at(x+1, y-1)+1)
		}
	}
	deep := int32(0)
	for y := h - 1; y >= 0; y-- {
		for x := w - 1; x >= 0; x-- {
			i := y*w + x
			far[i] = min(far[i], at(x+1, y)+1, at(x+1, y+1)+1, at(x, y+1)+1, at(x-1, y+1)+1)
			deep = max(deep, far[i])
		}
	}
	return int(deep)
}

// codec turns samples into the values that correction works on, and back.
//
// Fills work on the samples themselves, white = 1. Light is separated from paint on roots of linear light: the root is
// close to what the eye and the file take as even steps, and its square, the light, costs one multiplication. CMYK
// counts as the complement, which is light: glare lowers the inks.
type codec struct {
	pic *Picture
	// roots holds the root of every code of an integer picture, ascending.
	roots []float32
}

func newCodec(pic *Picture) *codec {
	d := &codec{pic: pic}
	if pic.Depth() != 32 {
		d.roots = make([]float32, 1<<pic.Depth())
		for i := range d.roots {
			d.roots[i] = d.root(float64(i) / float64(len(d.roots)-1))
		}
	}
	return d
}

func (d *codec) root(x float64) float32 { return float32(math.Sqrt(math.Max(d.pic.Linear(x), 0))) }

// level returns a sample on the scale where white is 1 (complement for CMYK); ok is false for one that is no number.
func (d *codec) level(i int) (v float32, ok bool) {
	p := d.pic
	switch {
	case p.U8 != nil:
		v = float32(p.U8[i]) / 255
	case p.U16 != nil:
		v = float32(p.U16[i]) / 65535
	default:
		v = p.F32[i]
		if v != v || math.IsInf(float64(v), 0) {
			return 0, false
		}
	}
	if p.Channels == 4 {
		v = 1 - v
	}
	return v, true
}

// rootOf returns the root of the light of a sample.
func (d *codec) rootOf(i int) float32 {
	p := d.pic
	switch {
	case p.U8 != nil && p.Channels == 4:
		return d.roots[255-p.U8[i]]
	case p.U8 != nil:
		return d.roots[p.U8[i]]
	case p.U16 != nil && p.Channels == 4:
		return d.roots[65535-p.U16[i]]
	case p.U16 != nil:
		return d.roots[p.U16[i]]
	}
	v, _ := d.level(i)
	return d.root(float64(v))
}

// unroot is the inverse of root, on the scale where white is 1; for integer pictures the nearest code's level.
func (d *codec) unroot(r float32) float32 {
	if d.roots != nil {
		last := len(d.roots) - 1
		i := sort.Search(last, func(i int) bool { return d.roots[i] >= r })
		if i > 0 && r-d.roots[i-1] < d.roots[i]-r {
			i--
		}
		return float32(i) / float32(last)
	}
	// A curve may be anything that rises: bisect it.
	light := float64(r) * float64(r)
	if d.pic.Curve == nil {
		return float32(d.pic.Transfer.Encode(light))
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		if mid := (lo + hi) / 2; d.pic.Linear(mid) < light {
			lo = mid
		} else {
			hi = mid
		}
	}
	return float32((lo + hi) / 2)
}

// clipLevel is the sample from which on a channel counts as clipped: noise, sharpening and JPEG leave clipped light a
// little below white.
const clipLevel = 0.985

// load fills state and pix.
func (c *corrector) load(s *site) {
	ch, n := c.pic.Channels, s.box.area()
	s.state = make([]uint8, n)
	s.pix = make([][]float32, ch)
	for k := range s.pix {
		s.pix[k] = make([]float32, n)
	}
	light := c.methods[s.method].light
	i := 0
	for y := s.y0; y < s.y1; y++ {
		at := (y*c.pic.Width + s.x0) * ch
		for range s.width() {
			glare := s.own[i] != free
			if glare {
				s.state[i] = StateUnclipped
			}
			for k := range ch {
				v, ok := c.codec.level(at + k)
				if !ok {
					if !glare && s.state[i] == StateKnown {
						s.known--
					}
					s.state[i] = StateClipped
				}
				if glare && v >= clipLevel {
					s.state[i] = StateClipped
				}
				if light {
					v = c.codec.rootOf(at + k)
				}
				s.pix[k][i] = v
			}
			at += ch
			i++
		}
	}
}

// eachPixel calls f for every pixel of the patch, in reading order, with its index in the window and in the picture.
func (s *site) eachPixel(f func(i, x, y int)) {
	i := 0
	for y := s.y0; y < s.y1; y++ {
		for x := s.x0; x < s.x1; x++ {
			if s.own[i] == s.index {
				f(i, x, y)
			}
			i++
		}
	}
}

// finish blends the new samples with the old ones, rounds them to the picture's depth, and drops the window.
func (c *corrector) finish(s *site) {
	p := &s.patch
	p.Method = s.method
	s.eachPixel(func(_, x, y int) {
		if k := len(p.Runs); k > 0 && p.Runs[k-1].Y == y && p.Runs[k-1].X1 == x {
			p.Runs[k-1].X1++
		} else {
			p.Runs = append(p.Runs, Run{y, x, x + 1})
		}
	})
	ch := c.pic.Channels
	n := pixelsIn(p.Runs) * ch
	switch {
	case c.pic.U8 != nil:
		p.U8 = make([]uint8, 0, n)
	case c.pic.U16 != nil:
		p.U16 = make([]uint16, 0, n)
	default:
		p.F32 = make([]float32, 0, n)
	}
	soft := c.p.Blend / 100 * s.radius()
	light := c.methods[s.method].light
	s.eachPixel(func(i, x, y int) {
		alpha := float32(1)
		if s.depth[i] > 0 && soft > 0 {
			t := math.Min((float64(c.p.Halo)+1-math.Sqrt(float64(s.depth[i])))/soft, 1)
			alpha = float32(t * t * (3 - 2*t))
		}
		if s.known == 0 {
			alpha = 0
		}
		for k := range ch {
			at := (y*c.pic.Width+x)*ch + k
			old, ok := c.codec.level(at)
			v := s.pix[k][i]
			if light && alpha > 0 {
				v = c.codec.unroot(v)
			}
			if alpha < 1 {
				v = old + float32(alpha*(v-old))
			}
			if alpha == 0 || ok && c.p.OnlyDarken && v > old {
				v = old
			}
			switch {
			case alpha == 0 || v == old && ok:
				p.keep(c.pic, at)
			default:
				p.round(v, ch == 4)
			}
		}
	})
	s.forget()
}

// keep appends the sample of the source.
func (p *Patch) keep(pic *Picture, at int) {
	switch {
	case pic.U8 != nil:
		p.U8 = append(p.U8, pic.U8[at])
	case pic.U16 != nil:
		p.U16 = append(p.U16, pic.U16[at])
	default:
		p.F32 = append(p.F32, pic.F32[at])
	}
}

// round appends a level, rounded to the depth of the patch.
func (p *Patch) round(v float32, ink bool) {
	if ink {
		v = 1 - v
	}
	switch {
	case p.U8 != nil:
		p.U8 = append(p.U8, uint8(float32(min(max(v, 0), 1)*255)+0.5))
	case p.U16 != nil:
		p.U16 = append(p.U16, uint16(float32(min(max(v, 0), 1)*65535)+0.5))
	default:
		p.F32 = append(p.F32, v)
	}
}
