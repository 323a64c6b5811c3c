package correct

import (
	"cmp"
	"math"
	"slices"

	"blik/processing"
	"blik/processing/internal/arena"
)

// A veil is light that large glints scatter far around themselves: a hundredth of white or less, visible only on dark
// paint. Around a single glint it cannot be distinguished from paint that happens to get brighter there; light on most
// sides of most glints of a picture is a veil. Its strength is therefore one number for the picture, its shape follows
// from the size of the glint, and the sides of a glint adjust the strength of its own veil as far as they agree.

const (
	// veilRadius is the least radius of a spot with a veil, in pixels.
	veilRadius = 3
	// veilWidth is the standard deviation of the veil in radii of the glint.
	veilWidth = 1.6
	// veilRim is how far a mask that needs no halo extends beyond the glint, in pixels.
	veilRim = 2
	// veilSpots is the largest number of spots that are measured, veilSides the least number of sides for an estimate.
	veilSpots, veilSides = 200, 24
	// veilMost and veilWeakest bound the light at the centre of a veil, 1 = white; a weaker one counts as none.
	veilMost, veilWeakest = 0.01, 0.0012
	// veilEnd is the light at which a veil ends: half a level of an 8-bit file on dark paint.
	veilEnd = 3e-4
	// veilRounds is how many times the veils are estimated, each time on the picture without the veils found before.
	veilRounds = 2
	// veilSpread is the standard deviation between the veils of one picture, as their sides show them.
	veilSpread = 0.004
	// veilOwn is the standard deviation of the light at the centre of single veils about that of the picture, and
	// veilStrongest their largest ratio.
	veilOwn, veilStrongest = 0.003, 4
	// veilGlint is the least light, the mean over the channels, of the brightest pixel of a spot with a veil.
	veilGlint = 0.3
	// veilCell is the side of the squares of the lookup grid, in pixels.
	veilCell = 256
)

// veils are the veils of a picture.
type veils struct {
	// light is the light at the centre of a veil of strength 1, by channel, amount its mean over the channels, and end
	// the share of it at which a veil ends.
	light       [4]float32
	amount, end float64
	// sources are sorted by the rank of their spots; of holds the index of the source of each spot, or −1.
	sources []veilSource
	of      []int32
	// cells lists the sources that reach into each square of the lookup grid; across is the number of squares in a row.
	cells  [][]int32
	across int
}

// veilSource is a spot with a veil: its centre, the squared radius of the veil, and the box where the veil is visible.
type veilSource struct {
	x, y, reach2 float64
	// strength is the light at the centre, relative to the picture's.
	strength float64
	box
}

// share returns the light at a squared distance as a share of that at the centre: nearly a Gaussian, but it ends.
func (s *veilSource) share(d2 float64) float64 {
	t := max(1-d2/s.reach2, 0)
	t *= t
	return float64(t * t)
}

// veilOf returns the veil of a spot, without strength and box.
func (g *glareMap) veilOf(spot int32) veilSource {
	var sx, sy int
	runs := g.spots[spot].Runs
	for _, r := range runs {
		sx += (r.X1 - r.X0) * (r.X0 + r.X1)
		sy += (r.X1 - r.X0) * (2*r.Y + 1)
	}
	area := int(g.areas[spot])
	rim := max(veilRim-g.halo, 0)
	radius := math.Max(discRadius(area)-float64(rim), 1)
	return veilSource{
		x: float64(sx) / float64(2*area), y: float64(sy) / float64(2*area),
		reach2: 8 * veilWidth * veilWidth * radius * radius,
	}
}

// findVeils estimates the veil of the picture, and returns nil if there is none. It always measures the whole mask,
// whichever spots are to be corrected.
func findVeils(each eacher, d *codec, g *glareMap, light [4]float64) *veils {
	var large []int32
	for _, i := range g.byRank {
		if discRadius(int(g.areas[i])) < veilRadius {
			break
		}
		if !g.groups[g.group[i]].shared {
			large = append(large, i)
		}
	}
	var v *veils
	for range veilRounds {
		sides := make([][]veilSide, min(len(large), veilSpots))
		each(len(sides), func(t *tools, i int) { sides[i] = sidesOf(&t.scratch, d, g, light, large[i], v) })
		amount := veilAmount(slices.Concat(sides...))
		if amount == 0 {
			return nil
		}
		v = newVeils(d, g, light, large, sides, amount)
	}
	return v
}

// newVeils returns the veils of the large spots, given the amount of light of the picture and the sides of the first
// spots.
func newVeils(
	d *codec, g *glareMap, light [4]float64, large []int32, sides [][]veilSide, amount float64,
) *veils {
	v := &veils{of: make([]int32, len(g.spots)), across: (g.w + veilCell - 1) / veilCell, amount: amount,
		end: veilEnd / amount}
	for i := range v.of {
		v.of[i] = -1
	}
	for k := range d.pic.Channels {
		v.light[k] = float32(amount * light[k] * math.Sqrt(float64(d.pic.Channels)))
	}
	v.cells = make([][]int32, v.across*((g.h+veilCell-1)/veilCell))
	for n, i := range large {
		s := g.veilOf(i)
		s.strength = 1
		if n < len(sides) {
			s.strength = ownStrength(sides[n], amount)
		}
		if s.strength <= v.end || !glints(d, g, i) {
			continue
		}
		r := math.Sqrt(s.reach2 * (1 - math.Sqrt(math.Sqrt(v.end/s.strength))))
		s.box = box{int(math.Floor(s.x - r)), int(math.Floor(s.y - r)),
			int(math.Ceil(s.x + r)), int(math.Ceil(s.y + r))}
		s.box = s.box.grown(0, g.w, g.h)
		at := int32(len(v.sources))
		v.of[i] = at
		v.sources = append(v.sources, s)
		for y := s.y0 / veilCell; y <= (s.y1-1)/veilCell; y++ {
			for x := s.x0 / veilCell; x <= (s.x1-1)/veilCell; x++ {
				cell := &v.cells[y*v.across+x]
				*cell = append(*cell, at)
			}
		}
	}
	return v
}

// glints reports whether a spot is bright enough to scatter light.
func glints(d *codec, g *glareMap, spot int32) bool {
	ch := d.pic.Channels
	for _, r := range g.spots[spot].Runs {
		for at := (r.Y*d.pic.Width + r.X0) * ch; at < (r.Y*d.pic.Width+r.X1)*ch; at += ch {
			var light float32
			for k := range ch {
				root := d.rootOf(at + k)
				light += float32(root * root)
			}
			if light >= float32(veilGlint*float64(ch)) {
				return true
			}
		}
	}
	return false
}

// ownStrength returns the strength of a veil: the mean of what its sides show and of the picture's amount of light,
// weighted by their certainty.
func ownStrength(sides []veilSide, amount float64) float64 {
	const sure = 1 / (veilOwn * veilOwn)
	light, weight := sure*amount, float64(sure)
	for _, s := range sides {
		light += float64(s.light * s.weight)
		weight += s.weight
	}
	return math.Min(math.Max(light/(weight*amount), 0), veilStrongest)
}

// veilSide is the light at the centre of a veil, as one of eight sides of the spot shows it, and the inverse of its
// variance.
type veilSide struct{ light, weight float64 }

// sidesOf compares the paint on each side near the spot with the paint farther away: it fits, by least squares, the
// light of the veil that explains why the root of light rises towards the spot. Where veils overlap, each hides how the
// others fall off: the veils found before are therefore subtracted first, and what is left is added to that of the
// spot.
func sidesOf(
	t *arena.Arena, d *codec, g *glareMap, colour [4]float64, spot int32, before *veils,
) []veilSide {
	s := g.veilOf(spot)
	r := math.Max(math.Sqrt(s.reach2)*0.78, discRadius(int(g.areas[spot]))+6)
	b := box{int(s.x - r), int(s.y - r), int(s.x+r) + 1, int(s.y+r) + 1}.grown(0, d.pic.Width, d.pic.Height)
	if b.area() > 1<<16 {
		return nil
	}
	own, _ := g.owners(t, t, b)
	veil := before.over(t, b, nil)
	known := before.lightOf(spot)
	type sums struct {
		n, share, square    float64
		root, both, squares [4]float64
	}
	var side [8]sums
	ch := d.pic.Channels
	// Large spots have more pixels around them than are needed.
	step := max(1, int(math.Sqrt(float64(b.area())/2000)))
	for y := b.y0; y < b.y1; y += step {
		for x := b.x0; x < b.x1; x += step {
			dx, dy := float64(x)+0.5-s.x, float64(y)+0.5-s.y
			d2 := float64(dx*dx) + float64(dy*dy)
			i := (y-b.y0)*b.width() + x - b.x0
			if own[i] != free || d2 >= r*r || dx*dy == 0 || math.Abs(dx) == math.Abs(dy) {
				continue
			}
			k := 0
			for bit, set := range [3]bool{dx > 0, dy > 0, math.Abs(dx) > math.Abs(dy)} {
				if set {
					k |= 1 << bit
				}
			}
			to, share := &side[k], s.share(d2)
			to.n++
			to.share += roundToGrid(share)
			to.square += roundToGrid(float64(share * share))
			at := (y*d.pic.Width + x) * ch
			for k := range ch {
				seen := d.rootOf(at + k)
				if veil != nil {
					seen = before.without(seen, veil[i], k)
				}
				root := float64(seen)
				to.root[k] += roundToGrid(root)
				to.both[k] += roundToGrid(float64(share * root))
				to.squares[k] += roundToGrid(float64(root * root))
			}
		}
	}
	var out []veilSide
	for i := range side {
		t := &side[i]
		if t.n < 12 {
			continue
		}
		var along, sure, rest float64
		spread := t.square - t.share*t.share/t.n
		for k := range ch {
			// A small amount of light raises the root by light / (2 · root).
			slope := colour[k] * math.Sqrt(float64(ch)) / (2 * math.Max(t.root[k]/t.n, 0.03))
			along += float64(slope * (t.both[k] - t.share*t.root[k]/t.n))
			sure += float64(slope * slope * spread)
			rest += t.squares[k] - t.root[k]*t.root[k]/t.n
		}
		if !(sure > 0) {
			continue
		}
		light := along / sure
		rest = math.Max(rest-float64(light*along), 1e-9)
		// Paint is correlated: the pixels of a side count as a few independent ones.
		worth := math.Min(t.n/12+1, 4) * float64(ch)
		out = append(out, veilSide{light + known, 1 / (rest/(sure*worth) + veilSpread*veilSpread)})
	}
	return out
}

// veilAmount returns the weighted median of the sides, reduced by what chance explains, or 0 if it is too weak.
func veilAmount(sides []veilSide) float64 {
	if len(sides) < veilSides {
		return 0
	}
	slices.SortFunc(sides, func(a, b veilSide) int {
		return cmp.Or(cmp.Compare(a.light, b.light), cmp.Compare(a.weight, b.weight))
	})
	var all, sum float64
	for _, s := range sides {
		all += s.weight
	}
	for _, s := range sides {
		if sum += s.weight; sum < all/2 {
			continue
		}
		amount := math.Min(s.light, veilMost)
		if amount *= amount * amount / (float64(amount*amount) + 1/all); amount >= veilWeakest {
			return amount
		}
		break
	}
	return 0
}

// over returns the strength of all veils on each pixel of the window, nil if there are none. If owner is not nil, it
// receives the source of the strongest veil of each pixel that has one.
func (v *veils) over(t *arena.Arena, b box, owner []int32) []float32 {
	if v == nil {
		return nil
	}
	var near []int32
	for y := b.y0 / veilCell; y <= (b.y1-1)/veilCell; y++ {
		for x := b.x0 / veilCell; x <= (b.x1-1)/veilCell; x++ {
			for _, n := range v.cells[y*v.across+x] {
				if s := &v.sources[n]; s.x0 < b.x1 && s.x1 > b.x0 && s.y0 < b.y1 && s.y1 > b.y0 {
					near = append(near, n)
				}
			}
		}
	}
	if len(near) == 0 {
		return nil
	}
	slices.Sort(near)
	near = slices.Compact(near)
	sum := arena.Zero[float64](t, b.area())
	var most []float64
	if owner != nil {
		most = arena.Zero[float64](t, b.area())
	}
	for _, n := range near {
		s := &v.sources[n]
		x0, y0, x1, y1 := max(s.x0, b.x0), max(s.y0, b.y0), min(s.x1, b.x1), min(s.y1, b.y1)
		for y := y0; y < y1; y++ {
			dy := float64(y) + 0.5 - s.y
			dy = float64(dy * dy)
			at := (y-b.y0)*b.width() + x0 - b.x0
			row := sum[at : at+x1-x0]
			for i := range row {
				dx := float64(x0+i) + 0.5 - s.x
				share := float64(s.strength*s.share(float64(dx*dx)+dy)) - v.end
				if share <= 0 {
					continue
				}
				row[i] += roundToGrid(share)
				if owner != nil && share > most[at+i] {
					most[at+i], owner[at+i] = share, n
				}
			}
		}
	}
	out := arena.Take[float32](t, len(sum))
	for i, t := range sum {
		out[i] = float32(t)
	}
	return out
}

// lightOf returns the light at the centre of the veil of a spot, the mean over the channels.
func (v *veils) lightOf(spot int32) float64 {
	if v == nil || v.of[spot] < 0 {
		return 0
	}
	return v.amount * v.sources[v.of[spot]].strength
}

// area returns an upper bound of the number of pixels around a spot that its veil is subtracted from.
func (v *veils) area(spot int32) int {
	if v == nil || v.of[spot] < 0 {
		return 0
	}
	return v.sources[v.of[spot]].area()
}

// without returns the root of light after a share of the veil is subtracted.
func (v *veils) without(root, share float32, channel int) float32 {
	light := float32(root*root) - float32(share*v.light[channel])
	return float32(math.Sqrt(float64(max(light, 0))))
}

// unveil subtracts the veils from the paint around a spot, where that of the spot is the strongest, and adds those
// pixels to the patch.
func (c *scene) unveil(t *arena.Arena, spot int32, patch *processing.Patch) {
	if c.veils == nil || c.veils.of[spot] < 0 {
		return
	}
	this := c.veils.of[spot]
	b := c.veils.sources[this].box
	own, _ := c.glare.owners(t, t, b)
	owner := arena.Take[int32](t, b.area())
	share := c.veils.over(t, b, owner)
	at := arena.Take[int32](t, b.area())[:0]
	for i, v := range share {
		if v != 0 && own[i] == free && owner[i] == this {
			at = append(at, int32(i))
		}
	}
	var around processing.Patch
	switch {
	case c.pic.U8 != nil:
		around.U8, around.Runs = unveilCodes(c, c.pic.U8, b, at, share)
	case c.pic.U16 != nil:
		around.U16, around.Runs = unveilCodes(c, c.pic.U16, b, at, share)
	default:
		c.unveilFloats(&around, b, at, share)
	}
	join(patch, &around, c.pic.Channels)
}

// unveilCodes returns the samples at the given places of the window after subtracting their shares of the veil, and
// their runs. Pixels that are clipped in all channels are left out.
func unveilCodes[T uint8 | uint16](
	c *scene, pix []T, b box, places []int32, share []float32,
) ([]T, []processing.Run) {
	d, ch, w := c.codec, c.pic.Channels, b.width()
	out := make([]T, 0, len(places)*ch)
	var runs []processing.Run
	last := T(len(d.roots) - 1)
	for _, i := range places {
		x, y := b.x0+int(i)%w, b.y0+int(i)/w
		dark := false
		for k, code := range pix[(y*c.pic.Width+x)*ch:][:ch] {
			if d.levels[code] < clipLevel {
				dark = true
				code = T(d.nearest(c.veils.without(d.rootsBy[code], share[i], k)))
				if ch == 4 {
					code = last - code
				}
			}
			out = append(out, code)
		}
		if !dark {
			out = out[:len(out)-ch]
			continue
		}
		runs = processing.AppendRun(runs, processing.Run{Y: y, X0: x, X1: x + 1})
	}
	return out, runs
}

// unveilFloats does the same for a picture of floats and appends to a patch.
func (c *scene) unveilFloats(to *processing.Patch, b box, places []int32, share []float32) {
	ch, w := c.pic.Channels, b.width()
	for _, i := range places {
		x, y := b.x0+int(i)%w, b.y0+int(i)/w
		at := (y*c.pic.Width + x) * ch
		dark := false
		for k := range ch {
			if v, ok := c.codec.level(at + k); ok && v < clipLevel {
				round(to, c.codec.unroot(c.veils.without(c.codec.rootOf(at+k), share[i], k)), ch == 4)
				dark = true
				continue
			}
			to.Append(c.pic.Samples(), at+k, at+k+1)
		}
		if !dark {
			to.F32 = to.F32[:len(to.F32)-ch]
			continue
		}
		to.Runs = processing.AppendRun(to.Runs, processing.Run{Y: y, X0: x, X1: x + 1})
	}
}

// join merges the pixels of another patch, which has none of p's pixels, into p.
func join(p, o *processing.Patch, channels int) {
	if len(o.Runs) == 0 {
		return
	}
	var to processing.Patch
	for i, k, a, b := 0, 0, 0, 0; i < len(p.Runs) || k < len(o.Runs); {
		from, r, at := p, processing.Run{}, &a
		if i == len(p.Runs) || k < len(o.Runs) && before(o.Runs[k], p.Runs[i]) {
			from, r, at = o, o.Runs[k], &b
			k++
		} else {
			r = p.Runs[i]
			i++
		}
		n := (r.X1 - r.X0) * channels
		to.Append(from.Samples(), *at, *at+n)
		*at += n
		to.Runs = processing.AppendRun(to.Runs, r)
	}
	p.Runs, p.U8, p.U16, p.F32 = to.Runs, to.U8, to.U16, to.F32
}

// before reports whether r begins before o in reading order.
func before(r, o processing.Run) bool { return r.Y < o.Y || r.Y == o.Y && r.X0 < o.X0 }
