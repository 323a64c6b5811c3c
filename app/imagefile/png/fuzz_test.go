package png

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"blik/app/imagefile/container"
	"blik/processing"
)

// fuzzPixels keeps the fuzzer to pictures that decode at once; larger ones are refused by who calls this package.
const fuzzPixels = 1 << 20

// FuzzOpen does with a file all that is done with one: its facts, its pixels, and a pixel changed.
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
		file, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			checkFault(t, err)
			return
		}
		i := file.Info()
		if int64(i.Width)*int64(i.Height) > fuzzPixels || i.Scratch > 64<<20 {
			return
		}
		pic, err := file.Decode(t.Context())
		if err != nil {
			checkFault(t, err)
			return
		}
		if err := pic.Validate(); err != nil {
			t.Fatal(err)
		}
		if i.Readonly != nil {
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
			checkFault(t, err)
			return
		}
		again, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatalf("the rewritten file: %v", err)
		}
		got, err := again.Decode(t.Context())
		if err != nil {
			t.Fatalf("the rewritten file: %v", err)
		}
		for k := range pic.Width * pic.Height * pic.Channels {
			x, y := k/pic.Channels%pic.Width, k/pic.Channels/pic.Width
			same := sampleAt(got, x, y, k%pic.Channels) == sampleAt(pic, x, y, k%pic.Channels)
			if !same && k/pic.Channels != at/pic.Channels {
				t.Fatalf("pixel %d, %d changed too", x, y)
			}
		}
	})
}

// checkFault fails for an error that is not one clear clause in both languages.
func checkFault(t *testing.T, err error) {
	t.Helper()
	var fault *container.Fault
	if !errors.As(err, &fault) || fault.Text.IsZero() {
		t.Fatalf("not a fault: %v", err)
	}
}

// someMetadata has all kinds of metadata; the EXIF says orientation 6.
func someMetadata() container.Metadata {
	exif := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
	return container.Metadata{
		ICC: bytes.Repeat([]byte("profile "), 40), EXIF: exif, XMP: []byte("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"),
		IPTC: []byte("\x1c\x02\x78\x00\x05words"), XResolution: 300, YResolution: 300, Unit: container.UnitInch, Orientation: 6,
	}
}
