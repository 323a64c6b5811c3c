package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"blik/app/i18n"
	"blik/app/imagefile/container"
	projecttiff "blik/app/imagefile/tiff"
	"blik/internal/test/testpic"
	"blik/processing"

	"golang.org/x/image/tiff"
	"pgregory.net/rapid"
)

// noise returns n random bytes.
func noise(n int) []uint8 { return testpic.Noise(n, 1, 1, 8).U8 }

// at returns the colour of p at (x, y) in 16 bits, grey three times.
func at(p *processing.Picture, x, y int) (c [3]uint16) {
	for k := range c {
		i := (y*p.Width+x)*p.Channels + min(k, p.Channels-1)
		if p.U8 != nil {
			c[k] = uint16(p.U8[i]) * 257
		} else {
			c[k] = p.U16[i]
		}
	}
	return c
}

// straight is the slow reference: the standard library's conversion of one pixel to 8 or 16 bits, without alpha.
func straight(c color.Color, depth int) [3]uint16 {
	wide := func(r, g, b uint8) [3]uint16 { return [3]uint16{uint16(r) * 257, uint16(g) * 257, uint16(b) * 257} }
	switch c := c.(type) {
	case color.NRGBA:
		return wide(c.R, c.G, c.B)
	case color.NRGBA64:
		return [3]uint16{c.R, c.G, c.B}
	case color.RGBA:
		return wide(c.R, c.G, c.B)
	case color.RGBA64:
		if depth == 16 {
			return [3]uint16{c.R, c.G, c.B}
		}
	}
	r, g, b, _ := c.RGBA()
	if depth == 16 {
		return [3]uint16{uint16(r), uint16(g), uint16(b)}
	}
	return wide(uint8(r>>8), uint8(g>>8), uint8(b>>8))
}

func encoded(t testing.TB, f func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Files written by encoders are read with the same samples, depth and channels.
func TestReadEncoded(t *testing.T) {
	rect := image.Rect(0, 0, 37, 21)
	gray, gray16 := image.NewGray(rect), image.NewGray16(rect)
	rgba, rgba64, nrgba64 := image.NewRGBA(rect), image.NewRGBA64(rect), image.NewNRGBA64(rect)
	for _, pix := range [][]uint8{gray.Pix, gray16.Pix, rgba.Pix, rgba64.Pix, nrgba64.Pix} {
		copy(pix, noise(len(pix)))
	}
	for i := 3; i < len(rgba.Pix); i += 4 {
		rgba.Pix[i] = 255
	}
	for i := 6; i < len(rgba64.Pix); i += 8 {
		rgba64.Pix[i], rgba64.Pix[i+1] = 255, 255
	}
	pal := image.NewPaletted(rect, color.Palette{color.RGBA{9, 8, 7, 255}, color.RGBA{250, 20, 30, 255}})
	for i := range pal.Pix {
		pal.Pix[i] = uint8(i % 2)
	}
	for _, c := range []struct {
		name            string
		img             image.Image
		format          Format
		depth, channels int
		encode          func(*bytes.Buffer, image.Image) error
	}{
		{"grey.png", gray, PNG, 8, 1, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }},
		{"grey16.png", gray16, PNG, 16, 1, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }},
		{"rgb.png", rgba, PNG, 8, 3, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }},
		{"rgb16.png", rgba64, PNG, 16, 3, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }},
		{"alpha16.png", nrgba64, PNG, 16, 3, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }},
		{"palette.png", pal, PNG, 1, 3, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }},
		{"grey.tif", gray, TIFF, 8, 1, func(b *bytes.Buffer, m image.Image) error { return tiff.Encode(b, m, nil) }},
		{"grey16.tif", gray16, TIFF, 16, 1, func(b *bytes.Buffer, m image.Image) error {
			return tiff.Encode(b, m, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
		}},
		{"rgb.tif", rgba, TIFF, 8, 3, func(b *bytes.Buffer, m image.Image) error { return tiff.Encode(b, m, nil) }},
		{"rgb16.tif", rgba64, TIFF, 16, 3, func(b *bytes.Buffer, m image.Image) error { return tiff.Encode(b, m, nil) }},
		{"palette.tif", pal, TIFF, 8, 3, func(b *bytes.Buffer, m image.Image) error { return tiff.Encode(b, m, nil) }},
	} {
		path := testpic.WriteFile(t, c.name, encoded(t, func(b *bytes.Buffer) error { return c.encode(b, c.img) }))
		f, err := Read(t.Context(), path, DefaultLimits())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if f.Format != c.format || f.Depth != c.depth || f.Picture.Channels != c.channels || f.Orientation != 1 || f.Path != path {
			t.Errorf("%s: %s, %d bits, %d channels, orientation %d", c.name, f.Format, f.Depth, f.Picture.Channels, f.Orientation)
		}
		for y := range 21 {
			for x := range 37 {
				if got, want := at(f.Picture, x, y), straight(c.img.At(x, y), f.Picture.Depth()); got != want {
					t.Fatalf("%s at %d,%d: got %v, want %v", c.name, x, y, got, want)
				}
			}
		}
	}
}

func TestReadJPEG(t *testing.T) {
	rect := image.Rect(0, 0, 50, 30)
	colour, grey := image.NewRGBA(rect), image.NewGray(rect)
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i)
	}
	for i := range colour.Pix {
		colour.Pix[i] = uint8(i / 3)
	}
	for name, img := range map[string]image.Image{"colour.jpg": colour, "grey.jpg": grey} {
		data := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) })
		want, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		// An EXIF segment with orientation 6 goes right after the start marker.
		exif := append([]byte("Exif\x00\x00"), tiffBytes(binary.BigEndian, []entry{{tagOrientation, []uint32{6}}}, nil)...)
		segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2)), exif...)
		data = slices.Concat(data[:2], segment, data[2:])

		f, err := Read(t.Context(), testpic.WriteFile(t, name, data), DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if f.Orientation != 6 || f.Format != JPEG || f.Depth != 8 || (f.Picture.Channels == 1) != (img == image.Image(grey)) {
			t.Errorf("%s: %s, orientation %d, %d channels", name, f.Format, f.Orientation, f.Picture.Channels)
		}
		for y := range 30 {
			for x := range 50 {
				// Package jpeg rounds and interpolates chroma as libjpeg does, not as the standard library.
				for k, v := range at(f.Picture, x, y) {
					if w := straight(want.At(x, y), 8)[k]; max(v, w)-min(v, w) > 4*257 {
						t.Fatalf("%s at %d,%d: got %v, want %v", name, x, y, at(f.Picture, x, y), straight(want.At(x, y), 8))
					}
				}
			}
		}
	}
}

// Tags of TIFF 6.0.
const (
	tagWidth         = 256
	tagBitsPerSample = 258
	tagCompression   = 259
	tagPhotometric   = 262
	tagOrientation   = 274
	tagSamples       = 277
	tagRowsPerStrip  = 278
	tagExtraSamples  = 338
)

type entry struct {
	tag    uint16
	values []uint32
}

// tiffBytes lays out a classic TIFF: header, directory with 32-bit values, their overflow, then the pixels, whose
// offset replaces the value of StripOffsets.
func tiffBytes(order binary.ByteOrder, entries []entry, pixels []byte) []byte {
	const stripOffsets = 273
	magic := "II*\x00"
	if order == binary.ByteOrder(binary.BigEndian) {
		magic = "MM\x00*"
	}
	u32 := func(b []byte, v uint32) []byte {
		var x [4]byte
		order.PutUint32(x[:], v)
		return append(b, x[:]...)
	}
	u16 := func(b []byte, v uint16) []byte {
		var x [2]byte
		order.PutUint16(x[:], v)
		return append(b, x[:]...)
	}
	more := 8 + 2 + 12*len(entries) + 4
	at := more
	for _, e := range entries {
		if len(e.values) > 1 {
			at += 4 * len(e.values)
		}
	}
	out := u16(u32([]byte(magic), 8), uint16(len(entries)))
	var tail []byte
	for _, e := range entries {
		out = u32(u16(u16(out, e.tag), 4), uint32(len(e.values)))
		switch {
		case e.tag == stripOffsets:
			out = u32(out, uint32(at))
		case len(e.values) == 1:
			out = u32(out, e.values[0])
		default:
			out = u32(out, uint32(more+len(tail)))
			for _, v := range e.values {
				tail = u32(tail, v)
			}
		}
	}
	return slices.Concat(u32(out, 0), tail, pixels)
}

// strip returns the entries of an uncompressed picture of one strip, some of them replaced.
func strip(w, h uint32, bits []uint32, photometric uint32, n int, replace ...entry) []entry {
	es := []entry{
		{tagWidth, []uint32{w}},
		{257, []uint32{h}},
		{tagBitsPerSample, bits},
		{tagCompression, []uint32{1}},
		{tagPhotometric, []uint32{photometric}},
		{273, []uint32{0}},
		{tagSamples, []uint32{uint32(len(bits))}},
		{tagRowsPerStrip, []uint32{h}},
		{279, []uint32{uint32(n)}},
	}
	for _, r := range replace {
		if i := slices.IndexFunc(es, func(e entry) bool { return e.tag == r.tag }); i >= 0 {
			es[i] = r
		} else {
			es = append(es, r)
		}
	}
	slices.SortFunc(es, func(a, b entry) int { return int(a.tag) - int(b.tag) })
	return es
}

// Literal TIFF pixels: what neither encoder writes.
func TestReadTIFFVariants(t *testing.T) {
	eights := func(n int) []uint32 { return slices.Repeat([]uint32{8}, n) }
	for _, c := range []struct {
		name    string
		entries []entry
		pixels  []byte
		want    []uint8
	}{
		{"white is zero", strip(2, 1, eights(1), 0, 2), []byte{0, 200}, []uint8{255, 55}},
		{"one bit", strip(4, 1, []uint32{1}, 1, 1), []byte{0b10100000}, []uint8{255, 0, 255, 0}},
		{"unspecified fourth sample", strip(1, 1, eights(4), 2, 4), []byte{10, 20, 30, 40}, []uint8{10, 20, 30}},
		{"straight alpha", strip(1, 1, eights(4), 2, 4, entry{tagExtraSamples, []uint32{2}}), []byte{10, 20, 30, 40}, []uint8{10, 20, 30}},
		{"CMYK", strip(2, 1, eights(4), 5, 8), []byte{0, 0, 0, 0, 0, 255, 255, 0}, []uint8{0, 0, 0, 0, 0, 255, 255, 0}},
	} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			f, err := Read(t.Context(), testpic.WriteFile(t, "a.tif", tiffBytes(order, c.entries, c.pixels)), DefaultLimits())
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if !slices.Equal(f.Picture.U8, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, f.Picture.U8, c.want)
			}
		}
	}
	turned := strip(2, 1, eights(1), 1, 2, entry{tagOrientation, []uint32{8}})
	if f, err := Read(t.Context(), testpic.WriteFile(t, "a.tif", tiffBytes(binary.LittleEndian, turned, []byte{1, 2})), DefaultLimits()); err != nil || f.Orientation != 8 {
		t.Errorf("orientation 8: %+v, %v", f, err)
	}
}

// Every bad input results in one sentence that begins with the file's name and says what is wrong.
func TestReadBadInput(t *testing.T) {
	eights := slices.Repeat([]uint32{8}, 3)
	tif := func(es []entry, pixels ...byte) []byte { return tiffBytes(binary.LittleEndian, es, pixels) }
	goodPNG := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewGray(image.Rect(0, 0, 40, 40))) })
	goodJPEG := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(image.Rect(0, 0, 40, 40)), nil) })
	badCRC := slices.Clone(goodPNG)
	badCRC[len(badCRC)-20] ^= 1
	lying := slices.Clone(goodJPEG)
	sof := bytes.Index(lying, []byte{0xff, 0xc0})
	copy(lying[sof+5:], []byte{0x75, 0x30, 0x75, 0x30}) // 30000 × 30000
	small := Limits{Pixels: 1000, Bytes: 1 << 30}
	for _, c := range []struct {
		name   string
		data   []byte
		limits Limits
		kind   error
		says   string
	}{
		{"empty.png", nil, DefaultLimits(), ErrNotPicture, "empty"},
		{"text.png", []byte("not an image\n"), DefaultLimits(), ErrNotPicture, "not a picture"},
		{"one.png", []byte{0x89}, DefaultLimits(), ErrNotPicture, "not a picture"},
		{"a.gif", []byte("GIF89a..."), DefaultLimits(), ErrNotPicture, "GIF"},
		{"a.psd", []byte("8BPS\x00\x01"), DefaultLimits(), ErrNotPicture, "Photoshop"},
		{"a.webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), DefaultLimits(), ErrNotPicture, "WebP"},
		{"a.heic", []byte("\x00\x00\x00\x18ftypheic"), DefaultLimits(), ErrNotPicture, "HEIF"},
		{"cut.png", goodPNG[:len(goodPNG)-20], DefaultLimits(), ErrDamaged, "truncated"},
		{"head.png", goodPNG[:10], DefaultLimits(), ErrDamaged, "truncated"},
		{"crc.png", badCRC, DefaultLimits(), ErrDamaged, "checksum"},
		{"cut.jpg", goodJPEG[:len(goodJPEG)/2], DefaultLimits(), ErrDamaged, "truncated"},
		{"lying.jpg", lying, DefaultLimits(), ErrDamaged, "cannot hold 30000 × 30000"},
		{"large.png", goodPNG, small, ErrTooLarge, "40 × 40 pixels are more than the limit of 0.001 MP"},
		{"large.jpg", goodJPEG, small, ErrTooLarge, "limit"},
		{"memory.png", goodPNG, Limits{Pixels: 1e9, Bytes: 100}, ErrTooLarge, "memory"},
		{"big.tif", []byte("II+\x00\x08\x00\x00\x00"), DefaultLimits(), ErrDamaged, "truncated"},
		{"zero.tif", tif(strip(0, 1, eights, 2, 3), 1, 2, 3), DefaultLimits(), ErrDamaged, "no pixels"},
		{"bomb.tif", tif(strip(60000, 60000, eights, 2, 3), 1, 2, 3), DefaultLimits(), ErrTooLarge, "60000 × 60000"},
		{"overflow.tif", tif(strip(1<<31, 1<<31, eights, 2, 3), 1, 2, 3), DefaultLimits(), ErrDamaged, "2147483648 × 2147483648"},
		{"lying.tif", tif(strip(20000, 20000, eights, 2, 3), 1, 2, 3), DefaultLimits(), ErrDamaged, "cannot hold"},
		{"zstd.tif", tif(strip(1, 1, eights, 2, 3, entry{tagCompression, []uint32{50000}}), 1, 2, 3), DefaultLimits(), ErrUnsupported, "Zstandard"},
		{"raw.tif", tif(strip(1, 1, []uint32{16}, 32803, 2), 1, 2), DefaultLimits(), ErrUnsupported, "raw"},
		{"lab.tif", tif(strip(1, 1, eights, 8, 3), 1, 2, 3), DefaultLimits(), ErrUnsupported, "Lab"},
		{"mixed.tif", tif(strip(1, 1, []uint32{8, 8, 16}, 2, 4), 1, 2, 3, 4), DefaultLimits(), ErrUnsupported, "depth"},
		{"cut.tif", tif(strip(4, 1, eights, 2, 12), 1, 2, 3), DefaultLimits(), ErrDamaged, "truncated"},
	} {
		path := testpic.WriteFile(t, c.name, c.data)
		f, err := Read(t.Context(), path, c.limits)
		checkSentence(t, path, f, err, c.kind, c.says)
	}

	missing := filepath.Join(t.TempDir(), "missing.tif")
	f, err := Read(t.Context(), missing, DefaultLimits())
	checkSentence(t, missing, f, err, fs.ErrNotExist, "no such file")
	folder := t.TempDir()
	f, err = Read(t.Context(), folder, DefaultLimits())
	checkSentence(t, folder, f, err, ErrNotPicture, "folder")
	if os.Getuid() > 0 { // −1 in Windows, which has no such permissions
		secret := testpic.WriteFile(t, "secret.png", goodPNG)
		if err := os.Chmod(secret, 0); err != nil {
			t.Fatal(err)
		}
		f, err = Read(t.Context(), secret, DefaultLimits())
		checkSentence(t, secret, f, err, fs.ErrPermission, "permission")
	}
	if runtime.GOOS == "linux" {
		f, err = Read(t.Context(), "/dev/zero", DefaultLimits())
		checkSentence(t, "/dev/zero", f, err, ErrNotPicture, "device")
	}
}

func checkSentence(t *testing.T, path string, f *File, err, kind error, says string) {
	t.Helper()
	var e *Error
	switch {
	case err == nil:
		t.Errorf("%s: read as %s", path, f.Format)
	case !errors.As(err, &e):
		t.Errorf("%s: %T %v is no *Error", path, err, err)
	case !errors.Is(err, kind):
		t.Errorf("%s: %v is not of the kind %v", path, err, kind)
	case !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n"):
		t.Errorf("%q should name the file and say %q", err, says)
	case i18n.For("ru").Sprint(e.Fault) == "":
		t.Errorf("%s: no Russian sentence", path)
	}
}

// Every file of the collection of broken files results in a picture or one sentence, quickly and with little memory.
// The memory limit stops decompression bombs before anything is allocated.
func TestReadMalformed(t *testing.T) {
	files := testpic.SharedFiles(t, "malformed/*")
	limits := DefaultLimits()
	limits.Bytes = 256 << 20
	for _, path := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx := &looking{Context: t.Context(), until: math.MaxInt64}
		f, err := Read(ctx, path, limits)
		runtime.ReadMemStats(&after)
		// Decoders check the context at each row, tile or scan.
		if memory := after.TotalAlloc - before.TotalAlloc; ctx.looks.Load() > 1e6 || memory > 256<<20 {
			t.Errorf("%s: %d looks at the context and %d MiB", path, ctx.looks.Load(), memory>>20)
		}
		var e *Error
		switch {
		case err == nil && strings.Contains(path, "bomb_"):
			t.Errorf("%s: read", path)
		case err != nil && !errors.As(err, &e):
			t.Errorf("%s: %T %v is no *Error", path, err, err)
		case err == nil && f.Picture.Validate() != nil:
			t.Errorf("%s: %v", path, f.Picture.Validate())
		}
	}
}

// Size, channels, depth and orientation of real files are those that another library reports.
func TestReadSamples(t *testing.T) {
	data, err := os.ReadFile(testpic.Shared(t, "io-samples/properties.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Width, Height, Bands, Format, Interpretation, Orientation string
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	num := func(s string) (n int) {
		for _, d := range s {
			n = 10*n + int(d-'0')
		}
		return n
	}
	for name, want := range all {
		f, err := Read(t.Context(), testpic.Shared(t, "io-samples/"+name), DefaultLimits())
		if err != nil {
			t.Error(err)
			continue
		}
		channels, depth, orientation := 3, 8, 1
		if strings.HasPrefix(want.Interpretation, "grey") || want.Interpretation == "b-w" {
			channels = 1
		}
		if want.Interpretation == "cmyk" {
			channels = 4
		}
		if want.Format == "ushort" {
			depth = 16
		}
		if want.Orientation != "" {
			orientation = num(want.Orientation)
		}
		p := f.Picture
		if p.Width != num(want.Width) || p.Height != num(want.Height) || p.Channels != channels || p.Depth() != depth || f.Orientation != orientation {
			t.Errorf("%s: %d × %d, %d channels, %d bits, orientation %d; want %+v", name, p.Width, p.Height, p.Channels, p.Depth(), f.Orientation, want)
		}
	}
	// The same samples in two containers: compressed tiles with a predictor, and PNG.
	a, errA := Read(t.Context(), testpic.Shared(t, "io-samples/rgb16_deflate_predictor_tiled.tif"), DefaultLimits())
	b, errB := Read(t.Context(), testpic.Shared(t, "io-samples/io_reference_16bit.png"), DefaultLimits())
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Picture.U16, b.Picture.U16) {
		t.Error("tiles and PNG of one picture differ")
	}
}

func TestReadCancel(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 1200, 1200))
	copy(m.Pix, noise(1<<20))
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	path := testpic.WriteFile(t, "a.png", encoded(t, func(b *bytes.Buffer) error {
		return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(b, m)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, path, DefaultLimits()); err != context.Canceled {
		t.Errorf("cancelled before: %v", err)
	}
	all := &looking{Context: t.Context(), until: math.MaxInt64}
	if _, err := Read(all, path, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if n := all.looks.Load(); n < 1200 {
		t.Errorf("%d looks at the context, less than one for each row", n)
	}
	half := &looking{Context: t.Context(), until: all.looks.Load() / 2}
	if _, err := Read(half, path, DefaultLimits()); err != context.Canceled {
		t.Fatalf("cancelled while decoding: %v", err)
	}
	// A few more goroutines may be cleaning up.
	if late := half.looks.Load() - half.until; late > 10 {
		t.Errorf("%d looks at the context after the cancel", late)
	}
}

// looking is a context that counts how often it is checked, and is cancelled after a number of checks.
type looking struct {
	context.Context
	until int64
	looks atomic.Int64
}

func (c *looking) Err() error {
	if c.looks.Add(1) > c.until {
		return context.Canceled
	}
	return c.Context.Err()
}

func TestEachRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.IntRange(0, 500).Draw(t, "h")
		hits := make([]int, h)
		if err := eachRow(context.Background(), h, func(y int) { hits[y]++ }); err != nil {
			t.Fatal(err)
		}
		for y, n := range hits {
			if n != 1 {
				t.Fatalf("row %d done %d times", y, n)
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := eachRow(ctx, 10, func(int) {}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// FuzzRead reads any data and, if they are a picture, saves it with one pixel changed. The outcome must be one sentence
// or a proven result.
func FuzzRead(f *testing.F) {
	gray := image.NewGray(image.Rect(0, 0, 5, 4))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return png.Encode(b, gray) }))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return jpeg.Encode(b, gray, nil) }))
	f.Add(tiffBytes(binary.LittleEndian, strip(1, 1, []uint32{8, 8, 8, 8}, 5, 4), []byte{1, 2, 3, 4}))
	f.Add(tiffBytes(binary.BigEndian, strip(2, 2, []uint32{16}, 1, 8, entry{tagOrientation, []uint32{3}}), noise(8)))
	f.Add(rgba())
	pic := &processing.Picture{Width: 3, Height: 2, Channels: 3, U16: make([]uint16, 18)}
	f.Add(encoded(f, func(b *bytes.Buffer) error {
		return projecttiff.Encode(f.Context(), b, pic, container.Metadata{XMP: []byte("<x/>"), Orientation: 6})
	}))
	dir := f.TempDir()
	path, target := filepath.Join(dir, "fuzz"), filepath.Join(dir, "saved")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		limits := Limits{Pixels: 1e6, Bytes: 1 << 26}
		file, err := Read(t.Context(), path, limits)
		if err == nil {
			if err := file.Picture.Validate(); err != nil {
				t.Fatal(err)
			}
			_, err = Save(t.Context(), file, target, dot(file.Picture, 0, 0), SaveOptions{Overwrite: true, Limits: limits})
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%T %q", err, err)
		}
	})
}

func BenchmarkReadJPEG(b *testing.B) {
	path := testpic.Shared(b, "paintings/p012_koninck_wooded_landscape.jpg")
	for b.Loop() {
		f, err := Read(b.Context(), path, DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(f.Picture.U8)))
	}
}
