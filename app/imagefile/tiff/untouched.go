package tiff

import (
	"bytes"
	"context"
	"io"

	"blik/app/imagefile/container"
	"blik/processing"
)

var _ container.Segmented = (*File)(nil)

// Untouched implements container.Segmented.
func (f *File) Untouched(ctx context.Context, result container.Container, patches []processing.Patch) (int, error) {
	g, ok := result.(*File)
	if !ok || f.converts() || len(f.lay.offsets) != len(g.lay.offsets) {
		return 0, nil // the pixels are stored anew
	}
	pieces, err := f.pieces(patches)
	if err != nil {
		return 0, err
	}
	touched := make([]bool, len(f.lay.offsets))
	for _, p := range pieces {
		touched[p.segment] = true
	}
	differing := 0
	a, b := make([]byte, chunk), make([]byte, chunk)
	for i, is := range touched {
		if is {
			continue
		}
		at, n := f.lay.offsets[i], f.lay.counts[i]
		if g.lay.offsets[i] != at || g.lay.counts[i] != n {
			differing++
			continue
		}
		for n = min(n, max(f.src.Size-at, 0)); n > 0; {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			k := min(n, chunk)
			for _, side := range []struct {
				f   *File
				buf []byte
			}{{f, a}, {g, b}} {
				if _, err := io.ReadFull(side.f.src.Section(at, k), side.buf[:k]); err != nil {
					return 0, container.ReadError(err)
				}
			}
			if !bytes.Equal(a[:k], b[:k]) {
				differing++
				break
			}
			at, n = at+k, n-k
		}
	}
	return differing, nil
}
