package synth

import (
	"fmt"
	"math"

	"blik/processing"
)

// Luminance weights of linear sRGB (Rec. 709).
const (
	lumaR = 0.2126
	lumaG = 0.7152
	lumaB = 0.0722
)

// Lamp returns the colour of a black body of the given temperature (1667 to 25000 K) in linear sRGB, on a picture
// that was white-balanced for light of the temperature balance, with the largest channel at 1. The chromaticity is
// the cubic fit of Kim et al. (US patent 7,024,034, 2006); the balance divides channel by channel as cameras do.
func Lamp(kelvin, balance float64) [3]float64 {
	a, b := planckian(kelvin), planckian(balance)
	var c [3]float64
	top := 0.0
	for i := range c {
		c[i] = math.Max(a[i], 0) / math.Max(b[i], 1e-3)
		top = math.Max(top, c[i])
	}
	for i := range c {
		c[i] /= top
	}
	return c
}

func planckian(kelvin float64) [3]float64 {
	t := math.Min(math.Max(kelvin, 1667), 25000)
	var x float64
	if t <= 4000 {
		x = -0.2661239e9/(t*t*t) - 0.2343589e6/(t*t) + 0.8776956e3/t + 0.179910
	} else {
		x = -3.0258469e9/(t*t*t) + 2.1070379e6/(t*t) + 0.2226347e3/t + 0.240390
	}
	var y float64
	switch {
	case t <= 2222:
		y = -1.1063814*x*x*x - 1.34811020*x*x + 2.18555832*x - 0.20219683
	case t <= 4000:
		y = -0.9549476*x*x*x - 1.37418593*x*x + 2.09137015*x - 0.16748867
	default:
		y = 3.0817580*x*x*x - 5.87338670*x*x + 3.75112997*x - 0.37001483
	}
	X, Z := x/y, (1-x-y)/y
	return [3]float64{
		3.2406*X - 1.5372 - 0.4986*Z,
		-0.9689*X + 1.8758 + 0.0415*Z,
		0.0557*X - 0.2040 + 1.0570*Z,
	}
}

// curve converts samples to linear light and back by table.
type curve struct {
	transfer processing.Transfer
	// decode holds a value for each 8- or 16-bit sample; nil for float samples.
	decode []float32
	// encode is tabulated over the octaves 2⁻¹²…1, 256 steps each, and interpolated.
	encode []float32
}

const (
	encodeFloor = 1.0 / 4096
	encodeShift = 15
)

func newCurve(depth int, t processing.Transfer) *curve {
	c := &curve{transfer: t}
	if depth != 32 {
		c.decode = make([]float32, 1<<depth)
		for i := range c.decode {
			c.decode[i] = float32(t.Linear(float64(i) / float64(len(c.decode)-1)))
		}
	}
	n := 12*256 + 2
	c.encode = make([]float32, n)
	base := math.Float32bits(encodeFloor)
	for i := range c.encode {
		c.encode[i] = float32(t.Encode(float64(math.Float32frombits(base + uint32(i)<<encodeShift))))
	}
	return c
}

// encoded returns the sample, 0…1, for linear light x; x is clipped to 0…1.
func (c *curve) encoded(x float32) float32 {
	switch {
	case x >= 1:
		return 1
	case x >= encodeFloor:
		b := math.Float32bits(x) - math.Float32bits(encodeFloor)
		i := b >> encodeShift
		f := float32(b&(1<<encodeShift-1)) * (1.0 / (1 << encodeShift))
		return c.encode[i] + (c.encode[i+1]-c.encode[i])*f
	case x > 0:
		return float32(c.transfer.Encode(float64(x)))
	default:
		return 0
	}
}

// decodeRow writes the linear light, 0…1, of picture row y into dst, Width·Channels samples.
func (c *curve) decodeRow(dst []float32, p *processing.Picture, y int) {
	n := p.Width * p.Channels
	dst = dst[:n]
	switch {
	case p.U8 != nil:
		for i, v := range p.U8[y*n : (y+1)*n] {
			dst[i] = c.decode[v]
		}
	case p.U16 != nil:
		for i, v := range p.U16[y*n : (y+1)*n] {
			dst[i] = c.decode[v]
		}
	default:
		for i, v := range p.F32[y*n : (y+1)*n] {
			dst[i] = c.decodeFloat(v)
		}
	}
}

// decodeFloat clips to 0…1; NaN becomes 0.
func (c *curve) decodeFloat(v float32) float32 {
	switch {
	case v >= 1:
		return 1
	case v > 0:
		return float32(c.transfer.Linear(float64(v)))
	default:
		return 0
	}
}

// at returns the linear luminance of one pixel; positions outside are moved to the nearest pixel.
func (c *curve) at(p *processing.Picture, x, y int) float64 {
	x = min(max(x, 0), p.Width-1)
	y = min(max(y, 0), p.Height-1)
	i := (y*p.Width + x) * p.Channels
	sample := func(k int) float64 {
		switch {
		case p.U8 != nil:
			return float64(c.decode[p.U8[i+k]])
		case p.U16 != nil:
			return float64(c.decode[p.U16[i+k]])
		default:
			return float64(c.decodeFloat(p.F32[i+k]))
		}
	}
	if p.Channels == 1 {
		return sample(0)
	}
	return lumaR*sample(0) + lumaG*sample(1) + lumaB*sample(2)
}

// luma returns the linear luminance of the pixel that starts at s[0].
func luma(s []float32, channels int) float32 {
	if channels == 1 {
		return s[0]
	}
	return lumaR*s[0] + lumaG*s[1] + lumaB*s[2]
}

// encodeRow writes linear light into row y of p.
func (c *curve) encodeRow(p *processing.Picture, y int, src []float32) {
	n := p.Width * p.Channels
	c.encodeAt(p, y*n, src[:n])
}

// encodeAt writes linear light into the samples of p from number first on.
func (c *curve) encodeAt(p *processing.Picture, first int, src []float32) {
	for i, v := range src {
		switch {
		case p.U8 != nil:
			p.U8[first+i] = uint8(c.encoded(v)*255 + 0.5)
		case p.U16 != nil:
			p.U16[first+i] = uint16(c.encoded(v)*65535 + 0.5)
		case c.transfer == processing.TransferLinear:
			p.F32[first+i] = min(max(v, 0), 1)
		default:
			p.F32[first+i] = c.encoded(v)
		}
	}
}

// newPicture returns a black picture with the given depth (8, 16 or 32 bits).
func newPicture(w, h, channels, depth int, t processing.Transfer) (*processing.Picture, error) {
	p := &processing.Picture{Width: w, Height: h, Channels: channels, Transfer: t}
	n := w * h * channels
	switch depth {
	case 8:
		p.U8 = make([]uint8, n)
	case 16:
		p.U16 = make([]uint16, n)
	case 32:
		p.F32 = make([]float32, n)
	default:
		return nil, fmt.Errorf("picture of %d bits a sample: 8, 16 or 32 expected", depth)
	}
	return p, nil
}
