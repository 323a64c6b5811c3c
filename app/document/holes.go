package document

import (
	"image"

	"blik/internal/message"
	"blik/processing"
)

// FillHoles marks the holes of the mask: unmarked pixels that no 4-connected path of unmarked pixels joins to the edge
// of the picture. Outside the search region nothing is marked. It can be undone.
func (d *Document) FillHoles() image.Rectangle {
	d.begin(message.Of("Fill holes"))
	d.edit.byHand = true
	inside := newRows(d.region, d.tiles)
	for _, hole := range holes(d.mask) {
		inside.each(hole.y, hole.x0, hole.x1, func(a, b int) {
			r := image.Rect(a, hole.y, b, hole.y+1)
			d.prepareWrite(r)
			set(d.mask.Pix[hole.y*d.mask.Width+a:hole.y*d.mask.Width+b], 255)
		})
	}
	return d.commit()
}

// holes returns the runs of the holes of a mask, in reading order. It joins the runs of a row with those that they
// touch in the row above (Rosenfeld and Pfaltz 1966), in a union-find forest.
func holes(m *processing.Mask) []span {
	var runs []span
	// parent[i] is the parent of run i, counted from 1. Root 0 is the set of all runs that reach the edge.
	parent := []int32{0}
	root := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	join := func(a, b int32) {
		a, b = root(a), root(b)
		// The smaller root stays, so that 0 remains the root of its set.
		parent[max(a, b)] = min(a, b)
	}
	above := 0
	for y := range m.Height {
		row := m.Pix[y*m.Width:][:m.Width]
		first := len(runs)
		for x := 0; x < m.Width; {
			x0 := x
			for x < m.Width && row[x] < processing.MaskLevel {
				if row[x] == 0 {
					x += runLength(row[x:], 0)
				} else {
					x++
				}
			}
			if x > x0 {
				runs = append(runs, span{y, x0, x})
				i := int32(len(runs))
				parent = append(parent, i)
				if y == 0 || y == m.Height-1 || x0 == 0 || x == m.Width {
					join(0, i)
				}
				for above < first && runs[above].x1 <= x0 {
					above++
				}
				for k := above; k < first && runs[k].x0 < x; k++ {
					join(int32(k+1), i)
				}
			}
			for x < m.Width && row[x] >= processing.MaskLevel {
				x++
			}
		}
		above = first
	}
	kept := runs[:0]
	for i, r := range runs {
		if root(int32(i+1)) != 0 {
			kept = append(kept, r)
		}
	}
	return kept
}
