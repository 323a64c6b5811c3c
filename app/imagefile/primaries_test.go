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
	"slices"
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

// withProfile reads a PNG with a colour profile; nil for none.
func withProfile(t *testing.T, profile []byte) *imagefile.File {
	t.Helper()
	var plain, packed, chunk bytes.Buffer
	if err := png.Encode(&plain, image.NewNRGBA(image.Rect(0, 0, 5, 3))); err != nil {
		t.Fatal(err)
	}
	if profile != nil {
		z := zlib.NewWriter(&packed)
		_, _ = z.Write(profile)
		_ = z.Close()
		body := append([]byte("iCCPadobe\x00\x00"), packed.Bytes()...)
		_ = binary.Write(&chunk, binary.BigEndian, uint32(len(body)-4))
		chunk.Write(body)
		_ = binary.Write(&chunk, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	const header = 8 + 25 // signature and IHDR
	file := slices.Concat(plain.Bytes()[:header], chunk.Bytes(), plain.Bytes()[header:])
	path := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := imagefile.Read(context.Background(), path, imagefile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The warning about a valid profile of another colour space names that, and the profile counts as missing.
func TestUnusedProfile(t *testing.T) {
	t.Parallel()
	lab, broken, press := adobeProfile(), adobeProfile(), adobeProfile()
	copy(lab[12:], "spacLab ")
	copy(press[12:], "prtrCMYKLab ")
	broken[36] = 'x'
	for want, profile := range map[string][]byte{
		"The colour profile cannot be used: it is for Lab, not for grey, RGB or CMYK; the picture is shown as if it had none.":    lab,
		"The colour profile cannot be used: the profile is for CMYK, the picture is RGB; the picture is shown as if it had none.": press,
		"The colour profile is damaged; the picture is shown as if it had none.":                                                  broken,
	} {
		f := withProfile(t, profile)
		if f.Picture.ToSRGB != nil || len(f.Info.Warnings) != 1 || f.Info.Warnings[0].String() != want {
			t.Errorf("%v, want %q", f.Info.Warnings, want)
		}
	}
}

// TestPrimaries checks that a picture has the primaries of its profile, or those of sRGB without one.
func TestPrimaries(t *testing.T) {
	t.Parallel()
	for name, profile := range map[string][]byte{"plain": nil, "wide": adobeProfile()} {
		got := withProfile(t, profile).Picture.ToSRGB
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
