package processing

import (
	"context"
	"slices"

	"blik/internal/parallel"
)

// The level of white around: the classical search was fitted on pictures whose white is white.
const (
	// whiteSide is the side of the squares that a picture is divided into, in pixels.
	whiteSide = 32
	// whiteReach is how many squares around one count.
	whiteReach = 8
	// darkestWhite is the lowest level of white that is made up for, enoughWhite the one from which on nothing is done;
	// shares of white in linear light.
	darkestWhite, enoughWhite = 0.2, 0.55
	// someRows is the distance of the rows that usually tell that a picture is not dark.
	someRows = 8
	// unitGain is the gain that changes nothing.
	unitGain = 4096
)

// exposed returns the picture as an exposure would have it whose white around each pixel is white, and how it became
// so; the picture itself, and nil, where it is so everywhere. The white of a square of 32 × 32 pixels is the highest
// level of any channel in it and in the squares up to eight away, W in 1/65535 of linear light; from 0.55 on it counts
// as white, below 0.2 as 0.2. Light is multiplied by k/2²⁴, rounded to nearest, where k interpolates ⌊65535·4096/W⌋
// linearly between the middles of the squares, in steps of 1/64. 8-bit samples become 8-bit sRGB, others 16 bits of
// linear light.
func (p *Picture) exposed(ctx context.Context) (*Picture, *exposure, error) {
	e := &exposure{
		surveyor: surveyor{pic: p, tables: p.Tables()},
		w:        (p.Width + whiteSide - 1) / whiteSide, h: (p.Height + whiteSide - 1) / whiteSide,
	}
	dark, err := e.gains(ctx)
	if err != nil || !dark {
		return p, nil, err
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
		e.brighten(out, from, to)
	})
}

// whiteAt returns the level of white around pixel (x, y), as a share of white in linear light; e may be nil.
func (e *exposure) whiteAt(x, y int) float64 {
	if e == nil {
		return 1
	}
	return unitGain / float64(e.gain[y/whiteSide*e.w+x/whiteSide])
}

// exposure is how much light a picture lacks.
type exposure struct {
	surveyor surveyor
	w, h     int
	// gain holds what light is multiplied by in the middle of each square, in 1/unitGain.
	gain []uint32
}

// gains fills in gain, and reports whether one exceeds 1. Levels of some rows are lower bounds: where these are already
// enough, as in most pictures, the others need not be read.
func (e *exposure) gains(ctx context.Context) (dark bool, err error) {
	for _, step := range []int{someRows, 1} {
		level, err := e.levels(ctx, step)
		if err != nil {
			return false, err
		}
		if !e.setGain(level) {
			return false, nil
		}
	}
	return true, nil
}

// levels returns the highest level of any channel in each square, in every step-th row.
func (e *exposure) levels(ctx context.Context, step int) ([]uint16, error) {
	p := e.surveyor.pic
	level := make([]uint16, e.w*e.h)
	return level, parallel.Chunks(ctx, e.h, 1, func(from, to int) {
		s := e.surveyor
		line := make([]light, p.Width)
		for y := from * whiteSide; y < min(to*whiteSide, p.Height); y += step {
			s.read(line, 0, y)
			for x := range line {
				l := &level[y/whiteSide*e.w+x/whiteSide]
				*l = max(*l, line[x].r, line[x].g, line[x].b)
			}
		}
	})
}

// setGain fills in gain from the levels of the squares, and reports whether one exceeds 1.
func (e *exposure) setGain(level []uint16) (dark bool) {
	const least, enough = darkestWhite * white, enoughWhite * white
	e.gain = make([]uint32, len(level))
	for i, highest := range e.highestAround(level) {
		highest = max(highest, least)
		if float64(highest) >= enough {
			highest = white
		}
		e.gain[i] = white * unitGain / uint32(highest)
		dark = dark || highest < white
	}
	return dark
}

// highestAround returns the highest of the levels up to whiteReach squares away from each, along rows, then columns.
func (e *exposure) highestAround(level []uint16) []uint16 {
	rows, all := make([]uint16, len(level)), make([]uint16, len(level))
	for y := range e.h {
		row := level[y*e.w:][:e.w]
		for x := range row {
			rows[y*e.w+x] = slices.Max(row[max(x-whiteReach, 0):min(x+whiteReach+1, e.w)])
		}
	}
	for y := range e.h {
		for v := max(y-whiteReach, 0); v <= min(y+whiteReach, e.h-1); v++ {
			for x := range e.w {
				all[y*e.w+x] = max(all[y*e.w+x], rows[v*e.w+x])
			}
		}
	}
	return all
}

// brighten writes the rows from … to−1 of the exposed picture.
func (e *exposure) brighten(out *Picture, from, to int) {
	s := e.surveyor
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

// between returns the two of n squares in a row between whose middles pixel x lies, and how far it is from the first to
// the second, in 1/64. Outside of the middles both are the same.
func between(x, n int) (first, second int, share uint32) {
	at := 2*x + 1 - whiteSide
	first = at >> 6
	return max(first, 0), min(first+1, n-1), uint32(at & 63)
}
