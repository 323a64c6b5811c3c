package imagefile_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"blik/app/imagefile"
)

// adobeProfile is an ICC profile of Adobe RGB (1998): colourants relative to D50 and a gamma of 563/256.
func adobeProfile() []byte {
	fixed := func(values ...float64) (b []byte) {
		for _, v := range values {
			b = binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
		}
		return b
	}
	xyz := func(values ...float64) []byte { return append([]byte("XYZ \x00\x00\x00\x00"), fixed(values...)...) }
	curve := []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33\x00\x00")
	tags := []struct {
		name string
		data []byte
	}{
		{"rXYZ", xyz(0.60974, 0.31111, 0.01947)}, {"gXYZ", xyz(0.20528, 0.62567, 0.06087)},
		{"bXYZ", xyz(0.14919, 0.06322, 0.74457)}, {"wtpt", xyz(0.9642, 1, 0.8249)},
		{"rTRC", curve}, {"gTRC", curve}, {"bTRC", curve},
	}
	const header = 128
	directory := binary.BigEndian.AppendUint32(nil, uint32(len(tags)))
	var data []byte
	for _, t := range tags {
		directory = append(directory, t.name...)
		directory = binary.BigEndian.AppendUint32(directory, uint32(header+4+12*len(tags)+len(data)))
		directory = binary.BigEndian.AppendUint32(directory, uint32(len(t.data)))
		data = append(data, t.data...)
	}
	b := make([]byte, header)
	binary.BigEndian.PutUint32(b, uint32(header+len(directory)+len(data)))
	b[8] = 2
	copy(b[12:], "mntrRGB XYZ ")
	copy(b[36:], "acsp")
	copy(b[68:], fixed(0.9642, 1, 0.8249))
	return append(append(b, directory...), data...)
}

// TestPrimaries checks that a picture has the primaries of its profile, or those of sRGB without one.
func TestPrimaries(t *testing.T) {
	t.Parallel()
	var plain, packed, chunk bytes.Buffer
	if err := png.Encode(&plain, image.NewNRGBA(image.Rect(0, 0, 5, 3))); err != nil {
		t.Fatal(err)
	}
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(adobeProfile())
	_ = z.Close()
	body := append([]byte("iCCPadobe\x00\x00"), packed.Bytes()...)
	_ = binary.Write(&chunk, binary.BigEndian, uint32(len(body)-4))
	chunk.Write(body)
	_ = binary.Write(&chunk, binary.BigEndian, crc32.ChecksumIEEE(body))
	const header = 8 + 25 // signature and IHDR
	wide := append(bytes.Clone(plain.Bytes()[:header]), chunk.Bytes()...)
	wide = append(wide, plain.Bytes()[header:]...)
	for name, file := range map[string][]byte{"plain": plain.Bytes(), "wide": wide} {
		path := filepath.Join(t.TempDir(), name+".png")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := imagefile.Read(context.Background(), path, imagefile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		got := f.Picture.ToSRGB
		if name == "plain" {
			if got != nil {
				t.Errorf("a picture without a profile has the primaries %v", got)
			}
			continue
		}
		if got == nil {
			t.Fatal("the primaries of Adobe RGB are lost")
		}
		// Lindbloom's matrices: XYZ to sRGB after Adobe RGB to XYZ.
		for i, want := range []float64{1.3984, -0.3984, 0, 0, 1, 0, 0, -0.0429, 1.0429} {
			if math.Abs(got[i]-want) > 2e-3 {
				t.Errorf("coefficient %d is %.4f, want %.4f", i, got[i], want)
			}
		}
	}
}
