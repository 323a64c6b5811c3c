package experiment

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOrders(t *testing.T) {
	t.Parallel()
	side := rapid.OneOf(rapid.SampledFrom([]int{1, 2, 127, 128, 129, 256}), rapid.IntRange(1, 400))
	rapid.Check(t, func(t *rapid.T) {
		w, h := side.Draw(t, "w"), side.Draw(t, "h")
		var raster, hilbert []uint32
		for y := range h {
			for x := range w {
				raster = append(raster, uint32(y)<<16|uint32(x))
			}
		}
		c := curve{w, h, CurveOrder(w, h)}
		for d := range c.positions() {
			if x, y := c.at(d); x < w && y < h {
				hilbert = append(hilbert, uint32(y)<<16|uint32(x))
			}
		}
		if !slices.Equal(RasterOrder(context.Background(), w, h), raster) {
			t.Fatalf("%d × %d: not in raster order", w, h)
		}
		if !slices.Equal(HilbertOrder(context.Background(), w, h), hilbert) {
			t.Fatalf("%d × %d: not along the curve", w, h)
		}
	})
}

func TestCheckOrder(t *testing.T) {
	t.Parallel()
	for s, ok := range map[Size]bool{{1 << 16, 1 << 16}: true, {1<<16 + 1, 1}: false, {1, 1<<16 + 1}: false} {
		if err := CheckOrder(s); (err == nil) != ok {
			t.Errorf("%s: %v", s, err)
		}
	}
}
