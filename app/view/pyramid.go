package view

import (
	"context"
	"encoding/binary"
	"math"

	"blik/processing"
)

// Pyramid holds the reduced copies of a picture for display: level l ≥ 1 has sides ⌈w/2^l⌉ × ⌈h/2^l⌉, opaque 8-bit
// sRGB in packed pixels. Level 0 is the picture itself, whose samples are converted when they are shown, so that a
// master of 16 bits is not held twice; the levels take 4/3 bytes per pixel of the picture.
//
// A pixel is the mean of 2 × 2 pixels in linear light: a point of glare then keeps the brightness that the eye would
// see from further away, where means of encoded values would drown it.
//
// A Pyramid is immutable and may be used from any goroutine.
type Pyramid struct {
	pic *processing.Picture
	// display maps a sample of 8 bits, or of 16 bits for deeper pictures, to 8-bit sRGB.
	display []uint8
	// asIs says that display changes nothing.
	asIs   bool
	levels []level
}

// level is a reduced copy; levels[0] of a Pyramid is level 1.
type level struct {
	w, h int
	pix  []packed
}

// packed is an opaque or premultiplied pixel: red in the lowest byte, then green, blue and alpha, which is the order
// of image.RGBA's bytes in little-endian order.
type packed uint32

// opaque is the alpha of a packed pixel.
const opaque packed = 255 << 24

// NewPyramid builds the levels of pic, which must not change afterwards. It returns ctx.Err() soon after a cancel, and
// an error for a picture that is not valid.
func NewPyramid(ctx context.Context, pic *processing.Picture) (*Pyramid, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	tables := processing.NewLumaTables(pic.Depth(), pic.Transfer)
	linear := tables.Linear16
	if pic.Depth() == 8 {
		linear = tables.Linear8
	}
	p := &Pyramid{pic: pic, display: make([]uint8, len(linear)), asIs: pic.Depth() == 8}
	for i, l := range linear {
		p.display[i] = tables.Encode8[l]
		p.asIs = p.asIs && int(p.display[i]) == i
	}
	var screen [256]uint16
	for i := range screen {
		screen[i] = uint16(processing.TransferSRGB.Linear(float64(i)/255)*65535 + 0.5)
	}
	for w, h := pic.Width, pic.Height; w > 1 || h > 1; {
		w, h = (w+1)/2, (h+1)/2
		l := level{w, h, make([]packed, w*h)}
		var work func(y0, y1 int)
		if len(p.levels) == 0 {
			work = func(y0, y1 int) { reducePicture(l, pic, linear, tables.Encode8, y0, y1) }
		} else {
			finer := p.levels[len(p.levels)-1]
			work = func(y0, y1 int) { reduceLevel(l, finer, &screen, tables.Encode8, y0, y1) }
		}
		if err := forRows(ctx, h, work); err != nil {
			return nil, err
		}
		p.levels = append(p.levels, l)
	}
	return p, ctx.Err()
}

// Picture returns the picture that the pyramid shows.
func (p *Pyramid) Picture() *processing.Picture { return p.pic }

// Bytes returns the memory that the levels take.
func (p *Pyramid) Bytes() int64 {
	n := int64(len(p.display))
	for _, l := range p.levels {
		n += 4 * int64(len(l.pix))
	}
	return n
}

// reducePicture makes rows y0…y1−1 of level 1 from the samples of pic.
func reducePicture(dst level, pic *processing.Picture, linear []uint16, encode []uint8, y0, y1 int) {
	switch {
	case pic.U8 != nil:
		reduceSamples(dst, pic.U8, pic, func(s uint8) uint32 { return uint32(linear[s]) }, encode, y0, y1)
	case pic.U16 != nil:
		reduceSamples(dst, pic.U16, pic, func(s uint16) uint32 { return uint32(linear[s]) }, encode, y0, y1)
	default:
		reduceSamples(dst, pic.F32, pic, func(s float32) uint32 { return uint32(linear[index16(s)]) }, encode, y0, y1)
	}
}

func reduceSamples[S uint8 | uint16 | float32](
	dst level, src []S, pic *processing.Picture, linear func(S) uint32, encode []uint8, y0, y1 int,
) {
	c, stride := pic.Channels, pic.Width*pic.Channels
	for y := y0; y < y1; y++ {
		a := src[2*y*stride:][:stride]
		b := a
		if 2*y+1 < pic.Height {
			b = src[(2*y+1)*stride:][:stride]
		}
		out := dst.pix[y*dst.w:][:dst.w]
		for x := range out {
			i := 2 * x * c
			j := i + c
			if j == stride {
				// An odd width: the last column counts twice, which is the mean of what is there.
				j = i
			}
			if c == 1 {
				v := packed(encode[(linear(a[i])+linear(a[j])+linear(b[i])+linear(b[j])+2)>>2])
				out[x] = v | v<<8 | v<<16 | opaque
				continue
			}
			a0, a1, b0, b1 := a[i:i+3:i+3], a[j:j+3:j+3], b[i:i+3:i+3], b[j:j+3:j+3]
			out[x] = opaque |
				packed(encode[(linear(a0[0])+linear(a1[0])+linear(b0[0])+linear(b1[0])+2)>>2]) |
				packed(encode[(linear(a0[1])+linear(a1[1])+linear(b0[1])+linear(b1[1])+2)>>2])<<8 |
				packed(encode[(linear(a0[2])+linear(a1[2])+linear(b0[2])+linear(b1[2])+2)>>2])<<16
		}
	}
}

// reduceLevel makes rows y0…y1−1 of a level from the next finer one.
func reduceLevel(dst, src level, lin *[256]uint16, encode []uint8, y0, y1 int) {
	for y := y0; y < y1; y++ {
		a := src.pix[2*y*src.w:][:src.w]
		b := a
		if 2*y+1 < src.h {
			b = src.pix[(2*y+1)*src.w:][:src.w]
		}
		out := dst.pix[y*dst.w:][:dst.w]
		for x := range out {
			i := 2 * x
			j := min(i+1, src.w-1)
			p, q, r, s := a[i], a[j], b[i], b[j]
			mean := func(shift uint) packed {
				sum := uint32(lin[uint8(p>>shift)]) + uint32(lin[uint8(q>>shift)]) +
					uint32(lin[uint8(r>>shift)]) + uint32(lin[uint8(s>>shift)])
				return packed(encode[(sum+2)>>2]) << shift
			}
			out[x] = mean(0) | mean(8) | mean(16) | opaque
		}
	}
}

// index16 makes a float sample the 16-bit one that the tables are indexed with: ⌊clamp(x, 0, 1)·65535 + ½⌋.
func index16(x float32) uint16 {
	// A comparison with NaN is false, so NaN becomes 0.
	if !(x > 0) {
		return 0
	}
	return uint16(math.Min(float64(x), 1)*65535 + 0.5)
}

// lanes is a pixel spread out for arithmetic on all channels at once: 16 bits each, red lowest, then blue, green and
// alpha. A value times a weight of at most 256 stays in its lane.
type lanes uint64

const (
	laneMask lanes = 0x00ff00ff00ff00ff
	// half rounds a division by 256 to nearest.
	half lanes = 0x0080008000800080
)

func (p packed) spread() lanes { return lanes(p&0x00ff00ff) | lanes(p&0xff00ff00)<<24 }

func (l lanes) pack() packed { return packed(l)&0x00ff00ff | packed(l>>24)&0xff00ff00 }

// mix returns the weighted mean a·(256−f)/256 + b·f/256, rounded to nearest, for 0 ≤ f ≤ 256. Equal pixels stay
// what they are. The lanes borrow from each other in b − a, which the sum makes good: it saves a multiplication.
func mix(a, b, f lanes) lanes {
	return (a<<8 + (b-a)*f + half) >> 8 & laneMask
}

// row converts the samples x0…x0+len(dst)−1 of row y of the picture.
func (p *Pyramid) row(dst []packed, y, x0 int) {
	c := p.pic.Channels
	from := (y*p.pic.Width + x0) * c
	switch {
	case p.pic.U8 != nil:
		table := (*[256]uint8)(p.display)
		src := p.pic.U8[from:][:len(dst)*c]
		if c == 1 {
			for i, s := range src {
				dst[i] = packed(table[s])*0x010101 | opaque
			}
			return
		}
		i := 0
		if p.asIs {
			// One load takes a pixel and the next one's red, which the alpha covers; the last pixel has no next one.
			for rest := src; len(rest) >= 4; rest = rest[3:] {
				dst[i] = packed(binary.LittleEndian.Uint32(rest)) | opaque
				i++
			}
		}
		for ; i < len(dst); i++ {
			s := src[3*i : 3*i+3 : 3*i+3]
			dst[i] = packed(table[s[0]]) | packed(table[s[1]])<<8 | packed(table[s[2]])<<16 | opaque
		}
	case p.pic.U16 != nil:
		table := (*[65536]uint8)(p.display)
		src := p.pic.U16[from:][:len(dst)*c]
		if c == 1 {
			for i, s := range src {
				dst[i] = packed(table[s])*0x010101 | opaque
			}
			return
		}
		for i := range dst {
			s := src[3*i : 3*i+3 : 3*i+3]
			dst[i] = packed(table[s[0]]) | packed(table[s[1]])<<8 | packed(table[s[2]])<<16 | opaque
		}
	default:
		table := (*[65536]uint8)(p.display)
		src := p.pic.F32[from:][:len(dst)*c]
		if c == 1 {
			for i, s := range src {
				dst[i] = packed(table[index16(s)])*0x010101 | opaque
			}
			return
		}
		for i := range dst {
			s := src[3*i : 3*i+3 : 3*i+3]
			dst[i] = packed(table[index16(s[0])]) | packed(table[index16(s[1])])<<8 |
				packed(table[index16(s[2])])<<16 | opaque
		}
	}
}
