package jpeg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"runtime"
	"strings"
	"sync"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// Decode returns the samples as the standard library decodes them: grey, RGB, or CMYK with 0 for no ink. YCbCr becomes RGB
// by color.YCbCrToRGB, each chroma sample standing for all its pixels.
func (f *File) Decode(ctx context.Context) (*processing.Picture, error) {
	if f.Info().Raw/maxExpansion > f.size {
		return nil, codec.Truncated()
	}
	if err := f.countScans(ctx); err != nil {
		return nil, err
	}
	img, err := decode(f.stream(ctx))
	if err != nil {
		if e := ctx.Err(); e != nil {
			return nil, e
		}
		return nil, err
	}
	if b := img.Bounds(); b.Dx() != f.width || b.Dy() != f.height {
		return nil, codec.Damaged("the pixels are not of the size that the header says", "размер пикселей не тот, что в заголовке")
	}
	p := &processing.Picture{Width: f.width, Height: f.height, Channels: f.Info().Channels()}
	n := p.Width * p.Height
	switch m := img.(type) {
	case *image.Gray:
		p.U8 = compact(m.Pix, m.Stride, p.Width, p.Height)
	case *image.CMYK:
		p.U8 = compact(m.Pix, m.Stride, 4*p.Width, p.Height)
		if f.adobe < 0 {
			// Without Adobe's segment the samples are the amount of ink, which the decoder took for its inversion.
			for i, v := range p.U8 {
				p.U8[i] = 255 - v
			}
		}
	case *image.RGBA:
		p.U8 = make([]uint8, 3*n)
		err = eachRow(ctx, p.Height, func(y int) {
			dst, src := p.U8[3*y*p.Width:3*(y+1)*p.Width], m.Pix[y*m.Stride:y*m.Stride+4*p.Width]
			for ; len(src) >= 4 && len(dst) >= 3; src, dst = src[4:], dst[3:] {
				dst[0], dst[1], dst[2] = src[0], src[1], src[2]
			}
		})
	case *image.YCbCr:
		p.U8 = make([]uint8, 3*n)
		err = eachRow(ctx, p.Height, func(y int) { convertRow(p.U8[3*y*p.Width:3*(y+1)*p.Width], m, y) })
	}
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, codec.Damaged("the pixels are not of the colour model that the header says",
			"цветовая модель пикселей не та, что в заголовке")
	}
	return p, nil
}

// countScans refuses more than maxScans. Between the first scan and the end of the picture, SOS occurs as itself alone.
func (f *File) countScans(ctx context.Context) error {
	r := bufio.NewReaderSize(&contextReader{ctx, io.NewSectionReader(f.r, f.scans, f.size-f.scans)}, 1<<16)
	for n := 1; n <= maxScans; {
		if _, err := r.ReadSlice(0xff); err == bufio.ErrBufferFull {
			continue
		} else if err == io.EOF {
			return nil // that the picture is not complete is found by who decodes it
		} else if err != nil {
			return err
		}
		marker, err := r.Peek(1)
		switch {
		case err != nil || marker[0] == markerEOI:
			return nil
		case marker[0] == markerSOS:
			n++
		}
	}
	return codec.Damaged(fmt.Sprintf("the JPEG has more than %d scans", maxScans),
		fmt.Sprintf("в JPEG больше %d проходов", maxScans))
}

// stream returns the file for the decoder. Four components without Adobe's segment, which the standard library does not
// read, get one.
func (f *File) stream(ctx context.Context) io.Reader {
	r := io.Reader(&contextReader{ctx, io.NewSectionReader(f.r, 0, f.size)})
	if len(f.components) == 4 && f.adobe < 0 {
		head := "\xff\xd8\xff\xee\x00\x0e" + signatureAdobe + "\x00\x64\x00\x00\x00\x00\x00"
		r = io.MultiReader(strings.NewReader(head), &contextReader{ctx, io.NewSectionReader(f.r, 2, f.size-2)})
	}
	return bufio.NewReaderSize(r, 1<<16)
}

// contextReader stops reading when the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// decode turns the standard decoder's errors, and its panics, into faults.
func decode(r io.Reader) (img image.Image, err error) {
	defer func() {
		if recover() != nil {
			img, err = nil, codec.Damaged("the compressed pixels are damaged", "сжатые пиксели повреждены")
		}
	}()
	img, err = jpeg.Decode(r)
	var (
		unsupported jpeg.UnsupportedError
		format      jpeg.FormatError
	)
	switch {
	case err == nil:
		return img, nil
	case errors.As(err, &unsupported):
		return nil, codec.Unsupported(fmt.Sprintf("this variant of JPEG cannot be read (%s)", string(unsupported)),
			fmt.Sprintf("эта разновидность JPEG не читается (%s)", string(unsupported)))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.As(err, &format) && format == "short Huffman data":
		return nil, codec.Truncated()
	case errors.As(err, &format):
		return nil, codec.Damaged(fmt.Sprintf("the JPEG data are damaged (%s)", string(format)),
			fmt.Sprintf("данные JPEG повреждены (%s)", string(format)))
	}
	return nil, err
}

// compact takes the padding out of rows of n bytes, in place.
func compact(pix []uint8, stride, n, rows int) []uint8 {
	if stride != n {
		for y := 1; y < rows; y++ {
			copy(pix[y*n:(y+1)*n], pix[y*stride:])
		}
	}
	return pix[: n*rows : n*rows]
}

// convertRow makes RGB of a row of m, whose bounds begin at 0, 0.
func convertRow(dst []uint8, m *image.YCbCr, y int) {
	w := m.Rect.Dx()
	luma := m.Y[y*m.YStride:][:w:w]
	at := m.COffset(0, y)
	shift := 0
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	n := (w-1)>>shift + 1
	cb, cr := m.Cb[at:][:n:n], m.Cr[at:][:n:n]
	for x, l := range luma {
		d := dst[3*x : 3*x+3 : 3*x+3]
		d[0], d[1], d[2] = color.YCbCrToRGB(l, cb[x>>shift], cr[x>>shift])
	}
}

// eachRow runs do for the rows 0…h−1 on all processors, in bands, and stops early when ctx ends.
func eachRow(ctx context.Context, h int, do func(y int)) error {
	const band = 64
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), ceilDiv(h, band)) {
		wg.Go(func() {
			for y0 := range next {
				for y := y0; y < min(y0+band, h); y++ {
					do(y)
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
