package imagefile

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"runtime"
	"sync"

	"blik/processing"
)

// toPicture makes a Picture of a decoder's picture, straight from its own representation. With grey, colour channels
// are known to be equal and the first is taken. A grey 8-bit picture shares its memory with img.
func toPicture(ctx context.Context, img image.Image, grey bool) (*processing.Picture, error) {
	b := img.Bounds()
	p := &processing.Picture{Width: b.Dx(), Height: b.Dy(), Channels: 3}
	if p.Width < 1 || p.Height < 1 {
		return nil, fmt.Errorf("the decoder returned %d × %d pixels", p.Width, p.Height)
	}
	w, n := p.Width, p.Width*p.Height
	var row func(y int)
	switch m := img.(type) {
	case *image.Gray:
		p.Channels = 1
		if m.Stride == w && len(m.Pix) >= n {
			p.U8 = m.Pix[:n:n]
			return p, ctx.Err()
		}
		p.U8 = make([]uint8, n)
		row = func(y int) { copy(p.U8[y*w:(y+1)*w], m.Pix[y*m.Stride:]) }
	case *image.Gray16:
		p.Channels, p.U16 = 1, make([]uint16, n)
		row = func(y int) { gray16Row(p.U16[y*w:(y+1)*w], m.Pix[y*m.Stride:], 2) }
	case *image.RGBA:
		row = p8(p, grey, m.Pix, m.Stride)
	case *image.NRGBA:
		row = p8(p, grey, m.Pix, m.Stride)
	case *image.RGBA64:
		row = p16(p, grey, m.Pix, m.Stride)
	case *image.NRGBA64:
		row = p16(p, grey, m.Pix, m.Stride)
	case *image.Paletted:
		table := paletteTable(m.Palette)
		p.U8 = make([]uint8, 3*n)
		row = func(y int) {
			dst := p.U8[3*y*w : 3*(y+1)*w]
			for x, i := range m.Pix[y*m.Stride : y*m.Stride+w] {
				copy(dst[3*x:3*x+3], table[i][:])
			}
		}
	case *image.YCbCr:
		p.U8 = make([]uint8, 3*n)
		row = func(y int) { ycbcrRow(p.U8[3*y*w:3*(y+1)*w], m, y) }
	case *image.CMYK:
		p.U8 = make([]uint8, 3*n)
		row = func(y int) {
			dst, src := p.U8[3*y*w:3*(y+1)*w], m.Pix[y*m.Stride:y*m.Stride+4*w]
			for x := range w {
				s := src[4*x : 4*x+4 : 4*x+4]
				r, g, b := color.CMYKToRGB(s[0], s[1], s[2], s[3])
				d := dst[3*x : 3*x+3 : 3*x+3]
				d[0], d[1], d[2] = r, g, b
			}
		}
	default:
		return nil, fmt.Errorf("the decoder returned a picture of type %T", img)
	}
	return p, eachRow(ctx, p.Height, row)
}

// p8 allocates the samples of p and returns the loop that fills a row of them from four interleaved bytes a pixel.
func p8(p *processing.Picture, grey bool, pix []uint8, stride int) func(y int) {
	w := p.Width
	if grey {
		p.Channels, p.U8 = 1, make([]uint8, w*p.Height)
		return func(y int) {
			src := pix[y*stride : y*stride+4*w]
			for x, dst := 0, p.U8[y*w:(y+1)*w]; x < len(dst); x++ {
				dst[x] = src[4*x]
			}
		}
	}
	p.U8 = make([]uint8, 3*w*p.Height)
	return func(y int) {
		dst, src := p.U8[3*y*w:3*(y+1)*w], pix[y*stride:y*stride+4*w]
		for ; len(src) >= 4 && len(dst) >= 3; src, dst = src[4:], dst[3:] {
			dst[0], dst[1], dst[2] = src[0], src[1], src[2]
		}
	}
}

// p16 is p8 for big-endian 16-bit samples.
func p16(p *processing.Picture, grey bool, pix []uint8, stride int) func(y int) {
	w := p.Width
	if grey {
		p.Channels, p.U16 = 1, make([]uint16, w*p.Height)
		return func(y int) { gray16Row(p.U16[y*w:(y+1)*w], pix[y*stride:], 8) }
	}
	p.U16 = make([]uint16, 3*w*p.Height)
	return func(y int) {
		dst, src := p.U16[3*y*w:3*(y+1)*w], pix[y*stride:y*stride+8*w]
		for ; len(src) >= 8 && len(dst) >= 3; src, dst = src[8:], dst[3:] {
			dst[0] = uint16(src[0])<<8 | uint16(src[1])
			dst[1] = uint16(src[2])<<8 | uint16(src[3])
			dst[2] = uint16(src[4])<<8 | uint16(src[5])
		}
	}
}

// gray16Row takes a big-endian sample every step bytes.
func gray16Row(dst []uint16, src []uint8, step int) {
	for x := range dst {
		s := src[x*step : x*step+2]
		dst[x] = uint16(s[0])<<8 | uint16(s[1])
	}
}

// paletteTable returns the colours without alpha. Indices past the palette's end are black.
func paletteTable(pal color.Palette) (t [256][3]uint8) {
	for i, c := range pal[:min(len(pal), 256)] {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		t[i] = [3]uint8{n.R, n.G, n.B}
	}
	return t
}

// ycbcrRow converts as the standard library does, each chroma sample standing for all its pixels.
func ycbcrRow(dst []uint8, m *image.YCbCr, y int) {
	b := m.Rect
	w := b.Dx()
	y += b.Min.Y
	luma := m.Y[m.YOffset(b.Min.X, y):]
	luma = luma[:w:w]
	c := m.COffset(b.Min.X, y)
	shift := 0
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	origin := b.Min.X >> shift
	for x, l := range luma {
		i := c + (x+b.Min.X)>>shift - origin
		d := dst[3*x : 3*x+3 : 3*x+3]
		d[0], d[1], d[2] = color.YCbCrToRGB(l, m.Cb[i], m.Cr[i])
	}
}

// eachRow runs f for the rows 0…h−1 on all processors, in bands, and stops early when ctx ends.
func eachRow(ctx context.Context, h int, f func(y int)) error {
	const band = 64
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (h+band-1)/band) {
		wg.Go(func() {
			for y0 := range next {
				for y := y0; y < min(y0+band, h); y++ {
					f(y)
				}
			}
		})
	}
	for y := 0; y < h && ctx.Err() == nil; y += band {
		next <- y
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}
