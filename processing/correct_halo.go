package processing

import (
	"math"
	"slices"
)

// How far light is looked for outside the mask.
const (
	// haloSpots is how many spots say enough; with fewer the halo is as wide as it may be.
	haloSpots = 8
	// haloOutside is the number of rings beyond the halo that show the paint.
	haloOutside = 3
	// haloRise is the rise of the root of light that counts.
	haloRise = 0.012
)

// estimateHalo returns how wide a halo the picture needs, at most Params.Halo: one pixel more than the widest ring
// around the spots that is brighter than the rings beyond the halo, in the median over the spots. A mask that takes in
// the skirts needs none.
func (c *corrector) estimateHalo() int {
	most := c.p.Halo
	if most == 0 || len(c.glare.spots) < haloSpots {
		return most
	}
	g := c.glare.withHalo(most + haloOutside)
	step := (len(g.spots) + sampledSpots - 1) / sampledSpots
	rises := make([][]float64, (len(g.spots)+step-1)/step)
	c.eachWith(len(rises), func(t *tools, i int) { rises[i] = c.ringRises(&t.scratch, g, int32(i*step)) })
	rises = slices.DeleteFunc(rises, func(r []float64) bool { return r == nil })
	if len(rises) < haloSpots {
		return most
	}
	for h := most; h > 0; h-- {
		all := make([]float64, len(rises))
		for i, r := range rises {
			all[i] = r[h-1]
		}
		slices.Sort(all)
		if all[len(all)/2] > haloRise {
			return min(h+1, most)
		}
	}
	return 0
}

// ringRises returns by how much the root of light, the mean over the channels, of each ring of the halo of a spot lies
// above that of the rings beyond it, or nil where there are too few pixels.
func (c *corrector) ringRises(t *scratch, g *glareMap, spot int32) []float64 {
	ch, most := c.pic.Channels, c.p.Halo
	b := boxOf(g.spots[spot].Runs).grown(g.halo, c.pic.Width, c.pic.Height)
	if b.area() > 1<<16 {
		return nil
	}
	own, depth := take[int32](t, b.area()), take[int32](t, b.area())
	g.owners(t, b, own, depth)
	sum, n := make([]float64, most+1), make([]float64, most+1)
	for i, o := range own {
		if o != spot || depth[i] == 0 {
			continue
		}
		ring := min(int(math.Ceil(math.Sqrt(float64(depth[i]))))-1, most)
		at := ((b.y0+i/b.width())*c.pic.Width + b.x0 + i%b.width()) * ch
		for k := range ch {
			sum[ring] += float64(grid(float64(c.codec.rootOf(at + k))))
		}
		n[ring] += float64(ch)
	}
	if slices.Min(n) < 4 {
		return nil
	}
	rises := make([]float64, most)
	for h := range rises {
		rises[h] = sum[h]/n[h] - sum[most]/n[most]
	}
	return rises
}
