package png

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
)

// small returns a small RGB file with further chunks before the pixels.
func small(before ...[]byte) []byte {
	v := variant{header: header{9, 7, 8, typeRGB, false}, filter: -1, before: slices.Concat(before...), split: 50}
	return v.encode(rand.New(rand.NewPCG(1, 1)))
}

// repaired corrects the checksum of the first chunk with a name.
func repaired(data []byte, name string) []byte {
	at := bytes.Index(data, []byte(name))
	n := int(binary.BigEndian.Uint32(data[at-4:]))
	binary.BigEndian.PutUint32(data[at+4+n:], crc32.ChecksumIEEE(data[at:at+4+n]))
	return data
}

func zipped(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(data)
	z.Close()
	return out.Bytes()
}

func TestFaults(t *testing.T) {
	plain := small()
	change := func(offset int, b byte) []byte {
		data := bytes.Clone(plain)
		data[offset] = b
		return data
	}
	header := func(at int, b byte) []byte { return repaired(change(16+at, b), "IHDR") }
	idat := bytes.Index(plain, []byte("IDAT")) - 4
	iend := bytes.Index(plain, []byte("IEND")) - 4
	insert := func(at int, chunk []byte) []byte { return slices.Concat(plain[:at], chunk, plain[at:]) }
	palette := appendChunk(nil, "PLTE", make([]byte, 6))
	withPixels := func(pixels []byte) []byte {
		return slices.Concat(plain[:idat], appendChunk(nil, "IDAT", pixels), plain[iend:])
	}
	lines := bytes.Repeat(make([]byte, 28), 7)
	badSum := zipped(lines)
	badSum[len(badSum)-1] ^= 1
	badFilter := bytes.Clone(lines)
	badFilter[28] = 5

	for name, c := range map[string]struct {
		data []byte
		kind error
		part string
	}{
		"no file":                 {nil, container.ErrDamaged, "truncated"},
		"another format":          {[]byte("II*\x00....."), container.ErrDamaged, "not a PNG"},
		"header checksum":         {change(20, 8), container.ErrDamaged, "IHDR has a wrong checksum"},
		"no width":                {header(3, 0), container.ErrDamaged, "0 × 7"},
		"huge":                    {header(0, 0x80), container.ErrDamaged, "not possible"},
		"lying size":              {header(2, 0xff), container.ErrDamaged, "truncated"},
		"depth":                   {header(8, 4), container.ErrDamaged, "colour type 2 with 4 bits"},
		"interlace":               {header(12, 2), container.ErrUnsupported, "unknown"},
		"no header":               {slices.Concat(plain[:8], plain[33:]), container.ErrDamaged, "IDAT is in the wrong place"},
		"two headers":             {insert(33, plain[8:33]), container.ErrDamaged, "IHDR is in the wrong place"},
		"no pixels":               {slices.Concat(plain[:idat], plain[iend:]), container.ErrDamaged, "no pixels"},
		"split pixels":            {insert(idat+62, appendChunk(nil, "tEXt", []byte("a\x00b"))), container.ErrDamaged, "IDAT is in the wrong place"},
		"late palette":            {insert(iend, palette), container.ErrDamaged, "PLTE is in the wrong place"},
		"two palettes":            {insert(33, slices.Concat(palette, palette)), container.ErrDamaged, "PLTE is in the wrong place"},
		"odd palette":             {insert(33, appendChunk(nil, "PLTE", make([]byte, 7))), container.ErrDamaged, "PLTE has a wrong length"},
		"late transparency":       {insert(iend, appendChunk(nil, "tRNS", make([]byte, 6))), container.ErrDamaged, "tRNS is in the wrong place"},
		"short transparency":      {insert(33, appendChunk(nil, "tRNS", make([]byte, 2))), container.ErrDamaged, "tRNS has a wrong length"},
		"unknown critical chunk":  {insert(33, appendChunk(nil, "NEWs", nil)), container.ErrUnsupported, "NEWs"},
		"no name":                 {insert(33, appendChunk(nil, "a\x00cd", nil)), container.ErrDamaged, "name"},
		"no end":                  {plain[:iend], container.ErrDamaged, "truncated"},
		"long chunk":              {change(idat, 0x7f), container.ErrDamaged, "truncated"},
		"pixel checksum":          {change(idat+58, plain[idat+58]^1), container.ErrDamaged, "IDAT has a wrong checksum"},
		"checksum of the samples": {withPixels(badSum), container.ErrDamaged, "pixels have a wrong checksum"},
		"filter":                  {withPixels(zipped(badFilter)), container.ErrDamaged, "filter"},
		"too few rows":            {withPixels(zipped(lines[:100])), container.ErrDamaged, "too early"},
		"too many rows":           {withPixels(zipped(append(lines, 1))), container.ErrDamaged, "more pixels"},
		"no zlib":                 {withPixels([]byte("neither zlib nor anything")), container.ErrDamaged, "compressed pixels"},
		"text that is XMP":        {small(appendChunk(nil, "iTXt", []byte(keywordXMP+"\x00\x01\x00\x00\x00garbled"))), container.ErrDamaged, "iTXt cannot be unpacked"},
	} {
		f, err := Open(bytes.NewReader(c.data), int64(len(c.data)))
		if err == nil {
			_, err = f.Decode(t.Context())
		}
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v, want %q", name, err, c.part)
			continue
		}
		containertest.Fault(t, err)
	}
}

// A damaged profile is only a warning; the picture can be read.
func TestDamagedProfile(t *testing.T) {
	for name, chunk := range map[string][]byte{
		"checksum": append(appendChunk(nil, "iCCP", nil)[:11], 0),
		"garbled":  appendChunk(nil, "iCCP", []byte("name\x00\x00garbled")),
		"no name":  appendChunk(nil, "iCCP", []byte("name")),
	} {
		f := containertest.Open(t, Open, small(chunk))
		if i := f.Info(); i.Meta.ICC != nil || len(i.Warnings) != 1 || !i.Warnings[0].Equal(container.DamagedProfile()) {
			t.Errorf("%s: %+v", name, i)
		}
		if _, err := f.Decode(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMetadataBombs opens files whose metadata expand too far: one large profile, and several texts together.
func TestMetadataBombs(t *testing.T) {
	testpic.Need(t, !testpic.Race, "a run without the race detector, to which one goroutine is of no interest")
	packed := zipped(make([]byte, maxMetadata))
	text := appendChunk(nil, "zTXt", append([]byte(rawProfile+"exif\x00\x00"), packed...))
	larger := zipped(make([]byte, maxMetadata+1))
	for part, data := range map[string][]byte{
		"more than 16 MiB": small(appendChunk(nil, "iCCP", append([]byte("name\x00\x00"), larger...))),
		"more than 64 MiB": small(text, text, text, text, text),
	} {
		_, err := Open(bytes.NewReader(data), int64(len(data)))
		if !errors.Is(err, container.ErrDamaged) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, want %q", err, part)
		}
	}
}

// TestEveryTruncation truncates a file at every byte: each time an error, never a panic.
func TestEveryTruncation(t *testing.T) {
	data := small(appendMetadata(nil, someMetadata()))
	for n := range data {
		if _, err := Open(bytes.NewReader(data[:n]), int64(n)); err == nil {
			t.Fatalf("%d of %d bytes open", n, len(data))
		} else {
			containertest.Fault(t, err)
		}
	}
}

// TestRawProfiles reads what ImageMagick writes.
func TestRawProfiles(t *testing.T) {
	profile := func(kind string, data []byte) []byte {
		return []byte(rawProfile + kind + "\x00\n" + kind + "\n" + fmt.Sprintf("%8d", len(data)) + "\n" + hex.EncodeToString(data) + "\n")
	}
	resources := exif.Resources([]byte("words"))
	exif := someMetadata().EXIF
	for _, kind := range []string{"iptc", "8bim"} {
		m := mustOpen(t, small(appendChunk(nil, "tEXt", profile(kind, resources)),
			appendChunk(nil, "tEXt", profile("exif", append([]byte("Exif\x00\x00"), exif...))),
			appendChunk(nil, "tEXt", profile("xmp", []byte("<x:xmpmeta/>"))))).Info().Meta
		if !bytes.Equal(m.EXIF, exif) || m.Orientation != 6 || string(m.XMP) != "<x:xmpmeta/>" ||
			string(m.IPTC) != "words" || !bytes.Equal(m.Photoshop, resources) {
			t.Errorf("%s: metadata %+v", kind, m)
		}
	}
	garbled := mustOpen(t, small(appendChunk(nil, "tEXt", []byte(rawProfile+"exif\x00\nexif\n 9\nno digits")))).Info().Meta
	if garbled.EXIF != nil {
		t.Error("what is not a profile was taken for one")
	}
}

func TestGamma(t *testing.T) {
	gama := appendChunk(nil, "gAMA", []byte{0, 0, 0xb1, 0x8f})
	for name, c := range map[string]struct {
		chunks []byte
		gamma  float64
		srgb   bool
	}{
		"nothing":  {nil, 0, false},
		"gAMA":     {gama, 0.45455, false},
		"sRGB":     {slices.Concat(gama, appendChunk(nil, "sRGB", []byte{0})), 0.45455, true},
		"cICP":     {appendChunk(nil, "cICP", []byte{1, 13, 0, 1}), 0, true},
		"cICP, PQ": {appendChunk(nil, "cICP", []byte{9, 16, 0, 1}), 0, false},
	} {
		f := mustOpen(t, small(c.chunks))
		if f.gamma != c.gamma || f.srgb != c.srgb {
			t.Errorf("%s: gamma %g, sRGB %t", name, f.gamma, f.srgb)
		}
		if gamma := f.Info().Gamma; (gamma != 0) != (c.gamma != 0 && !c.srgb) {
			t.Errorf("%s: Info has a gamma of %g", name, gamma)
		}
	}
}

// TestLittleMemoryBeforeDecode opens a small file whose header claims a large picture.
func TestLittleMemoryBeforeDecode(t *testing.T) {
	// A header that claims 2³¹−1 × 400 pixels over few bytes.
	h := header{1<<31 - 1, 400, 16, typeRGBAlpha, false}
	data := appendChunk([]byte(signature), "IHDR", h.data())
	data = appendChunk(appendChunk(data, "IDAT", zipped(make([]byte, 1000))), "IEND", nil)
	allocated := testing.AllocsPerRun(1, func() {
		f := mustOpen(t, data)
		if _, err := f.Decode(t.Context()); !errors.Is(err, container.ErrDamaged) {
			t.Errorf("decoding says %v", err)
		}
	})
	if allocated > 200 {
		t.Errorf("%g allocations", allocated)
	}
}
