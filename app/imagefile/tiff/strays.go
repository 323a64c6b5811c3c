package tiff

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"blik/app/imagefile/container"
)

// maxFill is the longest run of zeros that may fill up to the next part of a file.
const maxFill = 16

// Strays implements container.Strayer.
func (f *File) Strays(ctx context.Context, original container.Container) (int64, error) {
	spans, ok := f.spans()
	if !ok {
		return 0, container.Unsupported("the file has too many parts to say what belongs to none")
	}
	if f.lay.countsEntry != nil {
		// Those of the layout are what the samples need.
		given, err := f.src.Ints(f.lay.countsEntry, len(f.lay.offsets))
		if err != nil {
			return 0, err
		}
		for i, n := range given {
			at := f.lay.offsets[i]
			spans = append(spans, span{at, at + min(n, f.src.Size), spanOther})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	spans = append(spans, span{f.src.Size, f.src.Size, spanOther})
	from, _ := original.(*File)
	var strays, reached int64
	for _, s := range spans {
		// Tags may name parts beyond the end of the file.
		if end := min(s.at, f.src.Size); end > reached {
			n, err := f.strays(ctx, from, reached, end)
			if err != nil {
				return 0, err
			}
			strays += n
		}
		reached = max(reached, s.end)
	}
	return strays, nil
}

// strays counts the bytes from at to end, which belong to nothing, that the original does not have in the same place.
func (f *File) strays(ctx context.Context, original *File, at, end int64) (int64, error) {
	var n int64
	fill := end-at <= maxFill && end < f.src.Size
	a, b := make([]byte, min(end-at, chunk)), make([]byte, min(end-at, chunk))
	for ; at < end; at += int64(len(a)) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		a = a[:min(end-at, int64(len(a)))]
		if _, err := io.ReadFull(f.src.Section(at, int64(len(a))), a); err != nil {
			return 0, container.ReadError(err)
		}
		known := 0
		if original != nil {
			known = int(max(min(original.src.Size-at, int64(len(a))), 0))
			if _, err := io.ReadFull(original.src.Section(at, int64(known)), b[:known]); err != nil && known > 0 {
				return 0, container.ReadError(err)
			}
		}
		if bytes.Equal(a, b[:known]) {
			continue
		}
		for i, v := range a {
			if (i >= known || v != b[i]) && (v != 0 || !fill) {
				n++
			}
		}
	}
	return n, nil
}
