package correct

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"blik/processing"
	"blik/processing/internal/arena"
)

// site is a spot, or a group of spots that share a window, with its surroundings cut out of the picture as float
// planes.
type site struct {
	// group holds the spots, index is the first of them; wanted are those to be corrected.
	group  *group
	index  int32
	wanted []wanted
	method processing.Method

	box
	// own is the spot that each pixel belongs to, or free for paint; depth is the squared distance to that spot. If
	// spots share the window, own is index for all of them, and each holds the actual spot.
	own, depth, each []int32
	state            []uint8
	// known counts the pixels of paint, thick is the depth of the hole: the largest chessboard distance of its
	// pixels to paint.
	known, thick int
	// pix holds the channels as the values that the method works on: see codec.
	pix [][]float32
	// filled is the share of each pixel's texture that the method invented, 0…1; nil if all of it is.
	filled []float32
	// copied is the share of that texture that was copied from paint.
	copied float32
	// veil is the strength of the veil on each pixel, relative to the picture's; it is already subtracted from pix.
	// nil: no veil.
	veil []float32
	// memory is the scratch that holds these slices; nil if they must outlive the task.
	memory *arena.Arena
}

// allocPlanes allocates several planes of n values.
func allocPlanes(memory *arena.Arena, count, n int) [][]float32 {
	planes := make([][]float32, count)
	for k := range planes {
		planes[k] = arena.Take[float32](memory, n)
	}
	return planes
}

// wanted is a spot to be corrected, by its index, and the place of its patch.
type wanted struct{ spot, patch int32 }

// cutWindow cuts out the surroundings of the spots: as far as grain is taken from, and farther until there is enough
// paint.
func (c *scene) cutWindow(t *tools, s *site) {
	reach := s.group.reach
	for {
		s.box = s.group.around.grown(reach, c.pic.Width, c.pic.Height)
		s.own, s.depth = c.glare.owners(&t.scratch, s.memory, s.box)
		s.known = 0
		for _, o := range s.own {
			if o == free {
				s.known++
			}
		}
		if s.known >= leastPaint || len(s.own) == c.pic.Width*c.pic.Height {
			break
		}
		reach *= 2
	}
	if len(s.group.spots) > 1 {
		s.each = slices.Clone(s.own)
		this := c.glare.group[s.index]
		for i, o := range s.own {
			if o != free && c.glare.group[o] == this {
				s.own[i] = s.index
			}
		}
	}
	c.load(s)
	if s.known > 0 {
		s.thick = s.measureDepth(&t.scratch)
	}
}

// exemplarRadius is the radius in pixels above which MethodAuto means MethodExemplar.
const exemplarRadius = 5

// measureDepth returns the largest chessboard distance of a pixel that is not known to one that is.
func (s *site) measureDepth(t *arena.Arena) int {
	hole := s.hole()
	w, h := hole.width(), hole.height()
	const most = 1 << 20
	// Pixels around the hole are known, except beyond the window.
	stride := w + 2
	far := arena.Zero[int32](t, stride*(h+2))
	for y := range h + 2 {
		for x := range w + 2 {
			u, v := hole.x0+x-1, hole.y0+y-1
			if u < 0 || v < 0 || u >= s.width() || v >= s.height() || s.state[v*s.width()+u] != processing.StateKnown {
				far[y*stride+x] = most
			}
		}
	}
	for y := 1; y <= h; y++ {
		above, row := far[(y-1)*stride:y*stride], far[y*stride:(y+1)*stride]
		for x := 1; x <= w; x++ {
			row[x] = min(row[x], row[x-1]+1, above[x-1]+1, above[x]+1, above[x+1]+1)
		}
	}
	deep := int32(0)
	for y := h; y > 0; y-- {
		row, below := far[y*stride:(y+1)*stride], far[(y+1)*stride:(y+2)*stride]
		for x := w; x > 0; x-- {
			row[x] = min(row[x], row[x+1]+1, below[x+1]+1, below[x]+1, below[x-1]+1)
			deep = max(deep, row[x])
		}
	}
	return int(deep)
}

// codec converts samples into the values that correction works on, and back.
//
// Fills work on encoded samples, white = 1. Glare is separated from paint on square roots of linear light: roots are
// nearly as uniform to the eye as encoded samples, and a square turns them into light. CMYK samples are complemented,
// so that glare makes them larger, too.
type codec struct {
	pic *processing.Picture
	// roots holds the root of every code of an integer picture, ascending.
	roots []float32
	// rootsBy and levels hold root and level of each code; for CMYK they descend.
	rootsBy, levels []float32
	// from is an index into roots: for each of many equal parts of 0…1 the first code whose root is not below its
	// start.
	from []uint16
}

func newCodec(pic *processing.Picture) *codec {
	d := &codec{pic: pic}
	if pic.Depth() == 32 {
		return d
	}
	n := 1 << pic.Depth()
	d.roots, d.levels = make([]float32, n), make([]float32, n)
	for i := range d.roots {
		d.roots[i] = d.root(float64(i) / float64(n-1))
		d.levels[i] = float32(i) / float32(n-1)
	}
	d.rootsBy = d.roots
	if pic.Channels == 4 {
		d.rootsBy = slices.Clone(d.roots)
		slices.Reverse(d.rootsBy)
		for i, v := range d.levels {
			d.levels[i] = 1 - v
		}
	}
	d.from = make([]uint16, max(n, 1<<12)+1)
	at := 0
	for i := range d.from {
		for at < n-1 && d.roots[at] < float32(i)/float32(len(d.from)-1) {
			at++
		}
		d.from[i] = uint16(at)
	}
	return d
}

func (d *codec) root(x float64) float32 { return float32(math.Sqrt(math.Max(d.pic.Linear(x), 0))) }

// level returns a sample on the scale where white is 1 (complement for CMYK); ok is false for NaN and infinity.
func (d *codec) level(i int) (v float32, ok bool) {
	switch p := d.pic; {
	case p.U8 != nil:
		return d.levels[p.U8[i]], true
	case p.U16 != nil:
		return d.levels[p.U16[i]], true
	default:
		v = p.F32[i]
		if v != v || math.IsInf(float64(v), 0) {
			return 0, false
		}
		if p.Channels == 4 {
			v = 1 - v
		}
		return v, true
	}
}

// rootOf returns the root of the light of a sample.
func (d *codec) rootOf(i int) float32 {
	switch p := d.pic; {
	case p.U8 != nil:
		return d.rootsBy[p.U8[i]]
	case p.U16 != nil:
		return d.rootsBy[p.U16[i]]
	}
	v, _ := d.level(i)
	return d.root(float64(v))
}

// unroot is the inverse of root, on the scale where white is 1; for integer pictures the nearest code's level.
func (d *codec) unroot(r float32) float32 {
	if d.roots != nil {
		return float32(d.nearest(r)) / float32(len(d.roots)-1)
	}
	// The curve is only known to rise: bisect it.
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

// nearest returns the code of an integer picture whose root is nearest to r, the higher one of a tie, and the last one
// for NaN.
func (d *codec) nearest(r float32) int {
	i := len(d.roots) - 1
	if r < 1 {
		// The number of parts is a power of two, so that the product is exact.
		part := int(max(r, 0) * float32(len(d.from)-1))
		var end int
		for i, end = int(d.from[part]), int(d.from[part+1]); i < end; {
			if mid := (i + end) / 2; d.roots[mid] < r {
				i = mid + 1
			} else {
				end = mid
			}
		}
	} else {
		i = sort.Search(i, func(i int) bool { return d.roots[i] >= r })
	}
	if i > 0 && r-d.roots[i-1] < d.roots[i]-r {
		i--
	}
	return i
}

// clipLevel is the sample value, white = 1, from which on a channel counts as clipped: noise, sharpening and JPEG leave
// clipped light a little below white.
const clipLevel = 0.985

// load fills state and pix.
func (c *scene) load(s *site) {
	ch, n := c.pic.Channels, s.box.area()
	s.state = arena.Zero[uint8](s.memory, n)
	s.pix = allocPlanes(s.memory, ch, n)
	for i, o := range s.own {
		if o != free {
			s.state[i] = processing.StateUnclipped
		}
	}
	light := c.methods[s.method].light()
	values := c.codec.levels
	if light {
		values = c.codec.rootsBy
	}
	switch {
	case c.pic.U8 != nil:
		loadCodes(s, c.pic.U8, c.pic.Width, values, c.codec.levels)
	case c.pic.U16 != nil:
		loadCodes(s, c.pic.U16, c.pic.Width, values, c.codec.levels)
	default:
		c.loadFloats(s, light)
	}
	if light {
		s.veil = c.veils.over(s.memory, s.box, nil)
	}
	for i, share := range s.veil {
		if share > 0 {
			for k, p := range s.pix {
				p[i] = c.veils.without(p[i], share, k)
			}
		}
	}
}

// loadCodes fills pix with the values of the codes in a picture of integers, and marks what is clipped.
func loadCodes[T uint8 | uint16](s *site, codes []T, stride int, values, levels []float32) {
	w, ch := s.width(), len(s.pix)
	for y := range s.height() {
		from := codes[((s.y0+y)*stride+s.x0)*ch:][:w*ch]
		if ch == 3 {
			p, q, r := s.pix[0][y*w:][:w], s.pix[1][y*w:][:w], s.pix[2][y*w:][:w]
			for x := range p {
				c := (*[3]T)(from[3*x:])
				p[x], q[x], r[x] = values[c[0]], values[c[1]], values[c[2]]
			}
		} else {
			for k, p := range s.pix {
				for x := range w {
					p[y*w+x] = values[from[x*ch+k]]
				}
			}
		}
		for x, state := range s.state[y*w : (y+1)*w] {
			if state == processing.StateKnown {
				continue
			}
			for _, c := range from[x*ch : (x+1)*ch] {
				if levels[c] >= clipLevel {
					s.state[y*w+x] = processing.StateClipped
				}
			}
		}
	}
}

// loadFloats does the same for a picture of floats. NaN and infinity are never known.
func (c *scene) loadFloats(s *site, light bool) {
	ch, i := c.pic.Channels, 0
	for y := s.y0; y < s.y1; y++ {
		at := (y*c.pic.Width + s.x0) * ch
		for range s.width() {
			glare := s.own[i] != free
			for k := range ch {
				v, ok := c.codec.level(at + k)
				if !ok && !glare && s.state[i] == processing.StateKnown {
					s.known--
				}
				if !ok || glare && v >= clipLevel {
					s.state[i] = processing.StateClipped
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

// eachPixel calls f for every pixel of the patch, in reading order, with its index in the window and its place in the
// picture.
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

// finish writes the patches of the site: the spots, their halos, and the pixels from which their veils are subtracted.
func (c *scene) finish(t *tools, s *site, patches []processing.Patch) {
	c.open(s, patches)
	c.blend(s, patches)
	if !c.methods[s.method].light() || s.known == 0 {
		return
	}
	for _, to := range s.wanted {
		c.unveil(&t.scratch, to.spot, &patches[to.patch])
	}
}

// blend mixes the new samples with the old ones, less their veil, and rounds them to the depth of the picture.
func (c *scene) blend(s *site, patches []processing.Patch) {
	ch := c.pic.Channels
	light := c.methods[s.method].light()
	s.eachWanted(func(i, x, y, n int) {
		to := s.wanted[n]
		p := &patches[to.patch]
		alpha := float32(1)
		beyond := float64(c.glare.halos[to.spot]) + 1
		// At most half of the halo is mixed: nearer to the spot, the glare is bright.
		soft := math.Min(c.p.Blend/100*discRadius(int(c.glare.areas[to.spot])), beyond/2)
		if s.depth[i] > 0 && soft > 0 {
			t := math.Min((beyond-math.Sqrt(float64(s.depth[i])))/soft, 1)
			alpha = float32(t * t * (3 - 2*t))
		}
		if s.known == 0 {
			alpha = 0
		}
		veil := s.known > 0 && s.veil != nil && s.veil[i] > 0
		for k := range ch {
			at := (y*c.pic.Width+x)*ch + k
			old, ok := c.codec.level(at)
			if alpha == 0 && !veil {
				p.Append(c.pic.Samples(), at, at+1)
				continue
			}
			v := s.pix[k][i]
			if light {
				v = c.codec.unroot(v)
			}
			if alpha < 1 {
				from := old
				if veil {
					from = c.codec.unroot(c.veils.without(c.codec.rootOf(at), s.veil[i], k))
				}
				v = from + float32(alpha*(v-from))
			}
			if ok && (v == old || c.p.OnlyDarken && v > old) {
				p.Append(c.pic.Samples(), at, at+1)
				continue
			}
			round(p, v, ch == 4)
		}
	})
}

// open sets the runs of the site's patches and allocates their samples, for the whole window at once.
func (c *scene) open(s *site, patches []processing.Patch) {
	// The runs of the window, and the index in wanted of the spot of each.
	var window []processing.Run
	var of []int
	lines, pixels, allPixels := make([]int, len(s.wanted)), make([]int, len(s.wanted)), 0
	s.eachWanted(func(_, x, y, k int) {
		pixels[k]++
		allPixels++
		if last := len(of) - 1; last >= 0 && of[last] == k && window[last].Y == y && window[last].X1 == x {
			window[last].X1++
			return
		}
		window, of = append(window, processing.Run{Y: y, X0: x, X1: x + 1}), append(of, k)
		lines[k]++
	})
	runs := make([]processing.Run, len(window))
	samples := processing.NewSamples(c.pic.Depth(), allPixels*c.pic.Channels)
	for k, to := range s.wanted {
		p, n := &patches[to.patch], pixels[k]*c.pic.Channels
		p.Method = s.method
		p.Runs, runs = runs[:0:lines[k]], runs[lines[k]:]
		switch {
		case c.pic.U8 != nil:
			p.U8, samples.U8 = samples.U8[:0:n], samples.U8[n:]
		case c.pic.U16 != nil:
			p.U16, samples.U16 = samples.U16[:0:n], samples.U16[n:]
		default:
			p.F32, samples.F32 = samples.F32[:0:n], samples.F32[n:]
		}
	}
	for i, r := range window {
		p := &patches[s.wanted[of[i]].patch]
		p.Runs = append(p.Runs, r)
	}
}

// eachWanted calls f for every pixel of the patches of the site, in reading order, with its index in the window, its
// place in the picture, and the index of its spot in wanted.
func (s *site) eachWanted(f func(i, x, y, k int)) {
	if s.each == nil {
		s.eachPixel(func(i, x, y int) { f(i, x, y, 0) })
		return
	}
	last, at := int32(free), 0
	found := false
	s.eachPixel(func(i, x, y int) {
		if o := s.each[i]; o != last {
			at, found = slices.BinarySearchFunc(s.wanted, o, func(t wanted, spot int32) int {
				return cmp.Compare(t.spot, spot)
			})
			last = o
		}
		if found {
			f(i, x, y, at)
		}
	})
}

// round appends a level to a patch, rounded to its depth.
func round(p *processing.Patch, v float32, ink bool) {
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
