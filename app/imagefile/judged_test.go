package imagefile

import (
	"bytes"
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
