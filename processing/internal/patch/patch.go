// Package patch compares one patch of a picture with many others at a time, for exemplar-based filling.
package patch

import (
	"slices"

	"blik/internal/simd"
)

// Lanes is the number of patches compared at a time.
const Lanes = 16

// Places are the positions of candidate patches in a window. Their columns are multiples of a step, and neighbouring
// places form groups that are compared together.
type Places struct {
	step   int
	pitch  int
	planes [][]float32
	groups []Group
}

// Group is a set of places in one row, at most Lanes steps wide.
type Group struct {
	// At is the index of the first place in the window. Mask has a bit for each of the Lanes positions from At on, the
	// lowest for At itself, which is set if the position is a place.
	At   int32
	Mask uint16
	from int32
}

// NewPlaces returns the places in list, which is sorted, in a window of w × h. All columns are multiples of step ≥ 1.
// Each plane of pix is a channel.
func NewPlaces(pix [][]float32, w, h, step int, list []int32) *Places {
	p := &Places{step: step, pitch: (w + step - 1) / step}
	// Pixels that are a step apart are stored side by side. Groups may extend beyond the end.
	n := step*p.pitch*h + Lanes
	for _, from := range pix {
		plane := make([]float32, n)
		if step == 1 {
			copy(plane, from)
		} else {
			for phase := range min(step, w) {
				for y := range h {
					to := plane[(phase*h+y)*p.pitch:]
					row := from[y*w+phase : (y+1)*w]
					for x := 0; x < len(row); x += step {
						to[x/step] = row[x]
					}
				}
			}
		}
		p.planes = append(p.planes, plane)
	}
	for _, at := range list {
		x, y := int(at)%w, int(at)/w
		from := int32(y*p.pitch + x/step)
		if k := len(p.groups) - 1; k >= 0 && int(p.groups[k].At)/w == y && from < p.groups[k].from+Lanes {
			p.groups[k].Mask |= 1 << (from - p.groups[k].from)
			continue
		}
		p.groups = append(p.groups, Group{At: at, Mask: 1, from: from})
	}
	return p
}

func (p *Places) Groups() []Group { return p.groups }

// At returns the group of up to Lanes places from index at on, for a step of 1.
func (p *Places) At(at int32, mask uint16) Group { return Group{At: at, Mask: mask, from: at} }

// Place returns the index in the window of place k of a group.
func (p *Places) Place(g Group, k int) int32 { return g.At + int32(k*p.step) }

// Patch is the patch to compare with others: the offset from its centre, the channels and the weight of each pixel.
type Patch struct {
	dx, dy []int32
	values []float32
	ch     int
}

func (t *Patch) Reset(channels int) {
	t.dx, t.dy, t.values, t.ch = t.dx[:0], t.dy[:0], t.values[:0], channels
}

func (t *Patch) Add(dx, dy int, value *[4]float32, weight float32) {
	t.dx, t.dy = append(t.dx, int32(dx)), append(t.dy, int32(dy))
	at, n := len(t.values), (t.ch+1)*Lanes
	t.values = slices.Grow(t.values, n)[:at+n]
	for k, v := range value[:t.ch] {
		fill((*[Lanes]float32)(t.values[at+k*Lanes:]), v)
	}
	fill((*[Lanes]float32)(t.values[at+n-Lanes:]), weight)
}

func fill(to *[Lanes]float32, v float32) {
	for i := range to {
		to[i] = v
	}
}

// Offsets returns the offsets of the patch's pixels from a place, for Costs.
func (t *Patch) Offsets(p *Places, h int, to []int32) []int32 {
	to = to[:0]
	for i, dx := range t.dx {
		phase, column := 0, int(dx)
		if p.step > 1 {
			phase = ((int(dx) % p.step) + p.step) % p.step
			column = (int(dx) - phase) / p.step
		}
		to = append(to, int32((phase*h+int(t.dy[i]))*p.pitch+column))
	}
	return to
}

// Comparer computes the costs of groups.
type Comparer struct {
	costs func(sum *[Lanes]float32, planes [][]float32, g Group, offsets []int32, values []float32, limit float32)
}

// NewComparer returns a Comparer that uses the given level of vector instructions.
func NewComparer(level simd.Level) *Comparer { return &Comparer{costs: kernelOf(level)} }

// Costs writes the weighted sums of squared differences between the patch and the patches at the places of a group.
// Sums of at least limit may be inexact if all of them are. Lanes without a place get arbitrary values.
func (c *Comparer) Costs(sum *[Lanes]float32, t *Patch, p *Places, g Group, offsets []int32, limit float32) {
	c.costs(sum, p.planes, g, offsets, t.values, limit)
}

// costs is the plain kernel.
func costs(sum *[Lanes]float32, planes [][]float32, g Group, offsets []int32, values []float32, limit float32) {
	for lane := range sum {
		if g.Mask>>lane&1 == 0 {
			continue
		}
		s, at := float32(0), 0
		for _, o := range offsets {
			var square float32
			for _, p := range planes {
				d := p[int(g.from)+int(o)+lane] - values[at]
				square += float32(d * d)
				at += Lanes
			}
			if s += float32(values[at] * square); s >= limit {
				break
			}
			at += Lanes
		}
		sum[lane] = s
	}
}
