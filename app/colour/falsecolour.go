package colour

import (
	"image/color"
	"math"

	"blik/processing/detect"
)

// Scale is a colour scale for measured values, from the lowest value that it distinguishes to the highest.
type Scale [256]color.RGBA

// sequential returns a scale of monotonically increasing brightness, on screen and in grey print, from black through
// blue, green and rose to white (cubehelix: Green 2011).
func sequential() *Scale {
	const start, turns, hue = 0.5, -1.5, 1.0
	var s Scale
	for i := range s {
		l := float64(i) / float64(len(s)-1)
		sin, cos := math.Sincos(2 * math.Pi * (start/3 + turns*l))
		a := hue * l * (1 - l) / 2
		s[i] = color.RGBA{
			byteOf(l + a*(-0.14861*cos+1.78277*sin)), byteOf(l + a*(-0.29227*cos-0.90649*sin)),
			byteOf(l + a*1.97294*cos), 255,
		}
	}
	return &s
}

// signed returns a scale that is black in the middle, blue below and orange to yellow above; these colours can be
// distinguished with any kind of colour vision (Okabe & Ito 2008).
func signed() *Scale {
	below := []color.RGBA{{0, 0, 0, 255}, {0, 114, 178, 255}, {86, 180, 233, 255}}
	above := []color.RGBA{{0, 0, 0, 255}, {213, 94, 0, 255}, {240, 228, 66, 255}}
	var s Scale
	for i := range s {
		t := 2*float64(i)/float64(len(s)-1) - 1
		stops := above
		if t < 0 {
			stops = below
		}
		at := math.Abs(t) * float64(len(stops)-1)
		k := min(int(at), len(stops)-2)
		mix := func(a, b uint8) uint8 { return byteOf((float64(a) + (at-float64(k))*(float64(b)-float64(a))) / 255) }
		a, b := stops[k], stops[k+1]
		s[i] = color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
	}
	return &s
}

func byteOf(share float64) uint8 { return uint8(math.Round(255 * min(max(share, 0), 1))) }

// Nothing is the colour for pixels without a value.
func Nothing() color.RGBA { return color.RGBA{52, 52, 52, 255} }

func ScaleOf(layer *detect.LayerSpec) *Scale {
	if layer.Signed {
		return signed()
	}
	return sequential()
}

// FalseColour returns the conversion of the samples of a detect.LayerMap, as a grey picture of 16 bits.
func FalseColour(layer *detect.LayerSpec) *Screen {
	s := newScreen(1, 16)
	s.colours = new([1 << 16]uint32)
	scale := ScaleOf(layer)
	pack := func(c color.RGBA) uint32 { return uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | opaque }
	for i := range s.colours {
		t := (layer.Value(uint16(i)) - layer.Low) / (layer.High - layer.Low)
		s.colours[i] = pack(scale[byteOf(t)])
	}
	if layer.Sparse {
		s.colours[0] = pack(Nothing())
	}
	return s
}

func falseRow[S uint8 | uint16](s *Screen, dst []uint32, src []S) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = s.colours[v]
	}
}
