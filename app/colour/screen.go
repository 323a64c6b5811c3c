package colour

import (
	"encoding/binary"
	"math"

	"blik/processing"
)

// Screen converts samples of one depth and number of channels to pixels of the screen: opaque 8-bit sRGB, red in the
// lowest byte, then green, blue and alpha, which is the order of image.RGBA's bytes in little-endian order. It is
// immutable and may be used from any goroutine.
type Screen struct {
	channels int
	// depth is 8 or 16; floats become 16 bits wide.
	depth int
	// linear holds each channel's linear light in 1/65535; for 8-bit samples only the first 256 entries are used.
	// encode converts back to sRGB, and display is encode of linear if there is no matrix in between; nil otherwise.
	linear  [3]*[1 << 16]uint16
	encode  *[1 << 16]uint8
	display [3]*[1 << 16]uint8
	// asIs means that display changes no 8-bit sample.
	asIs bool
	// matrix converts linear device light, or the XYZ of cube, to linear sRGB, in 1/65536.
	matrix [9]int64
	// light is the linear light of 8-bit sRGB.
	light [256]uint16
	// cube replaces linear; nil without tables.
	cube *cube
	// colours are the false colours of grey samples; nil otherwise.
	colours *[1 << 16]uint32
}

// opaque is the alpha of a pixel.
const opaque = 255 << 24

// Screen returns the conversion for samples of the given depth (8, 16 or 32 bits). Preparing a profile with tables
// takes tens of milliseconds.
func (p *Profile) Screen(depth int) *Screen {
	s := newScreen(p.Channels, min(depth, 16))
	if p.tables != nil {
		s.cube = newCube(p.tables, s.depth)
		s.setMatrix(toScreen())
		return s
	}
	whole := 1<<s.depth - 1
	for k, c := range p.linear {
		if k > 0 && p.uniform {
			s.linear[k] = s.linear[0]
			continue
		}
		s.linear[k] = new([1 << 16]uint16)
		for i := range whole + 1 {
			s.linear[k][i] = uint16(unit(c(float64(i)/float64(whole)))*65535 + 0.5)
		}
	}
	if p.toScreen == identity() {
		s.displayTables(whole)
		return s
	}
	s.setMatrix(p.toScreen)
	return s
}

// newScreen returns a conversion without tables.
func newScreen(channels, depth int) *Screen {
	s := &Screen{
		channels: channels, depth: depth,
		encode: (*[1 << 16]uint8)(processing.NewLuminanceTables(8, processing.TransferSRGB).Encode8),
	}
	for i := range s.light {
		s.light[i] = uint16(processing.TransferSRGB.Linear(float64(i)/255)*65535 + 0.5)
	}
	return s
}

func (s *Screen) setMatrix(m matrix) {
	for i, row := range m {
		sum := int64(0)
		for k, v := range row {
			s.matrix[3*i+k] = int64(math.Round(math.Max(-1e4, math.Min(v, 1e4)) * 65536))
			sum += s.matrix[3*i+k]
		}
		// Rows with a sum of one are made exact, so that neutral colours stay neutral.
		if d := 65536 - sum; d >= -2 && d <= 2 {
			s.matrix[4*i] += d
		}
	}
}

func (s *Screen) displayTables(whole int) {
	s.asIs = s.depth == 8 && s.channels == 3
	for k, linear := range s.linear {
		for j := range k {
			if s.linear[j] == linear {
				s.display[k] = s.display[j]
			}
		}
		if s.display[k] != nil {
			continue
		}
		s.display[k] = new([1 << 16]uint8)
		for i := range whole + 1 {
			s.display[k][i] = s.encode[linear[i]]
			s.asIs = s.asIs && int(s.display[k][i]) == i
		}
	}
}

// piece is the number of samples converted at a time, on the stack.
const piece = 1024

// Row writes the samples x0…x0+len(dst)−1 of row y of pic, which has the depth and channels of s.
func (s *Screen) Row(dst []uint32, pic *processing.Picture, y, x0 int) {
	from := (y*pic.Width + x0) * s.channels
	n := len(dst) * s.channels
	switch {
	case pic.U8 != nil:
		if s.asIs {
			copyRow(dst, pic.U8[from:][:n])
		} else {
			row(s, dst, pic.U8[from:][:n])
		}
	case pic.U16 != nil:
		row(s, dst, pic.U16[from:][:n])
	default:
		var wide [piece]uint16
		src := pic.F32[from:][:n]
		step := piece / s.channels
		for len(dst) > 0 {
			k := min(step, len(dst))
			processing.Quantise(wide[:k*s.channels], src)
			row(s, dst[:k], wide[:k*s.channels])
			dst, src = dst[k:], src[k*s.channels:]
		}
	}
}

// copyRow packs 8-bit sRGB.
func copyRow(dst []uint32, src []uint8) {
	i := 0
	// One load reads a pixel and the next one's red, which the alpha overwrites; the last pixel has no next one.
	for rest := src; len(rest) >= 4; rest = rest[3:] {
		dst[i] = binary.LittleEndian.Uint32(rest) | opaque
		i++
	}
	for ; i < len(dst); i++ {
		p := src[3*i : 3*i+3 : 3*i+3]
		dst[i] = uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | opaque
	}
}

func row[S uint8 | uint16](s *Screen, dst []uint32, src []S) {
	switch {
	case s.colours != nil:
		falseRow(s, dst, src)
	case s.cube != nil:
		cubeRow(s, dst, src)
	case s.channels == 1:
		table := s.display[0]
		src = src[:len(dst)]
		for i, v := range src {
			dst[i] = uint32(table[v])*0x010101 | opaque
		}
	case s.channels == 4:
		var rgb [piece]S
		for len(dst) > 0 {
			k := min(piece/3, len(dst))
			processing.WithoutInks(rgb[:3*k], src)
			displayRow(s, dst[:k], rgb[:3*k])
			dst, src = dst[k:], src[4*k:]
		}
	case s.display[0] != nil:
		displayRow(s, dst, src)
	default:
		for i := range dst {
			p := src[3*i : 3*i+3 : 3*i+3]
			dst[i] = s.mix(int64(s.linear[0][p[0]]), int64(s.linear[1][p[1]]), int64(s.linear[2][p[2]]))
		}
	}
}

func displayRow[S uint8 | uint16](s *Screen, dst []uint32, src []S) {
	red, green, blue := s.display[0], s.display[1], s.display[2]
	for i := range dst {
		p := src[3*i : 3*i+3 : 3*i+3]
		dst[i] = uint32(red[p[0]]) | uint32(green[p[1]])<<8 | uint32(blue[p[2]])<<16 | opaque
	}
}

// mix converts linear device values to a pixel.
func (s *Screen) mix(r, g, b int64) uint32 {
	m := &s.matrix
	red := (m[0]*r + m[1]*g + m[2]*b + 1<<15) >> 16
	green := (m[3]*r + m[4]*g + m[5]*b + 1<<15) >> 16
	blue := (m[6]*r + m[7]*g + m[8]*b + 1<<15) >> 16
	return encoded(s.encode, clip(red), clip(green), clip(blue))
}

func clip(v int64) uint32 { return uint32(min(max(v, 0), 65535)) }

// encoded returns the pixel of linear sRGB in 1/65535.
func encoded(encode *[1 << 16]uint8, r, g, b uint32) uint32 {
	return uint32(encode[uint16(r)]) | uint32(encode[uint16(g)])<<8 | uint32(encode[uint16(b)])<<16 | opaque
}

// HalfRow writes row y of the picture at half its size: each pixel is the mean of 2 × 2 in linear light, of fewer at an
// odd edge. dst has ⌈width/2⌉ pixels.
func (s *Screen) HalfRow(dst []uint32, pic *processing.Picture, y int) {
	stride := pic.Width * s.channels
	upper := 2 * y * stride
	lower := upper
	if 2*y+1 < pic.Height {
		lower += stride
	}
	switch {
	case pic.U8 != nil:
		halves(s, dst, pic.U8[upper:][:stride], pic.U8[lower:][:stride])
	case pic.U16 != nil:
		halves(s, dst, pic.U16[upper:][:stride], pic.U16[lower:][:stride])
	default:
		var a, b [piece]uint16
		above, below := pic.F32[upper:][:stride], pic.F32[lower:][:stride]
		inPieces(s.channels, dst, above, below, func(dst []uint32, p, q []float32) {
			processing.Quantise(a[:len(p)], p)
			processing.Quantise(b[:len(q)], q)
			halves(s, dst, a[:len(p)], b[:len(q)])
		})
	}
}

// inPieces cuts two rows into pieces of at most piece samples, at even pixels.
func inPieces[S any](channels int, dst []uint32, a, b []S, do func(dst []uint32, a, b []S)) {
	const pixels = piece / 8
	for len(dst) > 0 {
		k := min(pixels, len(dst))
		n := min(2*k*channels, len(a))
		do(dst[:k], a[:n], b[:n])
		dst, a, b = dst[k:], a[n:], b[n:]
	}
}

// halves writes the means of the pairs of columns of two rows.
func halves[S uint8 | uint16](s *Screen, dst []uint32, a, b []S) {
	switch {
	case s.cube != nil, s.colours != nil:
		var p, q [piece / 2]uint32
		inPieces(s.channels, dst, a, b, func(dst []uint32, a, b []S) {
			n := len(a) / s.channels
			row(s, p[:n], a)
			row(s, q[:n], b)
			s.HalfPixels(dst, p[:n], q[:n])
		})
	case s.channels == 4:
		var p, q [piece]S
		inPieces(4, dst, a, b, func(dst []uint32, a, b []S) {
			n := len(a) / 4 * 3
			processing.WithoutInks(p[:n], a)
			processing.WithoutInks(q[:n], b)
			halfRow(s, dst, p[:n], q[:n])
		})
	case s.channels == 1:
		linear, encode := s.linear[0], s.encode
		for i := range dst {
			j := min(2*i+1, len(a)-1)
			sum := uint32(linear[a[2*i]]) + uint32(linear[a[j]]) + uint32(linear[b[2*i]]) + uint32(linear[b[j]])
			dst[i] = uint32(encode[uint16((sum+2)>>2)])*0x010101 | opaque
		}
	default:
		halfRow(s, dst, a, b)
	}
}

func halfRow[S uint8 | uint16](s *Screen, dst []uint32, a, b []S) {
	red, green, blue, encode := s.linear[0], s.linear[1], s.linear[2], s.encode
	plain := s.display[0] != nil
	for i := range dst {
		// With an odd width the last column counts twice, which gives the mean of the existing pixels.
		k, j := 6*i, min(6*i+3, len(a)-3)
		p, q, u, v := a[k:k+3:k+3], a[j:j+3:j+3], b[k:k+3:k+3], b[j:j+3:j+3]
		r := (uint32(red[p[0]]) + uint32(red[q[0]]) + uint32(red[u[0]]) + uint32(red[v[0]]) + 2) >> 2
		g := (uint32(green[p[1]]) + uint32(green[q[1]]) + uint32(green[u[1]]) + uint32(green[v[1]]) + 2) >> 2
		w := (uint32(blue[p[2]]) + uint32(blue[q[2]]) + uint32(blue[u[2]]) + uint32(blue[v[2]]) + 2) >> 2
		if plain {
			dst[i] = encoded(encode, r, g, w)
		} else {
			dst[i] = s.mix(int64(r), int64(g), int64(w))
		}
	}
}

// HalfPixels writes the means, in linear light, of the pairs of columns of two rows of pixels; dst has half as many,
// rounded up.
func (s *Screen) HalfPixels(dst, a, b []uint32) {
	light, encode := &s.light, s.encode
	b = b[:len(a)]
	for i := range dst {
		k := 2 * i
		j := min(k+1, len(a)-1)
		p, q, u, v := a[k], a[j], b[k], b[j]
		r := uint32(light[uint8(p)]) + uint32(light[uint8(q)]) + uint32(light[uint8(u)]) + uint32(light[uint8(v)])
		g := uint32(light[uint8(p>>8)]) + uint32(light[uint8(q>>8)]) +
			uint32(light[uint8(u>>8)]) + uint32(light[uint8(v>>8)])
		w := uint32(light[uint8(p>>16)]) + uint32(light[uint8(q>>16)]) +
			uint32(light[uint8(u>>16)]) + uint32(light[uint8(v>>16)])
		dst[i] = encoded(encode, (r+2)>>2, (g+2)>>2, (w+2)>>2)
	}
}
