package cpu

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// exclusion draws masks of all densities, in single pixels and in blocks that leave large windows poor.
func exclusion(t *rapid.T, w, h int) []uint8 {
	seed := rapid.IntRange(1, 1<<20).Draw(t, "mask")
	per := rapid.SampledFrom([]int{0, 1, 30, 60, 90, 99, 100}).Draw(t, "percent")
	grain := rapid.SampledFrom([]int{1, 3, 10, 40}).Draw(t, "grain")
	return perPixel(w, h, func(x, y int) uint8 {
		v := uint32(seed + x/grain*7919 + y/grain*104729)
		v = (v ^ v>>15) * 2246822519
		v = (v ^ v>>13) * 3266489917
		if int(v>>8%100) < per {
			return uint8(v>>24) | 1
		}
		return 0
	})
}

func slowBackground(y []uint16, exclude []uint8, w, h int, radii []int) []uint16 {
	return perPixel(w, h, func(x, row int) uint16 {
		for i, r := range radii {
			var s, n uint64
			clipped(w, h, x, row, r, func(j int) {
				if exclude[j] == 0 {
					s, n = s+uint64(y[j]), n+1
				}
			})
			if last := i == len(radii)-1; !last && 4*n < uint64((2*r+1)*(2*r+1)) {
				continue
			}
			if n > 0 {
				return uint16((s + n/2) / n)
			}
		}
		return y[row*w+x]
	})
}

func TestBackground(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		y, mask := noise[uint16](t, w*h, math.MaxUint16), exclusion(t, w, h)
		radii := rapid.SliceOfN(radiusGen(), 1, 4).Draw(t, "radii")
		slices.Sort(radii)
		want := slowBackground(y, mask, w, h, radii)
		each(t, func(b *Backend) {
			l, e := up(t, b, w, h, y), up(t, b, w, h, mask)
			d := empty(t, b, processing.U16, w, h)
			must(t, b.Do(context.Background(), processing.Background{Dst: d, Y: l, Exclude: e, Radii: radii}))
			wantEqual(t, workersLabel(b), w, down[uint16](t, d), want)
			release(d, l, e)
		})
	})
}

func radiusGen() *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(0, 100))
}

// Windows beyond the table of inverses.
func TestBackgroundLargeWindow(t *testing.T) {
	const w, h = 330, 300
	y, mask := make([]uint16, w*h), make([]uint8, w*h)
	for i := range y {
		y[i] = 65535 - uint16(i*i%5)
		if i%w > 20 && i != w*h/2 {
			mask[i] = 1
		}
	}
	b := New(Workers(2))
	l, e, d := up(t, b, w, h, y), up(t, b, w, h, mask), empty(t, b, processing.U16, w, h)
	radii := []int{3, 150, 2047}
	must(t, b.Do(context.Background(), processing.Background{Dst: d, Y: l, Exclude: e, Radii: radii}))
	got := down[uint16](t, d)
	for _, i := range []int{0, w - 1, w*h/2 + w/2, 17*w + 333, w*h - 1} {
		x, row := i%w, i/w
		var want uint16
		for k, r := range radii {
			var s, n uint64
			clipped(w, h, x, row, r, func(j int) {
				if mask[j] == 0 {
					s, n = s+uint64(y[j]), n+1
				}
			})
			if k < 2 && 4*n < uint64((2*r+1)*(2*r+1)) {
				continue
			}
			want = uint16((s + n/2) / n)
			break
		}
		if got[i] != want {
			t.Errorf("pixel (%d, %d): %d, want %d", x, row, got[i], want)
		}
	}
}
