package synth

import (
	"context"
	"fmt"

	"blik/processing"
)

// Variation is a change in the way a picture is taken and stored. The zero value changes nothing.
type Variation struct {
	// Scale is 0.5 or 2: half size by averaging 2 × 2 pixels, double size by cubic convolution (Keys 1981), both in
	// linear light. 0 and 1 keep the size. Half an odd side is rounded up; the last pixels average the available ones.
	Scale float64
	// BlurSigma is the standard deviation of a Gaussian blur in linear light, in pixels of the given picture. It comes
	// before the scaling.
	BlurSigma float64
	// Depth is 8, 16 or 32 bits; 0 keeps it.
	Depth int
	// Grey makes one channel of linear luminance.
	Grey bool
	// JPEGQuality, 1…100, sends the result through a JPEG file; the depth must be 8 bits. 0 does not.
	JPEGQuality int
	// Clean is the same picture without glare, or nil. With it the truth after blur and scaling follows from the
	// definition of visible glare (see Visible), near the given mask; without it the mask is only resampled, so that
	// it stays where a blur would widen or extinguish the glint.
	Clean *processing.Picture
}

// Vary returns a varied copy of pic and the truth that belongs to it. It returns the context's error when cancelled,
// and an error for a picture, mask or variation that do not fit each other.
func Vary(
	ctx context.Context, pic *processing.Picture, mask *processing.Mask, v Variation,
) (*processing.Picture, *processing.Mask, error) {
	if err := v.check(pic, mask); err != nil {
		return nil, nil, fmt.Errorf("vary: %w", err)
	}
	depth := v.Depth
	if depth == 0 {
		depth = pic.Depth()
	}
	light := linearPlane(pic, v.Grey)
	truth := &plane{w: pic.Width, h: pic.Height, ch: 1, pix: make([]float32, pic.Width*pic.Height)}
	for i, m := range mask.Pix {
		if m >= processing.MaskLevel {
			truth.pix[i] = 1
		}
	}
	optics := func(p *plane) (*plane, error) {
		if v.BlurSigma > 0 {
			p = p.blurred(v.BlurSigma)
		}
		return p.scaled(v.Scale), ctx.Err()
	}
	light, err := optics(light)
	if err != nil {
		return nil, nil, err
	}
	var m *processing.Mask
	if v.Clean == nil {
		m = truth.scaled(v.Scale).mask()
	} else {
		clean, err := optics(linearPlane(v.Clean, v.Grey))
		if err != nil {
			return nil, nil, err
		}
		near := truth.dilated(1 + blurRadius(v.BlurSigma)).scaled(v.Scale)
		m = near.mask()
		for i := range m.Pix {
			before, after := luma(clean.pix[i*clean.ch:], clean.ch), luma(light.pix[i*light.ch:], light.ch)
			if m.Pix[i] != 0 && !Visible(before, after) {
				m.Pix[i] = 0
			}
		}
	}
	out, err := newPicture(light.w, light.h, light.ch, depth, pic.Transfer)
	if err != nil {
		return nil, nil, err
	}
	c := newCurve(depth, pic.Transfer)
	eachRow(light.h, func(y int) { c.encodeRow(out, y, light.pix[y*light.w*light.ch:]) })
	if v.JPEGQuality > 0 {
		if out, err = throughJPEG(out, v.JPEGQuality); err != nil {
			return nil, nil, fmt.Errorf("vary: %w", err)
		}
	}
	return out, m, ctx.Err()
}

func (v *Variation) check(pic *processing.Picture, mask *processing.Mask) error {
	if err := pic.Validate(); err != nil {
		return err
	}
	if mask.Width != pic.Width || mask.Height != pic.Height || len(mask.Pix) != pic.Width*pic.Height {
		return fmt.Errorf("the mask has %d × %d pixels, the picture %d × %d", mask.Width, mask.Height, pic.Width,
			pic.Height)
	}
	if v.Clean != nil {
		if err := v.Clean.Validate(); err != nil {
			return fmt.Errorf("clean picture: %w", err)
		}
		if v.Clean.Width != pic.Width || v.Clean.Height != pic.Height || v.Clean.Channels != pic.Channels {
			return fmt.Errorf("the clean picture has %d × %d pixels in %d channels, the picture %d × %d in %d",
				v.Clean.Width, v.Clean.Height, v.Clean.Channels, pic.Width, pic.Height, pic.Channels)
		}
	}
	depth := v.Depth
	if depth == 0 {
		depth = pic.Depth()
	}
	switch {
	case v.Scale != 0 && v.Scale != 0.5 && v.Scale != 1 && v.Scale != 2:
		return fmt.Errorf("scale %g is none of 0.5, 1 and 2", v.Scale)
	case !(v.BlurSigma >= 0 && v.BlurSigma <= 20):
		return fmt.Errorf("blur σ %g is not within 0…20", v.BlurSigma)
	case v.JPEGQuality < 0 || v.JPEGQuality > 100:
		return fmt.Errorf("JPEG quality %d is not within 1…100", v.JPEGQuality)
	case v.JPEGQuality > 0 && depth != 8:
		return fmt.Errorf("JPEG holds 8-bit samples, the depth is %d bits", depth)
	}
	return nil
}

// plane is linear light with interleaved channels.
type plane struct {
	w, h, ch int
	pix      []float32
}

func linearPlane(p *processing.Picture, grey bool) *plane {
	c := newCurve(p.Depth(), p.Transfer)
	n := p.Width * p.Channels
	out := &plane{w: p.Width, h: p.Height, ch: p.Channels}
	if !grey || p.Channels == 1 {
		out.pix = make([]float32, p.Height*n)
		eachRow(p.Height, func(y int) { c.decodeRow(out.pix[y*n:(y+1)*n], p, y) })
		return out
	}
	out.ch = 1
	out.pix = make([]float32, p.Width*p.Height)
	eachRow(p.Height, func(y int) {
		row := make([]float32, n)
		c.decodeRow(row, p, y)
		for x := range p.Width {
			out.pix[y*p.Width+x] = luma(row[3*x:], 3)
		}
	})
	return out
}

func (p *plane) blurred(sigma float64) *plane {
	k := gaussianKernel(sigma)
	n := p.w * p.ch
	rows := make([]float32, len(p.pix))
	eachRow(p.h, func(y int) { blurRow(rows[y*n:(y+1)*n], p.pix[y*n:(y+1)*n], p.w, p.ch, k) })
	out := &plane{w: p.w, h: p.h, ch: p.ch, pix: make([]float32, len(p.pix))}
	eachRow(p.h, func(y int) {
		dst := out.pix[y*n : (y+1)*n]
		for i, t := range k {
			src := rows[reflect(y-len(k)/2+i, p.h)*n:][:n]
			for x := range dst {
				dst[x] += t * src[x]
			}
		}
	})
	return out
}

// scaled returns p at half or double size, or p itself.
func (p *plane) scaled(scale float64) *plane {
	switch scale {
	case 0.5:
		return p.halved()
	case 2:
		return p.doubledRows().transposed().doubledRows().transposed()
	default:
		return p
	}
}

func (p *plane) halved() *plane {
	out := &plane{w: (p.w + 1) / 2, h: (p.h + 1) / 2, ch: p.ch}
	out.pix = make([]float32, out.w*out.h*out.ch)
	eachRow(out.h, func(y int) {
		for x := range out.w {
			for c := range p.ch {
				var sum, n float32
				for j := 2 * y; j < min(2*y+2, p.h); j++ {
					for i := 2 * x; i < min(2*x+2, p.w); i++ {
						sum += p.pix[(j*p.w+i)*p.ch+c]
						n++
					}
				}
				out.pix[(y*out.w+x)*p.ch+c] = sum / n
			}
		}
	})
	return out
}

// doubledRows doubles the width. Output pixels lie a quarter of a pixel to either side of the input ones, where
// cubic convolution with a = −½ has these weights; the border repeats.
func (p *plane) doubledRows() *plane {
	near := [4]float32{-0.0703125, 0.8671875, 0.2265625, -0.0234375}
	out := &plane{w: 2 * p.w, h: p.h, ch: p.ch, pix: make([]float32, 2*len(p.pix))}
	eachRow(p.h, func(y int) {
		row := p.pix[y*p.w*p.ch : (y+1)*p.w*p.ch]
		dst := out.pix[y*out.w*p.ch : (y+1)*out.w*p.ch]
		for x := range p.w {
			for c := range p.ch {
				var left, right float32
				for k, t := range near {
					right += t * row[min(max(x-1+k, 0), p.w-1)*p.ch+c]
					left += t * row[min(max(x+1-k, 0), p.w-1)*p.ch+c]
				}
				dst[2*x*p.ch+c] = min(max(left, 0), 1)
				dst[(2*x+1)*p.ch+c] = min(max(right, 0), 1)
			}
		}
	})
	return out
}

func (p *plane) transposed() *plane {
	out := &plane{w: p.h, h: p.w, ch: p.ch, pix: make([]float32, len(p.pix))}
	// Tiles keep both sides within a processor's cache.
	const side = 32
	eachRow((p.h+side-1)/side, func(j int) {
		for i := 0; i < p.w; i += side {
			for y := j * side; y < min((j+1)*side, p.h); y++ {
				for x := i; x < min(i+side, p.w); x++ {
					copy(out.pix[(x*p.h+y)*p.ch:(x*p.h+y)*p.ch+p.ch], p.pix[(y*p.w+x)*p.ch:])
				}
			}
		}
	})
	return out
}

// dilated returns the maximum over squares of radius r.
func (p *plane) dilated(r int) *plane {
	rows := func(p *plane) *plane {
		out := &plane{w: p.w, h: p.h, ch: p.ch, pix: make([]float32, len(p.pix))}
		eachRow(p.h, func(y int) {
			for x := range p.w {
				if v := p.pix[y*p.w+x]; v > 0 {
					for i := max(x-r, 0); i <= min(x+r, p.w-1); i++ {
						out.pix[y*p.w+i] = max(v, out.pix[y*p.w+i])
					}
				}
			}
		})
		return out
	}
	return rows(rows(p).transposed()).transposed()
}

// mask marks where a single-channel plane is at least one half.
func (p *plane) mask() *processing.Mask {
	m := processing.NewMask(p.w, p.h)
	for i, v := range p.pix {
		if v >= 0.5 {
			m.Pix[i] = 255
		}
	}
	return m
}
