package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// A specimen is a source of one kind, the way to make its result, and the ways to tamper with it.
type specimen struct {
	name, extension, result string
	data                    []byte
	// sources tamper with the file that the result is made from, results with the bytes of the result.
	sources map[string]func() []byte
	results map[string]func(data []byte) []byte
	// packed are files with the same content as the source, encoded differently.
	packed [][]byte
}

// TestTampering tampers with results in every way of the specimens, one at a time, and prints which of them the proof
// detects: all. Untouched results, and those that are only encoded differently, must be proven. A flipped bit may hit a
// pixel of the mask, or one that no sample needs; TestSecondOpinions reads such files with other programs.
func TestTampering(t *testing.T) {
	testpic.Long(t)
	c := &catalogue{counts: map[string]map[string][3]int{}}
	all := specimens(t)
	for _, s := range all {
		source := testpic.WriteFile(t, "a."+s.extension, s.data)
		result := s.save(t, s.data)
		flips(s.results, len(result), 60)
		mark := func(way string, data []byte) {
			proof, err := prove(t.Context(), source, testpic.WriteFile(t, "b."+s.result, data), tamperMask(), DefaultLimits())
			outcome := caught
			if err == nil && proof.Holds() {
				outcome = harmless
				if !isFlip(way) {
					t.Errorf("%s of %s is not caught: %s", way, s.name, proof.Statement())
				}
			}
			c.count(kindOf(way), s.name, outcome)
		}
		for _, way := range slices.Sorted(maps.Keys(s.sources)) {
			mark(way, s.save(t, s.sources[way]()))
		}
		for _, way := range slices.Sorted(maps.Keys(s.results)) {
			data := s.results[way](bytes.Clone(result))
			if bytes.Equal(data, result) {
				t.Errorf("%s of %s changes nothing", way, s.name)
			}
			mark(way, data)
		}
		for i := range 9 {
			data := s.saveAt(t, s.data, 4+i%3, 4+i/3)
			proof, err := prove(t.Context(), source, testpic.WriteFile(t, "b."+s.result, data), tamperMask(), DefaultLimits())
			if err != nil || !proof.Holds() || proof.Changed == 0 {
				c.count("untouched results", s.name, refused)
				t.Errorf("%s is untouched: %v, %+v", s.name, err, proof)
				continue
			}
			c.count("untouched results", s.name, harmless)
		}
		for i, packed := range s.packed {
			proof, err := prove(t.Context(), source, testpic.WriteFile(t, "b."+s.result, packed), nil, DefaultLimits())
			if err != nil || !proof.Holds() || proof.Changed != 0 {
				c.count("packed in another way", s.name, refused)
				t.Errorf("%s is only packed in another way, %d: %v, %+v", s.name, i, err, proof)
				continue
			}
			c.count("packed in another way", s.name, harmless)
		}
	}
	c.print(t, all)
}

// catalogue counts outcomes by kind of tampering and specimen.
type catalogue struct {
	counts map[string]map[string][3]int
	total  [3]int
}

// The outcomes.
const (
	caught = iota
	harmless
	refused
)

func (c *catalogue) count(kind, specimen string, outcome int) {
	if c.counts[kind] == nil {
		c.counts[kind] = map[string][3]int{}
	}
	n := c.counts[kind][specimen]
	n[outcome]++
	c.counts[kind][specimen] = n
	c.total[outcome]++
}

// print prints the table of docs/files.md: caught and, after a plus, accepted.
func (c *catalogue) print(t *testing.T, all []specimen) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %-46s", "")
	for _, s := range all {
		fmt.Fprintf(&b, "| %-9s", s.name)
	}
	for _, kind := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(&b, "|\n| %-46s", kind)
		for _, s := range all {
			n, cell := c.counts[kind][s.name], "–"
			switch {
			case n[caught] > 0 && n[harmless] > 0:
				cell = fmt.Sprintf("%d + %d", n[caught], n[harmless])
			case n[caught]+n[harmless] > 0:
				cell = fmt.Sprint(n[caught] + n[harmless])
			}
			fmt.Fprintf(&b, "| %-9s", cell)
		}
	}
	t.Logf("%s|\n%d ways caught; %d accepted, among them untouched and repacked results; %d of these refused",
		b.String(), c.total[caught], c.total[harmless], c.total[refused])
	if c.total[caught] < 1000 || c.total[harmless] < 200 {
		t.Errorf("too few: %v", c.total)
	}
}

// isFlip reports whether a way flips a bit.
func isFlip(way string) bool { return strings.HasPrefix(way, "bit ") }

// kindOf returns the kind of a way.
func kindOf(way string) string {
	for _, k := range []struct {
		kind  string
		words []string
	}{
		{"single bits, all over the file", []string{"bit "}},
		{"links between directories, order of chunks", []string{"followed by", "EXIF is", "and more", "GPS is", "pyramid of one", "pyramid with EXIF", "exchanged", "moved"}},
		{"tags that occur twice", []string{" twice"}},
		{"values and bytes that the reader does not use", []string{"more values", "unused bytes", "a predictor", "offsets of the other", " added, "}},
		{"bytes behind, between and beside the parts", []string{
			"counted", "behind the stream", "second IDAT", "in IEND", "bKGD", "first gap", "middle", "at the end", "appended", "cut off", "beside", "bytes before",
			"a byte before", "padding before", "restart marker", "end of the scan", " + a byte", "data after",
		}},
		{"Huffman tables and codes that no pixel uses", []string{"Huffman"}},
		{"checksums", []string{"checksum"}},
		{"pixels, alpha, pages, pyramids", []string{"colour", "alpha", "channel", "page 2, s", "page 2, a", "level", "pyramid", "opacity", "transparent"}},
	} {
		for _, word := range k.words {
			if strings.Contains(way, word) {
				return k.kind
			}
		}
	}
	return "tags, chunks and segments"
}

// tamperMask allows the pixels 2…9 × 2…9 to change.
func tamperMask() *processing.Mask {
	m := processing.NewMask(tamperSide, tamperSide)
	for y := 2; y < 10; y++ {
		for x := 2; x < 10; x++ {
			m.Pix[y*tamperSide+x] = 255
		}
	}
	return m
}

// tamperSide is the side of the pictures, large enough for several strips, tiles and JPEG blocks.
const tamperSide = 40

// save corrects a pixel of a source and returns the result.
func (s specimen) save(t testing.TB, data []byte) []byte { return s.saveAt(t, data, 5, 5) }

func (s specimen) saveAt(t testing.TB, data []byte, x, y int) []byte {
	t.Helper()
	f, err := Read(t.Context(), testpic.WriteFile(t, "s."+s.extension, data), DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	path := filepath.Join(t.TempDir(), "r."+s.result)
	if _, err := Save(t.Context(), f, path, dot(f.Picture, x, y), SaveOptions{AllowLossy: true}); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	result, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// specimens returns a source of every kind of container.
func specimens(t testing.TB) []specimen {
	little, big := form{order: binary.LittleEndian}, form{order: binary.BigEndian, big: true}
	var all []specimen
	for _, k := range []struct {
		name        string
		form        form
		compression uint16
		change      func(p *page)
	}{
		{"none", little, 1, nil},
		{"BigTIFF", big, 1, func(p *page) { p.planar = true }},
		{"Deflate", little, 8, nil},
		{"LZW", form{order: binary.BigEndian}, 5, func(p *page) { p.tile, p.planar = 16, true }},
		{"PackBits", little, 32773, func(p *page) { p.tile = 16 }},
	} {
		all = append(all, tiffSpecimen(k.name, k.form, func() []*page {
			pages := tamperPages(k.compression)
			if k.change != nil {
				k.change(pages[0])
			}
			return pages
		}))
	}
	all = append(all, plainSpecimen())
	return append(append(all, pngSpecimens(t)...), jpegSpecimens(t)...)
}

// plainSpecimen is a TIFF that every program reads.
func plainSpecimen() specimen {
	data := func(compression uint16, tile int, reversed bool) []byte {
		return writeTIFF(form{order: binary.LittleEndian}, &page{
			w: tamperSide, h: tamperSide, depth: 8, colours: 3, photometric: 2, rows: 8, samples: noise(3 * tamperSide * tamperSide),
			compression: compression, tile: tile, reversed: reversed,
		})
	}
	s := specimen{name: "RGB", extension: "tif", result: "tif", data: data(1, 0, false), results: map[string]func([]byte) []byte{}}
	for _, compression := range []uint16{1, 5, 8, 32773} {
		for _, tile := range []int{0, 16} {
			s.packed = append(s.packed, data(compression, tile, false), data(compression, tile, true))
		}
	}
	return s
}

// tamperPages returns two pages, the first with alpha, a fifth channel, metadata of all kinds and two smaller copies.
func tamperPages(compression uint16) []*page {
	picture := func(w, extra int, seed uint32) *page {
		p := &page{w: w, h: w, depth: 16, colours: 3, extra: extra, photometric: 2, rows: 8, compression: compression}
		for range w * w * (3 + extra) {
			seed = seed*1664525 + 1013904223
			p.samples = binary.BigEndian.AppendUint16(p.samples, uint16(seed>>20)|0x4000)
		}
		return p
	}
	text := func(tag uint16, s string) tagged { return tagged{tag, 2, append([]byte(s), 0)} }
	ratio := func(tag uint16, over, under uint32) tagged {
		return tagged{tag, 5, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, over), under)}
	}
	p := picture(tamperSide, 2, 1)
	p.tags = []tagged{
		text(270, "Portrait of a lady"), text(305, "Scanner 1"), {274, 3, []byte{0, 1}}, ratio(282, 600, 1), ratio(283, 600, 1),
		{296, 3, []byte{0, 2}}, {700, 1, []byte("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")}, {33723, 7, []byte("\x1c\x02\x05\x00\x03abc")},
		{34377, 1, []byte("8BIM\x04\x04\x00\x00\x00\x00\x00\x00")}, {34675, 7, bytes.Repeat([]byte{7}, 200)},
		{65000, 4, []byte{0, 0, 1, 2, 0, 0, 3, 4, 9, 9, 9, 9}}, {65001, 3, []byte{0, 77}},
	}
	p.exif = []tagged{ratio(33434, 1, 60), {34855, 3, []byte{0, 100}}, {37500, 7, []byte("maker's own notes")}}
	p.gps = []tagged{{0, 1, []byte{2, 3, 0, 0}}, text(1, "N"), ratio(6, 1200, 10)}
	p.subs = []*page{picture(20, 0, 2), picture(10, 0, 3)}
	p.subs[0].tags = []tagged{{254, 4, []byte{0, 0, 0, 1}}}
	second := picture(24, 1, 4)
	second.tags = []tagged{text(270, "Back of the panel")}
	return []*page{p, second}
}

// find returns the tag.
func find(tags []tagged, tag uint16) *tagged {
	i := slices.IndexFunc(tags, func(t tagged) bool { return t.tag == tag })
	return &tags[i]
}

// without returns all tags except one.
func without(tags []tagged, tag uint16) []tagged {
	return slices.DeleteFunc(tags, func(t tagged) bool { return t.tag == tag })
}

func tiffSpecimen(name string, f form, pages func() []*page) specimen {
	s := specimen{name: name, extension: "tif", result: "tif", data: writeTIFF(f, pages()...)}
	s.sources, s.results = map[string]func() []byte{}, map[string]func([]byte) []byte{}
	for _, other := range []form{{order: binary.LittleEndian}, {order: binary.BigEndian, big: true}} {
		for _, compression := range []uint16{1, 5, 8, 32773} {
			p := pages()
			for i, tile := range []int{16 - p[0].tile, 32} {
				p[i].compression, p[i].tile, p[i].rows = compression, tile, 5
			}
			p[0].subs[0].compression = compression
			s.packed = append(s.packed, writeTIFF(other, p...))
			p[0].reversed, p[1].align, p[0].beside = true, 16, make([]byte, 1)
			s.packed = append(s.packed, writeTIFF(other, p...))
			p[1].reversed, p[0].align = true, 8
			p[0].entries = func(all []tagged) []tagged {
				for _, tag := range []uint16{256, 257} {
					t := find(all, tag)
					t.kind, t.data = 3, t.data[2:]
				}
				slices.Reverse(all)
				return all
			}
			s.packed = append(s.packed, writeTIFF(other, p...))
		}
	}
	// As many bytes as the source has, in another order.
	turned := pages()
	for _, p := range turned {
		p.reversed = true
	}
	s.packed = append(s.packed, writeTIFF(f, turned...))
	edits := map[string]func(p []*page) []*page{}
	edit := func(way string, do func(first, second *page)) {
		edits[way] = func(p []*page) []*page {
			do(p[0], p[1])
			return p
		}
	}
	sample := func(p *page, x, y, c int) *byte {
		return &p.samples[((y*p.w+x)*(p.colours+p.extra)+c)*2+1]
	}
	edit("colour outside the mask", func(p, _ *page) { *sample(p, 30, 30, 1) ^= 1 })
	edit("alpha of a pixel", func(p, _ *page) { *sample(p, 5, 5, 3) ^= 1 })
	edit("alpha set to nothing", func(p, _ *page) {
		for i := range p.w * p.h {
			*sample(p, i%p.w, i/p.w, 3) = 0
		}
	})
	edit("fifth channel", func(p, _ *page) { *sample(p, 39, 39, 4) ^= 1 })
	edit("kind of alpha", func(p, _ *page) { p.extra--; p.extra++; p.tags = append(p.tags, tagged{337, 2, []byte("x\x00")}) })
	edit("page 2, sample", func(_, p *page) { *sample(p, 23, 23, 0) ^= 1 })
	edit("page 2, all black", func(_, p *page) { clear(p.samples) })
	edit("page 2, alpha", func(_, p *page) { *sample(p, 0, 0, 3) ^= 1 })
	edit("page 2, text", func(_, p *page) { find(p.tags, 270).data[0] ^= 1 })
	edit("page 2, tag added", func(_, p *page) { p.tags = append(p.tags, tagged{65002, 3, []byte{0, 1}}) })
	edit("pyramid level, sample", func(p, _ *page) { *sample(p.subs[0], 19, 19, 2) ^= 1 })
	edit("pyramid level, black", func(p, _ *page) { clear(p.subs[1].samples) })
	edit("pyramid level, tag", func(p, _ *page) { find(p.subs[0].tags, 254).data[3] = 5 })
	edit("pyramid level removed", func(p, _ *page) { p.subs = p.subs[:1] })
	edit("pyramid removed", func(p, _ *page) { p.subs = nil })
	edit("pyramid levels exchanged", func(p, _ *page) { p.subs[0], p.subs[1] = p.subs[1], p.subs[0] })
	edit("private tag", func(p, _ *page) { find(p.tags, 65000).data[11] ^= 1 })
	edit("private tag, short", func(p, _ *page) { find(p.tags, 65001).data[1] ^= 1 })
	edit("private tag, kind", func(p, _ *page) { find(p.tags, 65000).kind = 7 })
	edit("private tag, count", func(p, _ *page) { t := find(p.tags, 65000); t.data = t.data[:8] })
	edit("tag added", func(p, _ *page) { p.tags = append(p.tags, tagged{65002, 3, []byte{0, 1}}) })
	edit("tag removed", func(p, _ *page) { p.tags = without(p.tags, 65001) })
	edit("profile", func(p, _ *page) { find(p.tags, 34675).data[150] ^= 1 })
	edit("profile removed", func(p, _ *page) { p.tags = without(p.tags, 34675) })
	edit("XMP", func(p, _ *page) { find(p.tags, 700).data[5] ^= 1 })
	edit("IPTC", func(p, _ *page) { find(p.tags, 33723).data[6] ^= 1 })
	edit("Photoshop", func(p, _ *page) { find(p.tags, 34377).data[5] ^= 1 })
	edit("description", func(p, _ *page) { find(p.tags, 270).data[0] ^= 1 })
	edit("software", func(p, _ *page) { find(p.tags, 305).data[8] ^= 1 })
	edit("orientation", func(p, _ *page) { find(p.tags, 274).data[1] = 3 })
	edit("resolution", func(p, _ *page) { find(p.tags, 282).data[3] ^= 1 })
	edit("resolution, unit", func(p, _ *page) { find(p.tags, 296).data[1] = 3 })
	edit("EXIF", func(p, _ *page) { find(p.exif, 33434).data[7] ^= 1 })
	edit("EXIF, tag added", func(p, _ *page) { p.exif = append(p.exif, tagged{37385, 3, []byte{0, 1}}) })
	edit("EXIF, maker note", func(p, _ *page) { find(p.exif, 37500).data[3] ^= 1 })
	edit("GPS", func(p, _ *page) { find(p.gps, 6).data[3] ^= 1 })
	edit("GPS removed", func(p, _ *page) { p.gps = nil })
	edits["page 2 removed"] = func(p []*page) []*page { return p[:1] }
	edits["page 3 added"] = func(p []*page) []*page { return append(p, p[1]) }
	hiddenWays(s.results, f, pages)
	for way, do := range edits {
		s.sources[way] = func() []byte { return writeTIFF(f, do(pages())...) }
	}
	// An additional byte must not hide anything.
	for _, way := range []string{"alpha of a pixel", "fifth channel", "private tag", "page 2, sample", "pyramid level, sample"} {
		s.sources[way+" + a byte"] = func() []byte { return append(s.sources[way](), 0) }
	}
	s.results["a byte appended"] = func(d []byte) []byte { return append(d, 0) }
	s.results["4 KiB appended"] = func(d []byte) []byte { return append(d, noise(4096)...) }
	s.results["the last byte cut off"] = func(d []byte) []byte { return d[:len(d)-1] }
	return s
}
