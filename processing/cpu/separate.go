package cpu

import (
	"context"

	"blik/internal/simd"
	"blik/processing"
	"blik/processing/internal/relax"
)

// Separate splits the light that was seen into paint and glare.
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
			v.paint[k] = scratch[float32](t, r.W*r.H)
			v.seen[k] = scratch[float32](t, r.W*r.H)
			processing.CutTile(v.paint[k], p[k].data.F32, p[k].w, r)
			processing.CutTile(v.seen[k], o[k].data.F32, o[k].w, r)
		}
		v.light, v.expected = scratch[float32](t, r.W*r.H), scratch[float32](t, r.W*r.H)
		v.state = scratch[uint8](t, r.W*r.H)
		processing.CutTile(v.light, l.data.F32, l.w, r)
		processing.CutTile(v.expected, e.data.F32, e.w, r)
		processing.CutTile(v.state, s.data.U8, s.w, r)
		if !v.separate(t, b.level, r) {
			return
		}
		for k := range n {
			processing.PasteTile(p[k].data.F32, v.paint[k], p[k].w, r)
		}
		processing.PasteTile(l.data.F32, v.light, l.w, r)
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

// separate improves the tile. It returns false if there is nothing to write back.
func (v *veil) separate(t *worker, level simd.Level, r processing.Tile) bool {
	if v.n == 3 {
		t.grid.Reset(level, v.state, r.W, r.H, false)
		if t.grid.Pixels() == len(v.state) {
			return false
		}
		return t.grid.Separate([3][]float32(v.paint[:3]), v.light, &relax.Veil{
			Seen: [3][]float32(v.seen[:3]), Expected: v.expected, State: v.state,
		}, v.m, t.stopped)
	}
	v.hole = holeOf(t, v.state, r.W, r.H)
	if v.known == 0 {
		return false
	}
	for range v.m.Sweeps {
		if t.stopped() {
			return false
		}
		for _, j := range v.index {
			v.update(int(j))
		}
	}
	return true
}

// update improves one pixel.
func (v *veil) update(i int) {
	var guess, seen [4]float32
	count := 0
	part := reciprocals()
	for k := range v.n {
		var sum float32
		sum, count = v.around(v.paint[k], i)
		guess[k], seen[k] = float32(sum*part[count]), v.seen[k][i]
	}
	paint := guess
	if v.state[i] != processing.StateClipped {
		paint, v.light[i] = relax.Split(v.m, v.n, &guess, &seen, part[count], v.expected[i], v.light[i])
	}
	for k := range v.n {
		v.paint[k][i] = paint[k]
	}
}
