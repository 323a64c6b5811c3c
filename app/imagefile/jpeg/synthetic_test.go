package jpeg

import (
	"bytes"
	"context"
	"encoding/binary"
	"image/jpeg"
	"math/rand/v2"
	"slices"
	"testing"

	"blik/app/imagefile/container"
	"blik/internal/test/containertest"
	"blik/processing"

	"pgregory.net/rapid"
)

// synthetic is a JPEG file made of random coefficients.
type synthetic struct {
	File
	scans []scan
	// interval is the restart interval (DRI).
	interval int
	// extra holds segments after SOI.
	extra []byte
}

// The sampling factors that the standard library reads.
var (
	factors1 = [][][2]int{{{1, 1}}, {{2, 2}}}
	factors3 = [][][2]int{
		{{1, 1}, {1, 1}, {1, 1}}, {{2, 1}, {1, 1}, {1, 1}}, {{1, 2}, {1, 1}, {1, 1}}, {{2, 2}, {1, 1}, {1, 1}},
		{{4, 1}, {1, 1}, {1, 1}}, {{4, 2}, {1, 1}, {1, 1}}, {{2, 2}, {2, 1}, {2, 1}}, {{2, 2}, {1, 2}, {1, 2}},
	}
	factors4 = [][][2]int{{{1, 1}, {1, 1}, {1, 1}, {1, 1}}, {{2, 2}, {1, 1}, {1, 1}, {2, 2}}}
)

// drawSynthetic draws size, components, coding process, scans and restarts.
func drawSynthetic(t *rapid.T) synthetic {
	s := synthetic{File: File{
		width: rapid.IntRange(1, 50).Draw(t, "width"), height: rapid.IntRange(1, 40).Draw(t, "height"),
		frame: markerSOF0, adobe: rapid.IntRange(-1, 1).Draw(t, "adobe"),
	}}
	list := rapid.SampledFrom([][][][2]int{factors1, factors3, factors4}).Draw(t, "components")
	for i, hv := range rapid.SampledFrom(list).Draw(t, "factors") {
		s.components = append(s.components, component{id: uint8(i + 1), h: hv[0], v: hv[1], quant: uint8(i % 2)})
	}
	s.interval = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "interval")
	var all []int
	for i := range s.components {
		all = append(all, i)
	}
	if rapid.Bool().Draw(t, "progressive") {
		s.frame = markerSOF2
		low := uint(rapid.IntRange(0, 2).Draw(t, "low"))
		s.add(all, 0, 0, 0, low)
		for i := range s.components {
			split := rapid.IntRange(1, 63).Draw(t, "split")
			lowAC := uint(rapid.IntRange(0, 2).Draw(t, "low of AC"))
			s.add([]int{i}, 1, split, 0, lowAC)
			if split < 63 {
				s.add([]int{i}, split+1, 63, 0, lowAC)
			}
			for ; lowAC > 0; lowAC-- {
				s.add([]int{i}, 1, 63, lowAC, lowAC-1)
			}
		}
		for ; low > 0; low-- {
			s.add(all, 0, 0, low, low-1)
		}
	} else if rapid.Bool().Draw(t, "interleaved") {
		s.add(all, 0, 63, 0, 0)
	} else {
		for i := range s.components {
			s.add([]int{i}, 0, 63, 0, 0)
		}
	}
	return s
}

// avoidRestarts drops restarts where the standard library would look for them in the wrong place: in scans of a single
// component that is not subsampled while others are, it counts MCUs of all components instead of blocks.
func (s *synthetic) avoidRestarts() {
	for _, one := range s.scans {
		for _, c := range s.components {
			if len(one.components) < len(s.components) && c.h*c.v > 1 {
				s.interval = 0
			}
		}
	}
	for i := range s.scans {
		s.scans[i].interval = s.interval
	}
}

// add adds a scan; the components share two tables of each class.
func (s *synthetic) add(components []int, first, last int, high, low uint) {
	one := scan{first: first, last: last, high: high, low: low, interval: s.interval}
	for _, i := range components {
		one.components = append(one.components, scanComponent{i, uint8(i % 2), uint8(i % 2)})
	}
	s.scans = append(s.scans, one)
}

// coefficients returns random blocks. Blocks that hold no pixel are zero, because scans of a single component leave
// them out.
func (s *synthetic) coefficients(rng *rand.Rand) *picture {
	f := s.File
	if len(f.components) == 1 {
		f.components = []component{{id: 1, h: 1, v: 1}}
	}
	p := &picture{f: &f, planes: f.planes()}
	for _, g := range p.planes {
		blocks := make([]block, g.stride*g.rows)
		for i := range blocks {
			if i%g.stride >= g.width || i/g.stride >= g.height {
				continue
			}
			blocks[i][0] = int16(rng.IntN(100) - 50)
			for range rng.IntN(12) {
				blocks[i][1+rng.IntN(1+rng.IntN(63))] = int16(rng.IntN(9) - 4)
			}
			if rng.IntN(8) == 0 {
				blocks[i][1+rng.IntN(63)] = int16(rng.IntN(2001) - 1000)
			}
		}
		p.blocks = append(p.blocks, blocks)
	}
	return p
}

func appendSegment(dst []byte, marker byte, body []byte) []byte {
	dst = append(dst, 0xff, marker)
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(body)+2)), body...)
}

// file writes the coefficients as a file.
func (s *synthetic) file(t interface{ Fatal(...any) }, p *picture) []byte {
	p.f.frame = s.frame
	out := append([]byte{0xff, markerSOI}, s.extra...)
	if s.jfif {
		out = appendSegment(out, markerAPP0, []byte(signatureJFIF+"\x01\x02\x01\x00\x48\x00\x48\x00\x00"))
	}
	if s.adobe >= 0 {
		out = appendSegment(out, markerAPPE, append([]byte(signatureAdobe+"\x00\x64\x00\x00\x00\x00"), byte(s.adobe)))
	}
	for id := range byte(2) {
		table := []byte{id}
		for k := range byte(64) {
			table = append(table, 2+id+k/4)
		}
		out = appendSegment(out, markerDQT, table)
	}
	frame := []byte{8, byte(s.height >> 8), byte(s.height), byte(s.width >> 8), byte(s.width), byte(len(s.components))}
	for _, c := range s.components {
		frame = append(frame, c.id, byte(c.h<<4|c.v), c.quant)
	}
	out = appendSegment(out, s.frame, frame)
	out = appendSegment(out, markerDRI, []byte{byte(s.interval >> 8), byte(s.interval)})
	for i := range s.scans {
		one := &s.scans[i]
		tables, data, err := p.encode(context.Background(), one)
		if err != nil {
			t.Fatal(err)
		}
		head := []byte{byte(len(one.components))}
		for _, c := range one.components {
			head = append(head, s.components[c.index].id, c.dc<<4|c.ac)
		}
		head = append(head, byte(one.first), byte(one.last), byte(one.high<<4|one.low))
		out = append(appendSegment(append(out, tables...), markerSOS, head), data...)
	}
	return append(out, 0xff, markerEOI)
}

// TestScansHoldAllCoefficients encodes random coefficients in every kind of scan and decodes them again.
func TestScansHoldAllCoefficients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSynthetic(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := s.coefficients(rng)
		data := s.file(t, want)
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.parse(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.blocks {
			if !slices.Equal(got.blocks[i], want.blocks[i]) {
				t.Fatalf("component %d came back otherwise", i)
			}
		}
	})
}

// TestScansDecodeElsewhere has the standard library decode the same coefficients from all kinds of scans: the pixels
// must be the same as from a single baseline scan.
func TestScansDecodeElsewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSynthetic(t)
		s.avoidRestarts()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := s.coefficients(rng)
		if len(s.components) == 4 && s.adobe < 0 {
			s.adobe = 0
		}
		plain := s
		plain.frame, plain.interval, plain.scans = markerSOF0, 0, nil
		for i := range s.components {
			plain.add([]int{i}, 0, 63, 0, 0)
		}
		got, err := jpeg.Decode(bytes.NewReader(s.file(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := jpeg.Decode(bytes.NewReader(plain.file(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		for y := range s.height {
			for x := range s.width {
				if got.At(x, y) != want.At(x, y) {
					t.Fatalf("pixel %d, %d: %v, want %v", x, y, got.At(x, y), want.At(x, y))
				}
			}
		}
	})
}

// besideMCU reports whether a patch of n × n pixels at x, y may change pixel (px, py): interpolated chroma reaches one
// pixel beyond the MCUs.
func besideMCU(px, py, x, y, n, maxH, maxV int) bool {
	w, h := 8*maxH, 8*maxV
	dx, dy := min(maxH-1, 1), min(maxV-1, 1)
	return px >= x/w*w-dx && px < ((x+n-1)/w+1)*w+dx && py >= y/h*h-dy && py < ((y+n-1)/h+1)*h+dy
}

// TestRewriteTouchesOnlyItsBlocks changes some pixels of synthetic files. Pixels outside the touched MCUs and
// coefficients outside the touched blocks must stay the same, and the changed pixels must be close to the requested
// values.
func TestRewriteTouchesOnlyItsBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSynthetic(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		s.extra = appendSegment(nil, 0xfe, []byte("a comment"))
		data := append(s.file(t, s.coefficients(rng)), "behind the picture"...)
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		before, err := f.Decode(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x, y := rng.IntN(s.width), rng.IntN(s.height)
		n := 1 + rng.IntN(min(s.width-x, s.height-y, 12))
		patch := blotch(x, y, n, make([]uint8, before.Channels)...)
		for i := range patch.U8 {
			patch.U8[i] = uint8(100 + i%before.Channels*20)
		}
		var out bytes.Buffer
		if err := f.Rewrite(t.Context(), &out, []processing.Patch{patch}); err != nil {
			t.Fatal(err)
		}
		after := containertest.Decode(t, Open, out.Bytes())
		maxH, maxV := f.sampling()
		for py := range s.height {
			for px := range s.width {
				at := (py*s.width + px) * before.Channels
				same := bytes.Equal(before.U8[at:at+before.Channels], after.U8[at:at+before.Channels])
				if !same && !besideMCU(px, py, x, y, n, maxH, maxV) {
					t.Fatalf("pixel %d, %d changed with a patch of %d at %d, %d", px, py, n, x, y)
				}
			}
		}
		a, err := f.parse(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		b, err := containertest.Open(t, Open, out.Bytes()).parse(t.Context(), out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range f.components {
			across, down := 8*maxH/c.h, 8*maxV/c.v
			for k := range a.blocks[i] {
				bx, by := k%a.planes[i].stride, k/a.planes[i].stride
				touched := bx >= x/across && bx <= (x+n-1)/across && by >= y/down && by <= (y+n-1)/down
				if !touched && a.blocks[i][k] != b.blocks[i][k] {
					t.Fatalf("block %d, %d of component %d changed", bx, by, i)
				}
			}
		}
		if !bytes.HasSuffix(out.Bytes(), []byte("\xff\xd9behind the picture")) || !bytes.Contains(out.Bytes(), s.extra) {
			t.Fatal("a segment or what follows the picture is gone")
		}
	})
}

// TestRewrittenPixelsComeNear requests a flat colour in whole MCUs, which every JPEG can represent.
func TestRewrittenPixelsComeNear(t *testing.T) {
	for _, list := range [][][][2]int{factors1, factors3, factors4} {
		for _, hv := range list {
			for _, adobe := range []int{-1, 0, 1} {
				s := synthetic{File: File{width: 70, height: 40, frame: markerSOF0, adobe: adobe}}
				var all []int
				for i := range hv {
					s.components = append(s.components, component{id: uint8(i + 1), h: hv[i][0], v: hv[i][1], quant: uint8(i % 2)})
					all = append(all, i)
				}
				s.add(all, 0, 63, 0, 0)
				data := s.file(t, s.coefficients(rand.New(rand.NewPCG(1, 1))))
				colour := []uint8{100, 130, 90, 40}[:open(t, data).Info().Channels()]
				got := mustDecode(t, mustRewrite(t, data, []processing.Patch{blotch(32, 0, 32, colour...)}))
				// The outermost pixels interpolate the chroma of their neighbours.
				for y := range 31 {
					for x := 33; x < 63; x++ {
						for c, want := range colour {
							v := got.U8[(y*70+x)*got.Channels+c]
							// Half a step of the DC quantisation is 3/16 of a level; the rest is the rounding of YCbCr.
							if d := int(v) - int(want); d < -2 || d > 2 {
								t.Fatalf("factors %v, adobe %d: pixel %d, %d, channel %d is %d, want %d", hv, adobe, x, y, c, v, want)
							}
						}
					}
				}
			}
		}
	}
}

func TestInfoOfSynthetic(t *testing.T) {
	s := synthetic{File: File{width: 9, height: 7, frame: markerSOF0, adobe: 2}}
	for i := range 4 {
		s.components = append(s.components, component{id: uint8(i), h: 1, v: 1})
	}
	s.add([]int{0, 1, 2, 3}, 0, 63, 0, 0)
	f := open(t, s.file(t, s.coefficients(rand.New(rand.NewPCG(1, 1)))))
	if i := f.Info(); i.Colour != container.YCCK || i.Width != 9 || i.Height != 7 || i.Channels() != 4 {
		t.Errorf("Info %+v", i)
	}
}
