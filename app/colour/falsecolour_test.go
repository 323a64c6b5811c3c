package colour_test

import (
	"testing"

	"blik/app/colour"
	"blik/processing"
	"blik/processing/detect"
)

// luminance of a screen pixel.
func luminance(p uint32) float64 {
	light := func(shift int) float64 { return processing.TransferSRGB.Linear(float64(uint8(p>>shift)) / 255) }
	return 0.2126*light(0) + 0.7152*light(8) + 0.0722*light(16)
}

// A larger value is never darker in a sequential scale; a signed one is darkest where values say nothing; both end
// where the layer's range does, and every pixel is opaque.
func TestFalseColours(t *testing.T) {
	t.Parallel()
	for _, layer := range detect.Layers() {
		s := colour.FalseColour(&layer)
		pic := &processing.Picture{Width: 1 << 16, Height: 1, Channels: 1, U16: make([]uint16, 1<<16)}
		for i := range pic.U16 {
			pic.U16[i] = uint16(i)
		}
		row := make([]uint32, 1<<16)
		s.Row(row, pic, 0, 0)
		first := 0
		if layer.Sparse {
			first = 1
			if c := colour.Nothing(); row[0] != uint32(c.R)|uint32(c.G)<<8|uint32(c.B)<<16|255<<24 {
				t.Errorf("%s: no value is %08x", layer.ID, row[0])
			}
		}
		for i := first; i < len(row); i++ {
			v := layer.Value(uint16(i))
			if row[i]>>24 != 255 {
				t.Fatalf("%s: %v is not opaque: %08x", layer.ID, v, row[i])
			}
			if v < layer.Low && row[i] != row[first] {
				t.Fatalf("%s: %v below the range differs: %08x", layer.ID, v, row[i])
			}
			if v > layer.High && row[i] != row[len(row)-1] {
				t.Fatalf("%s: %v above the range differs: %08x", layer.ID, v, row[i])
			}
			if i == first {
				continue
			}
			grows := !layer.Signed || v > 0
			if d := luminance(row[i]) - luminance(row[i-1]); grows && d < -0.001 || !grows && d > 0.001 {
				t.Fatalf("%s: brightness changes by %v at %v", layer.ID, d, v)
			}
		}
		// Halving a row of equal samples changes nothing, also at an odd edge.
		same := &processing.Picture{Width: 3, Height: 1, Channels: 1, U16: []uint16{40000, 40000, 40000}}
		half := make([]uint32, 2)
		s.HalfRow(half, same, 0)
		if half[0] != row[40000] || half[1] != row[40000] {
			t.Errorf("%s: halves %08x of %08x", layer.ID, half, row[40000])
		}
	}
}
