package correct

import (
	"math"
	"slices"

	"blik/processing/internal/arena"
)

// Constants of estimateHalo.
const (
	// haloSpots is the number of spots that an estimate needs; with fewer, the halo has its full width.
	haloSpots = 8
	// haloOutside is the number of rings beyond the halo that show the paint for comparison.
	haloOutside = 3
	// haloRise is the least rise of the root of light that counts as halo.
	haloRise = 0.012
)

// estimateHalo returns the width of the halo that the picture needs, at most that of the map, in pixels: one more than
// the widest ring around the spots that is brighter than the rings beyond the halo, in the median over the spots. A
// mask that covers the soft edges of the glints needs none.
func estimateHalo(each eacher, d *codec, glare *glareMap) int {
	most := glare.halo
	if most == 0 || len(glare.spots) < haloSpots {
		return most
	}
	g := glare.withHalo(most + haloOutside)
	step := (len(g.spots) + sampledSpots - 1) / sampledSpots
	rises := make([][]float64, (len(g.spots)+step-1)/step)
	each(len(rises), func(t *tools, i int) { rises[i] = ringRises(&t.scratch, d, g, most, int32(i*step)) })
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

// ringRises returns how far each ring of a spot's halo rises above the rings beyond the halo, in the root of light
// averaged over the channels. It returns nil for a very large spot, and if a ring has too few pixels.
func ringRises(t *arena.Arena, d *codec, g *glareMap, most int, spot int32) []float64 {
	ch := d.pic.Channels
	b := boxOf(g.spots[spot].Runs).grown(g.halo, d.pic.Width, d.pic.Height)
	if b.area() > 1<<16 {
		return nil
	}
	own, depth := g.owners(t, t, b)
	sum, n := make([]float64, most+1), make([]float64, most+1)
	for i, o := range own {
		if o != spot || depth[i] == 0 {
			continue
		}
		ring := min(int(math.Ceil(math.Sqrt(float64(depth[i]))))-1, most)
		at := ((b.y0+i/b.width())*d.pic.Width + b.x0 + i%b.width()) * ch
		for k := range ch {
			sum[ring] += float64(roundToGrid(float64(d.rootOf(at + k))))
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
