package processing_test

import (
	"math"
	"testing"

	"blik/processing"
)

func TestEncodeTable(t *testing.T) {
	t.Parallel()
	table := processing.NewLuminanceTables(8, processing.TransferSRGB).Encode8
	for i, v := range table {
		if want := uint8(processing.TransferSRGB.Encode(float64(i)/65535)*255 + 0.5); v != want {
			t.Fatalf("light %d is encoded as %d, want %d", i, v, want)
		}
	}
}

// The input planes of the network are the samples themselves for an 8-bit sRGB picture, rounded to 8 bits for a 16-bit
// one, and re-encoded for other curves.
func TestDisplayTable(t *testing.T) {
	t.Parallel()
	for i, v := range processing.NewLuminanceTables(8, processing.TransferSRGB).Display {
		if int(v) != i {
			t.Errorf("8-bit sample %d becomes %d", i, v)
		}
	}
	for i, v := range processing.NewLuminanceTables(16, processing.TransferSRGB).Display {
		if want := (i + 128) / 257; int(v) != want {
			t.Errorf("16-bit sample %d becomes %d, want %d", i, v, want)
		}
	}
	for _, curve := range []processing.Transfer{processing.TransferLinear, processing.TransferGamma18,
		processing.TransferGamma22} {
		table := processing.NewLuminanceTables(16, curve).Display
		for i := range table {
			light := curve.Linear(float64(i) / 65535)
			if want := math.Round(processing.TransferSRGB.Encode(light) * 255); float64(table[i]) != want {
				t.Fatalf("curve %d: sample %d becomes %d, want %g", curve, i, table[i], want)
			}
		}
	}
}
