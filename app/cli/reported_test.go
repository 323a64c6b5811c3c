package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

// TestReported corrects the cases that were reported about other programs: each ends right, with the remark that it needs,
// or in one true sentence. That the samples are right is tested where they are read and written (see docs/files.md).
func TestReported(t *testing.T) {
	t.Parallel()
	folder := testpic.Shared(t, "reported")
	const glare = "the glare stays in: "
	pixels := make([]uint8, 200*150)
	for y := 33; y < 41; y++ {
		for x := 62; x < 71; x++ {
			pixels[200*y+x] = 255
		}
	}
	spot := writeMask(t, filepath.Join(t.TempDir(), "spot.png"), 200, pixels...)
	for _, c := range []struct {
		file, mask, format string
		status             int
		says, count        string
	}{
		{"jpegtiff_rgb_jfif.tif", "", "", exitDone, "", "findings corrected: 3; pixels changed: 372"},
		{"jpegtiff_rgb_plain.tif", "", "", exitDone, "", "findings corrected: 3; pixels changed: 372"},
		{"jpegtiff_ycc_ids_rgb.tif", "", "", exitDone, "", "findings corrected: 3"},
		{"grey4_directory_last.tif", "", "", exitDone, "", "findings corrected: 3"},
		{"palette_pil.tif", "", "", exitDone, "", "findings corrected: 3"},
		{"palette_lzw.tif", "", "", exitDone, "", "findings corrected: 3"},
		{"picture.png", "mask_white_on_transparent.png", "", exitDone, "", "findings corrected: 3; pixels changed: 372"},
		{"picture.png", "mask_inverted.png", "", exitDone, "marks 98 % of the picture and may be inverted", "findings corrected: 1"},
		{"picture.png", "mask_full.png", "", exitDone, "marks the whole picture", "findings corrected: 0; pixels changed: 0"},
		{"picture.png", "mask_cmyk.tif", "", exitDone, "", "findings corrected: 3; pixels changed: 372"},
		{"maker_notes_absolute.jpg", "", "", exitDone, "", "findings corrected: 3"},
		{"maker_notes_absolute.jpg", "", "png", exitDone, "", "findings corrected: 3"},
		{"resolution_jfif72_exif300.jpg", "", "", exitDone, "", "findings corrected: 3"},
		{"count_zero_deflate.tif", "", "", exitDone, "", "findings corrected: 3; pixels changed: 372"},
		{"count_missing_deflate.tif", "", "", exitDone, "", "findings corrected: 3; pixels changed: 372"},
		{"pyramid_pages.tif", "pyramid_pages_mask.png", "", exitDone, glare + "2 smaller copies", "findings corrected: 3"},
		{"three_scans.tif", "three_scans_mask.png", "", exitDone, glare + "2 further pages", "findings corrected: 2"},
		{"two_pages_jpeg.tif", "", "", exitDone, glare + "1 further page", "findings corrected: 3"},
		{"orientation3.jpg", "orientation3_mask_painted_upright.png", "", exitDone, "(EXIF orientation 3)", "findings corrected: 1"},
		{"data_after_end.jpg", "", "", exitDone, "cannot hold: the 200 bytes after the end of the picture", "findings corrected: 3"},
		{"g3_fill_bits.tif", "", "", exitFailed, "fill bits is not supported; save it with LZW", ""},
		{"previews_in_jpeg.jpg", "", "jpeg", exitDone, glare + "the preview in EXIF, the preview in Photoshop's resources", "findings corrected: 3"},
		{"png_idot.png", spot, "", exitDone, "PNG chunks that belong to the old pixels: iDOT", "findings corrected: 1"},
		{"glints_in_transparent_half.png", "", "", exitDone, "", "findings corrected: 2"},
	} {
		mask := c.mask
		switch mask {
		case "":
			mask = filepath.Join(folder, "picture_mask.png")
		case spot:
		default:
			mask = filepath.Join(folder, mask)
		}
		args := []string{"correct", "--no-report", "--mask", mask, "-o", t.TempDir()}
		if c.format != "" {
			args = append(args, "--format", c.format)
		}
		got := call(t, append(args, filepath.Join(folder, c.file))...)
		lines := strings.Count(got.errors, "\n")
		if got.status != c.status || !strings.Contains(got.out, c.count) || !strings.Contains(got.errors, c.says) ||
			c.says == "" && lines > 0 || c.says != "" && lines != 1 {
			t.Errorf("%s, %s: %+v", c.file, mask, got)
		}
		if c.status == exitDone && !strings.Contains(got.out, "Proven: ") {
			t.Errorf("%s, %s: not proven: %+v", c.file, mask, got)
		}
	}
}
