package jpeg

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/processing"
)

// Rewrite writes the file with its pixels replaced by those of the patches, as accurately as JPEG permits: the
// coefficients of blocks of 8 × 8 samples in which a sample changes by half a level or more are recomputed with the
// file's own quantisation; all other blocks stay unchanged. With subsampled chroma, a chroma block covers more pixels,
// and decoders that interpolate chroma use one more sample beyond it.
//
// The JPEG process, its scans and restarts stay the same. Huffman codes are rebuilt; all other segments and the data
// after the picture stay byte for byte, except that an index of further pictures in the file (CIPA DC-007) is adjusted
// to the new length.
//
// The patches must have the channels of Decode's picture. If no pixel differs from it, the file is copied. Rewrite
// holds the whole file, twice, and two bytes for each sample.
func (f *File) Rewrite(ctx context.Context, w io.Writer, patches []processing.Patch) error {
	edits, err := f.edits(ctx, patches)
	if err != nil {
		return err
	}
	if len(edits) == 0 {
		_, err := io.Copy(w, &contextReader{ctx, io.NewSectionReader(f.r, 0, f.size)})
		return err
	}
	p, err := f.coefficients(ctx)
	if err != nil {
		return err
	}
	for i := range f.components {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.change(i, edits); err != nil {
			return err
		}
	}
	pieces := [][]byte{p.data[:2]}
	for _, part := range p.pieces {
		if part.scan == nil {
			pieces = append(pieces, part.data)
			continue
		}
		tables, scanned, err := p.encode(ctx, part.scan)
		if err != nil {
			return err
		}
		pieces = append(pieces, tables, part.data, scanned)
	}
	grown := -len(p.data)
	for _, part := range pieces {
		grown += len(part)
	}
	if grown != 0 {
		moveFurtherPictures(pieces[1], grown)
	}
	for _, part := range pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// edit is a pixel that changes. old and fresh are its samples in the components of the file, before subsampling.
type edit struct {
	x, y       int
	old, fresh [4]float32
}

// edits compares the patches with the picture.
func (f *File) edits(ctx context.Context, patches []processing.Patch) ([]edit, error) {
	if len(patches) == 0 {
		return nil, nil
	}
	channels := f.Info().Channels()
	if err := processing.CheckPatches(f.width, f.height, channels, 8, patches); err != nil {
		return nil, err
	}
	pic, err := f.Decode(ctx)
	if err != nil {
		return nil, err
	}
	components := f.converter()
	var edits []edit
	for _, p := range patches {
		samples := p.U8
		for _, r := range p.Runs {
			for x := r.X0; x < r.X1; x++ {
				fresh, old := samples[:channels], pic.U8[(r.Y*f.width+x)*channels:][:channels]
				samples = samples[channels:]
				if !bytes.Equal(fresh, old) {
					edits = append(edits, edit{x, r.Y, components(old), components(fresh)})
				}
			}
		}
	}
	return edits, nil
}

// converter returns the function that converts samples of the picture back to samples of the components.
func (f *File) converter() func(pixel []uint8) [4]float32 {
	// The matrix of JFIF (ITU-T T.871, 7).
	ycc := func(pixel []uint8) (c [4]float32) {
		r, g, b := float32(pixel[0]), float32(pixel[1]), float32(pixel[2])
		c[0] = 0.299*r + 0.587*g + 0.114*b
		c[1] = (b-c[0])/1.772 + 128
		c[2] = (r-c[0])/1.402 + 128
		return c
	}
	plain := func(pixel []uint8) (c [4]float32) {
		for i, v := range pixel {
			c[i] = float32(v)
		}
		return c
	}
	switch f.colour() {
	case container.YCbCr:
		return ycc
	case container.YCCK:
		// YCbCr encodes cyan, magenta and yellow as if they were red, green and blue; black is inverted.
		return func(pixel []uint8) [4]float32 {
			c := ycc(pixel)
			c[3] = 255 - float32(pixel[3])
			return c
		}
	case container.CMYK:
		if f.adobe >= 0 {
			return func(pixel []uint8) [4]float32 {
				c := plain(pixel)
				for i, v := range c {
					c[i] = 255 - v
				}
				return c
			}
		}
	}
	return plain
}

// target accumulates, for each sample of a block, the sums of the old and new values of its pixels, and their number.
type target struct {
	old, fresh [64]float32
	pixels     [64]uint8
}

// least is the smallest change of a sample, in levels, for which a block is recomputed.
const least = 0.5

// change computes the blocks of a component in which samples change.
func (p *picture) change(component int, edits []edit) error {
	c, g := p.f.components[component], p.planes[component]
	maxH, maxV := p.f.sampling()
	// The pixels covered by a sample.
	across, down := maxH/c.h, maxV/c.v
	targets := map[int]*target{}
	for i := range edits {
		e := &edits[i]
		x, y := e.x/across, e.y/down
		at := y/8*g.stride + x/8
		t := targets[at]
		if t == nil {
			t = new(target)
			targets[at] = t
		}
		k := y%8*8 + x%8
		t.old[k] += e.old[component]
		t.fresh[k] += e.fresh[component]
		t.pixels[k]++
	}
	quant := p.quant[component]
	if quant == nil && len(targets) > 0 {
		return container.Damaged("a quantisation table (DQT) is missing")
	}
	for at, t := range targets {
		// At the right and lower border a sample covers fewer pixels.
		pixels := func(k int) float32 {
			x, y := at%g.stride*8+k%8, at/g.stride*8+k/8
			return float32(min(across, p.f.width-x*across) * min(down, p.f.height-y*down))
		}
		changes := false
		for k, n := range t.pixels {
			changes = changes || n > 0 && max(t.fresh[k]-t.old[k], t.old[k]-t.fresh[k]) >= least*pixels(k)
		}
		if !changes {
			continue
		}
		// The pixels of the patches get their new value, the others keep theirs: not the clipped decoded sample but the
		// unclipped one from the coefficients, so that values above white do not become too dark.
		b := &p.blocks[component][at]
		samples := inverse(b, quant)
		var difference [64]float64
		for k, n := range t.pixels {
			if n > 0 {
				difference[k] = (float64(t.fresh[k]) - float64(n)*samples[k]) / float64(pixels(k))
			}
		}
		add(b, quant, forward(&difference))
	}
	return nil
}

// add adds a difference of dequantised coefficients to a block. Coefficients that it changes by less than half a step
// stay.
func add(b *block, quant *[64]uint16, difference [64]float64) {
	for k, c := range b {
		step := float64(quant[k])
		v := math.Round((float64(c)*step + difference[zigzag[k]]) / step)
		// Baseline codes hold 10 bits for AC and 11 for DC differences (F.1.2). With 8-bit samples, only rounding can
		// exceed these.
		if lo, hi := -1023.0, 1023.0; v != float64(c) {
			if k == 0 {
				lo = -1024
			}
			b[k] = int16(min(max(v, lo), hi))
		}
	}
}

// basis returns the orthonormal cosines of the transform, one frequency per row (A.3.3).
func basis() (m [8][8]float64) {
	for u := range m {
		for x := range m[u] {
			m[u][x] = math.Cos(float64((2*x+1)*u)*math.Pi/16) / 2
			if u == 0 {
				m[u][x] = math.Sqrt2 / 4
			}
		}
	}
	return m
}

// transformed returns m · block · mᵀ; blocks are in rows of eight.
func transformed(m *[8][8]float64, block *[64]float64) (out [64]float64) {
	var half [64]float64
	for y := range 8 {
		for u := range 8 {
			for x := range 8 {
				half[8*y+u] += m[u][x] * block[8*y+x]
			}
		}
	}
	for v := range 8 {
		for u := range 8 {
			for y := range 8 {
				out[8*v+u] += m[v][y] * half[8*y+u]
			}
		}
	}
	return out
}

// forward returns the coefficients of samples.
func forward(samples *[64]float64) [64]float64 {
	m := basis()
	return transformed(&m, samples)
}

// inverse returns the unclipped samples of a block.
func inverse(b *block, quant *[64]uint16) [64]float64 {
	var transposed [8][8]float64
	for u, row := range basis() {
		for x, v := range row {
			transposed[x][u] = v
		}
	}
	var coefficients [64]float64
	for k, c := range b {
		coefficients[zigzag[k]] = float64(c) * float64(quant[k])
	}
	samples := transformed(&transposed, &coefficients)
	for i := range samples {
		samples[i] += 128
	}
	return samples
}

// moveFurtherPictures adjusts, in place, the index of the pictures that follow the first (CIPA DC-007, 5.2): the size
// of the first and the offsets of the others. head is the file from after SOI to the first Huffman table.
func moveFurtherPictures(head []byte, grown int) {
	for at := 0; ; {
		_, s, err := nextSegment(head, at)
		if err != nil {
			return
		}
		at = int(s.end())
		if s.marker == markerAPP2 && moveIndex(head[s.at:s.end()], grown) {
			return
		}
	}
}

const signatureMPF = "MPF\x00"

// moveIndex is moveFurtherPictures for the body of one segment; it reports whether that is such an index.
func moveIndex(body []byte, grown int) bool {
	index, ok := bytes.CutPrefix(body, []byte(signatureMPF))
	for _, e := range indexed(index) {
		// The first picture begins the file, which is stored as offset 0.
		field := e.entry[8:]
		if e.order.Uint32(field) == 0 {
			field = e.entry[4:]
		}
		e.order.PutUint32(field, uint32(int64(e.order.Uint32(field))+int64(grown)))
	}
	return ok
}

// further is the entry of a picture in an index of pictures.
type further struct {
	entry []byte
	order binary.ByteOrder
}

// indexed returns the entries of an index of pictures; they refer to its memory.
func indexed(index []byte) []further {
	const (
		tagEntries = 0xb002
		entryBytes = 16
	)
	r, first, err := exif.Open(bytes.NewReader(index), int64(len(index)))
	if err != nil {
		return nil
	}
	d, _ := r.Directory(first)
	e := d.Find(tagEntries)
	if e == nil || e.Kind != exif.Undefined {
		return nil
	}
	n, ok := e.Length(r.Size)
	if !ok {
		return nil
	}
	var all []further
	for entry := index[e.Value:][:n]; len(entry) >= entryBytes; entry = entry[entryBytes:] {
		all = append(all, further{entry[:entryBytes], r.Order})
	}
	return all
}
