package tiff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"blik/internal/test/testpic"
)

// jpegStreams returns JPEG files of a picture of 40 × 24 pixels by the chroma subsampling (0: none, 1: 2 × 1, 2: 2 × 2),
// and of a grey one at 3, as Pillow writes them.
func jpegStreams(t *testing.T) [4][]byte {
	t.Helper()
	const script = `import sys, io, struct
from PIL import Image
pic = Image.new("RGB", (40, 24))
pic.putdata([((x * 37 + y * 11) % 256, (x * x + y * 7) % 256, (y * 10 + x) % 256) for y in range(24) for x in range(40)])
for mode, sub in ("RGB", 0), ("RGB", 1), ("RGB", 2), ("L", 0):
  out = io.BytesIO()
  pic.convert(mode).save(out, "JPEG", quality=90, subsampling=sub)
  sys.stdout.buffer.write(struct.pack("<I", out.tell()) + out.getvalue())
`
	out, err := exec.Command(testpic.Python(t, "PIL"), "-c", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [4][]byte
	for i := range all {
		n := binary.LittleEndian.Uint32(out)
		all[i], out = out[4:4+n], out[4+n:]
	}
	return all
}

// marked returns a JPEG file with other segments in place of its JFIF segment and other names of its components.
func marked(t *testing.T, data, segments []byte, names string) []byte {
	t.Helper()
	data = bytes.Clone(data)
	frame, scan := bytes.Index(data, []byte{0xff, 0xc0}), bytes.Index(data, []byte{0xff, 0xda})
	if string(data[2:4]) != "\xff\xe0" || frame < 0 || scan < 0 {
		t.Fatal("Pillow has written another file")
	}
	for i := range names {
		data[frame+10+3*i], data[scan+5+2*i] = names[i], names[i]
	}
	rest := data[4+int(binary.BigEndian.Uint16(data[4:])):]
	return append(append(bytes.Clone(data[:2]), segments...), rest...)
}

// TestColoursOfJPEG compares the colours of JPEG streams in strips and tiles with those of libtiff, for every combination
// of the tag PhotometricInterpretation, markers of the stream, names of its components, and subsampling: the tag decides.
func TestColoursOfJPEG(t *testing.T) {
	streams := jpegStreams(t)
	const jfif = "\xff\xe0\x00\x10JFIF\x00\x01\x01\x01\x00\x48\x00\x48\x00\x00"
	adobe := func(transform string) string { return "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + transform }
	markers := []struct{ name, bytes string }{
		{"no marker", ""}, {"JFIF", jfif}, {"Adobe 0", adobe("\x00")}, {"Adobe 1", adobe("\x01")}, {"Adobe 2", adobe("\x02")},
		{"JFIF and Adobe 0", jfif + adobe("\x00")}, {"JFIF and Adobe 1", jfif + adobe("\x01")},
		{"Adobe 0, then JFIF", adobe("\x00") + jfif}, {"JFXX", "\xff\xe0\x00\x0aJFXX\x00\x10\xff\xd8"},
	}
	compared := 0
	for _, photometric := range []uint16{photometricRGB, photometricYCbCr, blackIsZero, whiteIsZero} {
		for subsampling, stream := range streams {
			grey := photometric == blackIsZero || photometric == whiteIsZero
			// libtiff accepts subsampling only for YCbCr.
			if grey != (subsampling == 3) || photometric == photometricRGB && subsampling > 0 {
				continue
			}
			for _, marker := range markers {
				for _, names := range []string{"\x01\x02\x03", "RGB", "\x00\x01\x02", "YCc"} {
					if grey {
						names = names[:1]
					}
					compared++
					f := form{
						order: binary.LittleEndian, compression: compJPEG, photometric: photometric, depth: 8, width: 40, height: 24,
						tiled: compared%2 == 0,
					}
					file := f.around(marked(t, stream, []byte(marker.bytes), names), len(names))
					path := filepath.Join(t.TempDir(), "a.tif")
					if err := os.WriteFile(path, file, 0o600); err != nil {
						t.Fatal(err)
					}
					opened, pic := open(t, file), decode(t, file)
					name := fmt.Sprintf("photometric %d, %s, %q, subsampling %d", photometric, marker.name, names, subsampling)
					t.Run(name, func(t *testing.T) { sameSamples(t, opened, pic, libtiff(t, path, opened.lay)) })
				}
			}
		}
	}
	t.Logf("%d combinations compared", compared)
}

// around returns a TIFF of one segment that holds a JPEG file.
func (f form) around(data []byte, samples int) []byte {
	d := dialect{order: f.order}
	out := append(d.header(0), data...)
	if len(out)%2 == 1 {
		out = append(out, 0)
	}
	copy(out, d.header(int64(len(out))))
	depth := []uint16{8, 8, 8}
	fields := []field{
		d.longs(tagWidth, int64(f.width)), d.longs(tagLength, int64(f.height)), d.shorts(tagBitsPerSample, depth[:samples]...),
		d.shorts(tagCompression, uint16(compJPEG)), d.shorts(tagPhotometric, f.photometric), d.shorts(tagSamples, uint16(samples)),
	}
	if f.tiled {
		fields = append(fields, d.longs(tagTileWidth, int64(f.width)), d.longs(tagTileLength, int64(f.height)),
			d.longs(tagTileOffsets, 8), d.longs(tagTileByteCounts, int64(len(data))))
	} else {
		fields = append(fields, d.longs(tagRowsPerStrip, int64(f.height)), d.longs(tagStripOffsets, 8),
			d.longs(tagStripByteCounts, int64(len(data))))
	}
	return append(out, d.directory(fields, int64(len(out)), 0)...)
}
