package imagefile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

// greyPage is a page of 16 × 16 grey pixels, with a kind (NewSubfileType) unless it is negative.
func greyPage(kind int) *page {
	p := &page{w: 16, h: 16, depth: 8, colours: 1, photometric: 1, rows: 8, compression: 1, samples: noise(256)}
	if kind >= 0 {
		p.tags = []tagged{{254, 4, []byte{0, 0, 0, byte(kind)}}}
	}
	return p
}

// preview returns Photoshop's image resources with a preview.
func preview() []byte {
	resource := append([]byte("8BIM\x04\x0c\x00\x00\x00\x00\x00\x28"), make([]byte, 40)...)
	return append([]byte("8BIM\x04\x04\x00\x00\x00\x00\x00\x03abc\x00"), resource...)
}

// exifBlock returns an EXIF block with an orientation, and a thumbnail if asked for.
func exifBlock(thumbnail bool) []byte {
	b := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00")
	if thumbnail {
		b[22] = 26
		b = append(b, "\x02\x00\x01\x02\x04\x00\x01\x00\x00\x00\x38\x00\x00\x00\x02\x02\x04\x00\x01\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"...)
		b = append(b, 0xff, 0xd8, 0xff, 0xd9)
	}
	return b
}

// painted is a picture of w × h colours.
func painted(w, h int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.SetNRGBA(i%w, i/w, color.NRGBA{uint8(90 + 3*(i%w)), uint8(80 + 2*(i/w)), uint8(60 + i%w + i/w), 255})
	}
	return m
}

// jpegOf returns a JPEG of w × h pixels without metadata.
func jpegOf(t testing.TB, w, h int) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return stdjpeg.Encode(b, painted(w, h), &stdjpeg.Options{Quality: 95}) })
}

// TestRemarks: whatever in a file shows the picture besides the picture itself is named in one sentence, for the format of
// the result, and saving keeps it.
func TestRemarks(t *testing.T) {
	little := form{order: binary.LittleEndian}
	tagsOf := func(p *page, more ...tagged) *page {
		p.tags = append(p.tags, more...)
		return p
	}
	withSubs := greyPage(-1)
	withSubs.subs = []*page{greyPage(1), greyPage(1)}
	xmp := []byte("<x:xmpmeta><xmpGImg:image>" + base64.StdEncoding.EncodeToString(noise(30)) + "</xmpGImg:image></x:xmpmeta>")
	png := func(chunks ...[]byte) []byte {
		return inserted(stdPNG(t, painted(16, 16)), "IDAT", chunks...)
	}
	jpeg := func(segments ...[]byte) []byte {
		d := jpegOf(t, 16, 16)
		return slices.Concat(d[:2], slices.Concat(segments...), d[2:])
	}
	exifPreview := segmentOf(0xe1, "Exif\x00\x00"+string(exifBlock(true)))
	photoshopPreview := segmentOf(0xed, "Photoshop 3.0\x00"+string(preview()))
	for _, c := range []struct {
		name string
		file []byte
		to   Format
		says string
	}{
		{"one page", writeTIFF(little, greyPage(-1)), TIFF, ""},
		{"one page, EXIF without a preview", jpeg(segmentOf(0xe1, "Exif\x00\x00"+string(exifBlock(false)))), JPEG, ""},
		{"a page marked as part", writeTIFF(little, greyPage(2)), TIFF, ""},
		{"pages", writeTIFF(little, greyPage(-1), greyPage(-1), greyPage(0)), TIFF, "2 further pages"},
		{"pages of a document", writeTIFF(little, greyPage(2), greyPage(2)), TIFF, "1 further page"},
		{"pyramid of pages", writeTIFF(form{order: binary.BigEndian, big: true}, greyPage(0), greyPage(1), greyPage(1)), TIFF, "2 smaller copies"},
		{"old tag", writeTIFF(little, greyPage(-1), tagsOf(greyPage(-1), tagged{255, 3, []byte{0, 2}})), TIFF, "1 smaller copy"},
		{"pages and copies", writeTIFF(little, greyPage(-1), greyPage(1), greyPage(0)), TIFF, "1 further page, 1 smaller copy"},
		{"masks of transparency", writeTIFF(little, greyPage(-1), greyPage(4), greyPage(5)), TIFF, ""},
		{"pyramid of sub-pictures", writeTIFF(little, withSubs), TIFF, "2 smaller copies"},
		{"Photoshop's preview in TIFF", writeTIFF(little, tagsOf(greyPage(-1), tagged{34377, 1, preview()})), TIFF,
			"the preview in Photoshop's resources"},
		{"Photoshop's layers", writeTIFF(little, tagsOf(greyPage(-1), tagged{37724, 7, noise(60)})), TIFF, "Photoshop's layers"},
		{"XMP's preview in TIFF", writeTIFF(little, tagsOf(greyPage(-1), tagged{700, 1, xmp})), TIFF, "the preview in XMP"},
		{"EXIF's preview in JPEG", jpeg(exifPreview), JPEG, "the preview in EXIF"},
		{"EXIF's preview in JPEG, as TIFF", jpeg(exifPreview), TIFF, ""},
		{"EXIF's preview in JPEG, as PNG", jpeg(exifPreview), PNG, "the preview in EXIF"},
		{"Photoshop's preview in JPEG", jpeg(photoshopPreview), JPEG, "the preview in Photoshop's resources"},
		{"Photoshop's preview in JPEG, as TIFF", jpeg(photoshopPreview), TIFF, "the preview in Photoshop's resources"},
		{"both", jpeg(exifPreview, photoshopPreview), JPEG, "the preview in EXIF, the preview in Photoshop's resources"},
		{"XMP's preview in JPEG", jpeg(segmentOf(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+string(xmp))), JPEG, "the preview in XMP"},
		{"JFIF's preview", jpeg(segmentOf(0xe0, "JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x01\x01abc")), JPEG, "the preview in JFIF"},
		{"JFIF's preview, as TIFF", jpeg(segmentOf(0xe0, "JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x01\x01abc")), TIFF, ""},
		{"JFIF's extension", jpeg(segmentOf(0xe0, "JFXX\x00\x10\xff\xd8\xff\xd9")), JPEG, "the preview in JFIF"},
		{"EXIF's preview in PNG", png(pngChunk("eXIf", exifBlock(true))), PNG, "the preview in EXIF"},
		{"XMP's preview in PNG", png(pngChunk("iTXt", append([]byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"), xmp...))), PNG,
			"the preview in XMP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := testpic.WriteFile(t, "a."+string(c.to), c.file)
			f := opened(t, path)
			const sentence = "Only the picture itself is searched and corrected; the glare stays in: "
			remarks := strings.Join(words(f.Remarks(c.to)), "\n")
			if c.says == "" && remarks != "" || !strings.Contains(remarks, c.says) || c.says != "" && !strings.HasPrefix(remarks, sentence) {
				t.Errorf("the remark is %q, want %q in it", remarks, c.says)
			}
			target := filepath.Join(t.TempDir(), "b."+c.to.Extensions()[0])
			saved, err := Save(t.Context(), f, target, dot(f.Picture, 3, 2), SaveOptions{AllowLossy: true})
			if err != nil || !saved.Proof.Holds() {
				t.Fatalf("%+v, %v", saved, err)
			}
			result := opened(t, target)
			if again := strings.Join(words(result.Remarks(c.to)), "\n"); again != remarks {
				t.Errorf("the result holds %q, the remark was %q", again, remarks)
			}
		})
	}
}

// TestSaveJPEGPages corrects the first of two pages compressed with JPEG, and the base of pyramids compressed with JPEG.
// libtiff sees the other pages as before, and the pixel.
func TestSaveJPEGPages(t *testing.T) {
	tiffcp := testpic.Program(t, "tiffcp")
	for _, c := range []struct {
		name string
		args []string
		kind int
	}{
		{"pages", []string{"-c", "jpeg:r:90", "-r", "16"}, 0}, {"YCbCr", []string{"-c", "jpeg:90", "-s", "-r", "16"}, 0},
		{"pyramid of tiles", []string{"-c", "jpeg:90", "-t", "-w", "32", "-l", "32"}, 1}, {"BigTIFF", []string{"-8", "-c", "jpeg:90", "-r", "16"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(args ...string) {
				t.Helper()
				if out, err := exec.Command(tiffcp, args...).CombinedOutput(); err != nil {
					t.Fatalf("tiffcp %q: %v: %s", args, err, out)
				}
			}
			dir := t.TempDir()
			first, second := tamperPages(1)[0], greyPage(c.kind)
			first.depth, first.extra, first.samples = 8, 0, noise(3*first.w*first.h)
			first.subs = nil
			plain := testpic.WriteFile(t, "plain.tif", writeTIFF(form{order: binary.LittleEndian}, first, second))
			path := filepath.Join(dir, "a.tif")
			run(append(c.args, plain, path)...)
			f := opened(t, path)
			if f.Info.Compression != "JPEG" || f.Info.Pictures != 2 {
				t.Fatalf("tiffcp wrote %+v", f.Info)
			}
			saved, err := Save(t.Context(), f, filepath.Join(dir, "b.tif"), dot(f.Picture, 7, 5), SaveOptions{})
			if err != nil || !saved.Proof.Holds() || saved.Proof.Changed != 1 || len(saved.Dropped) != 0 {
				t.Fatalf("%+v, %v", saved, err)
			}
			var pages [2][2][]byte
			for i, file := range []string{path, saved.Path} {
				for n := range 2 {
					out := filepath.Join(dir, fmt.Sprint(i, n, ".tif"))
					run("-c", "none", "-r", "1000", "-L", fmt.Sprint(file, ",", n), out)
					g := opened(t, out)
					pages[i][n] = g.Picture.U8
				}
			}
			if !bytes.Equal(pages[0][1], pages[1][1]) {
				t.Error("libtiff sees another second page")
			}
			differing := 0
			for i, v := range pages[0][0] {
				if v != pages[1][0][i] {
					differing++
				}
			}
			if differing == 0 || differing > 3 {
				t.Errorf("libtiff sees %d samples changed, in a pixel of 3", differing)
			}
		})
	}
}

// cog returns a TIFF that promises the layout of a cloud optimized GeoTIFF.
func cog(f form, pages ...*page) []byte {
	const text = "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\nBLOCK_TRAILER=LAST_4_BYTES_REPEATED\n" +
		"KNOWN_INCOMPATIBLE_EDITION=NO\n "
	f.lead = []byte(fmt.Sprintf("GDAL_STRUCTURAL_METADATA_SIZE=%06d bytes\n%s", len(text), text))
	return writeTIFF(f, pages...)
}

// TestSaveCOG: a changed file no longer promises its layout, and nothing else changes in the promise. A promise that is
// missing or spoiled in the result is noticed.
func TestSaveCOG(t *testing.T) {
	for _, compression := range []uint16{1, 8} {
		for _, big := range []bool{false, true} {
			first := greyPage(-1)
			first.compression, first.tile = compression, 16
			source := cog(form{order: binary.LittleEndian, big: big}, first, greyPage(1))
			path := testpic.WriteFile(t, "a.tif", source)
			f := opened(t, path)
			if r := words(f.Remarks(TIFF)); len(r) != 2 || !strings.Contains(r[0], "COG") {
				t.Errorf("remarks %q", r)
			}
			saved, err := Save(t.Context(), f, DefaultName(path, TIFF), dot(f.Picture, 7, 5), SaveOptions{})
			if err != nil || !saved.Proof.Holds() {
				t.Fatalf("compression %d: %+v, %v", compression, saved, err)
			}
			result := testpic.ReadFile(t, saved.Path)
			want := bytes.Replace(source, []byte("EDITION=NO\n "), []byte("EDITION=YES\n"), 1)
			if n := bytes.Index(source, []byte("EDITION")) + 12; !bytes.Equal(result[16:n], want[16:n]) {
				t.Errorf("the promise is %q", result[8:n])
			}
			if r := words(opened(t, saved.Path).Remarks(TIFF)); len(r) != 1 {
				t.Errorf("remarks on the result: %q", r)
			}
			for _, spoiled := range [][2]string{{"EDITION=YES", "EDITION=NO\n"}, {"EDITION=YES", "EDITION=YEA"}, {"ROW_MAJOR", "ROW_MINOR"}} {
				data := bytes.Replace(result, []byte(spoiled[0]), []byte(spoiled[1]), 1)
				if p, err := prove(t.Context(), path, testpic.WriteFile(t, "c.tif", data), nil, DefaultLimits()); err == nil && p.Holds() {
					t.Errorf("compression %d: proven with %q", compression, spoiled[1])
				}
			}
			copied, err := Save(t.Context(), f, filepath.Join(t.TempDir(), "d.tif"), nil, SaveOptions{})
			if err != nil || !bytes.Equal(testpic.ReadFile(t, copied.Path), source) {
				t.Errorf("without a change: %+v, %v", copied, err)
			}
		}
	}
}
