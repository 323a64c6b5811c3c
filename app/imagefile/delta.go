package imagefile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"blik/internal/parallel"
	"blik/processing"
)

// changes reduces patches to the pixels in which they differ from pic, drops empty ones, and returns the number of
// these pixels. The saved file then depends only on the pixels that change.
func changes(pic *processing.Picture, patches []processing.Patch) ([]processing.Patch, int64, error) {
	var (
		left []processing.Patch
		n    int64
		old  = pic.Samples()
		c    = pic.Channels
	)
	if err := processing.CheckPatches(pic.Width, pic.Height, pic.Channels, pic.Depth(), patches); err != nil {
		return nil, 0, err
	}
	for _, p := range patches {
		cut, fresh, at := processing.Patch{Spot: p.Spot, Method: p.Method}, p.Samples(), -c
		for _, r := range p.Runs {
			for x := r.X0; x < r.X1; x++ {
				at += c
				if old.Equal((r.Y*pic.Width+x)*c, fresh, at, c) {
					continue
				}
				cut.Append(fresh, at, at+c)
				cut.Runs = processing.AppendRun(cut.Runs, processing.Run{Y: r.Y, X0: x, X1: x + 1})
			}
		}
		if len(cut.Runs) > 0 {
			left = append(left, cut)
		}
		n += int64(processing.Pixels(cut.Runs))
	}
	return left, n, nil
}

// ChangedPixels returns the number of pixels in which a patch differs from pic.
func ChangedPixels(pic *processing.Picture, p *processing.Patch) (int64, error) {
	_, n, err := changes(pic, []processing.Patch{*p})
	return n, err
}

// MaskOf returns the mask of all pixels that the patches may change, halo included, in a picture of w × h pixels.
func MaskOf(w, h int, patches []processing.Patch) *processing.Mask {
	m := processing.NewMask(w, h)
	for _, p := range patches {
		for _, r := range p.Runs {
			for i := r.Y*w + r.X0; i < r.Y*w+r.X1; i++ {
				m.Pix[i] = 255
			}
		}
	}
	return m
}

// MaskSHA256 returns the SHA-256, in hexadecimal, of a mask as a PBM file (P4) with 1 where there is glare: it is the
// same however the mask is stored.
func MaskSHA256(m *processing.Mask) string {
	return bitmapSHA256(m.Width, m.Height, func(y int, row []bool) {
		for x, v := range m.Pix[y*m.Width : (y+1)*m.Width] {
			row[x] = v >= processing.MaskLevel
		}
	})
}

// PatchesSHA256 returns the MaskSHA256 of MaskOf.
func PatchesSHA256(w, h int, patches []processing.Patch) string {
	return bitmapSHA256(w, h, rowsOf(patches).set)
}

func bitmapSHA256(w, h int, set func(y int, row []bool)) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "P4\n%d %d\n", w, h)
	row, packed := make([]bool, w), make([]byte, (w+7)/8)
	for y := range h {
		clear(row)
		clear(packed)
		set(y, row)
		for x, is := range row {
			if is {
				packed[x/8] |= 0x80 >> (x % 8)
			}
		}
		sum.Write(packed)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// rows are runs by row, for looking up which pixels may change.
type rows map[int][]processing.Run

func rowsOf(patches []processing.Patch) rows {
	r := rows{}
	for _, p := range patches {
		for _, run := range p.Runs {
			r[run.Y] = append(r[run.Y], run)
		}
	}
	return r
}

// Position is a pixel.
type Position struct{ X, Y int }

// compare orders positions in reading order.
func (p Position) compare(q Position) int { return cmp.Or(p.Y-q.Y, p.X-q.X) }

// difference is the result of comparing two pictures.
type difference struct {
	// changed is the number of differing pixels and outside the number of those that may not differ; first holds the
	// first of the latter in reading order.
	changed, outside int64
	first            []Position
}

// firstPositions is the number of positions listed in a difference.
const firstPositions = 10

// compare compares every sample of two pictures of the same size, depth and number of channels. may sets the pixels of
// a row that may differ, in a row in which none is set; with nil all may differ.
func compare(ctx context.Context, a, b *processing.Picture, may func(y int, row []bool)) (difference, error) {
	var (
		d          difference
		mu         sync.Mutex
		w, n       = a.Width, a.Width * a.Channels
		old, fresh = a.Samples(), b.Samples()
	)
	err := eachRow(ctx, a.Height, func(y int) {
		if old.Equal(y*n, fresh, y*n, n) {
			return
		}
		row := make([]bool, w)
		if may != nil {
			may(y, row)
		}
		var of difference
		for x := range w {
			if !DifferentPixel(a, b, x, y) {
				continue
			}
			of.changed++
			if may != nil && !row[x] {
				of.outside++
				if len(of.first) < firstPositions {
					of.first = append(of.first, Position{x, y})
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		d.changed += of.changed
		d.outside += of.outside
		d.first = append(d.first, of.first...)
		slices.SortFunc(d.first, Position.compare)
		d.first = d.first[:min(len(d.first), firstPositions)]
	})
	return d, err
}

// DifferentPixel reports whether two pictures of the same kind differ in a pixel.
func DifferentPixel(a, b *processing.Picture, x, y int) bool {
	at := (y*a.Width + x) * a.Channels
	return !a.Samples().Equal(at, b.Samples(), at, a.Channels)
}

// patched returns a copy of pic with the patches applied.
func patched(ctx context.Context, pic *processing.Picture, patches []processing.Patch) (*processing.Picture, error) {
	p := *pic
	p.U8, p.U16, p.F32 = slices.Clone(pic.U8), slices.Clone(pic.U16), slices.Clone(pic.F32)
	for i := range patches {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		patches[i].Apply(&p)
	}
	return &p, nil
}

// eachRow calls f for the rows 0…h−1 on all processors until ctx is cancelled.
func eachRow(ctx context.Context, h int, f func(y int)) error {
	const band = 64
	return parallel.Chunks(ctx, h, band, func(from, to int) {
		for y := from; y < to; y++ {
			f(y)
		}
	})
}
