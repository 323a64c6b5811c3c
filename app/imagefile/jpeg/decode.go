package jpeg

import (
	"context"
	"io"
	"runtime"
	"sync"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// Decode returns the samples as libjpeg decodes them, to the last bit: grey, RGB, or CMYK with 0 for no ink.
func (f *File) Decode(ctx context.Context) (*processing.Picture, error) {
	if f.Info().Raw/maxExpansion > f.size {
		return nil, codec.Truncated()
	}
	data, err := f.content(ctx)
	if err != nil {
		return nil, err
	}
	p, err := f.parse(ctx, data)
	if err != nil {
		return nil, err
	}
	return p.render(ctx)
}

// content reads the whole file.
func (f *File) content(ctx context.Context) ([]byte, error) {
	data := make([]byte, f.size)
	if _, err := io.ReadFull(&contextReader{ctx, io.NewSectionReader(f.r, 0, f.size)}, data); err != nil {
		return nil, readError(err)
	}
	return data, nil
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

// eachRow runs do for the rows 0…h−1 on all processors, in bands, and stops early when ctx ends.
func eachRow(ctx context.Context, h int, do func(y int)) error {
	const band = 4
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
