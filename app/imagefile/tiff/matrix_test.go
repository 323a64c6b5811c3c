package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
	"blik/processing"
)

// memory is a file in memory that grows.
type memory struct{ b []byte }

func (m *memory) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(m.b).ReadAt(p, at) }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if need := int(at) + len(p); need > len(m.b) {
		m.b = append(m.b, make([]byte, need-len(m.b))...)
	}
	return copy(m.b[at:], p), nil
}

// form is a variant of TIFF that the tests write.
type form struct {
	order                      binary.ByteOrder
	big, tiled, planar         bool
	lsbFirst                   bool
	depth                      int
	compression                compression
	predictor                  uint16
	photometric                uint16
	extra                      []uint16
	width, height, segW, segH  int
	shortOffsets, sharedStrips bool
	// more holds tags that are added or replace others.
	more []field
}

func (f form) String() string {
	o := "MM"
	if f.order == binary.LittleEndian {
		o = "II"
	}
	return fmt.Sprintf("%s big=%t tiled=%t planar=%t lsb=%t depth=%d %s predictor=%d photometric=%d extra=%v", o, f.big, f.tiled,
		f.planar, f.lsbFirst, f.depth, f.compression, f.predictor, f.photometric, f.extra)
}

func (f form) colours() int {
	return map[uint16]int{whiteIsZero: 1, blackIsZero: 1, photometricRGB: 3, photometricIndex: 1, photometricInk: 4}[f.photometric]
}

func (f form) samples() int { return f.colours() + len(f.extra) }

// random returns the samples of a picture: smooth with noise, so that every compression has an effect.
func (f form) random(rng *rand.Rand) []uint32 {
	v := make([]uint32, f.width*f.height*f.samples())
	for i := range v {
		switch {
		case f.depth == 32:
			v[i] = math.Float32bits(float32(i/7) + rng.Float32())
		case rng.IntN(4) > 0:
			v[i] = uint32(i/50) & (1<<f.depth - 1)
		default:
			v[i] = rng.Uint32() & (1<<f.depth - 1)
		}
	}
	return v
}

// write makes the file of samples: header, segments, then the directory. at returns the position of each sample in an
// uncompressed file.
func (f form) write(t containertest.T, samples []uint32) []byte {
	t.Helper()
	d := dialect{f.order, f.big}
	n := f.samples()
	planes, lanes := 1, n
	if f.planar {
		planes, lanes = n, 1
	}
	segW := f.width
	if f.tiled {
		segW = f.segW
	}
	out := d.header(0)
	var at, counts []int64
	var c compressor
	for plane := range planes {
		for y0 := 0; y0 < f.height; y0 += f.segH {
			for x0 := 0; x0 < f.width; x0 += segW {
				rows := f.segH
				if !f.tiled {
					rows = min(rows, f.height-y0)
				}
				c.begin(f.compression)
				for y := y0; y < y0+rows; y++ {
					row := make([]byte, (segW*lanes*f.depth+7)/8)
					for x := range segW {
						for lane := range lanes {
							v := uint32(0)
							if x0+x < f.width && y < f.height {
								v = samples[(y*f.width+x0+x)*n+plane+lane]
							}
							f.put(row, x*lanes+lane, v)
						}
					}
					switch f.predictor {
					case predictHorizontal:
						doHorizontal(row, lanes, f.depth, f.order)
					case predictFloat:
						doFloat(row, make([]byte, len(row)), lanes, f.order)
					}
					if err := c.row(row); err != nil {
						t.Fatalf("%v", err)
					}
				}
				data, err := c.end()
				if err != nil {
					t.Fatalf("%v", err)
				}
				data = bytes.Clone(data)
				if f.lsbFirst {
					reverseBits(data)
				}
				if f.sharedStrips && len(at) > 0 {
					at, counts = append(at, at[0]), append(counts, counts[0])
					continue
				}
				at, counts = append(at, int64(len(out))), append(counts, int64(len(data)))
				out = append(out, data...)
			}
		}
	}
	depth := make([]uint16, n)
	for i := range depth {
		depth[i] = uint16(f.depth)
	}
	fields := []field{
		d.longs(tagWidth, int64(f.width)), d.longs(tagLength, int64(f.height)),
		d.shorts(tagBitsPerSample, depth...),
		d.shorts(tagCompression, uint16(f.compression)),
		d.shorts(tagPhotometric, f.photometric),
		d.shorts(tagSamples, uint16(n)),
		d.shorts(tagPlanar, map[bool]uint16{false: 1, true: 2}[f.planar]),
		block(65000, exif.Undefined, []byte("a private tag")),
	}
	offsets, lengths := d.offsets(tagStripOffsets, at), d.longs(tagStripByteCounts, counts...)
	if f.shortOffsets {
		short := func(tag uint16, v []int64) field {
			s := make([]uint16, len(v))
			for i, x := range v {
				s[i] = uint16(x)
			}
			return d.shorts(tag, s...)
		}
		offsets, lengths = short(tagStripOffsets, at), short(tagStripByteCounts, counts)
	}
	if f.tiled {
		offsets.tag, lengths.tag = tagTileOffsets, tagTileByteCounts
		fields = append(fields, d.longs(tagTileWidth, int64(segW)), d.longs(tagTileLength, int64(f.segH)))
	} else {
		fields = append(fields, d.longs(tagRowsPerStrip, int64(f.segH)))
	}
	fields = append(fields, offsets, lengths)
	if f.predictor != 0 {
		fields = append(fields, d.shorts(tagPredictor, f.predictor))
	}
	if f.lsbFirst {
		fields = append(fields, d.shorts(tagFillOrder, 2))
	}
	if f.depth == 32 {
		for i := range depth {
			depth[i] = 3
		}
		fields = append(fields, d.shorts(tagSampleFormat, depth...))
	}
	if len(f.extra) > 0 {
		fields = append(fields, d.shorts(tagExtraSamples, f.extra...))
	}
	if f.photometric == photometricIndex {
		fields = append(fields, d.shorts(tagColorMap, f.palette()...))
	}
	for _, m := range f.more {
		fields = slices.DeleteFunc(fields, func(g field) bool { return g.tag == m.tag })
		fields = append(fields, m)
	}
	if len(out)%2 == 1 {
		out = append(out, 0)
	}
	copy(out, d.header(int64(len(out))))
	return append(out, d.directory(fields, int64(len(out)), 0)...)
}

// palette has 16-bit colours, except for indices of 4 bits, which have 8-bit ones.
func (f form) palette() []uint16 {
	if f.photometric != photometricIndex {
		return nil
	}
	p := make([]uint16, 3<<f.depth)
	for i := range p {
		p[i] = uint16(i * 40503)
		if f.depth == 4 {
			p[i] = p[i] >> 8 * 257
		}
	}
	return p
}

func (f form) put(row []byte, i int, v uint32) {
	switch f.depth {
	case 8:
		row[i] = byte(v)
	case 16:
		f.order.PutUint16(row[2*i:], uint16(v))
	case 32:
		f.order.PutUint32(row[4*i:], v)
	default:
		row[i*f.depth/8] |= byte(v) << (8 - f.depth - i*f.depth%8)
	}
}

// expected returns the decoded value of a sample.
func (f form) expected(samples []uint32, palette []uint16, i, c int) uint32 {
	v := samples[i*f.samples()+c*min(1, f.colours()-1)]
	switch {
	case f.photometric == photometricIndex:
		v = uint32(palette[c<<f.depth+int(v)])
		if f.depth == 4 {
			v >>= 8
		}
		return v
	case f.depth < 8:
		v = v * 255 / (1<<f.depth - 1)
	}
	if f.photometric == whiteIsZero {
		v = 1<<max(f.depth, 8) - 1 - v
	}
	return v
}

// forms returns all kinds of samples and compression that are read, each in a random layout.
func forms(rng *rand.Rand) []form {
	var all []form
	for _, depth := range []int{1, 2, 4, 8, 16, 32} {
		for _, comp := range []compression{compNone, compLZW, compDeflate, compOldZip, compPackBits} {
			for _, predictor := range []uint16{0, predictHorizontal, predictFloat} {
				for _, photometric := range []uint16{whiteIsZero, blackIsZero, photometricRGB, photometricIndex, photometricInk} {
					for _, extra := range [][]uint16{nil, {1}, {2}, {0, 0}} {
						f := form{depth: depth, compression: comp, predictor: predictor, photometric: photometric, extra: extra,
							width: 37, height: 29, segW: 16, segH: 16}
						indexed := photometric == photometricIndex
						switch {
						case depth == 32 && (photometric == whiteIsZero || indexed), indexed && len(extra) > 1, depth < 8 && len(extra) > 1,
							predictor != 0 && comp != compLZW && comp != compDeflate,
							predictor == predictHorizontal && depth < 8, predictor == predictFloat && depth != 32:
							continue
						}
						f.order = []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}[rng.IntN(2)]
						f.big, f.tiled, f.lsbFirst = rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(5) == 0
						f.planar = f.samples() > 1 && rng.IntN(2) == 0
						all = append(all, f)
					}
				}
			}
		}
	}
	return all
}

// change returns the patch of a pixel that inverts its samples.
func change(pic *processing.Picture, x, y int) processing.Patch {
	p := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: y, X0: x, X1: x + 1}}}
	at := (y*pic.Width + x) * pic.Channels
	for c := range pic.Channels {
		switch {
		case pic.U8 != nil:
			p.U8 = append(p.U8, ^pic.U8[at+c])
		case pic.U16 != nil:
			p.U16 = append(p.U16, pic.U16[at+c]^0x8001)
		default:
			p.F32 = append(p.F32, -pic.F32[at+c]-1)
		}
	}
	return p
}

// patched returns the copy of the file with the patches in it.
func patched(t testing.TB, data []byte, patches ...processing.Patch) []byte {
	t.Helper()
	m := &memory{bytes.Clone(data)}
	if err := open(t, data).Patch(context.Background(), m, patches); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// onlyChanged fails unless after equals before except for the pixels of the patch, which have its values.
func onlyChanged(t containertest.T, before, after *processing.Picture, p processing.Patch) {
	t.Helper()
	want := *before
	want.U8, want.U16, want.F32 = append([]uint8(nil), want.U8...), append([]uint16(nil), want.U16...), append([]float32(nil), want.F32...)
	at := 0
	for _, r := range p.Runs {
		for i := (r.Y*want.Width + r.X0) * want.Channels; i < (r.Y*want.Width+r.X1)*want.Channels; i++ {
			switch {
			case want.U8 != nil:
				want.U8[i] = p.U8[at]
			case want.U16 != nil:
				want.U16[i] = p.U16[at]
			default:
				want.F32[i] = p.F32[at]
			}
			at++
		}
	}
	n := want.Width * want.Height * want.Channels
	for i := range n {
		if sample(&want, i) != sample(after, i) {
			t.Fatalf("sample %d of pixel %d, %d is %d, not %d", i%want.Channels, i/want.Channels%want.Width,
				i/want.Channels/want.Width, sample(after, i), sample(&want, i))
		}
	}
}

// plain returns the uncompressed rows of all segments of a file.
func plain(t *testing.T, data []byte) [][]byte {
	t.Helper()
	f := open(t, data)
	var all [][]byte
	for i := range f.lay.offsets {
		s := &scratch{}
		u := f.lay.unit(i)
		r, err := f.open(s, u, 0)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]byte, f.lay.rowBytes()*int64(u.rows))
		if _, err := io.ReadFull(r, rows); err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(rows); at += int(f.lay.rowBytes()) {
			f.unpredict(s, rows[at:][:f.lay.rowBytes()])
		}
		all = append(all, rows)
	}
	return all
}

func differing(a, b []byte) int {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// TestMatrix writes every form, reads it, changes one pixel and looks for any other change.
func TestMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, f := range forms(rng) {
		samples := f.random(rng)
		x, y := rng.IntN(f.width), rng.IntN(f.height)
		if testpic.Race && i%7 != 0 {
			continue // the goroutines are the same
		}
		// Calling libtiff takes longer than everything else, and its tool cannot read planes of such tiles.
		withLibtiff := i%23 == 0 && !(f.tiled && f.planar && f.depth > 8) && !testing.Short()
		t.Run(f.String(), func(t *testing.T) {
			data := f.write(t, samples)
			palette := f.palette()
			i := open(t, data).Info()
			if i.Width != f.width || i.Height != f.height || i.Depth != f.depth || i.Float != (f.depth == 32) || i.Extra != len(f.extra) ||
				i.Pictures != 1 || i.Raw/max(i.Expansion, 1) > int64(len(data)) ||
				i.Colour != map[uint16]container.Colour{photometricRGB: container.RGB, photometricIndex: container.Palette, photometricInk: container.CMYK}[f.photometric] {
				t.Fatalf("%+v", i)
			}
			pic := decode(t, data)
			for i := range f.width * f.height {
				for c := range pic.Channels {
					if got, want := sample(pic, i*pic.Channels+c), f.expected(samples, palette, i, c); got != want {
						t.Fatalf("pixel %d, %d channel %d is %d, not %d", i%f.width, i/f.width, c, got, want)
					}
				}
			}
			if open(t, data).Info().Readonly != nil {
				if f.depth >= 8 && f.photometric != photometricIndex {
					t.Fatal(open(t, data).Info().Readonly)
				}
				return
			}
			patch := change(pic, x, y)
			result := patched(t, data, patch)
			after := decode(t, result)
			onlyChanged(t, pic, after, patch)
			converted := f.depth < 8 || f.photometric == photometricIndex
			if !converted {
				f.untouched(t, data, result)
			}
			if withLibtiff {
				path := filepath.Join(t.TempDir(), "result.tif")
				if err := os.WriteFile(path, result, 0o600); err != nil {
					t.Fatal(err)
				}
				g := open(t, result)
				sameSamples(t, g, after, libtiff(t, path, g.lay))
			}
		})
	}
}

// untouched checks the surroundings of a changed pixel.
func (f form) untouched(t *testing.T, data, result []byte) {
	t.Helper()
	most := f.colours() * f.depth / 8
	if f.compression == compNone {
		if len(data) != len(result) {
			t.Fatalf("the file had %d bytes and has %d", len(data), len(result))
		}
		if n := differing(data, result); n > most || n < f.colours() {
			t.Fatalf("%d bytes differ, the pixel has %d", n, most)
		}
		return
	}
	before, after := plain(t, data), plain(t, result)
	n := 0
	for i := range before {
		n += differing(before[i], after[i])
	}
	if n > most || n < f.colours() {
		t.Fatalf("%d bytes of samples differ, the pixel has %d", n, most)
	}
	// Every strip except the touched ones keeps its position and bytes.
	a, b := open(t, data).lay, open(t, result).lay
	kept := 0
	for i := range a.offsets {
		if a.offsets[i] == b.offsets[i] && bytes.Equal(data[a.offsets[i]:][:a.counts[i]], result[b.offsets[i]:][:a.counts[i]]) {
			kept++
		}
	}
	touched := 1
	if f.planar {
		touched = f.colours()
	}
	if kept < len(a.offsets)-touched {
		t.Fatalf("%d of %d strips or tiles are untouched, not all but %d", kept, len(a.offsets), touched)
	}
}
