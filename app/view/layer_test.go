package view

import (
	"bytes"
	"context"
	"image"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/detect"
)

// A layer is visible under the mask in its area. Elsewhere, and left of the split line, the picture is.
func TestLayerLiesOverThePicture(t *testing.T) {
	t.Parallel()
	r, single := NewRenderer(), NewRenderer()
	rapid.Check(t, func(t *rapid.T) {
		pic := drawPicture(t, rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h"))
		mask := NewMaskPyramid(drawMask(t, pic.Width, pic.Height))
		source, err := NewPyramid(context.Background(), pic,
			WithOrientation(rapid.IntRange(1, 8).Draw(t, "orientation")))
		if err != nil {
			t.Fatal(err)
		}
		v, o := drawView(t, pic.Width, pic.Height), drawOptions(t)
		v.Turn = source.Turn()
		exact := v.Zoom == 1 || v.Zoom >= nearestZoom

		// A map of the whole picture and one of a part, with the same values. Interpolation at the edges of the part
		// differs, so only equal values can be compared there.
		all := image.Rect(0, 0, pic.Width, pic.Height)
		x, y := rapid.IntRange(0, pic.Width-1).Draw(t, "left"), rapid.IntRange(0, pic.Height-1).Draw(t, "top")
		part := image.Rect(x, y, rapid.IntRange(x+1, pic.Width).Draw(t, "right"),
			rapid.IntRange(y+1, pic.Height).Draw(t, "base"))
		if rapid.Bool().Draw(t, "whole") {
			part = all
		}
		spec := rapid.SampledFrom(detect.Layers()).Draw(t, "layer")
		value := func(x, y int) uint16 {
			if !exact {
				return 40000
			}
			return uint16(x*7919+y*104729) | 1
		}
		layer := func(area image.Rectangle) *Pyramid {
			m := &detect.LayerMap{Spec: spec, Rect: area}
			for y := area.Min.Y; y < area.Max.Y; y++ {
				for x := area.Min.X; x < area.Max.X; x++ {
					m.Pix = append(m.Pix, value(x, y))
				}
			}
			p, err := NewLayer(context.Background(), m)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		viewport := image.Rect(3, 2, 66, 50)
		under, over, got := image.NewRGBA(viewport), image.NewRGBA(viewport), image.NewRGBA(viewport)
		single.SetPicture(source, mask)
		single.Render(under, v, o)
		single.SetPicture(layer(all), mask)
		single.Render(over, v, o)

		r.SetPicture(source, mask)
		r.SetLayer(layer(part))
		o.Compare = Compare(rapid.IntRange(0, 2).Draw(t, "compare"))
		o.Split = rapid.IntRange(-5, 70).Draw(t, "split")
		r.Render(got, v, o)
		for i := 0; i < len(got.Pix); i += 4 {
			x, y := i/4%viewport.Dx(), i/4/viewport.Dx()
			size := v.Turn.Upright(image.Pt(pic.Width, pic.Height))
			at := v.Turn.FromUpright(processing.Point{X: shownAt(v.X, v.Zoom, size.X, x), Y: shownAt(v.Y, v.Zoom, size.Y, y)})
			if onTheBrink(v, size, x, y) {
				continue
			}
			want := under
			if o.Compare == CompareAfter || o.Compare == CompareSplit && x >= o.Split {
				if image.Pt(int(math.Floor(at.X)), int(math.Floor(at.Y))).In(part) {
					want = over
				}
			}
			if !bytes.Equal(got.Pix[i:i+4], want.Pix[i:i+4]) {
				t.Fatalf("%v of %v, compare %d, split %d: device pixel (%d, %d) over %v is %v, want %v", part, all,
					o.Compare, o.Split, x, y, at, got.Pix[i:i+4], want.Pix[i:i+4])
			}
		}
		r.SetLayer(nil)
		r.Render(got, v, o)
		if !bytes.Equal(got.Pix, under.Pix) {
			t.Fatal("a layer that was taken away is still seen")
		}
	})
}

// A layer covers the area of its map.
func TestLayerArea(t *testing.T) {
	t.Parallel()
	p, err := NewLayer(context.Background(), &detect.LayerMap{
		Spec: detect.Layers()[0], Rect: image.Rect(5, 7, 8, 9), Pix: make([]uint16, 6),
	})
	if err != nil || p.Area() != image.Rect(5, 7, 8, 9) {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := NewLayer(context.Background(), &detect.LayerMap{Rect: image.Rect(0, 0, 2, 2)}); err == nil {
		t.Error("a map without samples is shown")
	}
}
