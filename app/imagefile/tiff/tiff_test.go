package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"blik/processing"
)

const (
	samplesDir   = "../../../../shared/data/io-samples"
	malformedDir = "../../../../shared/data/malformed"
)

// files returns the TIFFs of a folder of the shared data, or skips.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.tif", "*.tiff"} {
		m, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m...)
	}
	if len(all) == 0 {
		t.Skipf("no TIFFs in %s: the shared data are not here", dir)
	}
	return all
}

// tool skips where a program is not installed.
func tool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: nothing was compared with libtiff and exiftool", name)
	}
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
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func decode(t testing.TB, data []byte) *processing.Picture {
	t.Helper()
	pic, err := open(t, data).Decode(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := pic.Validate(); err != nil {
		t.Fatal(err)
	}
	return pic
}

var stripLine = regexp.MustCompile(`(?m)^\s+(\d+): \[\s*(\d+),\s+(\d+)\]`)

// libtiff returns all samples of the first page of the file at path as libtiff decodes them: chunky rows, little-endian.
func libtiff(t *testing.T, path string, l *layout) []byte {
	t.Helper()
	tool(t, "tiffcp")
	tool(t, "tiffinfo")
	plain := filepath.Join(t.TempDir(), "plain.tif")
	// Planes in strips are put together here, because tiffcp cannot do it with compressed ones; those in tiles by tiffcp,
	// because it cannot leave them apart with more than 8 bits.
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
		return floatBits(p.F32[i])
	}
}

func TestSamplesAgainstLibtiff(t *testing.T) {
	for _, path := range files(t, samplesDir) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f := open(t, data)
			sameSamples(t, f, decode(t, data), libtiff(t, path, f.lay))
		})
	}
}

func TestMalformed(t *testing.T) {
	for _, path := range files(t, malformedDir) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Open(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				i := f.Info()
				t.Log(fmt.Sprintf("%+v", i))
				_, err = f.Decode(context.Background())
			}
			t.Log(err)
		})
	}
}
