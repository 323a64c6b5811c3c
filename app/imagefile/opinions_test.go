package imagefile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/app/imagefile/container"
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
			if proof, err := prove(t.Context(), source, path, tamperMask(), DefaultLimits()); err == nil && proof.Holds() {
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

// generated writes TIFFs of every kind that Pillow and libtiff write into a folder.
func generated(t *testing.T) []string {
	t.Helper()
	const script = `import sys, os
from PIL import Image
w, h = 61, 47
rgb = Image.new("RGB", (w, h))
rgb.putdata([((x * 37 + y * 11) % 256, (x * x + y * 7) % 256, (y * 5 + x) % 256) for y in range(h) for x in range(w)])
alpha = Image.new("L", (w, h))
alpha.putdata([(x * 9) % 256 for y in range(h) for x in range(w)])
rgba = rgb.copy(); rgba.putalpha(alpha)
grey16 = Image.frombytes("I;16", (w, h), bytes((i * 31) % 256 for i in range(2 * w * h)))
pictures = {"1": rgb.convert("1"), "L": rgb.convert("L"), "LA": rgba.convert("LA"), "P": rgb.convert("P", palette=Image.ADAPTIVE, colors=200),
  "P16": rgb.convert("P", palette=Image.ADAPTIVE, colors=16), "RGB": rgb, "RGBA": rgba, "CMYK": rgb.convert("CMYK"), "I16": grey16,
  "F": rgb.convert("F").point(lambda v: v * (1 / 256) + 0)}
for name, pic in pictures.items():
  for compression in None, "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "group4":
    if (compression == "group4") != (name == "1" and compression == "group4"): continue
    if compression == "jpeg" and name not in ("L", "RGB"): continue
    try: pic.save(os.path.join(sys.argv[1], "%s_%s.tif" % (name, compression)), compression=compression, dpi=(300, 300))
    except Exception as e: print(name, compression, e, file=sys.stderr)
`
	dir := t.TempDir()
	if out, err := exec.Command(testpic.Python(t, "PIL"), "-c", script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tiffcp := testpic.Program(t, "tiffcp")
	for _, kind := range []string{"L", "P", "RGB", "RGBA", "CMYK", "I16", "F", "1"} {
		for i, args := range [][]string{
			{"-B"}, {"-8"}, {"-8", "-B", "-c", "lzw:2"}, {"-p", "separate", "-r", "5"}, {"-t", "-w", "32", "-l", "16"},
			{"-t", "-w", "16", "-l", "32", "-c", "zip:2", "-B"}, {"-p", "separate", "-c", "lzw"}, {"-f", "lsb2msb", "-c", "packbits"},
		} {
			out := filepath.Join(dir, fmt.Sprintf("tiffcp_%s_%d.tif", kind, i))
			if exec.Command(tiffcp, append(args, filepath.Join(dir, kind+"_None.tif"), out)...).Run() != nil {
				os.Remove(out) // libtiff does not write this combination
			}
		}
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.tif"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// judge decodes a file with another program: rows of pixels of equal length. It returns nil if the program does not read
// the file.
type judge struct {
	name   string
	decode func(path string) []byte
}

func judges(t *testing.T) []judge {
	run := func(name string, args ...string) []byte {
		out := bytes.NewBuffer([]byte{})
		cmd := exec.Command(testpic.Program(t, name), args...)
		cmd.Stdout = out
		if cmd.Run() != nil {
			return nil
		}
		return out.Bytes()
	}
	temporary := filepath.Join(t.TempDir(), "judged")
	return []judge{
		{"libtiff", func(path string) []byte {
			rgba := temporary + ".tif"
			if run("tiff2rgba", "-c", "none", path, rgba) == nil {
				return nil
			}
			data := testpic.ReadFile(t, rgba)
			f, err := Read(t.Context(), rgba, DefaultLimits())
			if err != nil {
				t.Fatalf("%s: %v", rgba, err)
			}
			opacity, err := f.opacity(t.Context(), bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			return append(bytes.Clone(f.Picture.U8), opacity...)
		}},
		{"libvips", func(path string) []byte {
			raw := temporary + ".raw"
			if run("vips", "rawsave", path, raw) == nil {
				return nil
			}
			return testpic.ReadFile(t, raw)
		}},
		{"ImageMagick", func(path string) []byte {
			if format := run("convert", path+"[0]", "-format", "%[colorspace]", "info:"); string(format) == "CMYK" {
				return run("convert", path+"[0]", "-depth", "16", "cmyka:-")
			}
			return run("convert", path+"[0]", "-depth", "16", "rgba:-")
		}},
	}
}

// changedBytes returns the number of bytes between the first and the last that differ.
func changedBytes(a, b []byte) (n int, same bool) {
	if len(a) != len(b) {
		return 0, false
	}
	first, last := -1, -1
	for i, v := range a {
		if v != b[i] {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return 0, true
	}
	return last - first + 1, true
}

// pillowed returns what Pillow finds changed between each pair of files, as "x,y" of each pixel, or why it cannot say.
func pillowed(t *testing.T, pairs [][2]string) []string {
	t.Helper()
	const script = `import sys
from PIL import Image, ImageChops
for line in sys.stdin:
  try:
    a, b = (Image.open(path) for path in line.rstrip("\n").split("\t"))
    a.load(); b.load()
    if a.mode != b.mode:
      alpha = "A" in b.mode
      a, b = a.convert("RGBA" if alpha else "RGB"), b.convert("RGBA" if alpha else "RGB")
    x, y = a.tobytes(), b.tobytes()
    n = len(x) // (a.width * a.height)
    if len(x) != len(y): print("size"); continue
    print(" ".join("%d,%d" % (i % a.width, i // a.width) for i in range(a.width * a.height) if x[i*n:i*n+n] != y[i*n:i*n+n]) or "nothing")
  except Exception as e: print("unread", type(e).__name__)
`
	var in strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&in, "%s\t%s\n", p[0], p[1])
	}
	cmd := exec.Command(testpic.Python(t, "PIL"), "-c", script)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// warnings returns the warnings of exiftool on each file.
func exifWarnings(t *testing.T, paths []string) [][]string {
	t.Helper()
	out, err := exec.Command(testpic.Program(t, "exiftool"), append([]string{"-j", "-a", "-G4", "-Warning", "-Error"}, paths...)...).Output()
	if len(out) == 0 {
		t.Fatal(err)
	}
	var files []map[string]any
	if err := json.Unmarshal(out, &files); err != nil || len(files) != len(paths) {
		t.Fatalf("exiftool: %d answers, %v", len(files), err)
	}
	all := make([][]string, len(files))
	for i, f := range files {
		for _, key := range slices.Sorted(maps.Keys(f)) {
			if strings.HasSuffix(key, "Warning") || strings.HasSuffix(key, "Error") {
				all[i] = append(all[i], fmt.Sprint(f[key]))
			}
		}
	}
	return all
}

// TestJudgedByOthers changes one pixel of real and generated files, and has libtiff, libpng, libjpeg (through ImageMagick
// and Pillow), libvips and exiftool judge the results beside the originals: no other pixel may change for any of them, and
// exiftool may warn of nothing new. It prints a table. Without BLIK_JUDGE=all it takes every fourth file.
func TestJudgedByOthers(t *testing.T) {
	testpic.Long(t)
	testpic.NoRace(t)
	paths := append(generated(t), testpic.SharedFiles(t, "io-samples/*.tif", "io-samples/*.tiff", "io-samples/*.jpg", "io-samples/*.png",
		"reported/*.tif", "reported/*.jpg", "reported/*.png")...)
	if os.Getenv("BLIK_JUDGE") == "all" {
		jpegs := testpic.SharedFiles(t, "*/*.jpg", "multi-light/*/*.jpg")
		for i, path := range jpegs {
			// Every fourth is enough, and large pictures would take long.
			info, err := os.Stat(path)
			if i%4 == 0 && err == nil && info.Size() < 200<<10 && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	} else {
		some := paths[:0]
		for i, path := range paths {
			if i%4 == 0 {
				some = append(some, path)
			}
		}
		paths = some
	}
	type result struct {
		source, result string
		x, y           int
		of             *File
	}
	var results []result
	counts := map[string]int{}
	for _, path := range paths {
		f, err := Read(t.Context(), path, DefaultLimits())
		if err != nil {
			if !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotPicture) {
				t.Errorf("%v", err)
			}
			counts["refused"]++
			continue
		}
		targets := []string{"." + f.SaveFormat().Extensions()[0]}
		if f.Format == JPEG && f.Picture.Channels != 4 {
			targets = append(targets, ".png")
		}
		for _, extension := range targets {
			x, y := f.Picture.Width/2, f.Picture.Height/2
			target := filepath.Join(t.TempDir(), "result"+extension)
			saved, err := Save(t.Context(), f, target, dot(f.Picture, x, y), SaveOptions{})
			if err != nil {
				if f.Info.Readonly == nil {
					t.Errorf("%s: %v", filepath.Base(path), err)
				}
				counts["refused"]++
				continue
			}
			counts[string(f.Format)+" as "+string(saved.Format)]++
			results = append(results, result{path, target, x, y, f})
		}
	}
	verdicts := map[string][2]int{}
	count := func(name string, judged bool) {
		v := verdicts[name]
		if judged {
			v[0]++
		} else {
			v[1]++
		}
		verdicts[name] = v
	}
	for _, r := range results {
		name := filepath.Base(r.source) + " as " + filepath.Ext(r.result)
		for _, j := range judges(t) {
			switch {
			case j.name == "libtiff" && (filepath.Ext(r.result) == ".png" || r.of.Format != TIFF),
				// It reads a colour map of 8-bit values as one of 16 bits, unlike all others.
				j.name == "ImageMagick" && r.of.Format == TIFF && r.of.Info.Colour == container.Palette,
				// It mixes the planes of grey and alpha up.
				j.name == "libvips" && filepath.Base(r.source) == "minisblack-2c-8b-alpha.tiff":
				continue
			}
			before, after := j.decode(r.source), j.decode(r.result)
			if before == nil || after == nil || len(before) == 0 {
				if (before == nil) != (after == nil) && before != nil {
					t.Errorf("%s: %s reads the original only", name, j.name)
				}
				count(j.name, false)
				continue
			}
			n, same := changedBytes(before, after)
			// Float and 16-bit pixels have up to 20 bytes.
			if !same || n < 1 || n > 20 {
				t.Errorf("%s: %s sees %d bytes changed, of equal length: %t (%d and %d)", name, j.name, n, same, len(before), len(after))
			}
			count(j.name, true)
		}
	}
	var pairs [][2]string
	var all []string
	for _, r := range results {
		pairs = append(pairs, [2]string{r.source, r.result})
		all = append(all, r.source, r.result)
	}
	for i, got := range pillowed(t, pairs) {
		r := results[i]
		// Pillow turns TIFFs by their orientation, and no others.
		if strings.HasPrefix(got, "unread") || r.of.Format == JPEG && r.of.Orientation != 1 {
			count("Pillow", false)
			continue
		}
		if want := fmt.Sprintf("%d,%d", r.x, r.y); got != want {
			t.Errorf("%s as %s: Pillow sees changed: %.100s, want %s", filepath.Base(r.source), filepath.Ext(r.result), got, want)
		}
		count("Pillow", true)
	}
	warned := exifWarnings(t, all)
	for i, r := range results {
		for _, w := range warned[2*i+1] {
			if !slices.Contains(warned[2*i], w) {
				t.Errorf("%s as %s: exiftool warns anew: %s", filepath.Base(r.source), filepath.Ext(r.result), w)
			}
		}
		count("exiftool", true)
	}
	table := fmt.Sprintf("\n%d files, saved: %v\n%-12s %8s %10s", len(paths), counts, "judge", "judged", "not read")
	for _, name := range slices.Sorted(maps.Keys(verdicts)) {
		table += fmt.Sprintf("\n%-12s %8d %10d", name, verdicts[name][0], verdicts[name][1])
	}
	t.Log(table)
}
