package jpeg

import (
	"context"

	"blik/app/imagefile/container"
	"blik/internal/parallel"
	"blik/processing"
)

// The standard bounds the accuracy of decoders but does not define their rounding and chroma upsampling. Most other
// programs show the result of libjpeg, so this decoder reproduces it to the last bit: the integer transform of
// Loeffler, Ligtenberg & Moschytz (1989) with 13 bits of fraction, and chroma enlarged by factors of two with the
// weights 3 : 1.

// render computes the samples of the picture from the coefficients.
func (p *picture) render(ctx context.Context) (*processing.Picture, error) {
	planes := make([]samplePlane, len(p.planes))
	for i := range planes {
		var err error
		if planes[i], err = p.samples(ctx, i); err != nil {
			return nil, err
		}
		p.blocks[i] = nil
	}
	pic := &processing.Picture{Width: p.f.width, Height: p.f.height, Channels: p.f.Info().Channels()}
	pic.U8 = make([]uint8, pic.Width*pic.Height*pic.Channels)
	convert := p.f.colours()
	n := pic.Width * pic.Channels
	const band = 64
	err := parallel.Chunks(ctx, pic.Height, band, func(from, to int) {
		rows := make([][]uint8, len(planes))
		scratch := make([]enlarger, len(planes))
		for y := from; y < to; y++ {
			for i := range planes {
				rows[i] = scratch[i].row(&planes[i], y)
			}
			convert(pic.U8[y*n:(y+1)*n], rows)
		}
	})
	return pic, err
}

// samplePlane holds the samples of a component.
type samplePlane struct {
	pix    []uint8
	stride int
	// width and height are the size of the part with pixels.
	width, height int
	// across and down are the numbers of pixels that a sample covers in each direction.
	across, down int
	// columns is the width of the picture.
	columns int
}

// samples transforms the blocks of a component.
func (p *picture) samples(ctx context.Context, component int) (samplePlane, error) {
	g, c, quant := p.planes[component], p.f.components[component], p.quant[component]
	// Without a DC scan, which takes one bit per block, a few bytes could describe any number of blocks.
	if quant == nil || p.f.frame == markerSOF2 && p.sent[component][0] == 0 {
		return samplePlane{}, container.Damaged("a part of the picture is missing")
	}
	maxH, maxV := p.f.sampling()
	s := samplePlane{
		stride: 8 * g.stride,
		width:  ceilDiv(p.f.width*c.h, maxH), height: ceilDiv(p.f.height*c.v, maxV),
		across: maxH / c.h, down: maxV / c.v, columns: p.f.width,
	}
	s.pix = make([]uint8, s.stride*8*g.height)
	return s, parallel.Each(ctx, g.height, func(y int) {
		for x := range g.width {
			transform(s.pix[8*y*s.stride+8*x:], s.stride, &p.blocks[component][y*g.stride+x], quant)
		}
	})
}

// The constants of the transform, in 1/8192.
const (
	fraction = 13
	// guard is the number of extra bits that the first pass keeps.
	guard = 2

	c0298 = 2446  // 0.298631336
	c0390 = 3196  // 0.390180644
	c0541 = 4433  // 0.541196100
	c0765 = 6270  // 0.765366865
	c0899 = 7373  // 0.899976223
	c1175 = 9633  // 1.175875602
	c1501 = 12299 // 1.501321110
	c1847 = 15137 // 1.847759065
	c1961 = 16069 // 1.961570560
	c2053 = 16819 // 2.053119869
	c2562 = 20995 // 2.562915447
	c3072 = 25172 // 3.072711026
)

// transform writes the 8 × 8 samples of a block.
func transform(dst []uint8, stride int, b *block, quant *[64]uint16) {
	var w [64]int32
	flat := true
	for k, c := range b {
		if c != 0 {
			w[zigzag[k]] = int32(c) * int32(quant[k])
			flat = flat && k == 0
		}
	}
	if flat {
		// Only the DC coefficient, eight times the mean, is present; both passes scale it by a power of two.
		v := clampSample(round(w[0]<<guard, guard+3) + 128)
		for y := range 8 {
			row := dst[y*stride : y*stride+8 : y*stride+8]
			for x := range row {
				row[x] = v
			}
		}
		return
	}
	for x := range 8 {
		c := [8]int32{w[x], w[8+x], w[16+x], w[24+x], w[32+x], w[40+x], w[48+x], w[56+x]}
		lines(&c, fraction-guard)
		for y, v := range c {
			w[8*y+x] = v
		}
	}
	for y := range 8 {
		c := (*[8]int32)(w[8*y:])
		lines(c, fraction+guard+3)
		row := dst[y*stride : y*stride+8 : y*stride+8]
		for x, v := range c {
			row[x] = clampSample(v + 128)
		}
	}
}

// lines is the one-dimensional inverse transform. Its results are shifted right by the given number of bits, rounded to
// nearest.
func lines(c *[8]int32, bits uint) {
	// The even half.
	z := (c[2] + c[6]) * c0541
	a2, a3 := z-c[6]*c1847, z+c[2]*c0765
	a0, a1 := (c[0]+c[4])<<fraction, (c[0]-c[4])<<fraction
	e0, e3, e1, e2 := a0+a3, a0-a3, a1+a2, a1-a2
	// The odd half.
	z1, z2, z3, z4 := c[7]+c[1], c[5]+c[3], c[7]+c[3], c[5]+c[1]
	z5 := (z3 + z4) * c1175
	z1, z2 = -z1*c0899, -z2*c2562
	z3, z4 = z5-z3*c1961, z5-z4*c0390
	o0 := c[7]*c0298 + z1 + z3
	o1 := c[5]*c2053 + z2 + z4
	o2 := c[3]*c3072 + z2 + z3
	o3 := c[1]*c1501 + z1 + z4
	c[0], c[7] = round(e0+o3, bits), round(e0-o3, bits)
	c[1], c[6] = round(e1+o2, bits), round(e1-o2, bits)
	c[2], c[5] = round(e2+o1, bits), round(e2-o1, bits)
	c[3], c[4] = round(e3+o0, bits), round(e3-o0, bits)
}

// round shifts v right by the given number of bits, rounded to nearest.
func round(v int32, bits uint) int32 { return (v + 1<<(bits-1)) >> bits }

func clampSample(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// enlarger upsamples the rows of a component to the width of the picture.
type enlarger struct {
	out []uint8
	sum []int32
}

// row returns the samples for row y of the picture; they are valid until the next call.
func (e *enlarger) row(s *samplePlane, y int) []uint8 {
	at := func(i int) []uint8 {
		i = min(max(i, 0), s.height-1)
		return s.pix[i*s.stride:][:s.width]
	}
	near := at(y / s.down)
	if s.across == 1 && s.down == 1 {
		return near[:s.columns]
	}
	if e.out == nil {
		e.out = make([]uint8, s.across*s.width)
	}
	// far is the neighbouring row of samples on the other side.
	far := at(y/s.down - 1)
	if y%2 == 1 {
		far = at(y/s.down + 1)
	}
	switch {
	case s.across == 2 && s.down == 1 && s.width > 2:
		widen(e.out, near, 1, 2, 2)
	case s.across == 1 && s.down == 2:
		bias := int32(1 + y%2)
		for i, v := range near {
			e.out[i] = uint8((3*int32(v) + int32(far[i]) + bias) >> 2)
		}
	case s.across == 2 && s.down == 2 && s.width > 2:
		if e.sum == nil {
			e.sum = make([]int32, s.width)
		}
		for i, v := range near {
			e.sum[i] = 3*int32(v) + int32(far[i])
		}
		widen(e.out, e.sum, 8, 7, 4)
	default:
		for i, v := range near {
			for j := range s.across {
				e.out[s.across*i+j] = v
			}
		}
	}
	return e.out[:s.columns]
}

// widen doubles the length of a row. Each sample becomes two, each weighted 3 : 1 with the neighbour on its side; the
// outermost are copied. left and right are the rounding terms of the two before the lowest shift bits are dropped; they
// differ, so that rounding is unbiased.
func widen[T uint8 | int32](dst []uint8, src []T, left, right int32, shift uint) {
	n := len(src)
	for i, v := range src {
		v := int32(v)
		before, after := v, v
		if i > 0 {
			before = int32(src[i-1])
		}
		if i < n-1 {
			after = int32(src[i+1])
		}
		dst[2*i] = uint8((3*v + before + left) >> shift)
		dst[2*i+1] = uint8((3*v + after + right) >> shift)
	}
}

// colours returns the function that converts the rows of all components to pixels.
func (f *File) colours() func(dst []uint8, rows [][]uint8) {
	interleave := func(dst []uint8, rows [][]uint8) {
		n := len(rows)
		for c, row := range rows {
			for x, v := range row {
				dst[n*x+c] = v
			}
		}
	}
	invert := func(dst []uint8) {
		for i, v := range dst {
			dst[i] = 255 - v
		}
	}
	switch f.colour() {
	case container.YCbCr:
		t := newColourTables()
		return func(dst []uint8, rows [][]uint8) { t.convert(dst, 3, rows) }
	case container.YCCK:
		// The inks take the place of red, green and blue; black is inverted.
		t := newColourTables()
		return func(dst []uint8, rows [][]uint8) {
			t.convert(dst, 4, rows)
			for x, v := range rows[3] {
				dst[4*x+3] = 255 - v
			}
		}
	case container.CMYK:
		if f.adobe >= 0 {
			return func(dst []uint8, rows [][]uint8) {
				interleave(dst, rows)
				invert(dst)
			}
		}
	}
	return interleave
}

// colourTables holds the products with the coefficients of JFIF's matrix (ITU-T T.871, 7).
type colourTables struct {
	red, blue           [256]int32
	greenRed, greenBlue [256]int32 // in 1/65536
}

func newColourTables() *colourTables {
	const (
		half  = 1 << 15
		c1402 = 91881  // 1.40200 in 1/65536
		c1772 = 116130 // 1.77200
		c0714 = 46802  // 0.71414
		c0344 = 22554  // 0.34414
	)
	t := new(colourTables)
	for i := range t.red {
		v := int32(i) - 128
		t.red[i] = (c1402*v + half) >> 16
		t.blue[i] = (c1772*v + half) >> 16
		t.greenRed[i] = -c0714 * v
		t.greenBlue[i] = -c0344*v + half
	}
	return t
}

// convert converts luma and chroma to red, green and blue; pixels are step samples apart.
func (t *colourTables) convert(dst []uint8, step int, rows [][]uint8) {
	luma, cb, cr := rows[0], rows[1][:len(rows[0])], rows[2][:len(rows[0])]
	for x, l := range luma {
		y, b, r := int32(l), cb[x], cr[x]
		d := dst[step*x : step*x+3 : step*x+3]
		d[0] = clampSample(y + t.red[r])
		d[1] = clampSample(y + (t.greenBlue[b]+t.greenRed[r])>>16)
		d[2] = clampSample(y + t.blue[b])
	}
}
