package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
	"blik/processing"
)

// pillow decodes JPEGs with libjpeg-turbo through Python's Pillow, all in one process, because starting it takes longer
// than decoding. The samples are grey, RGB or CMYK with 0 for no ink.
func pillow(t *testing.T, files ...[]byte) [][]byte {
	t.Helper()
	const script = `import sys, io, struct
from PIL import Image
read, write = sys.stdin.buffer.read, sys.stdout.buffer.write
while size := read(4):
  samples = Image.open(io.BytesIO(read(*struct.unpack("<I", size)))).tobytes()
  write(struct.pack("<I", len(samples)) + samples)
`
	var in []byte
	for _, data := range files {
		in = append(binary.LittleEndian.AppendUint32(in, uint32(len(data))), data...)
	}
	cmd := exec.Command(testpic.Python(t, "PIL"), "-c", script)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for range files {
		size := 4 + binary.LittleEndian.Uint32(out)
		all = append(all, out[4:size])
		out = out[size:]
	}
	return all
}

// TestColoursAsLibjpegSeesThem: JFIF's segment decides about the colours, otherwise Adobe's, otherwise the names of the
// components, whatever else the file says.
func TestColoursAsLibjpegSeesThem(t *testing.T) {
	const jfif = "\xff\xe0\x00\x10JFIF\x00\x01\x01\x01\x00\x48\x00\x48\x00\x00"
	adobe := func(transform string) string { return "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + transform }
	var names []string
	var files [][]byte
	rng := rand.New(rand.NewPCG(1, 2))
	for _, marker := range []string{
		"", jfif, adobe("\x00"), adobe("\x01"), adobe("\x02"), jfif + adobe("\x00"), adobe("\x00") + jfif,
		jfif + "\xff\xe0\x00\x0aJFXX\x00\x10\xff\xd8", jfif + "\xff\xe0\x00\x0aJFXX\x00\x10\xff\xd8" + adobe("\x00"),
	} {
		for _, ids := range []string{"\x01\x02\x03", "RGB", "\x00\x01\x02", "rgb"} {
			s := synthetic{File: File{width: 20, height: 12, frame: markerSOF0, adobe: -1}, extra: []byte(marker)}
			for _, id := range []byte(ids) {
				s.components = append(s.components, component{id: id, h: 1, v: 1})
			}
			s.add([]int{0, 1, 2}, 0, 63, 0, 0)
			names = append(names, fmt.Sprintf("%q %q", marker, ids))
			p := s.coefficients(rng)
			tame(p)
			files = append(files, s.file(t, p))
		}
	}
	for i, want := range pillow(t, files...) {
		if !bytes.Equal(containertest.Decode(t, Open, files[i]).U8, want) {
			t.Errorf("%s: other colours than libjpeg's", names[i])
		}
	}
}

// TestRewriteAsLibjpegSeesIt changes a pixel of each real file. A decoder that interpolates chroma must see a change
// only in the touched MCU and, with subsampled chroma, in the pixels beside it; all metadata must stay the same.
func TestRewriteAsLibjpegSeesIt(t *testing.T) {
	for _, name := range append(testpic.SharedFiles(t, "io-samples/*.jpg"), testpic.SharedFiles(t, "glare-dev/*.jpg")[:1]...) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f := open(t, data)
			i := f.Info()
			x, y := i.Width/3, i.Height/2
			out := mustRewrite(t, data, []processing.Patch{blotch(x, y, 1, []uint8{10, 200, 30, 90}[:i.Channels()]...)})
			both := pillow(t, data, out)
			before, after := both[0], both[1]
			if len(before) != i.Width*i.Height*i.Channels() || len(after) != len(before) {
				t.Fatalf("%d samples before, %d after", len(before), len(after))
			}
			maxH, maxV := f.sampling()
			w, h := 8*maxH, 8*maxV
			x0, y0, x1, y1 := x/w*w, y/h*h, x/w*w+w, y/h*h+h
			if maxH > 1 {
				x0, x1 = x0-1, x1+1
			}
			if maxV > 1 {
				y0, y1 = y0-1, y1+1
			}
			changed := false
			for k := range before {
				px, py := k/i.Channels()%i.Width, k/i.Channels()/i.Width
				if before[k] == after[k] {
					continue
				}
				changed = true
				if px < x0 || px >= x1 || py < y0 || py >= y1 {
					t.Fatalf("pixel %d, %d changed with %d, %d", px, py, x, y)
				}
			}
			if !changed {
				t.Error("nothing changed")
			}
			a, b := exiftool(t, data), exiftool(t, out)
			if !maps.Equal(a, b) {
				t.Errorf("metadata were %v, are %v", a, b)
			}
			if len(a) < 5 {
				t.Errorf("only %d metadata: %v", len(a), a)
			}
		})
	}
}

// exiftool lists the metadata of a file.
func exiftool(t *testing.T, data []byte) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "picture.jpg")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return containertest.ExifTool(t, path)[0]
}

// TestInfoAgainstProperties compares with what libvips reports about the files.
func TestInfoAgainstProperties(t *testing.T) {
	containertest.Properties(t, func(t *testing.T, data []byte, want map[string]string) {
		i := open(t, data).Info()
		if want["orientation"] == "" {
			want["orientation"] = "1"
		}
		containertest.Same(t, map[string]string{
			"width": strconv.Itoa(i.Width), "height": strconv.Itoa(i.Height), "bands": strconv.Itoa(i.Channels()),
			"orientation": strconv.Itoa(i.Meta.Orientation),
		}, want)
		if got, want := len(i.Meta.ICC) > 0, want["icc-profile-data"] == "present"; got != want {
			t.Errorf("profile %t, want %t", got, want)
		}
	}, ".jpg")
}

func TestMalformed(t *testing.T) {
	for _, name := range testpic.SharedFiles(t, "malformed/*.jpg") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_, err = f.Decode(t.Context())
		}
		// Only the EXIF of these two files is unusual, which is no reason not to show them.
		readable := map[string]bool{"exif_typeerror.jpg": true, "multiple_exif.jpg": true}[filepath.Base(name)]
		if readable != (err == nil) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
		if err != nil {
			containertest.Fault(t, err)
		}
	}
}
