package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

// accepted is a file that the proof accepts as a result of a source.
type accepted struct {
	name, source, result string
	// packed: it is stored in a way of its own, which not every program reads.
	packed bool
}

// TestSecondOpinions reads every file of the catalogue that the proof accepts with other programs, and its source as
// well: pixels outside the mask must be the same to each of them that can read the source.
func TestSecondOpinions(t *testing.T) {
	testpic.Long(t)
	testpic.NoRace(t)
	files := acceptedFiles(t)
	for name, judge := range map[string]func(t *testing.T, files []accepted) int{
		"libtiff": judgeTIFF, "libpng": judgePNG, "Pillow": judgePillow, "libvips": judgeVips,
	} {
		t.Run(name, func(t *testing.T) {
			n := judge(t, files)
			t.Logf("%s sees the same pixels in %d of %d files", name, n, len(files))
			if n < 20 {
				t.Errorf("it read only %d files", n)
			}
		})
	}
}

// acceptedFiles returns the untouched, repacked and harmlessly tampered results of all specimens.
func acceptedFiles(t *testing.T) []accepted {
	t.Helper()
	dir, all := t.TempDir(), []accepted(nil)
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for k, s := range specimens(t) {
		source := put(fmt.Sprintf("%d.%s", k, s.extension), s.data)
		add := func(name string, data []byte) {
			path := put(fmt.Sprintf("%d_%d.%s", k, len(all), s.result), data)
			packed := strings.HasPrefix(name, "packed")
			all = append(all, accepted{s.name + ", " + name, source, path, packed})
		}
		result := s.save(t, s.data)
		add("untouched", result)
		for i, packed := range s.packed {
			if s.extension == s.result {
				add(fmt.Sprintf("packed %d", i), packed)
			}
		}
		ways := map[string]func([]byte) []byte{}
		flips(ways, len(result), 60)
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			data := ways[way](bytes.Clone(result))
			path := put("flipped."+s.result, data)
			if proof, err := Verify(t.Context(), source, path, tamperMask(), DefaultLimits()); err == nil && proof.Holds() {
				add(way, data)
			}
		}
	}
	return all
}

// sameOutside compares the samples of two pictures of the size of the specimens outside the mask, or in a JPEG outside
// the blocks that depend on it.
func sameOutside(a, b []byte, jpeg bool) bool {
	mask := tamperMask()
	if len(a) != len(b) || len(a)%len(mask.Pix) != 0 {
		return false
	}
	n := len(a) / len(mask.Pix)
	for i, v := range mask.Pix {
		block := jpeg && i%tamperSide < 18 && i/tamperSide < 18
		if v == 0 && !block && !bytes.Equal(a[i*n:(i+1)*n], b[i*n:(i+1)*n]) {
			return false
		}
	}
	return true
}

// compareAll compares what a program decodes of sources and results. decode returns nil for a file that the program
// does not read.
func compareAll(t *testing.T, files []accepted, extension string, decode func(path string) []byte) int {
	t.Helper()
	seen, n := map[string][]byte{}, 0
	for _, f := range files {
		if extension != "" && (filepath.Ext(f.source) != extension || filepath.Ext(f.result) != extension) {
			continue
		}
		if _, ok := seen[f.source]; !ok {
			seen[f.source] = decode(f.source)
		}
		want := seen[f.source]
		if want == nil || filepath.Ext(f.source) != filepath.Ext(f.result) {
			continue
		}
		got := decode(f.result)
		if got == nil && f.packed {
			continue
		}
		if n++; !sameOutside(want, got, filepath.Ext(f.result) == ".jpg") {
			t.Errorf("%s: other pixels outside the mask", f.name)
		}
	}
	return n
}

// judgeTIFF decompresses with libtiff.
func judgeTIFF(t *testing.T, files []accepted) int {
	program, out := testpic.Program(t, "tiffcp"), filepath.Join(t.TempDir(), "out.tif")
	return compareAll(t, files, ".tif", func(path string) []byte {
		// Only the first page, with all samples in strips.
		err := exec.Command(program, "-c", "none", "-s", "-p", "contig", "-L", path+",0", out).Run()
		if err != nil {
			return nil
		}
		f, err := Read(t.Context(), out, DefaultLimits())
		if err != nil {
			t.Error(err)
			return nil
		}
		if f.Picture.U8 != nil {
			return f.Picture.U8
		}
		return samples16(f.Picture.U16)
	})
}

func samples16(v []uint16) []byte {
	var b []byte
	for _, s := range v {
		b = binary.NativeEndian.AppendUint16(b, s)
	}
	return b
}

// judgePNG decodes with libpng.
func judgePNG(t *testing.T, files []accepted) int {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "rows.c"), filepath.Join(dir, "rows")
	if err := os.WriteFile(source, []byte(libpngRows), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(testpic.Program(t, "gcc"), "-o", program, source, "-lpng").CombinedOutput()
	testpic.Need(t, err == nil || !bytes.Contains(text, []byte("png.h")), "libpng with its header")
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return compareAll(t, files, ".png", func(path string) []byte {
		rows, err := exec.Command(program, path).Output()
		if err != nil {
			return nil
		}
		return rows
	})
}

// libpngRows prints the rows of a PNG, palettes expanded to colours with opacity.
const libpngRows = `#include <png.h>
#include <stdio.h>
int main(int n, char **path) {
	FILE *f = fopen(path[1], "rb");
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, 0, 0, 0);
	png_infop info = png_create_info_struct(png);
	if (!f || setjmp(png_jmpbuf(png))) return 1;
	png_init_io(png, f);
	png_read_info(png, info);
	png_set_expand(png);
	png_set_tRNS_to_alpha(png);
	png_read_update_info(png, info);
	png_uint_32 h = png_get_image_height(png, info);
	size_t bytes = png_get_rowbytes(png, info);
	png_bytepp rows = png_malloc(png, h * sizeof *rows);
	for (png_uint_32 y = 0; y < h; y++) rows[y] = png_malloc(png, bytes);
	png_read_image(png, rows);
	png_read_end(png, info);
	for (png_uint_32 y = 0; y < h; y++) fwrite(rows[y], 1, bytes, stdout);
	return 0;
}
`

// judgePillow decodes all files in one run of Python.
func judgePillow(t *testing.T, files []accepted) int {
	const script = "import sys\n" +
		"from PIL import Image\n" +
		"for path in sys.stdin.read().split('\\n'):\n" +
		"  try:\n" +
		"    m = Image.open(path)\n" +
		"    m = m.convert('RGBA') if m.mode in ('P', '1') else m\n" +
		"    print(m.tobytes().hex())\n" +
		"  except Exception:\n" +
		"    print('-')\n"
	var paths []string
	for _, f := range files {
		paths = append(paths, f.source, f.result)
	}
	command := exec.Command(testpic.Python(t, "PIL"), "-c", script)
	command.Stdin = strings.NewReader(strings.Join(paths, "\n"))
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	decoded := map[string][]byte{}
	for i, line := range strings.Fields(string(out)) {
		var data []byte
		if _, err := fmt.Sscanf(line, "%x", &data); err == nil {
			decoded[paths[i]] = data
		}
	}
	return compareAll(t, files, "", func(path string) []byte { return decoded[path] })
}

// judgeVips decodes with libvips, which takes long to start: of each source, only some of the repacked files.
func judgeVips(t *testing.T, files []accepted) int {
	packed := map[string]int{}
	files = slices.DeleteFunc(slices.Clone(files), func(f accepted) bool {
		packed[f.source]++
		return f.packed && packed[f.source]%7 != 0
	})
	program, raw := testpic.Program(t, "vips"), filepath.Join(t.TempDir(), "out.raw")
	return compareAll(t, files, "", func(path string) []byte {
		if err := exec.Command(program, "rawsave", path, raw).Run(); err != nil {
			return nil
		}
		data, err := os.ReadFile(raw)
		if err != nil {
			t.Fatal(err)
		}
		return data
	})
}
