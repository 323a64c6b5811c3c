package experiment

import (
	"context"
	"math"

	"blik/internal/parallel"
	"blik/lab/synth"
	"blik/processing"
)

// source is the picture from which inputs are made: grey, extended by mirroring. It is painted on first use.
type source struct {
	pic  *processing.Picture
	grey []uint8
	w, h int
}

func newSource(pic *processing.Picture) *source { return &source{pic: pic} }

// The sides of the painting from which inputs are made if the user supplies no picture.
const (
	paintedW = 1024
	paintedH = 768
)

func (s *source) load(ctx context.Context) error {
	if s.grey != nil {
		return ctx.Err()
	}
	pic := s.pic
	if pic == nil {
		var err error
		if pic, err = synth.Paint(ctx, paintedW, paintedH, 8, synth.PaintOptions{Seed: 1, Grey: true}); err != nil {
			return err
		}
	}
	if err := pic.Validate(); err != nil {
		return err
	}
	grey, err := grey8(ctx, pic)
	if err != nil {
		return err
	}
	s.w, s.h, s.grey = pic.Width, pic.Height, grey
	return nil
}

// grey8 returns the mean of the channels in 8 bits; for inks it is inverted, so that white is paper.
func grey8(ctx context.Context, p *processing.Picture) ([]uint8, error) {
	grey := make([]uint8, p.Width*p.Height)
	level := func(i int) float64 {
		switch {
		case p.U8 != nil:
			return float64(p.U8[i])
		case p.U16 != nil:
			return float64(p.U16[i]) / 257
		}
		if v := float64(p.F32[i]); v >= 0 {
			return 255 * min(v, 1)
		}
		return 0
	}
	err := parallel.Chunks(ctx, len(grey), 1<<16, func(i, j int) {
		for k := i; k < j; k++ {
			var sum float64
			for c := range p.Channels {
				sum += level(k*p.Channels + c)
			}
			v := sum / float64(p.Channels)
			if p.Channels == 4 {
				v = 255 - v
			}
			grey[k] = uint8(v + 0.5)
		}
	})
	return grey, err
}

// mirrored folds i into 0 … n−1, repeating the edge.
func mirrored(i, n int) int {
	i %= 2 * n
	if i >= n {
		return 2*n - 1 - i
	}
	return i
}

// plane returns w × h pixels of the source.
func (s *source) plane(ctx context.Context, w, h int) ([]uint8, error) {
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	out := make([]uint8, w*h)
	err := parallel.Chunks(ctx, h, max(1, 1<<16/w), func(i, j int) {
		for y := i; y < j; y++ {
			from, to := s.grey[mirrored(y, s.h)*s.w:][:s.w], out[y*w:(y+1)*w]
			copy(to, from)
			for x := s.w; x < w; x++ {
				to[x] = from[mirrored(x, s.w)]
			}
		}
	})
	return out, err
}

// floats returns the same as numbers 0 … 255; a line takes the pixels in reading order.
func (s *source) floats(ctx context.Context, size Size) ([]float32, error) {
	w, h := size.W, size.H
	if h == 0 {
		if err := s.load(ctx); err != nil {
			return nil, err
		}
		out := make([]float32, w)
		err := parallel.Chunks(ctx, w, 1<<16, func(i, j int) {
			for k := i; k < j; k++ {
				out[k] = float32(s.grey[mirrored(k/s.w, s.h)*s.w+k%s.w])
			}
		})
		return out, err
	}
	grey, err := s.plane(ctx, w, h)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(grey))
	err = parallel.Chunks(ctx, len(out), 1<<16, func(i, j int) {
		for k := i; k < j; k++ {
			out[k] = float32(grey[k])
		}
	})
	return out, err
}

// planeInput is the input of the experiments on 8-bit grey pictures.
func planeInput(ctx context.Context, c Case, src *source) (*Input, error) {
	pix, err := src.plane(ctx, c.Size.W, c.Size.H)
	if err != nil {
		return nil, err
	}
	return &Input{Size: c.Size, U8: pix}, nil
}

// mixed returns number i of a sequence of mixed magnitude: 2^−16 … 2^16, three of four positive. The bits are those of
// SplitMix64 (Steele, Lea & Flood 2014), so that any part can be generated independently.
func mixed(i uint64) float32 {
	x := mix(i * 0x9e3779b97f4a7c15)
	sign := uint32(x>>62) / 3 << 31
	exponent := uint32(127-16) + uint32(x>>32)&31
	return math.Float32frombits(sign | exponent<<23 | uint32(x)&(1<<23-1))
}
