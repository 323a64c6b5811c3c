package document

import (
	"image"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

// Filling, growing and shrinking agree with a slow reference in every pixel, and each is one step.
func TestShapes(t *testing.T) {
	const w, h = 150, 140
	at := func(r *rapid.T, name string) processing.Point {
		return processing.Point{X: float64(rapid.IntRange(-30, w+30).Draw(r, name)),
			Y: float64(rapid.IntRange(-30, h+30).Draw(r, name))}
	}
	rapid.Check(t, func(r *rapid.T) {
		d, err := New("", testpic.Flat(w, h, 1, 100))
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 5).Draw(r, "steps") {
			before := slices.Clone(d.mask.Pix)
			want := slices.Clone(before)
			how := rapid.IntRange(0, 6).Draw(r, "how")
			shape := &processing.Region{Shape: processing.Shape(rapid.IntRange(0, 2).Draw(r, "shape"))}
			for range 3 {
				shape.Points = append(shape.Points, at(r, "point"))
			}
			if shape.Shape != processing.PolygonShape {
				shape.Points = shape.Points[:2]
			}
			if rapid.Bool().Draw(r, "region") {
				_ = d.SetRegion(shape)
			}
			var dirty image.Rectangle
			if how < 3 {
				if dirty, err = d.FillShape(shape, Combine(how)); err != nil {
					if !slices.Equal(d.mask.Pix, before) {
						r.Fatal("a shape outside the picture changed the mask")
					}
					continue
				}
			}
			enclosed := slowHoles(before, w, h)
			for y := range h {
				for x := range w {
					in := func(s *processing.Region) bool {
						return slices.ContainsFunc(s.Spans(y, w), func(r processing.Run) bool { return r.X0 <= x && x < r.X1 })
					}
					p := &want[y*w+x]
					switch {
					case how < 3 && in(shape) && Combine(how) == Add:
						*p = 255
					case how < 3 && (in(shape) && Combine(how) == Subtract || !in(shape) && Combine(how) == Intersect):
						*p = 0
					case how == 5 && (d.Region() == nil || in(d.Region())):
						*p = 255 - *p
					case how == 6 && (d.Region() == nil || in(d.Region())):
						if enclosed[y*w+x] {
							*p = 255
						}
					case (how == 3 || how == 4) && (d.Region() == nil || in(d.Region())):
						for j := max(y-1, 0); j <= min(y+1, h-1); j++ {
							for i := max(x-1, 0); i <= min(x+1, w-1); i++ {
								if how == 3 {
									*p = max(*p, before[j*w+i])
								} else {
									*p = min(*p, before[j*w+i])
								}
							}
						}
					}
				}
			}
			switch how {
			case 3:
				dirty = d.GrowMask()
			case 4:
				dirty = d.ShrinkMask()
			case 5:
				dirty = d.InvertMask()
			case 6:
				dirty = d.FillHoles()
			}
			if !slices.Equal(d.mask.Pix, want) {
				r.Fatalf("way %d with %s gives another mask", how, shape)
			}
			if slices.Equal(before, want) {
				continue
			}
			for i := range want {
				if want[i] != before[i] && !image.Pt(i%w, i/w).In(dirty) {
					r.Fatalf("pixel %d changed outside %v", i, dirty)
				}
			}
			d.Undo()
			if !slices.Equal(d.mask.Pix, before) {
				r.Fatal("undo does not bring the mask back")
			}
			d.Redo()
		}
	})
}

// slowHoles flood-fills the unmarked pixels from the edge of the picture. The unmarked pixels that remain are holes.
func slowHoles(pix []uint8, w, h int) []bool {
	in := make([]bool, len(pix))
	for i, v := range pix {
		in[i] = v < processing.MaskLevel
	}
	var next []image.Point
	visit := func(x, y int) {
		if x >= 0 && y >= 0 && x < w && y < h && in[y*w+x] {
			in[y*w+x] = false
			next = append(next, image.Pt(x, y))
		}
	}
	for y := range h {
		for x := range w {
			if x == 0 || y == 0 || x == w-1 || y == h-1 {
				visit(x, y)
			}
		}
	}
	for len(next) > 0 {
		p := next[len(next)-1]
		next = next[:len(next)-1]
		visit(p.X-1, p.Y)
		visit(p.X+1, p.Y)
		visit(p.X, p.Y-1)
		visit(p.X, p.Y+1)
	}
	return in
}
