package processing

import (
	"context"
	"fmt"
	"math"

	"blik/internal/parallel"
)

// validatePrimaries returns an error if ToSRGB does not fit the picture.
func (p *Picture) validatePrimaries() error {
	if p.ToSRGB == nil {
		return nil
	}
	if p.Channels != 3 {
		return fmt.Errorf("primaries of a picture with %d channels: 3 expected", p.Channels)
	}
	for _, v := range p.ToSRGB {
		if !(math.Abs(v) <= mostPrimary) {
			return fmt.Errorf("primaries: coefficient %g is not within ±%d", v, mostPrimary)
		}
	}
	return nil
}

// mostPrimary is the largest coefficient of ToSRGB, so that sums fit into integers.
const mostPrimary = 10000

// InSRGB returns the picture in the primaries of sRGB, for which thresholds and network are made, or the
// picture itself if it has them. 8-bit samples become 8-bit sRGB, others 16 bits of linear light. With coefficients m
// in 1/65536 and light L in 1/65535, the light is ⌊(m·L + 32768) / 65536⌋; light outside sRGB is clipped. Neutral
// colours stay neutral, and every processor gives the same result.
func (p *Picture) InSRGB(ctx context.Context) (*Picture, error) {
	if p.ToSRGB == nil {
		return p, nil
	}
	m, t := fixedPoint(p.ToSRGB), p.Tables()
	out := &Picture{Width: p.Width, Height: p.Height, Channels: 3}
	if p.U8 != nil {
		out.U8 = make([]uint8, len(p.U8))
	} else {
		out.Transfer, out.U16 = TransferLinear, make([]uint16, 3*p.Width*p.Height)
	}
	const chunk = 1 << 15 // pixels
	return out, parallel.Chunks(ctx, p.Width*p.Height, chunk, func(from, to int) {
		from, to = 3*from, 3*to
		switch {
		case p.U8 != nil:
			dst := out.U8[from:to]
			convertPrimaries(dst, p.U8[from:to], &m, t.Linear8, func(light int64) uint8 { return t.Encode8[light] })
		case p.U16 != nil:
			convertPrimaries(out.U16[from:to], p.U16[from:to], &m, t.Linear16, sixteenBits)
		default:
			dst := out.U16[from:to]
			Quantise(dst, p.F32[from:to])
			convertPrimaries(dst, dst, &m, t.Linear16, sixteenBits)
		}
	})
}

func sixteenBits(light int64) uint16 { return uint16(light) }

// fixedPoint returns the coefficients in 1/65536. Rows that add up to one do so exactly.
func fixedPoint(m *[9]float64) (out [9]int64) {
	for i := range 3 {
		row := out[3*i : 3*i+3]
		for k := range row {
			row[k] = int64(math.Round(m[3*i+k] * 65536))
		}
		if d := 65536 - row[0] - row[1] - row[2]; d >= -2 && d <= 2 {
			row[i] += d
		}
	}
	return out
}

// convertPrimaries converts samples of three channels; dst may be src.
func convertPrimaries[D, S uint8 | uint16](dst []D, src []S, m *[9]int64, linear []uint16, encode func(int64) D) {
	for i := 0; i+2 < len(src); i += 3 {
		r, g, b := int64(linear[src[i]]), int64(linear[src[i+1]]), int64(linear[src[i+2]])
		for c := range 3 {
			light := (m[3*c]*r + m[3*c+1]*g + m[3*c+2]*b + 1<<15) >> 16
			dst[i+c] = encode(min(max(light, 0), math.MaxUint16))
		}
	}
}
