package tiff

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"blik/processing"
)

// TestUntouched: strips and tiles without a changed pixel stay byte for byte at their place, and it is noticed if one of
// them does not.
func TestUntouched(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []compression{compNone, compLZW, compDeflate, compPackBits} {
		for _, tiled := range []bool{false, true} {
			f := rgb16(binary.LittleEndian)
			f.compression, f.tiled = c, tiled
			data := f.write(t, f.random(rng))
			source := open(t, data)
			patch := change(decode(t, data), 33, 17)
			result := patched(t, data, patch)
			if n, err := source.Untouched(t.Context(), open(t, result), []processing.Patch{patch}); n != 0 || err != nil {
				t.Errorf("%s, tiles %t: %d strips or tiles differ, %v", c, tiled, n, err)
			}
			last := source.lay.offsets[len(source.lay.offsets)-1]
			spoiled := bytes.Clone(result)
			spoiled[last] ^= 1
			if n, err := source.Untouched(t.Context(), open(t, spoiled), []processing.Patch{patch}); n != 1 || err != nil {
				t.Errorf("%s, tiles %t: a changed byte: %d strips or tiles differ, %v", c, tiled, n, err)
			}
			moved := open(t, result)
			moved.lay.offsets[len(moved.lay.offsets)-1]++
			if n, err := source.Untouched(t.Context(), moved, []processing.Patch{patch}); n != 1 || err != nil {
				t.Errorf("%s, tiles %t: a moved one: %d strips or tiles differ, %v", c, tiled, n, err)
			}
			if n, err := source.Untouched(t.Context(), open(t, result), nil); n != 1 || err != nil {
				t.Errorf("%s, tiles %t: without patches %d strips or tiles differ, %v", c, tiled, n, err)
			}
		}
	}
}
