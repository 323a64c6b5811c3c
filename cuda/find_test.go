//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"bytes"
	"slices"
	"testing"

	"blik/processing"
	"blik/processing/network"
)

// A picture processed part by part while it is uploaded gives the same as one that is uploaded first.
func TestOverlap(t *testing.T) {
	dev := gpu(t)
	model, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	defer func(was int64) { dev.overlap = was }(dev.overlap)
	heights := []int{60, 1, 4, 333, 127, 900, 2600}
	if testing.Short() {
		heights = heights[:4]
	}
	for i, h := range heights {
		pic := glaring(t, 19+i, h, 8+8*(i%2), uint64(i), 4)
		var planes [2][5][]uint8
		for k, overlap := range []int64{1 << 40, 0} {
			dev.overlap = overlap
			var p [5]processing.Plane
			for j := range p {
				if p[j], err = dev.Alloc(processing.U8, pic.Width, h); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := dev.FindGlints(background, processing.Luminance{
				Red: p[0], Green: p[1], Blue: p[2], Picture: pic, Tables: pic.Tables(),
			}, processing.Glints{
				Dst: p[3], Kinds: p[4], Red: p[0], Green: p[1], Blue: p[2], Model: model,
			}, "network"); err != nil {
				t.Fatal(err)
			}
			for j := range p {
				s, err := dev.Host(background, p[j])
				if err != nil {
					t.Fatal(err)
				}
				planes[k][j] = slices.Clone(s.U8)
				p[j].Release()
			}
		}
		for j := range planes[0] {
			if !bytes.Equal(planes[0][j], planes[1][j]) {
				t.Errorf("%d rows: plane %d differs", h, j)
			}
		}
	}
}

// Everything at once gives what the operations give one after the other.
func TestFindGlints(t *testing.T) {
	dev := gpu(t)
	model, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	defer func(was int64) { dev.overlap = was }(dev.overlap)
	dev.overlap = 0
	for _, size := range [][2]int{{70, 61}, {1, 1}, {131, 1100}} {
		if testing.Short() && size[1] > 1000 {
			continue
		}
		pic := glaring(t, size[0], size[1], 8, uint64(size[0]), 4)
		var p [5]processing.Plane
		for j := range p {
			if p[j], err = dev.Alloc(processing.U8, pic.Width, pic.Height); err != nil {
				t.Fatal(err)
			}
			defer p[j].Release()
		}
		l := processing.Luminance{Red: p[0], Green: p[1], Blue: p[2], Picture: pic, Tables: pic.Tables()}
		g := processing.Glints{Dst: p[3], Kinds: p[4], Red: p[0], Green: p[1], Blue: p[2], Model: model}
		spans, props, err := dev.FindGlints(background, l, g, "network")
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []processing.Op{l, g} {
			if err := dev.Do(background, op); err != nil {
				t.Fatal(err)
			}
		}
		c, err := processing.Evaluate(background, dev, processing.Label{Class: p[3], Bits: 255})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
		want, err := processing.Evaluate(background, dev, processing.Spans{Components: c})
		if err != nil {
			t.Fatal(err)
		}
		wantProps, err := processing.Evaluate(background, dev, processing.MeasureGlints{
			Components: c, Logits: p[3], Kinds: p[4], Red: p[0], Green: p[1], Blue: p[2],
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(spans, want) || !slices.Equal(props, wantProps) || size[0] > 1 && len(spans) == 0 {
			t.Errorf("%v: %d spans of %d components, want %d of %d", size, len(spans), len(props), len(want), len(wantProps))
		}
		g.Kinds = nil
		if _, _, err := dev.FindGlints(background, l, g, "network"); err == nil {
			t.Error("no error without a plane for kinds")
		}
	}
}
