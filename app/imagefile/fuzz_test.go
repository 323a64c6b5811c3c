package imagefile

import (
	"bytes"
	"encoding/binary"
	"image"
	stdpng "image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// FuzzSave checks the guarantees of saving for any file: if it can be read, it is corrected in some pixels, saved, and
// proven. The result has the new samples, and nothing else differs; for a PNG another decoder agrees. The source never
// changes, and after an error no file is left.
func FuzzSave(f *testing.F) {
	for _, s := range fuzzSeeds(f) {
		f.Add(s, uint16(3), uint16(5), uint8(0x40))
	}
	f.Fuzz(func(t *testing.T, data []byte, x, y uint16, change uint8) {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		limits := DefaultLimits()
		limits.Pixels, limits.Bytes = 1<<20, 1<<26
		file, err := Read(t.Context(), path, limits)
		if err != nil {
			return
		}
		pic := file.Picture
		patch := fuzzPatch(pic, int(x)%pic.Width, int(y)%pic.Height, change)
		o := SaveOptions{AllowLossy: true, Limits: limits}
		for _, target := range []string{"b" + filepath.Ext(DefaultName("x", file.SaveFormat())), "b.png", "b." + file.Format.Extensions()[0]} {
			result := filepath.Join(dir, target)
			if err := os.Remove(result); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			saved, err := Save(t.Context(), file, result, []processing.Patch{patch}, o)
			if !bytes.Equal(testpic.ReadFile(t, path), data) {
				t.Fatal("the source changed")
			}
			if err != nil {
				if _, e := os.Stat(result); !os.IsNotExist(e) {
					t.Fatalf("refused, but there: %v", err)
				}
				continue
			}
			if !saved.Proof.Holds() {
				t.Fatalf("saved unproven: %s", saved.Proof.Statement())
			}
			mask := MaskOf(pic.Width, pic.Height, []processing.Patch{patch})
			proof, err := prove(t.Context(), path, result, mask, limits)
			if err != nil || !proof.Holds() {
				t.Fatalf("%s as %s (%s) does not verify: %v, %+v", file.Format, saved.Format, saved.Method, err, proof)
			}
			if saved.Format == PNG {
				checkWithOtherPNG(t, file, result, mask)
			}
		}
		if left, err := fs.Glob(os.DirFS(dir), ".blik-*"); err != nil || len(left) > 0 {
			t.Fatalf("left %v, %v", left, err)
		}
	})
}

// fuzzPatch changes a pixel and its right neighbour.
func fuzzPatch(pic *processing.Picture, x, y int, change uint8) processing.Patch {
	x1 := min(x+2, pic.Width)
	p := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: y, X0: x, X1: x1}}}
	for i := (y*pic.Width + x) * pic.Channels; i < (y*pic.Width+x1)*pic.Channels; i++ {
		switch {
		case pic.U8 != nil:
			p.U8 = append(p.U8, pic.U8[i]^change)
		case pic.U16 != nil:
			p.U16 = append(p.U16, pic.U16[i]^uint16(change)<<5)
		default:
			p.F32 = append(p.F32, pic.F32[i]+float32(change))
		}
	}
	return p
}

// checkWithOtherPNG compares a PNG with its source outside the mask, with the decoder of the standard library. If that
// rejects the source, for example for a wrong checksum of a chunk that does not affect pixels, it may reject the
// result.
func checkWithOtherPNG(t *testing.T, file *File, result string, mask *processing.Mask) {
	t.Helper()
	var source image.Image
	if file.Format == PNG {
		var err error
		if source, err = stdpng.Decode(bytes.NewReader(testpic.ReadFile(t, file.Path))); err != nil {
			return
		}
	}
	other, err := stdpng.Decode(bytes.NewReader(testpic.ReadFile(t, result)))
	if err != nil {
		t.Fatalf("another decoder refuses the result: %v", err)
	}
	if other.Bounds() != image.Rect(0, 0, mask.Width, mask.Height) {
		t.Fatalf("another decoder sees %v", other.Bounds())
	}
	if source == nil {
		return
	}
	for y := range mask.Height {
		for x := range mask.Width {
			r, g, b, a := source.At(x, y).RGBA()
			r2, g2, b2, a2 := other.At(x, y).RGBA()
			if mask.Pix[y*mask.Width+x] == 0 && (r != r2 || g != g2 || b != b2 || a != a2) {
				t.Fatalf("another decoder sees %d, %d changed", x, y)
			}
		}
	}
}

// fuzzSeeds returns files of every kind.
func fuzzSeeds(f *testing.F) [][]byte {
	f.Helper()
	var seeds [][]byte
	for _, s := range specimens(f) {
		seeds = append(seeds, s.data)
	}
	// Pages and copies, a promised layout, JPEG within TIFF, a strip without its length, chunks that belong to old
	// pixels, maker notes, and data behind the end.
	little := form{order: binary.LittleEndian}
	coded := greyPage(-1)
	coded.compression = 8
	noLength := bytes.Replace(writeTIFF(little, coded), []byte{279 & 255, 279 >> 8, 4, 0}, []byte{0xfe, 0xff, 4, 0}, 1)
	camera := append([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x69\x87\x04\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00\x00\x00\x00"),
		"\x01\x00\x7c\x92\x07\x00\x08\x00\x00\x00\x2c\x00\x00\x00\x00\x00\x00\x00a note.."...)
	jpeg := jpegOf(f, 16, 16)
	return append(seeds, rgba(), writeTIFF(little, greyPage(0), greyPage(1), greyPage(2)), cog(little, coded), noLength,
		jpegInTIFF(jpeg), arranged(4, 3, []string{"directory", "values", "pixels", "padding"}, 3, 7),
		inserted(stdPNG(f, painted(9, 7)), "IDAT", pngChunk("iDOT", noise(28))),
		slices.Concat(jpeg[:2], segmentOf(0xe1, "Exif\x00\x00"+string(camera)), jpeg[2:], noise(20)))
}

// jpegInTIFF returns a TIFF whose only strip is a JPEG of 16 × 16 pixels.
func jpegInTIFF(data []byte) []byte {
	return tiffBytes(binary.LittleEndian, strip(16, 16, []uint32{8, 8, 8}, 6, len(data), entry{tagCompression, []uint32{7}}), data)
}
