package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/image/tiff/lzw"
	"pgregory.net/rapid"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/test/testpic"
	"blik/processing"
)

func rgb16(order binary.ByteOrder) form {
	return form{order: order, depth: 16, compression: compNone, photometric: photometricRGB, width: 70, height: 50, segW: 32, segH: 16}
}

// TestRich changes one pixel of files with everything that archives store in them, and checks the results with
// independent programs.
func TestRich(t *testing.T) {
	testpic.Program(t, "exiftool")
	testpic.Program(t, "tiffcp")
	rng := rand.New(rand.NewPCG(3, 4))
	f := rgb16(binary.BigEndian)
	f.extra = []uint16{2}
	first := testpic.WriteFile(t, "first.tif", f.write(t, f.random(rng)))
	second := testpic.WriteFile(t, "second.tif", form{order: binary.BigEndian, depth: 8, compression: compLZW, photometric: blackIsZero,
		width: 30, height: 20, segH: 7}.write(t, make([]uint32, 600)))
	thumbnail := testpic.WriteFile(t, "thumbnail.jpg", []byte("\xff\xd8\xff\xdb a thumbnail that nobody decodes \xff\xd9"))
	dir := t.TempDir()
	kinds := []string{"none", "lzw:2", "zip:2", "packbits"}
	paths := make([]string, len(kinds))
	for i, kind := range kinds {
		paths[i] = filepath.Join(dir, kind+".tif")
		command(t, "tiffcp", "-c", kind, []string{"-B", "-L"}[i/2], "-r", "9", first, second, paths[i])
	}
	command(t, "exiftool", append([]string{"-overwrite_original", "-q",
		"-EXIF:Make=Phase One", "-EXIF:Model=IQ4 150MP", "-EXIF:LensModel=Schneider 120", "-EXIF:ExposureTime=1/125",
		"-EXIF:DateTimeOriginal=2026:01:02 03:04:05", "-EXIF:UserComment=под лаком", "-EXIF:Artist=A. Restorer",
		"-GPS:GPSLatitude=59.94", "-GPS:GPSLatitudeRef=N", "-GPS:GPSLongitude=30.31", "-GPS:GPSLongitudeRef=E",
		"-IPTC:Headline=Portrait", "-IPTC:Keywords=varnish", "-IPTC:Keywords=glare", "-IPTC:By-line=Someone",
		"-XMP-dc:Title=Портрет", "-XMP-dc:Creator=Unknown", "-XMP-xmpRights:UsageTerms=CC0", "-XResolution=600", "-YResolution=600",
		"-Photoshop:URL=https://example.org/", "-InteropIndex=R98", "-IFD1:ThumbnailImage<=" + thumbnail}, paths...)...)
	var pairs [][2]string
	for i, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			data := testpic.ReadFile(t, paths[i])
			g := open(t, data)
			if i := g.Info(); i.Pictures != 2 || i.Meta.XMP == nil || i.Meta.IPTC == nil || i.Meta.Photoshop == nil ||
				i.Meta.XResolution != 600 || i.Meta.Unit != container.UnitInch || i.Extra != 1 {
				i.Meta.EXIF = nil
				t.Fatalf("the file is not rich: %+v", i)
			}
			pic := decode(t, data)
			patch := change(pic, 33, 17)
			result := patched(t, data, patch)
			onlyChanged(t, pic, decode(t, result), patch)
			after := filepath.Join(dir, kind+".after.tif")
			if err := os.WriteFile(after, result, 0o600); err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, [2]string{paths[i], after})
			sameSamples(t, g, decode(t, result), libtiff(t, after, g.lay))
			// The second page is unchanged.
			a, b := filepath.Join(t.TempDir(), "a.tif"), filepath.Join(t.TempDir(), "b.tif")
			command(t, "tiffcp", paths[i]+",1", a)
			command(t, "tiffcp", after+",1", b)
			if !bytes.Equal(testpic.ReadFile(t, a), testpic.ReadFile(t, b)) {
				t.Error("the second page is another")
			}
			if kind == "none" && (len(data) != len(result) || differing(data, result) != 6) {
				t.Errorf("%d bytes differ, and the length by %d", differing(data, result), len(result)-len(data))
			}
		})
	}
	if len(pairs) == len(kinds) {
		sameTags(t, pairs...)
	}
}

// TestManyPixels changes runs across strips, tiles and planes.
func TestManyPixels(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 60 {
		f := rgb16([]binary.ByteOrder{binary.LittleEndian, binary.BigEndian}[i%2])
		f.tiled, f.planar = i/2%2 == 0, i/4%2 == 0
		f.compression = []compression{compNone, compLZW, compDeflate, compPackBits}[i/8%4]
		if i%3 == 0 {
			f.extra = []uint16{1}
		}
		data := f.write(t, f.random(rng))
		pic := decode(t, data)
		var patches []processing.Patch
		all := processing.Patch{}
		for y := range f.height {
			if rng.IntN(3) == 0 {
				x0 := rng.IntN(f.width)
				p := processing.Patch{Spot: y, Runs: []processing.Run{{Y: y, X0: x0, X1: x0 + 1 + rng.IntN(f.width-x0)}}}
				for range 3 * (p.Runs[0].X1 - x0) {
					p.U16 = append(p.U16, uint16(rng.Uint32()))
				}
				patches = append(patches, p)
				all.Runs, all.U16 = append(all.Runs, p.Runs...), append(all.U16, p.U16...)
			}
		}
		onlyChanged(t, pic, decode(t, patched(t, data, patches...)), all)
	}
}

func TestNothingToChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, comp := range []compression{compNone, compLZW, compDeflate, compPackBits} {
		for _, photometric := range []uint16{photometricRGB, photometricIndex} {
			f := rgb16(binary.LittleEndian)
			f.depth, f.compression, f.photometric = 8, comp, photometric
			data := f.write(t, f.random(rng))
			pic := decode(t, data)
			same := change(pic, 5, 6)
			at := (6*pic.Width + 5) * 3
			if pic.U8 != nil {
				same.U8 = pic.U8[at : at+3]
			} else {
				same.U16 = pic.U16[at : at+3]
			}
			if !bytes.Equal(patched(t, data), data) {
				t.Errorf("%v: no patches make another file", comp)
			}
			if !bytes.Equal(patched(t, data, same), data) {
				t.Errorf("%v: an equal pixel makes another file", comp)
			}
		}
	}
}

// TestSharedStrips checks that strips that share their bytes are separated when one of them changes.
func TestSharedStrips(t *testing.T) {
	for _, comp := range []compression{compNone, compLZW} {
		f := rgb16(binary.LittleEndian)
		f.compression, f.sharedStrips, f.height = comp, true, 48
		samples := make([]uint32, f.width*f.height*3)
		data := f.write(t, samples)
		if f := open(t, data); comp == compNone && f.Info().Expansion != 0 {
			t.Error("a bound on the length of a file whose strips share their bytes")
		}
		pic := decode(t, data)
		patch := change(pic, 8, 20)
		result := patched(t, data, patch)
		onlyChanged(t, pic, decode(t, result), patch)
	}
}

// TestSharedPages checks that a second page with the same strips does not change.
func TestSharedPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, comp := range []compression{compNone, compDeflate} {
		f := rgb16(binary.BigEndian)
		f.compression = comp
		data := f.write(t, f.random(rng))
		// The copy of the directory, entries and all, is a second page.
		first := open(t, data).dir
		second := bytes.Clone(data[first.At:][:first.Length])
		f.order.PutUint32(data[first.At+first.Length-4:], uint32(len(data)))
		data = append(data, second...)
		if n := open(t, data).Info().Pictures; n != 2 {
			t.Fatalf("%d pictures", n)
		}
		page2 := bytes.Clone(data)
		f.order.PutUint32(page2[4:], uint32(len(data)-len(second)))
		before := decode(t, page2)
		patch := change(before, 3, 3)
		result := patched(t, data, patch)
		onlyChanged(t, decode(t, data), decode(t, result), patch)
		copy(result[4:], page2[4:8])
		onlyChanged(t, before, decode(t, result), processing.Patch{})
	}
}

// TestPixelsAcrossTags checks that a damaged file whose pixels overlap its directory keeps its tags.
func TestPixelsAcrossTags(t *testing.T) {
	f := form{order: binary.LittleEndian, depth: 8, compression: compNone, photometric: blackIsZero, width: 10, height: 10, segH: 10}
	data := f.write(t, make([]uint32, 100))
	g := open(t, data)
	f.order.PutUint32(data[g.lay.offsetsEntry.Value:], uint32(g.dir.At)-40)
	pic := decode(t, data)
	patch := change(pic, 5, 5)
	m := &memory{bytes.Clone(data)}
	err := open(t, data).Patch(context.Background(), m, []processing.Patch{patch})
	if !errors.Is(err, container.ErrDamaged) {
		t.Fatalf("%v: the tags would have been overwritten", err)
	}
	if !bytes.Equal(m.b, data) {
		t.Error("something was written before the fault")
	}
}

// TestShortArrays checks that 16-bit offsets and byte counts are replaced by wider ones if the new values do not fit.
func TestShortArrays(t *testing.T) {
	for _, single := range []bool{false, true} {
		f := form{order: binary.BigEndian, depth: 8, compression: compLZW, photometric: blackIsZero, width: 300, height: 210, segH: 105, shortOffsets: true}
		if single {
			f.segH = 210
		}
		data := f.write(t, make([]uint32, f.width*f.height))
		data = append(data, make([]byte, 1<<16)...)
		pic := decode(t, data)
		patch := processing.Patch{Spot: 1}
		rng := rand.New(rand.NewPCG(11, 12))
		for y := range f.height {
			patch.Runs = append(patch.Runs, processing.Run{Y: y, X0: 0, X1: f.width})
			for range f.width {
				patch.U8 = append(patch.U8, uint8(rng.Uint32()))
			}
		}
		result := patched(t, data, patch)
		onlyChanged(t, pic, decode(t, result), patch)
		g := open(t, result)
		if g.lay.offsetsEntry.Kind != exif.Long || single && g.lay.countsEntry.Kind != exif.Long {
			t.Errorf("offsets of kind %d, counts of kind %d", g.lay.offsetsEntry.Kind, g.lay.countsEntry.Kind)
		}
		sameSamples(t, g, decode(t, result), libtiff(t, testpic.WriteFile(t, "short.tif", result), g.lay))
	}
}

// TestFourGiB checks that a classic TIFF that would exceed 4 GiB is rejected before anything is written.
func TestFourGiB(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, photometric := range []uint16{blackIsZero, photometricIndex} {
		f := form{order: binary.LittleEndian, depth: 8, compression: compLZW, photometric: photometric, width: 64, height: 64, segH: 64}
		data := f.write(t, make([]uint32, f.width*f.height))
		pic := decode(t, data)
		const size = math.MaxUint32 - 100
		g, err := Open(padded{data, size}, size)
		if err != nil {
			t.Fatal(err)
		}
		patch := processing.Patch{Spot: 1}
		for y := range f.height {
			patch.Runs = append(patch.Runs, processing.Run{Y: y, X0: 0, X1: f.width})
			for range f.width * pic.Channels {
				if pic.U8 != nil {
					patch.U8 = append(patch.U8, uint8(rng.Uint32()))
				} else {
					patch.U16 = append(patch.U16, uint16(rng.Uint32()))
				}
			}
		}
		m := &memory{bytes.Clone(data)}
		if err := g.Patch(context.Background(), m, []processing.Patch{patch}); !errors.Is(err, container.ErrUnsupported) {
			t.Errorf("%v: no word of 4 GiB", err)
		}
		if !bytes.Equal(m.b, data) {
			t.Error("something was written before the fault")
		}
	}
}

// padded is data followed by zeros up to size.
type padded struct {
	data []byte
	size int64
}

func (p padded) ReadAt(b []byte, at int64) (int, error) {
	if at >= p.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), p.size-at))
	clear(b[:n])
	if at < int64(len(p.data)) {
		copy(b[:n], p.data[at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func TestBadPatches(t *testing.T) {
	f := rgb16(binary.LittleEndian)
	data := f.write(t, make([]uint32, f.width*f.height*3))
	for name, p := range map[string]processing.Patch{
		"row":     {Runs: []processing.Run{{Y: f.height, X0: 0, X1: 1}}, U16: make([]uint16, 3)},
		"column":  {Runs: []processing.Run{{Y: 0, X0: f.width, X1: f.width + 1}}, U16: make([]uint16, 3)},
		"depth":   {Runs: []processing.Run{{Y: 0, X0: 0, X1: 1}}, U8: make([]uint8, 3)},
		"samples": {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U16: make([]uint16, 3)},
	} {
		m := &memory{bytes.Clone(data)}
		if err := open(t, data).Patch(context.Background(), m, []processing.Patch{p}); err == nil || !bytes.Equal(m.b, data) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestFromLibtiff reads files compressed by libtiff, and reads them with libtiff after a change. The picture is large
// enough for codes of every length and for full tables.
func TestFromLibtiff(t *testing.T) {
	testpic.NoRace(t)
	testpic.Program(t, "tiffcp")
	rng := rand.New(rand.NewPCG(15, 16))
	for i, c := range []struct {
		kind  string
		depth int
		photo uint16
	}{
		{"lzw", 8, photometricRGB}, {"lzw:2", 16, photometricRGB}, {"lzw:3", 32, photometricRGB}, {"zip:2", 8, photometricInk},
		{"zip:3", 32, blackIsZero}, {"zip:2", 32, photometricRGB}, {"packbits", 16, whiteIsZero}, {"none", 16, photometricRGB},
		{"g3", 1, whiteIsZero}, {"g3", 1, blackIsZero}, {"g4", 1, whiteIsZero}, {"g4", 1, blackIsZero}, {"packbits", 1, whiteIsZero},
		{"lzw", 4, photometricIndex}, {"jpeg", 8, blackIsZero}, {"jpeg:r:90", 8, photometricRGB}, {"jpeg:90", 8, photometricRGB},
	} {
		for _, args := range [][]string{
			[][]string{{"-s", "-r", "96"}, {"-L", "-8", "-s", "-r", "40", "-f", "lsb2msb"}}[i%2],
			[][]string{{"-t", "-w", "64", "-l", "64"}, {"-B", "-s", "-r", "1000"}}[i/2%2],
		} {
			lossy := strings.HasPrefix(c.kind, "jpeg")
			if strings.HasPrefix(c.kind, "g") && args[0] == "-t" || lossy && args[0] == "-L" {
				continue // libtiff writes neither CCITT in tiles nor JPEG with reversed bits
			}
			t.Run(c.kind+fmt.Sprint(c.depth, c.photo, args), func(t *testing.T) {
				f := form{order: binary.LittleEndian, depth: c.depth, compression: compNone, photometric: c.photo, width: 211, height: 200, segH: 200}
				samples := f.random(rng)
				source := testpic.WriteFile(t, "source.tif", f.write(t, samples))
				path := filepath.Join(t.TempDir(), "compressed.tif")
				command(t, "tiffcp", slices.Concat([]string{"-c", c.kind}, args, []string{source, path})...)
				data := testpic.ReadFile(t, path)
				g := open(t, data)
				pic := decode(t, data)
				sameSamples(t, g, pic, libtiff(t, path, g.lay))
				patch := change(pic, 100, 99)
				result := patched(t, data, patch)
				after := decode(t, result)
				onlyChanged(t, pic, after, patch)
				changed := testpic.WriteFile(t, "changed.tif", result)
				h := open(t, result)
				sameSamples(t, h, after, libtiff(t, changed, h.lay))
			})
		}
	}
}

// TestConvertedKeepsTags changes a pixel of a palette picture between two pages.
func TestConvertedKeepsTags(t *testing.T) {
	testpic.Program(t, "exiftool")
	testpic.Program(t, "tiffcp")
	rng := rand.New(rand.NewPCG(17, 18))
	f := form{order: binary.LittleEndian, depth: 4, compression: compNone, photometric: photometricIndex, width: 40, height: 30, segH: 8}
	one := testpic.WriteFile(t, "one.tif", f.write(t, f.random(rng)))
	path := filepath.Join(t.TempDir(), "pages.tif")
	command(t, "tiffcp", "-c", "lzw", one, one, path)
	command(t, "exiftool", "-overwrite_original", "-q", "-EXIF:Make=Leaf", "-EXIF:ISO=100", "-XMP-dc:Title=Folio", "-IPTC:Headline=Folio", path)
	data := testpic.ReadFile(t, path)
	pic := decode(t, data)
	patch := change(pic, 11, 12)
	result := patched(t, data, patch)
	onlyChanged(t, pic, decode(t, result), patch)
	after := testpic.WriteFile(t, "pages.tif", result)
	all := tags(t, path, after)
	before, now := all[0], all[1]
	layout := []string{"BitsPerSample", "Compression", "PhotometricInterpretation", "SamplesPerPixel", "RowsPerStrip", "ColorMap",
		"PlanarConfiguration", "Predictor", "FillOrder"}
	for key, v := range before {
		group, name, _ := strings.Cut(key, ":")
		if group == "IFD0" && slices.Contains(layout, name) || group == "Composite" {
			continue
		}
		if !equalJSON(v, now[key]) {
			t.Errorf("%s was %v and is %v", key, v, now[key])
		}
	}
	if g := open(t, result); g.Info().Pictures != 2 || g.Info().Colour != container.RGB {
		t.Errorf("%+v", g.Info())
	}
	sameSamples(t, open(t, result), decode(t, result), libtiff(t, after, open(t, result).lay))
}

func TestCancel(t *testing.T) {
	f := form{order: binary.LittleEndian, depth: 16, compression: compDeflate, photometric: photometricRGB, width: 500, height: 500, segH: 500}
	data := f.write(t, f.random(rand.New(rand.NewPCG(19, 20))))
	g := open(t, data)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Decode(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Decode: %v", err)
	}
	pic := decode(t, data)
	m := &memory{bytes.Clone(data)}
	if err := g.Patch(ctx, m, []processing.Patch{change(pic, 1, 1)}); !errors.Is(err, context.Canceled) || !bytes.Equal(m.b, data) {
		t.Errorf("Patch: %v", err)
	}
	if err := Encode(ctx, io.Discard, pic, container.Metadata{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Encode: %v", err)
	}
	// In the middle of the file: the reader cancels, and at most a few more reads follow.
	ctx, cancel = context.WithCancel(context.Background())
	r := &cancelling{data: data, cancel: cancel}
	r.after.Store(3)
	h, err := Open(r, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r.armed = true
	if _, err := h.Decode(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Decode in the middle: %v", err)
	}
	if late := -int(r.after.Load()); late > runtime.GOMAXPROCS(0) {
		t.Errorf("%d reads after the cancel", late)
	}
}

type cancelling struct {
	data   []byte
	cancel func()
	armed  bool
	// after counts down the reads until the cancel.
	after atomic.Int64
}

func (c *cancelling) ReadAt(p []byte, at int64) (int, error) {
	if c.armed {
		if c.after.Add(-1) == 0 {
			c.cancel()
		}
	}
	return bytes.NewReader(c.data).ReadAt(p, at)
}

func TestLZW(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 255, 5000, 60000}).Draw(t, "length")
		values := rapid.IntRange(1, 256).Draw(t, "values")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(rng.IntN(values))
		}
		w := &lzwWriter{}
		w.reset(nil)
		for rest := data; len(rest) > 0; {
			k := min(len(rest), 1+rng.IntN(700))
			w.write(rest[:k])
			rest = rest[k:]
		}
		got, err := io.ReadAll(lzw.NewReader(bytes.NewReader(w.finish()), lzw.MSB, 8))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes become %d: %v", len(data), len(got), err)
		}
	})
}

// TestPackBits checks the example of TIFF 6.0, section 9, and random rows.
func TestPackBits(t *testing.T) {
	row := []byte{0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0xaa, 0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0x22, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
		0xaa, 0xaa, 0xaa, 0xaa, 0xaa}
	want := []byte{0xfe, 0xaa, 0x02, 0x80, 0x00, 0x2a, 0xfd, 0xaa, 0x03, 0x80, 0x00, 0x2a, 0x22, 0xf7, 0xaa}
	if got := packBits(nil, row); !bytes.Equal(got, want) {
		t.Errorf("% x, the standard has % x", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOf(rapid.SampledFrom([]byte{0, 0, 0, 1, 2})).Draw(t, "row")
		row = bytes.Repeat(row, rapid.IntRange(1, 40).Draw(t, "times"))
		packed := packBits(nil, row)
		if len(packed) > len(row)+len(row)/128+1 {
			t.Fatalf("%d bytes become %d", len(row), len(packed))
		}
		s := &scratch{}
		got, err := io.ReadAll(&packBitsReader{in: s.input(bytes.NewReader(packed))})
		if err != nil || !bytes.Equal(got, row) {
			t.Fatalf("% x becomes % x: %v", row, got, err)
		}
	})
}

// TestUntouched: strips and tiles without a changed pixel stay byte for byte at their place, and it is noticed if one of
// them does not.
func TestUntouched(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []compression{compNone, compLZW, compDeflate, compPackBits} {
		for _, tiled := range []bool{false, true} {
			f := rgb16(binary.LittleEndian)
			f.compression, f.tiled = c, tiled
			data := f.write(t, f.random(rng))
			source := open(t, data)
			patch := change(decode(t, data), 33, 17)
			result := patched(t, data, patch)
			if n, err := source.Untouched(t.Context(), open(t, result), []processing.Patch{patch}); n != 0 || err != nil {
				t.Errorf("%s, tiles %t: %d strips or tiles differ, %v", c, tiled, n, err)
			}
			last := source.lay.offsets[len(source.lay.offsets)-1]
			spoiled := bytes.Clone(result)
			spoiled[last] ^= 1
			if n, err := source.Untouched(t.Context(), open(t, spoiled), []processing.Patch{patch}); n != 1 || err != nil {
				t.Errorf("%s, tiles %t: a changed byte: %d strips or tiles differ, %v", c, tiled, n, err)
			}
			moved := open(t, result)
			moved.lay.offsets[len(moved.lay.offsets)-1]++
			if n, err := source.Untouched(t.Context(), moved, []processing.Patch{patch}); n != 1 || err != nil {
				t.Errorf("%s, tiles %t: a moved one: %d strips or tiles differ, %v", c, tiled, n, err)
			}
			if n, err := source.Untouched(t.Context(), open(t, result), nil); n != 1 || err != nil {
				t.Errorf("%s, tiles %t: without patches %d strips or tiles differ, %v", c, tiled, n, err)
			}
		}
	}
}
