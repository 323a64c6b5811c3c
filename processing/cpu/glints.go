package cpu

import (
	"context"

	"blik/processing"
)

// Glints runs the network on tiles with their surroundings.
func (b executor) Glints(ctx context.Context, op processing.Glints) error {
	d := op.Dst.(*plane)
	grain, reach := op.Model.Grain(), op.Model.Reach()
	// border is the surroundings of a tile, such that its part of the picture begins with a whole cell.
	border := (reach + grain - 1) / grain * grain
	const side = 256
	nx, ny := (d.w+side-1)/side, (d.h+side-1)/side
	return b.each(ctx, nx*ny, func(w *worker, i int) {
		r := rect{i % nx * side, i / nx * side, min(d.w, i%nx*side+side), min(d.h, i/nx*side+side)}
		x0, y0 := max(0, r.x0-border), max(0, r.y0-border)
		x1, y1 := min(d.w, r.x1+border), min(d.h, r.y1+border)
		part := func(p processing.Plane) []uint8 {
			s := take[uint8](w, (x1-x0)*(y1-y0))
			for y := y0; y < y1; y++ {
				copy(s[(y-y0)*(x1-x0):], p.(*plane).data.U8[y*d.w+x0:y*d.w+x1])
			}
			return s
		}
		_, logits := op.Model.Run(part(op.Red), part(op.Green), part(op.Blue), x1-x0, y1-y0)
		for y := r.y0; y < r.y1; y++ {
			for x := r.x0; x < r.x1; x++ {
				v := int(logits[(y-y0)*(x1-x0)+x-x0]) + op.Offset
				d.data.U8[y*d.w+x] = uint8(min(max(v, 0), 255))
			}
		}
	})
}
