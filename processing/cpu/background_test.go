package cpu

import (
	"context"
	"math"
	"math/big"
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

func TestDeviation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		y, mask := noise[uint16](t, w*h, math.MaxUint16), exclusion(t, w, h)
		r := radius(t, 127)
		want := perPixel(w, h, func(x, row int) uint16 {
			var s, s2, n uint64
			clipped(w, h, x, row, r, func(j int) {
				if v := uint64(y[j]); mask[j] == 0 {
					s, s2, n = s+v, s2+v*v, n+1
				}
			})
			if n == 0 {
				return 0
			}
			// ⌊√(V/n²)⌋ = ⌊√⌊V/n²⌋⌋.
			v := new(big.Int).SetUint64(n*s2 - s*s)
			v.Div(v, new(big.Int).SetUint64(n*n))
			return uint16(v.Sqrt(v).Uint64())
		})
		each(t, func(b *Backend) {
			l, e := up(t, b, w, h, y), up(t, b, w, h, mask)
			d := empty(t, b, processing.U16, w, h)
			must(t, b.Do(context.Background(), processing.Deviation{Dst: d, Y: l, Exclude: e, Radius: r}))
			wantEqual(t, workersLabel(b), w, down[uint16](t, d), want)
			release(d, l, e)
		})
	})
}

// Half black, half white in the largest window gives the largest possible sum of squares.
func TestDeviationExtreme(t *testing.T) {
	const side = 255
	y := make([]uint16, side*side)
	for i := range y {
		y[i] = uint16(i%2) * 65535
	}
	b := New(Workers(2))
	l, e := up(t, b, side, side, y), up(t, b, side, side, make([]uint8, side*side))
	d := empty(t, b, processing.U16, side, side)
	must(t, b.Do(context.Background(), processing.Deviation{Dst: d, Y: l, Exclude: e, Radius: 127}))
	if got := down[uint16](t, d)[127*side+127]; got != 32767 {
		t.Errorf("deviation %d, want 32767", got)
	}
}

// At an exact standard deviation, and just below one, floats alone give the wrong result.
func TestDeviationsRounding(t *testing.T) {
	share := make([]float64, 255*255+1)
	for n := 1; n < len(share); n++ {
		share[n] = 1 / float64(n)
	}
	dst := make([]uint16, 2)
	for n := uint64(1); n < uint64(len(share)); n++ {
		for _, q := range []uint64{1, 3, 1000, 32767} {
			// n·ΣX² − (ΣX)² is (n·q)² in the first window and one less in the second.
			deviations(dst, []uint64{n << countShift, n<<countShift | 1}, []uint64{n * q * q, n * q * q}, share)
			if dst[0] != uint16(q) || dst[1] != uint16(q-1) {
				t.Fatalf("n = %d: deviations %d and %d, want %d and %d", n, dst[0], dst[1], q, q-1)
			}
		}
	}
}
