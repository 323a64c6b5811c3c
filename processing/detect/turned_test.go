package detect_test

import (
	"image"
	"math"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// turned returns a picture in one of eight orientations, and where it takes a place of the original.
func turned(p *processing.Picture, orientation int) (*processing.Picture, func(x, y float64) (float64, float64)) {
	w, h := p.Width, p.Height
	to := func(x, y float64) (float64, float64) {
		if orientation&1 != 0 {
			x = float64(p.Width) - x
		}
		if orientation&2 != 0 {
			y = float64(p.Height) - y
		}
		if orientation&4 != 0 {
			x, y = y, x
		}
		return x, y
	}
	if orientation&4 != 0 {
		w, h = h, w
	}
	q := &processing.Picture{Width: w, Height: h, Channels: 3, U8: make([]uint8, len(p.U8)), Transfer: p.Transfer}
	for y := range p.Height {
		for x := range p.Width {
			u, v := to(float64(x)+0.5, float64(y)+0.5)
			copy(q.U8[3*(int(v)*w+int(u)):][:3], p.U8[3*(y*p.Width+x):])
		}
	}
	return q, to
}

// cut returns the part of a picture without its first columns and rows.
func cut(p *processing.Picture, left, top int) *processing.Picture {
	q := &processing.Picture{Width: p.Width - left, Height: p.Height - top, Channels: 3, Transfer: p.Transfer}
	for y := top; y < p.Height; y++ {
		q.U8 = append(q.U8, p.U8[3*(y*p.Width+left):3*(y+1)*p.Width]...)
	}
	return q
}

// agreement counts findings of two detections that lie within four pixels of one of the other, and all.
type agreement struct{ common, all int }

func (a *agreement) add(one, other [][2]float64) {
	near := func(of, to [][2]float64) (n int) {
		for _, p := range of {
			for _, q := range to {
				if math.Hypot(p[0]-q[0], p[1]-q[1]) <= 4 {
					n++
					break
				}
			}
		}
		return n
	}
	a.common += 2 * min(near(one, other), near(other, one))
	a.all += len(one) + len(other)
}

func (a *agreement) f1() float64 { return float64(a.common) / float64(a.all) }

// The same picture turned, mirrored or cropped with a margin finds much the same glare: F1 of at least 0.95.
// Docs/network.md says what differs, and why.
func TestTurnedAndCropped(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	places := func(p *processing.Picture, inside image.Rectangle, to func(x, y float64) (float64, float64)) [][2]float64 {
		var list [][2]float64
		for _, f := range detected(t, p).Findings {
			if x, y := to(f.X, f.Y); image.Pt(int(x), int(y)).In(inside) {
				list = append(list, [2]float64{x, y})
			}
		}
		return list
	}
	same := func(x, y float64) (float64, float64) { return x, y }
	var turns, crops agreement
	for _, path := range testpic.SharedFiles(t, "glare-real/*_image.png") {
		pic := testpic.RGB(t, path)
		whole := image.Rect(0, 0, pic.Width, pic.Height)
		own := places(pic, whole, same)
		for orientation := 1; orientation < 8; orientation++ {
			other, to := turned(pic, orientation)
			var moved [][2]float64
			for _, p := range own {
				x, y := to(p[0], p[1])
				moved = append(moved, [2]float64{x, y})
			}
			turns.add(moved, places(other, image.Rect(0, 0, other.Width, other.Height), same))
		}
		// What lies near the new border is seen differently with good reason.
		const margin = 128
		for _, at := range [][2]int{{1, 0}, {2, 3}, {5, 4}, {8, 8}} {
			inside := image.Rect(at[0]+margin, at[1]+margin, pic.Width, pic.Height)
			crops.add(places(pic, inside, same), places(cut(pic, at[0], at[1]), inside,
				func(x, y float64) (float64, float64) { return x + float64(at[0]), y + float64(at[1]) }))
		}
	}
	t.Logf("F1 of the findings: turned and mirrored %.3f, cropped %.3f", turns.f1(), crops.f1())
	if turns.f1() < 0.95 || crops.f1() < 0.95 {
		t.Error("findings depend more on how the picture lies than they did")
	}
}
