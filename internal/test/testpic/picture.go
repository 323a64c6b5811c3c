package testpic

import (
	"image"
	"math"
	"math/rand/v2"

	"blik/processing"
)

// Flat returns a picture of 8 bits in which every sample is value.
func Flat(w, h, channels int, value uint8) *processing.Picture {
	pic := &processing.Picture{Width: w, Height: h, Channels: channels, U8: make([]uint8, w*h*channels)}
	for i := range pic.U8 {
		pic.U8[i] = value
	}
	return pic
}

// Noise returns a picture of independent random samples of 8, 16 or 32 bits, the latter from -0.1 to 1.1; the same
// arguments give the same picture.
func Noise(w, h, channels, depth int) *processing.Picture {
	rnd := rand.New(rand.NewPCG(1, uint64(w)))
	pic := &processing.Picture{Width: w, Height: h, Channels: channels}
	n := w * h * channels
	switch depth {
	case 8:
		pic.U8 = make([]uint8, n)
		for i := range pic.U8 {
			pic.U8[i] = uint8(rnd.Uint32())
		}
	case 16:
		pic.U16 = make([]uint16, n)
		for i := range pic.U16 {
			pic.U16[i] = uint16(rnd.Uint32())
		}
	default:
		pic.F32 = make([]float32, n)
		for i := range pic.F32 {
			pic.F32[i] = rnd.Float32()*1.2 - 0.1
		}
	}
	return pic
}

// Painted returns a picture of 8 or 16 bits with smooth colour gradients under fine noise, like a scan of a painting.
// It also compresses like one.
func Painted(w, h, channels, depth int) *processing.Picture {
	pic := Noise(w, h, channels, depth)
	for i := range w * h * channels {
		x, y, c := i/channels%w, i/channels/w, i%channels
		base := 0.5 + 0.4*math.Sin(float64(x)/(90+40*float64(c))+float64(y)/70)
		if depth == 8 {
			pic.U8[i] = uint8(base*230) + pic.U8[i]/16
		} else {
			pic.U16[i] = uint16(base*60000) + pic.U16[i]/16
		}
	}
	return pic
}

// Specks returns a mask with a glint of 3 × 3 pixels on every thousandth pixel.
func Specks(w, h int) *processing.Mask {
	rnd := rand.New(rand.NewPCG(3, 4))
	m := processing.NewMask(w, h)
	for range w * h / 1000 {
		x, y := rnd.IntN(w-3), rnd.IntN(h-3)
		for j := range 3 {
			for i := range 3 {
				m.Pix[(y+j)*w+x+i] = 255
			}
		}
	}
	return m
}

// Flood returns the pixels of each 8-connected component of the mask. Components come in the order of their first
// pixels.
func Flood(m *processing.Mask) [][]image.Point {
	seen := make([]bool, len(m.Pix))
	var components [][]image.Point
	for start := range m.Pix {
		if m.Pix[start] < processing.MaskLevel || seen[start] {
			continue
		}
		seen[start] = true
		component := []image.Point{{X: start % m.Width, Y: start / m.Width}}
		for i := 0; i < len(component); i++ {
			p := component[i]
			for y := max(p.Y-1, 0); y <= min(p.Y+1, m.Height-1); y++ {
				for x := max(p.X-1, 0); x <= min(p.X+1, m.Width-1); x++ {
					if j := y*m.Width + x; m.Pix[j] >= processing.MaskLevel && !seen[j] {
						seen[j] = true
						component = append(component, image.Pt(x, y))
					}
				}
			}
		}
		components = append(components, component)
	}
	return components
}

// Sample returns a sample as an integer from 0 to most: 255 for 8 bits, else 65535. Floats count from 0 to 1.
func Sample(p *processing.Picture, i int) (v, most float64) {
	switch {
	case p.U8 != nil:
		return float64(p.U8[i]), 255
	case p.U16 != nil:
		return float64(p.U16[i]), 65535
	}
	x := float64(p.F32[i])
	if !(x > 0) {
		x = 0
	}
	return math.Floor(math.Min(x, 1)*65535 + 0.5), 65535
}
