package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"blik/app/i18n"
	"blik/app/imagefile/container"
	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
	"blik/processing"
)

// files returns the TIFFs of a folder of the shared data, or skips.
func files(t *testing.T, folder string) []string {
	t.Helper()
	return testpic.SharedFiles(t, folder+"/*.tif", folder+"/*.tiff")
}

func command(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, errs.String())
	}
	return out.Bytes()
}

func open(t testing.TB, data []byte) *File {
	t.Helper()
	return containertest.Open(t, Open, data)
}

func decode(t testing.TB, data []byte) *processing.Picture {
	t.Helper()
	return containertest.Decode(t, Open, data)
}

var stripLine = regexp.MustCompile(`(?m)^\s+(\d+): \[\s*(\d+),\s+(\d+)\]`)

// libtiff returns all samples of the first page of the file at path as libtiff decodes them: chunky rows,
// little-endian.
func libtiff(t *testing.T, path string, l *layout) []byte {
	t.Helper()
	testpic.Program(t, "tiffcp")
	testpic.Program(t, "tiffinfo")
	plain := filepath.Join(t.TempDir(), "plain.tif")
	// Planes in strips are combined here, because tiffcp cannot combine compressed ones; planes in tiles are combined
	// by tiffcp, because it cannot keep them separate with more than 8 bits.
	planar, apart := "contig", l.planar && !l.tiled
	if apart {
		planar = "separate"
	}
	command(t, "tiffcp", "-L", "-s", "-p", planar, "-c", "none", "-f", "msb2lsb", "-r", "1000000", path+",0", plain)
	data, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	var samples []byte
	for _, m := range stripLine.FindAllSubmatch(command(t, "tiffinfo", "-s", plain), -1) {
		at, _ := strconv.Atoi(string(m[2]))
		n, _ := strconv.Atoi(string(m[3]))
		samples = append(samples, data[at:at+n]...)
	}
	if !apart || l.depth < 8 {
		return samples
	}
	each := l.depth / 8
	chunky := make([]byte, 0, len(samples))
	for i := range l.width * l.height {
		for c := range l.samples {
			at := (c*l.width*l.height + i) * each
			chunky = append(chunky, samples[at:at+each]...)
		}
	}
	return chunky
}

// sameSamples compares a decoded picture with all samples of its file, as libtiff returns them.
func sameSamples(t *testing.T, f *File, pic *processing.Picture, all []byte) {
	t.Helper()
	l := f.lay
	rowBytes := (l.width*l.samples*l.depth + 7) / 8
	if len(all) != rowBytes*l.height {
		t.Fatalf("libtiff returned %d bytes, %d expected", len(all), rowBytes*l.height)
	}
	for y := range l.height {
		row := all[y*rowBytes:]
		for x := range l.width {
			for c := range pic.Channels {
				i := x*l.samples + c
				if l.colourMap != nil {
					i = x * l.samples
				}
				var v uint32
				switch l.depth {
				case 8:
					v = uint32(row[i])
				case 16:
					v = uint32(binary.LittleEndian.Uint16(row[2*i:]))
				case 32:
					v = binary.LittleEndian.Uint32(row[4*i:])
				default:
					v = uint32(row[i*l.depth/8]) >> (8 - l.depth - i*l.depth%8) & (1<<l.depth - 1)
				}
				if l.colourMap != nil {
					v = uint32(l.colourMap[c<<l.depth+int(v)])
					if l.decoded == 8 {
						v >>= 8
					}
				} else if l.depth < 8 {
					v = v * 255 / (1<<l.depth - 1)
				}
				if l.photometric == whiteIsZero {
					v = 1<<l.decoded - 1 - v
				}
				if got := sample(pic, (y*l.width+x)*pic.Channels+c); got != v {
					t.Fatalf("pixel %d, %d channel %d is %d, libtiff says %d", x, y, c, got, v)
				}
			}
		}
	}
}

// sample returns sample i, of floating-point pictures its bits.
func sample(p *processing.Picture, i int) uint32 {
	switch {
	case p.U8 != nil:
		return uint32(p.U8[i])
	case p.U16 != nil:
		return uint32(p.U16[i])
	default:
		return math.Float32bits(p.F32[i])
	}
}

func TestSamplesAgainstLibtiff(t *testing.T) {
	for _, path := range files(t, "io-samples") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data := testpic.ReadFile(t, path)
			f := open(t, data)
			sameSamples(t, f, decode(t, data), libtiff(t, path, f.lay))
		})
	}
}

// TestReferences compares the derived files with the pixels from which they were made, except the one whose colours
// were also converted.
func TestReferences(t *testing.T) {
	for name, reference := range map[string]string{
		"rgb16_deflate_predictor_tiled.tif": "io_reference_16bit.png",
		"rgb8_bigtiff_tiled.tif":            "io_reference_8bit.png",
	} {
		t.Run(name, func(t *testing.T) {
			data := testpic.ReadFile(t, testpic.Shared(t, "io-samples/"+name))
			img := testpic.Image(t, testpic.Shared(t, "io-samples/"+reference))
			pic := decode(t, data)
			if b := img.Bounds(); b != image.Rect(0, 0, pic.Width, pic.Height) {
				t.Fatalf("%d × %d pixels, the reference has %v", pic.Width, pic.Height, b)
			}
			for i := range pic.Width * pic.Height {
				r, g, b, _ := img.At(i%pic.Width, i/pic.Width).RGBA()
				for c, want := range []uint32{r, g, b} {
					if pic.U8 != nil {
						want >>= 8
					}
					if got := sample(pic, 3*i+c); got != want {
						t.Fatalf("sample %d of pixel %d is %d, not %d", c, i, got, want)
					}
				}
			}
		})
	}
}

func TestProperties(t *testing.T) {
	containertest.Properties(t, func(t *testing.T, data []byte, want map[string]string) {
		i := open(t, data).Info()
		containertest.Same(t, map[string]string{
			"width": strconv.Itoa(i.Width), "height": strconv.Itoa(i.Height),
			"bands":       strconv.Itoa(i.Channels() + i.Extra),
			"format":      map[int]string{8: "uchar", 16: "ushort"}[i.Depth],
			"orientation": strconv.Itoa(i.Meta.Orientation),
		}, want)
		if (i.Meta.ICC != nil) != (want["icc-profile-data"] == "present") {
			t.Errorf("a profile of %d bytes, libvips says %q", len(i.Meta.ICC), want["icc-profile-data"])
		}
	}, ".tif", ".tiff")
}

// tags returns what exiftool reads in the files, except file system data and the location of pixels.
func tags(t *testing.T, paths ...string) []map[string]any {
	t.Helper()
	testpic.Program(t, "exiftool")
	var all []map[string]any
	if err := json.Unmarshal(command(t, "exiftool", append([]string{"-j", "-G1", "-a", "-u", "-b"}, paths...)...), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(paths) {
		t.Fatalf("exiftool read %d files of %d", len(all), len(paths))
	}
	for _, file := range all {
		for key := range file {
			_, name, _ := strings.Cut(key, ":")
			switch {
			case strings.HasPrefix(key, "System:"), key == "SourceFile", key == "ExifTool:Warning",
				name == "StripOffsets", name == "StripByteCounts", name == "TileOffsets", name == "TileByteCounts":
				delete(file, key)
			}
		}
	}
	return all
}

// sameTags fails if exiftool or tiffinfo reports another tag for the second file of a pair.
func sameTags(t *testing.T, pairs ...[2]string) {
	t.Helper()
	var paths []string
	for _, p := range pairs {
		paths = append(paths, p[:]...)
	}
	all := tags(t, paths...)
	for i, p := range pairs {
		a, b := all[2*i], all[2*i+1]
		if len(a) < 10 {
			t.Fatalf("%s: exiftool sees %d tags only", p[0], len(a))
		}
		for key := range b {
			if _, ok := a[key]; !ok {
				t.Errorf("%s: %s is new", p[0], key)
			}
		}
		for key, v := range a {
			if w := b[key]; !equalJSON(v, w) {
				t.Errorf("%s: %s was %v and is %v", p[0], key, v, w)
			}
		}
		if x, y := infoLines(t, p[0]), infoLines(t, p[1]); x != y {
			t.Errorf("tiffinfo said\n%s\nand says\n%s", x, y)
		}
	}
}

func equalJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

func infoLines(t *testing.T, path string) string {
	testpic.Program(t, "tiffinfo")
	var kept []string
	for line := range strings.Lines(string(command(t, "tiffinfo", path))) {
		if !strings.HasPrefix(line, "TIFF Directory at offset") && !strings.Contains(line, path) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestPatchSamples changes one pixel of every file of the shared data.
func TestPatchSamples(t *testing.T) {
	dir := t.TempDir()
	var pairs [][2]string
	for _, path := range files(t, "io-samples") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data := testpic.ReadFile(t, path)
			f := open(t, data)
			pic := decode(t, data)
			patch := change(pic, 41, 27)
			result := patched(t, data, patch)
			onlyChanged(t, pic, decode(t, result), patch)
			if f.info.Compression == "none" {
				if n := differing(data, result); len(data) != len(result) || n == 0 || n > pic.Channels*f.info.Depth/8 {
					t.Fatalf("%d bytes differ, and the length by %d", n, len(result)-len(data))
				}
			}
			after := filepath.Join(dir, filepath.Base(path))
			if err := os.WriteFile(after, result, 0o600); err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, [2]string{path, after})
			sameSamples(t, f, decode(t, result), libtiff(t, after, f.lay))
		})
	}
	sameTags(t, pairs...)
}

// TestMalformed checks that every defect is reported as a fault.
func TestMalformed(t *testing.T) {
	// These contain a complete first picture despite their defects.
	readable := map[string]bool{"imagetiff-oor_panic-5.tif": true, "imagetiff-oor_panic-6.tif": true}
	for _, path := range files(t, "malformed") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Open(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				_, err = f.Decode(context.Background())
			}
			if readable[filepath.Base(path)] {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var fault *container.Fault
			if !errors.As(err, &fault) {
				t.Fatalf("%v is no fault", err)
			}
			if fault.Text.IsZero() || strings.Contains(i18n.For("ru").Sprint(fault.Text), "%!") || strings.Contains(fault.Text.String(), "%!") {
				t.Errorf("the texts are %q and %q", fault.Text.String(), i18n.For("ru").Sprint(fault.Text))
			}
		})
	}
}
