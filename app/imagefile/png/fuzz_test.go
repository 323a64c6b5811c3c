package png

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"blik/app/imagefile/container"
	"blik/internal/test/containertest"
	"blik/processing"
)

// fuzzPixels limits the fuzzer to pictures that decode quickly; callers of this package reject larger ones.
const fuzzPixels = 1 << 20

// FuzzOpen uses all of the package on a file: it reads information and pixels and rewrites one pixel.
func FuzzOpen(f *testing.F) {
	for i, v := range variants() {
		if i%7 == 0 {
			f.Add(v.encode(rand.New(rand.NewPCG(uint64(i), 1))))
		}
	}
	var rich bytes.Buffer
	grey := &processing.Picture{Width: 3, Height: 2, Channels: 1, U8: make([]uint8, 6)}
	if err := Encode(f.Context(), &rich, grey, someMetadata()); err != nil {
		f.Fatal(err)
	}
	f.Add(rich.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, pic, ok := containertest.Attempt(t, Open, data, fuzzPixels)
		if !ok {
			return
		}
		if file.Info().Readonly != nil {
			return
		}
		patch := processing.Patch{Runs: []processing.Run{{Y: pic.Height / 2, X0: pic.Width / 2, X1: pic.Width/2 + 1}}}
		at := (pic.Height/2*pic.Width + pic.Width/2) * pic.Channels
		for c := range pic.Channels {
			if pic.U16 != nil {
				patch.U16 = append(patch.U16, ^pic.U16[at+c])
			} else {
				patch.U8 = append(patch.U8, ^pic.U8[at+c])
			}
		}
		var out bytes.Buffer
		if err := file.Rewrite(t.Context(), &out, []processing.Patch{patch}); err != nil {
			containertest.Fault(t, err)
			return
		}
		got := mustDecode(t, out.Bytes())
		for k := range pic.Width * pic.Height * pic.Channels {
			x, y := k/pic.Channels%pic.Width, k/pic.Channels/pic.Width
			same := sampleAt(got, x, y, k%pic.Channels) == sampleAt(pic, x, y, k%pic.Channels)
			if !same && k/pic.Channels != at/pic.Channels {
				t.Fatalf("pixel %d, %d changed too", x, y)
			}
		}
	})
}

// someMetadata has all kinds of metadata; the EXIF says orientation 6.
func someMetadata() container.Metadata {
	exif := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
	return container.Metadata{
		ICC: bytes.Repeat([]byte("profile "), 40), EXIF: exif, XMP: []byte("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"),
		IPTC: []byte("\x1c\x02\x78\x00\x05words"), XResolution: 300, YResolution: 300, Unit: container.UnitInch, Orientation: 6,
	}
}
