// Package fidelity measures in tests how well a correction restores the paint.
package fidelity

import (
	"fmt"
	"math"

	"blik/processing"
)

// Fidelity says how close a corrected picture comes to the clean one around the glare. Samples count on the scale
// 0…255 at any depth.
type Fidelity struct {
	// PSNR is 10·lg(255²/MSE) over all channels, in dB; 99 if nothing differs.
	PSNR float64
	// SSIM is the structural similarity with a Gaussian window of σ 1.5 and 11 × 11 pixels, mirrored at the border,
	// averaged over pixels and channels (Wang, Bovik, Sheikh & Simoncelli 2004).
	SSIM float64
	// Pixels is the number of pixels compared.
	Pixels int
}

// Measure compares corrected with clean inside the truth, dilated by a disc of radius ring. The three must have the
// same size, and the two pictures the same number of channels.
func Measure(corrected, clean *processing.Picture, truth *processing.Mask, ring int) (Fidelity, error) {
	for _, p := range []*processing.Picture{corrected, clean} {
		if err := p.Validate(); err != nil {
			return Fidelity{}, err
		}
		if p.Width != truth.Width || p.Height != truth.Height || p.Channels != clean.Channels {
			return Fidelity{}, fmt.Errorf("a picture of %d × %d pixels and %d channels cannot be measured against "+
				"one of %d × %d and %d",
				p.Width, p.Height, p.Channels, truth.Width, truth.Height, clean.Channels)
		}
	}
	region := disc(truth, ring)
	var f Fidelity
	var squares, similar float64
	ch := clean.Channels
	s := newSimilarity(corrected, clean)
	for i, in := range region {
		if !in {
			continue
		}
		f.Pixels++
		for k := range ch {
			d := level(corrected, i*ch+k) - level(clean, i*ch+k)
			squares += d * d
			similar += s.at(i%truth.Width, i/truth.Width, k)
		}
	}
	f.PSNR, f.SSIM = 99, 1
	if n := float64(f.Pixels * ch); n > 0 {
		f.SSIM = similar / n
		if squares > 0 {
			f.PSNR = 10 * math.Log10(255*255*n/squares)
		}
	}
	return f, nil
}

// level returns a sample on the scale 0…255.
func level(p *processing.Picture, i int) float64 {
	switch {
	case p.U8 != nil:
		return float64(p.U8[i])
	case p.U16 != nil:
		return float64(p.U16[i]) / 257
	default:
		return float64(p.F32[i]) * 255
	}
}

// disc marks the pixels within r of glare: at offsets dx² + dy² ≤ r² + ½.
func disc(m *processing.Mask, r int) []bool {
	out := make([]bool, len(m.Pix))
	for i, v := range m.Pix {
		if v < processing.MaskLevel {
			continue
		}
		x, y := i%m.Width, i/m.Width
		for dy := -r; dy <= r; dy++ {
			if y+dy < 0 || y+dy >= m.Height {
				continue
			}
			reach := int(math.Sqrt(float64(r*r-dy*dy) + 0.5))
			for u := max(x-reach, 0); u <= min(x+reach, m.Width-1); u++ {
				out[(y+dy)*m.Width+u] = true
			}
		}
	}
	return out
}

// similarity computes the structural similarity of two pictures pixel by pixel.
type similarity struct {
	a, b *processing.Picture
	taps [11]float64
}

func newSimilarity(a, b *processing.Picture) *similarity {
	s := &similarity{a: a, b: b}
	var sum float64
	for i := range s.taps {
		d := float64(i - len(s.taps)/2)
		s.taps[i] = math.Exp(-d * d / (2 * 1.5 * 1.5))
		sum += s.taps[i]
	}
	for i := range s.taps {
		s.taps[i] /= sum
	}
	return s
}

func (s *similarity) at(x, y, channel int) float64 {
	const c1, c2 = (0.01 * 255) * (0.01 * 255), (0.03 * 255) * (0.03 * 255)
	w, h, ch := s.a.Width, s.a.Height, s.a.Channels
	var columns [len(s.taps)]int
	for i := range columns {
		columns[i] = mirror(x+i-len(s.taps)/2, w)*ch + channel
	}
	var ma, mb, aa, bb, ab float64
	for j, v := range s.taps {
		row := mirror(y+j-len(s.taps)/2, h) * w * ch
		for i, u := range s.taps {
			at := row + columns[i]
			p, q := level(s.a, at), level(s.b, at)
			t := u * v
			ma += t * p
			mb += t * q
			aa += t * p * p
			bb += t * q * q
			ab += t * p * q
		}
	}
	va, vb, cov := aa-ma*ma, bb-mb*mb, ab-ma*mb
	return (2*ma*mb + c1) * (2*cov + c2) / ((ma*ma + mb*mb + c1) * (va + vb + c2))
}

// mirror reflects an index into 0…n−1 without repeating the edge.
func mirror(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	if i = i % period; i < 0 {
		i += period
	}
	return min(i, period-i)
}
