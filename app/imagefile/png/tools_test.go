package png

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
	"blik/processing"
)

// raster is a picture decoded by OpenCV: channels in its order (blue first, alpha last), rows from the top.
type raster struct {
	width, height, channels int
	samples                 []int
}

// opencv decodes files with OpenCV's Python module, which uses libpng.
func opencv(t *testing.T, paths ...string) []raster {
	t.Helper()
	const script = "import sys, cv2, numpy, struct\n" +
		"for path in sys.argv[1:]:\n" +
		"  m = cv2.imread(path, cv2.IMREAD_UNCHANGED)\n" +
		"  m = m.reshape(m.shape[0], m.shape[1], -1)\n" +
		"  sys.stdout.buffer.write(struct.pack('<3I', *m.shape) + m.astype('<u2').tobytes())"
	out, err := exec.Command(testpic.Python(t, "cv2", "numpy"), append([]string{"-c", script}, paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []raster
	for range paths {
		u32 := binary.LittleEndian.Uint32
		r := raster{height: int(u32(out)), width: int(u32(out[4:])), channels: int(u32(out[8:]))}
		out = out[12:]
		r.samples = make([]int, r.width*r.height*r.channels)
		for i := range r.samples {
			r.samples[i] = int(binary.LittleEndian.Uint16(out[2*i:]))
		}
		out = out[2*len(r.samples):]
		list = append(list, r)
	}
	return list
}

// TestSamplesAsLibpngSeesThem decodes all samples, changes a pixel, and compares both with libpng and exiftool.
func TestSamplesAsLibpngSeesThem(t *testing.T) {
	testpic.NoRace(t)
	names := append(testpic.SharedFiles(t, "io-samples/*.png"), testpic.SharedFiles(t, "negatives/*.png")[:1]...)
	folder := t.TempDir()
	var pictures []*processing.Picture
	var changed []string
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, pic := mustOpen(t, data), mustDecode(t, data)
		x, y := pic.Width/3, pic.Height/2
		patch := processing.Patch{Runs: []processing.Run{{Y: y, X0: x, X1: x + 1}}}
		for c := range pic.Channels {
			if v := sampleAt(pic, x, y, c); pic.U16 != nil {
				patch.U16 = append(patch.U16, uint16(v)^0x8101)
			} else {
				patch.U8 = append(patch.U8, uint8(v)^0x81)
			}
		}
		out := mustRewrite(t, data, []processing.Patch{patch})
		if a, b := chunks(t, data), chunks(t, out); !f.converts() && !slices.Equal(a, b) {
			t.Errorf("%s: a chunk changed", name)
		}
		path := filepath.Join(folder, filepath.Base(name))
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Fatal(err)
		}
		pictures, changed = append(pictures, pic), append(changed, path)
	}
	rasters, tags := opencv(t, append(names, changed...)...), containertest.ExifTool(t, append(names, changed...)...)
	for i, pic := range pictures {
		name, before, after := names[i], rasters[i], rasters[len(names)+i]
		if before.width != pic.Width || before.height != pic.Height {
			t.Errorf("%s: %d × %d pixels, want %d × %d", name, pic.Width, pic.Height, before.width, before.height)
			continue
		}
		wrong := 0
		for k := range pic.Width * pic.Height {
			for c := range pic.Channels {
				want := before.samples[k*before.channels+c]
				if pic.Channels == 3 {
					want = before.samples[k*before.channels+2-c]
				}
				if sampleAt(pic, k%pic.Width, k/pic.Width, c) != want {
					wrong++
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d samples are other than libpng's", name, wrong)
		}
		differ := map[int]bool{}
		for k, v := range after.samples {
			if v != before.samples[k] {
				differ[k/before.channels] = true
			}
		}
		if at := pic.Height/2*pic.Width + pic.Width/3; !maps.Equal(differ, map[int]bool{at: true}) {
			t.Errorf("%s: pixels %v differ, want only %d", name, slices.Sorted(maps.Keys(differ)), at)
		}
		a, b := tags[i], tags[len(names)+i]
		if a["PNG:ColorType"] == `"Palette"` && b["PNG:ColorType"] == `"RGB"` {
			for _, key := range []string{"PNG:BitDepth", "PNG:ColorType", "PNG:Palette"} {
				delete(a, key)
				delete(b, key)
			}
		}
		if !maps.Equal(a, b) || len(a) < 5 {
			t.Errorf("%s: metadata were %v, are %v", name, a, b)
		}
	}
}

// TestMetadataAsExiftoolSeesThem writes all kinds of metadata and reads them with exiftool.
func TestMetadataAsExiftoolSeesThem(t *testing.T) {
	pic := &processing.Picture{Width: 3, Height: 2, Channels: 3, U8: make([]uint8, 18)}
	var out bytes.Buffer
	m := someMetadata()
	m.XMP = []byte(`<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>` +
		`<rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/' dc:format='image/png'/></rdf:RDF></x:xmpmeta>`)
	if err := Encode(t.Context(), &out, pic, m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new.png")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tags := containertest.ExifTool(t, path)[0]
	for tag, want := range map[string]string{
		"IFD0:Orientation": `"Rotate 90 CW"`, "XMP-dc:Format": `"image/png"`, "IPTC:Caption-Abstract": `"words"`,
		"PNG-pHYs:PixelsPerUnitX": "11811", "PNG-pHYs:PixelUnits": `"meters"`, "PNG:ProfileName": `"ICC profile"`,
		"PNG:ColorType": `"RGB"`,
	} {
		if tags[tag] != want {
			t.Errorf("%s is %s, want %s, among %v", tag, tags[tag], want, tags)
		}
	}
	if t.Failed() {
		return
	}
	for tag := range tags {
		if strings.Contains(tag, "Warning") || strings.Contains(tag, "Error") {
			t.Errorf("%s: %s", tag, tags[tag])
		}
	}
}

// TestInfoAgainstProperties compares Info with the properties that libvips reports.
func TestInfoAgainstProperties(t *testing.T) {
	containertest.Properties(t, func(t *testing.T, data []byte, want map[string]string) {
		f := mustOpen(t, data)
		i := f.Info()
		bands := i.Channels() + i.Extra
		if f.transparency != nil {
			bands++ // libvips makes opacity of it
		}
		format := "uchar"
		if i.Depth == 16 {
			format = "ushort"
		}
		containertest.Same(t, map[string]string{
			"width": strconv.Itoa(i.Width), "height": strconv.Itoa(i.Height), "bands": strconv.Itoa(bands), "format": format,
		}, want)
		if i.Meta.Orientation != 1 || i.Meta.ICC != nil {
			t.Errorf("orientation %d, profile of %d bytes, but it has neither", i.Meta.Orientation, len(i.Meta.ICC))
		}
	}, ".png")
}

func TestMalformed(t *testing.T) {
	for _, name := range testpic.SharedFiles(t, "malformed/*.png") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if strings.HasPrefix(filepath.Base(name), "bomb") {
			// The file is valid; Info reports its size, and the caller decides.
			if err != nil || f.Info().Width != 20000 || f.Info().Raw != 20000*20000/8 {
				t.Errorf("%s: %v", filepath.Base(name), err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s opens", filepath.Base(name))
			continue
		}
		containertest.Fault(t, err)
	}
}
