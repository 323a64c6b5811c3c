package experiment

import (
	"context"
	"slices"

	"blik/internal/message"
	"blik/internal/parallel"
)

// referenceWork is the number of operations above which the reference of a check covers only some of the rows.
const referenceWork = 4e8

// rowsOf computes rows y0 … y1−1 of a result by its definition, without the recursion under test. After a cancel the
// result is undefined.
type rowsOf func(y0, y1 int) []uint8

// referenceRows caches the reference of the last case of an input, because all variants are compared with the same one.
type referenceRows struct {
	key   string
	parts []knownRows
}

// knownRows are rows y0 … y1−1 of the reference.
type knownRows struct {
	y0, y1 int
	pix    []uint8
}

// compareRows compares an 8-bit result with its definition: all rows if that takes at most referenceWork operations, at
// cost operations per pixel; otherwise bands of rows at the top, at the bottom and in between. Each band needs border
// more rows of input on either side.
func compareRows(
	ctx context.Context, in *Input, c Case, out Output, cost float64, border int, want rowsOf,
) (Check, error) {
	w, h := in.Size.W, in.Size.H
	r := Check{Samples: int64(w) * int64(h)}
	if len(out.U8) != w*h {
		return r, wrongLength(len(out.U8), w*h)
	}
	if in.known.key != c.key() {
		parts := stretches(w, h, cost, border)
		err := parallel.Each(ctx, len(parts), func(i int) { parts[i].pix = want(parts[i].y0, parts[i].y1) })
		if err != nil {
			return r, err
		}
		in.known = referenceRows{key: c.key(), parts: parts}
	}
	for _, p := range in.known.parts {
		r.Compared += int64(len(p.pix))
		got := out.U8[p.y0*w : p.y1*w]
		if slices.Equal(got, p.pix) {
			continue
		}
		for i, v := range p.pix {
			if got[i] != v {
				x, y := i%w, p.y0+i/w
				return r, message.Errorf("wrong result: %d at column %d, row %d, where the reference has %d",
					got[i], x, y, v)
			}
		}
	}
	return r, nil
}

// stretches chooses the bands of rows to compare. They do not overlap.
func stretches(w, h int, cost float64, border int) []knownRows {
	const rows = 4
	var parts []knownRows
	if h <= 64*rows || float64(w)*float64(h)*cost <= referenceWork {
		// In pieces, so that all processors take part; each is much longer than its border.
		step := max(8, 2*border)
		for y := 0; y < h; y += step {
			parts = append(parts, knownRows{y0: y, y1: min(h, y+step)})
		}
		return parts
	}
	each := float64(w) * float64(rows+border) * cost
	n := min(max(3, int(referenceWork/each)), 64)
	for i := range n {
		y := i * (h - rows) / (n - 1)
		parts = append(parts, knownRows{y0: y, y1: y + rows})
	}
	return parts
}

func wrongLength(got, want int) error {
	return message.Errorf("wrong result: %d values, %d expected", got, want)
}

// tooFar returns an error if the deviation exceeds the tolerance or is NaN.
func (c Check) tooFar() error {
	if c.Deviation <= c.Tolerance {
		return nil
	}
	return message.Errorf("wrong result: it deviates from the reference by %.3g, more than the %.3g allowed",
		c.Deviation, c.Tolerance)
}
