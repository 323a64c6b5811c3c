package experiment

import (
	"context"
	"fmt"
	"sync/atomic"

	"blik/processing"
)

// referenceWork is how many operations the reference of one check may take before it looks at a part of the rows only.
const referenceWork = 4e8

// rowsOf computes rows y0 … y1−1 of a result by its definition, without the recursion under test.
type rowsOf func(y0, y1 int) []uint8

// compareRows compares an 8-bit result with its definition: all rows where that costs no more than referenceWork, at
// cost operations a pixel and border rows besides each stretch; else stretches at the top, the bottom and between.
func compareRows(ctx context.Context, in *Input, out Output, cost float64, border int, want rowsOf) (Check, error) {
	w, h := in.Size.W, in.Size.H
	c := Check{Samples: int64(w) * int64(h)}
	if len(out.U8) != w*h {
		return c, wrongLength(len(out.U8), w*h)
	}
	const stretch = 4
	type part struct{ y0, y1 int }
	var parts []part
	if h <= 64 || float64(w)*float64(h)*cost <= referenceWork {
		// In pieces, so that all processors take part; each is long against its border.
		step := max(32, 2*border)
		for y := 0; y < h; y += step {
			parts = append(parts, part{y, min(h, y+step)})
		}
	} else {
		each := float64(w) * float64(stretch+border) * cost
		n := min(max(3, int(referenceWork/each)), 64)
		for i := range n {
			y := i * (h - stretch) / (n - 1)
			parts = append(parts, part{y, y + stretch})
		}
	}
	var compared, wrong atomic.Int64
	wrong.Store(-1)
	err := spans(ctx, all(), len(parts), 1, func(i, _ int) {
		p := parts[i]
		for k, v := range want(p.y0, p.y1) {
			if at := p.y0*w + k; out.U8[at] != v {
				wrong.CompareAndSwap(-1, int64(at))
				break
			}
		}
		compared.Add(int64(p.y1-p.y0) * int64(w))
	})
	if err != nil {
		return c, err
	}
	c.Compared = compared.Load()
	if at := int(wrong.Load()); at >= 0 {
		v := want(at/w, at/w+1)[at%w]
		return c, say(fmt.Sprintf("wrong result: %d at column %d, row %d, where the reference has %d", out.U8[at], at%w, at/w, v),
			fmt.Sprintf("неверный результат: %d в столбце %d, строке %d, а в эталоне %d", out.U8[at], at%w, at/w, v))
	}
	return c, nil
}

func wrongLength(got, want int) error {
	return say(fmt.Sprintf("wrong result: %d values, %d expected", got, want), fmt.Sprintf("неверный результат: значений %d, нужно %d", got, want))
}

// tooFar says that a deviation is larger than the tolerance; NaN is.
func (c Check) tooFar() error {
	if c.Deviation <= c.Tolerance {
		return nil
	}
	return say(fmt.Sprintf("wrong result: it deviates by %.3g from the reference, allowed is %.3g", c.Deviation, c.Tolerance),
		fmt.Sprintf("неверный результат: отклонение от эталона %.3g, допустимо %.3g", c.Deviation, c.Tolerance))
}

func text(en, ru string) processing.Text { return processing.Text{EN: en, RU: ru} }
