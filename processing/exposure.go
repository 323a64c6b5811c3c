package processing

import (
	"context"
	"image"
	"slices"

	"blik/internal/parallel"
)

// Brightening of dark pictures: search, network and weights were fitted on pictures with full white.
const (
	// whiteSide is the side of the squares that a picture is divided into, in pixels.
	whiteSide = 32
	// darkestWhite is the lowest level of white that is fully made up for, as a share of white in linear light.
	darkestWhite = 0.2
	// someRows is the step between rows that usually suffice to show that a picture is not dark.
	someRows = 8
	// unitGain is a gain of 1.
	unitGain = 4096
)

// whiteRule defines where a picture is dark, and how much it is brightened there.
type whiteRule struct {
	// reach is how many squares around each count, and least how many of them must lie in the picture: fewer may all be
	// dark paint.
	reach, least int
	// enough is the level of white from which on nothing changes, target the level that lower ones are raised to; in
	// 1/65535 of linear light.
	enough, target uint32
}

// whiteRule returns the rule of the detector; ok is false in manual mode, where the user sets the levels. The classical
// detector uses the white nearby, and so finds more in the dark parts of a picture. The other detectors find glints
// there without it; for them, only what has no white within a thousand pixels is dark, in a picture of at least a
// megapixel. A target below white keeps their findings there as precise as elsewhere.
func (d *detector) whiteRule() (r whiteRule, ok bool) {
	switch {
	case d.p.Mode != Adaptive:
		return r, false
	case d.ruleID == RuleClassic:
		return whiteRule{reach: 8, enough: white*55/100 + 1, target: white}, true
	}
	return whiteRule{reach: 32, least: 1024, enough: white*51/100 + 1, target: white * 85 / 100}, true
}

// exposed brightens the picture until the white around each pixel is the target, and returns it with the gains. If
// nothing is dark it returns the picture itself, and an exposure without gains. If known is not nil, it holds the
// gains. tables are those of the picture.
//
// The white of a square of 32 × 32 pixels is the highest level of any channel in it and in the squares up to the rule's
// reach away: W, in 1/65535 of linear light, at least 0.2. Nothing changes where that is enough, or where too few
// squares lie in the picture. Light is multiplied by k/2²⁴, rounded to nearest, where k interpolates ⌊target·4096/W⌋
// linearly between the centres of the squares, in steps of 1/64. 8-bit samples become 8-bit sRGB, others 16 bits of
// linear light.
func (p *Picture) exposed(
	ctx context.Context, tables *LuminanceTables, rule whiteRule, known *exposure,
) (*Picture, *exposure, error) {
	s := surveyor{pic: p, tables: tables}
	e := known
	if e == nil {
		e = newExposure(p.Width, p.Height)
		if err := e.measure(ctx, s, image.Rect(0, 0, p.Width, p.Height), rule); err != nil {
			return p, nil, err
		}
	}
	if e.gain == nil {
		return p, e, nil
	}
	channels := 3
	if p.Channels == 1 {
		channels = 1
	}
	out := &Picture{Width: p.Width, Height: p.Height, Channels: channels}
	if p.U8 != nil {
		out.U8 = make([]uint8, p.Width*p.Height*channels)
	} else {
		out.Transfer, out.U16 = TransferLinear, make([]uint16, p.Width*p.Height*channels)
	}
	const rows = 16
	return out, e, parallel.Chunks(ctx, p.Height, rows, func(from, to int) {
		e.brighten(out, s, from, to)
	})
}

// exposure holds the gains by which a picture is brightened.
type exposure struct {
	// w and h are the numbers of squares.
	w, h int
	// gain is what light is multiplied by at the centre of each square, in 1/unitGain; nil if nothing is dark.
	gain []uint32
}

// newExposure returns an exposure without gains.
func newExposure(width, height int) *exposure {
	return &exposure{w: (width + whiteSide - 1) / whiteSide, h: (height + whiteSide - 1) / whiteSide}
}

// whiteAt returns the white level around pixel (x, y) before brightening, relative to that after it; e may be nil.
func (e *exposure) whiteAt(x, y int) float64 {
	if e == nil || e.gain == nil {
		return 1
	}
	return unitGain / float64(e.gain[y/whiteSide*e.w+x/whiteSide])
}

// part returns the exposure of a part of the picture that begins at square (x, y).
func (e *exposure) part(x, y, width, height int) *exposure {
	part := newExposure(width, height)
	if e.gain != nil {
		for row := range part.h {
			part.gain = append(part.gain, e.gain[(y+row)*e.w+x:][:part.w]...)
		}
	}
	return part
}

// measure sets the gains from an area of the surveyed picture. Levels of some rows are lower bounds: squares around
// which these are already enough, as all in most pictures, are not dark. Other rows are read only where the levels
// around the other squares depend on them.
func (e *exposure) measure(ctx context.Context, s surveyor, area image.Rectangle, rule whiteRule) error {
	level, wanted := make([]uint16, e.w*e.h), slices.Repeat([]uint16{1}, e.w*e.h)
	for _, step := range []int{whiteSide, someRows, 1} {
		if err := e.raise(ctx, level, wanted, s, area, step); err != nil {
			return err
		}
		if e.setGain(level, rule); e.gain == nil {
			return nil
		}
		for i, gain := range e.gain {
			wanted[i] = uint16(min(gain-unitGain, 1))
		}
		wanted = e.highestAround(wanted, rule.reach)
	}
	return nil
}

// raise raises the levels of the squares that are wanted to the highest of any channel in every step-th row.
func (e *exposure) raise(
	ctx context.Context, level, wanted []uint16, s surveyor, area image.Rectangle, step int,
) error {
	return parallel.Chunks(ctx, e.h, 1, func(from, to int) {
		s := s
		line := make([]light, area.Dx())
		for y := from * whiteSide; y < min(to*whiteSide, area.Dy()); y += step {
			row := y / whiteSide * e.w
			for first := 0; first < e.w; first++ {
				end := first
				for end < e.w && wanted[row+end] != 0 {
					end++
				}
				if end == first {
					continue
				}
				run := line[:min(end*whiteSide, area.Dx())-first*whiteSide]
				s.read(run, area.Min.X+first*whiteSide, area.Min.Y+y)
				for i := first; i < end; i++ {
					l := level[row+i]
					square := run[(i-first)*whiteSide:]
					for _, c := range square[:min(whiteSide, len(square))] {
						l = max(l, c.r, c.g, c.b)
					}
					level[row+i] = l
				}
				first = end
			}
		}
	})
}

// setGain sets the gains from the levels of the squares; nil where none is dark.
func (e *exposure) setGain(level []uint16, rule whiteRule) {
	const least = darkestWhite * white
	dark := false
	e.gain = make([]uint32, len(level))
	for i, highest := range e.highestAround(level, rule.reach) {
		e.gain[i] = unitGain
		w := uint32(max(highest, least))
		if w < rule.enough && within(i%e.w, rule.reach, e.w)*within(i/e.w, rule.reach, e.h) >= rule.least {
			e.gain[i], dark = rule.target*unitGain/w, true
		}
	}
	if !dark {
		e.gain = nil
	}
}

// within counts those of n squares in a row that lie up to reach away from square at, including it.
func within(at, reach, n int) int { return min(at+reach, n-1) - max(at-reach, 0) + 1 }

// highestAround returns the highest of the levels up to reach squares away from each.
func (e *exposure) highestAround(level []uint16, reach int) []uint16 {
	across, down := make([]uint16, e.w+2*reach), make([]uint16, e.h+2*reach)
	all := make([]uint16, len(level))
	for y := range e.h {
		clear(across)
		copy(across[reach:], level[y*e.w:][:e.w])
		copy(all[y*e.w:], highestOf(across, 2*reach+1))
	}
	for x := range e.w {
		clear(down)
		for y := range e.h {
			down[reach+y] = all[y*e.w+x]
		}
		for y, v := range highestOf(down, 2*reach+1) {
			all[y*e.w+x] = v
		}
	}
	return all
}

// highestOf returns the maxima of all n consecutive values, from windows twice as wide in each step. It overwrites the
// values.
func highestOf(values []uint16, n int) []uint16 {
	width := 1
	for ; 2*width <= n; width *= 2 {
		for i := range len(values) - width {
			values[i] = max(values[i], values[i+width])
		}
	}
	for i := range len(values) - n + 1 {
		values[i] = max(values[i], values[i+n-width])
	}
	return values[:len(values)-n+1]
}

// brighten writes the rows from … to−1 of the exposed picture.
func (e *exposure) brighten(out *Picture, s surveyor, from, to int) {
	line, gain := make([]light, out.Width), make([]uint32, e.w)
	for y := from; y < to; y++ {
		s.read(line, 0, y)
		above, below, ay := between(y, e.h)
		for i := range gain {
			gain[i] = (64-ay)*e.gain[above*e.w+i] + ay*e.gain[below*e.w+i]
		}
		at, n := y*out.Width*out.Channels, out.Width*out.Channels
		if out.U8 != nil {
			encode := s.tables.Encode8
			brightenRow(out.U8[at:at+n], line, gain, func(v uint16) uint8 { return encode[v] })
		} else {
			brightenRow(out.U16[at:at+n], line, gain, func(v uint16) uint16 { return v })
		}
	}
}

// brightenRow writes samples of one or three channels, given the gains of the row's squares in 1/(64·unitGain).
func brightenRow[S uint8 | uint16](dst []S, line []light, gain []uint32, encode func(uint16) S) {
	grey := len(dst) == len(line)
	for x := range line {
		left, right, ax := between(x, len(gain))
		k, c := uint64((64-ax)*gain[left]+ax*gain[right]), &line[x]
		if grey {
			dst[x] = encode(multiplied(c.y, k))
			continue
		}
		to := dst[3*x:][:3]
		to[0], to[1], to[2] = encode(multiplied(c.r, k)), encode(multiplied(c.g, k)), encode(multiplied(c.b, k))
	}
}

// multiplied returns v·k/2²⁴, rounded to nearest, at most white.
func multiplied(v uint16, k uint64) uint16 { return uint16(min((uint64(v)*k+1<<23)>>24, white)) }

// between returns the two of n squares in a row whose centres enclose pixel x, and how far it is from the first to the
// second, in 1/64. Beyond the outer centres both are the same.
func between(x, n int) (first, second int, share uint32) {
	at := 2*x + 1 - whiteSide
	first = at >> 6
	return max(first, 0), min(first+1, n-1), uint32(at & 63)
}
