package cpu

import (
	"context"
	"math"

	"blik/processing"
)

// Separate splits what was seen through glare into paint and light.
func (b executor) Separate(ctx context.Context, op processing.Separate) error {
	n := len(op.Seen)
	var p, o [4]*plane
	for k := range op.Seen {
		p[k], o[k] = op.Paint[k].(*plane), op.Seen[k].(*plane)
	}
	l, e, s := op.Light.(*plane), op.Expected.(*plane), op.State.(*plane)
	return b.each(ctx, len(op.Tiles), func(t *worker, i int) {
		r := op.Tiles[i]
		v := veil{n: n, m: &op.Models[i]}
		for k := range n {
			v.paint[k] = take[float32](t, r.W*r.H)
			v.seen[k] = take[float32](t, r.W*r.H)
			lift(v.paint[k], p[k].data.F32, p[k].w, r)
			lift(v.seen[k], o[k].data.F32, o[k].w, r)
		}
		v.light, v.expected = take[float32](t, r.W*r.H), take[float32](t, r.W*r.H)
		v.state = take[uint8](t, r.W*r.H)
		lift(v.light, l.data.F32, l.w, r)
		lift(v.expected, e.data.F32, e.w, r)
		lift(v.state, s.data.U8, s.w, r)
		v.hole = holeOf(t, v.state, r.W, r.H)
		if v.known == 0 {
			return
		}
		three := v.n == 3 && v.inside
		if three {
			for _, j := range v.index {
				v.expected[j] = 1 / v.expected[j]
			}
		}
		for range v.m.Sweeps {
			if t.stopped() {
				return
			}
			if three {
				v.sweepThree()
				continue
			}
			for _, j := range v.index {
				v.update(int(j))
			}
		}
		for k := range n {
			lower(p[k].data.F32, v.paint[k], p[k].w, r)
		}
		lower(l.data.F32, v.light, l.w, r)
	})
}

// veil is one tile of Separate.
type veil struct {
	hole
	n               int
	m               *processing.Separation
	paint, seen     [4][]float32
	light, expected []float32
	state           []uint8
}

func (v *veil) update(i int) {
	var guess [4]float32
	var slope float32
	count := 0
	part := reciprocals()
	for k := range v.n {
		var sum float32
		sum, count = v.around(v.paint[k], i)
		guess[k] = float32(sum * part[count])
		slope += guess[k]
	}
	if v.state[i] == processing.StateClipped {
		for k := range v.n {
			v.paint[k][i] = guess[k]
		}
		return
	}
	slope = float32(slope*2)/float32(v.n) + 0.01
	spread := float32(float32(slope*slope) * part[count])
	off := v.light[i]
	noise := v.m.Noise + float32(float32(v.m.Mismatch*off)*float32(v.m.Mismatch*off))
	var rest, gain [4]float32
	var along, sure float32
	for k := range v.n {
		for c := range v.n {
			rest[k] += float32(v.m.Axes[k][c] * (v.seen[c][i] - float32(guess[c]*guess[c])))
		}
		g := float32(v.m.Variance[k] * spread)
		q := 1 / (g + noise)
		gain[k] = float32(g * q)
		lq := float32(v.m.Light[k] * q)
		along += float32(lq * rest[k])
		sure += float32(lq * v.m.Light[k])
	}
	mu := (along - 1/v.expected[i]) / sure
	m := (mu + float32(math.Sqrt(float64(float32(mu*mu)+2.5464791/sure)))) * 0.5
	v.light[i] = m
	for k := range v.n {
		gain[k] = float32(gain[k] * (rest[k] - float32(m*v.m.Light[k])))
	}
	for c := range v.n {
		y := float32(guess[c] * guess[c])
		for k := range v.n {
			y += float32(v.m.Axes[k][c] * gain[k])
		}
		v.paint[c][i] = float32(math.Sqrt(float64(max(y, 0))))
	}
}

// sweepThree is update for every pixel of the hole, in the same order and with the same roundings, for three channels
// where each pixel has four neighbours. In place of the expected light it reads its reciprocal.
func (v *veil) sweepThree() {
	m, w := v.m, v.w
	n := len(v.state)
	p, q, r := v.paint[0][:n], v.paint[1][:n], v.paint[2][:n]
	seen0, seen1, seen2 := v.seen[0][:n], v.seen[1][:n], v.seen[2][:n]
	light, inverse := v.light[:n], v.expected[:n]
	a, e, variance := &m.Axes, &m.Light, &m.Variance
	for _, j := range v.index {
		i := int(j)
		up, down := i-w, i+w
		g0 := float32(((p[i-1] + p[i+1]) + (p[up] + p[down])) * 0.25)
		g1 := float32(((q[i-1] + q[i+1]) + (q[up] + q[down])) * 0.25)
		g2 := float32(((r[i-1] + r[i+1]) + (r[up] + r[down])) * 0.25)
		if v.state[i] == processing.StateClipped {
			p[i], q[i], r[i] = g0, g1, g2
			continue
		}
		slope := float32((g0+g1+g2)*2)/3 + 0.01
		spread := float32(float32(slope*slope) * 0.25)
		off := float32(m.Mismatch * light[i])
		noise := m.Noise + float32(off*off)
		s0, s1, s2 := float32(g0*g0), float32(g1*g1), float32(g2*g2)
		d0, d1, d2 := seen0[i]-s0, seen1[i]-s1, seen2[i]-s2
		rest0 := float32(a[0][0]*d0) + float32(a[0][1]*d1) + float32(a[0][2]*d2)
		rest1 := float32(a[1][0]*d0) + float32(a[1][1]*d1) + float32(a[1][2]*d2)
		rest2 := float32(a[2][0]*d0) + float32(a[2][1]*d1) + float32(a[2][2]*d2)
		v0, v1, v2 := float32(variance[0]*spread), float32(variance[1]*spread), float32(variance[2]*spread)
		q0, q1, q2 := 1/(v0+noise), 1/(v1+noise), 1/(v2+noise)
		l0, l1, l2 := float32(e[0]*q0), float32(e[1]*q1), float32(e[2]*q2)
		along := float32(l0*rest0) + float32(l1*rest1) + float32(l2*rest2)
		sure := float32(l0*e[0]) + float32(l1*e[1]) + float32(l2*e[2])
		mu := (along - inverse[i]) / sure
		l := (mu + float32(math.Sqrt(float64(float32(mu*mu)+2.5464791/sure)))) * 0.5
		light[i] = l
		t0 := float32(float32(v0*q0) * (rest0 - float32(l*e[0])))
		t1 := float32(float32(v1*q1) * (rest1 - float32(l*e[1])))
		t2 := float32(float32(v2*q2) * (rest2 - float32(l*e[2])))
		s0 = s0 + float32(a[0][0]*t0) + float32(a[1][0]*t1) + float32(a[2][0]*t2)
		s1 = s1 + float32(a[0][1]*t0) + float32(a[1][1]*t1) + float32(a[2][1]*t2)
		s2 = s2 + float32(a[0][2]*t0) + float32(a[1][2]*t1) + float32(a[2][2]*t2)
		p[i] = float32(math.Sqrt(float64(max(s0, 0))))
		q[i] = float32(math.Sqrt(float64(max(s1, 0))))
		r[i] = float32(math.Sqrt(float64(max(s2, 0))))
	}
}
