package imagefile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sync"

	"blik/app/imagefile/container"
	"blik/processing"
)

// changes reduces patches to the pixels in which they differ from pic, drops empty ones, and returns the number of
// these pixels. The saved file then depends only on the pixels that change.
func changes(pic *processing.Picture, patches []processing.Patch) ([]processing.Patch, int64, error) {
	var (
		left []processing.Patch
		n    int64
	)
	if err := container.CheckPatches(pic.Width, pic.Height, pic.Channels, pic.Depth(), patches); err != nil {
		return nil, 0, err
	}
	for _, p := range patches {
		cut := processing.Patch{Spot: p.Spot, Method: p.Method}
		switch {
		case pic.U8 != nil:
			cut.Runs, cut.U8 = differing(pic, p.Runs, pic.U8, p.U8, equal)
		case pic.U16 != nil:
			cut.Runs, cut.U16 = differing(pic, p.Runs, pic.U16, p.U16, equal)
		default:
			cut.Runs, cut.F32 = differing(pic, p.Runs, pic.F32, p.F32, sameBits)
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

func equal[T comparable](a, b T) bool { return a == b }

// sameBits reports whether two samples have the same bits, so that NaN equals itself.
func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// differing returns the parts of runs in which the samples of a patch differ from the picture, with these samples.
func differing[T any](
	pic *processing.Picture, runs []processing.Run, old, fresh []T, same func(a, b T) bool,
) ([]processing.Run, []T) {
	var (
		out     []processing.Run
		samples []T
		c       = pic.Channels
	)
	for _, r := range runs {
		at := (r.Y*pic.Width + r.X0) * c
		for x := r.X0; x < r.X1; x++ {
			a, b := old[at:at+c], fresh[:c]
			at, fresh = at+c, fresh[c:]
			if slices.EqualFunc(a, b, same) {
				continue
			}
			samples = append(samples, b...)
			if k := len(out) - 1; k >= 0 && out[k].Y == r.Y && out[k].X1 == x {
				out[k].X1++
			} else {
				out = append(out, processing.Run{Y: r.Y, X0: x, X1: x + 1})
			}
		}
	}
	return out, samples
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
		d    difference
		mu   sync.Mutex
		w, n = a.Width, a.Width * a.Channels
	)
	err := eachRow(ctx, a.Height, func(y int) {
		lo, hi := y*n, (y+1)*n
		var equalRow bool
		var differs func(i int) bool
		switch {
		case a.U8 != nil:
			p, q := a.U8[lo:hi], b.U8[lo:hi]
			equalRow = slices.Equal(p, q)
			differs = func(i int) bool { return p[i] != q[i] }
		case a.U16 != nil:
			p, q := a.U16[lo:hi], b.U16[lo:hi]
			equalRow = slices.Equal(p, q)
			differs = func(i int) bool { return p[i] != q[i] }
		default:
			p, q := a.F32[lo:hi], b.F32[lo:hi]
			equalRow = slices.EqualFunc(p, q, sameBits)
			differs = func(i int) bool { return !sameBits(p[i], q[i]) }
		}
		if equalRow {
			return
		}
		row := make([]bool, w)
		if may != nil {
			may(y, row)
		}
		var of difference
		for x := range w {
			changed := false
			for i := x * a.Channels; i < (x+1)*a.Channels; i++ {
				changed = changed || differs(i)
			}
			if !changed {
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
	for i := at; i < at+a.Channels; i++ {
		switch {
		case a.U8 != nil && a.U8[i] != b.U8[i], a.U16 != nil && a.U16[i] != b.U16[i],
			a.F32 != nil && !sameBits(a.F32[i], b.F32[i]):
			return true
		}
	}
	return false
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
