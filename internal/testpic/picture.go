package testpic

import (
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

// Painted returns a picture of 8 or 16 bits with slow waves of colour under fine noise, as a scan of a painting has
// them. It compresses like one.
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

// Flood returns the pixels of each 8-connected component of the mask as offsets into its samples. Components come in
// the order of their first pixels.
func Flood(m *processing.Mask) [][]int {
	seen := make([]bool, len(m.Pix))
	var components [][]int
	for start := range m.Pix {
		if m.Pix[start] < processing.MaskLevel || seen[start] {
			continue
		}
		seen[start] = true
		component := []int{start}
		for i := 0; i < len(component); i++ {
			x, y := component[i]%m.Width, component[i]/m.Width
			for v := max(y-1, 0); v <= min(y+1, m.Height-1); v++ {
				for u := max(x-1, 0); u <= min(x+1, m.Width-1); u++ {
					if j := v*m.Width + u; m.Pix[j] >= processing.MaskLevel && !seen[j] {
						seen[j] = true
						component = append(component, j)
					}
				}
			}
		}
		components = append(components, component)
	}
	return components
}

// Must fails the test on an error.
func Must(t interface {
	Helper()
	Fatal(args ...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
