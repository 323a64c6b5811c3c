//go:build goexperiment.simd && amd64

package relax

import (
	"simd/archsimd"
	"unsafe"
)

func vectorKernels() kernels {
	return kernels{harmonic256, separate256, continue256, refine256, archsimd.ClearAVXUpperBits}
}

type vec = archsimd.Float32x8

func get(p *float32, at int32) vec {
	return archsimd.LoadFloat32x8((*[lanes]float32)(unsafe.Add(unsafe.Pointer(p), 4*int(at))))
}

func set(p *float32, at int32, v vec) {
	v.Store((*[lanes]float32)(unsafe.Add(unsafe.Pointer(p), 4*int(at))))
}

// keep stores the lanes that belong to the hole and leaves the others unchanged.
func keep(p *float32, at int32, v, old vec, inside *int32, lane int) {
	set(p, at, v.Merge(old, maskAt(inside, lane)))
}

func maskAt(inside *int32, lane int) archsimd.Mask32x8 {
	m := archsimd.LoadInt32x8((*[lanes]int32)(unsafe.Add(unsafe.Pointer(inside), 4*lane)))
	return m.Less(m.Xor(m))
}

func harmonic256(g *Grid, p *halves, c int, parts []float32) {
	own, other, s := unsafe.SliceData(p[c]), unsafe.SliceData(p[1-c]), int32(g.stride)
	inside, part := unsafe.SliceData(g.inside[c]), unsafe.SliceData(parts)
	factor := archsimd.LoadFloat32x8(&g.omega)
	for n := range g.blocks[c] {
		b := &g.blocks[c][n]
		sum := get(other, b.left).Add(get(other, b.left+1)).Add(get(other, b.at-s).Add(get(other, b.at+s)))
		old := get(own, b.at)
		step := factor.Mul(sum.Mul(get(part, int32(n*lanes))).Sub(old))
		keep(own, b.at, old.Add(step), old, inside, n*lanes)
	}
}

func separate256(g *Grid, p *[3]halves, c int, coefficients, lights []float32, sep *separator) {
	inside, s := unsafe.SliceData(g.inside[c]), int32(g.stride)
	coeffs, light := unsafe.SliceData(coefficients), unsafe.SliceData(lights)
	for n := range g.blocks[c] {
		b := &g.blocks[c][n]
		at := int32(n * 5 * lanes)
		part := get(coeffs, at+4*lanes)
		for k := range p {
			other := unsafe.SliceData(p[k][1-c])
			sum := get(other, b.left).Add(get(other, b.left+1)).Add(get(other, b.at-s).Add(get(other, b.at+s)))
			set(&sep.guess[k][0], 0, sum.Mul(part))
		}
		set(&sep.part[0], 0, part)
		sep.solve(coeffs, at, light, int32(n*lanes))
		for k := range p {
			own := unsafe.SliceData(p[k][c])
			keep(own, b.at, get(&sep.paint[k][0], 0), get(own, b.at), inside, n*lanes)
		}
		set(light, int32(n*lanes), get(&sep.light[0], 0))
	}
}

// solve computes paint and light of a block from the estimate of the paint, as processing.Separate does. The
// coefficients are those of veilCoeffs.
func (o *separator) solve(coeffs *float32, at int32, lights *float32, lane int32) {
	at3 := func(p *[lanes]float32) vec { return archsimd.LoadFloat32x8(p) }
	g0, g1, g2 := at3(&o.guess[0]), at3(&o.guess[1]), at3(&o.guess[2])
	slope := g0.Add(g1).Add(g2).Mul(at3(&o.two)).Div(at3(&o.three)).Add(at3(&o.hundredth))
	spread := slope.Mul(slope).Mul(at3(&o.part))
	old := get(lights, lane)
	off := at3(&o.mismatch).Mul(old)
	noise := at3(&o.noise).Add(off.Mul(off))
	s0, s1, s2 := g0.Mul(g0), g1.Mul(g1), g2.Mul(g2)
	d0, d1, d2 := get(coeffs, at).Sub(s0), get(coeffs, at+lanes).Sub(s1), get(coeffs, at+2*lanes).Sub(s2)
	inverse := get(coeffs, at+3*lanes)
	a := &o.axes
	rest0 := at3(&a[0][0]).Mul(d0).Add(at3(&a[0][1]).Mul(d1)).Add(at3(&a[0][2]).Mul(d2))
	rest1 := at3(&a[1][0]).Mul(d0).Add(at3(&a[1][1]).Mul(d1)).Add(at3(&a[1][2]).Mul(d2))
	rest2 := at3(&a[2][0]).Mul(d0).Add(at3(&a[2][1]).Mul(d1)).Add(at3(&a[2][2]).Mul(d2))
	v0, v1, v2 := at3(&o.variance[0]).Mul(spread), at3(&o.variance[1]).Mul(spread), at3(&o.variance[2]).Mul(spread)
	one := at3(&o.one)
	q0, q1, q2 := one.Div(v0.Add(noise)), one.Div(v1.Add(noise)), one.Div(v2.Add(noise))
	e0, e1, e2 := at3(&o.toned[0]), at3(&o.toned[1]), at3(&o.toned[2])
	l0, l1, l2 := e0.Mul(q0), e1.Mul(q1), e2.Mul(q2)
	along := l0.Mul(rest0).Add(l1.Mul(rest1)).Add(l2.Mul(rest2))
	sure := l0.Mul(e0).Add(l1.Mul(e1)).Add(l2.Mul(e2))
	mu := along.Sub(inverse).Div(sure)
	root := mu.Mul(mu).Add(at3(&o.gamma).Div(sure)).Sqrt()
	light := mu.Add(root).Mul(at3(&o.half))
	t0 := v0.Mul(q0).Mul(rest0.Sub(light.Mul(e0)))
	t1 := v1.Mul(q1).Mul(rest1.Sub(light.Mul(e1)))
	t2 := v2.Mul(q2).Mul(rest2.Sub(light.Mul(e2)))
	zero := at3(&o.zero)
	clipped := inverse.Less(zero)
	s0 = s0.Add(at3(&a[0][0]).Mul(t0)).Add(at3(&a[1][0]).Mul(t1)).Add(at3(&a[2][0]).Mul(t2))
	s1 = s1.Add(at3(&a[0][1]).Mul(t0)).Add(at3(&a[1][1]).Mul(t1)).Add(at3(&a[2][1]).Mul(t2))
	s2 = s2.Add(at3(&a[0][2]).Mul(t0)).Add(at3(&a[1][2]).Mul(t1)).Add(at3(&a[2][2]).Mul(t2))
	g0.Merge(rootOf(s0, zero), clipped).Store(&o.paint[0])
	g1.Merge(rootOf(s1, zero), clipped).Store(&o.paint[1])
	g2.Merge(rootOf(s2, zero), clipped).Store(&o.paint[2])
	old.Merge(light, clipped).Store(&o.light)
}

// rootOf is √max(v, 0). NaN stays NaN, and −0 becomes 0.
func rootOf(v, zero vec) vec { return zero.Merge(v, v.Less(zero)).Add(zero).Sqrt() }

// meanAlong returns the mean of a block's neighbours, weighted along the strokes by the first four coefficients.
func meanAlong(own, other *float32, b *block, s int32, coeffs *float32, at int32) vec {
	straight := get(coeffs, at).Mul(get(other, b.left).Add(get(other, b.left+1))).
		Add(get(coeffs, at+lanes).Mul(get(other, b.at-s).Add(get(other, b.at+s))))
	return straight.Add(get(coeffs, at+2*lanes).Mul(get(own, b.left-s).Add(get(own, b.left+1+s))).
		Add(get(coeffs, at+3*lanes).Mul(get(own, b.left+1-s).Add(get(own, b.left+s)))))
}

func continue256(g *Grid, p []halves, c int, coefficients, nexts []float32) {
	inside, s, step := unsafe.SliceData(g.inside[c]), int32(g.stride), archsimd.LoadFloat32x8(&g.step)
	coeffs, next := unsafe.SliceData(coefficients), unsafe.SliceData(nexts)
	blocks := g.blocks[c]
	for k := range p {
		own, other := unsafe.SliceData(p[k][c]), unsafe.SliceData(p[k][1-c])
		for n := range blocks {
			b := &blocks[n]
			old := get(own, b.at)
			mean := meanAlong(own, other, b, s, coeffs, int32(n*4*lanes))
			set(next, int32(n*lanes), old.Add(step.Mul(mean.Sub(old))))
		}
		// Store only now, because diagonal neighbours need the old values.
		for n := range blocks {
			keep(own, blocks[n].at, get(next, int32(n*lanes)), get(own, blocks[n].at), inside, n*lanes)
		}
	}
}

func refine256(g *Grid, p *[3]halves, c int, coefficients, nexts, lights []float32, sep *separator) {
	inside, s, step := unsafe.SliceData(g.inside[c]), int32(g.stride), archsimd.LoadFloat32x8(&g.step)
	coeffs, next, light := unsafe.SliceData(coefficients), unsafe.SliceData(nexts), unsafe.SliceData(lights)
	blocks := g.blocks[c]
	for n := range blocks {
		b, at := &blocks[n], int32(n*8*lanes)
		for k := range p {
			own, other := unsafe.SliceData(p[k][c]), unsafe.SliceData(p[k][1-c])
			set(&sep.guess[k][0], 0, meanAlong(own, other, b, s, coeffs, at))
		}
		sep.solve(coeffs, at+4*lanes, light, int32(n*lanes))
		for k := range p {
			old := get(unsafe.SliceData(p[k][c]), b.at)
			set(next, int32((3*n+k)*lanes), old.Add(step.Mul(get(&sep.paint[k][0], 0).Sub(old))))
		}
		old := get(light, int32(n*lanes))
		set(light, int32(n*lanes), old.Add(step.Mul(get(&sep.light[0], 0).Sub(old))))
	}
	for n := range blocks {
		for k := range p {
			own := unsafe.SliceData(p[k][c])
			keep(own, blocks[n].at, get(next, int32((3*n+k)*lanes)), get(own, blocks[n].at), inside, n*lanes)
		}
	}
}
