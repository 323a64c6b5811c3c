package tones

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blik/internal/simd"
)

// obvious does what Read does, one pixel at a time.
func obvious[S Sample](v *Window[S]) (tones []Tone, s Sum) {
	for y := range v.H {
		for x := range v.W {
			p := v.Pix[y*v.Stride+3*x:]
			r, g, b := uint64(v.Linear[p[0]]), uint64(v.Linear[p[1]]), uint64(v.Linear[p[2]])
			light := (Red*r + Green*g + Blue*b + 32768) / 65536
			tones = append(tones, Of(uint16(light), uint16(min(r, g, b))))
			if v.Free[y*((v.W+63)/64)+x/64]>>(x%64)&1 == 1 {
				s.Join(&Sum{1, r, g, b, light, min(r, g, b), light * light})
			}
		}
	}
	return tones, s
}

// The kernels of all levels agree with the obvious implementation on windows of all widths, including windows that end
// where the picture does.
func TestReadAndCount(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	linear := make([]uint16, 256)
	for round := range 400 {
		for i := range linear {
			linear[i] = uint16(r.Uint32())
			if round%7 == 0 {
				linear[i] = 65535
			}
		}
		w, h := 1+r.IntN(150), 1+r.IntN(12)
		v := &Window[uint8]{W: 1 + r.IntN(w), H: h, Stride: 3 * w, Linear: linear}
		v.Pix = make([]uint8, 3*w*h)[3*r.IntN(w-v.W+1):]
		for i := range v.Pix {
			v.Pix[i] = uint8(r.Uint32())
		}
		v.Free = make([]uint64, (v.W+63)/64*h)
		for i := range v.Free {
			// Bits beyond the width are ignored.
			v.Free[i] = r.Uint64() | uint64(-int64(round%2))
		}
		want, sum := obvious(v)
		own := make([]uint8, len(want))
		for i := range own {
			own[i] = uint8(max(r.IntN(5)-2, 0))
		}
		half, from := 16*r.IntN(2), r.IntN(65537)
		crowd, around := 0, 0
		for i, o := range own {
			level := want[i].Dark()
			if half == 16 {
				level = want[i].Y()
			}
			if o == 0 {
				around++
				if int(level) >= from {
					crowd++
				}
			}
		}
		sixteen := &Window[uint16]{
			W: v.W, H: v.H, Stride: v.Stride, Free: v.Free, Linear: make([]uint16, 65536), Pix: make([]uint16, len(v.Pix)),
		}
		for i := range sixteen.Linear {
			sixteen.Linear[i] = uint16(r.Uint32())
		}
		for i := range sixteen.Pix {
			sixteen.Pix[i] = uint16(r.Uint32())
		}
		want16, sum16 := obvious(sixteen)
		got16 := make([]Tone, len(want16), len(want16)+Slack)
		if s := new(Reader).Read16(got16, sixteen); s != sum16 || !slices.Equal(got16, want16) {
			t.Fatalf("16 bits, %d × %d: the sum is %v, want %v", v.W, v.H, s, sum16)
		}
		for level := simd.Plain; level <= simd.Chosen(); level++ {
			reader := &Reader{}
			reader.read, reader.count = kernelsOf(level)
			got := make([]Tone, len(want), len(want)+Slack)
			if s := reader.Read(got, v); s != sum || !slices.Equal(got, want) {
				t.Fatalf("%v, %d × %d: the sum is %v, want %v", level, v.W, v.H, s, sum)
			}
			if c, a := reader.Count(own, got, half, from); c != crowd || a != around {
				t.Fatalf("%v: %d of %d, want %d of %d", level, c, a, crowd, around)
			}
		}
	}
}

// Sums of a large white window do not overflow.
func TestLargeWindow(t *testing.T) {
	t.Parallel()
	const w, h = 3000, 900
	v := &Window[uint8]{
		W: w, H: h, Stride: 3 * w, Linear: slices.Repeat([]uint16{65535}, 256), Pix: make([]uint8, 3*w*h),
		Free: make([]uint64, (w+63)/64*h),
	}
	for i := range v.Pix {
		v.Pix[i] = 255
	}
	for i := range v.Free {
		v.Free[i] = 1<<64 - 1
	}
	const n, white = w * h, 65535
	var r Reader
	want := Sum{n, n * white, n * white, n * white, n * white, n * white, n * white * white}
	if got := r.Read(make([]Tone, n, n+Slack), v); got != want {
		t.Errorf("the sum is %v, want %v", got, want)
	}
}

func BenchmarkRead(b *testing.B) {
	const w, h, across = 4000, 400, 26
	r := rand.New(rand.NewPCG(5, 6))
	pix := make([]uint8, 3*w*h)
	for i := range pix {
		pix[i] = uint8(r.Uint32())
	}
	v := &Window[uint8]{
		W: across, H: across, Stride: 3 * w, Linear: make([]uint16, 256), Free: make([]uint64, across),
	}
	for level := simd.Plain; level <= simd.Chosen(); level++ {
		b.Run(level.String(), func(b *testing.B) {
			reader := &Reader{}
			reader.read, reader.count = kernelsOf(level)
			dst, own := make([]Tone, across*across, across*across+Slack), make([]uint8, across*across)
			b.SetBytes(across * across)
			for i := 0; b.Loop(); i++ {
				v.Pix = pix[i*97%(w-across)*3:]
				reader.Read(dst, v)
				reader.Count(own, dst, 16, 30000)
			}
		})
	}
}
