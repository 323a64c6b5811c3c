package synth

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"slices"
	"sync/atomic"

	"blik/processing"
)

// RenderGlare returns a copy of pic with glare, the mask of visible glare (0 or 255), and statistics of it. Light is
// added to the linear light of the picture, blurred if the options require it, and clipped at white as in a sensor;
// noise and JPEG follow. The truth compares the luminance of the noiseless rendering with that of the same picture
// without glare (see Visible). The picture keeps depth, channels and transfer curve. With noise, picture blur and JPEG
// off, pixels that no glint touches are copied unchanged.
//
// It returns the context's error if cancelled, and an error for an invalid picture or options.
func RenderGlare(
	ctx context.Context, pic *processing.Picture, opt GlareOptions,
) (*processing.Picture, *processing.Mask, Stats, error) {
	if err := pic.Validate(); err != nil {
		return nil, nil, Stats{}, fmt.Errorf("render glare: %w", err)
	}
	if err := opt.Validate(); err != nil {
		return nil, nil, Stats{}, err
	}
	if opt.JPEGQuality > 0 && pic.U8 == nil {
		return nil, nil, Stats{}, fmt.Errorf("render glare: JPEG holds 8-bit samples, the picture has %d bits",
			pic.Depth())
	}
	if opt.Scale == 0 {
		opt.Scale = 1
	}
	if opt.WeavePitch == 0 {
		opt.WeavePitch = 8
	}
	if opt.Headroom == 0 {
		opt.Headroom = 1
	}
	if len(opt.Lights) == 0 {
		opt.Lights = [][3]float64{{1, 1, 1}}
	}
	out, err := newPicture(pic.Width, pic.Height, pic.Channels, pic.Depth(), pic.Transfer)
	if err != nil {
		return nil, nil, Stats{}, err
	}
	r := &renderer{opt: opt, src: pic, dst: out, mask: processing.NewMask(pic.Width, pic.Height),
		curve: newCurve(pic.Depth(), pic.Transfer)}
	r.surf = &surface{pic: pic, curve: r.curve}
	r.glints = plan(ctx, opt, r.surf)
	r.kernel = gaussianKernel(opt.PictureBlur * opt.Scale)
	r.strips = inRows(r.glints, pic.Height, len(r.kernel)/2)
	if opt.NoiseGain > 0 || opt.NoiseRead > 0 {
		r.normals = normals()
	}
	if err := eachStrip(ctx, pic.Height, opt.Workers, r.worker); err != nil {
		return nil, nil, Stats{}, err
	}
	if opt.JPEGQuality > 0 {
		if out, err = throughJPEG(out, opt.JPEGQuality); err != nil {
			return nil, nil, Stats{}, fmt.Errorf("render glare: %w", err)
		}
	}
	s := Stats{Glints: len(r.glints)}
	s.measure(r.mask, int(r.clipped.Load()))
	return out, r.mask, s, ctx.Err()
}

// renderer is the state of one call of RenderGlare. While strips are drawn, its fields are read-only, except for the
// rows of dst and mask, each of which belongs to one strip.
type renderer struct {
	opt      GlareOptions
	src, dst *processing.Picture
	mask     *processing.Mask
	curve    *curve
	surf     *surface
	glints   []glint
	strips   [][]int32
	kernel   []float32
	normals  []float32
	clipped  atomic.Int64
}

// worker returns a function that draws one strip; it has its own buffers.
func (r *renderer) worker() func(y0, y1 int) {
	st := &stamper{surf: r.surf}
	n := r.src.Width * r.src.Channels
	var clean, lit, row, cleanRow []float32
	return func(y0, y1 int) {
		glints := r.strips[y0/stripRows]
		blurred := len(r.kernel) > 1
		if len(glints) == 0 && r.normals == nil && !blurred {
			r.copyRows(y0, y1)
			return
		}
		margin := len(r.kernel) / 2
		a, b := max(y0-margin, 0), min(y1+margin, r.src.Height)
		clean = slices.Grow(clean[:0], (b-a)*n)[:(b-a)*n]
		lit = slices.Grow(lit[:0], (b-a)*n)[:(b-a)*n]
		row = slices.Grow(row[:0], n)[:n]
		cleanRow = slices.Grow(cleanRow[:0], n)[:n]
		for y := a; y < b; y++ {
			r.curve.decodeRow(clean[(y-a)*n:(y-a+1)*n], r.src, y)
		}
		copy(lit, clean)
		for _, i := range glints {
			r.light(lit, st, &r.glints[i], a, b)
		}
		if blurred {
			for y := range b - a {
				blurRow(row, lit[y*n:(y+1)*n], r.src.Width, r.src.Channels, r.kernel)
				copy(lit[y*n:], row)
				blurRow(row, clean[y*n:(y+1)*n], r.src.Width, r.src.Channels, r.kernel)
				copy(clean[y*n:], row)
			}
		}
		for y := y0; y < y1; y++ {
			c, l := clean[(y-a)*n:(y-a+1)*n], lit[(y-a)*n:(y-a+1)*n]
			if blurred {
				r.blurColumn(cleanRow, clean, y, a, n)
				r.blurColumn(row, lit, y, a, n)
				c, l = cleanRow, row
			}
			if len(glints) > 0 {
				r.truth(y, c, l)
			}
			r.finish(y, c, l)
		}
	}
}

// copyRows copies rows unchanged.
func (r *renderer) copyRows(y0, y1 int) {
	n := r.src.Width * r.src.Channels
	r.dst.Samples().Copy(y0*n, r.src.Samples(), y0*n, (y1-y0)*n)
}

// light adds a glint to rows a … b−1.
func (r *renderer) light(lit []float32, st *stamper, g *glint, a, b int) {
	x0, y0, x1, y1 := g.bounds()
	x0, y0, x1, y1 = max(x0, 0), max(y0, a), min(x1, r.src.Width), min(y1, b)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	p := st.stamp(g, x0, y0, x1, y1)
	ch := r.src.Channels
	colour := [3]float32{float32(g.light[0]), float32(g.light[1]), float32(g.light[2])}
	if ch == 1 {
		colour[0] = luma(colour[:], 3)
	}
	for y := y0; y < y1; y++ {
		dst := lit[((y-a)*r.src.Width+x0)*ch:]
		for i, v := range p[(y-y0)*(x1-x0) : (y-y0+1)*(x1-x0)] {
			for c := range ch {
				dst[i*ch+c] += v * colour[c]
			}
		}
	}
}

// blurColumn writes picture row y, blurred vertically, from rows, the first of which is row a of the picture.
func (r *renderer) blurColumn(dst, rows []float32, y, a, n int) {
	clear(dst)
	for i, t := range r.kernel {
		s := rows[(reflect(y-len(r.kernel)/2+i, r.src.Height)-a)*n:]
		for x := range dst {
			dst[x] += t * s[x]
		}
	}
}

// truth marks the visible glare in row y and counts its clipped pixels.
func (r *renderer) truth(y int, clean, lit []float32) {
	ch := r.src.Channels
	m := r.mask.Pix[y*r.src.Width : (y+1)*r.src.Width]
	clipped := 0
	var white [3]float32
	for x := range m {
		c, l := clean[x*ch:x*ch+ch], lit[x*ch:x*ch+ch]
		full := true
		for i, v := range l {
			white[i] = min(v, 1)
			full = full && v >= 1
		}
		if Visible(luma(c, ch), luma(white[:ch], ch)) {
			m[x] = 255
			if full {
				clipped++
			}
		}
	}
	r.clipped.Add(int64(clipped))
}

// finish saturates, adds noise and writes row y.
func (r *renderer) finish(y int, clean, lit []float32) {
	if r.normals == nil {
		r.curve.encodeRow(r.dst, y, lit)
		if r.src.F32 == nil || len(r.kernel) > 1 {
			return
		}
		// Decoding and encoding a float sample may change it by a rounding error; samples that no glint touches stay
		// unchanged.
		for i, o := 0, y*len(lit); i < len(lit); i++ {
			if lit[i] == clean[i] {
				r.dst.F32[o+i] = r.src.F32[o+i]
			}
		}
		return
	}
	gain, read := float32(r.opt.NoiseGain), float32(r.opt.NoiseRead*r.opt.NoiseRead)
	head := float32(r.opt.Headroom)
	key := mix(r.opt.Seed ^ 0x6e6f697365)
	var bits uint64
	for i, v := range lit {
		if i&3 == 0 {
			bits = mix(key ^ uint64(y)<<32 ^ uint64(i))
		}
		v = min(v, head)
		lit[i] = v + r.normals[bits&0xffff]*float32(math.Sqrt(float64(gain*v+read)))
		bits >>= 16
	}
	r.curve.encodeRow(r.dst, y, lit)
}

// throughJPEG writes an 8-bit picture as JPEG (colour subsampled 4:2:0) and reads it back.
func throughJPEG(p *processing.Picture, quality int) (*processing.Picture, error) {
	var img image.Image
	box := image.Rect(0, 0, p.Width, p.Height)
	if p.Channels == 1 {
		img = &image.Gray{Pix: p.U8, Stride: p.Width, Rect: box}
	} else {
		rgba := image.NewRGBA(box)
		for i, o := 0, 0; i < len(p.U8); i, o = i+3, o+4 {
			rgba.Pix[o], rgba.Pix[o+1], rgba.Pix[o+2], rgba.Pix[o+3] = p.U8[i], p.U8[i+1], p.U8[i+2], 255
		}
		img = rgba
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	back, err := jpeg.Decode(&buf)
	if err != nil {
		return nil, err
	}
	out := &processing.Picture{Width: p.Width, Height: p.Height, Channels: p.Channels, Transfer: p.Transfer,
		U8: make([]uint8, len(p.U8))}
	switch b := back.(type) {
	case *image.Gray:
		for y := range p.Height {
			copy(out.U8[y*p.Width:(y+1)*p.Width], b.Pix[y*b.Stride:])
		}
	default:
		for y := range p.Height {
			for x := range p.Width {
				r, g, bl, _ := b.At(x, y).RGBA()
				i := (y*p.Width + x) * 3
				out.U8[i], out.U8[i+1], out.U8[i+2] = uint8(r>>8), uint8(g>>8), uint8(bl>>8)
			}
		}
	}
	return out, nil
}
