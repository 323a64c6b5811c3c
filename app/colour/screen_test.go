package colour

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

// half is the definition of HalfRow for a profile without tables: means of linear light, then the matrix and the curve.
func half(p *Profile, pic *processing.Picture, x, y int) (rgb [3]float64) {
	var sum [3]float64
	n := 0.0
	for j := 2 * y; j < min(2*y+2, pic.Height); j++ {
		for i := 2 * x; i < min(2*x+2, pic.Width); i++ {
			at := (j*pic.Width + i) * pic.Channels
			var v [4]float64
			for k := range pic.Channels {
				v[k] = float64(pic.U16[at+k]) / 65535
			}
			switch pic.Channels {
			case 1:
				v[1], v[2] = v[0], v[0]
			case 4:
				for k := range 3 {
					v[k] = (1 - v[k]) * (1 - v[3])
				}
			}
			for k := range sum {
				sum[k] += p.linear[k](v[k])
			}
			n++
		}
	}
	for k := range sum {
		sum[k] /= n
	}
	for k, s := range encode(p.toScreen.apply(sum)) {
		rgb[k] = s * 255
	}
	return rgb
}

func TestHalfRow(t *testing.T) {
	gamma, _ := FromGamma(1, 1.8)
	profiles := map[int]*Profile{1: gamma, 3: mustProfile(t, spaces()[3].profile(2)), 4: FromPicture(&processing.Picture{Channels: 4})}
	screens := map[int]*Screen{}
	for c, p := range profiles {
		screens[c] = p.Screen(16)
	}
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")
		p := profiles[channels]
		pic := testpic.Noise(rapid.SampledFrom([]int{1, 2, 3, 127, 128, 129, 700}).Draw(t, "w"), rapid.IntRange(1, 5).Draw(t, "h"), channels, 16)
		floats := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: channels}
		for _, v := range pic.U16 {
			floats.F32 = append(floats.F32, float32(v)/65535)
		}
		got, same := make([]uint32, (pic.Width+1)/2), make([]uint32, (pic.Width+1)/2)
		for y := range (pic.Height + 1) / 2 {
			screens[channels].HalfRow(got, pic, y)
			screens[channels].HalfRow(same, floats, y)
			for x, v := range got {
				for k, want := range half(p, pic, x, y) {
					// Near black 1/65535 of light is a twentieth of a level.
					if s := float64(uint8(v >> (8 * k))); math.Abs(s-want) > 0.7 || v>>24 != 255 {
						t.Fatalf("pixel %d, %d channel %d is %v, want %.2f", x, y, k, s, want)
					}
				}
				if v != same[x] {
					t.Fatalf("pixel %d, %d is %08x of 16 bits and %08x of floats", x, y, v, same[x])
				}
			}
		}
	})
}

// Any part of a row is that of the whole, at every depth, through tables too.
func TestPartOfARow(t *testing.T) {
	e := encodings()[1]
	profiles := []*Profile{
		SRGB(), SRGB().For(1), FromPicture(&processing.Picture{Channels: 4}), mustProfile(t, spaces()[2].profile(2)),
		mustProfile(t, e.profile(3, 3)), mustProfile(t, e.profile(4, 3)),
	}
	for _, p := range profiles {
		for _, depth := range []int{8, 16, 32} {
			s := p.Screen(depth)
			pic := testpic.Noise(801, 2, p.Channels, depth)
			whole := make([]uint32, pic.Width)
			s.Row(whole, pic, 1, 0)
			for _, c := range []struct{ x0, n int }{{0, 1}, {800, 1}, {3, 0}, {1, 799}, {256, 257}, {340, 342}} {
				part := make([]uint32, c.n)
				s.Row(part, pic, 1, c.x0)
				for i, v := range part {
					if v != whole[c.x0+i] {
						t.Fatalf("%d channels of %d bits: pixel %d of %d from %d is %08x, in the whole row %08x", p.Channels, depth, i, c.n, c.x0, v, whole[c.x0+i])
					}
				}
			}
			// Halves of equal rows and columns are the pixels themselves, within the rounding of light.
			twice := testpic.Noise(2, 1, p.Channels, depth)
			switch depth {
			case 8:
				copy(twice.U8[p.Channels:], twice.U8)
			case 16:
				copy(twice.U16[p.Channels:], twice.U16)
			default:
				copy(twice.F32[p.Channels:], twice.F32)
			}
			one, mean := make([]uint32, 1), make([]uint32, 1)
			s.Row(one, twice, 0, 0)
			s.HalfRow(mean, twice, 0)
			if one[0] != mean[0] {
				t.Errorf("%d channels of %d bits: the mean of equal pixels %08x is %08x", p.Channels, depth, one[0], mean[0])
			}
		}
	}
}

func BenchmarkScreen(b *testing.B) {
	e := encoding{"mft2", true, 2}
	profiles := map[string]*Profile{
		"sRGB": SRGB(), "matrix": mustProfile(b, spaces()[2].profile(2)), "RGB tables": mustProfile(b, e.profile(3, 33)),
		"CMYK": FromPicture(&processing.Picture{Channels: 4}), "CMYK tables": mustProfile(b, e.profile(4, 9)),
	}
	const w, h = 4000, 250
	for name, p := range profiles {
		for _, depth := range []int{8, 16} {
			pic := testpic.Painted(w, h, p.Channels, depth)
			s := p.Screen(depth)
			line := make([]uint32, w)
			b.Run(fmt.Sprintf("%s/%d-bit/row", name, depth), func(b *testing.B) {
				b.SetBytes(w * h)
				for b.Loop() {
					for y := range h {
						s.Row(line, pic, y, 0)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%d-bit/half", name, depth), func(b *testing.B) {
				b.SetBytes(w * h)
				for b.Loop() {
					for y := range h / 2 {
						s.HalfRow(line[:w/2], pic, y)
					}
				}
			})
		}
		b.Run(name+"/tables", func(b *testing.B) {
			for b.Loop() {
				p.Screen(16)
			}
		})
	}
}
