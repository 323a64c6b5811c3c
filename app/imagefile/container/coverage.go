package container

import (
	"cmp"
	"context"
	"io"
	"slices"
)

// Use is the purpose that the bytes of a file serve.
type Use uint8

// The uses. A byte with several counts as the last of them.
const (
	// Structure: lengths, offsets, codes and checksums, which the reader follows or checks.
	Structure Use = iota
	// Value: bytes that the inventory compares.
	Value
	// Sample: bytes that are decoded to samples, encoded or not.
	Sample
	uses
)

// Coverage records what the bytes of a file are used for. Everything unmarked is unused.
type Coverage struct {
	spans []covered
	rests map[Remainder]Range
}

type covered struct {
	Range
	use Use
}

// Range is N bytes from offset At on.
type Range struct{ At, N int64 }

// Remainder names bytes of a file that nothing uses but that belong to something: those of a strip behind its
// samples, those of an entry behind its value.
type Remainder struct {
	Name  string
	Index int64
}

// Mark records the use of n bytes. Bytes beyond the end of the file are ignored.
func (c *Coverage) Mark(use Use, at, n int64) {
	if n > 0 && at >= 0 {
		c.spans = append(c.spans, covered{Range{at, n}, use})
	}
}

// Rest names n bytes, used or not: those of them that are not used may be those of the same remainder of the original.
func (c *Coverage) Rest(part Remainder, at, n int64) {
	if n <= 0 {
		return
	}
	if c.rests == nil {
		c.rests = map[Remainder]Range{}
	}
	c.rests[part] = Range{at, n}
}

// Account says what the bytes of a file are. Its numbers sum to Size.
type Account struct {
	Size int64
	// Samples, Values and Structure count bytes by use.
	Samples, Values, Structure int64
	// Carried are unused bytes carried over from the original, Fill unused zero bytes before the next part.
	Carried, Fill int64
	// Foreign are all other bytes.
	Foreign int64
}

// Sum returns the sum of all counts.
func (a Account) Sum() int64 {
	return a.Samples + a.Values + a.Structure + a.Carried + a.Fill + a.Foreign
}

// maxFill is the longest zero padding accepted before the next part of a file.
const maxFill = 16

// Covered is a file with the uses of its bytes.
type Covered struct {
	R    io.ReaderAt
	Size int64
	*Coverage
}

// Account counts the bytes of a file. Unused ones are carried over if they have the same value at the same offset of
// the original, or in the same Part of it. Without an original there are none.
func (c Covered) Account(ctx context.Context, original *Covered) (Account, error) {
	a := Account{Size: c.Size}
	s := settler{ctx: ctx, of: c, original: original, account: &a}
	for part, r := range c.rests {
		s.parts = append(s.parts, named{r, part})
	}
	slices.SortFunc(s.parts, func(x, y named) int { return cmp.Compare(x.At, y.At) })
	// The spans of each use become disjoint; a later use takes bytes from an earlier one.
	var sum [uses]int64
	reached := int64(0)
	for _, g := range c.segments() {
		if g.At > reached {
			if err := s.gap(reached, g.At); err != nil {
				return a, err
			}
		}
		sum[g.use] += g.N
		reached = g.At + g.N
	}
	a.Structure, a.Values, a.Samples = sum[Structure], sum[Value], sum[Sample]
	return a, s.gap(reached, c.Size)
}

// segments returns the marked bytes of the file as disjoint ranges in order.
func (c Covered) segments() []covered {
	type edge struct {
		at    int64
		use   Use
		delta int
	}
	var edges []edge
	for _, s := range c.spans {
		if end := min(s.At+s.N, c.Size); s.At < end {
			edges = append(edges, edge{s.At, s.use, 1}, edge{end, s.use, -1})
		}
	}
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Compare(x.at, y.at) })
	var (
		open [uses]int
		out  []covered
	)
	for i, e := range edges {
		if i > 0 && e.at > edges[i-1].at {
			for use := uses; use > 0; use-- {
				if open[use-1] > 0 {
					from := edges[i-1].at
					out = append(out, covered{Range{from, e.at - from}, use - 1})
					break
				}
			}
		}
		open[e.use] += e.delta
	}
	return out
}

// settler judges unused bytes.
type settler struct {
	ctx      context.Context
	of       Covered
	original *Covered
	account  *Account
	parts    []named
}

type named struct {
	Range
	part Remainder
}

// gap judges the unused bytes from at to end. Those beyond the end of the original are judged separately: what stands
// before them has nothing to do with their number.
func (s *settler) gap(at, end int64) error {
	if s.original != nil && at < s.original.Size && s.original.Size < end {
		if err := s.judge(at, s.original.Size); err != nil {
			return err
		}
		at = s.original.Size
	}
	return s.judge(at, end)
}

// gapBlock is the number of bytes judged at a time.
const gapBlock = 256 << 10

func (s *settler) judge(at, end int64) error {
	fill := end-at <= maxFill && end < s.of.Size
	for ; at < end; at += gapBlock {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		data := make([]byte, min(end-at, gapBlock))
		if err := ReadFull(s.of.R, data, at); err != nil {
			return err
		}
		var old []byte
		if s.original != nil {
			old = make([]byte, max(min(s.original.Size-at, int64(len(data))), 0))
			if err := ReadFull(s.original.R, old, at); err != nil {
				return err
			}
		}
		accepted := make([]bool, len(data))
		for i, v := range data {
			if i < len(old) && v == old[i] {
				accepted[i] = true
				s.account.Carried++
			}
		}
		if err := s.carried(at, data, accepted); err != nil {
			return err
		}
		for i, v := range data {
			switch {
			case accepted[i]:
			case v == 0 && fill:
				s.account.Fill++
			default:
				s.account.Foreign++
			}
		}
	}
	return nil
}

// carried accepts the bytes that are those of the same remainder of the original.
func (s *settler) carried(at int64, data []byte, accepted []bool) error {
	if s.original == nil || !slices.Contains(accepted, false) {
		return nil
	}
	end := at + int64(len(data))
	// Gaps come in order.
	for len(s.parts) > 0 && s.parts[0].At+s.parts[0].N <= at {
		s.parts = s.parts[1:]
	}
	for _, p := range s.parts {
		if p.At >= end {
			break
		}
		from, to := max(p.At, at), min(p.At+p.N, end)
		old, ok := s.original.rests[p.part]
		if from >= to || !ok {
			continue
		}
		to = min(to, p.At+old.N)
		if from >= to || !slices.Contains(accepted[from-at:to-at], false) {
			continue
		}
		same := make([]byte, to-from)
		if err := ReadFull(s.original.R, same, old.At+from-p.At); err != nil {
			return err
		}
		for i, v := range same {
			if k := from - at + int64(i); !accepted[k] && data[k] == v {
				accepted[k] = true
				s.account.Carried++
			}
		}
	}
	return nil
}
