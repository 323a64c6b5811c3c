package colour

import (
	"context"
	"math"

	"blik/internal/parallel"
)

// cube is a table from device samples to CIE 1976 L*a*b*: the first curves of a profile's table exactly, the rest on a
// grid at least as fine as the profile's own. It interpolates between the nodes as lut does, all channels at once.
// Gamut clipping and the curve of sRGB, which are strongly nonlinear, follow the interpolation.
//
// A node holds f(X/Xn), f(Y/Yn) and f(Z/Zn) in lanes of 21 bits; L*a*b* are linear combinations of them. Weights add up
// to 256, so that a weighted sum needs 20 bits of a lane.
type cube struct {
	channels int
	// at holds, for each channel and sample, the offset of the node below, shifted by partBits, and the fraction in
	// 1/256 of the way to the next one.
	at    [4][]uint32
	step  [4]uint32
	nodes []uint64
	// xyz maps the upper bits of a weighted sum's lanes to XYZ relative to D50, in 1/65535.
	xyz [3][1 << sumBits]int32
}

const (
	partBits = 9
	partMask = 1<<partBits - 1
	laneBits = 21
	// highest is the highest value of a node, of 12 bits.
	highest = 1<<12 - 1
	// laneLow keeps the 12 bits of a node's value in each lane.
	laneLow uint64 = highest | highest<<laneBits | highest<<(2*laneBits)
	// sumBits of the 20 bits of a weighted sum are looked up, after sumHalf rounds them: enough for 1/50 of L*, and few
	// enough for the second-level cache.
	sumBits         = 13
	sumShift        = 20 - sumBits
	sumMask         = 1<<sumBits - 1
	sumHalf  uint64 = 1<<(sumShift-1) | 1<<(sumShift-1+laneBits) | 1<<(sumShift-1+2*laneBits)
)

// lanesOf returns the values of f for a node's lowest and highest values, which cover all L*a*b* that a profile can
// hold.
func lanesOf() (lowest, highest [3]float64) {
	return [3]float64{-0.12, 0, -0.52}, [3]float64{1.27, 1.26, 1.65}
}

// Nodes along a channel: at least fine, to follow the curvature between the profile's nodes, and at most most. Straight
// lines in XYZ are strongly curved in L*a*b* in dark colours.
const (
	fine3, fine3XYZ, most3 = 33, 65, 65
	fine4, most4           = 17, 23
)

func newCube(l *lut, depth int) *cube {
	c := &cube{channels: l.channels}
	from, to := lanesOf()
	for k := range c.xyz {
		for i := range c.xyz[k] {
			f := from[k] + (to[k]-from[k])*float64(i<<sumShift)/(highest<<8)
			c.xyz[k][i] = int32(math.Round(white()[k] * labT(f) * 65535))
		}
	}
	own := 2
	if l.grid != nil {
		for _, n := range l.nodes[:l.channels] {
			own = max(own, n)
		}
	}
	fine, most := fine3, most3
	switch {
	case l.channels == 4:
		fine, most = fine4, most4
	case !l.lab:
		fine = fine3XYZ
	}
	// A multiple of the profile's own number of steps, unless that is too many, so that nodes coincide.
	side := own
	if times := (fine - 2 + own - 1) / (own - 1); (own-1)*times+1 <= most {
		side = (own-1)*times + 1
	} else if side > most || side < fine {
		side = most
	}
	stride := uint32(1)
	for i := l.channels - 1; i >= 0; i-- {
		c.step[i] = stride
		stride *= uint32(side)
	}
	c.nodes = make([]uint64, stride)
	_ = parallel.Each(context.Background(), side, func(first int) { c.fill(l, side, first) })
	whole := 1<<depth - 1
	for i := range l.channels {
		c.at[i] = make([]uint32, whole+1)
		for v := range c.at[i] {
			at := unit(l.shaper[i](float64(v)/float64(whole))) * float64(side-1)
			cell := min(int(at), side-2)
			c.at[i][v] = uint32(cell)*c.step[i]<<partBits | uint32((at-float64(cell))*256+0.5)
		}
	}
	return c
}

// fill computes the nodes with the given index along the first channel.
func (c *cube) fill(l *lut, side, first int) {
	n := int(c.step[0])
	from, to := lanesOf()
	for i := range n {
		v := [4]float64{float64(first) / float64(side-1)}
		for k := 1; k < c.channels; k++ {
			v[k] = float64(i/int(c.step[k])%side) / float64(side-1)
		}
		node := uint64(0)
		for k, t := range l.behind(v) {
			f := unit((labF(t/white()[k]) - from[k]) / (to[k] - from[k]))
			node |= uint64(f*highest+0.5) << (laneBits * k)
		}
		c.nodes[first*n+i] = node
	}
}

func cubeRow[S uint8 | uint16](s *Screen, dst []uint32, src []S) {
	c := s.cube
	if c.channels == 4 {
		for i := range dst {
			p := src[4*i : 4*i+4 : 4*i+4]
			e := c.at[0][p[0]]
			t := c.tetrahedron(1, c.at[1][p[1]], c.at[2][p[2]], c.at[3][p[3]])
			nodes := c.nodes[e>>partBits:]
			sum := t.sum(nodes)
			if part := uint64(e & partMask); part != 0 {
				above := t.sum(nodes[c.step[0]:])
				sum = (sum>>8&laneLow)*(256-part) + (above>>8&laneLow)*part
			}
			dst[i] = s.pixel(sum)
		}
		return
	}
	for i := range dst {
		p := src[3*i : 3*i+3 : 3*i+3]
		t := c.tetrahedron(0, c.at[0][p[0]], c.at[1][p[1]], c.at[2][p[2]])
		dst[i] = s.pixel(t.sum(c.nodes))
	}
}

// pixel converts a weighted sum of nodes to a pixel of the screen.
func (s *Screen) pixel(sum uint64) uint32 {
	sum += sumHalf
	t := &s.cube.xyz
	return s.mix(int64(t[0][sum>>sumShift&sumMask]), int64(t[1][sum>>(sumShift+laneBits)&sumMask]),
		int64(t[2][sum>>(sumShift+2*laneBits)&sumMask]))
}

// tetrahedron is four nodes with their weights in 1/256.
type tetrahedron struct {
	n0, n1, n2, n3 uint32
	w0, w1, w2, w3 uint64
}

func (t *tetrahedron) sum(nodes []uint64) uint64 {
	return nodes[t.n0]*t.w0 + nodes[t.n1]*t.w1 + nodes[t.n2]*t.w2 + nodes[t.n3]*t.w3
}

// tetrahedron returns the tetrahedron around three entries of c.at, for the channels from first on.
func (c *cube) tetrahedron(first int, x, y, z uint32) tetrahedron {
	// A channel's fraction is stored in the bits above its step, so that sorting the fractions also sorts the steps.
	// Steps need 19 bits.
	const stepBits = 20
	a := uint64(x&partMask)<<stepBits | uint64(c.step[first])
	b := uint64(y&partMask)<<stepBits | uint64(c.step[first+1])
	d := uint64(z&partMask)<<stepBits | uint64(c.step[first+2])
	a, b = max(a, b), min(a, b)
	b, d = max(b, d), min(b, d)
	a, b = max(a, b), min(a, b)
	const mask = 1<<stepBits - 1
	pa, pb, pd := a>>stepBits, b>>stepBits, d>>stepBits
	n0 := x>>partBits + y>>partBits + z>>partBits
	n1 := n0 + uint32(a&mask)
	n2 := n1 + uint32(b&mask)
	n3 := n2 + uint32(d&mask)
	return tetrahedron{n0, n1, n2, n3, 256 - pa, pa - pb, pb - pd, pd}
}
