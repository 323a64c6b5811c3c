package jpeg

import (
	"bytes"
	"context"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// Inventory lists all segments except the Huffman tables, which every encoder rebuilds, the bytes between segments, and
// the data after the picture. The index of further pictures is listed by their distance from the end of the file.
func (f *File) Inventory(ctx context.Context, _ bool) (*container.Inventory, error) {
	data, err := f.content(ctx)
	if err != nil {
		return nil, err
	}
	p, err := f.parse(ctx, data)
	if err != nil {
		return nil, err
	}
	v := &container.Inventory{}
	for i, part := range p.pieces {
		rest := part.data
		if i == len(p.pieces)-1 {
			// It begins with EOI, or with segments before that.
			if rest, err = f.list(v, rest); err != nil {
				return nil, err
			}
			if len(rest) > 0 {
				v.Add(message.Of("data after the picture"), rest)
			}
			return v, nil
		}
		for len(rest) > 0 {
			begin, s, err := nextSegment(rest, 0)
			if err != nil {
				v.Add(message.Of("data between segments"), rest)
				break
			}
			f.add(v, rest[:begin], s, rest)
			rest = rest[s.end():]
		}
	}
	return v, nil
}

// list lists the segments up to EOI and returns the data after it.
func (f *File) list(v *container.Inventory, rest []byte) ([]byte, error) {
	for {
		begin, s, err := nextSegment(rest, 0)
		if err != nil {
			return nil, err
		}
		f.add(v, rest[:begin], s, rest)
		rest = rest[s.end():]
		if s.marker == markerEOI {
			return rest, nil
		}
	}
}

// add lists a segment and the bytes before it, except FF padding before the marker.
func (f *File) add(v *container.Inventory, before []byte, s segment, data []byte) {
	if before = bytes.Trim(before, "\xff"); len(before) > 0 {
		v.Add(message.Of("data between segments"), before)
	}
	body := data[s.at:s.end()]
	if s.marker == markerAPP2 {
		body = bytes.Clone(body)
		moveIndex(body, -int(f.size))
	}
	v.Add(message.Of("segment FF%02X", s.marker), body)
}

// Blocks implements container.BlockCoder.
func (f *File) Blocks(ctx context.Context, other container.Container, may func(y int, row []bool)) (
	container.Blocks, error,
) {
	of, err := f.coefficients(ctx)
	if err != nil {
		return container.Blocks{}, err
	}
	g, ok := other.(*File)
	if !ok {
		return container.Blocks{}, container.Unsupported("only a JPEG has blocks to compare")
	}
	with, err := g.coefficients(ctx)
	if err != nil {
		return container.Blocks{}, err
	}
	if !sameGrids(of, with) {
		return container.Blocks{}, container.Unsupported("the two JPEG files divide the picture in different ways")
	}
	touched := f.touched(of, may)
	b := container.Blocks{Reach: f.reach(of, touched)}
	for i, g := range of.planes {
		for at := range of.blocks[i] {
			x, y := at%g.stride, at/g.stride
			if x >= g.width || y >= g.height {
				continue // stands for no pixel
			}
			b.Total++
			if of.blocks[i][at] == with.blocks[i][at] {
				continue
			}
			b.Changed++
			if !touched[i][at] {
				b.Outside++
			}
		}
	}
	return b, nil
}

func (f *File) coefficients(ctx context.Context) (*picture, error) {
	data, err := f.content(ctx)
	if err != nil {
		return nil, err
	}
	return f.parse(ctx, data)
}

// sameGrids reports whether two pictures have the same grids of blocks and the same steps of their coefficients.
func sameGrids(a, b *picture) bool {
	if len(a.planes) != len(b.planes) {
		return false
	}
	for i := range a.planes {
		x, y := a.quant[i], b.quant[i]
		if a.planes[i] != b.planes[i] || (x == nil) != (y == nil) || x != nil && *x != *y {
			return false
		}
	}
	return true
}

// touched returns the blocks of each component that hold a sample of a pixel that may change.
func (f *File) touched(p *picture, may func(y int, row []bool)) [][]bool {
	maxH, maxV := f.sampling()
	all := make([][]bool, len(p.planes))
	for i, g := range p.planes {
		all[i] = make([]bool, g.stride*g.rows)
	}
	row := make([]bool, f.width)
	for y := range f.height {
		clear(row)
		may(y, row)
		for x, ok := range row {
			if !ok {
				continue
			}
			for i, c := range f.components {
				all[i][y*c.v/maxV/8*p.planes[i].stride+x*c.h/maxH/8] = true
			}
		}
	}
	return all
}

// reach returns container.Blocks.Reach: decoders that interpolate chroma look one sample beyond a block.
func (f *File) reach(p *picture, touched [][]bool) func(y int, row []bool) {
	maxH, maxV := f.sampling()
	return func(y int, row []bool) {
		for i, c := range f.components {
			across, down, g := maxH/c.h, maxV/c.v, p.planes[i]
			beyondX, beyondY := 0, 0
			if across > 1 {
				beyondX = across
			}
			if down > 1 {
				beyondY = down
			}
			for _, near := range []int{y - beyondY, y, y + beyondY} {
				if near < 0 || near >= f.height {
					continue
				}
				line := touched[i][near/down/8*g.stride:][:g.width]
				for x, ok := range line {
					if ok {
						from, to := x*8*across-beyondX, (x+1)*8*across+beyondX
						for k := max(from, 0); k < min(to, f.width); k++ {
							row[k] = true
						}
					}
				}
			}
		}
	}
}
