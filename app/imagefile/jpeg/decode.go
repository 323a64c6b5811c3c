package jpeg

import (
	"context"
	"io"

	"blik/app/imagefile/container"
	"blik/processing"
)

// Decode returns the samples as libjpeg decodes them, to the last bit: grey, RGB, or CMYK with 0 for no ink.
func (f *File) Decode(ctx context.Context) (*processing.Picture, error) {
	if f.Info().Raw/maxExpansion > f.size {
		return nil, container.Truncated()
	}
	p, err := f.coefficients(ctx)
	if err != nil {
		return nil, err
	}
	return p.render(ctx)
}

// Trailing implements container.Trailer.
func (f *File) Trailing(ctx context.Context) (int64, error) {
	data, err := f.content(ctx)
	if err != nil {
		return 0, err
	}
	for at := f.scans; ; {
		_, s, err := nextSegment(data, int(at))
		if err != nil {
			return 0, nil // Decode judges a file without an end
		}
		if at = s.end(); s.marker == markerEOI {
			return f.size - at, nil
		}
	}
}

// content reads the whole file.
func (f *File) content(ctx context.Context) ([]byte, error) {
	data := make([]byte, f.size)
	if _, err := io.ReadFull(&contextReader{ctx, io.NewSectionReader(f.r, 0, f.size)}, data); err != nil {
		return nil, container.ReadError(err)
	}
	return data, nil
}

// contextReader stops reading when the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
