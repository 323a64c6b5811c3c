package jpeg

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// Inventory lists all segments except the Huffman tables, which every encoder rebuilds, the bytes between segments, and
// the data after the picture. Of the tables it lists what the compressed data do not use. The index of further pictures
// is listed by their distance from the end of the file.
func (f *File) Inventory(ctx context.Context, _ bool) (*container.Inventory, error) {
	p, err := f.coefficients(ctx)
	if err != nil {
		return nil, err
	}
	v, data := &container.Inventory{}, p.data
	v.Coverage.Mark(container.Structure, 0, 2)
	filled := p.filled
	for _, s := range p.found {
		// FF bytes may precede a marker as padding.
		before := data[s.from:s.begin]
		v.Coverage.Mark(container.Structure, int64(s.from), s.at-int64(s.from))
		if content := unfilled(before); len(content) > 0 {
			v.Coverage.Mark(container.Value, int64(s.from), int64(len(before)))
			v.Add(message.Of("data between segments"), content)
		}
		filled += len(before)
		use := container.Value
		if s.marker == markerDHT {
			use = container.Structure
		} else {
			f.add(v, s.segment, data)
		}
		v.Coverage.Mark(use, s.at, s.n)
		v.Coverage.Mark(container.Sample, s.segment.end(), int64(s.end)-s.segment.end())
	}
	rest := data[p.found[len(p.found)-1].end:]
	if len(rest) > 0 {
		v.Add(message.Of("data after the picture"), rest)
		v.Coverage.Mark(container.Value, f.size-int64(len(rest)), int64(len(rest)))
	}
	p.listUnused(v)
	if filled > maxFilled {
		v.Add(message.Of("padding between segments"), []byte(strconv.Itoa(filled))).Unused = true
	}
	return v, nil
}

// unfilled returns bytes without the FF at both ends.
func unfilled(b []byte) []byte {
	for len(b) > 0 && b[0] == 0xff {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	return b
}

// maxFilled is the number of FF bytes between the segments of a file that says nothing.
const maxFilled = 64

// listUnused lists what the compressed data do not use of the Huffman tables and of their own last bytes.
func (p *picture) listUnused(v *container.Inventory) {
	for _, h := range p.tables {
		used := map[byte]bool{}
		for _, s := range h.table.symbols {
			if h.table.seen[s] {
				used[s] = true
			}
		}
		if len(used) == 0 || len(used) < len(h.table.symbols) && !annexK(h.data) {
			name := message.Of("unused codes of Huffman table %d of class %d", h.data[0]&15, h.data[0]>>4)
			v.Add(name, h.data).Unused = true
		}
	}
	if len(p.loose) > 0 {
		v.Add(message.Of("unused bits of the compressed data"), p.loose).Unused = true
	}
}

// annexK reports whether a Huffman table is one of those in K.3, which most encoders store whole.
func annexK(data []byte) bool {
	sum := sha256.Sum256(data[1:])
	switch hex.EncodeToString(sum[:]) {
	case "2f66814c875b53173f057d784a16a34d0d1f9aa91cdfa7143c41be02c9c7b005",
		"a6283a08f5d97906b66adcc812e32396ea83059e55dd4cc91934cf447559aeb6",
		"602f734c8c12c1d9d049a18fd91d9ef3d3d8c402665f90db3d97721fc49e4804",
		"13f90e3c9dc476c66f24347f6ad29cea93262e99faed279970c2f74e0557f445":
		return true
	}
	return false
}

// add lists a segment.
func (f *File) add(v *container.Inventory, s segment, data []byte) {
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
				// It stands for no pixel.
				if of.blocks[i][at] != with.blocks[i][at] && !with.padding(i, x, y) {
					b.Hidden++
				}
				continue
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

// padding reports whether a block outside the picture holds what encoders fill it with: one value, that of another
// block of the same unit.
func (p *picture) padding(component, x, y int) bool {
	c, g, blocks := p.f.components[component], p.planes[component], p.blocks[component]
	b := blocks[y*g.stride+x]
	if (b != block{b[0]}) {
		return false
	}
	for v := y - y%c.v; v <= y; v++ {
		for h := x - x%c.h; h < x-x%c.h+c.h && (v < y || h < x); h++ {
			if blocks[v*g.stride+h][0] == b[0] {
				return true
			}
		}
	}
	return b[0] == 0
}

// coefficients reads and parses the whole file.
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
