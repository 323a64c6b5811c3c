package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	stdpng "image/png"
	"io"
	"slices"
	"testing"
)

// pngChunk returns a chunk.
func pngChunk(name string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, name...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// eachChunk rebuilds a PNG with its chunks replaced by the results of do. Data after the last chunk are kept.
func eachChunk(data []byte, do func(name string, body []byte) []byte) []byte {
	out, at := bytes.Clone(data[:8]), 8
	for at < len(data) {
		n := int(binary.BigEndian.Uint32(data[at:]))
		name := string(data[at+4 : at+8])
		out = append(out, do(name, bytes.Clone(data[at+8:at+8+n]))...)
		if at += 12 + n; name == "IEND" {
			break
		}
	}
	return append(out, data[at:]...)
}

// inserted puts chunks before the first one of the given name.
func inserted(data []byte, before string, chunks ...[]byte) []byte {
	done := false
	return eachChunk(data, func(name string, body []byte) []byte {
		var out []byte
		if name == before && !done {
			out, done = slices.Concat(chunks...), true
		}
		return append(out, pngChunk(name, body)...)
	})
}

// stdPNG encodes a picture with the standard library.
func stdPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := stdpng.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pngSpecimens are PNGs of colours with alpha, of a palette with opacity, of grey with a transparent level, and one
// that is animated.
func pngSpecimens(t testing.TB) []specimen {
	bounds := image.Rect(0, 0, tamperSide, tamperSide)
	colours := func(alpha func(x, y int) uint8) []byte {
		m := image.NewNRGBA(bounds)
		for y := range tamperSide {
			for x := range tamperSide {
				m.SetNRGBA(x, y, color.NRGBA{uint8(5 * x), uint8(5 * y), uint8(x*y + 9), alpha(x, y)})
			}
		}
		return stdPNG(t, m)
	}
	some := func(x, y int) uint8 { return uint8(200 - x) }
	described := func(data []byte) []byte {
		return inserted(inserted(data, "IDAT", pngChunk("gAMA", []byte{0, 0, 0xb1, 0x8f}),
			pngChunk("cHRM", noise(32)), pngChunk("pHYs", []byte{0, 0, 11, 19, 0, 0, 11, 19, 1}), pngChunk("tIME", noise(7)),
			pngChunk("eXIf", []byte("II*\x00\x08\x00\x00\x00\x00\x00")), pngChunk("tEXt", []byte("Author\x00somebody")),
			pngChunk("tEXt", []byte("Title\x00something")), pngChunk("cICP", []byte{1, 13, 0, 1}),
			pngChunk("prVt", []byte("a private chunk"))), "IEND", pngChunk("zTXt", append([]byte("Comment\x00\x00"), noise(9)...)))
	}
	alpha := specimen{name: "PNG", extension: "png", result: "png", data: append(described(colours(some)), "trailer"...)}
	alpha.sources = map[string]func() []byte{
		"alpha of a pixel": func() []byte {
			return append(described(colours(func(x, y int) uint8 {
				if x == 30 && y == 30 {
					return 1
				}
				return some(x, y)
			})), "trailer"...)
		},
		"alpha set to nothing": func() []byte {
			return append(described(colours(func(x, y int) uint8 { return 254 })), "trailer"...)
		},
	}
	alpha.results = chunkEdits("gAMA", "cHRM", "pHYs", "tIME", "eXIf", "tEXt", "cICP", "prVt", "zTXt")
	alpha.results["data after the picture"] = func(d []byte) []byte { return append(d[:len(d)-1], 'X') }
	alpha.results["data after the picture, cut off"] = func(d []byte) []byte { return d[:len(d)-7] }
	alpha.results["chunk moved behind the pixels"] = func(d []byte) []byte {
		d = eachChunk(d, func(name string, body []byte) []byte {
			if name == "tIME" {
				return nil
			}
			return pngChunk(name, body)
		})
		return inserted(d, "IEND", pngChunk("tIME", noise(7)))
	}

	indices := func(opacity uint8) []byte {
		palette := color.Palette{}
		for i := range 200 {
			palette = append(palette, color.NRGBA{uint8(i), uint8(255 - i), uint8(3 * i), uint8(255 - i%2*int(opacity))})
		}
		m := image.NewPaletted(bounds, palette)
		for i := range m.Pix {
			m.Pix[i] = uint8(i % 200)
		}
		return stdPNG(t, m)
	}
	palette := specimen{name: "palette", extension: "png", result: "png", data: described(indices(100))}
	palette.sources = map[string]func() []byte{"opacity of colours": func() []byte { return described(indices(101)) }}
	palette.results = chunkEdits("gAMA", "tEXt", "prVt", "IHDR")

	grey := image.NewGray16(bounds)
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i * 7)
	}
	key := func(level byte) []byte {
		return inserted(stdPNG(t, grey), "IDAT", pngChunk("tRNS", []byte{grey.Pix[0], level}))
	}
	keyed := specimen{name: "tRNS", extension: "png", result: "png", data: key(grey.Pix[1])}
	keyed.sources = map[string]func() []byte{"transparent level": func() []byte { return key(grey.Pix[1] + 1) }}
	keyed.results = chunkEdits("tRNS")

	control := pngChunk("fcTL", binary.BigEndian.AppendUint32([]byte{0, 0, 0, 0, 0, 0, 0, tamperSide, 0, 0, 0, tamperSide, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 10}, 0)[:26])
	frame := append([]byte{0, 0, 0, 1}, noise(60)...)
	moving := inserted(colours(some), "IDAT", pngChunk("acTL", []byte{0, 0, 0, 1, 0, 0, 0, 0}))
	moving = inserted(moving, "IEND", control, pngChunk("fdAT", frame))
	animated := specimen{name: "APNG", extension: "png", result: "png", data: moving, results: chunkEdits("fcTL", "fdAT", "acTL")}
	all := []specimen{alpha, palette, keyed, animated}
	for i := range all {
		hiddenChunks(all[i].results, all[i].save(t, all[i].data))
		all[i].packed = packedPNG(t, all[i].data)
	}
	return all
}

// packedPNG returns a PNG with its pixels divided into other IDAT chunks, and compressed in other ways.
func packedPNG(t testing.TB, data []byte) [][]byte {
	t.Helper()
	var stream []byte
	eachChunk(data, func(name string, body []byte) []byte {
		if name == "IDAT" {
			stream = append(stream, body...)
		}
		return nil
	})
	in, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	with := func(stream []byte, each int) {
		done := false
		all = append(all, eachChunk(data, func(name string, body []byte) []byte {
			switch {
			case name != "IDAT":
				return pngChunk(name, body)
			case done:
				return nil
			}
			done = true
			var out []byte
			for part := range slices.Chunk(stream, each) {
				out = append(out, pngChunk("IDAT", part)...)
			}
			return append(out, pngChunk("IDAT", nil)...)
		}))
	}
	for _, each := range []int{1, 7, 100, 1 << 20} {
		with(stream, each)
	}
	for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, 5, zlib.BestCompression} {
		var out bytes.Buffer
		z, err := zlib.NewWriterLevel(&out, level)
		if err == nil {
			_, err = z.Write(raw)
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		with(out.Bytes(), 64)
	}
	return all
}

// packedJPEG returns a JPEG with its Huffman tables in segments of their own, earlier, and behind padding.
func packedJPEG(data []byte) [][]byte {
	var at, end int
	for _, from := range segmentStarts(data) {
		if data[from+1] == 0xc4 {
			at, end = from, from+2+int(binary.BigEndian.Uint16(data[from+2:]))
		}
	}
	var single []byte
	for body := data[at+4 : end]; len(body) > 0; {
		n := 17
		for _, c := range body[1:17] {
			n += int(c)
		}
		single = append(single, segmentOf(0xc4, string(body[:n]))...)
		body = body[n:]
	}
	return [][]byte{
		slices.Concat(data[:at], single, data[end:]),
		slices.Concat(data[:2], single, data[2:at], data[end:]),
		slices.Concat(data[:at], []byte{0xff, 0xff, 0xff}, data[at:]),
	}
}

// chunkEdits changes, removes and duplicates each of the chunks, and adds others.
func chunkEdits(names ...string) map[string]func([]byte) []byte {
	edits := map[string]func([]byte) []byte{
		"text added":          func(d []byte) []byte { return inserted(d, "IDAT", pngChunk("tEXt", []byte("Software\x00x"))) },
		"private chunk added": func(d []byte) []byte { return inserted(d, "IEND", pngChunk("adDd", []byte("x"))) },
		"a byte appended":     func(d []byte) []byte { return append(d, 0) },
	}
	for _, n := range names {
		change := func(what func(chunk, body []byte) []byte) func([]byte) []byte {
			first := true
			return func(d []byte) []byte {
				first = true
				return eachChunk(d, func(name string, body []byte) []byte {
					if name != n || !first {
						return pngChunk(name, body)
					}
					first = false
					return what(pngChunk(name, body), body)
				})
			}
		}
		edits["chunk "+n] = change(func(_, body []byte) []byte { body[len(body)-1] ^= 1; return pngChunk(n, body) })
		if n != "IHDR" {
			edits["chunk "+n+" removed"] = change(func(_, _ []byte) []byte { return nil })
			edits["chunk "+n+" doubled"] = change(func(c, _ []byte) []byte { return append(bytes.Clone(c), c...) })
		}
	}
	return edits
}

// segmentOf returns a JPEG segment.
func segmentOf(marker byte, body string) []byte {
	return append([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}

// jpegSpecimens are a JPEG saved as JPEG, as TIFF and as PNG.
func jpegSpecimens(t testing.TB) []specimen {
	m := image.NewNRGBA(image.Rect(0, 0, tamperSide, tamperSide))
	for y := range tamperSide {
		for x := range tamperSide {
			m.SetNRGBA(x, y, color.NRGBA{uint8(100 + x), uint8(90 + 2*y), uint8(60 + x + y), 255})
		}
	}
	var coded bytes.Buffer
	if err := stdjpeg.Encode(&coded, m, &stdjpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	type parts struct{ jfif, exif, xmp, comment, private, after string }
	plain := parts{
		"JFIF\x00\x01\x01\x01\x00\x90\x00\x90\x00\x00",
		"Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x31\x01\x02\x00\x04\x00\x00\x00abc\x00\x00\x00\x00\x00",
		"http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta xmlns:x='adobe:ns:meta/'/>", "a comment", "private", "after",
	}
	build := func(p parts) []byte {
		return slices.Concat(coded.Bytes()[:2], segmentOf(0xe0, p.jfif), segmentOf(0xe1, p.exif), segmentOf(0xe1, p.xmp),
			segmentOf(0xfe, p.comment), segmentOf(0xeb, p.private), coded.Bytes()[2:], []byte(p.after))
	}
	with := func(change func(p *parts)) func() []byte {
		return func() []byte {
			p := plain
			change(&p)
			return build(p)
		}
	}
	var all []specimen
	for _, k := range [][2]string{{"JPEG", "jpg"}, {"JPEG→TIFF", "tif"}, {"JPEG→PNG", "png"}} {
		s := specimen{name: k[0], extension: "jpg", result: k[1], data: build(plain), sources: map[string]func() []byte{
			"resolution": with(func(p *parts) { p.jfif = "JFIF\x00\x01\x01\x01\x00\x91\x00\x90\x00\x00" }),
			"EXIF":       with(func(p *parts) { p.exif = string(bytes.Replace([]byte(p.exif), []byte("abc"), []byte("abd"), 1)) }),
			"XMP":        with(func(p *parts) { p.xmp += " " }),
			"comment":    with(func(p *parts) { p.comment = "another" }),
		}, results: map[string]func([]byte) []byte{}}
		// A pixel outside the mask is corrected.
		s.results["colour outside the mask"] = func([]byte) []byte { return s.saveAt(t, s.data, 30, 30) }
		s.results["a byte appended"] = func(d []byte) []byte { return append(d, 7) }
		switch k[1] {
		case "jpg":
			hiddenSegments(s.results, s.save(t, s.data))
			s.packed = packedJPEG(s.data)
			s.sources["private segment"] = with(func(p *parts) { p.private = "another" })
			s.sources["data after the picture"] = with(func(p *parts) { p.after = "other" })
			s.results["segment added"] = func(d []byte) []byte { return slices.Concat(d[:2], segmentOf(0xea, "x"), d[2:]) }
			s.results["segment removed"] = func(d []byte) []byte {
				return bytes.Replace(d, segmentOf(0xeb, plain.private), nil, 1)
			}
			s.results["quantisation table"] = func(d []byte) []byte {
				d[bytes.Index(d, []byte{0xff, 0xdb})+20]++
				return d
			}
		case "tif":
			s.results["tag added"] = func(d []byte) []byte { return withTag(d, 65000, 0) }
			s.results["software"] = func(d []byte) []byte { return bytes.Replace(d, []byte("abc\x00"), []byte("xyz\x00"), 1) }
			s.results["orientation"] = func(d []byte) []byte { return withTag(d, 274, 3) }
		case "png":
			for way, do := range chunkEdits("pHYs", "eXIf", "iTXt") {
				s.results[way] = do
			}
		}
		all = append(all, s)
	}
	return all
}

// withTag moves the directory of a little-endian TIFF to its end, with a short more, or with another value of it.
func withTag(d []byte, tag uint16, value uint16) []byte {
	order := binary.LittleEndian
	at := int(order.Uint32(d[4:]))
	n := int(order.Uint16(d[at:]))
	entries := bytes.Clone(d[at+2 : at+2+12*n])
	fresh := order.AppendUint16(order.AppendUint16(nil, tag), 3)
	fresh = order.AppendUint32(order.AppendUint32(fresh, 1), uint32(value))
	place := len(entries)
	for i := 0; i < len(entries); i += 12 {
		if order.Uint16(entries[i:]) == tag {
			copy(entries[i:], fresh)
			fresh = nil
			break
		}
		if order.Uint16(entries[i:]) > tag {
			place = i
			break
		}
	}
	entries = slices.Insert(entries, place, fresh...)
	if len(d)%2 != 0 {
		d = append(d, 0)
	}
	order.PutUint32(d[4:], uint32(len(d)))
	d = order.AppendUint16(d, uint16(len(entries)/12))
	return append(append(d, entries...), 0, 0, 0, 0)
}
