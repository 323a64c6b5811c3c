package imagefile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// arranged writes a TIFF of 16 × 6 pixels whose parts (pixels, values of tags, directory) lie in the given order, with
// pad bytes of the given value before the last part, or at the end of the file for last = "padding".
func arranged(depth, photometric uint16, order []string, pad int, value byte) []byte {
	const width, height = 16, 6
	pixels := noise(width * height * int(depth) / 8)
	colours := make([]byte, 0, 6<<depth)
	for i := range 3 << min(depth, 8) {
		colours = binary.LittleEndian.AppendUint16(colours, uint16(i*257*37))
	}
	type part struct{ at, n int }
	parts := map[string]part{"pixels": {n: len(pixels)}, "values": {n: len(colours) + 8}, "directory": {n: 2 + 11*12 + 4}, "padding": {n: pad}}
	at := 8
	for _, name := range order {
		p := parts[name]
		if name != "padding" {
			at += at % 2
		}
		p.at = at
		at += p.n
		parts[name] = p
	}
	out := make([]byte, at)
	put, directory := binary.LittleEndian, parts["directory"].at
	copy(out, "II*\x00")
	put.PutUint32(out[4:], uint32(directory))
	copy(out[parts["pixels"].at:], pixels)
	values := parts["values"].at
	put.PutUint32(out[values:], 300)
	put.PutUint32(out[values+4:], 1)
	copy(out[values+8:], colours)
	for i := range pad {
		out[parts["padding"].at+i] = value
	}
	type entry struct {
		tag, kind uint16
		n, v      uint32
	}
	entries := []entry{
		{256, 3, 1, width}, {257, 3, 1, height}, {258, 3, 1, uint32(depth)}, {259, 3, 1, 1}, {262, 3, 1, uint32(photometric)},
		{273, 4, 1, uint32(parts["pixels"].at)}, {277, 3, 1, 1}, {278, 3, 1, height}, {279, 4, 1, uint32(len(pixels))},
		{282, 5, 1, uint32(values)},
	}
	if photometric == 3 {
		entries = append(entries, entry{320, 3, uint32(len(colours) / 2), uint32(values + 8)})
	} else {
		entries = append(entries, entry{65000, 7, uint32(len(colours)), uint32(values + 8)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.tag, b.tag) })
	put.PutUint16(out[directory:], uint16(len(entries)))
	for i, e := range entries {
		d := out[directory+2+12*i:]
		put.PutUint16(d, e.tag)
		put.PutUint16(d[2:], e.kind)
		put.PutUint32(d[4:], e.n)
		put.PutUint32(d[8:], e.v)
	}
	return out
}

// TestSaveFewBits saves palettes and greys of few bits, which become RGB or 8-bit grey, whatever stands last in the file,
// at every length modulo 16, with and without unused bytes. A byte added to the result is noticed each time.
func TestSaveFewBits(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for _, kind := range [][2]uint16{{1, 0}, {1, 1}, {2, 1}, {4, 0}, {4, 1}, {4, 3}, {8, 3}} {
		for _, order := range [][]string{
			{"directory", "values", "pixels", "padding"}, {"pixels", "values", "directory", "padding"},
			{"pixels", "directory", "values", "padding"}, {"padding", "values", "pixels", "directory"},
			{"values", "padding", "directory", "pixels"}, {"pixels", "padding", "directory", "values"},
		} {
			step := 5
			if kind == [2]uint16{1, 0} || kind == [2]uint16{4, 1} || kind == [2]uint16{8, 3} {
				step = 1
			}
			for pad := 0; pad < 16; pad += step {
				value := byte(n % 2 * 0xee)
				n++
				name := fmt.Sprintf("%d bits, photometric %d, %v, %d bytes of %d", kind[0], kind[1], order, pad, value)
				path := filepath.Join(dir, fmt.Sprint(n, ".tif"))
				if err := os.WriteFile(path, arranged(kind[0], kind[1], order, pad, value), 0o600); err != nil {
					t.Fatal(err)
				}
				f := opened(t, path)
				saved, err := Save(t.Context(), f, DefaultName(path, TIFF), dot(f.Picture, 3, 2), SaveOptions{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !saved.Proof.Holds() || saved.Proof.Changed != 1 {
					t.Fatalf("%s: %+v", name, saved.Proof)
				}
				if n%8 != 0 {
					continue
				}
				spoiled := filepath.Join(dir, "spoiled.tif")
				if err := os.WriteFile(spoiled, append(testpic.ReadFile(t, saved.Path), 'x'), 0o600); err != nil {
					t.Fatal(err)
				}
				mask := &processing.Mask{Width: 16, Height: 6, Pix: bytes.Repeat([]byte{255}, 96)}
				if p, err := prove(t.Context(), path, spoiled, mask, DefaultLimits()); err != nil || p.Holds() {
					t.Fatalf("%s: a byte more is %+v, %v", name, p, err)
				}
			}
		}
	}
}
