package png

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	stdpng "image/png"
	"math/rand/v2"
	"testing"
)

// variant is one kind of PNG file.
type variant struct {
	header
	// palette and transparency are the data of PLTE and tRNS.
	palette, transparency []byte
	// filter is the filter of all rows, or −1 for alternating filters.
	filter int
	// before and after are chunks around the pixels.
	before, after []byte
	// split is the length of the IDAT chunks; 0 means a single one.
	split int
}

func (v variant) String() string {
	return fmt.Sprintf("type %d, %d bits, %d × %d, interlaced %t, tRNS %d, filter %d",
		v.kind, v.depth, v.width, v.height, v.interlaced, len(v.transparency), v.filter)
}

// encode returns the variant with random samples. It filters by the formulas of the standard.
func (v variant) encode(rng *rand.Rand) []byte {
	var raw bytes.Buffer
	z := zlib.NewWriter(&raw)
	for _, p := range v.passes() {
		above := make([]byte, v.rowBytes(p.width))
		for y := range p.height {
			row := make([]byte, len(above))
			for i := range row {
				row[i] = byte(rng.Uint32())
				if y > 0 && i%5 != 0 { // some likeness to the row above, so that predictors are of all kinds
					row[i] = above[i] + byte(rng.IntN(3))
				}
			}
			if v.kind == typePalette {
				v.clampIndices(row)
			}
			kind := v.filter
			if kind < 0 {
				kind = y % 5
			}
			z.Write(append([]byte{byte(kind)}, naiveFilter(kind, row, above, v.pixelBytes())...))
			above = row
		}
	}
	z.Close()

	file := []byte(signature)
	file = appendChunk(file, "IHDR", v.header.data())
	file = append(file, v.before...)
	if v.palette != nil {
		file = appendChunk(file, "PLTE", v.palette)
	}
	if v.transparency != nil {
		file = appendChunk(file, "tRNS", v.transparency)
	}
	split := v.split
	if split == 0 {
		split = raw.Len()
	}
	for raw.Len() > 0 {
		file = appendChunk(file, "IDAT", raw.Next(split))
	}
	file = append(file, v.after...)
	return appendChunk(file, "IEND", nil)
}

// clampIndices keeps the indices of a row inside the palette.
func (v variant) clampIndices(row []byte) {
	n := len(v.palette) / 3
	for i, b := range row {
		var out byte
		for s := 8 - int(v.depth); s >= 0; s -= int(v.depth) {
			out |= byte(int(b)>>s&(1<<v.depth-1)%n) << s
		}
		row[i] = out
	}
}

// naiveFilter filters by the table of 9.2, byte by byte.
func naiveFilter(kind int, row, above []byte, bpp int) []byte {
	out := make([]byte, len(row))
	at := func(r []byte, i int) int {
		if i < 0 {
			return 0
		}
		return int(r[i])
	}
	abs := func(v int) int { return max(v, -v) }
	for i := range row {
		a, b, c := at(row, i-bpp), int(above[i]), at(above, i-bpp)
		predicted := 0
		switch kind {
		case filterSub:
			predicted = a
		case filterUp:
			predicted = b
		case filterAverage:
			predicted = (a + b) / 2
		case filterPaeth:
			p := a + b - c
			switch pa, pb, pc := abs(p-a), abs(p-b), abs(p-c); {
			case pa <= pb && pa <= pc:
				predicted = a
			case pb <= pc:
				predicted = b
			default:
				predicted = c
			}
		}
		out[i] = row[i] - byte(predicted)
	}
	return out
}

// variants are all colour types and depths, each with and without interlace and tRNS, in all sizes.
func variants() []variant {
	var list []variant
	rng := rand.New(rand.NewPCG(1, 2))
	filter := 0
	for kind, depths := range map[uint8][]uint8{
		typeGrey: {1, 2, 4, 8, 16}, typeRGB: {8, 16}, typePalette: {1, 2, 4, 8}, typeGreyAlpha: {8, 16}, typeRGBAlpha: {8, 16},
	} {
		for _, depth := range depths {
			for _, size := range [][2]int{{1, 1}, {2, 3}, {3, 1}, {7, 8}, {8, 5}, {9, 9}, {33, 17}} {
				for _, interlaced := range []bool{false, true} {
					v := variant{header: header{size[0], size[1], depth, kind, interlaced}, filter: filter%6 - 1}
					filter++
					if kind == typePalette {
						n := min(1<<depth, 200)
						for range 3 * n {
							v.palette = append(v.palette, byte(rng.Uint32()))
						}
					}
					list = append(list, v)
					switch kind {
					case typeGrey:
						v.transparency = binary.BigEndian.AppendUint16(nil, uint16(rng.IntN(1<<depth)))
					case typeRGB:
						for range 3 {
							v.transparency = binary.BigEndian.AppendUint16(v.transparency, uint16(rng.IntN(1<<depth)))
						}
					case typePalette:
						for range max(len(v.palette)/6, 1) {
							v.transparency = append(v.transparency, byte(rng.Uint32()))
						}
					default:
						continue
					}
					v.split = 7
					list = append(list, v)
				}
			}
		}
	}
	return list
}

func TestDecodeAllVariants(t *testing.T) {
	for _, v := range variants() {
		data := v.encode(rand.New(rand.NewPCG(3, uint64(v.width))))
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Errorf("%s: %v", v, err)
			continue
		}
		i := f.Info()
		if i.Width != v.width || i.Height != v.height || i.Depth != int(v.depth) || (i.Extra == 1) != v.alpha() {
			t.Errorf("%s: Info %+v", v, i)
		}
		pic, err := f.Decode(t.Context())
		if err != nil {
			t.Errorf("%s: %v", v, err)
			continue
		}
		if err := pic.Validate(); err != nil || pic.Channels != i.Channels() {
			t.Errorf("%s: %v, %d channels", v, err, pic.Channels)
		}
		want, err := stdpng.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: the standard library: %v", v, err)
		}
		for y := range v.height {
			for x := range v.width {
				w := standardSamples(want, x, y, v.depth == 16)
				at := (y*v.width + x) * pic.Channels
				for c := range pic.Channels {
					var got int
					if pic.U16 != nil {
						got = int(pic.U16[at+c])
					} else {
						got = int(pic.U8[at+c])
					}
					if got != w[c] {
						t.Fatalf("%s: pixel %d, %d, channel %d: %d, want %d", v, x, y, c, got, w[c])
					}
				}
			}
		}
	}
}

// standardSamples returns red, green and blue of a picture decoded by the standard library, as stored.
func standardSamples(img image.Image, x, y int, deep bool) [3]int {
	if deep {
		c := color.NRGBA64Model.Convert(img.At(x, y)).(color.NRGBA64)
		if m, ok := img.(*image.NRGBA64); ok {
			c = m.NRGBA64At(x, y)
		}
		return [3]int{int(c.R), int(c.G), int(c.B)}
	}
	c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	switch m := img.(type) {
	case *image.NRGBA:
		c = m.NRGBAAt(x, y)
	case *image.Paletted:
		switch entry := m.Palette[m.ColorIndexAt(x, y)].(type) {
		case color.NRGBA:
			c = entry
		case color.RGBA:
			c = color.NRGBA(entry)
		}
	}
	return [3]int{int(c.R), int(c.G), int(c.B)}
}

// The limits of memory count the plane in which an inventory collects the alpha of an interlaced picture.
func TestScratchCountsTransparency(t *testing.T) {
	const w, h = 300, 200
	for kind, want := range map[uint8]int64{typeRGB: 0, typeRGBAlpha: alphaBytes * w * h} {
		var scratch []int64
		for _, interlaced := range []bool{false, true} {
			v := variant{header: header{w, h, 8, kind, interlaced}}
			f := mustOpen(t, v.encode(rand.New(rand.NewPCG(1, 2))))
			scratch = append(scratch, f.Info().Scratch)
		}
		if got := scratch[1] - scratch[0]; got != want {
			t.Errorf("type %d: interlacing takes %d bytes more, want %d", kind, got, want)
		}
	}
}
