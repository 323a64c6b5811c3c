package imagefile

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

// chunkNames lists the chunks of a PNG.
func chunkNames(data []byte) (names []string) {
	eachChunk(data, func(name string, body []byte) []byte {
		names = append(names, name)
		return nil
	})
	return names
}

// TestStaleChunks: chunks that are unknown and marked as unsafe to copy leave a changed PNG and are named; all others
// stay, and an unchanged copy keeps everything.
func TestStaleChunks(t *testing.T) {
	palette := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.Gray{0}, color.Gray{90}, color.Gray{200}})
	for i := range palette.Pix {
		palette.Pix[i] = uint8(i % 3)
	}
	private := map[string]bool{ // whether a changed file keeps it
		"iDOT": false, "caBX": false, "dSIG": false, "prVT": false, "prVt": true, "tIME": true, "sPLT": true, "pHYs": true,
	}
	for kind, data := range map[string][]byte{"colours": stdPNG(t, painted(16, 16)), "palette": stdPNG(t, palette)} {
		for _, before := range []string{"IDAT", "IEND"} {
			for name, stays := range private {
				source := inserted(data, before, pngChunk(name, []byte("\x00\x00\x10\x00\x00\x00\x10\x00\x01")))
				path := testpic.WriteFile(t, "a.png", append(source, "after"...))
				f := opened(t, path)
				saved, err := Save(t.Context(), f, DefaultName(path, PNG), dot(f.Picture, 3, 2), SaveOptions{})
				if err != nil || !saved.Proof.Holds() {
					t.Fatalf("%s, %s: %+v, %v", kind, name, saved, err)
				}
				result := testpic.ReadFile(t, saved.Path)
				if slices.Contains(chunkNames(result), name) != stays || !bytes.HasSuffix(result, []byte("after")) {
					t.Errorf("%s: %s before %s: the result holds %v", kind, name, before, chunkNames(result))
				}
				remarks := strings.Join(words(f.Remarks(PNG)), " ")
				if strings.Contains(remarks, name) == stays {
					t.Errorf("%s: the remark on %s is %q", kind, name, remarks)
				}
				if p, err := prove(t.Context(), path, saved.Path, nil, DefaultLimits()); err != nil || !p.Holds() {
					t.Errorf("%s, %s: %+v, %v", kind, name, p, err)
				}
				copied, err := Save(t.Context(), f, filepath.Join(t.TempDir(), "b.png"), nil, SaveOptions{})
				if err != nil || !bytes.Equal(testpic.ReadFile(t, copied.Path), testpic.ReadFile(t, path)) {
					t.Errorf("%s, %s: an unchanged copy is another file: %v", kind, name, err)
				}
			}
		}
	}
}

// TestLost: what a new file in another format cannot hold is listed.
func TestLost(t *testing.T) {
	jpeg := jpegOf(t, 16, 16)
	withSegment := func(marker byte, body string) []byte {
		return slices.Concat(jpeg[:2], segmentOf(marker, body), jpeg[2:])
	}
	png := func(chunks ...[]byte) []byte { return inserted(stdPNG(t, painted(16, 16)), "IDAT", chunks...) }
	camera := &page{w: 16, h: 16, depth: 8, colours: 3, photometric: 2, rows: 8, compression: 1, samples: noise(768),
		exif: []tagged{{37500, 7, []byte("a maker note")}}}
	for _, c := range []struct {
		name string
		file []byte
		to   Format
		says string
	}{
		{"JPEG", jpeg, TIFF, ""}, {"JPEG", jpeg, PNG, ""}, {"PNG", png(), TIFF, ""},
		{"data after a JPEG", append(bytes.Clone(jpeg), noise(200)...), TIFF, "the 200 bytes after the end of the picture"},
		{"data after a JPEG", append(bytes.Clone(jpeg), noise(200)...), PNG, "the 200 bytes after the end of the picture"},
		{"a JPEG after a JPEG", append(bytes.Clone(jpeg), jpeg...), TIFF, "bytes after the end of the picture"},
		{"data after a PNG", append(png(), "abc"...), TIFF, "the 3 bytes after the end of the picture"},
		{"credentials", withSegment(0xeb, "JP\x00\x01\x00\x00\x00\x01 jumb c2pa"), TIFF, "segments of other programs (FFEB)"},
		{"gAMA", png(pngChunk("gAMA", []byte{0, 0, 0xb1, 0x8f})), TIFF, "the chunks gAMA"},
		{"cHRM", png(pngChunk("cHRM", noise(32))), TIFF, "the chunks cHRM"},
		{"cICP", png(pngChunk("cICP", []byte{9, 16, 0, 1})), TIFF, "the chunks cICP"},
		{"sRGB", png(pngChunk("sRGB", []byte{0})), TIFF, "the chunks sRGB"},
		{"iDOT", png(pngChunk("iDOT", noise(28))), TIFF, "the chunks iDOT"},
		{"maker note", writeTIFF(form{order: binary.LittleEndian}, camera), PNG, "the places that the camera's maker note points to"},
		{"JFIF's preview", withSegment(0xe0, "JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x01\x01abc"), TIFF, "the preview in JFIF"},
		{"EXIF's preview", withSegment(0xe1, "Exif\x00\x00"+string(exifBlock(true))), TIFF, "the preview in EXIF"},
	} {
		path := testpic.WriteFile(t, "a", c.file)
		f := opened(t, path)
		saved, err := Save(t.Context(), f, filepath.Join(t.TempDir(), "b."+c.to.Extensions()[0]), dot(f.Picture, 3, 2), SaveOptions{})
		if err != nil || !saved.Proof.Holds() {
			t.Errorf("%s as %s: %+v, %v", c.name, c.to, saved, err)
			continue
		}
		if list := strings.Join(words(saved.Dropped), ", "); c.says == "" && list != "" || !strings.Contains(list, c.says) {
			t.Errorf("%s as %s: the list is %q, want %q", c.name, c.to, list, c.says)
		}
	}
}

// TestStaleCredentials: content credentials that stay in the file are called no longer valid.
func TestStaleCredentials(t *testing.T) {
	jpeg := jpegOf(t, 16, 16)
	signed := slices.Concat(jpeg[:2], segmentOf(0xeb, "JP\x00\x01\x00\x00\x00\x01 jumb c2pa"), jpeg[2:])
	page := greyPage(-1)
	page.tags = []tagged{{52545, 7, []byte("jumb c2pa")}}
	for name, c := range map[string]struct {
		file  []byte
		to    Format
		named bool
	}{
		"JPEG": {signed, JPEG, true}, "JPEG as TIFF": {signed, TIFF, false}, "unsigned": {jpeg, JPEG, false},
		"another APP11": {slices.Concat(jpeg[:2], segmentOf(0xeb, "JP another box"), jpeg[2:]), JPEG, false},
		"TIFF":          {writeTIFF(form{order: binary.LittleEndian}, page), TIFF, true},
	} {
		remarks := strings.Join(words(opened(t, testpic.WriteFile(t, "a", c.file)).Remarks(c.to)), " ")
		if strings.Contains(remarks, "C2PA") != c.named {
			t.Errorf("%s: %q", name, remarks)
		}
	}
}
