package processing_test

import (
	"bytes"
	"testing"

	"blik/internal/testpic"
	"blik/processing"
)

// A part of a photograph gives the same result there as the whole. The part begins at multiples of 128 pixels: the side
// of the squares in which neighbours are counted, 32 pixels, at a quarter of the size. That size also looks farthest.
func TestPartGivesWhatTheWholeGives(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	const w, h, x0, y0, pw, ph, margin = 1664, 1536, 256, 128, 1280, 1280, 512
	pic := glaring(t, w, h, 8, 24)
	// A white corner, far from the part.
	for y := range 40 {
		for i := range 3 * 60 {
			pic.U8[3*y*w+i] = 255
		}
	}
	part := &processing.Picture{Width: pw, Height: ph, Channels: 3, Transfer: pic.Transfer}
	for y := range ph {
		row := 3 * ((y0+y)*w + x0)
		part.U8 = append(part.U8, pic.U8[row:row+3*pw]...)
	}
	for _, detector := range []processing.Detector{processing.DetectJoined, processing.DetectClassic} {
		p := processing.DefaultParams()
		p.Detector = detector
		whole, some := detect(t, pic, p, processing.Options{}).Mask, detect(t, part, p, processing.Options{}).Mask
		marked := 0
		for y := margin; y < ph-margin; y++ {
			a := whole.Pix[(y0+y)*w+x0+margin : (y0+y)*w+x0+pw-margin]
			b := some.Pix[y*pw+margin : (y+1)*pw-margin]
			if !bytes.Equal(a, b) {
				t.Fatalf("%v: row %d of the part differs", detector, y)
			}
			for _, m := range a {
				if m != 0 {
					marked++
				}
			}
		}
		if marked == 0 {
			t.Errorf("%v: nothing is marked, so that nothing was compared", detector)
		}
	}
}
