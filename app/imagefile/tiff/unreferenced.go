package tiff

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"blik/app/imagefile/container"
)

// maxFill is the longest zero padding accepted before the next part of a file.
const maxFill = 16

// Unreferenced implements container.UnreferencedCounter. What lies within the length of the original and what was added
// behind it are judged apart, because padding may follow bytes that the original has there.
func (f *File) Unreferenced(ctx context.Context, original container.Container) (int64, error) {
	spans, ok := f.spans()
	if !ok {
		return 0, container.Unsupported("the file has too many parts to find bytes that belong to none of them")
	}
	// The inventory compares it.
	spans = append(spans, span{f.promiseAt, f.promiseAt + int64(len(f.promise)), spanOther})
	if f.lay.countsEntry != nil {
		// The counts of the layout are those that the samples need; the file may state larger ones.
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
	var unreferenced, reached, known int64
	if from != nil {
		known = from.src.Size
	}
	for _, s := range spans {
		// Tags may name parts beyond the end of the file.
		end := min(s.at, f.src.Size)
		for _, part := range [][2]int64{{reached, min(end, known)}, {max(reached, known), end}} {
			if part[0] >= part[1] {
				continue
			}
			n, err := f.unreferenced(ctx, from, part[0], part[1])
			if err != nil {
				return 0, err
			}
			unreferenced += n
		}
		reached = max(reached, s.end)
	}
	return unreferenced, nil
}

// unreferenced counts the bytes from at to end, to which nothing refers, that differ from the original at the same
// offset.
func (f *File) unreferenced(ctx context.Context, original *File, at, end int64) (int64, error) {
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
