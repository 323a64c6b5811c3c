package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// hiddenWays adds ways to hide something in a TIFF that another program may show, or that nobody sees: in what the
// reader of a directory does not use, behind and between the parts, and in the order of the directories.
func hiddenWays(ways map[string]func([]byte) []byte, f form, pages func() []*page) {
	// of returns the three pictures that each way is tried on.
	pictures := map[string]func(p []*page) *page{
		"":              func(p []*page) *page { return p[0] },
		" of page 2":    func(p []*page) *page { return p[1] },
		" of a pyramid": func(p []*page) *page { return p[0].subs[1] },
	}
	add := func(way string, do func(all []*page, p *page)) {
		for where, of := range pictures {
			ways[way+where] = func([]byte) []byte {
				all := pages()
				do(all, of(all))
				return writeTIFF(f, all...)
			}
		}
	}
	entries := func(way string, do func(all []tagged) []tagged) {
		add(way, func(_ []*page, p *page) { p.entries = do })
	}
	model := pages()[0]
	stored := []uint16{278, 273, 279}
	if model.tile > 0 {
		stored = []uint16{322, 323, 324, 325}
	}
	for _, tag := range append([]uint16{256, 257, 258, 259, 262, 277}, stored...) {
		entries(fmt.Sprintf("tag %d twice", tag), func(all []tagged) []tagged {
			i := slices.IndexFunc(all, func(t tagged) bool { return t.tag == tag })
			if i < 0 {
				return append(all, tagged{tag: tag, kind: 3, data: []byte{0, 1}})
			}
			other := all[i]
			other.data = bytes.Clone(other.data)
			other.data[len(other.data)-1] ^= 1
			return append(all, other)
		})
		entries(fmt.Sprintf("tag %d with more values", tag), func(all []tagged) []tagged {
			i := slices.IndexFunc(all, func(t tagged) bool { return t.tag == tag })
			if i < 0 {
				return append(all, tagged{tag: tag, kind: 3, data: []byte{0, 1, 0, 1}})
			}
			value, _ := kindBytes(all[i].kind)
			more := bytes.Repeat([]byte{0, 9}, 2)[:value]
			all[i].data = append(bytes.Clone(all[i].data), more...)
			return all
		})
	}
	for _, unused := range []tagged{
		{tag: 288, kind: 4, data: []byte{0, 0, 0, 8}}, {tag: 289, kind: 4, data: []byte{0, 0, 0, 8}},
		{tag: 292, kind: 4, data: []byte{0, 0, 0, 4}}, {tag: 293, kind: 4, data: []byte{0, 0, 0, 2}},
		{tag: 292, kind: 4, data: []byte{0, 0, 0, 0, 1, 2, 3, 4}}, {tag: 513, kind: 4, data: []byte{0, 0, 0, 8}},
		{tag: 520, kind: 4, data: []byte{0, 0, 0, 8}}, {tag: 347, kind: 7, data: []byte("a table of nothing")},
	} {
		entries(fmt.Sprintf("tag %d added, %d bytes", unused.tag, len(unused.data)), func(all []tagged) []tagged {
			return append(all, unused)
		})
	}
	if model.compression == 1 || model.compression == 32773 {
		entries("a predictor that is not used", func(all []tagged) []tagged {
			return append(all, tagged{tag: 317, kind: 3, data: []byte{0, 2}})
		})
	}
	entries("offsets of the other kind", func(all []tagged) []tagged {
		tag := uint16(324)
		if slices.ContainsFunc(all, func(t tagged) bool { return t.tag == tag }) {
			tag = 273
		}
		counts := map[uint16]uint16{324: 325, 273: 279}[tag]
		eight := []byte{0, 0, 0, 8}
		return append(all, tagged{tag: tag, kind: 4, data: eight}, tagged{tag: counts, kind: 4, data: eight})
	})
	for _, tag := range []uint16{0, 259, 262, 277} {
		add(fmt.Sprintf("unused bytes of the entry of tag %d", tag), func(_ []*page, p *page) {
			p.spare = func(of uint16) byte {
				if tag == 0 || tag == of {
					return 0x55
				}
				return 0
			}
		})
	}
	for _, n := range []int{1, 40, 400} {
		for _, segment := range []int{0, 1} {
			way := fmt.Sprintf("%d bytes behind strip %d, counted", n, segment+1)
			add(way, func(_ []*page, p *page) { p.behind = map[int][]byte{segment: hidden(n)} })
		}
	}
	add("400 zeros behind a strip, counted", func(_ []*page, p *page) { p.behind = map[int][]byte{0: make([]byte, 400)} })
	if model.tile > 0 {
		ways["tiles, beside the picture"] = func([]byte) []byte {
			all := pages()
			all[0].beside = []byte("hidden beside the picture")
			return writeTIFF(f, all...)
		}
	}
	hiddenLinks(ways, f, pages)
	hiddenGaps(ways, f, pages)
}

// hidden is foreign text of n bytes without zeros.
func hidden(n int) []byte {
	return bytes.Repeat([]byte("Nobody sees this. "), n/18+1)[:n]
}

// hiddenLinks adds ways to change which directory follows which.
func hiddenLinks(ways map[string]func([]byte) []byte, f form, pages func() []*page) {
	link := func(way string, do func(w *tiffWriter, page, second, sub, other, exif, gps written)) {
		ways[way] = func([]byte) []byte {
			w := writeTIFFs(f, pages()...)
			// The order in which they are written.
			d := w.directories
			do(w, d[4], d[5], d[2], d[3], d[0], d[1])
			return w.data
		}
	}
	set := func(w *tiffWriter, at, to int) { copy(w.data[at:], w.offset(nil, to)) }
	link("page 2 followed by page 1", func(w *tiffWriter, page, second, _, _, _, _ written) { set(w, second.next, page.at) })
	link("page 2 followed by itself", func(w *tiffWriter, _, second, _, _, _, _ written) { set(w, second.next, second.at) })
	link("page 2 followed by a pyramid level", func(w *tiffWriter, _, second, sub, _, _, _ written) { set(w, second.next, sub.at) })
	link("page 2 followed by EXIF", func(w *tiffWriter, _, second, _, _, exif, _ written) { set(w, second.next, exif.at) })
	link("page 2 followed by nothing", func(w *tiffWriter, _, second, _, _, _, _ written) { set(w, second.next, 1<<30) })
	link("page 1 followed by itself", func(w *tiffWriter, page, _, _, _, _, _ written) { set(w, page.next, page.at) })
	link("page 1 followed by a pyramid level", func(w *tiffWriter, page, _, sub, _, _, _ written) { set(w, page.next, sub.at) })
	link("pyramid level followed by page 2", func(w *tiffWriter, _, second, sub, _, _, _ written) { set(w, sub.next, second.at) })
	link("pyramid level followed by itself", func(w *tiffWriter, _, _, sub, _, _, _ written) { set(w, sub.next, sub.at) })
	link("pyramid level followed by the next", func(w *tiffWriter, _, _, sub, other, _, _ written) { set(w, sub.next, other.at) })
	link("EXIF followed by page 2", func(w *tiffWriter, _, second, _, _, exif, _ written) { set(w, exif.next, second.at) })
	link("GPS followed by page 1", func(w *tiffWriter, page, _, _, _, _, gps written) { set(w, gps.next, page.at) })
	pointers := func(way string, tag uint16, values ...func(exif, gps, sub int) int) {
		ways[way] = func([]byte) []byte {
			w := writeTIFFs(f, pages()...)
			d := w.directories
			all := pages()
			all[0].entries = func(entries []tagged) []tagged {
				t := find(entries, tag)
				t.data = nil
				for _, v := range values {
					t.data = binary.BigEndian.AppendUint32(t.data, uint32(v(d[0].at, d[1].at, d[2].at)))
				}
				return entries
			}
			return writeTIFF(f, all...)
		}
	}
	exif, gps := func(exif, _, _ int) int { return exif }, func(_, gps, _ int) int { return gps }
	sub := func(_, _, sub int) int { return sub }
	pointers("EXIF is GPS", 34665, gps)
	pointers("EXIF and more", 34665, exif, gps)
	pointers("GPS is EXIF", 34853, exif)
	pointers("GPS and more", 34853, gps, sub)
	pointers("pyramid of one level twice", 330, sub, sub)
	pointers("pyramid with EXIF", 330, sub, exif)
}

// hiddenGaps adds ways to insert bytes between the parts of a file.
func hiddenGaps(ways map[string]func([]byte) []byte, f form, pages func() []*page) {
	for _, n := range []int{2, 18, 400} {
		for where, at := range map[string]int{"in the first gap": 0, "in the middle": 1, "at the end": 2} {
			ways[fmt.Sprintf("%d bytes %s", n, where)] = func([]byte) []byte {
				all := pages()
				// Bytes behind a segment that its length does not include.
				if at < 2 {
					all[at].behind = map[int][]byte{1: hidden(n)}
					all[at].entries = func(entries []tagged) []tagged {
						tag := uint16(279)
						if all[at].tile > 0 {
							tag = 325
						}
						counts := find(entries, tag)
						counts.data = bytes.Clone(counts.data)
						v := binary.BigEndian.Uint32(counts.data[4:])
						binary.BigEndian.PutUint32(counts.data[4:], v-uint32(n))
						return entries
					}
					return writeTIFF(f, all...)
				}
				return append(writeTIFF(f, all...), hidden(n)...)
			}
		}
	}
}

// hiddenChunks adds ways to hide something in a PNG: behind the pixels' stream, in IEND, in checksums, in the order of
// the chunks, and in the chunks between which a program may choose.
func hiddenChunks(ways map[string]func([]byte) []byte, data []byte) {
	var names []string
	eachChunk(data, func(name string, body []byte) []byte {
		names = append(names, name)
		return nil
	})
	for i, name := range names {
		one := func(do func(chunk []byte) []byte) func([]byte) []byte {
			return func(d []byte) []byte {
				k := -1
				return eachChunk(d, func(name string, body []byte) []byte {
					if k++; k != i {
						return pngChunk(name, body)
					}
					return do(pngChunk(name, body))
				})
			}
		}
		ways[fmt.Sprintf("checksum of chunk %d, %s", i, name)] = one(func(chunk []byte) []byte {
			chunk[len(chunk)-1] ^= 1
			return chunk
		})
		if name != "IHDR" && name != "IEND" {
			ways[fmt.Sprintf("chunk %d, %s, removed", i, name)] = one(func([]byte) []byte { return nil })
		}
		ways[fmt.Sprintf("a chunk before chunk %d", i)] = one(func(chunk []byte) []byte {
			return append(pngChunk("hiDe", hidden(9)), chunk...)
		})
		if i > 0 && i+1 < len(names) && names[i+1] != "IEND" && name != names[i+1] {
			ways[fmt.Sprintf("chunks %d and %d exchanged", i, i+1)] = func(d []byte) []byte {
				var all [][]byte
				eachChunk(d, func(name string, body []byte) []byte {
					all = append(all, pngChunk(name, body))
					return nil
				})
				all[i], all[i+1] = all[i+1], all[i]
				return slices.Concat(append([][]byte{d[:8]}, all...)...)
			}
		}
	}
	pixels := func(do func(body []byte) []byte) func([]byte) []byte {
		return func(d []byte) []byte {
			return eachChunk(d, func(name string, body []byte) []byte {
				if name == "IDAT" {
					return do(body)
				}
				return pngChunk(name, body)
			})
		}
	}
	for _, n := range []int{1, 4, 40, 400} {
		ways[fmt.Sprintf("%d bytes behind the stream", n)] = pixels(func(body []byte) []byte {
			return pngChunk("IDAT", append(body, hidden(n)...))
		})
		ways[fmt.Sprintf("%d bytes in a second IDAT", n)] = pixels(func(body []byte) []byte {
			return append(pngChunk("IDAT", body), pngChunk("IDAT", hidden(n))...)
		})
		ways[fmt.Sprintf("%d bytes in IEND", n)] = func(d []byte) []byte {
			return eachChunk(d, func(name string, body []byte) []byte {
				if name == "IEND" {
					body = hidden(n)
				}
				return pngChunk(name, body)
			})
		}
		ways[fmt.Sprintf("%d bytes at the end of a long bKGD", n)] = func(d []byte) []byte {
			return inserted(d, "IDAT", pngChunk("bKGD", append(make([]byte, 800), hidden(n)...)))
		}
	}
	ways["checksum of the stream"] = pixels(func(body []byte) []byte {
		body[len(body)-1] ^= 1
		return pngChunk("IDAT", body)
	})
}

// hiddenSegments adds ways to hide something in a JPEG: between, behind and in its segments, in tables that no scan
// uses, and in the bits of the scan that stand for nothing.
func hiddenSegments(ways map[string]func([]byte) []byte, data []byte) {
	at := segmentStarts(data)
	for i, from := range at {
		insert := func(what []byte) func([]byte) []byte {
			return func(d []byte) []byte { return slices.Concat(d[:from], what, d[from:]) }
		}
		ways[fmt.Sprintf("bytes before segment %d", i)] = insert(hidden(30))
		ways[fmt.Sprintf("a byte before segment %d", i)] = insert([]byte{7})
		ways[fmt.Sprintf("padding before segment %d", i)] = insert(bytes.Repeat([]byte{0xff}, 4096))
		ways[fmt.Sprintf("a restart marker before segment %d", i)] = insert([]byte{0xff, 0xd3})
		ways[fmt.Sprintf("a comment before segment %d", i)] = insert(segmentOf(0xfe, "hidden"))
		for _, id := range []byte{0x00, 0x02, 0x03, 0x11, 0x12, 0x13} {
			table := append([]byte{id, 0, 0, 0, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0, 0, 0, 0}, hidden(90)...)
			ways[fmt.Sprintf("Huffman table %02x before segment %d", id, i)] = insert(segmentOf(0xc4, string(table)))
		}
		if i+1 < len(at) && data[from+1] != 0xc4 {
			ways[fmt.Sprintf("segment %d twice", i)] = insert(data[from:at[i+1]])
			ways[fmt.Sprintf("segment %d removed", i)] = func(d []byte) []byte {
				return slices.Concat(d[:from], d[at[i+1]:])
			}
			ways[fmt.Sprintf("last byte of segment %d", i)] = func(d []byte) []byte {
				d[at[i+1]-1] ^= 0x10
				return d
			}
		}
		if data[from+1] == 0xc4 {
			for _, n := range []int{1, 20} {
				ways[fmt.Sprintf("%d codes more in Huffman segment %d", n, i)] = func(d []byte) []byte {
					return moreCodes(d, from, n)
				}
			}
		}
	}
	end := bytes.LastIndex(data, []byte{0xff, 0xd9})
	ways["bytes at the end of the scan"] = func(d []byte) []byte { return slices.Concat(d[:end], hidden(30), d[end:]) }
	ways["zeros at the end of the scan"] = func(d []byte) []byte { return slices.Concat(d[:end], make([]byte, 30), d[end:]) }
}

// segmentStarts returns where the segments before the scan begin, and SOS.
func segmentStarts(data []byte) []int {
	var all []int
	for at := 2; ; at += 2 + int(binary.BigEndian.Uint16(data[at+2:])) {
		all = append(all, at)
		if data[at+1] == 0xda {
			return all
		}
	}
}

// moreCodes adds n codes of 16 bits, which no pixel uses, to the first table of a DHT segment.
func moreCodes(d []byte, at, n int) []byte {
	length := int(binary.BigEndian.Uint16(d[at+2:]))
	body := bytes.Clone(d[at+4 : at+2+length])
	symbols := 0
	for _, c := range body[1:17] {
		symbols += int(c)
	}
	body[16] += byte(n)
	body = slices.Insert(body, 17+symbols, hidden(n)...)
	return slices.Concat(d[:at], segmentOf(0xc4, string(body)), d[at+2+length:])
}

// flips adds a flipped bit in places spread over the whole file.
func flips(ways map[string]func([]byte) []byte, size, n int) {
	for i := range n {
		at := i * size / n
		ways[fmt.Sprintf("bit %d of byte %04d of a thousand", i%8, 1000*i/n)] = func(d []byte) []byte {
			d[min(at, len(d)-1)] ^= 1 << (i % 8)
			return d
		}
	}
}
